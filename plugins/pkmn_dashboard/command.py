"""Command `pkmn dashboard`: the page of a run, during or after its training."""

from __future__ import annotations

import contextlib
import secrets
import signal
from pathlib import Path
from typing import Annotated

import typer

from pkmn_dashboard.ports import LOOPBACK, address, checked_folder, checked_name, is_loopback, listen
from pkmn_dashboard.urgency import give_way
from pkmncli.api import find_run
from pkmncli.errors import PluginError

PORT = 8080


def dashboard(
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Run folder or name. [default: latest]")] = None,
    *,
    web_port: Annotated[
        int, typer.Option("--web-port", min=1, max=65535, help="Port; the next free one if it is taken.")
    ] = PORT,
    host: Annotated[
        str, typer.Option(help="Address to serve at. Addresses of other machines need a token, which is printed.")
    ] = LOOPBACK,
    web_host_name: Annotated[
        list[str] | None,
        typer.Option(
            help="Name under which a proxy shows the page, such as page.example.org; also needs the token; repeatable."
        ),
    ] = None,
    web_root_path: Annotated[
        str, typer.Option(help="Folder that a proxy has the page under and passes on, such as /user/me/page.")
    ] = "",
    view_only: Annotated[
        bool, typer.Option("--view-only", help="Without the buttons that pause, save or stop.")
    ] = False,
    only_this_run: Annotated[
        bool | None,
        typer.Option(
            "--only-this-run/--all-runs",
            help="Without or with the list of the runs in its folder. [default: with it, if no token is needed]",
        ),
    ] = None,
    save_dir: Annotated[Path | None, typer.Option(help="Folder of the run folders. [default: runs]")] = None,
) -> None:
    """Show a run on a live page, in a browser of this machine. Ctrl-C ends it.

    The run may have ended, or train in another window, with or without its own page.
    """
    try:  # here, so that --help needs neither the extra nor its half a second
        from pkmn_dashboard.gate import Gate  # noqa: PLC0415
        from pkmn_dashboard.serving import PageServer  # noqa: PLC0415
    except ImportError as error:
        raise PluginError(
            f"pkmn dashboard needs {error.name}, which is not installed or too old; "
            "run: pip install 'pkmncli[dashboard]'"
        ) from error

    found = find_run(run, save_dir)
    proxies = [checked_name(name) for name in web_host_name or ()]
    folder = checked_folder(web_root_path)
    token = None if is_loopback(host) and not proxies else secrets.token_urlsafe(24)
    with contextlib.closing(listen(host, web_port)) as listening:
        where = address(listening, folder)
        port = listening.getsockname()[1]
        if port != web_port:
            typer.echo(f"Port {web_port} is taken.")
        typer.echo(f"Showing {found.folder} at {where}{'' if token is None else f'?token={token}'}")
        if token is not None:
            typer.echo(
                "Everyone with this address sees the run" + ("." if view_only else ", and may stop its training.")
            )
        typer.echo("Ctrl-C ends the page, not the training.")
        give_way()
        gate = Gate(token, (host,), port, proxies=proxies, root_path=folder)
        server = PageServer(
            found.folder,
            listening,
            gate,
            may_control=not view_only,
            only_this_run=token is not None if only_this_run is None else only_this_run,
        )
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # end like Ctrl-C
        if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup has it
            signal.signal(signal.SIGHUP, lambda *_: server.end())  # uvicorn knows nothing of hangups
        with contextlib.suppress(KeyboardInterrupt):
            server.run()

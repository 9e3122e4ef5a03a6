"""Command `pkmn doctor`: check this installation and its language models, or show where a run got nowhere."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import json
import logging
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import platformdirs
import typer

from pkmncli.advice.build import build_backend
from pkmncli.api import LLMFailure, LLMFault, LLMRequest
from pkmncli.config import resolve_settings
from pkmncli.diagnostics import one_line
from pkmncli.errors import EXIT_LLM, ConfigurationError, LLMConnectionError, PkmnError, PluginError
from pkmncli.llm.client import NO_THINKING, is_empty
from pkmncli.plugins import Registry, get_registry
from pkmncli.runs import Run, default_save_dir, open_run
from pkmncli.seeds import Purpose
from pkmncli.tables import prose
from pkmncli.training.assembly import worker_spec
from pkmncli.training.display.progress import waiting
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.reports import MOST_REPORTS, read_reports
from pkmncli.version import __version__

logger = logging.getLogger(__name__)

_PARTS = ("pyboy", "gymnasium", "torch", "duckdb")
_GAME_STEPS = 200
_SHOWN_REPORTS = 10
_QUESTION = "Answer with the one word yes."
_ANSWER_S = 30.0
_LONGEST_ANSWER_S = 120.0
"""Maximum seconds for an answer if only one backend is asked: a server may have to load the model first."""

Line = tuple[bool | None, str, str]
"""Result of a check: True if it passed, None if it is only information; the subject; the finding."""


def doctor(
    run: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Show instead what the pilots of a run reported when they got nowhere; `latest` for the latest run.",
        ),
    ] = None,
    llm: Annotated[
        str | None, typer.Option(help="Only this backend, and fail if it can't be used. [default: all]")
    ] = None,
    *,
    llm_model: Annotated[
        str | None, typer.Option(help="Language model to ask. [default: the backend's choice]")
    ] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="A plugin's setting; repeatable.")] = None,
    save_dir: Annotated[Path | None, typer.Option(help="With --run: folder of the runs. [default: runs]")] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=0, help="With --run: number of latest reports to show; 0 for all. [default: 10; all as JSON]"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, for other programs.")] = False,
) -> None:
    """Check this installation: parts, game, folders, and which language models answer, how fast.

    With --run it shows where the pilots of that run got nowhere for long, what they tried then, and
    what helped.
    """
    if run is not None:
        if llm is not None or llm_model is not None or set_:
            raise ConfigurationError("--run excludes --llm, --llm-model and --set")
        _show_reports(open_run(None if run == "latest" else run, save_dir), limit, as_json=as_json)
        return
    if save_dir is not None or limit is not None:
        raise ConfigurationError("--limit and --save-dir are for the reports of a run: pkmn doctor --run latest")
    registry = get_registry()
    examined = []
    for line in _examined(registry, llm, llm_model, set_ or []):
        examined.append(line)
        if not as_json:
            _print(*line)
    if as_json:
        named = [{"well": well, "what": what, "found": found} for well, what, found in examined]
        typer.echo(json.dumps(named, indent=2, ensure_ascii=False))
    if llm and not all(well for well, _, _ in examined):
        raise typer.Exit(EXIT_LLM)


def _examined(registry: Registry, llm: str | None, llm_model: str | None, sets: list[str]) -> Iterator[Line]:
    """Yield what there is to say of the installation and of each language model; of ``llm`` alone if it is named."""
    if llm is None:
        yield from _installation(registry)
    names = [llm] if llm else sorted(entry.name for entry in registry.registrations("llm_backends"))
    for name in names:
        with waiting(f"asking {name}"):
            line = _model(registry, name, llm_model, sets, _LONGEST_ANSWER_S if llm else _ANSWER_S)
        yield line


def _show_reports(run: Run, limit: int | None, *, as_json: bool) -> None:
    reports = read_reports(run.reports_folder)
    if as_json:
        typer.echo(json.dumps({"run": str(run.folder), "reports": _latest(reports, limit or 0)}, indent=2))
        return
    if not reports:
        typer.echo(f"{run.name}: no pilot reported that it got nowhere.")
        return
    shown = _latest(reports, _SHOWN_REPORTS if limit is None else limit)
    which = "" if len(shown) == len(reports) else f", and these are the latest {len(shown)} (--limit 0 shows all)"
    typer.echo(f"{run.name}: {len(reports)} report{'s' if len(reports) > 1 else ''} of pilots that got nowhere{which}.")
    if len(reports) >= MOST_REPORTS:
        typer.echo(f"No more than {MOST_REPORTS} of a run are kept, so later ones may be missing.")
    for report in shown:
        typer.echo(f"\n{_in_words(report)}")


def _latest(reports: list[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """Return the latest reports in their order; all of them for a limit of 0."""
    if not limit:
        return reports
    latest = sorted(reports, key=lambda one: (one["episode"], one.get("number", 0), one["environment"]))[-limit:]
    return [report for report in reports if any(report is one for one in latest)]


def _in_words(report: dict[str, Any]) -> str:
    tried = [f"{one['remedy']} (step {one['step']:,})" for one in report.get("tried", ())]
    lines = [
        f"Environment {report['environment']}, episode {report['episode']}, report {report.get('number', 0)}",
        *(f"  {line}" for line in report.get("words", ())),
        f"  tried: {', '.join(tried) or 'nothing yet'}",
        f"  helped: {report.get('helped') or 'nothing so far'}",
        f"  all of it: {report['file']}",
    ]
    return "\n".join(lines)


def _print(well: bool | None, what: str, found: str) -> None:
    mark = {True: "ok", False: "--", None: "  "}[well]
    typer.echo(prose(f"{mark}  {what:22} {found}", indent=" " * 6))


def _installation(registry: Registry) -> Iterator[Line]:
    yield None, "pkmn", f"{__version__} on Python {platform.python_version()}, {platform.system()}"
    for part in _PARTS:
        yield _tried(part, functools.partial(_version, part))
    with waiting("starting the game"):
        line = _tried("game", lambda: _play(registry))
    yield line
    yield _tried("runs are written to", lambda: _writable(default_save_dir().absolute()))
    yield _tried("caches are written to", lambda: _writable(platformdirs.user_cache_path("pkmncli", appauthor=False)))


def _tried(what: str, find: Callable[[], str]) -> Line:
    """Return the line of a check. An error is its finding, so that the other checks are still made."""
    try:
        return True, what, find()
    except PkmnError as error:
        return False, what, str(error)
    except OSError as error:
        return False, what, str(error) or one_line(error)
    except Exception as error:
        logger.debug("the examination of %s failed", what, exc_info=True)
        return False, what, one_line(error)


def _version(part: str) -> str:
    try:
        version = importlib.metadata.version(part)
    except importlib.metadata.PackageNotFoundError:
        raise PluginError("not installed; run: pip install pkmncli") from None
    if not version:  # of metadata that are damaged
        raise PluginError(f"its metadata name no version; run: pip install --force-reinstall {part}")
    return version


def _play(registry: Registry) -> str:
    settings = resolve_settings({"mode": "rl-only"}, registry=registry, environ={})
    with WorkerPool(worker_spec(settings, registry, Purpose.RANDOM_PLAY, num_envs=1)) as pool:
        pool.reset()
        seconds = pool.call(0, "time_steps", _GAME_STEPS)
        return f"{pool.names['game']} runs, {1 / seconds:.0f} steps a second"


def _writable(folder: Path) -> str:
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    with tempfile.TemporaryFile(dir=nearest):
        return str(folder)


def _model(registry: Registry, name: str, model: str | None, sets: list[str], answer_s: float) -> Line:
    if name not in {entry.name for entry in registry.registrations("llm_backends")}:
        resolve_settings({"llm": name}, registry=registry)  # says which is near: a mistake of the caller, no finding
    remarks: list[str] = []
    well, what, found = _tried(f"model: {name}", lambda: _asked(registry, name, model, sets, answer_s, remarks))
    return well, what, " ".join([found, *remarks])


def _asked(
    registry: Registry, name: str, model: str | None, sets: list[str], answer_s: float, remarks: list[str]
) -> str:
    """Return a model's answer to a short question, asked as in a training."""
    settings = resolve_settings({"llm": name, "llm_model": model}, registry=registry, sets=sets)
    backend = build_backend(settings, registry, remarks.append)
    tokens = settings.train.llm_reply_tokens  # a model that thinks needs some to say a word
    try:
        found = backend.check()
        began = time.perf_counter()
        reply = backend.complete(LLMRequest(system="", prompt=_QUESTION, max_tokens=tokens, timeout_s=answer_s))
        seconds = time.perf_counter() - began
    except LLMFailure as failure:
        later = failure.fault in (LLMFault.TIMEOUT, LLMFault.LOADING) and answer_s < _LONGEST_ANSWER_S
        hint = f" A model that has to be loaded first has longer with: pkmn doctor --llm {name}" if later else ""
        raise LLMConnectionError(f"{failure}.{hint}" if hint else str(failure)) from failure
    finally:
        with contextlib.suppress(Exception):  # the finding is reported even if closing fails
            backend.close()
    if is_empty(reply):
        used_up = f"used up {tokens:,} tokens without an answer" if reply.cut else "gave an empty answer"
        raise LLMConnectionError(
            f"{found} {reply.model} {used_up} to a short question: one that thinks needs more (PKMN_LLM_REPLY_TOKENS, "
            f"--llm-reply-tokens), or is kept from it with {NO_THINKING}."
        )
    return f"{found} {reply.model} answered a short question in {seconds:.2f} s."

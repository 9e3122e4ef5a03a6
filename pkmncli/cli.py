"""Entry point of the ``pkmn`` command: errors and exit codes. ``--version`` imports nothing else."""

from __future__ import annotations

import errno
import sys

from pkmncli import standard_streams
from pkmncli.version import __version__

DEBUG_OPTION = "--debug"
_WRONG_PATHS = (errno.ENAMETOOLONG, errno.EINVAL, errno.ELOOP, errno.ENOTDIR, errno.ENOENT, errno.EISDIR)
_VERSION_OPTIONS = (["--version"], ["-V"])


_interrupted = False


def main() -> int:
    """Run the command line of this process and return the exit code."""
    streams = standard_streams.install()
    arguments = sys.argv[1:]
    code = _watched(arguments) if arguments not in _VERSION_OPTIONS else run(arguments)
    problem = standard_streams.lost_result()
    if problem:
        from pkmncli.diagnostics import say  # noqa: PLC0415
        from pkmncli.errors import EXIT_UNEXPECTED  # noqa: PLC0415

        say(problem)
        code = code or EXIT_UNEXPECTED
    streams.close()
    if _interrupted:
        _leave(code)
    return code


def _leave(code: int) -> None:
    """End the process now. Python's normal exit waits for threads and processes, which may be stopped or stuck."""
    import os  # noqa: PLC0415
    from multiprocessing import active_children  # noqa: PLC0415

    for child in active_children():
        child.kill()
    os._exit(code)


def _watched(arguments: list[str]) -> int:
    """Run ``pkmn``, and note a Ctrl-C, which many libraries turn into another error."""
    import signal  # noqa: PLC0415 - not for the version

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    code = run(arguments)
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # only Python's exit is left to be interrupted
    return code


def _interrupt(_number: int, _frame: object) -> None:
    global _interrupted  # noqa: PLW0603 - signals are the process's
    _interrupted = True
    raise KeyboardInterrupt


def run(arguments: list[str]) -> int:
    """Run ``pkmn`` with these arguments and return the exit code. An error is one line on standard error."""
    if arguments in _VERSION_OPTIONS:
        print(f"pkmn {__version__}")
        return 0
    from pkmncli.outgoing_text import guarded_output  # noqa: PLC0415 - as below

    with standard_streams.Installed(), guarded_output():
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    # These imports cost more than all of the above.
    from pkmncli import diagnostics  # noqa: PLC0415
    from pkmncli.errors import EXIT_INTERRUPTED, EXIT_RUN, EXIT_UNEXPECTED, EXIT_USAGE, PkmnError  # noqa: PLC0415

    arguments = _take_debug_option(arguments)
    diagnostics.said_once.clear()
    try:
        _check_clock()
        from pkmncli.command_table import build_command  # noqa: PLC0415

        return _exit_code(build_command().main(args=arguments, prog_name="pkmn", standalone_mode=True))
    except SystemExit as ending:
        return _exit_code(ending.code)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Exception as error:
        if _interrupted:
            return EXIT_INTERRUPTED
        if isinstance(error, PkmnError):
            diagnostics.say(diagnostics.text_of(error))
            code = error.exit_code
        elif (limit := _limit_of_the_system(error)) is not None:
            diagnostics.say(limit)
            code = EXIT_UNEXPECTED
        elif isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
            # Code that knows the purpose of a file raises a PkmnError; this is for the rest, such as a too long name.
            diagnostics.say(f"{error.filename}: {error.strerror}")
            code = EXIT_USAGE if error.errno in _WRONG_PATHS else EXIT_RUN
        elif isinstance(error, MemoryError):
            diagnostics.say(
                f"not enough memory: {error or 'none is left'}; take fewer environments, or smaller settings"
            )
            code = EXIT_UNEXPECTED
        else:
            again = "" if diagnostics.debug_enabled() else "; run again with --debug for the traceback"
            diagnostics.say(f"unexpected error: {diagnostics.one_line(error)}{again}")
            code = EXIT_UNEXPECTED
        _show_traceback(error)
        return code


def _limit_of_the_system(error: Exception) -> str | None:
    """Return a line on a limit of the system that caused an error; None for other errors."""
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return "too many open files: allow more, as with ulimit -n 1024"
    if isinstance(error, BlockingIOError) or (isinstance(error, RuntimeError) and "start new thread" in str(error)):
        return "the system allows no further process or thread: allow more, as with ulimit -u"
    return None


def _check_clock() -> None:
    """Raise PkmnError if Python can't read the clock; libraries would report it in many other ways."""
    import time  # noqa: PLC0415

    try:
        time.time()
    except OverflowError:
        from pkmncli.errors import PkmnError  # noqa: PLC0415

        raise PkmnError("this machine's clock is beyond the year 2262, which Python can't read: set it") from None


def _take_debug_option(arguments: list[str]) -> list[str]:
    """Remove ``--debug`` from the arguments before ``--``, and turn debugging on."""
    from pkmncli.diagnostics import enable_debug  # noqa: PLC0415

    end = arguments.index("--") if "--" in arguments else len(arguments)
    if DEBUG_OPTION not in arguments[:end]:
        return arguments
    enable_debug()
    return [argument for argument in arguments[:end] if argument != DEBUG_OPTION] + arguments[end:]


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    return code if isinstance(code, int) else 1


def _show_traceback(error: BaseException) -> None:
    from pkmncli import diagnostics  # noqa: PLC0415

    if diagnostics.debug_enabled():
        from traceback import format_exception  # noqa: PLC0415

        diagnostics.say("".join(format_exception(error)))


if __name__ == "__main__":
    sys.exit(main())

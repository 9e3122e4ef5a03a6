"""The ``pkmn`` command: what an error looks like, and how it ends. ``--version`` imports nothing else."""

from __future__ import annotations

import errno
import os
import sys

from pkmncli.version import __version__

DEBUG_OPTION = "--debug"
_WRONG_PATHS = (errno.ENAMETOOLONG, errno.EINVAL, errno.ELOOP, errno.ENOTDIR, errno.ENOENT, errno.EISDIR)


def main() -> int:
    """Runs the command line of this process and returns the exit code."""
    return run(sys.argv[1:])


def run(arguments: list[str]) -> int:
    """Run ``pkmn`` with these arguments and return the exit code. Errors are told on standard error, in one line."""
    if arguments in (["--version"], ["-V"]):
        print(f"pkmn {__version__}")
        return 0
    # What follows costs more than all of the above, so it is imported only here.
    from pkmncli.outgoing_text import guarded_output  # noqa: PLC0415

    with guarded_output():
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    from pkmncli import diagnostics  # noqa: PLC0415
    from pkmncli.errors import EXIT_INTERRUPTED, EXIT_RUN, EXIT_UNEXPECTED, EXIT_USAGE, PkmnError  # noqa: PLC0415

    arguments = _take_debug_option(arguments)
    try:
        from pkmncli.command_table import build_command  # noqa: PLC0415

        code = _exit_code(build_command().main(args=arguments, prog_name="pkmn", standalone_mode=True))
    except SystemExit as ending:
        code = _exit_code(ending.code)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        code = EXIT_UNEXPECTED
    except PkmnError as error:
        diagnostics.say(str(error))
        _show_traceback(error)
        code = error.exit_code
    except OSError as error:
        # Those who know what a file is for say so before; this is for the rest, as for a name that is too long.
        if error.filename is None or error.strerror is None:
            code = _unexpected(error)
        else:
            diagnostics.say(f"{error.filename}: {error.strerror}")
            _show_traceback(error)
            code = EXIT_USAGE if error.errno in _WRONG_PATHS else EXIT_RUN
    except MemoryError as error:
        diagnostics.say(f"not enough memory: {error or 'none is left'}; take fewer environments, or smaller settings")
        _show_traceback(error)
        code = EXIT_UNEXPECTED
    except Exception as error:
        code = _unexpected(error)
    _flush_quietly()
    return code


def _unexpected(error: Exception) -> int:
    from pkmncli import diagnostics  # noqa: PLC0415
    from pkmncli.errors import EXIT_UNEXPECTED  # noqa: PLC0415

    again = "" if diagnostics.debug_enabled() else "; run again with --debug for the traceback"
    diagnostics.say(f"unexpected error: {diagnostics.one_line(error)}{again}")
    _show_traceback(error)
    return EXIT_UNEXPECTED


def _take_debug_option(arguments: list[str]) -> list[str]:
    """Takes ``--debug`` out, wherever it stands before ``--``, and turns debugging on."""
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


def _flush_quietly() -> None:
    """Writes out what is left; a reader that went away (``pkmn ... | head``) is no error."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes again when it exits, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())

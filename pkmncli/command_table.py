"""Lazy table of commands: names and help lines are known at once, a command's module is loaded when it is chosen."""

from __future__ import annotations

import contextlib
import importlib
import keyword
from collections.abc import Iterator
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from pkmncli.command_forms import as_command, write_sections
from pkmncli.core_commands import CORE_COMMANDS, HEADINGS, OTHER_HEADING
from pkmncli.diagnostics import one_line
from pkmncli.errors import ConfigurationError, PluginError, without_prefix
from pkmncli.version import __version__

_LONGEST_SHOWN = 60
"""Maximum characters of an option's value in a message."""


class CommandTable(TyperGroup):
    """Group of stubs for help, suggestions and completion; a chosen stub is replaced by its command.

    Plugins are searched only for the list of all commands, or for a name that is not the core's.
    """

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self._plugin_commands_added = False
        for name, help_line in CORE_COMMANDS.items():
            self.add_command(_stub(name, help_line))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the core's commands in their order, then those of plugins."""
        self._add_plugin_commands()
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the stub of a command, or None."""
        if cmd_name not in self.commands:
            self._add_plugin_commands()
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the chosen command, loaded now."""
        name, stub, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name is not None and stub is not None else None, rest

    def make_context(self, *given: Any, **named: Any) -> Any:
        """Read the options before the command."""
        with _wrong_usage_on_one_line():
            return super().make_context(*given, **named)

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        with _wrong_usage_on_one_line(ctx):
            return super().invoke(ctx)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write every command with its line, under headings."""
        headings = {name: heading for heading, names in HEADINGS.items() for name in names}
        sections: dict[str, list[tuple[str, str]]] = {heading: [] for heading in (*HEADINGS, OTHER_HEADING)}
        for name in self.list_commands(ctx):
            sections[headings.get(name, OTHER_HEADING)].append((name, self.commands[name].help or ""))
        write_sections(formatter, sections)

    def _add_plugin_commands(self) -> None:
        if self._plugin_commands_added:
            return
        self._plugin_commands_added = True
        from pkmncli.plugins import get_registry  # noqa: PLC0415 - core commands run without looking for plugins

        for entry in get_registry().registrations("commands"):
            self.add_command(_stub(entry.name, entry.help))


def build_command() -> Any:
    """Return the ``pkmn`` command, ready for ``main(args=...)``."""
    app = typer.Typer(
        cls=CommandTable,
        rich_markup_mode=None,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
        epilog="pkmn COMMAND --help says more about a command.",
    )
    app.callback()(pkmn)
    return typer.main.get_command(app)


def load_command(name: str) -> Any:
    """Import a command's function and return it as a Typer command.

    Raises:
        PluginError: it cannot be imported.
    """
    if name in CORE_COMMANDS:
        return as_command(name, _load_core(name))
    from pkmncli.plugins import get_registry  # noqa: PLC0415

    return as_command(name, get_registry().get("commands", name).load())


def pkmn(
    version: Annotated[bool, typer.Option("--version", "-V", help="Show the version and exit.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks. Works anywhere on the line, and as PKMN_DEBUG=1.")
    ] = False,
) -> None:
    """Train agents that play Pokemon: rules, a language model and reinforcement learning together."""
    if version:
        print(f"pkmn {__version__}")
        raise typer.Exit


def _stub(name: str, help_line: str) -> TyperCommand:
    return TyperCommand(name, help=help_line, short_help=help_line, rich_markup_mode=None)


@contextlib.contextmanager
def _wrong_usage_on_one_line(running: Any = None) -> Iterator[None]:
    """Turn Typer's errors into errors with one line. A refused option's message has the words of refused settings.

    Args:
        running: the context of ``pkmn``, for errors of a command that don't know theirs.
    """
    try:
        yield
    except typer.TyperException as error:
        if isinstance(error, typer.BadParameter):
            error.message = _in_our_words(error)
        context = getattr(error, "ctx", None)
        if context is not None and error.message == context.get_help():
            raise  # a group without a command shows its help
        text = " ".join(error.format_message().split())
        end = "" if text.endswith((".", "?")) else "."
        if context is not None:
            path = context.command_path
        else:
            path = "pkmn" if running is None else f"pkmn {running.invoked_subcommand}"
        raise ConfigurationError(f"{text}{end} See: {path} --help") from error


def _in_our_words(error: typer.BadParameter) -> str:
    """Return the message of a refused option: ``'ten': must be a whole number``."""
    found = getattr(error.__cause__, "errors", None)
    if found is None:
        return without_prefix(error.message)
    from pkmncli.config.fault_words import words_for  # noqa: PLC0415 - only for an error

    details = found(include_url=False)[0]
    if details["type"] == "value_error":
        return without_prefix(error.message)
    words, given = words_for(details), repr(details["input"])
    return f"{given}: {words}" if len(given) <= _LONGEST_SHOWN else words


def _load_core(name: str) -> Any:
    attribute = f"{name}_" if keyword.iskeyword(name) else name
    module_name = f"pkmncli.commands.{attribute}"
    try:
        return getattr(importlib.import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        if error.name == module_name:
            raise PluginError(f"this installation of pkmncli {__version__} has no command '{name}'") from error
        raise PluginError(
            f"'pkmn {name}' needs the module '{error.name}', which is not installed; run: pip install pkmncli"
        ) from error
    except ImportError as error:
        raise PluginError(f"'pkmn {name}' cannot be loaded: {one_line(error)}") from error

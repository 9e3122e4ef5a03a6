"""Lazy table of commands: names and help lines are known at once, a command's module is loaded when it is chosen."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from pkmncli.core_commands import CORE_COMMANDS, HEADINGS, OTHER_HEADING
from pkmncli.diagnostics import one_line
from pkmncli.errors import PluginError
from pkmncli.version import __version__

_WIDEST_NAME = 30
"""Maximum width of the column of names in a help text; a wider name has its text below it."""


class HeadedCommand(TyperCommand):
    """Command whose help lists options under the headings that their ``rich_help_panel`` names, without rich."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments first, then options by heading, those without one last."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        without_heading = []
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is None:
                continue
            if parameter.param_type_name == "argument":
                sections["Arguments"].append(row)
            elif heading := getattr(parameter, "rich_help_panel", None):
                sections.setdefault(heading, []).append(row)
            else:
                without_heading.append(row)
        write_sections(formatter, {**sections, "Options": without_heading})


def write_sections(formatter: Any, sections: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """Write rows of name and text under headings, all in the same columns."""
    longest = max((len(name) for rows in sections.values() for name, _ in rows), default=0)
    width = min(longest, _WIDEST_NAME)
    for heading, rows in sections.items():
        if rows:
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), text) for name, text in rows])


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


def as_command(name: str, target: Callable[..., Any] | typer.Typer) -> Any:
    """Return a function, or a Typer application with subcommands, as a command with this name."""
    if isinstance(target, typer.Typer):
        for info in target.registered_commands:
            if info.cls is TyperCommand:
                info.cls = HeadedCommand
        command = typer.main.get_command(target)
    else:
        app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        app.command(name, cls=HeadedCommand)(target)
        command = typer.main.get_command(app)
    command.name = name
    return command


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


def _load_core(name: str) -> Any:
    module_name = f"pkmncli.commands.{name}"
    try:
        return getattr(importlib.import_module(module_name), name)
    except ModuleNotFoundError as error:
        if error.name == module_name:
            raise PluginError(f"this installation of pkmncli {__version__} has no command '{name}'") from error
        raise PluginError(
            f"'pkmn {name}' needs the module '{error.name}', which is not installed; run: pip install pkmncli"
        ) from error
    except ImportError as error:
        raise PluginError(f"'pkmn {name}' cannot be loaded: {one_line(error)}") from error

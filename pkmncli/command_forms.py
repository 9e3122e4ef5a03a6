"""Form of commands: functions as commands of Typer, whose help has headings without rich."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand
from typer.models import ParameterInfo

COMPLETE_VARIABLE = "_PKMN_COMPLETE"
"""Set by the scripts that Typer installs in shells, when they ask for completions."""

_WIDEST_NAME = 30
"""Maximum width of the column of names in a help text; a wider name has its text below it."""


_EXAMPLES = "examples"

AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, for other programs.")]


def command_group(name: str, help_text: str, *, needs_command: bool = True) -> typer.Typer:
    """Return a group without commands, to which they are added.

    Args:
        name: of the group.
        help_text: first line of its help.
        needs_command: show the help if no command of the group is named.
    """
    return typer.Typer(
        name=name,
        help=help_text,
        no_args_is_help=needs_command,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


def with_examples(*examples: tuple[str, str]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds example command lines, each with its result in words, to the end of the help."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        vars(command)[_EXAMPLES] = examples
        return command

    return add


def with_options(
    command: Callable[..., None], added: Iterable[inspect.Parameter], headings: Sequence[str]
) -> Callable[..., None]:
    """Add options to a command that takes them as ``**options``.

    Args:
        command: function of the command. Its own options come first under their heading.
        added: options, with those of Typer as default or in the annotation.
        headings: in their order.
    """

    def place(parameter: inspect.Parameter) -> int:
        own = isinstance(parameter.default, ParameterInfo)
        heading = (parameter.default if own else parameter.annotation.__metadata__[0]).rich_help_panel
        return -1 if heading is None else headings.index(heading)  # arguments come first

    signature = inspect.signature(command, eval_str=True)
    own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    vars(command)["__signature__"] = signature.replace(parameters=sorted([*own, *added], key=place))
    return command


class HeadedCommand(TyperCommand):
    """Command whose help has options under the headings that ``rich_help_panel`` names, and examples, without rich."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line. An error knows the command, also where Typer's parser leaves it out."""
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            if getattr(error, "ctx", ctx) is None:
                vars(error)["ctx"] = ctx
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments first, then options by heading, those without one, and examples."""
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
        if examples := getattr(self.callback, _EXAMPLES, ()):
            with formatter.section("Examples"):
                for line, result in examples:
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")
                    with formatter.indentation():
                        formatter.write_text(result)


def other_options(context: typer.Context, taken: Collection[str]) -> list[str]:
    """Return the options on the command line, as users write them, whose parameters are not among ``taken``."""
    found = []
    for option in context.command.params:
        name = option.name or ""
        source = context.get_parameter_source(name)
        if name not in taken and source is not None and source.name == "COMMANDLINE":
            off = option.secondary_opts and not context.params[name]
            found.append((option.secondary_opts if off else option.opts)[0])
    return found


def write_sections(formatter: Any, sections: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """Write rows of name and text under headings, all in the same columns."""
    longest = max((len(name) for rows in sections.values() for name, _ in rows), default=0)
    width = min(longest, _WIDEST_NAME)
    for heading, rows in sections.items():
        if rows:
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), text) for name, text in rows])


def as_command(name: str, target: Callable[..., Any] | typer.Typer | TyperCommand) -> Any:
    """Return a function, or a Typer application with subcommands, as a command with this name."""
    if isinstance(target, TyperCommand):
        command: Any = target
    elif isinstance(target, typer.Typer):
        for info in target.registered_commands:
            if info.cls is TyperCommand:
                info.cls = HeadedCommand
        command = typer.main.get_command(target)
    else:
        app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        app.command(name, cls=HeadedCommand)(target)
        command = typer.main.get_command(app)
    command.name = name
    if os.environ.get(COMPLETE_VARIABLE):
        from pkmncli.completion import with_completion  # noqa: PLC0415 - no other command line needs it

        with_completion(command)
    return command

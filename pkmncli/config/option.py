"""Options of ``pkmn train``: the heading, help text and names that a setting has there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pydantic.fields import FieldInfo


class Heading(StrEnum):
    """Headings of ``pkmn train --help``, in their order."""

    SETTINGS = "Settings"
    GAME = "Game"
    LEARNER = "Learner"
    DECIDERS = "Who decides"
    LANGUAGE_MODEL = "Language model"
    LENGTH = "How long and how often"
    SHOWN = "What is shown"
    SAVING = "Saving and resuming"


@dataclass(frozen=True, slots=True)
class Option:
    """Mark of a settings field, in its ``Annotated``, that is also an option of ``pkmn train``."""

    heading: Heading
    help: str = ""
    """Help text; without one, the field's description."""
    names: tuple[str, ...] = ()
    """Names such as ``("--steps", "--actions")``; without them, the field's name. ``--a/--b`` is a yes/no pair."""
    default: str = ""
    """Words for a default that the field does not hold."""
    metavar: str | None = None
    """Placeholder of the value; None for its type."""
    readable: bool = True
    """True if the file must be readable; False if a later check says more."""

    def help_text(self, field: FieldInfo) -> str:
        """Return the help text of the field's option, with the default of an option that takes a value."""
        description = field.description or ""
        text = self.help or f"{description[:1].upper()}{description[1:]}."
        default = self.default or _in_words(field.default)
        return f"{text} [default: {default}]" if default else text


def option_of(field: FieldInfo) -> Option | None:
    """Return the option of a settings field; None if it has none."""
    return next((item for item in field.metadata if isinstance(item, Option)), None)


def option_name(name: str, field: FieldInfo | None) -> str:
    """Return the name of a field's option in messages, such as ``--rom`` for ``rom_path``.

    A field of a plugin's command says it with ``json_schema_extra={"option": "--rom"}``.
    """
    extra = None if field is None else field.json_schema_extra
    if isinstance(extra, dict) and "option" in extra:
        return str(extra["option"])
    option = None if field is None else option_of(field)
    return option.names[0] if option is not None and option.names else f"--{name.replace('_', '-')}"


def _in_words(default: object) -> str:
    """Return a field's default as help texts show it; empty for flags and defaults of None."""
    if default is None or isinstance(default, bool):
        return ""
    if isinstance(default, list):
        return ", ".join(default)
    return (
        f"{default:,}" if isinstance(default, int) else f"{default:g}" if isinstance(default, float) else f"{default}"
    )

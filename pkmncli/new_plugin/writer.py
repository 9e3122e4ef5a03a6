"""Writing of a new plugin's package: its files, from one template and one test for each kind of part."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import NamedTuple

from pkmncli.errors import ConfigurationError, did_you_mean
from pkmncli.plugins import SINGULAR, Registry
from pkmncli.plugins.entries import HOOK_OF_KIND

TEMPLATES = Path(__file__).parent / "templates"

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LONGEST = 18


class _Kind(NamedTuple):
    """Kind of part: where it is registered, what is registered, and how a user tries it."""

    registered: str
    target: str
    settings: str
    help: str
    use: str


KINDS = {
    "reward": _Kind(
        *("rewards", "${title}Reward", "${title}RewardSettings", "money gained, beyond the most of the episode"),
        "pkmn train --reward progress --reward $name=0.5 --steps 300",
    ),
    "strategy": _Kind(
        *("strategies", "${title}Strategy", "${title}StrategySettings", "stops advice that brings less than rules"),
        "pkmn train --llm ollama --strategy $name --steps 300",
    ),
    "llm": _Kind(
        *("llm_backends", "${title}Backend", "${title}BackendSettings", "answers in the same words each time"),
        "pkmn train --llm $name --steps 300",
    ),
    "learner": _Kind(
        *("algorithms", "${title}Learner", "${title}LearnerSettings", "learns how good each action is on average"),
        "pkmn train --rl $name --mode rl-only --steps 300",
    ),
    "environment": _Kind(
        *("environments", "${title}Environment", "${title}EnvironmentSettings", "a line of tiles with a goal"),
        "pkmn train --env $name --rl dqn --mode rl-only --steps 300",
    ),
    "analyzer": _Kind("analyzers", "${title}Analyzer", "", "how often each action was taken, and what it earned", ""),
    "command": _Kind(
        *("commands", "command", "${title}CommandSettings", "Guess where the best point is."),
        "pkmn $name --guesses 50",
    ),
    "pilot": _Kind("pilots", "${title}Pilot", "", "takes the allowed actions in turn", ""),
    "encoder": _Kind(
        "encoders", "${title}Encoder", "", "two layers over the numbers", "pkmn train --set dqn.encoder=$name"
    ),
}
"""Kinds of parts that can be written, by the name that a user gives."""


def kinds_in(text: str) -> list[str]:
    """Return the kinds that a text names, with commas between them.

    Raises:
        ConfigurationError: a kind is unknown, or none is named.
    """
    kinds = list(dict.fromkeys(filter(None, (kind.strip() for kind in text.split(",")))))
    for kind in kinds:
        if kind not in KINDS:
            guess = did_you_mean(kind, KINDS, f"choose from {', '.join(KINDS)}")
            raise ConfigurationError(f"--kind: there is no template for '{kind}'; {guess}")
    if not kinds:
        raise ConfigurationError(f"--kind: choose from {', '.join(KINDS)}")
    return kinds


def write_plugin(name: str, kinds: Sequence[str], folder: Path, registry: Registry) -> Path:
    """Write the package of a new plugin, and return its folder.

    Args:
        name: the plugin's name: lower-case letters and digits, words joined by hyphens.
        kinds: what it brings, of :data:`KINDS`. Each part has the plugin's name; if there are several kinds, the
            kind's name follows it.
        folder: where the package's folder is made.
        registry: installed plugins, whose names are taken.

    Raises:
        ConfigurationError: the name is wrong or taken, or the package's folder exists or can't be written.
    """
    package = f"pkmn_{name.replace('-', '_')}"
    _refuse_name(name, package, registry)
    root = folder / package
    try:
        root.mkdir(parents=True)
    except FileExistsError:
        raise ConfigurationError(f"{root} exists already and is not overwritten: choose another name") from None
    except OSError as error:
        raise ConfigurationError(f"{root} can't be made: {error.strerror}; choose another folder with --dir") from None
    for path, text in _files(name, package, kinds).items():
        file = root / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def _refuse_name(name: str, package: str, registry: Registry) -> None:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise ConfigurationError(
            f"'{name}' is no name of a plugin: use at most {_LONGEST} lower-case letters and digits, a letter first, "
            "words joined by hyphens"
        )
    taken = {entry.name for entry in registry.registrations()} | {plugin.name for plugin in registry.plugins}
    if name in taken or importlib.util.find_spec(package) is not None:
        raise ConfigurationError(f"the name '{name}' is taken by an installed plugin: choose another name")


def _files(name: str, package: str, kinds: Sequence[str]) -> dict[str, str]:
    """Return the content of each file, by its path in the package's folder."""
    names = {kind: name if len(kinds) == 1 else f"{name}-{kind}" for kind in kinds}
    common = {"plugin": name, "package": package, "distribution": package.replace("_", "-")}
    common["brings"] = ", ".join(f"{SINGULAR[KINDS[kind].registered]} `{names[kind]}`" for kind in kinds)
    common["hooks"] = "".join(_hook(KINDS[kind], kind, package, _title(name, kind), names[kind]) for kind in kinds)
    uses = (Template(KINDS[kind].use).substitute(name=names[kind]) for kind in kinds if KINDS[kind].use)
    common["uses"] = "".join(f"\n{use}" for use in uses)
    files = {path: _filled(path, common) for path in ("pyproject.toml", "README.md")}
    files[f"{package}/__init__.py"] = f'"""Plugin of pkmncli: {name}."""\n'
    files[f"{package}/plugin.py"] = _filled("plugin.py", common)
    files["tests/test_plugin.py"] = _filled("plugin_test.py", common)
    for kind in kinds:
        own = {**common, "title": _title(name, kind), "name": names[kind]}
        files[f"{package}/{kind}.py"] = _filled(f"{kind}.py", own)
        files[f"tests/test_{kind}.py"] = _filled(f"{kind}_test.py", own)
    return files


def _title(name: str, kind: str) -> str:
    """Return the beginning of a part's class names: ``CoinHunt``, without the kind's word if the name ends with it."""
    words = name.split("-")
    return "".join(word.capitalize() for word in (words[:-1] if words[-1] == kind else words))


def _filled(template: str, values: dict[str, str]) -> str:
    return Template((TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")).substitute(values)


def _hook(part: _Kind, kind: str, package: str, title: str, name: str) -> str:
    """Return the hook that registers a part, as source text."""

    def target(what: str) -> str:
        return f'"{package}.{kind}:{Template(what).substitute(title=title)}"'

    arguments = [f'"{name}"', target(part.target)]
    arguments += [f"config={target(part.settings)}"] if part.settings else []
    arguments += [f"evaluate={target('evaluate')}"] if kind == "command" else []
    arguments.append(f'help="{part.help}"')
    lines = "".join(f"        {argument},\n" for argument in arguments)
    return (
        f"\n\n@hookimpl\ndef {HOOK_OF_KIND[part.registered]}(register: Register) -> None:\n"
        f'    """Register ``{name}``."""\n    register(\n{lines}    )\n'
    )

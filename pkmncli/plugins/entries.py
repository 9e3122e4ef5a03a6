"""Registration of a name by a plugin; its target is imported on first use."""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pkmncli.diagnostics import one_line, prints_aside
from pkmncli.errors import PluginError
from pkmncli.version import API_VERSION

if TYPE_CHECKING:
    from importlib.metadata import Distribution

    from pydantic import BaseModel

HOOK_OF_KIND = {
    "environments": "pkmn_register_environments",
    "games": "pkmn_register_games",
    "algorithms": "pkmn_register_algorithms",
    "encoders": "pkmn_register_encoders",
    "llm_backends": "pkmn_register_llm_backends",
    "rewards": "pkmn_register_rewards",
    "strategies": "pkmn_register_strategies",
    "pilots": "pkmn_register_pilots",
    "stores": "pkmn_register_stores",
    "analyzers": "pkmn_register_analyzers",
    "trackers": "pkmn_register_trackers",
    "commands": "pkmn_register_commands",
}
"""Kinds of registrations, each with its hook."""

SINGULAR = {kind: "strategy" if kind == "strategies" else kind[:-1].replace("_", " ") for kind in HOOK_OF_KIND}
"""Singular of each kind, for messages."""

PRESET_KIND = "algorithms"
"""Kind that may have presets."""

PRESET_SUFFIX = ".toml"

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_OBJECT_TARGET = re.compile(r"\w+(\.\w+)*:\w+(\.\w+)*")
_FOLDER_TARGET = re.compile(r"\w+(\.\w+)*:[\w.-]+(/[\w.-]+)*")


class Plugin:
    """Plugin: an entry point of a distribution, or an object registered by hand.

    Args:
        name: the entry point's name.
        module: what it points to.
        source: where the distribution's metadata are; None for an object registered by hand.
    """

    def __init__(self, name: str, module: str, source: Path | Distribution | None = None) -> None:
        self.name = name
        self.module = module
        self.source = source
        self.state = "loaded"
        """``loaded``, ``failed`` or ``disabled``."""
        self.problem = ""
        self.traceback = ""

    def __repr__(self) -> str:
        return f"Plugin({self.name!r}, {self.module!r}, {self.state})"

    @cached_property
    def distribution(self) -> str:
        """Name of its distribution. Read on demand: parsing metadata takes milliseconds."""
        return self._metadata("Name") if self.source else "registered by hand"

    @cached_property
    def version(self) -> str:
        """Version of its distribution; empty for an object registered by hand."""
        return self._metadata("Version") if self.source else ""

    @property
    def label(self) -> str:
        """Distribution and version, for messages."""
        return f"{self.distribution} {self.version}" if self.source else "a plugin registered by hand"

    def _metadata(self, key: str) -> str:
        from importlib.metadata import PathDistribution  # noqa: PLC0415 - see pkmncli.plugins.discovery

        source = PathDistribution(self.source) if isinstance(self.source, Path) else self.source
        with contextlib.suppress(Exception):  # a file that is empty, damaged, unreadable or not there
            if source is not None and source.metadata[key]:
                return str(source.metadata[key])
        folder = self.source if isinstance(self.source, Path) else getattr(source, "_path", Path("unknown"))
        name, _, version = Path(folder).stem.lstrip("~-").partition("-")
        return {"Name": name, "Version": version}[key] or "unknown"


class Registration(NamedTuple):
    """Registered name of a kind, with its target."""

    kind: str
    name: str
    target: str | Path | Callable[..., Any]
    config: str | type | None
    help: str
    api: int
    extra: str
    plugin: Plugin
    presets: str | Path = ""
    evaluate: str | Callable[..., Any] = ""
    play: str | Callable[..., Any] = ""

    @property
    def distribution(self) -> str:
        """Name of its distribution."""
        return self.plugin.distribution

    @property
    def version(self) -> str:
        """Version of its distribution."""
        return self.plugin.version

    @property
    def title(self) -> str:
        """Kind and name, for messages: ``reward 'progress'``."""
        return f"{SINGULAR[self.kind]} '{self.name}'"

    def load(self) -> Any:
        """Return the target: the object, or the folder of a game as a :class:`~pathlib.Path`.

        Raises:
            PluginError: the target cannot be imported; with the line that installs what it needs, if an extra does.
        """
        if self.kind == "games":
            return self._folder(self.target)
        return self._resolve(self.target) if isinstance(self.target, str) else self.target

    def load_evaluate(self) -> Callable[..., Any] | None:
        """Return the function that evaluates a command's runs; None if it has none.

        Raises:
            PluginError: it cannot be imported.
        """
        return self._load_function(self.evaluate)

    def load_play(self) -> Callable[..., Any] | None:
        """Return the command by which a person plays an environment; None if it has none.

        Raises:
            PluginError: it cannot be imported.
        """
        return self._load_function(self.play)

    def load_config(self) -> type[BaseModel] | None:
        """Return the pydantic model of its settings; None if it has none.

        Raises:
            PluginError: the model cannot be imported, or is no pydantic model.
        """
        if self.config is None:
            return None
        model = self._resolve(self.config) if isinstance(self.config, str) else self.config
        from pydantic import BaseModel  # noqa: PLC0415 - takes 60 ms, and most commands need no settings

        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            raise PluginError(f"{self.title} of {self.plugin.label}: its config {self.config!r} is no pydantic model")
        return model

    def preset_files(self) -> dict[str, Path]:
        """Return the files of its presets by name, in alphabetical order.

        Raises:
            PluginError: there is no such folder.
        """
        if not self.presets:
            return {}
        folder = self._folder(self.presets)
        return {path.stem: path for path in sorted(folder.glob(f"*{PRESET_SUFFIX}"))}

    def offered(self, name: str) -> Any:
        """Return the object that the top of the target's package has under a name.

        Raises:
            PluginError: the package offers no such name, or it can't be imported.
        """
        target = self.target if isinstance(self.target, str) else f"{getattr(self.target, '__module__', '')}:"
        return self._resolve(f"{target.partition(':')[0].partition('.')[0]}:{name}")

    def _load_function(self, target: str | Callable[..., Any]) -> Callable[..., Any] | None:
        if not target:
            return None
        found: Callable[..., Any] = self._resolve(target) if isinstance(target, str) else target
        return found

    def _resolve(self, target: str) -> Any:
        module_name, _, attributes = target.partition(":")
        try:
            with prints_aside():
                value: Any = importlib.import_module(module_name)
        except KeyboardInterrupt:
            raise
        except ImportError as error:
            raise PluginError(self._import_problem(target, module_name, error)) from error
        except BaseException as error:
            raise PluginError(
                f"{self.title} of {self.plugin.label} cannot be imported from {target!r}: {one_line(error)}"
            ) from error
        for attribute in attributes.split("."):
            try:
                value = getattr(value, attribute)
            except AttributeError as error:
                raise PluginError(
                    f"{self.title} of {self.plugin.label}: its target {target!r} does not exist"
                ) from error
        return value

    def _import_problem(self, target: str, module_name: str, error: ImportError) -> str:
        missing = error.name or ""
        is_the_target = isinstance(error, ModuleNotFoundError) and (module_name + ".").startswith(missing + ".")
        is_its_own = missing.partition(".")[0] == self.plugin.module.partition(".")[0]
        if is_the_target and (is_its_own or not self.extra):
            return f"{self.title} of {self.plugin.label}: its target {target!r} does not exist (no module {missing})"
        if self.extra:
            needed = f"'{missing}'" if missing else f"the extra '{self.extra}'"
            distribution = self.distribution if self.plugin.source else "pkmncli"
            return (
                f"{self.title} needs {needed}, which is not installed or too old; run: "
                f"pip install '{distribution}[{self.extra}]'"
            )
        if isinstance(error, ModuleNotFoundError):
            return f"{self.title} of {self.plugin.label} needs the module '{missing}', which is not installed"
        return f"{self.title} of {self.plugin.label} cannot be imported from {target!r}: {one_line(error)}"

    def _folder(self, target: Any) -> Path:
        if isinstance(target, Path):
            folder = target
        else:
            from importlib.util import find_spec  # noqa: PLC0415 - only for games and presets

            package, _, inside = str(target).partition(":")
            try:
                spec = find_spec(package)
            except ImportError:
                spec = None
            places = list(spec.submodule_search_locations or ()) if spec else []
            if not places:
                raise PluginError(f"{self.title} of {self.plugin.label}: there is no package {package!r}")
            folder = next(
                (place for place in (Path(p, inside) for p in places) if place.is_dir()), Path(places[0], inside)
            )
        if not folder.is_dir():
            raise PluginError(f"{self.title} of {self.plugin.label}: there is no folder {folder}")
        return folder


def make_registration(
    plugin: Plugin,
    kind: str,
    name: str,
    target: str | Path | Callable[..., Any],
    *,
    config: str | type | None = None,
    help: str = "",
    api: int = API_VERSION,
    extra: str = "",
    presets: str | Path = "",
    evaluate: str | Callable[..., Any] = "",
    play: str | Callable[..., Any] = "",
) -> Registration:
    """Return a checked registration.

    Raises:
        PluginError: the name or a target is malformed, or the plugin was written for a newer api.
    """
    one = SINGULAR[kind]
    if not isinstance(api, int) or api < 1:
        raise PluginError(f"{one} {name!r} asks for api {api!r}, which is no version")
    if api > API_VERSION:
        raise PluginError(f"{one} {name!r} asks for api {api}, and this pkmncli has api {API_VERSION}: upgrade pkmncli")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise PluginError(f"{one} {name!r}: a name is lower-case letters and digits, words joined by hyphens")
    if kind == "games":
        if not isinstance(target, Path) and not (isinstance(target, str) and _FOLDER_TARGET.fullmatch(target)):
            raise PluginError(f"{one} {name!r}: its target {target!r} is no folder as 'package:folder' or Path")
    elif isinstance(target, str):
        if not _OBJECT_TARGET.fullmatch(target):
            raise PluginError(f"{one} {name!r}: its target {target!r} is not written as 'package.module:Name'")
    elif not callable(target):
        raise PluginError(f"{one} {name!r}: its target {target!r} cannot be called")
    if isinstance(config, str) and not _OBJECT_TARGET.fullmatch(config):
        raise PluginError(f"{one} {name!r}: its config {config!r} is not written as 'package.module:Name'")
    if presets and (kind != PRESET_KIND or config is None):
        raise PluginError(f"{one} {name!r} brings presets: only {PRESET_KIND} with a config have them")
    if presets and not isinstance(presets, Path) and not _FOLDER_TARGET.fullmatch(str(presets)):
        raise PluginError(f"{one} {name!r}: its presets {presets!r} are no folder as 'package:folder' or Path")
    for function, owners, noun, purpose in (
        (evaluate, "commands", "evaluation", "an evaluation"),
        (play, "environments", "play", "a command to play"),
    ):
        if function and kind != owners:
            raise PluginError(f"{one} {name!r} brings {purpose}: only {owners} have one")
        if isinstance(function, str) and function and not _OBJECT_TARGET.fullmatch(function):
            raise PluginError(f"{one} {name!r}: its {noun} {function!r} is not written as 'package.module:name'")
    words = " ".join(help.split())
    return Registration(kind, name, target, config, words, api, extra, plugin, presets, evaluate, play)


def import_name(target: Any) -> str | None:
    """Return the ``"module:Name"`` by which another process imports a target; None if it cannot.

    A target inside a function or in the main script is not importable.
    """
    if isinstance(target, str):
        return target
    outside = target.__module__ != "__main__" and "<locals>" not in target.__qualname__
    return f"{target.__module__}:{target.__qualname__}" if outside else None

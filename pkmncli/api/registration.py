"""Registration of a plugin's parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from pkmncli import version

API_VERSION = version.API_VERSION
"""Version of these contracts. A plugin that asks for a newer version is reported and left out."""


PROVIDED: dict[str, Any] = {"provided": True}
"""Mark of a field of an environment's settings, ``Field(..., json_schema_extra=PROVIDED)``, that the trainer fills in
from its own settings. Users find such a field among the trainer's settings only.
"""


NAMES_ENCODER: dict[str, Any] = {"names": "encoders"}
"""Mark of a field of a learner's settings, ``Field("convolution", json_schema_extra=NAMES_ENCODER)``, whose value is
the name of an encoder. The default is an encoder that the learner brings itself. For another one the learner is built
with the keyword argument ``encoder``, a :class:`pkmncli.learners.encoders.EncoderFactory`.
"""


class Register(Protocol):
    """Function that each ``pkmn_register_*`` hook receives. ``target`` and ``config`` are resolved on first use."""

    def __call__(
        self,
        name: str,
        target: str | Path | type | Callable[..., Any],
        *,
        config: str | type | None = None,
        help: str = "",
        api: int = API_VERSION,
        extra: str = "",
        presets: str | Path = "",
        evaluate: str | Callable[..., Any] = "",
        play: str | Callable[..., Any] = "",
    ) -> None:
        """Register ``name``.

        Args:
            name: lower case, words joined by hyphens; unique within its kind.
            target: ``"package.module:Name"``, or the object itself; of a game its folder, as ``"package:folder"`` or
                a Path.
            config: the pydantic model of its settings, which users set under ``[name]``.
            help: one line for ``pkmn plugins``.
            api: the API version that the plugin was written for.
            extra: the extra of the distribution that brings what the target imports.
            presets: of a learner, the folder of its presets, as ``"package:folder"``: a TOML file each.
            evaluate: of a command that makes runs, the function that ``pkmn eval`` calls, as ``"package.module:name"``:
                ``evaluate(run, state, episodes, seed)`` with the :class:`pkmncli.api.RunInfo` and a checkpoint's state
                returns results as plain values by name, ``avg_reward`` among them.
            play: of an environment, the command ``pkmn play --env NAME``, a function that Typer can run, as
                ``"package.module:name"``: its options are those of the command.
        """
        ...

"""Gymnasium id of the environment: ``pkmn/Balatro-v0``.

Importing this module registers it. Gymnasium imports it for
``gymnasium.make("pkmn_balatro.registration:pkmn/Balatro-v0")``; after ``import pkmn_balatro.registration`` the short
name is enough. The simulator is loaded when an environment is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gymnasium.envs.registration import register, registry

if TYPE_CHECKING:
    from pkmn_balatro.environment import BalatroEnvironment

ENVIRONMENT_ID = "pkmn/Balatro-v0"


def register_gymnasium() -> None:
    """Register the environment with Gymnasium, unless it is registered."""
    if ENVIRONMENT_ID not in registry:
        register(id=ENVIRONMENT_ID, entry_point="pkmn_balatro.registration:make_balatro")


def make_balatro(**settings: Any) -> BalatroEnvironment:
    """Make the environment. Keyword arguments are fields of BalatroSettings."""
    from pkmn_balatro.environment import BalatroEnvironment  # noqa: PLC0415 - only where one is made
    from pkmn_balatro.settings import BalatroSettings  # noqa: PLC0415

    return BalatroEnvironment(BalatroSettings(**settings))


register_gymnasium()

"""Choice of the pilot whose goals an environment shows: one that runs with it, its own, or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.pilot.pilot import RulesPilot

if TYPE_CHECKING:
    from pkmn_pyboy.game import HasGame


class Guide:
    """Holder of the pilot whose goals are shown.

    A pilot that runs with the environment decides in every state anyway, so its goals cost nothing. Without one, as
    in ``gymnasium.make``, the guide makes its own, which decides in every state and never presses a button.

    Args:
        environment: it has the running game.
    """

    def __init__(self, environment: HasGame) -> None:
        self._environment = environment
        self._beside: Any = None
        self._own: RulesPilot | None = None
        self._seed = 0

    def follow(self, pilot: Any) -> None:
        """Show the goals of this pilot from now on; none if it is not a RulesPilot."""
        self._beside, self._own = pilot, None

    @property
    def memory(self) -> PilotMemory | None:
        """Memory of the pilot; None if it is not a RulesPilot."""
        if self._beside is not None:
            memory = getattr(self._beside, "memory", None)
            return memory if isinstance(memory, PilotMemory) else None
        if self._own is None:
            self._own = RulesPilot(self._environment)
            self._begin(self._own)
        return self._own.memory

    def begin(self, seed: int | None) -> None:
        """Start an episode."""
        self._seed = seed or 0
        if self._own is not None:
            self._begin(self._own)

    def look(self) -> None:
        """Let the guide's own pilot decide in the state after a step."""
        if self._own is not None:
            self._own.act()

    def save_state(self) -> dict[str, Any] | None:
        """Return the memory of the guide's own pilot, as plain values; None without one."""
        return self._own.save_state() if self._own is not None else None

    def load_state(self, state: Mapping[str, Any] | None) -> None:
        """Restore a saved state; one that was saved without a pilot restarts the guide's own."""
        if self._beside is not None:
            return
        if state is None:
            self._own = None
            return
        self._own = self._own or RulesPilot(self._environment)
        self._own.load_state(state)

    def _begin(self, pilot: RulesPilot) -> None:
        pilot.reset(self._seed)
        pilot.act()

"""Watches a player's presses for loops: the same two or three buttons, again and again, with nothing gained by them.

A step gains something when it changes what lasts (party, battle, money, things, story, map), or shows what was not
seen since that last changed: a tile, words, a place of the cursor. A loop shows the same few things again and again.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.bag import Bag
from pkmn_pyboy.state.game_state import Phase
from pkmncli.api import Action

FEW_BUTTONS = 3
WORDS = frozenset({Phase.DIALOGUE, Phase.CHOICE, Phase.MENU, Phase.BATTLE})


class PressWatch:
    """Counts, step by step, for how long few buttons were pressed for nothing.

    Only steps count on which the mask allows more than those few: words that let nobody do anything but A and B are no
    loop of the player's, but the road that leads back to them is.

    Args:
        environment: the game that is played.
    """

    def __init__(self, environment: PokemonEnvironment) -> None:
        self._environment = environment
        self._flags = environment.profile.memory.fields.get("wEventFlags")
        self._lasting: Hashable = None
        self._seen: set[Hashable] = set()
        self._choices = 0
        self._gained_at = 0
        self._pressed_at: dict[int, int] = {}
        self.longest = 0
        """The longest such stretch so far, in steps."""
        self.idlest = 0
        """The longest stretch without any gain, whatever was pressed."""
        self.where = ""
        """What it looked like."""

    def reset(self) -> None:
        """Begins anew, with an episode."""
        self._lasting, self._seen, self._pressed_at = None, set(), {}
        self._gained_at = self._choices

    def note(self, action: int) -> int:
        """Takes in the step that was just made; returns how long few buttons have been pressed for nothing."""
        environment = self._environment
        self._choices += int(environment.mask.sum()) > FEW_BUTTONS
        self._pressed_at[action] = self._choices
        lasting = self._what_lasts()
        if lasting != self._lasting:
            self._lasting = lasting
            self._seen.clear()
            self._gained_at = self._choices
        shown = self._what_shows()
        if shown not in self._seen:
            self._seen.add(shown)
            self._gained_at = self._choices
        self.idlest = max(self.idlest, self._choices - self._gained_at)
        others = sorted(self._pressed_at.values(), reverse=True)[FEW_BUTTONS:]
        stretch = self._choices - max(self._gained_at, *others) if others else self._choices - self._gained_at
        if stretch > self.longest:
            self.longest = stretch
            state = environment.state
            buttons = sorted(self._pressed_at, key=lambda one: -self._pressed_at[one])[:FEW_BUTTONS]
            self.where = (
                f"step {environment.steps}: {state.phase.name} at {state.position}, "
                f"{'/'.join(Action(button).name for button in buttons)}, {environment.screen_words()!r}"
            )
        return stretch

    def _what_lasts(self) -> Hashable:
        environment, state = self._environment, self._environment.state
        battle = state.battle
        sides = (battle.own, battle.opponent, battle.trainer_class) if battle is not None else None
        flags = b""
        if self._flags is not None:
            flags = environment.emulator.read(self._flags.bank, self._flags.address, self._flags.size)
        bag = Bag.read(environment.emulator, environment.profile.memory)
        things = (tuple(bag.items.items()), tuple(bag.balls.items()), bag.key_items, tuple(bag.machines.items()))
        return (
            state.map_id, state.party.members, sides, state.money, state.badges, state.milestones, state.caught,
            flags, things,
        )  # fmt: skip

    def _what_shows(self) -> Hashable:
        state = self._environment.state
        cursor = (state.menu.windows, state.menu.rows, state.menu.cursor_row, state.menu.cursor_column)
        words = 0
        if state.phase in WORDS:
            words = zlib.crc32(self._environment.reader.screen_tiles().translate(None, b"\xec\xed\xee"))
        return (state.phase, state.x, state.y, cursor if state.phase in WORDS else None, words)

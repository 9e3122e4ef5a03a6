"""Watches a player's presses for loops: the same two or three buttons, again and again, with nothing gained by them.

Three kinds of gain are told apart, and what is shown a second time is none:

* progress, new in the episode: experience, level, money, things, badges, species caught, milestones, story flags;
* what lasts, new since the last progress: a member, the party's order, a side of a battle (hit points, move points,
  stages), all flags together. A lever pulled on and off, or two members who take turns, comes back to what was seen;
* what shows, new since one of these: a tile of a map, words, a place of the cursor. A door walked in and out of shows
  the same tiles. Digits are no words: a clock on the screen would be new for ever.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterable, Iterator

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.state.bag import Bag
from pkmn_pyboy.state.game_state import Battler, Phase
from pkmncli.api import Action

FEW_BUTTONS = 3
WORDS = frozenset({Phase.DIALOGUE, Phase.CHOICE, Phase.MENU, Phase.BATTLE})
CURSORS, DIGITS = b"\xec\xed\xee", bytes(range(0xF6, 0x100))


class PressWatch:
    """Counts, step by step, for how long few buttons were pressed for nothing.

    Only steps count on which the mask allows more than those few: words that let nobody do anything but A and B are no
    loop of the player's, but the road that leads back to them is.

    Args:
        environment: the game that is played.
    """

    def __init__(self, environment: PokemonEnvironment) -> None:
        self._environment = environment
        self._progress: set[Hashable] = set()
        self._lasting: set[Hashable] = set()
        self._shown: set[Hashable] = set()
        self._flags = b""
        self._was_set = 0
        self._choices = 0
        self._gained_at = 0
        self._pressed_at: dict[int, int] = {}
        self.longest = 0
        """The longest such stretch so far, in steps."""
        self.where = ""
        """What it looked like."""
        self.idlest = 0
        """The longest stretch without any gain, whatever was pressed."""
        self.idle_where = ""
        """What that looked like."""

    def reset(self) -> None:
        """Begins anew, with an episode."""
        for seen in (self._progress, self._lasting, self._shown):
            seen.clear()
        self._flags, self._was_set, self._pressed_at = b"", 0, {}
        self._gained_at = self._choices

    def note(self, action: int) -> int:
        """Takes in the step that was just made; returns how long few buttons have been pressed for nothing."""
        environment = self._environment
        self._choices += int(environment.mask.sum()) > FEW_BUTTONS
        self._pressed_at[action] = self._choices
        if self._gains():
            self._gained_at = self._choices
        others = sorted(self._pressed_at.values(), reverse=True)[FEW_BUTTONS:]
        stretch = self._choices - max(self._gained_at, *others) if others else self._choices - self._gained_at
        if stretch > self.longest:
            self.longest, self.where = stretch, self._looks()
        if self._choices - self._gained_at > self.idlest:
            self.idlest, self.idle_where = self._choices - self._gained_at, self._looks()
        return stretch

    def _looks(self) -> str:
        environment, state = self._environment, self._environment.state
        buttons = sorted(self._pressed_at, key=lambda one: -self._pressed_at[one])[:FEW_BUTTONS]
        names = "/".join(Action(button).name for button in buttons)
        place = f"{state.phase.name} at {divmod(state.map_id, 256)}, {state.x}, {state.y}"
        return f"step {environment.steps}: {place}, {names}, {environment.screen_words()!r}"

    def _gains(self) -> bool:
        """Whether this moment shows anything new; what was new lately is so once more after something greater."""
        progress, lasting, shown = self._progress, self._lasting, self._shown
        bag = Bag.read(self._environment.emulator, self._environment.profile.memory)
        things = (tuple(bag.items.items()), tuple(bag.balls.items()), bag.key_items, tuple(bag.machines.items()))
        progresses = self._sets_a_flag() | _adds(progress, self._what_progresses(things))
        if progresses:
            lasting.clear()
        changes = _adds(lasting, self._what_lasts(things))
        if progresses or changes:
            shown.clear()
        return _adds(shown, [self._what_shows()])

    def _sets_a_flag(self) -> bool:
        """Whether a flag is set that was never set before in the episode."""
        field = self._environment.profile.memory.fields.get("wEventFlags")
        if field is not None:
            self._flags = self._environment.emulator.read(field.bank, field.address, field.size)
        before = self._was_set
        self._was_set |= int.from_bytes(self._flags, "little")
        return self._was_set != before

    # Each by itself, since two things that come and go are new together for much longer than one by one

    def _what_progresses(self, things: Hashable) -> Iterator[Hashable]:
        state = self._environment.state
        yield "things", things
        yield "money", state.money
        yield "records", state.badges, state.caught, state.milestones
        for member in state.party.members:
            yield "member", member.species, member.dvs, member.level, member.experience

    def _what_lasts(self, things: Hashable) -> Iterator[Hashable]:
        state = self._environment.state
        yield "things", things, state.money
        yield "flags", self._flags
        yield "order", tuple((member.species, member.dvs) for member in state.party.members)
        for member in state.party.members:
            yield "member", member
        if state.battle is not None:
            yield "own", _side(state.battle.own)
            yield "opponent", _side(state.battle.opponent)

    def _what_shows(self) -> Hashable:
        state = self._environment.state
        if state.phase not in WORDS:
            return state.phase, state.position
        cursor = (state.menu.windows, state.menu.rows, state.menu.cursor_row, state.menu.cursor_column)
        words = zlib.crc32(self._environment.game.reader.screen_tiles().translate(None, CURSORS + DIGITS))
        return state.phase, state.position, cursor, words


def _adds(seen: set[Hashable], what: Iterable[Hashable]) -> bool:
    """Whether any of it is new, which it is no more then."""
    before = len(seen)
    seen.update(what)
    return len(seen) > before


def _side(battler: Battler | None) -> Hashable:
    """What a turn changes of who is out; what they were born with differs from one wild creature to the next."""
    if battler is None:
        return None
    return battler.species, battler.level, battler.hp, battler.status, battler.moves, battler.pp, battler.stages

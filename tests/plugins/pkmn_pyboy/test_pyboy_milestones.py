"""Milestones: reached once, in the order of the story, and found at the start of an episode."""

from __future__ import annotations

import pytest
from support.pyboy_fakes import FakeMemory

from pkmn_pyboy.profile.milestones import Evidence, Milestone
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.story.tracker import MilestoneTracker

BEDROOM = 24 * 256 + 7
LAB = 24 * 256 + 5


def flag(memory: FakeMemory, index: int) -> None:
    place = memory.fields["wEventFlags"].address + (index >> 3)
    before = memory.read(1, place, 1)[0]
    memory.put(1, place, bytes((before | 1 << (index & 7),)))


def place_of(crystal: GameProfile, key: str) -> int:
    return crystal.milestone_index(key)


def test_evidence_of_each_kind(crystal: GameProfile, memory: FakeMemory) -> None:
    fields = crystal.memory
    here = Evidence.build(fields, "map", group=24, number=5)
    assert here.holds(memory, LAB)
    assert not here.holds(memory, BEDROOM)
    event = Evidence.build(fields, "event", index=26)
    assert not event.holds(memory, LAB)
    flag(memory, 26)
    assert event.holds(memory, LAB)
    badge = Evidence.build(fields, "bit", field="wJohtoBadges", bit=7)
    assert not badge.holds(memory, LAB)
    assert badge.holds(memory.set(wJohtoBadges=0x80), LAB)
    town = Evidence.build(fields, "bit", field="wVisitedSpawns", bit=14)
    assert town.holds(memory.set(wVisitedSpawns=b"\0\x40\0\0"), LAB)
    some = Evidence.build(fields, "at_least", address=0xDCD7, value=2)
    assert not some.holds(memory.set(wPartyCount=1), LAB)
    assert some.holds(memory.set(wPartyCount=3), LAB)
    item = Evidence.build(fields, "key_item", id=69)
    assert item.holds(memory.set(wKeyItems=bytes((7, 69, 255)) + bytes(23)), LAB)
    assert not item.holds(memory.set(wKeyItems=bytes((7, 255, 69)) + bytes(23)), LAB), "beyond the end of the list"


@pytest.mark.parametrize("values", [{"kind": "map", "group": 1}, {"kind": "event"}, {"kind": "bit", "bit": 3}])
def test_evidence_needs_its_parts(crystal: GameProfile, values: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="needs"):
        Evidence.build(crystal.memory, **values)  # type: ignore[arg-type]


def test_new_game_begins_with_the_bedroom(crystal: GameProfile, memory: FakeMemory) -> None:
    tracker = MilestoneTracker(crystal.milestones)
    flag(memory, 54)
    tracker.begin(memory, BEDROOM)
    assert tracker.count == 1
    assert tracker.steps[0] == 0
    current = tracker.current()
    assert current is not None
    assert current.key == "downstairs"


def test_a_milestone_waits_for_what_it_needs(crystal: GameProfile, memory: FakeMemory) -> None:
    """Scene number 2 in the lab has one meaning after the starter and another after the egg."""
    tracker = MilestoneTracker(crystal.milestones)
    tracker.begin(memory, BEDROOM)
    memory.set(wMrPokemonsHouseSceneID=1, wElmsLabSceneID=2)
    assert not tracker.update(memory, LAB, 9)
    assert tracker.steps[place_of(crystal, "rival_named")] == -1


def test_reached_stays_reached(crystal: GameProfile, memory: FakeMemory) -> None:
    tracker = MilestoneTracker(crystal.milestones)
    flag(memory, 54)
    tracker.begin(memory, BEDROOM)
    assert tracker.update(memory, 24 * 256 + 6, 17)
    assert not tracker.update(memory, BEDROOM, 18)
    assert tracker.steps[:2] == [0, 17]


def test_start_in_the_middle_of_the_story(crystal: GameProfile, memory: FakeMemory) -> None:
    for index in (54, 26):
        flag(memory, index)
    memory.set(wPartyCount=1, wNewBarkTownSceneID=1, wVisitedSpawns=b"\0\xc0\0\0")
    tracker = MilestoneTracker(crystal.milestones)
    tracker.begin(memory, 26 * 256 + 3)
    assert tracker.steps[place_of(crystal, "cherrygrove")] == 0
    assert tracker.steps[place_of(crystal, "downstairs")] == 0, "behind the player, although its evidence has passed"
    assert tracker.steps[place_of(crystal, "map_card")] == -1, "optional ones need their own evidence"
    current = tracker.current()
    assert current is not None
    assert current.key == "route_30"


def test_an_episode_that_begins_elsewhere_has_begun_the_game(crystal: GameProfile, memory: FakeMemory) -> None:
    """Before the first lasting evidence, earlier milestones are unknown, except that the game has started."""
    tracker = MilestoneTracker(crystal.milestones)
    flag(memory, 54)
    tracker.begin(memory, 24 * 256 + 9)
    assert tracker.steps[0] == 0
    current = tracker.current()
    assert current is not None
    assert current.key == "downstairs"


def test_optional_ones_never_hold_up_the_story(memory: FakeMemory, crystal: GameProfile) -> None:
    def at_least(value: int) -> tuple[Evidence, ...]:
        return (Evidence.build(crystal.memory, "at_least", field="wPartyCount", value=value),)

    tracker = MilestoneTracker(
        [
            Milestone("first", "First", at_least(1)),
            Milestone("side", "Side", at_least(5), optional=True, needs=("first",)),
            Milestone("second", "Second", at_least(2), needs=("first",)),
        ]
    )
    tracker.begin(memory, 0)
    memory.set(wPartyCount=2)
    assert tracker.update(memory, 0, 4)
    assert tracker.steps == [4, -1, 4]
    assert tracker.current() is None
    assert tracker.update(memory.set(wPartyCount=5), 0, 6)
    assert tracker.steps == [4, 6, 4]
    other = MilestoneTracker(tracker.milestones)
    other.load_state(tracker.save_state())
    assert (other.steps, other.count) == (tracker.steps, 3)
    with pytest.raises(ValueError, match="2 milestones, not 3"):
        other.load_state({"steps": [1, 2]})

"""What a step led to, told from the states before and after it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pkmncli.api import Consequence, Facts, PhaseRole
from pkmncli.training.workers.consequences import ConsequenceWatcher

ROLES = (PhaseRole.FREE, PhaseRole.READING, PhaseRole.ANSWERING, PhaseRole.MENU, PhaseRole.FIGHTING)
FREE, DIALOGUE, CHOICE, MENU, BATTLE = range(5)
HERE = Facts(6148, 4, 6, FREE, 0, 0, 0.8, 2, 0, 0, 0)
FIGHT = HERE._replace(phase=BATTLE, battle=1, opponent=19, opponent_health=0.6)


def watcher() -> ConsequenceWatcher:
    found = ConsequenceWatcher(ROLES)
    found.begin(HERE)
    return found


@pytest.mark.parametrize(
    ("before", "after", "consequence"),
    [
        (HERE, HERE, Consequence.NOTHING),
        (HERE, HERE._replace(x=5), Consequence.NEW_TILE),
        (HERE, HERE._replace(phase=DIALOGUE), Consequence.NOTHING),
        (HERE._replace(phase=DIALOGUE), HERE, Consequence.TEXT_CLOSED),
        (HERE._replace(phase=CHOICE), FIGHT, Consequence.TEXT_CLOSED),
        (HERE._replace(phase=DIALOGUE), HERE._replace(phase=CHOICE), Consequence.NOTHING),
        (HERE._replace(phase=CHOICE), HERE._replace(phase=MENU), Consequence.NOTHING),
        (FIGHT, FIGHT._replace(opponent_health=0.1), Consequence.DAMAGE_DEALT),
        (FIGHT, FIGHT._replace(opponent=20, opponent_health=0.1), Consequence.NOTHING),
        (FIGHT, FIGHT._replace(health=0.5, opponent_health=0.1), Consequence.DAMAGE_TAKEN),
        (HERE, HERE._replace(health=0.5), Consequence.NOTHING),
        (FIGHT, HERE, Consequence.BATTLE_ENDED),
        (HERE, HERE._replace(map_id=6149), Consequence.NEW_MAP),
        (FIGHT, HERE._replace(milestones=3, map_id=6149), Consequence.MILESTONE),
    ],
)
def test_the_most_telling_consequence_is_told(before: Facts, after: Facts, consequence: Consequence) -> None:
    assert watcher().look(before, after) == consequence


def test_tiles_and_maps_are_new_once_in_an_episode() -> None:
    found, there, inside = watcher(), HERE._replace(x=5), HERE._replace(map_id=6149)
    way = [HERE, there, HERE, inside, HERE, inside._replace(y=9), there]
    told = [found.look(before, after) for before, after in pairwise(way)]
    assert told == [1, 0, 6, 0, 1, 0]
    found.begin(HERE)
    assert found.look(HERE, there) == Consequence.NEW_TILE


def test_where_an_episode_has_been_is_saved() -> None:
    found, there = watcher(), HERE._replace(x=5)
    found.look(HERE, there)
    other = ConsequenceWatcher(ROLES)
    other.load_state_dict(found.state_dict())
    assert other.look(HERE, there) == Consequence.NOTHING
    assert other.look(there, there._replace(x=6)) == Consequence.NEW_TILE


def test_places_may_be_far_apart_and_below_zero() -> None:
    found, far = watcher(), HERE._replace(x=70_000, y=-3)
    assert found.look(HERE, far) == Consequence.NEW_TILE
    assert found.look(far, HERE) == found.look(HERE, far) == Consequence.NOTHING
    assert found.look(far, HERE._replace(x=4, y=259)) == Consequence.NEW_TILE


def test_the_tiles_of_a_checkpoint_of_an_earlier_version_are_known() -> None:
    found = ConsequenceWatcher(ROLES)
    found.load_state_dict({"tiles": [6148 << 16 | 4 << 8 | 6, 6149 << 16 | 255 << 8]})
    assert found.look(HERE._replace(x=5), HERE) == Consequence.NOTHING
    assert found.look(HERE, HERE._replace(map_id=6149, x=255, y=0)) == Consequence.NOTHING
    assert found.look(HERE, HERE._replace(map_id=6149, x=254, y=0)) == Consequence.NEW_TILE

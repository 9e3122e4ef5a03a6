"""Recordings of a running game, frame by frame: a change in memory is in the state at the same sample.

One test decodes the recorded bytes itself and compares, sample by sample; the others check the times of known events.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.pyboy_fakes import FakeMemory
from support.recordings import RECORDINGS, apply, recorded_rows

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import GameState, Phase
from pkmn_pyboy.state.reader import StateReader

NOT_OUT_YET = 0xFF
MAP_RUNNING = 2


def samples(crystal: GameProfile, name: str) -> Iterator[tuple[int, dict[str, Any], dict[str, Any], GameState]]:
    """Yield frame, changed values, all values recorded so far, and the state read from them."""
    memory, reader, recorded = FakeMemory(crystal.memory), StateReader(crystal), dict[str, Any]()
    for frame, changed in recorded_rows(name):
        apply(memory, changed)
        recorded |= changed
        yield frame, changed, dict(recorded), reader.read(memory)


def word(data: list[int], place: int) -> int:
    return data[place] * 256 + data[place + 1]


@pytest.mark.parametrize("name", RECORDINGS)
def test_what_changes_in_memory_is_in_the_state_at_that_sample(crystal: GameProfile, name: str) -> None:
    compared = dict.fromkeys(("place", "member", "money", "opponent", "own", "battle"), 0)
    for frame, changed, now, state in samples(crystal, name):
        inside = now["wXCoord"] < now["wMapWidth"] * 2 and now["wYCoord"] < now["wMapHeight"] * 2
        moved = {"wXCoord", "wYCoord", "wMapGroup", "wMapNumber"} & changed.keys()
        if moved and inside and now["wMapStatus"] == MAP_RUNNING:
            raw = (now["wMapGroup"], now["wMapNumber"], now["wXCoord"], now["wYCoord"])
            assert (state.map_group, state.map_number, state.x, state.y) == raw, frame
            compared["place"] += 1
        if "wPartyMon1" in changed and now["wPartyCount"]:
            record, member = now["wPartyMon1"], state.party.members[0]
            assert (member.species, member.level, member.status) == (record[0], record[31], record[32]), frame
            assert (member.hp, member.max_hp) == (word(record, 34), word(record, 36)), frame
            assert member.experience == record[8] * 65536 + word(record, 9), frame
            assert (list(member.moves), list(member.pp)) == (record[2:6], [byte % 64 for byte in record[23:27]]), frame
            assert member.stats[0] == word(record, 38), frame
            compared["member"] += 1
        if "wMoney" in changed:
            assert state.money == now["wMoney"][0] * 65536 + word(now["wMoney"], 1), frame
            compared["money"] += 1
        if "wBattleMode" in changed:
            assert (state.battle.kind if state.battle else 0) == now["wBattleMode"], frame
            compared["battle"] += 1
        if state.battle is None:
            continue
        own, foe = now.get("wBattleMon", [0] * 32), now["wEnemyMon"]
        if "wBattleMon" in changed and own[0]:
            assert state.battle.own is not None, frame
            assert (state.battle.own.species, state.battle.own.level) == (own[0], own[13]), frame
            assert (state.battle.own.hp, state.battle.own.max_hp) == (word(own, 16), word(own, 18)), frame
            assert list(state.battle.own.pp) == [byte % 64 for byte in own[8:12]], frame
            compared["own"] += 1
        out = foe[0] and (now["wBattleMode"] == 1 or now.get("wCurOTMon") != NOT_OUT_YET)
        if "wEnemyMon" in changed and out and (own[0] or word(foe, 16)):
            assert state.battle.opponent is not None, frame
            assert (state.battle.opponent.species, state.battle.opponent.level) == (foe[0], foe[13]), frame
            assert (state.battle.opponent.hp, state.battle.opponent.max_hp) == (word(foe, 16), word(foe, 18)), frame
            assert state.battle.opponent.types == (foe[30], foe[31]), frame
            compared["opponent"] += 1
    assert compared["place"] + compared["member"] + compared["battle"] > 0
    if name in ("grass", "wild_battle", "route_30_south", "route_30_north", "gym"):
        assert compared["opponent"] + compared["own"] > 0


FREE, MOVING, DIALOGUE, CHOICE, MENU, TRANSITION, CUTSCENE = (
    Phase.FREE,
    Phase.MOVING,
    Phase.DIALOGUE,
    Phase.CHOICE,
    Phase.MENU,
    Phase.TRANSITION,
    Phase.CUTSCENE,
)

TURNS: dict[str, tuple[tuple[int, Phase], ...]] = {
    "stairs": ((208, MOVING), (232, TRANSITION), (264, MOVING), (280, FREE)),
    "pokegear": (
        (80, CUTSCENE), (160, DIALOGUE), (2800, CUTSCENE), (2864, FREE), (3064, TRANSITION), (3104, MOVING),
        (3120, FREE),
    ),
    "laboratory": (
        (304, TRANSITION), (336, FREE), (344, CUTSCENE), (504, DIALOGUE), (2456, CUTSCENE), (2584, DIALOGUE),
        (2792, CUTSCENE), (2832, DIALOGUE), (3896, CUTSCENE), (4008, DIALOGUE), (4456, CUTSCENE), (4480, FREE),
    ),
    "starter": ((120, CUTSCENE), (264, DIALOGUE), (1672, DIALOGUE), (2400, CUTSCENE), (2432, FREE)),
    "potion": ((144, CUTSCENE), (200, DIALOGUE), (880, CUTSCENE), (952, FREE), (1104, TRANSITION), (1136, FREE)),
    "map_edge": ((296, FREE), (312, MOVING), (328, FREE)),
    "healing": ((124, CUTSCENE), (132, DIALOGUE), (1172, CUTSCENE), (1204, FREE)),
    "wild_battle": (
        (8, Phase.BATTLE), (1136, Phase.BATTLE_MENU), (1144, Phase.BATTLE), (1696, Phase.BATTLE_MENU),
        (1704, Phase.BATTLE), (2208, TRANSITION),
    ),
    "bag": (
        (40, MENU), (280, CHOICE), (296, DIALOGUE), (496, CHOICE), (512, DIALOGUE), (544, MENU), (576, DIALOGUE),
        (952, CHOICE), (968, DIALOGUE), (1072, MENU), (1112, DIALOGUE), (1424, MENU), (1528, CUTSCENE), (1552, FREE),
    ),
    "continue_page": ((8, MENU), (104, TRANSITION), (160, FREE)),
    "grass": ((2776, Phase.BATTLE),),
    "gym": ((602, Phase.BATTLE), (10810, Phase.BATTLE)),
    "route_30_north": ((5338, Phase.BATTLE), (11618, Phase.BATTLE)),
    "route_30_south": ((424, Phase.BATTLE), (3264, TRANSITION)),
}  # fmt: skip
"""Frames at which a phase begins, some of each recording."""


def test_turns_are_known_of_every_recording() -> None:
    assert sorted(TURNS) == RECORDINGS


@pytest.mark.parametrize("name", RECORDINGS)
def test_phases_turn_at_their_frames(crystal: GameProfile, name: str) -> None:
    begins: dict[int, Phase] = {}
    before = None
    for frame, _, _, state in samples(crystal, name):
        if state.phase is not before:
            begins[frame] = before = state.phase
    for frame, phase in TURNS[name]:
        assert begins.get(frame) is phase, (frame, sorted(begins))


MAPS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "stairs": ((8, 24, 7), (264, 24, 6)),
    "pokegear": ((8, 24, 6), (3104, 24, 4)),
    "laboratory": ((8, 24, 4), (336, 24, 5)),
    "starter": ((8, 24, 5),),
    "potion": ((8, 24, 5), (1136, 24, 4)),
    "map_edge": ((8, 24, 4), (328, 24, 3)),
    "grass": ((8, 24, 3),),
    "wild_battle": ((8, 24, 3),),
    "healing": ((4, 26, 5),),
    "bag": ((8, 3, 52),),
    "continue_page": ((8, 0, 0), (160, 24, 4)),
    "route_30_south": ((8, 26, 1), (11008, 26, 3)),
    "route_30_north": ((2, 26, 1), (15266, 26, 2)),
    "gym": ((2, 10, 7), (12578, 10, 5)),
}


@pytest.mark.parametrize("name", RECORDINGS)
def test_maps_change_once_the_next_one_is_there(crystal: GameProfile, name: str) -> None:
    seen: list[tuple[int, int, int]] = []
    for frame, _, _, state in samples(crystal, name):
        if not seen or seen[-1][1:] != (state.map_group, state.map_number):
            seen.append((frame, state.map_group, state.map_number))
    assert tuple(seen) == MAPS[name]


HIT_POINTS: dict[str, tuple[tuple[int, int | None, int | None], ...]] = {
    # the first wild battle: two hits of each side, and the last one
    "wild_battle": (
        (8, 13, None), (344, 13, 20), (728, 7, 20), (1016, 7, 18), (1328, 1, 18), (1616, 1, 16), (1888, 0, 16),
        (2208, None, None),
    ),
    # the leader's first: sent out at 11098, the player's with its last hit point at 11426, lost at 12106
    "gym": (
        (10810, None, None), (11098, 24, None), (11426, 24, 1), (11842, 16, 1), (12106, 16, 0), (12274, None, None),
    ),
    # a trainer's two Pokemon, with a level gained between them
    "route_30_north": (
        (5626, 13, None), (5954, 13, 25), (6354, 0, 25), (6786, 17, 25), (7266, 8, 25), (7562, 8, 22), (7826, 0, 22),
        (8506, None, None),
    ),
    "route_30_south": ((424, 17, None), (776, 17, 23), (1168, 12, 23), (2920, 0, 23), (3264, None, None)),
    "grass": ((2776, 13, None),),
}  # fmt: skip
"""Hit points of opponent and the player's Pokemon from a frame on; None if not out."""


@pytest.mark.parametrize("name", HIT_POINTS)
def test_hit_points_fall_at_their_frames(crystal: GameProfile, name: str) -> None:
    at = {}
    for frame, _, _, state in samples(crystal, name):
        foe = state.battle.opponent if state.battle else None
        own = state.battle.own if state.battle else None
        at[frame] = (foe.hp if foe else None, own.hp if own else None)
    frames = sorted(at)
    for frame, foe_hp, own_hp in HIT_POINTS[name]:
        latest = max(one for one in frames if one <= frame)
        assert at[latest] == (foe_hp, own_hp), frame
        if (foe_hp, own_hp) != (None, None):
            assert at[frames[frames.index(frame) - 1]] != (foe_hp, own_hp) or frame == frames[0], "it was so before"

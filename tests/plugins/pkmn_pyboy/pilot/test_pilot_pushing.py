"""The pilot pushes boulders in the running game: one to its goal's tile, or those that block its path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.placed_game import PlacedGame, Saved, saved_with_lessons
from support.variants import long_after

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.profile.loading import load_profile
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import Facing
from pkmncli.errors import EnvironmentSetupError

TARN = (2, 6)
SHOVE, SPLOOSH, RILLET = 38, 6, 3
BOULDER = 2
AT = 0xD71E + 16 * BOULDER + 2
"""Address of the row and column of the boulder on its map, each plus 4."""

MILESTONE = """
[[milestone]]
key = "placed"
name = "The boulder in its place"
hint = "Push it there."
evidence_all = [
  {{ kind = "equals", address = {row}, value = {y} }},
  {{ kind = "equals", address = {column}, value = {x} }},
]
needs_field_moves = {moves}
target = {{ map = [2, 6], {target} }}
"""

MakeEnvironment = Callable[..., PokemonEnvironment]


def folder_of(profile: GameProfile, folder: Path, x: int, y: int, target: str, moves: str = '["strength"]') -> Path:
    """Write the game's profile with one goal, and the game's image."""
    for name in ("game.toml", "names.toml", "tables.toml", "world.toml"):
        (folder / name).write_text((profile.folder / name).read_text(encoding="utf-8"), encoding="utf-8")
    text = MILESTONE.format(row=AT, column=AT + 1, x=x + 4, y=y + 4, target=target, moves=moves)
    (folder / "milestones.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def start(quillwood: GameProfile) -> Saved:
    return saved_with_lessons(quillwood).party((RILLET, [SPLOOSH, SHOVE])).at(TARN, 9, 5, Facing.RIGHT)


@pytest.fixture
def placed(start: Saved) -> Iterator[PlacedGame]:
    game = PlacedGame(start)
    yield game
    game.close()


def begin(
    make: MakeEnvironment,
    quillwood: GameProfile,
    folder: Path,
    place: tuple[int, int],
    target: str,
    state: bytes,
    knowledge: str = "cartridge",
) -> tuple[PokemonEnvironment, RulesPilot]:
    environment = make(
        observation_type="state",
        game_folder=folder_of(quillwood, folder, *place, target),
        rom_path=quillwood.bundled_rom,
        max_steps_per_episode=600,
        knowledge=knowledge,
    )
    pilot = RulesPilot(environment)
    environment.reset(seed=1, options={"start_state": state})
    pilot.reset(1)
    return environment, pilot


def play(environment: PokemonEnvironment, pilot: RulesPilot) -> set[int]:
    """Play until the goal is reached; return the maps seen on the way."""
    maps = set()
    while environment.milestone_steps() == [-1]:
        environment.advance(pilot.act().action)
        maps.add(environment.state.map_id)
        assert environment.steps < 400, (environment.state.position, pilot.memory.goal)
    return maps


@pytest.mark.parametrize(
    ("place", "target", "knowledge"),
    long_after(
        1,
        [
            ((14, 5), "person = 2, push_to = [14, 5]", "cartridge"),  # around a corner and back
            ((6, 5), "push_to = [6, 5]", "cartridge"),  # through the gap, and back from its other side
            ((14, 5), "person = 2, push_to = [14, 5]", "seen"),
        ],
    ),
)
def test_the_boulder_is_brought_to_its_place(
    make: MakeEnvironment,
    quillwood: GameProfile,
    placed: PlacedGame,
    tmp_path: Path,
    place: tuple[int, int],
    target: str,
    knowledge: str,
) -> None:
    environment, pilot = begin(make, quillwood, tmp_path, place, target, placed.emulator.save_state(), knowledge)
    maps = play(environment, pilot)
    assert maps == {TARN[0] * 256 + TARN[1]}
    row, column = (environment.emulator.memory[1, AT + offset] for offset in (0, 1))
    assert (column - 4, row - 4) == place
    assert environment.masked == 0
    assert pilot.memory.tries.get("milestone/placed", 0) == 0


def test_a_boulder_in_a_corner_is_left_and_pushed_when_it_is_back(
    make: MakeEnvironment, quillwood: GameProfile, placed: PlacedGame, tmp_path: Path
) -> None:
    placed.press("up . " + "right . " * 4 + "a")
    placed.answer("a")
    placed.press("right . " * 12)
    assert placed.field("wMapObjects", 64)[16 * BOULDER + 3] == 16 + 4
    environment, pilot = begin(
        make, quillwood, tmp_path, (14, 5), "person = 2, push_to = [14, 5]", placed.emulator.save_state()
    )
    maps = play(environment, pilot)
    assert len(maps) > 1


@pytest.mark.long
def test_an_impossible_push_is_given_up(
    make: MakeEnvironment, quillwood: GameProfile, placed: PlacedGame, tmp_path: Path
) -> None:
    environment, pilot = begin(
        make, quillwood, tmp_path, (12, 3), "person = 2, push_to = [12, 3]", placed.emulator.save_state()
    )
    for _ in range(200):
        environment.advance(pilot.act().action)
    assert pilot.memory.goal is None or pilot.memory.goal.kind != "push"
    assert [TARN[0] * 256 + TARN[1], 12, 3, BOULDER] in [failed[:4] for failed in pilot.memory.pushing.failed]


GREENER = 1
"""Number of a person in Still Tarn who is turned into a boulder."""


def put_boulder(game: PlacedGame, number: int, x: int, y: int) -> None:
    """Turn a person of the loaded map into a boulder on a tile, with Strength in use."""
    memory, loaded = game.emulator.memory, game.profile.memory["wObjectStructs"].address + 40 * number
    entry = 0xD71E + 16 * number
    for offset, value in ((2, y + 4), (3, x + 4), (4, 25)):
        memory[1, entry + offset] = value
    for offset, value in (
        (3, 25),
        *((place, x + 4) for place in (16, 18, 20)),
        *((place, y + 4) for place in (17, 19, 21)),
    ):
        memory[1, loaded + offset] = value
    in_use = game.profile.field_moves["strength"].in_use
    assert in_use is not None
    memory[1, in_use.address] |= in_use.mask


def way_of(quillwood: GameProfile, folder: Path, target: str, place: tuple[int, int]) -> Path:
    """Write a profile whose only goal is to stand on a tile."""
    folder = folder_of(quillwood, folder, 0, 0, target)
    at = [quillwood.memory[name].address for name in ("wYCoord", "wXCoord")]
    text = MILESTONE.format(row=at[0], column=at[1], x=place[0], y=place[1], target=target, moves='["strength"]')
    (folder / "milestones.toml").write_text(text, encoding="utf-8")
    return folder


def begin_way(
    make: MakeEnvironment, quillwood: GameProfile, folder: Path, target: str, place: tuple[int, int], state: bytes
) -> tuple[PokemonEnvironment, RulesPilot]:
    environment = make(
        observation_type="state",
        game_folder=way_of(quillwood, folder, target, place),
        rom_path=quillwood.bundled_rom,
        max_steps_per_episode=600,
        seed_noops=(0, 0),
        seed_presses=0,
    )
    pilot = RulesPilot(environment)
    environment.reset(seed=1, options={"start_state": state})
    pilot.reset(1)
    return environment, pilot


@pytest.mark.parametrize(
    ("target", "place"),
    long_after(
        1,
        [
            ("x = 16, y = 5", (16, 5)),
            ("person = 3", (15, 2)),
        ],
    ),
)
def test_boulders_in_the_way_are_pushed_in_the_order_that_clears_it(
    make: MakeEnvironment,
    quillwood: GameProfile,
    placed: PlacedGame,
    tmp_path: Path,
    target: str,
    place: tuple[int, int],
) -> None:
    placed.press("up .")
    put_boulder(placed, GREENER, 10, 4)  # pushed straight on, it stops at the other boulder, in the gap
    environment, pilot = begin_way(make, quillwood, tmp_path, target, place, placed.emulator.save_state())
    assert play(environment, pilot) == {TARN[0] * 256 + TARN[1]}
    assert environment.steps < 30
    assert environment.masked == 0


def test_a_path_closed_by_pushing_is_open_again_after_leaving_the_map(
    make: MakeEnvironment, quillwood: GameProfile, placed: PlacedGame, tmp_path: Path
) -> None:
    put_boulder(placed, GREENER, 11, 4)
    environment, pilot = begin_way(make, quillwood, tmp_path, "x = 16, y = 5", (16, 5), placed.emulator.save_state())
    assert "put the boulders back" in pilot.act().reason
    assert len(play(environment, pilot)) > 1
    assert environment.steps < 60


@pytest.mark.parametrize(
    ("target", "moves", "message"),
    [
        ("push_to = [14, 5]", "[]", 'placed: push_to needs needs_field_moves = ["strength"]'),
        ("push_to = [14, 5], x = 3, y = 4", '["strength"]', "placed: push_to is the destination; remove x"),
        ("push_to = [14]", '["strength"]', "milestone.0.target.push_to"),
        ("push_to = [14, -1]", '["strength"]', "milestone.0.target.push_to.1"),
    ],
)
def test_a_goal_that_pushes_nowhere_or_without_strength_is_refused(
    quillwood: GameProfile, tmp_path: Path, target: str, moves: str, message: str
) -> None:
    with pytest.raises(EnvironmentSetupError) as caught:
        load_profile(folder_of(quillwood, tmp_path, 14, 5, target, moves))
    assert message in str(caught.value)
    assert "milestones.toml" in str(caught.value)

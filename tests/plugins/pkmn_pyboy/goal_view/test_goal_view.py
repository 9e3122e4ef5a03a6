"""The observation parts goal and local_map: their content, the same from a saved state, and whose goals they show."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray
from support.variants import long_after

import pkmn_pyboy.registration  # noqa: F401
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.goal_view.local_map import MAP_SIZE, PLANE_NAMES
from pkmn_pyboy.goal_view.table import GOAL_NUMBERS, GOAL_SIZE
from pkmn_pyboy.pilot.battle.tables import BattleTables
from pkmn_pyboy.pilot.memory import ENTRY
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.state.game_state import BATTLE_PHASES, PHASE_NAMES, SITUATIONS, Phase
from pkmn_pyboy.world.loaded_map import LoadedMap
from pkmn_pyboy.world.tile_rules import LAND
from pkmncli.api import Action, BitPlanes

NAMES = [number.name for number in GOAL_NUMBERS]
OF_GOALS = [*range(NAMES.index("quarter_0"), NAMES.index("message_box"))]
OF_GOALS += [*range(NAMES.index("wants_entry"), NAMES.index("wild"))]
OF_GOALS += [*range(NAMES.index("plan_move"), NAMES.index("member_1_hp"))]
MIDDLE = MAP_SIZE // 2


class Game:
    """Environment that observes goals, with the pilot beside it."""

    def __init__(self, seed: int = 3, **settings: object) -> None:
        chosen = {"observation_type": "goal", "max_steps_per_episode": 4000, **settings}
        self.environment = PokemonEnvironment(EnvironmentSettings(**chosen))  # type: ignore[arg-type]
        self.pilot = RulesPilot(self.environment)
        self.environment.guide(self.pilot)
        self.environment.reset(seed=seed)
        self.pilot.reset(seed)
        self.decision = self.pilot.act()

    def step(self, action: int | None = None) -> None:
        self.environment.advance(self.decision.action if action is None else action)
        self.decision = self.pilot.act()

    @property
    def goal(self) -> dict[str, float]:
        return dict(zip(NAMES, self.environment.observation()["goal"].tolist(), strict=True))

    @property
    def tiles(self) -> NDArray[np.uint16]:
        tiles: NDArray[np.uint16] = self.environment.observation()["local_map"]
        return tiles

    def plane(self, name: str) -> NDArray[np.bool_]:
        bits: NDArray[np.bool_] = (self.tiles >> PLANE_NAMES.index(name) & 1).astype(np.bool_)
        return bits


@pytest.fixture
def game() -> Game:
    return Game()


def test_names_are_unique_and_say_what_they_mean() -> None:
    assert len(set(NAMES)) == GOAL_SIZE == 163
    assert all(number.meaning for number in GOAL_NUMBERS)
    assert len(SITUATIONS) == len(PHASE_NAMES)
    assert {SITUATIONS[phase] for phase in BATTLE_PHASES} == {"battle"}
    assert SITUATIONS[Phase.FREE] == "walking"


@pytest.mark.parametrize(("observation_type", "screen"), long_after(1, [("goal", False), ("goal_screen", True)]))
def test_gymnasiums_checks_without_a_pilot_beside_it(observation_type: str, screen: bool) -> None:
    env = gymnasium.make("pkmn/Quillwood-v0", observation_type=observation_type)
    check_env(env.unwrapped, skip_render_check=True)
    observation, _ = env.reset(seed=4)
    parts = {"action_mask", "goal", "local_map", "state_variables"} | ({"screen"} if screen else set())
    assert set(observation) == parts
    assert (observation["goal"].shape, observation["goal"].dtype) == ((GOAL_SIZE,), np.float32)
    assert (observation["local_map"].shape, observation["local_map"].dtype) == ((13, 13), np.uint16)
    space = env.unwrapped.observation_space["local_map"]  # type: ignore[index]
    assert isinstance(space, BitPlanes)
    assert space.planes == PLANE_NAMES
    env.close()


@pytest.mark.long
def test_numbers_stay_in_range_and_most_have_their_moment(game: Game) -> None:
    least, most = np.zeros(GOAL_SIZE), np.zeros(GOAL_SIZE)
    planes = 0
    for _ in range(1200):
        observation = game.environment.observation()
        least, most = np.minimum(least, observation["goal"]), np.maximum(most, observation["goal"])
        planes |= int(np.bitwise_or.reduce(observation["local_map"], axis=None))
        game.step()
    assert least.min() >= -1
    assert most.max() <= 1
    rare = {"moves_by_bicycle", "moves_surfing", "goal_push", "tunes", "goal_look", "pressed_select", "gives_up"}
    used = {name for name, low, high in zip(NAMES, least, most, strict=True) if low < 0 or high > 0}
    assert len(used) >= GOAL_SIZE - 40
    assert not used & (rare - {"gives_up"})
    assert {name for bit, name in enumerate(PLANE_NAMES) if planes >> bit & 1} >= {
        "walkable", "grass", "exit", "counter", "person", "seen", "stood", "goal", "way",
    }  # fmt: skip


@pytest.mark.long
def test_a_saved_state_shows_the_same(game: Game) -> None:
    other = Game(seed=9)
    phases = set()
    for step in range(700):
        if step % 23 == 0:
            before = game.environment.observation()
            phases.add(game.environment.state.phase)
            saved, memory = game.environment.save_state(), game.pilot.save_state()
            other.environment.load_state(saved)
            other.pilot.load_state(memory)
            for part, array in other.environment.observation().items():
                np.testing.assert_array_equal(array, before[part], err_msg=f"{part} at step {step}")
        game.step()
    assert {Phase.FREE, Phase.DIALOGUE} < phases


@pytest.mark.long
def test_without_a_pilot_beside_it_a_saved_state_goes_on_the_same() -> None:
    settings = EnvironmentSettings(observation_type="goal")
    first, second = PokemonEnvironment(settings), PokemonEnvironment(settings)
    first.reset(seed=5)
    second.reset(seed=6)
    presses = [Action.RIGHT, Action.DOWN, Action.LEFT, Action.A] * 15
    for press in presses:
        first.step(int(press))
    shown = second.load_state(first.save_state())[0]
    for press in presses:
        np.testing.assert_array_equal(shown["goal"], first.observation()["goal"])
        shown = second.step(int(press))[0]
        first.step(int(press))
    np.testing.assert_array_equal(shown["local_map"], first.observation()["local_map"])


@pytest.mark.long
def test_its_own_guide_shows_what_a_pilot_beside_it_would() -> None:
    alone = PokemonEnvironment(EnvironmentSettings(observation_type="goal"))
    beside = Game(seed=8)
    alone.reset(seed=8)
    for _ in range(60):
        np.testing.assert_array_equal(alone.observation()["goal"], beside.environment.observation()["goal"])
        alone.advance(beside.decision.action)
        beside.step()


@pytest.mark.long
def test_without_goals_their_numbers_are_zero() -> None:
    game = Game(goals="none")
    guided = Game()
    battles = 0
    for _ in range(700):
        numbers = game.environment.observation()["goal"]
        assert not numbers[OF_GOALS].any()
        own = np.delete(numbers, OF_GOALS)
        np.testing.assert_array_equal(own, np.delete(guided.environment.observation()["goal"], OF_GOALS))
        assert not game.plane("goal").any()
        assert not game.plane("way").any()
        battles += game.goal["move_1_damage"] > 0
        game.step()
        guided.step()
    assert battles


@pytest.mark.long
def test_the_map_is_that_of_the_game(game: Game) -> None:
    environment = game.environment
    grids = LoadedMap(environment.emulator, environment.profile)
    looked = 0
    for _ in range(300):
        state = environment.state
        if state.phase is Phase.FREE:
            grid = grids.grid(state.map_id)
            seen = environment.game.seen.on_map(state.map_id, grid.width, grid.height)
            walkable, shown, stood = game.plane("walkable"), game.plane("seen"), game.plane("stood")
            assert stood[MIDDLE, MIDDLE]
            assert stood.sum() <= len(environment.game.seen.stood_on(state.map_id))
            for row in range(MAP_SIZE):
                for column in range(MAP_SIZE):
                    x, y = state.x + column - MIDDLE, state.y + row - MIDDLE
                    assert shown[row, column] == ((x, y) in seen)
                    if grid.inside(x, y):
                        assert walkable[row, column] == (grids.rules.kind[grid.tiles[grid.cell(x, y)]] == LAND)
            looked += 1
        else:
            assert state.phase in (Phase.MOVING, Phase.DIALOGUE, Phase.CHOICE, Phase.CUTSCENE) or not game.tiles.any()
        game.step()
    assert looked > 50


@pytest.mark.long
def test_the_next_tile_is_where_the_pilot_goes(game: Game) -> None:
    steps = 0
    for _ in range(500):
        state, goal = game.environment.state, game.goal
        ahead = (goal["next_right"] - goal["next_left"], goal["next_down"] - goal["next_up"])
        free = state.phase is Phase.FREE and not goal["acts_here"] and not goal["waits"] and ahead != (0.0, 0.0)
        game.step()
        after = game.environment.state
        if free and after.map_id == state.map_id and after.position != state.position:
            assert (np.sign(after.x - state.x), np.sign(after.y - state.y)) == ahead
            steps += 1
    assert steps > 100


@pytest.mark.long
def test_a_screen_shows_the_row_of_the_aim(game: Game) -> None:
    pointed, towards = 0, {1: Action.DOWN, -1: Action.UP, 0: Action.A}
    for _ in range(1000):
        goal, memory = game.goal, game.pilot.memory
        # Another member is put first: START, the party's entry, the member, MOVE, the first slot.
        if memory.task is not None and memory.aim is not None and memory.aim.kind is ENTRY:
            assert goal["wants_entry"] == goal["job_lead"] == 1
            assert game.decision.action == towards[int(goal["wanted_down"] - goal["wanted_up"])]
            assert goal["wanted_here"] == (game.decision.action == Action.A)
            assert goal["wanted_rows"] == pytest.approx(memory.aim.down / 10)
            pointed += 1
        game.step()
        if pointed > 4:
            break
    assert pointed > 4


@pytest.mark.long
def test_a_battle_shows_the_expected_damage_of_each_move(game: Game) -> None:
    tables = BattleTables(game.environment.game.cartridge)
    compared = 0
    for _ in range(900):
        battle = game.environment.state.battle
        sides = tables.sides(battle) if battle is not None else None
        if game.environment.state.phase is Phase.BATTLE_MOVES and battle is not None and sides is not None:
            goal = game.goal
            assert battle.own is not None
            assert battle.opponent is not None
            assert goal["own_hp"] == pytest.approx(battle.own.hp / battle.own.max_hp)
            assert goal["enemy_hp"] == pytest.approx(battle.opponent.hp / battle.opponent.max_hp)
            for place, move in enumerate(battle.own.moves):
                expected = min(tables.damage(sides[0], move, sides[1]) / max(battle.opponent.hp, 1), 1.0) if move else 0
                assert goal[f"move_{place + 1}_damage"] == pytest.approx(expected)
            compared += 1
        game.step()
    assert compared > 3


@pytest.mark.long
def test_observing_changes_nothing_and_shows_the_game(game: Game) -> None:
    watched = Game()
    drawn = Game(observation_type="goal_screen")
    for step in range(60):
        if step % 20 == 10:
            first, second = watched.environment.view(), watched.environment.view()
            assert first is not None
            assert first.shape == (144, 160, 3)
            assert first.any()
            if step > 10:  # by then its steps are drawn
                np.testing.assert_array_equal(first, drawn.environment.view())
                np.testing.assert_array_equal(first, second)
        assert watched.environment.memory_hash() == game.environment.memory_hash()
        for one in (game, watched, drawn):
            one.step()

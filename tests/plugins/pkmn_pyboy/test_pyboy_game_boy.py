"""Any Game Boy image as an environment: observed by its screen, paid for new screens, saved and resumed exactly."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from support.pyboy_fakes import fix_checksum, small_rom
from support.variants import long_after

import pkmn_pyboy.registration  # noqa: F401 - registers the names
from pkmn_pyboy.gameboy.environment import GameBoyEnvironment
from pkmn_pyboy.gameboy.novelty import ScreenNovelty
from pkmn_pyboy.gameboy.settings import GameBoySettings, NoveltySettings
from pkmncli import cli
from pkmncli.api import Action, Environment, Facts
from pkmncli.bench import environment as bench
from pkmncli.config import resolve_settings
from pkmncli.errors import ConfigurationError, EmulatorError, RomError
from pkmncli.plugins import get_registry

SCROLLER = bytes.fromhex(
    "f3"  # di
    "af e0 40"  # screen off
    "21 00 80 01 10 00 3e ff 22 0b 78 b1 20 f8"  # tile 0 black
    "01 00 18 af 22 0b 78 b1 20 f9"  # the rest of video memory zero: all tiles black
    "21 10 80 af 06 10 22 05 20 fc"  # tile 1 white
    "21 00 98 3e 01 06 10 22 05 20 fc"  # half a row of it
    "3e e4 e0 47 3e 91 e0 40"  # palette, screen on
)
"""Machine code that draws half a white row on black; the rest scrolls it while right is held."""

LOOP = bytes.fromhex(
    "f0 44 fe 90 20 fa"  # wait for line 144
    "3e 20 e0 00 f0 00 f0 00 cb 47 20 06"  # right is bit 0 of the direction keys, 0 while held
    "f0 43 c6 04 e0 43"  # scroll by four
    "f0 44 fe 90 28 fa"  # wait for the end of line 144
    "18 e4"  # again
)


def scroller() -> bytes:
    """Return a cartridge for the grey Game Boy whose picture moves while right is held."""
    data = bytearray(small_rom(title=b"SCROLLER", colour=0))
    code = SCROLLER + LOOP
    data[0x150 : 0x150 + len(code)] = code
    return fix_checksum(data)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "scroller.gb"
    path.write_bytes(scroller())
    return path


@pytest.fixture
def build() -> Iterator[Callable[..., GameBoyEnvironment]]:
    """Return a function that builds environments from settings; close them after the test."""
    made: list[GameBoyEnvironment] = []

    def build(**settings: Any) -> GameBoyEnvironment:
        made.append(GameBoyEnvironment(GameBoySettings(**settings)))
        return made[-1]

    yield build
    for environment in made:
        environment.close()


def played(environment: GameBoyEnvironment, seed: int, steps: int) -> list[tuple[float, Facts, int]]:
    draw = random.Random(seed)
    return [
        (environment.advance(draw.randrange(9))[0], environment.facts(), environment.memory_hash())
        for _ in range(steps)
    ]


@pytest.mark.parametrize("screen", long_after(1, ["rgb", "packed"]))
def test_gymnasiums_checks(rom_path: Path, build: Callable[..., GameBoyEnvironment], screen: str) -> None:
    environment = build(rom_path=rom_path, screen=screen, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*able to test alternative render modes.*", category=UserWarning)
        check_env(environment)
    assert isinstance(environment, Environment)
    assert set(environment.observation_space.spaces) == {"action_mask", "screen"}


def test_the_registered_name() -> None:
    with pytest.raises(RomError, match="name it with --rom"):
        gymnasium.make("pkmn/GameBoy-v0")


def test_a_grey_game_boy_pays_for_new_screens_only(image: Path, build: Callable[..., GameBoyEnvironment]) -> None:
    environment = build(rom_path=image, seed_noops=(0, 0))
    observation, info = environment.reset(seed=0)
    assert environment.names["game"] == "SCROLLER"
    assert observation["action_mask"].tolist() == [1] * 9
    assert len(np.unique(observation["screen"])) > 1
    assert info == {"frames": 0, "screens": 1, "pressed": Action.NONE}
    assert environment.advance(Action.LEFT)[0] == 0.0
    rewards = [environment.advance(Action.RIGHT)[0] for _ in range(40)]
    assert rewards[0] == 1.0
    assert sorted({*rewards} - {0.0}, reverse=True) == [value for value in rewards if value], "worth less and less"
    assert environment.novelty.count < 40, "the picture comes round"
    before = environment.novelty.count
    assert [environment.advance(Action.RIGHT)[0] for _ in range(40)] == [0.0] * 40
    assert environment.novelty.count == before


def test_seeds_and_saved_states(rom_path: Path, build: Callable[..., GameBoyEnvironment]) -> None:
    first, second = build(rom_path=rom_path), build(rom_path=rom_path, screen="packed")
    first.reset(seed=3)
    other = played(first, 1, 20)
    first.reset(seed=4)
    expected = played(first, 1, 30)
    assert other != expected[:20], "another seed is another episode"
    second.reset(seed=4)
    assert played(second, 1, 12) == expected[:12]
    saved = second.save_state()
    observation = second.observation()["screen"]
    played(second, 9, 15)
    again, info = second.load_state(saved)
    np.testing.assert_array_equal(again["screen"], observation)
    assert info["frames"] == 12 * 24
    draw = random.Random(1)
    actions = [draw.randrange(9) for _ in range(30)]
    rest = [(second.advance(action)[0], second.facts(), second.memory_hash()) for action in actions[12:]]
    assert rest == expected[12:]


def test_an_episode_after_a_loaded_state_begins_at_power_on(
    rom_path: Path, build: Callable[..., GameBoyEnvironment]
) -> None:
    first, second = build(rom_path=rom_path), build(rom_path=rom_path)
    first.reset(seed=1)
    played(first, 2, 40)
    second.load_state(first.save_state())
    first.reset(seed=8)
    second.reset(seed=8)
    assert played(second, 5, 10) == played(first, 5, 10)


def test_states_of_another_image_are_refused(
    image: Path, rom_path: Path, build: Callable[..., GameBoyEnvironment]
) -> None:
    one, other = build(rom_path=image), build(rom_path=rom_path)
    one.reset(seed=0)
    with pytest.raises(EmulatorError, match="The saved state is of SCROLLER"):
        other.load_state(one.save_state())


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"goal": "starter"}, "has no milestones"), ({"observation_type": "state"}, "has only the screen")],
)
def test_unavailable_settings_are_refused(image: Path, settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        GameBoyEnvironment(GameBoySettings(rom_path=image, **settings))


def picture(*bright: tuple[int, int]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return a dark screen with bright squares of 16 pixels."""
    rgba = np.zeros((144, 160, 4), np.uint8)
    for row, column in bright:
        rgba[row * 16 : row * 16 + 16, column * 16 : column * 16 + 16] = 255
    return rgba


@pytest.mark.parametrize("cell_pixels", [8, 16])
def test_novelty_distinguishes_coarse_pictures(cell_pixels: int) -> None:
    novelty = ScreenNovelty(NoveltySettings(cell_pixels=cell_pixels, half_life_screens=1))  # type: ignore[arg-type]
    dark, corner, middle = (novelty.key(one) for one in (picture(), picture((0, 0)), picture((4, 5))))
    assert len({dark, corner, middle}) == 3
    speck = picture()
    speck[70:72, 70:72] = 255
    assert novelty.key(speck) == dark, "a speck is no new screen"
    novelty.reset(dark)
    assert [novelty.score(key) for key in (dark, corner, dark, corner, middle)] == [0.0, 1.0, 0.0, 0.0, 0.5]
    resumed = ScreenNovelty(novelty.settings)
    resumed.load_state(json.loads(json.dumps(novelty.save_state())))
    assert resumed.score(middle) == 0.0
    assert resumed.count == 3


@pytest.mark.long
def test_it_is_trained_evaluated_and_replayed(
    image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The learner sees only the screen, and the pilot, which knows other games, is left out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    options = "--env gameboy --steps 150 --max-steps-per-episode 40 --save-interval 100 --quiet --run-name any"
    learner = ["--set", "dqn.learning_starts=40", "--set", "dqn.buffer_size=1000", "--set", "gameboy.new_screen=2"]
    assert cli.run(["train", "--rom", str(image), *options.split(), *learner]) == 0
    config = (tmp_path / "runs" / "any" / "config.toml").read_text()
    assert 'pilot = "none" # environment gameboy has no pilot' in config
    assert "new_screen = 2.0 # option --set gameboy.new_screen" in config
    assert cli.run(["eval", "--episodes", "1", "--envs", "1", "--json"]) == 0
    assert cli.run(["train", "--resume", "--steps", "180", "--quiet"]) == 0
    capfd.readouterr()
    assert cli.run(["replay", "--episode", "last"]) == 0
    assert "step" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ([], 3, "name it with --rom"),
        (["--rom", "IMAGE", "--pilot", "rules"], 2, "it cannot play the environment gameboy"),
        (["--rom", "IMAGE", "--no-rl"], 2, "the environment gameboy has none"),
        (["--rom", "IMAGE", "--goal", "starter"], 2, "has no milestones"),
    ],
)
def test_wrong_uses_end_in_one_line(
    options: list[str],
    code: int,
    says: str,
    image: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    given = [str(image) if option == "IMAGE" else option for option in options]
    assert cli.run(["train", "--env", "gameboy", *given]) == code
    error = capfd.readouterr().err
    assert says in error
    assert error.count("\n") == 1


def test_its_step_can_be_measured(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Absent observations are left out; the numbers depend on the machine."""
    monkeypatch.setattr(bench, "STEPS_PER_ROUND", 5)
    registry = get_registry()
    settings = resolve_settings({"mode": "rl-only", "env": "gameboy", "rom_path": image}, registry=registry, environ={})
    assert [one.name for one in bench.bench_environment(settings, registry, pairs=1)] == [
        "step against bare emulator, multi_modal, packed screens",
        "step against frame by frame",
        "step against bare emulator, multi_modal, rgb screens",
    ]

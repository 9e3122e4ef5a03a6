"""What the tests of Quillwood share: battles and saved games to begin from, reached once."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.battle_bench import BattleBench
from support.leg_player import LegPlayer, begin
from support.placed_game import PlacedGame, Play, Saved, saved_with_partner

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.settings import EnvironmentSettings

MakeBench = Callable[[str], BattleBench]


@pytest.fixture(scope="session")
def benches() -> Iterator[MakeBench]:
    """Benches by the kind of battle, "wild" or "trainer"; each is walked to when it is first asked for."""
    made: list[PokemonEnvironment] = []
    ready: dict[str, BattleBench] = {}

    def build(**settings: Any) -> PokemonEnvironment:
        made.append(PokemonEnvironment(EnvironmentSettings(**settings)))
        return made[-1]

    def bench(kind: str) -> BattleBench:
        if kind not in ready:
            player: LegPlayer = begin(build)
            ready[kind] = BattleBench.reach(player, kind)
        return ready[kind]

    yield bench
    for environment in made:
        environment.close()


@pytest.fixture
def wild(benches: MakeBench) -> BattleBench:
    """A battle with a wild creature, at its first menu."""
    return benches("wild").again()


@pytest.fixture
def trainer(benches: MakeBench) -> BattleBench:
    """A battle with a trainer, at its first menu."""
    return benches("trainer").again()


@pytest.fixture(scope="session")
def with_partner(quillwood: GameProfile) -> Saved:
    """A game saved right after the choice of RILLET."""
    return saved_with_partner(quillwood)


@pytest.fixture(scope="session")
def with_lessons(with_partner: Saved) -> Saved:
    """The same with all badges and lessons, none of them taught."""
    return with_partner.with_lessons()


@pytest.fixture(scope="session")
def flags(quillwood: GameProfile) -> dict[str, int]:
    """Numbers of the story flags by name."""
    return tomllib.loads((quillwood.folder / "data" / "flags.toml").read_text(encoding="utf-8"))


@pytest.fixture
def play() -> Iterator[Play]:
    """Goes on from saved games, and switches the consoles off after the test."""
    games: list[PlacedGame] = []

    def go_on(saved: Saved) -> PlacedGame:
        games.append(PlacedGame(saved))
        return games[-1]

    yield go_on
    for game in games:
        game.close()

"""What the tests of Quillwood share: battles to begin from, reached once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from battle_bench import BattleBench
from leg_player import LegPlayer, begin

from pkmn_pyboy.environment import PokemonEnvironment
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

"""Training on a Ray cluster one of whose nodes, or whose actors as they start, are killed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from support import dying_starts
from support.worker_pools import assert_same_course, make_spec, take

from pkmn_multimodel.engines import made_population, parts_of
from pkmn_multimodel.games.catalog import game_maker
from pkmn_multimodel.players import RandomPlayer
from pkmn_multimodel.ray_engine import RayEngine
from pkmn_multimodel.settings import MultiModelConfig
from pkmn_multimodel.training import Training
from pkmncli.api import PILOT_ACTS
from pkmncli.errors import TrainingError
from pkmncli.training.workers.pool import WorkerPool

SMALL: dict[str, Any] = {
    "num_models": 2,
    "model_types": ["qwen3"],
    "weight_update_strategy": "synchronized",
    "base": "tiny",
    "batch_size": 4,
    "learning_rate": 3e-3,
    "actors": 2,
}

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra 'ray' is not installed"),
    pytest.mark.skipif(
        "FAULT_TRIES" not in os.environ,
        reason="starts on Ray need a machine without other work: make test-faults",
    ),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Cluster on loopback, whose second node can be killed."""
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster  # noqa: PLC0415 - optional

    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:  # short: sockets are in it
        monkeypatch.setenv("RAY_TMPDIR", folder)
        (Path(folder) / "ray").mkdir()
        found = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
        yield found
        found.shutdown()


def kill(node: Any) -> None:
    """Kill a node with its actors, as when its machine loses power."""
    raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
    for process in [raylet, *raylet.children(recursive=True)]:
        process.kill()


def test_a_training_of_models_goes_on_without_a_killed_node_to_the_same_adapters(
    cluster: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    def hashes(told: list[str], node: Any = None, **settings: Any) -> dict[str, str]:
        config = MultiModelConfig(**SMALL, **settings)
        with closing(Training(config, game_maker("coop-compete", 2, {}), 0, told.append)) as training:
            for _ in range(12):
                training.batch()
                if node is not None and len(training.actor_processes) == 2:
                    kill(node)
                    node = None
            assert node is None, "a node was killed"
            return {name: training.population.version_of(name).digest for name in training.names}

    node = cluster.add_node(num_cpus=2)
    capfd.readouterr()
    told: list[str] = []
    assert hashes(told, node, engine="ray", ray_address=cluster.address) == hashes([])
    assert set(told) == {"An actor of Ray was lost; another one does its work again."}
    assert capfd.readouterr() == ("", ""), "Ray says nothing"


def test_environments_go_on_without_a_killed_node_the_same_way(cluster: Any) -> None:
    node = cluster.add_node(num_cpus=2)
    spec = make_spec(2, mode="adaptive")
    courses = []
    for on_ray in (False, True):
        with WorkerPool(replace(spec, ray=on_ray, ray_address=cluster.address)) as pool:
            pool.reset()
            courses.append([])
            for step in range(20):
                if on_ray and step == 10:
                    kill(node)
                courses[-1].append(take(pool, np.full(2, PILOT_ACTS)))
            assert pool.losses == on_ray
    assert_same_course(*courses)


def test_an_actor_that_dies_as_it_starts_is_started_again_for_two_minutes(
    ray: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    ray.cloudpickle.register_pickle_by_value(dying_starts)  # actors don't have the folder of the tests
    request.addfinalizer(partial(ray.cloudpickle.unregister_pickle_by_value, dying_starts))
    settings = MultiModelConfig(**SMALL | {"actors": 1})
    pauses: list[float] = []

    def play(deaths: int, clock: Callable[[], float]) -> list[Any]:
        make_game = partial(dying_starts.game, folder=str(tmp_path), deaths=deaths, spared=os.getpid())
        population = made_population(settings, make_game, 3)
        parts = parts_of(
            1, [1], [{"model_0": "random", "model_1": "random"}], torch.Generator(), {"random": RandomPlayer(1)}
        )
        with closing(RayEngine(settings, make_game, 3, population, {}, clock=clock, sleep=pauses.append)) as engine:
            return engine.play(parts)

    assert len(play(2, lambda: sum(pauses))) == 1
    assert pauses == [1, 2]
    pauses.clear()
    with pytest.raises(TrainingError, match=r"no actor of Ray could be started for 120 s: "):
        play(99, lambda: 100 * len(pauses))
    assert pauses == [1, 2]

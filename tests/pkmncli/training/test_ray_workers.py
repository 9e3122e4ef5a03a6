"""Workers on Ray do what worker processes do."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from support.worker_pools import assert_same_course, killing_at, make_spec, play, take, with_environment

from pkmncli.api import PILOT_ACTS, Source
from pkmncli.api.ray_cluster import SECONDS_TO_PLACE, start_pauses
from pkmncli.errors import TrainingError
from pkmncli.seeds import Purpose
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.process import RESULT, WorkerLostError
from pkmncli.training.workers.ray_workers import RayLink
from pkmncli.training.workers.spec import EnvironmentSpec, WorkerSpec

ENVS = 3
STEPS = 40
PATIENCE_S = 600.0


@pytest.mark.long
def test_actors_go_the_same_way_as_processes_also_after_one_was_killed(ray: Any, tmp_path: Path) -> None:
    told: list[WorkerLostError] = []
    spec = make_spec(ENVS, mode="adaptive")
    start = tmp_path / "some.state"
    with WorkerPool(spec) as pool:
        expected, expected_states = play(pool), pool.save()
        start.write_bytes(expected_states[0].environment)
        pool.begin_next_at(1, str(start))
        expected_standings, expected_pictures = pool.standings(), pool.call_all("view")
        after = [take(pool, np.full(ENVS, PILOT_ACTS)) for _ in range(STEPS)]
    with WorkerPool(replace(spec, ray=True, envs_per_worker=2), on_loss=told.append) as pool:
        assert pool.process_id(0) == pool.process_id(1) != pool.process_id(2)
        assert_same_course(play(pool, killing_at(0, 12, 33)), expected)
        assert pool.save() == expected_states
        assert [str(loss).partition(":")[0] for loss in told] == ["worker 0 was lost"] * 3
        pool.begin_next_at(1, str(start))
        assert pool.standings() == expected_standings
        assert all(map(np.array_equal, pool.call_all("view"), expected_pictures))
        os.kill(pool.process_id(0), signal.SIGKILL)
        assert_same_course([take(pool, np.full(ENVS, PILOT_ACTS)) for _ in range(STEPS)], after)


@pytest.mark.parametrize(("seconds_of_a_start", "starts"), [(0.0, 7), (7.0, 7), (30.0, 4), (500.0, 1)])
def test_pauses_after_failed_starts_grow_and_end_after_two_minutes(seconds_of_a_start: float, starts: int) -> None:
    times, pauses = [0.0], []
    for pause in start_pauses(lambda: times[-1]):
        pauses.append(pause)
        last_start = times[-1] + pause
        times.append(last_start + seconds_of_a_start)
    assert pauses[:-1] == sorted(pauses[:-1])
    assert len(pauses) == starts
    assert last_start <= SECONDS_TO_PLACE


@pytest.mark.long
def test_an_actor_of_a_local_cluster_has_the_priority_of_the_program(ray: Any) -> None:
    of_actor = ray.remote(lambda: os.nice(0)).remote()  # type: ignore[no-untyped-call]
    assert ray.get(of_actor, timeout=PATIENCE_S) == os.nice(0)


def dying(spec: WorkerSpec, folder: Path, deaths: int) -> WorkerSpec:
    """Return the spec on Ray, where so many actors are killed before their environment has started."""
    arguments = {"folder": str(folder), "deaths": deaths, "spared": os.getpid()}
    wrappers = (("support.dying_starts:wrapped", arguments),)
    return replace(spec, ray=True, environment=replace(spec.environment, wrappers=wrappers))


@pytest.mark.long
def test_an_actor_that_dies_as_it_starts_is_started_again_for_two_minutes(ray: Any, tmp_path: Path) -> None:
    pauses: list[float] = []
    link = RayLink(0, dying(make_spec(1), tmp_path, 5), ray, clock=lambda: sum(pauses), sleep=pauses.append)
    assert link.receive(PATIENCE_S)[:1] == RESULT
    assert pauses == [1, 2, 4, 8, 16]
    link.kill()
    pauses.clear()
    link = RayLink(0, dying(make_spec(1), tmp_path, 99), ray, clock=lambda: 100 * len(pauses), sleep=pauses.append)
    with pytest.raises(WorkerLostError, match="its actor ended"):
        link.receive(PATIENCE_S)
    assert pauses == [1, 2]
    assert not link.was_killed, "so the pool does not try it again, either"
    link.kill()


@pytest.mark.long
def test_one_environment_at_a_time_and_an_actor_that_hangs(ray: Any) -> None:
    told: list[WorkerLostError] = []
    spec = replace(make_spec(2), ray=True)

    def play_apart(pool: WorkerPool, stop_at: int = -1) -> list[int]:
        pool.reset()
        found = []
        for step in range(6):
            for index in range(2):
                pool.begin_step(index, step % 4, Source.RL, 0.5)
            if step == stop_at:
                os.kill(pool.process_id(1), signal.SIGSTOP)
            waited = {0, 1}
            while waited:
                for index in pool.ready(waited):
                    found.append((index, step, int(pool.finish_step(index)["fine_hash"])))
                    waited.remove(index)
        return sorted(found)

    with WorkerPool(spec, timeout_s=5.0, on_loss=told.append) as pool:
        assert play_apart(pool) == play_apart(pool, 3)
    assert [str(loss) for loss in told] == ["worker 1 was lost: no answer for 5 s"]
    with WorkerPool(replace(spec, ray=False)) as pool:
        local = play_apart(pool)
    with WorkerPool(spec) as pool:
        assert play_apart(pool) == local


@pytest.mark.long
def test_continuous_actions_reach_actors_and_are_repeated(ray: Any) -> None:
    part = EnvironmentSpec(
        "pkmn_gymnasium.making:make_environment", "pkmn_gymnasium.settings:GymnasiumSettings", {"id": "Pendulum-v1"}
    )
    seen = []
    for on_ray in (True, False):
        spec = WorkerSpec(part, None, seed=1, purpose=Purpose.TRAINING, num_envs=2, ray=on_ray)
        with WorkerPool(spec) as pool:
            pool.reset()
            for step in range(6):
                if on_ray and step == 4:
                    os.kill(pool.process_id(1), signal.SIGKILL)
                controls = np.float32([[step - 3], [0.3 * step]])
                none = np.zeros(2, np.int64), np.zeros(2, np.uint8), np.zeros(2, np.float32)
                pool.step(*none, controls=controls)
            assert pool.losses == on_ray
            seen.append(pool.observations()["observation"].copy())
    np.testing.assert_array_equal(*seen)


@pytest.mark.long
def test_an_environment_that_always_fails_ends_the_training_in_one_line(ray: Any) -> None:
    spec = replace(make_spec(1), ray=True)
    with WorkerPool(with_environment(spec, "support.odd_environments:Failing")) as pool:
        pool.reset()
        take(pool, np.zeros(1, np.int64))
        take(pool, np.zeros(1, np.int64))
        with pytest.raises(TrainingError) as failure:
            take(pool, np.zeros(1, np.int64))
    assert str(failure.value) == "environment 0 failed twice at the same step: ZeroDivisionError: no reward for nothing"


@pytest.mark.long
def test_a_training_writes_the_same_tables_and_checkpoints(
    ray: Any,
    pkmn: Callable[..., Any],
    shared_run: Callable[..., Path],
    small_training: list[str],
    assert_same_course: Callable[[Path, Path], None],
    tmp_path: Path,
) -> None:
    result = pkmn("train", *small_training, "--mode=adaptive", "--envs=2", "--workers=ray", "--run-name=it")
    assert result.code == 0, result.err
    assert_same_course(tmp_path / "runs" / "it", shared_run("adaptive", 2))


@pytest.mark.long
def test_more_workers_than_a_cluster_has_room_for_are_refused(ray: Any, pkmn: Callable[..., Any]) -> None:
    result = pkmn("train", "--envs=4", "--workers=ray")
    assert result.code == 2
    assert result.err.splitlines()[-1] == (
        "workers = ray: the Ray cluster has too few resources: room for 3 actors, and 4 are needed; use fewer --envs, "
        "or more --envs-per-worker"
    )


def test_an_address_where_no_cluster_answers_is_one_line(pkmn: Callable[..., Any], tmp_path: Path) -> None:
    if find_spec("ray") is None:
        pytest.skip("the extra 'ray' is not installed")
    with socket.create_server(("127.0.0.1", 0)) as server:
        other = f"127.0.0.1:{server.getsockname()[1]}"

        def refuse() -> None:
            with server.accept()[0] as connection:
                connection.recv(100)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        answering = Thread(target=refuse)
        answering.start()
        refused = pkmn("train", "--workers=ray", f"--ray-address={other}")
        answering.join()
    none = pkmn("train", "--workers=ray", f"--ray-address={other}")
    wrong = pkmn("train", "--workers=ray", "--ray-address=ray://here:1")
    for result, said in (
        (refused, f"ray_address = {other}: no Ray cluster answers there: it is a server of another kind"),
        (none, f"ray_address = {other}: no Ray cluster answers there: [Errno"),
        (wrong, "ray_address = ray://here:1: give the address of the cluster's head node as HOST:PORT"),
    ):
        assert result.code == 2
        assert result.err.splitlines()[-1].startswith(said)
    assert not (tmp_path / "runs").exists()


def test_without_ray_the_extra_is_named(pkmn: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pkmncli.api.ray_cluster.find_spec", lambda name: None)
    for command in (("train", "--workers=ray"), ("multimodel", "train", "--engine=ray")):
        result = pkmn(*command)
        assert result.code == 2
        assert result.err.splitlines()[-1].endswith(
            "= ray needs ray, which is not installed; run: pip install 'pkmncli[ray]'"
        )

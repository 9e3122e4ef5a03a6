"""Answers of the page's server: the figures of a run, and one clear refusal for anything else."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from PIL import Image
from schemathesis.config import SchemathesisConfig
from starlette.testclient import TestClient
from support.tables import advice, decisions, episodes

from pkmn_dashboard.app import make_app
from pkmn_dashboard.gate import Gate
from pkmn_dashboard.live_events import LiveEvents
from pkmn_dashboard.runs_beside import RunsBeside
from pkmn_dashboard.tables import Tables
from pkmn_dashboard.watched_run import WatchedRun
from pkmn_decisions.store.store import DuckDBStore
from pkmncli.api import runs
from pkmncli.api.live import BOARD_FILE, LIVE_FILE, LiveBoard, process_began

ACTION = {"x-pkmn-action": "1"}


def client_of(folder: Path, gate: Gate | None = None, **options: Any) -> TestClient:
    run = WatchedRun(folder, **options)
    ended = iter([False, True])  # its events end after the first
    app = make_app(run, LiveEvents(run, ended=lambda: next(ended, True)), gate or Gate())
    return TestClient(app, base_url="http://127.0.0.1:8080")


@pytest.fixture
def client(finished_run: Path) -> Iterator[TestClient]:
    with client_of(finished_run) as found:
        yield found


def test_a_run_is_described_with_the_names_of_its_numbers(client: TestClient, finished_run: Path) -> None:
    run = client.get("/api/run").json()
    assert (run["name"], run["folder"], run["state"], run["may_control"]) == ("done", str(finished_run), "ended", False)
    assert run["maps"] == {"257": "Alderbrook"} and run["phases"] == ["free", "battle"]
    assert (run["settings"]["rl"], run["goal"]) == ("dqn", "won")
    assert (run["actions"], run["frames_per_second"]) == (["wait", "walk"], 30.0)
    assert client.get("/api/summary").json()["total_steps"] == run["steps"] == 40


def test_metrics_are_series_over_steps_and_long_ones_are_averaged(client: TestClient) -> None:
    found = client.get("/api/metrics", params={"name": ["episode/reward", "learner/loss", "none"], "points": 2}).json()
    assert found["episode/reward"] == {"steps": [20, 40], "values": [20.0, 21.0]}
    assert found["learner/loss"] == found["none"] == {"steps": [], "values": []}, "what is no number is left out"
    names = {one["name"]: one for one in client.get("/api/metric-names").json()}
    assert names["episode/reward"] == {"name": "episode/reward", "count": 2, "latest": 21.0}


def test_a_map_is_drawn_from_the_image_and_written_nowhere(finished_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished_run, run)
    (run / "config.toml").write_text('rl = "dqn"\nenv = "pyboy"\n[curriculum]\n')
    before = sorted(path for path in run.rglob("*"))
    with client_of(run) as client:
        found = client.get("/api/maps/257/picture").json()
        with Image.open(io.BytesIO(base64.b64decode(found["png"]))) as picture:
            assert picture.size == (found["width"], found["height"])
            assert picture.size[0] > 4 and picture.size[1] > 3, "the tiles that the run visited are on it"
        assert client.get("/api/maps/9/picture").json()["png"] is None, "the run knows no such map"
    assert sorted(path for path in run.rglob("*")) == before


@pytest.mark.parametrize("config", ['env = "nothing"\n', "", 'env = "pyboy"\nrom_path = "/nowhere/game.gbc"\n'])
def test_without_the_image_a_map_has_no_picture(finished_run: Path, tmp_path: Path, config: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished_run, run)
    (run / "config.toml").write_text(f'rl = "dqn"\n{config}[curriculum]\n')
    with client_of(run) as client:
        answer = client.get("/api/maps/257/picture")
        assert (answer.status_code, answer.json()) == (200, {"png": None, "width": 0, "height": 0})


@pytest.fixture
def two_runs(finished_run: Path, tmp_path: Path) -> Path:
    """A folder with two runs, and another folder that is none."""
    for name, created in (("old", 1.0), ("new", 2.0)):
        shutil.copytree(finished_run, tmp_path / name)
        (tmp_path / name / "versions.json").write_text(json.dumps({"layout": 1, "created": created}))
    (tmp_path / "new" / "summary.json").write_text(json.dumps({"total_steps": 7, "learner_alone": "damaged"}))
    (tmp_path / "notes").mkdir()
    return tmp_path


def client_beside(folder: Path, beside: RunsBeside | None) -> TestClient:
    run = WatchedRun(folder)
    app = make_app(run, LiveEvents(run, ended=lambda: True), Gate(), beside=beside)
    return TestClient(app, base_url="http://127.0.0.1:8080")


def test_the_runs_of_the_folder_are_listed_newest_first_with_their_results(two_runs: Path) -> None:
    with contextlib.closing(RunsBeside(two_runs / "old")) as beside:
        new, old = client_beside(two_runs / "old", beside).get("/api/runs").json()
    assert (new["name"], new["shown"], new["training"]) == ("new", False, False)
    assert (new["steps"], new["reward"]) == (40, None), "recorded since its checkpoint; its summary is damaged"
    assert (old["name"], old["shown"], old["steps"], old["reward"]) == ("old", True, 40, 300.5)
    assert old["settings"] == {"rl": "dqn", "mode": "adaptive", "llm": "scripted"}


def test_a_metric_of_several_runs_is_given_by_name_and_no_other_folder_can_be_named(two_runs: Path) -> None:
    with contextlib.closing(RunsBeside(two_runs / "old")) as beside:
        client = client_beside(two_runs / "old", beside)
        asked = {"run": ["old", "new", "..", str(two_runs / "new"), "notes"], "name": "episode/reward"}
        series = {"steps": [20, 40], "values": [20.0, 21.0]}
        assert client.get("/api/runs/metric", params=asked).json() == {"old": series, "new": series}
        too_many = {"run": list("abcdef"), "name": "episode/reward"}
        assert client.get("/api/runs/metric", params=too_many).status_code == 422


def test_a_page_of_one_run_alone_tells_nothing_of_the_others(two_runs: Path) -> None:
    client = client_beside(two_runs / "old", None)
    assert client.get("/api/runs").json() == []
    assert client.get("/api/runs/metric", params={"run": "new", "name": "episode/reward"}).json() == {}


def test_milestones_have_their_splits_in_the_games_order(client: TestClient) -> None:
    begun, outside, won = client.get("/api/milestones").json()
    assert (begun["name"], begun["episodes"], begun["best_step"]) == ("begun", 2, 0)
    assert (outside["episodes"], outside["best_step"], outside["latest_step"], outside["first_seen"]) == (2, 7, 7, 20)
    assert outside["best_s"] == pytest.approx(168 / 30, abs=1e-3)
    assert (won["episodes"], won["best_step"]) == (0, None)


@pytest.mark.parametrize(
    ("journey", "reached"),
    [
        ({"ended": False, "milestones": [{"name": "outside", "step": 9, "frame": 216}]}, {"outside": 9}),
        ({"ended": True, "milestones": [{"name": "outside", "step": 9, "frame": 216}]}, {}),
        ({"ended": False, "milestones": [{"name": "outside", "step": "damaged", "frame": 216}]}, {}),
    ],
    ids=["unfinished", "ended", "damaged"],
)
def test_milestones_of_an_unfinished_episode_stay_after_the_training(
    journey: dict[str, Any], reached: dict[str, int], finished_run: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(finished_run, tmp_path / "unfinished"))
    (folder / "summary.json").write_text(json.dumps({"total_steps": 40, "journey": journey}))
    with client_of(folder) as client:
        found = client.get("/api/milestones").json()
    assert {one["name"]: one["running_step"] for one in found if one["running_step"] is not None} == reached


def test_decisions_come_newest_first_by_source_and_page_by_page(client: TestClient) -> None:
    newest = client.get("/api/decisions", params={"limit": 3}).json()
    assert [one["global_step"] for one in newest] == [40, 39, 38]
    assert newest[0]["reason"] == "why 40 <b>"
    advised = client.get("/api/decisions", params={"limit": 2, "source": 3, "before": 35}).json()
    assert [(one["global_step"], one["source"]) for one in advised] == [(31, 3), (27, 3)]


def test_pages_of_two_environments_leave_no_row_out_and_show_none_twice(tmp_path: Path) -> None:
    store = DuckDBStore(tmp_path)
    answered = [(step, environment) for step in range(2, 12, 2) for environment in (0, 1)]  # at the same steps
    decided = [(step, step % 2) for step in range(1, 11)]
    store.append("decisions", decisions(1, 10, environment=[environment for _, environment in decided]))
    store.append("advice", advice([step for step, _ in answered], [environment for _, environment in answered]))
    store.close()
    with client_of(tmp_path) as client:
        for path, rows in (("advice", answered), ("decisions", decided)):
            found: list[tuple[int, int]] = []
            query: dict[str, int] = {"limit": 3}
            while page := client.get(f"/api/{path}", params=query).json():
                page = page["latest"] if path == "advice" else page
                if not page:
                    break
                found += [(one["global_step"], one["environment"]) for one in page]
                query |= {"before": found[-1][0], "before_environment": found[-1][1]}
            assert found == sorted(rows, reverse=True)


def test_what_is_put_aside_is_private_and_goes_with_the_tables(tmp_path: Path) -> None:
    tables = Tables(tmp_path)
    aside = tables.aside
    assert aside.stat().st_mode & 0o077 == 0
    tables.close()
    assert not aside.exists()


def test_the_first_answer_after_a_while_is_of_now(tmp_path: Path) -> None:
    board_file = tmp_path / BOARD_FILE
    board_file.write_bytes(bytes(LiveBoard.size(1, None)))
    board = LiveBoard(board_file, 1, None)
    board.state.set(updated=1000.0, steps=5)
    began = process_began(os.getpid())
    live = {"process_id": os.getpid(), "process_began": began, "num_envs": 1, "screen_shape": None}
    (tmp_path / LIVE_FILE).write_text(json.dumps(live))
    events = LiveEvents(WatchedRun(tmp_path))

    async def trainer() -> None:
        while not board.requests.read()["watched_until"][0]:
            await asyncio.sleep(0)
        board.state.set(steps=9, steps_per_second=12.5, updated=time.time(), doing=b"evaluating the learner alone")

    async def ask() -> dict[str, Any]:
        stepping = asyncio.create_task(trainer())
        found = await events.state()
        await stepping
        return found

    found = asyncio.run(ask())
    assert (found["steps"], found["steps_per_second"]) == (9, 12.5)
    assert found["doing"] == "evaluating the learner alone"
    assert not board.requests.read()["pictures_until"][0], "who asks for the state alone takes nobody's pictures"


def test_maps_episodes_and_visits(client: TestClient) -> None:
    assert client.get("/api/maps").json() == [{"map_id": 257, "steps": 40, "tiles": 5}]
    visits = client.get("/api/maps/257/visits").json()
    assert len(visits) == 5 and visits[0] == {"x": 0, "y": 3, "steps": 8}
    assert client.get("/api/maps/1/visits").json() == []
    assert client.get("/api/episodes", params={"limit": 1}).json()[0]["milestones"] == {"begun": 0, "outside": 7}


def test_evaluations_that_the_run_keeps_come_newest_first_with_the_interval_of_their_reward(
    evaluated_run: Path,
) -> None:
    with client_of(evaluated_run) as client:
        sampled, alone = client.get("/api/evaluations").json()
        expected = runs.interval([10.0, 20.0, 30.0, 40.0], "mean")
        assert (alone["reward"], alone["reward_low"], alone["reward_high"]) == expected
        assert (alone["time"], alone["checkpoint"], alone["episodes"]) == ("2026-11-30 09:30", "step-000000040", 4)
        assert (alone["goal"], alone["reached"], alone["goal_low"], alone["goal_high"]) == ("won", 3, 0.3, 0.95)
        assert (sampled["mode"], sampled["stochastic"], sampled["goal"]) == ("rl-only", True, "outside")
        assert (sampled["reward"], sampled["reward_low"]) == (7.5, None), "its episodes are not recorded yet"
        folder = evaluated_run / "evaluations" / "20261130-110000-step-000000020-rl-only"
        (folder / "episodes").mkdir()  # the beginning of writing its episodes
        assert client.get("/api/evaluations").json()[0]["reward_low"] is None
        store = DuckDBStore(folder)
        store.append("episodes", episodes(1, 2, total_reward=[5.0, 10.0]))
        store.close()
        assert client.get("/api/evaluations").json()[0]["reward_low"] == 5.0


def test_the_transcript_tells_tokens_and_cost(client: TestClient) -> None:
    found = client.get("/api/advice").json()
    assert (found["answers"], found["prompt_tokens"], found["completion_tokens"], found["cost_usd"]) == (2, 30, 3, 0.25)
    assert [(one["global_step"], one["advice"]) for one in found["latest"]] == [(9, None), (5, {"goal": "go out"})]


def test_patterns_are_those_of_the_analyzer(client: TestClient, finished_run: Path) -> None:
    from pkmn_decisions.analyzer import DecisionHistoryAnalyzer  # noqa: PLC0415

    with DecisionHistoryAnalyzer(finished_run) as analyzer:
        expected = json.loads(json.dumps(analyzer.analyze_patterns(3)))
    assert expected
    assert client.get("/api/patterns", params={"min_frequency": 3}).json() == {"horizon": 8, "patterns": expected}


@pytest.mark.parametrize("action", ["pause", "resume", "save-checkpoint", "save-start", "stop"])
def test_nothing_can_be_asked_of_a_run_that_is_over(client: TestClient, action: str) -> None:
    answer = client.post(f"/api/{action}", headers=ACTION)
    assert (answer.status_code, answer.json()["detail"]) == (409, "no training is running in this run")


def test_a_page_that_only_shows_refuses_before_anything_else(finished_run: Path) -> None:
    with client_of(finished_run, may_control=False) as client:
        assert client.post("/api/stop", headers=ACTION).status_code == 403


def test_a_run_without_anything_is_shown_as_empty(tmp_path: Path) -> None:
    (tmp_path / "versions.json").write_text(json.dumps({"layout": 1, "created": 1.0}))
    with client_of(tmp_path) as client:
        paths = ("metric-names", "episodes", "evaluations", "decisions", "maps", "maps/257/visits", "milestones")
        assert [client.get(f"/api/{path}").json() for path in paths] == [[]] * len(paths)
        assert client.get("/api/advice").json()["latest"] == []
        assert client.get("/api/patterns").json() == {"horizon": 8, "patterns": []}


def test_a_damaged_table_is_told_in_a_line(finished_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(finished_run, folder)
    (table,) = (folder / "metrics").glob("*.parquet")
    table.write_bytes(b"no table")
    with client_of(folder) as client:
        answer = client.get("/api/milestones")
        assert answer.status_code == 503
        assert table.name in answer.json()["detail"] and "\n" not in answer.json()["detail"]
        assert client.get("/api/maps").status_code == 200, "the rest can be looked at"


def test_live_events_tell_the_state_and_then_the_end(client: TestClient) -> None:
    answer = client.get("/api/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    kinds = [line for line in answer.text.splitlines() if line.startswith("event:")]
    assert kinds == ["event: live", "event: end"]


def test_too_many_viewers_are_refused(finished_run: Path) -> None:
    from pkmn_dashboard.live_events import MOST_VIEWERS  # noqa: PLC0415

    run = WatchedRun(finished_run)
    events = LiveEvents(run)

    async def one_more_than_there_is_room_for() -> int:
        listening = [events.events(1, pictures=True) for _ in range(MOST_VIEWERS)]
        for one in listening:
            await anext(one)
        transport = httpx.ASGITransport(make_app(run, events, Gate()))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return (await client.get("/api/events")).status_code

    assert asyncio.run(one_more_than_there_is_room_for()) == 503
    assert events.viewers == 0, "those who are gone are not counted"


def test_no_file_outside_the_page_is_served(client: TestClient) -> None:
    for path in ("/page/../app.py", "/page/%2e%2e/app.py", "/page/..%2fapp.py", "/page//etc/passwd", "/config.toml"):
        assert client.get(path).status_code == 404, path
    assert client.get("/page/main.js").headers["content-type"].startswith("text/javascript")


@pytest.mark.long
def test_whatever_is_asked_the_server_never_fails(finished_run: Path) -> None:
    """Every operation of the description, with values that fit it and values that do not."""
    run = WatchedRun(finished_run)
    app = make_app(run, LiveEvents(run, ended=lambda: True), Gate())
    config = SchemathesisConfig.from_dict({"generation": {"max-examples": 12}})
    here = {"host": "127.0.0.1"}
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app, config=config, headers=here)
    tried = []

    @settings(
        max_examples=12,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: Any) -> None:
        answer = case.call(headers={**here, **ACTION})
        tried.append(case.path)
        case.validate_response(answer, checks=[schemathesis.checks.not_a_server_error])

    for found in schema.get_all_operations():
        given(case=found.ok().as_strategy())(ask)()
    assert set(tried) == set(app.openapi()["paths"])

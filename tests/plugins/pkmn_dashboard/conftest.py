"""Fixtures: a training with a page, a run that is over, a browser."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.dashboard_training import DEADLINE_S, PageTraining, chromium, page_training
from support.tables import episodes

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def unending_training(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageTraining]:
    """A training of two environments that no test stops.

    Its learner does not learn: a learner that is sure would soon decide alone, and its decisions have no reason.
    """
    options = ["--envs=2", "--set=dqn.learning_starts=1000000"]
    with page_training(tmp_path_factory.mktemp("training"), *options) as found:
        yield found


@pytest.fixture
def training(unending_training: PageTraining) -> Iterator[PageTraining]:
    """The unending training, which goes on after a test that paused it and failed."""
    yield unending_training
    if unending_training.get("state")["run"] == "paused":
        unending_training.post("resume")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    path = chromium()
    if path is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not where there is no browser

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens an address, and holds that the page asks no other server and reports no error."""
    opened: list[Page] = []
    faults: list[str] = []

    def open_one(url: str, **options: Any) -> Page:
        page = browser.new_page(**{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options})
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        local = (url.partition("?")[0], "data:")
        page.on("request", lambda asked: None if asked.url.startswith(local) else faults.append(asked.url))
        page.goto(url)
        opened.append(page)
        return page

    yield open_one
    for page in opened:
        page.close()
    assert [fault for fault in faults if "ERR_CONNECTION_REFUSED" not in fault] == []


@pytest.fixture
def open_run(open_page: Callable[..., Page], tmp_path: Path) -> Iterator[Callable[[Path], Page]]:
    """Opens the page of `pkmn dashboard` on a run that is over."""
    started: list[subprocess.Popen[str]] = []
    opened: list[Page] = []

    def open_one(run: Path) -> Page:
        command = [sys.executable, "-m", "pkmncli", "dashboard", str(run), "--web-port=18080"]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        line = next((line for line in process.stdout if line.startswith("Showing ")), None)
        assert line is not None, "no page is served"
        opened.append(open_page(line.split(" at ")[1].strip()))
        return opened[-1]

    yield open_one
    for page in opened:
        page.close()  # before its server, which would refuse what the page still asks
    for process in started:
        with process:
            process.terminate()
            process.wait(DEADLINE_S)


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that is over, written by the parts that write one, without a training."""
    from pkmn_decisions.store.store import DuckDBStore  # noqa: PLC0415 - only these tests need it

    folder = tmp_path_factory.mktemp("finished") / "done"
    folder.mkdir()
    (folder / "versions.json").write_text(json.dumps({"layout": 1, "created": 1.0}))
    (folder / "config.toml").write_text('rl = "dqn"\nenvs = 2\nllm = "scripted"\nmode = "adaptive"\n[curriculum]\n')
    names = {"game": "Quillwood", "maps": {"257": "Alderbrook"}, "phases": ["free", "battle"]}
    names |= {"actions": ["wait", "walk"], "frames_per_second": 30.0}
    (folder / "names.json").write_text(json.dumps({**names, "milestones": ["begun", "outside", "won"], "goal": "won"}))
    others = {"episodes": 10, "goal": "won", "goal_low": 0.0, "goal_high": 0.2775}
    alone = {**others, "reached": 8, "goal_low": 0.49, "goal_high": 0.94, "goal_steps": 612, "avg_reward": 300.5}
    summary = {
        "total_steps": 40,
        "total_episodes": 2,
        "llm": {"cost_usd": 0.25},
        "recent_learner_share": 0.82,
        "learner_alone": alone,
        "random": {**others, "reached": 0, "goal_steps": None, "avg_reward": 71.8},
        "verdict": "The learner alone reaches won in 8 of 10 starts (49% to 94%); random play in 0.",
    }
    (folder / "summary.json").write_text(json.dumps(summary))
    store = DuckDBStore(folder)
    steps = list(range(1, 41))
    store.append(
        "decisions",
        {
            "global_step": steps,
            "environment": [0] * 40,
            "episode": [(step - 1) // 20 for step in steps],
            "step": [(step - 1) % 20 + 1 for step in steps],
            "time": [1000.0 + step for step in steps],
            "action": [7] * 40,
            "source": [step % 4 for step in steps],
            "confidence": [0.5] * 40,
            "reward": [1.0] * 40,
            "terminated": [False] * 40,
            "truncated": [step % 20 == 0 for step in steps],
            "map_id": [257] * 40,
            "x": [step % 5 for step in steps],
            "y": [3] * 40,
            "phase": [0] * 40,
            "battle": [0] * 40,
            "opponent": [0] * 40,
            "health": [1.0] * 40,
            "milestones": [1] * 40,
            "frames": [24 * step for step in steps],
            "coarse_hash": [1] * 40,
            "fine_hash": [1] * 40,
            "reason": [f"why {step} <b>" for step in steps],
        },
    )
    store.append(
        "episodes",
        {
            "environment": [0, 0],
            "episode": [0, 1],
            "first_step": [0, 20],
            "last_step": [20, 40],
            "seed": [1, 2],
            "start": ["", ""],
            "steps": [20, 20],
            "total_reward": [20.0, 21.0],
            "terminated": [False, False],
            "truncated": [True, True],
            "outcome": ["time-limit", "time-limit"],
            "llm_share": [0.25, 0.25],
            "milestones": ['{"begun": 0, "outside": 9}', '{"begun": 0, "outside": 7}'],
            "presses": [b"", b""],
            "fine_hashes": [b"", b""],
            "memory_hashes": [b"", b""],
            "frames": [480, 480],
        },
    )
    metrics = [
        (20, "episode/reward", 20.0),
        (20, "milestone/outside/step", 9.0),
        (20, "milestone/outside/frame", 216.0),
        (40, "episode/reward", 21.0),
        (40, "milestone/outside/step", 7.0),
        (40, "milestone/outside/frame", 168.0),
        (40, "learner/loss", float("nan")),
        (20, "alone/goal_share", 0.2),
        (40, "alone/goal_share", 0.6),
        (20, "hand_over/walking/share", 0.5),
        (40, "hand_over/walking/share", 0.95),
        (40, "hand_over/walking/confidence", 0.93),
        (40, "hand_over/walking/agreement", 0.88),
        (40, "hand_over/battle/share", 0.1),
    ]
    store.append(
        "metrics",
        {
            "global_step": [step for step, _, _ in metrics],
            "time": [1000.0] * len(metrics),
            "name": [name for _, name, _ in metrics],
            "value": [value for _, _, value in metrics],
        },
    )
    store.append(
        "advice",
        {
            "global_step": [5, 9],
            "asked_at": [3, 7],
            "environment": [0, 0],
            "time": [1000.0, 1001.0],
            "event": ["interval", "interval"],
            "followed": [True, False],
            "reading": ["schema", "nothing"],
            "problem": ["", "no answer"],
            "advice": ['{"goal": "go out"}', ""],
            "model": ["script", ""],
            "cached": [False, False],
            "prompt": ["Where to?", "And now?"],
            "reply": ["<i>out</i>", ""],
            "prompt_tokens": [10, 20],
            "completion_tokens": [3, 0],
            "latency_s": [0.5, 1.0],
        },
    )
    store.close()
    return folder


@pytest.fixture
def evaluated_run(finished_run: Path, tmp_path: Path) -> Path:
    """A copy of the run that is over, with two evaluations, one that is being written, and three damaged ones."""
    from pkmn_decisions.store.store import DuckDBStore  # noqa: PLC0415 - only these tests need it

    run = tmp_path / "evaluated"
    shutil.copytree(finished_run, run)
    alone = {"mode": "rl-only", "checkpoint": "step-000000040", "episodes": 4, "avg_reward": 25.0, "goal": "won"}
    alone |= {"reached": 3, "goal_low": 0.3, "goal_high": 0.95}
    results = {
        "20261130-093015-step-000000040-rl-only": json.dumps(alone),
        "20261130-110000-step-000000020-rl-only": json.dumps(
            {**alone, "stochastic": True, "checkpoint": "step-000000020", "goal": "outside", "avg_reward": 7.5}
        ),
        "20261130-120000-damaged": "{",
        "20261130-120001-no-number": json.dumps({**alone, "avg_reward": "much"}),
        "20261130-120002-no-figure": json.dumps({**alone, "goal_low": float("nan")}),
    }
    for name, result in results.items():
        (run / "evaluations" / name).mkdir(parents=True)
        (run / "evaluations" / name / "result.json").write_text(result)
    (run / "evaluations" / "20261130-130000-being-written").mkdir()
    store = DuckDBStore(run / "evaluations" / "20261130-093015-step-000000040-rl-only")
    store.append("episodes", episodes(1, 2, 3, 4, total_reward=[10.0, 20.0, 30.0, 40.0]))
    store.close()
    return run

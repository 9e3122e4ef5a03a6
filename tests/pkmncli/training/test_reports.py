"""Reports of a pilot are kept in the run, however the training ends, and `pkmn doctor` shows them."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.worker_pools import take

from pkmn_pyboy.profile.loading import GAMES_FOLDER
from pkmncli.api import PILOT_ACTS
from pkmncli.config import resolve_settings
from pkmncli.errors import RunError
from pkmncli.plugins import get_registry
from pkmncli.runs import Run, create_run
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import worker_spec
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.reports import MOST_BYTES, MOST_REPORTS, ReportKeeper, ReportWriter, read_reports

Pkmn = Callable[..., Any]

STORY = """
[[milestone]]
key = "never"
name = "Never"
hint = "Never."
evidence_all = [{ kind = "event", index = 1999 }]
target = { map = [1, 3], x = 3, y = 5 }
"""


ROM = GAMES_FOLDER / "quillwood" / "quillwood.gbc"
RULES = [
    f"rules.{setting}"
    for setting in (
        "report_after_steps=50",
        "remedy_steps=20",
        "goal_tries=50",
        "forget_tries_steps=30",
        "heal_steps=0",
    )
]


@pytest.fixture
def game(tmp_path: Path) -> Path:
    """A profile of the bundled game with a goal that nothing reaches."""
    folder = tmp_path / "game"
    folder.mkdir()
    for name in ("game.toml", "names.toml", "tables.toml", "world.toml"):
        (folder / name).write_text((ROM.parent / name).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "milestones.toml").write_text(STORY, encoding="utf-8")
    return folder


@pytest.fixture
def stalling(game: Path) -> list[str]:
    """Options of a training whose pilot soon gets nowhere."""
    return [
        "--no-rl",
        f"--game-folder={game}",
        f"--rom={ROM}",
        "--max-steps-per-episode=150",
        "--save-interval=80",
        *(f"--set={setting}" for setting in RULES),
    ]


def reports_of(folder: Path) -> dict[str, Any]:
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in (folder / "reports").iterdir()}


@pytest.mark.long
def test_reports_of_every_environment_are_kept_and_shown(pkmn: Pkmn, stalling: list[str], tmp_path: Path) -> None:
    result = pkmn("train", *stalling, "--steps=400", "--envs=2", "--run-name=it")
    assert result.code == 0, result.err
    assert "pkmn doctor" in result.out
    reports = reports_of(tmp_path / "runs" / "it")
    assert sorted(reports) == ["environment-0-episode-0-1.json", "environment-1-episode-0-1.json"]
    first = reports["environment-0-episode-0-1.json"]
    assert (first["environment"], first["episode"], first["number"]) == (0, 0, 1)
    assert [one["remedy"] for one in first["tried"]][:2] == ["replan", "heal"]

    shown = pkmn("doctor", "--run", "it")
    assert shown.code == 0, shown.err
    assert "Environment 1, episode 0, report 1" in shown.out
    assert "wants: milestone never" in shown.out
    assert "tried: replan (step" in shown.out
    listed = json.loads(pkmn("doctor", "--run", "it", "--json").out)["reports"]
    assert [(one["environment"], one["episode"]) for one in listed] == sorted(
        (one["environment"], one["episode"]) for one in reports.values()
    )


@pytest.mark.long
def test_a_training_that_goes_on_reports_what_an_unbroken_one_does(
    pkmn: Pkmn, stalling: list[str], tmp_path: Path
) -> None:
    assert pkmn("train", *stalling, "--steps=320", "--run-name=whole").code == 0
    assert pkmn("train", *stalling, "--steps=100", "--run-name=broken").code == 0
    assert pkmn("train", "--resume", "broken", "--steps=320").code == 0
    whole, broken = (reports_of(tmp_path / "runs" / name) for name in ("whole", "broken"))
    assert len(whole) > 1
    assert broken == whole


@pytest.mark.long
def test_reports_that_cannot_be_written_end_no_training(pkmn: Pkmn, stalling: list[str], tmp_path: Path) -> None:
    assert pkmn("train", *stalling, "--steps=20", "--run-name=it").code == 0
    (tmp_path / "runs" / "it" / "reports").touch()
    result = pkmn("train", "--resume", "it", "--steps=320")
    assert result.code == 0, result.err
    assert result.out.count("What pilots report can't be kept") == 1
    assert Run(tmp_path / "runs" / "it").read_summary()["total_steps"] == 320


def test_a_run_without_reports_says_so_and_one_that_is_not_there_is_an_error(
    pkmn: Pkmn, shared_run: Callable[..., Path]
) -> None:
    folder = shared_run("rl-only", 1)
    result = pkmn("doctor", "--run", str(folder))
    assert (result.code, result.out) == (0, f"{folder.name}: no pilot reported that it got nowhere.\n")
    assert json.loads(pkmn("doctor", "--run", str(folder), "--json").out) == {"run": str(folder), "reports": []}
    assert pkmn("doctor", "--run", "nowhere").code == 5
    assert "well" in json.loads(pkmn("doctor", "--json").out)[0]
    assert pkmn("doctor", "--run", str(folder), "--llm=ollama").code == 2


@pytest.mark.long
def test_a_lost_worker_loses_no_report(game: Path) -> None:
    registry = get_registry()
    given = {"mode": "adaptive", "seed": 5, "max_steps_per_episode": 150, "game_folder": game, "rom_path": ROM}
    settings = resolve_settings(given, registry=registry, sets=RULES, environ={})
    spec = worker_spec(settings, registry, Purpose.TRAINING, num_envs=2)

    def play(*kill: int) -> dict[tuple[int, int, int], Mapping[str, Any]]:
        told: dict[tuple[int, int, int], Mapping[str, Any]] = {}

        def keep(environment: int, episode: int, report: Mapping[str, Any]) -> None:
            told[environment, episode, report["number"]] = report

        with WorkerPool(spec, on_report=keep) as pool:
            pool.reset()
            for step in range(260):
                if step in kill:
                    os.kill(pool.process_id(0), signal.SIGKILL)
                take(pool, np.full(2, PILOT_ACTS))
            assert pool.losses == len(kill)
        return told

    undisturbed = play()
    assert {key[:2] for key in undisturbed} >= {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert play(80, 170) == undisturbed


def test_no_more_reports_are_written_than_a_run_may_hold(tmp_path: Path) -> None:
    writer = ReportWriter(tmp_path / "reports")
    for number in range(MOST_REPORTS + 5):
        writer.write(0, number, {"number": 1})
    writer.write(0, 3, {"number": 1, "helped": "heal"})
    writer.write(1, 0, {"number": 1, "words": ["x" * MOST_BYTES]})
    reports = read_reports(tmp_path / "reports")
    assert [report["episode"] for report in reports] == list(range(MOST_REPORTS))
    assert reports[3]["helped"] == "heal"


def test_reports_are_told_once_then_seldom_and_where_no_more_are_kept(tmp_path: Path) -> None:
    told: list[str] = []
    keeper = ReportKeeper(tmp_path / "reports", told.append, "pkmn doctor --run it")
    for episode in range(MOST_REPORTS + 66):
        keeper.keep(0, episode, {"number": 1})
        keeper.keep(0, episode, {"number": 1, "helped": "heal"})  # a later state of it
    assert [line.split(";")[0] for line in told] == [
        "Environment 0's pilot reports where it stands",
        "Pilots have made 50 reports",
        "Pilots have made 100 reports",
        "Pilots have made 150 reports",
        "Pilots have made 200 reports",
        "Pilots report more, and no more than 200 of a run are kept.",
    ]
    told.clear()  # a training that goes on
    keeper = ReportKeeper(tmp_path / "reports", told.append, "pkmn doctor --run it")
    for episode in range(MOST_REPORTS - 1, MOST_REPORTS + 66):
        keeper.keep(0, episode, {"number": 1})
    assert told == ["Pilots report more, and no more than 200 of a run are kept."]


def test_the_latest_reports_are_shown_with_their_count(pkmn: Pkmn, tmp_path: Path) -> None:
    writer = ReportWriter(create_run(tmp_path / "runs", "quillwood", "dqn", "it").folder / "reports")
    for episode in range(20):
        writer.write(episode % 2, episode, {"number": 1})
    shown = pkmn("doctor", "--run", "it").out
    assert shown.startswith("it: 20 reports of pilots that got nowhere, and these are the latest 10 (--limit 0")
    assert "No more than" not in shown
    episodes = [int(number) for number in re.findall(r"episode (\d+), report", shown)]
    assert sorted(episodes) == list(range(10, 20))
    assert len(re.findall(r"episode \d+, report", pkmn("doctor", "--run", "it", "--limit=0").out)) == 20
    assert len(json.loads(pkmn("doctor", "--run", "it", "--json").out)["reports"]) == 20
    assert len(json.loads(pkmn("doctor", "--run", "it", "--json", "--limit=3").out)["reports"]) == 3
    assert pkmn("doctor", "--limit=3").code == 2
    for episode in range(20, MOST_REPORTS):
        writer.write(0, episode, {"number": 1})
    assert f"No more than {MOST_REPORTS} of a run are kept" in pkmn("doctor", "--run", "it").out


OF_AN_EPISODE = '"environment": 0, "episode": 0'


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "{}",
        '{"environment": 0}',
        '{"environment": "0", "episode": 0}',
        f'{{{OF_AN_EPISODE}, "tried": [{{}}]}}',
        f'{{{OF_AN_EPISODE}, "tried": [{{"remedy": "heal", "step": "7"}}]}}',
        f'{{{OF_AN_EPISODE}, "tried": 7}}',
        f'{{{OF_AN_EPISODE}, "words": 7}}',
        f'{{{OF_AN_EPISODE}, "words": [7]}}',
        f'{{{OF_AN_EPISODE}, "helped": 7}}',
        f'{{{OF_AN_EPISODE}, "number": "x"}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_report_is_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "environment-0-episode-0-1.json").write_text(content, encoding="utf-8")
    with pytest.raises(RunError, match=r"environment-0-episode-0-1\.json is damaged"):
        read_reports(tmp_path)


def test_what_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "reports"
    (folder / "environment-0-episode-0-1.json").mkdir(parents=True)
    with pytest.raises(RunError, match=r"environment-0-episode-0-1\.json can't be read"):
        read_reports(folder)
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="file can't be read: Not a directory"):
        read_reports(tmp_path / "file")

    def refuse(_path: object = None) -> None:
        raise PermissionError(13, "Permission denied")

    for name in ("scandir", "listdir"):
        monkeypatch.setattr(os, name, refuse)
    with pytest.raises(RunError, match="reports can't be read: Permission denied"):
        read_reports(folder)


def test_a_report_gives_the_terminal_no_commands(pkmn: Pkmn, tmp_path: Path) -> None:
    folder = create_run(tmp_path / "runs", "quillwood", "dqn", "it").folder / "reports"
    told = {"number": 1, "words": ["wants: \x1b]0;title\x07 north\r\n\u202e"], "helped": "he\x1b[2Jal"}
    ReportWriter(folder).write(0, 0, told)
    shown = pkmn("doctor", "--run", "it")
    assert shown.code == 0, shown.err
    assert "  wants: \\x1b]0;title\\x07 north" in shown.out
    assert all(character.isprintable() or character in "\r\n" for character in shown.out)

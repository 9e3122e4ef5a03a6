"""What advice is worth in the bundled game: good advice beats the rules alone, bad advice costs them a tenth at most.

The game, the pilot and the training are the real ones. The advice is written in files, so each episode is the same
every time.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
GOOD_ADVICE = BENCHMARKS / "good_advice.toml"

ERRAND_SEEDS = (0, 1)
MOST_ERRAND_STEPS = 1000
BADGE_SEEDS = range(12)
MOST_BADGE_STEPS = 1500

STUBBORN = [{"skill": "press", "presses": ["up"] * 8}]
"""Always the same way, whatever stands there."""

HOMEWARD = [
    {"when": "Situation: [^\n]*; battle", "skill": "flee"},
    {"when": "Situation: [^\n]*; (choice|menu|dialogue)", "skill": "press", "presses": ["b"] * 8},
    {"when": "Situation: ", "skill": "go_to", "map": "Home 2F"},
]
"""Runs from every fight, refuses whatever is offered, and goes home to bed."""

BUTTONS = ("a", "b", "start", "select", "up", "down", "left", "right", "none")
AT_RANDOM = [
    {"skill": "press", "presses": [BUTTONS[(7 * number + 5 * place * place) % 9] for place in range(1 + number % 8)]}
    for number in range(40)
]
"""Presses without any sense; a prompt's text picks those that it gets."""

Play = Callable[..., int]


@pytest.fixture
def play(pkmn: Callable[..., Any], tmp_path: Path) -> Play:
    """The steps of one episode of the pilot, until its goal or as many as are allowed."""

    def steps(goal: str, seed: int, most: int, script: Path | None, *more: str) -> int:
        advice = ["--llm=scripted", "--llm-wait", f"--set=scripted.file={script}"] if script is not None else []
        name = f"{goal}-{seed}-{script.stem if script is not None else 'rules'}"
        result = pkmn(
            "train",
            "--mode=llm-only",
            "--no-rl",
            "--observation-type=state",
            f"--goal={goal}",
            f"--seed={seed}",
            f"--steps={most}",
            f"--max-steps-per-episode={most}",
            "--episodes=1",
            "--save-interval=100000",
            f"--run-name={name}",
            "--quiet",
            *advice,
            *more,
        )
        assert result.code == 0, result.err
        summary = json.loads((tmp_path / "runs" / name / "summary.json").read_text())
        return int(summary["total_steps"])

    return steps


@pytest.fixture(scope="module")
def errands() -> Any:
    """The benchmark that plays the errands, as a module."""
    spec = importlib.util.spec_from_file_location("quillwood_errands", BENCHMARKS / "quillwood_errands.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def game_without_places(errands: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled game, whose milestones do not say where to go."""
    folder: Path = errands.without_places(tmp_path_factory.mktemp("game"))
    return folder


@pytest.fixture(scope="module")
def beginnings(errands: Any, tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[str, int], Path]:
    """The state in which each errand begins, by errand and seed."""
    folder, files = tmp_path_factory.mktemp("beginnings"), {}
    for seed in ERRAND_SEEDS:
        for errand, state in errands.begin_errands(seed, 9000).items():
            files[errand, seed] = folder / f"{errand}-{seed}.state"
            files[errand, seed].write_bytes(state)
    return files


@pytest.mark.parametrize("errand", ["parcel", "wood", "light", "key"])
def test_good_advice_beats_rules_that_do_not_know_the_way(
    errand: str, play: Play, errands: Any, beginnings: Mapping[tuple[str, int], Path], game_without_places: Path
) -> None:
    """The pilot knows what it has seen, and what the errand is called; the advice knows the places."""
    # The advice for the key ends at the cellar, whose levers it leaves to the rules.
    goal = "slab_lifted" if errand == "key" else errands.ERRANDS[errand][1]
    taken: dict[str, list[int]] = {"rules": [], "advised": []}
    for seed in ERRAND_SEEDS:
        same = ("--knowledge=seen", f"--game-folder={game_without_places}", f"--init-state={beginnings[errand, seed]}")
        for way, script in (("rules", None), ("advised", GOOD_ADVICE)):
            taken[way].append(play(goal, seed, MOST_ERRAND_STEPS, script, *same))
    rules, advised = sum(taken["rules"]), sum(taken["advised"])
    assert advised < 0.9 * rules, f"{errand}: steps with good advice {taken['advised']}, by rules {taken['rules']}"


def test_good_advice_alone_leads_to_the_first_badge(play: Play) -> None:
    """Nothing else holds it back or leads on: were it to lead in and out of a door, it would do so for ever."""
    steps = [play("thorn_badge", seed, MOST_BADGE_STEPS, GOOD_ADVICE, "--set=llm_allowance=1") for seed in (2, 5)]
    assert max(steps) < 800


@pytest.fixture(scope="module")
def badge_by_rules() -> dict[int, int]:
    """Steps that the rules alone take to the first badge, by seed; filled by the first test that needs them."""
    return {}


@pytest.mark.parametrize("advice", ["STUBBORN", "HOMEWARD", "AT_RANDOM"])
def test_bad_advice_costs_a_tenth_of_the_steps_at_most(
    advice: str, play: Play, badge_by_rules: dict[int, int], tmp_path: Path
) -> None:
    """The rules know all ways here, so that there is nothing to gain from anybody."""
    script = tmp_path / f"{advice.lower()}.toml"
    script.write_text("\n".join(map(reply, globals()[advice])))
    for seed in BADGE_SEEDS:
        if seed not in badge_by_rules:
            badge_by_rules[seed] = play("thorn_badge", seed, MOST_BADGE_STEPS, None)
    with_advice = [play("thorn_badge", seed, MOST_BADGE_STEPS, script) for seed in BADGE_SEEDS]
    ratio = sum(with_advice) / sum(badge_by_rules.values())
    print(f"{advice}: {ratio:.3f} of the steps")
    assert ratio <= 1.1, f"{ratio:.2f} of the steps: {with_advice}, by rules {list(badge_by_rules.values())}"


def reply(said: Mapping[str, Any]) -> str:
    """A table of the script: what is said, surely and for no reason."""
    advice = {name: value for name, value in said.items() if name != "when"}
    text = json.dumps({"goal": "so be it", "confidence": 1.0, "reason": "because", **advice})
    when = f"when = '{said['when']}'\n" if "when" in said else ""
    return f"[[reply]]\n{when}text = '{text}'\n".replace("[^\n]", r"[^\n]")

"""Strategy and curriculum in a training: what moves them, what they move, and that both go on after a resume."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.killed_training import train_until

from pkmn_strategies.adaptive import AdaptiveStrategySystem
from pkmncli.api import StrategyType
from pkmncli.config import resolve_settings
from pkmncli.config.curriculum_settings import CurriculumSettings, Stage
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.curriculum import Curriculum
from pkmncli.plugins import get_registry
from pkmncli.runs import Run
from pkmncli.training.evaluation.while_training import Measured
from pkmncli.training.no_learner import NoLearner
from pkmncli.training.progression import Progression
from pkmncli.training.recording.counters import TrainingStatistics

STAGES = (
    Stage(reward_threshold=10, llm_confidence=0.9, strategy_preference="llm_heavy"),
    Stage(reward_threshold=20, llm_confidence=0.6, strategy_preference="rule_heavy"),
)

PRESS = {"skill": "press", "map": None, "x": None, "y": None, "confidence": 0.8, "reason": "a test"}

Course = Callable[[Path], dict[str, Any]]


def make(*, early: bool = False, **settings: Any) -> tuple[Progression, list[int]]:
    """A progression, and the numbers of the episodes that it has measured, each worth 15."""
    measured: list[int] = []

    def play(learner: Any, numbers: Sequence[int], interrupted: Callable[[], bool]) -> list[Measured] | None:
        if interrupted():
            return None
        measured.extend(numbers)
        return [Measured(15.0, 7, success=True) for _ in numbers]

    curriculum = Curriculum(
        CurriculumSettings(
            **{
                "stages": STAGES,
                "window_episodes": 2,
                "min_episodes": 2,
                "measure_interval": 3,
                "measure_starts": 2,
                **settings,
            }
        )
    )
    return Progression(AdaptiveStrategySystem(), curriculum, play=play, early=early), measured


def end_episodes(progression: Progression, statistics: TrainingStatistics, count: int) -> list[Any]:
    happened = []
    for _ in range(count):
        progression.measure(NoLearner(), lambda: False)
        statistics.episodes += 1
        happened += progression.end_episode({"episode_reward": 0.0, "average_reward": 0.0}, statistics)
    return happened


def test_every_few_episodes_some_are_measured_and_stages_follow_from_it() -> None:
    progression, measured = make()
    statistics = TrainingStatistics()
    progression.begin()
    assert end_episodes(progression, statistics, 3) == []
    assert measured == []
    stage, switch = end_episodes(progression, statistics, 1)
    assert measured == [0, 1], "on two starts, since that many are asked for"
    assert (stage.event, stage.metrics) == ("stage_advanced", {"stage": 2, "trust": 0.6, "completed": False})
    assert (switch.event, switch.metrics["strategy"], switch.metrics["share"]) == (
        "strategy_switched",
        "rule_heavy",
        0.2,
    )
    assert (statistics.curriculum_stage, statistics.curriculum_advancements, statistics.strategy_switches) == (2, 1, 1)
    assert (progression.trust, progression.share) == (0.6, 0.2)
    assert stage.reason
    assert switch.reason
    assert progression.take_metrics() == {
        "curriculum/stage": 2,
        "curriculum/trust": 0.6,
        "strategy/llm_share": 0.2,
    }


def test_a_measurement_that_was_interrupted_is_taken_when_the_training_goes_on() -> None:
    progression, measured = make()
    end_episodes(progression, TrainingStatistics(), 3)
    assert progression.measure(NoLearner(), lambda: True) == []
    assert measured == []
    resumed, measured = make()
    resumed.load_state_dict(json.loads(json.dumps(progression.state_dict())))
    assert resumed.measure(NoLearner(), lambda: False) == [Measured(15.0, 7, success=True)] * 2
    assert measured == [0, 1]
    assert resumed.measure(NoLearner(), lambda: False) == [], "once is enough"


def test_the_curve_begins_before_the_first_step_and_the_curriculum_leaves_that_out() -> None:
    progression, measured = make(early=True)
    statistics = TrainingStatistics()
    progression.begin()
    resumed, measured_after = make(early=True)
    resumed.load_state_dict(json.loads(json.dumps(progression.state_dict())))
    for one, numbers in ((progression, measured), (resumed, measured_after)):
        assert one.measure(NoLearner(), lambda: False) == [Measured(15.0, 7, success=True)] * 2
        assert numbers == [0, 1]
        assert one.curriculum is not None
        assert one.curriculum.measured == []
    end_episodes(progression, statistics, 2)
    assert measured == [0, 1, 0, 1], "after the first episode on the same starts"
    assert progression.curriculum is not None
    assert progression.curriculum.measured == []


@pytest.mark.parametrize("due", [None, 3])
def test_it_goes_on_from_a_checkpoint_of_an_earlier_version(due: int | None) -> None:
    progression, measured = make()
    end_episodes(progression, TrainingStatistics(), 3)
    resumed, measured = make()
    resumed.load_state_dict({**progression.state_dict(), "due": due, "latest": None})
    assert not resumed.due
    end_episodes(resumed, TrainingStatistics(), 3)
    assert resumed.measure(NoLearner(), lambda: False)
    assert measured == [0, 1]


def test_nothing_moves_without_strategy_and_curriculum() -> None:
    progression = Progression()
    progression.begin()
    statistics = TrainingStatistics()
    assert end_episodes(progression, statistics, 5) == []
    assert (progression.trust, progression.share) == (None, None)
    assert (progression.take_metrics(), progression.summary()) == ({}, {})
    progression.load_state_dict(progression.state_dict())


# In a training -------------------------------------------------------------------------------------------------------


EASY = "[{reward_threshold = 40, llm_confidence = 0.9}, {reward_threshold = 900, llm_confidence = 0.6}]"


def curriculum_options(measure: str, *more: str) -> list[str]:
    """A curriculum whose first stage the pilot passes at once, in episodes that it needs to leave the house."""
    values = {"measure": measure, "stages": EASY, "window_episodes": 3, "min_episodes": 3, "measure_interval": 1}
    options = [f"--set=curriculum.{name}={value}" for name, value in values.items()]
    return [*options, "--set=curriculum.advancement_patience=200", "--max-steps-per-episode=40", *more]


@pytest.mark.long
@pytest.mark.parametrize(("measure", "stage"), [("greedy", 1), ("training", 2)])
def test_an_untrained_learner_that_the_pilot_carries_does_not_pass_a_stage(
    measure: str, stage: int, pkmn: Callable[..., Any], small_training: list[str], course: Course, tmp_path: Path
) -> None:
    """It never learns here. The training's episodes would pass; its own do not."""
    options = [*curriculum_options(measure), "--set=dqn.learning_starts=100000", "--steps=280", "--run-name=it"]
    result = pkmn("train", *small_training, *options)
    assert result.code == 0, result.err
    found = course(tmp_path / "runs" / "it")
    earned = [row["total_reward"] for row in found["episodes"]]
    assert len(earned) == 7
    summary = found["summary"]
    assert summary["final_avg_reward"] > 40
    assert summary["curriculum_stage_reached"] == stage
    assert summary["curriculum_advancements"] == stage - 1
    assert summary["curriculum"]["trust"] == (0.9 if stage == 1 else 0.6)
    assert ("Stage 1 of the curriculum passed" in result.out) is (stage == 2)
    names = {name for _step, name, _value in found["metrics"]}
    assert {"curriculum/stage", "curriculum/trust"} <= names
    assert ("alone/reward" in names) is (measure == "greedy")
    run = Run(tmp_path / "runs" / "it")
    assert ("stage-2" in run.checkpoints.index().milestones) is (stage == 2), "a stage is worth a checkpoint"


@pytest.mark.long
def test_no_curriculum_leaves_trust_as_it_is(
    pkmn: Callable[..., Any], small_training: list[str], course: Course, tmp_path: Path
) -> None:
    options = [*curriculum_options("training"), "--no-curriculum", "--steps=200", "--run-name=it"]
    assert pkmn("train", *small_training, *options).code == 0
    found = course(tmp_path / "runs" / "it")
    assert "curriculum" not in found["summary"]
    assert found["trainer"]["arbiter"]["trust"] == 0.9


@pytest.mark.long
@pytest.mark.parametrize("envs", [1, 2])
def test_a_killed_training_goes_on_in_its_stage_with_its_strategy(
    envs: int,
    pkmn: Callable[..., Any],
    small_training: list[str],
    assert_same_course: Callable[[Path, Path], None],
    course: Course,
    tmp_path: Path,
) -> None:
    """Measured episodes, trust that sinks, and a strategy that is asked: equal to what was never killed."""
    path = tmp_path / "script.toml"
    texts = [json.dumps(PRESS | {"goal": presses[0], "presses": presses}) for presses in (["right", "up"], ["a", "b"])]
    path.write_text("".join(f"[[reply]]\ntext = '{text}'\n" for text in texts))
    arguments = [
        *small_training,
        f"--envs={envs}",
        "--llm=scripted",
        f"--set=scripted.file={path}",
        "--llm-wait",
        "--llm-interval=5",
        "--set=llm_allowance=1",
        "--set=adaptive.min_episodes=2",
        "--set=adaptive.min_reward=1000",
        "--set=initial_strategy=rule_heavy",
        "--set=adaptive.rest_episodes=1",
        "--set=curriculum.measure_interval=2",
        "--set=curriculum.advancement_patience=2",
        "--set=curriculum.confidence_decay_rate=0.01",
    ]
    train_until(("os.rename", "decisions", 6), tmp_path, *arguments, "--run-name=it")
    assert pkmn("train", "--resume", "it").code == 0
    assert pkmn("train", *arguments, "--run-name=whole").code == 0
    folders = [tmp_path / "runs" / name for name in ("it", "whole")]
    assert_same_course(folders[0], folders[1])
    summary = course(folders[0])["summary"]
    assert summary["curriculum"]["measured"]
    assert summary["curriculum"]["trust"] < 0.9
    assert summary["strategy"]["episodes"] == summary["total_episodes"]
    assert summary["strategy_switches"] >= 1


# Settings ------------------------------------------------------------------------------------------------------------


def settings(given: Mapping[str, Any], **more: Any) -> Any:
    return resolve_settings(given, registry=get_registry(), environ={}, **more)


def test_the_curriculum_is_a_section_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    stages = [{"reward_threshold": 5.0, "min_episodes": 3, "llm_confidence": 0.8, "strategy_preference": "balanced"}]
    path.write_text(json.dumps({"curriculum": {"stages": stages, "advancement_patience": 7}}))
    found = settings({"curriculum.enabled": False}, config_path=path, sets=["curriculum.window_episodes=5"])
    assert found.curriculum.stages[0].preferred is StrategyType.BALANCED
    assert (found.curriculum.enabled, found.curriculum.advancement_patience) == (False, 7)
    assert found.curriculum.window_episodes == 5
    (tmp_path / "config.toml").write_text(found.to_toml())
    again = type(found).from_run(tmp_path, get_registry())
    assert again.curriculum == found.curriculum
    assert "c.json" in again.origins["curriculum.stages"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"curriculum.window_episode": 3}, "did you mean 'curriculum.window_episodes'"),
        ({"advancement_patience": 3}, "did you mean 'curriculum.advancement_patience'"),
        ({"curriculum.measure": "pilot"}, "'greedy' or 'training'"),
        ({"strategy": "adaptve", "llm": "scripted"}, "did you mean 'adaptive'"),
    ],
)
def test_what_cannot_be_set_is_told(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        settings(given)


def test_strategies_are_named_with_either_line() -> None:
    assert settings({"strategy": "LLM_heavy"}).train.strategy == "llm-heavy"

"""Our side of the comparison: one training and its evaluation, as `pkmn train` and `pkmn eval` do them.

`learners.py` runs it in its own process: python benchmarks/our_side.py '{"learner": "dqn", ...}'
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sys
import time
from typing import Any

from training_spec import TrainingSpec

from pkmncli import cli
from pkmncli.config import resolve_settings
from pkmncli.plugins import get_registry
from pkmncli.training.display.console import ConsoleProgress
from pkmncli.training.session import TrainingSession

EQUAL_DQN = (
    "dqn.double=false",
    "dqn.dueling=false",
    "dqn.n_step=1",
    "dqn.demonstration_margin=0",
    "dqn.priority_exponent=0",
)
"""Settings that make our DQN equal to theirs; all other settings are our defaults, and theirs are set to them."""


def settings_of(spec: TrainingSpec) -> dict[str, Any]:
    """Return the options of `pkmn train`."""
    return {
        "rl": spec.learner,
        "mode": "rl-only",
        "envs": spec.envs,
        "steps": spec.steps,
        "final_episodes": 0,
        "seed": spec.seed,
        "device": spec.device,
        "torch_threads": spec.torch_threads,
        "observation_type": spec.observes,
        "max_steps_per_episode": spec.episode_steps,
        "save_dir": spec.folder,
        "run_name": spec.name,
    }


def sets_of(spec: TrainingSpec) -> list[str]:
    """Return its `--set` options."""
    sets = [] if spec.masks else ['pyboy.without_mask_rules=["all"]']
    if spec.learner == "ppo":
        return [*sets, f"ppo.n_steps={spec.rollout_rows}", f"ppo.overlap={str(spec.overlap).lower()}"]
    return [*sets, *EQUAL_DQN] if spec.equal else sets


def train(spec: TrainingSpec) -> dict[str, Any]:
    """Train with all that a user gets, including recording and checkpoints; timed from the first step to the end."""
    registry = get_registry()
    began = 0.0

    def begin(trainer: object) -> None:
        nonlocal began
        began = time.perf_counter()

    settings = resolve_settings(settings_of(spec), registry=registry, sets=sets_of(spec), environ={})
    session = TrainingSession(settings, registry, ["benchmark"], ConsoleProgress(quiet=True), on_trainer=begin)
    outcome = session.start()
    seconds = time.perf_counter() - began
    if outcome.exit_code:
        raise SystemExit(outcome.exit_code)
    return {
        "steps_per_second": spec.steps / seconds,
        "training_return": outcome.summary["final_avg_reward"],
        "updates": outcome.summary["updates"],
    }


def evaluate(spec: TrainingSpec) -> float:
    """Return the mean return of greedy episodes."""
    options = (
        "--mode",
        "rl-only",
        "--episodes",
        str(spec.episodes),
        "--envs",
        "1",
        "--seed",
        str(spec.evaluation_seed),
    )
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = cli.run(["eval", str(spec.folder / spec.name), *options, "--json"])
    if code:
        raise SystemExit(code)
    return float(json.loads(output.getvalue())["avg_reward"])


def main() -> None:
    """Train, evaluate if asked to, and print the result as JSON."""
    spec = TrainingSpec.from_json(sys.argv[1])
    run = spec.folder / spec.name
    if run.exists():  # left by an interrupted call
        shutil.rmtree(run)
    result = train(spec)
    if spec.episodes:
        result["evaluation_return"] = evaluate(spec)
    if not spec.keep:
        shutil.rmtree(run)
    print(json.dumps(result))


if __name__ == "__main__":
    main()

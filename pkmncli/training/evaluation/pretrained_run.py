"""A game's own policy as a run, for as long as a command needs it, so that whatever works on runs works on it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkmncli.atomic_files import write_atomic, write_json
from pkmncli.diagnostics import say
from pkmncli.errors import CheckpointError, ConfigurationError, RunError
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.runs import Run, create_run, open_run
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import build_learner, names_of, worker_spec
from pkmncli.training.beginnings.pretrained import FOLDER, find_pretrained
from pkmncli.training.checkpoints.files import Checkpoint, read_checkpoint, write_checkpoint
from pkmncli.training.checkpoints.state import TrainerState
from pkmncli.training.evaluation.evaluation import LearnerPolicy, evaluate, keep_evaluation
from pkmncli.training.evaluation.final_evaluation import ENVIRONMENTS, side_by_side_spec
from pkmncli.training.run_settings import run_settings
from pkmncli.training.workers.pool import WorkerPool

if TYPE_CHECKING:
    from pkmncli.plugins import Registry


@contextmanager
def pretrained_run(game: str, registry: Registry, rom: Path | None = None) -> Iterator[Run]:
    """Yield a run in a temporary folder whose one checkpoint acts as the policy that a game comes with.

    Args:
        game: its name, or the folder of its profile.
        registry: where plugins are looked up.
        rom: the game's image, where its profile has none.
    """
    pretrained = find_pretrained(game, registry)
    name = pretrained.name
    settings = pretrained.settings(registry)
    if rom is not None:
        settings = settings.changed({"rom_path": rom}, may_change=("rom_path",))
    score = pretrained.score()
    with tempfile.TemporaryDirectory(prefix="pkmn-") as folder:
        run = create_run(Path(folder), name, settings.train.rl, f"{FOLDER}-{name}")
        with WorkerPool(worker_spec(settings, registry, Purpose.EVALUATION, num_envs=1)) as pool:
            differing = [key for key, value in score["identity"].items() if pool.identity.get(key) != value]
            if differing:
                say(f"pretrained {name} was measured with another {', '.join(differing)}: it may do worse here")
            learner: Any = build_learner(settings, registry, pool, total_steps=1, num_envs=settings.train.envs)
            try:
                learner.take_weights(pretrained.weights())
            except CheckpointError:
                raise RunError(
                    f"the pretrained policy of {name} was made for other observations than this version shows: use "
                    "the version of pkmncli that it came with"
                ) from None
            pool.reset()
            write_json(run.names_file, names_of(pool))
            checkpoint = Checkpoint(
                step=int(score["steps"]),
                learner=learner.state_dict(),
                trainer=TrainerState(arbiter={"trust": 0.0}),
                workers=tuple(pool.save()),
            )
        write_atomic(run.config_file, settings.to_toml(run.folder))
        write_checkpoint(run.checkpoints.path(checkpoint.step), checkpoint, ())
        run.checkpoints.record(checkpoint.step)
        yield run


def open_agent(
    context: Any,
    run: str | None,
    save_dir: Path | None,
    registry: Registry,
    pretrained: str | None,
    rom: Path | None,
    tell: Callable[[str], None],
) -> Run:
    """Return the run of a command: one in its folder, or a temporary one of a game's own policy.

    Args:
        context: the command's, as Typer has it.
        run: name or folder of a run; the latest without.
        save_dir: folder of the run folders.
        registry: where plugins are looked up.
        pretrained: the game whose policy is wanted instead.
        rom: with ``pretrained`` that game's image, where its profile has none.
        tell: takes a line before what takes seconds.

    Raises:
        ConfigurationError: both a run and a game are given, or there is no such policy.
        RunError: there is no such run.
    """
    if pretrained is None:
        return open_run(run, save_dir)
    if run is not None:
        raise ConfigurationError(f"--pretrained {pretrained} is no run's: leave out {run}")
    tell(f"Loading the policy that comes with {pretrained}.")
    found: Run = context.with_resource(pretrained_run(pretrained, registry, rom))
    return found


def play_for_show(
    run: Run,
    registry: Registry,
    episodes: int,
    on_step: Callable[[int, float], None],
    interrupted: Callable[[], bool],
) -> None:
    """Let a run's learner play alone from held-out starts, and keep the episodes as an evaluation of the run.

    ``on_step`` is that of :func:`pkmncli.training.evaluation.evaluation.evaluate`.
    """
    settings = run_settings(run, registry)
    folder = run.checkpoints.resolve()
    with WorkerPool(side_by_side_spec(settings, registry, num_envs=min(ENVIRONMENTS, episodes))) as pool:
        learner = build_learner(settings, registry, pool, total_steps=1, num_envs=settings.train.envs)
        learner.load_state_dict(read_checkpoint(folder).learner)
        seed = settings.train.seed
        played = evaluate(pool, LearnerPolicy(learner), episodes, seed=seed, on_step=on_step, interrupted=interrupted)
    result = {"run": run.name, "checkpoint": folder.name, "mode": AgentMode.RL_ONLY.value}
    keep_evaluation(run, registry, result, played)

"""Command `pkmn multimodel`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pkmn_multimodel.libraries import require_libraries
from pkmncli.api import RunInfo, find_run, runs
from pkmncli.api.ray_cluster import check_address, require_ray
from pkmncli.errors import ConfigurationError, LLMConnectionError

if TYPE_CHECKING:
    from pkmn_multimodel.games.text_game import TextGame
    from pkmn_multimodel.settings import MultiModelConfig
    from pkmn_multimodel.training import Training

app = typer.Typer(no_args_is_help=True, help="Train several language models together.", rich_markup_mode=None)


@app.command()
def train(
    resume: Annotated[str | None, typer.Option(metavar="RUN", help="Resume this run.")] = None,
    models: Annotated[int | None, typer.Option(help="Models that play together. [default: 4]")] = None,
    environment: Annotated[str | None, typer.Option(help="Game. [default: coop-compete]")] = None,
    mode: Annotated[
        str | None, typer.Option(help="cooperative, competitive, mixed or hierarchical. [default: mixed]")
    ] = None,
    update: Annotated[
        str | None, typer.Option(help="synchronized, asynchronous, federated or selective. [default: asynchronous]")
    ] = None,
    episodes: Annotated[int | None, typer.Option(help="Games in all. [default: 1,000]")] = None,
    base: Annotated[
        str | None, typer.Option(help="Base model: a folder, a name in the local cache, tiny, or auto.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="Place of games and updates: in-process, ray or sharded. [default: in-process]")
    ] = None,
    actors: Annotated[
        int | None, typer.Option(help="Parts of a batch, each in an actor if the engine has some. [default: 1]")
    ] = None,
    ray_address: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Ray cluster. [default: a local one, for this training]")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Settings file, TOML or JSON.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Any setting, as multimodel.rank=4; repeatable.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random. [default: 0]")] = None,
    run_name: Annotated[str | None, typer.Option(help="Name of the run folder.")] = None,
    save_dir: Annotated[Path | None, typer.Option(help="Folder for run folders. [default: runs]")] = None,
) -> None:
    """Train language models together on a game."""
    own = {
        "num_models": models,
        "environment": environment,
        "training_mode": mode,
        "weight_update_strategy": update,
        "max_episodes": episodes,
        "base": base,
        "engine": engine,
        "actors": actors,
        "ray_address": ray_address,
    }
    require_libraries()
    if resume is not None:
        from pkmn_multimodel.recording import MAY_CHANGE  # noqa: PLC0415 - imports numpy

        which = None if resume == "latest" else resume
        begun = runs.resume(which, "multimodel", own, sets=set_, may_change=MAY_CHANGE, save_dir=save_dir)
    else:
        begun = runs.start(
            *("multimodel", own),
            config=config,
            sets=set_,
            seed=seed,
            run_name=run_name,
            save_dir=save_dir,
            check=_check,
        )
    with begun as run, ExitStack() as cleanup:
        from pkmn_multimodel.recording import RecordedTraining, summary_of  # noqa: PLC0415 - imports numpy

        typer.echo(f"Writing to {run.folder}. Loading the models.")
        training = cleanup.enter_context(closing(training_of(run.settings, run.seed, run.tell)))
        training.start()
        recorded = RecordedTraining(run, training, _show)
        recorded.resume_or_begin()
        while training.episodes < training.settings.max_episodes and not run.stop_requested:
            try:
                recorded.one_batch()
            except TimeoutError as error:
                recorded.save()
                raise ConfigurationError(
                    f"{error}; the run is saved: raise multimodel.episode_timeout_s and resume"
                ) from None
            except LLMConnectionError as error:
                recorded.save()
                raise LLMConnectionError(
                    f"{error}. The run is saved; afterwards: pkmn multimodel train --resume {run.folder.name}"
                ) from None
        recorded.save()
        run.finish(summary_of(training, recorded.last))
        if not run.stop_requested and not any(training.population.version_of(name).number for name in training.names):
            run.tell(
                "Nothing was learned: no adapter was updated in so few games. Give more --episodes, a smaller "
                "multimodel.batch_size, or --update synchronized."
            )
        typer.echo(f"{training.episodes:,} games. The run is in {run.folder}. Next: pkmn plot, pkmn eval")
    raise typer.Exit(run.exit_code)


@app.command()
def status(
    run: Annotated[str | None, typer.Argument(help="Run folder or name. [default: the latest]")] = None,
    save_dir: Annotated[Path | None, typer.Option(help="Folder of run folders. [default: runs]")] = None,
) -> None:
    """Print the state of a run's models as JSON."""
    from pkmn_multimodel.recording import nested  # noqa: PLC0415 - imports numpy

    state = nested(runs.read_state(_own(run, save_dir).folder))
    versions = state["population"]["versions"]
    shown = {
        "games": state["episodes"],
        "adapters": {name: {"updates": updates, "hash": digest} for name, (updates, digest) in versions.items()},
    }
    if "league" in state:
        from pkmn_multimodel.league import results_of, table  # noqa: PLC0415 - imports numpy

        shown["league"] = {"past": dict(state["league"]["names"]), **table(results_of(state["league"]))}
    typer.echo(json.dumps(shown, indent=2))


@app.command()
def checkpoints(
    run: Annotated[str | None, typer.Argument(help="Run folder or name. [default: the latest]")] = None,
    save_dir: Annotated[Path | None, typer.Option(help="Folder of run folders. [default: runs]")] = None,
) -> None:
    """List the checkpoints of a run, the newest last."""
    for folder in sorted((_own(run, save_dir).folder / "checkpoints").iterdir()):
        if folder.is_dir() and not folder.name.startswith("."):
            typer.echo(folder.name)


@app.command()
def bench(
    runs: Annotated[int, typer.Option(min=1, help="Runs, each with its own seed.")] = 10,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes of a run.")] = 200,
    coop_level: Annotated[float, typer.Option(min=0, max=1, help="Share of the mean of both in a reward.")] = 0.5,
    difficulty: Annotated[
        float, typer.Option(min=0, max=1, help="0: the opponent repeats itself; 1: it is random.")
    ] = 0.5,
    as_json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")] = False,
) -> None:
    """Compare two policies in a game of numbers.

    One models its opponent, the other is a plain policy gradient.
    """
    from pkmn_multimodel.benchmark import run_benchmark  # noqa: PLC0415 - imports numpy

    found = run_benchmark(runs, episodes, coop_level, difficulty)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    for name in ("simple_pg", "our_method", "difference"):
        it = found[name]
        ends = "" if it["low"] is None else f" ({it['low']:.2f} to {it['high']:.2f})"
        typer.echo(f"{name.replace('_', ' ')}: {it['score']:.2f}{ends}")
    typer.echo(f"Mean of {runs:,} runs: 0 is chance, 1 the best policy. In brackets: 95% bootstrap intervals.")


def training_of(settings: MultiModelConfig, seed: int, tell: Any = lambda text: None) -> Training:
    """Return a training by its settings."""
    require_libraries()
    from pkmn_multimodel.training import Training  # noqa: PLC0415 - imports torch and transformers

    return Training(settings, _game_of(settings), seed, tell)


def evaluate(run: RunInfo, state: Mapping[str, Any], episodes: int, seed: int) -> Mapping[str, float]:
    """Return what the models of a checkpoint reach in games of held-out seeds, with their likeliest replies."""
    from pkmn_multimodel.recording import nested  # noqa: PLC0415 - imports numpy
    from pkmn_multimodel.settings import MultiModelConfig  # noqa: PLC0415
    from pkmn_multimodel.training import metrics_of  # noqa: PLC0415 - imports torch and transformers

    settings = MultiModelConfig(**run.settings["multimodel"] | {"engine": "in-process"})
    with closing(training_of(settings, int(run.settings[""].get("seed", 0)))) as training:
        training.load_state_dict(nested(state))
        found = metrics_of(training.evaluate(episodes, seed))
    return {"avg_reward": found.pop("reward"), **found}


def _game_of(settings: MultiModelConfig) -> Callable[[], TextGame]:
    from pkmn_multimodel.games.catalog import game_maker  # noqa: PLC0415 - imports numpy and pettingzoo

    return game_maker(settings.environment.value, settings.num_models, settings.environment_args)


def _check(settings: MultiModelConfig) -> None:
    """Raise ConfigurationError if there is no such game, or its engine can't be used here."""
    _game_of(settings)
    if settings.engine == "sharded":
        from pkmn_multimodel.sharded_engine import check_shards  # noqa: PLC0415 - imports torch

        check_shards(settings)
    if settings.engine == "ray":
        require_ray("engine = ray")
        if settings.ray_address is not None:
            check_address(settings.ray_address)


def _own(run: str | None, save_dir: Path | None) -> RunInfo:
    found = find_run(run, save_dir)
    if "multimodel" not in found.settings:
        raise ConfigurationError(f"run {found.folder} was not made by `pkmn multimodel train`")
    return found


def _show(metrics: dict[str, float]) -> None:
    typer.echo(
        f"score {metrics['multimodel/score']:.2f}, valid replies {metrics['multimodel/valid_replies']:.0%}, "
        f"reward {metrics['multimodel/reward']:.2f}"
    )

"""Command `pkmn train`: train an agent, or resume a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from pkmncli.api import Source, quoted_path
from pkmncli.command_forms import with_examples
from pkmncli.commands.settings_options import given_settings, with_settings_options
from pkmncli.config import MAY_CHANGE, NONE, ResolvedSettings, resolve_settings
from pkmncli.config.option import Heading
from pkmncli.diagnostics import say, tell_result
from pkmncli.errors import ConfigurationError, EnvironmentSetupError, PkmnError, RunError
from pkmncli.llm.summary_line import advice_line, model_lines
from pkmncli.plugins import Registry, get_registry
from pkmncli.plurals import counted, whole_percents
from pkmncli.replay.filmed_evaluation import can_film, film_learner_alone
from pkmncli.runs import default_save_dir, open_run
from pkmncli.standard_streams import output_is_extra
from pkmncli.tables import commands_to_copy, prose
from pkmncli.training.compatibility import check_live_page, prepare_settings
from pkmncli.training.display.console import ConsoleProgress
from pkmncli.training.display.estimate import duration
from pkmncli.training.display.status import DECIDED_BY
from pkmncli.training.display.verdict import rows_of, table_lines
from pkmncli.training.interrupts import stop_with_whoever_began_this
from pkmncli.training.recording.journey import Journey, in_words, milestones_ahead, play_time
from pkmncli.training.run_settings import run_settings
from pkmncli.training.session import Outcome, TrainingSession, larger_budget

_MOST_AHEAD = 3
"""Maximum milestones ahead that are named."""

_NAMED_ANEW = ("save_dir", "rom_path", "game_folder")
"""Options that say where a resumed run's files are now."""


@with_examples(
    ("pkmn train --steps 20000", "DQN and the rules on the bundled game, about two minutes."),
    ("pkmn train --env gym:CartPole-v1 --rl ppo --envs 4", "PPO on any environment of Gymnasium."),
    ("pkmn train --resume --steps 40000", "The latest run, up to 40,000 steps."),
)
@with_settings_options
def train(
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="With --resume: the run to resume; [default: latest]")
    ] = None,
    *,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume a run exactly where it was saved.", rich_help_panel=Heading.SAVING)
    ] = False,
    no_rl: Annotated[
        bool,
        typer.Option("--no-rl", "--no-dqn", help="No learner: the pilot plays alone.", rich_help_panel=Heading.LEARNER),
    ] = False,
    config: Annotated[
        Path | None, typer.Option(help="Settings file, TOML or JSON.", rich_help_panel=Heading.SETTINGS)
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A plugin's setting, as dqn.learning_rate=1e-4; repeatable.",
            rich_help_panel=Heading.SETTINGS,
        ),
    ] = None,
    **options: Any,
) -> None:
    """Train an agent. Without options: DQN and the pilot on the bundled game, a few minutes."""
    given = given_settings(options)
    if no_rl:
        given["rl"] = NONE
    if given["web"] is None and given["web_port"] is not None:
        given["web"] = True
    stop_with_whoever_began_this()
    output_is_extra()
    registry = get_registry()
    if not resume:
        if run is not None:
            raise ConfigurationError(f"to resume a run, write: pkmn train --resume {run}")
        settings = resolve_settings(given, registry=registry, config_path=config, sets=set_ or ())
        settings = prepare_settings(settings, registry)
        progress = ConsoleProgress(quiet=settings.train.quiet)
        outcome = TrainingSession(settings, registry, sys.argv, progress).start()
    else:
        if config is not None:
            raise ConfigurationError("a resumed run keeps its own settings: leave out --config")
        outcome = _resume(run, given, set_ or [], registry)
    _show_results(outcome)
    ended_by, pictures = (outcome.exit_code, True) if outcome.exit_code else _film(outcome, registry)
    _show_next_steps(outcome, registry, pictures=pictures)
    if ended_by:
        raise typer.Exit(ended_by)


def _resume(which: str | None, options: Mapping[str, Any], sets: list[str], registry: Registry) -> Outcome:
    run = open_run(which, options["save_dir"])
    own = run_settings(run, registry, rom=options["rom_path"], game_folder=options["game_folder"])
    options = {name: value for name, value in options.items() if name not in _NAMED_ANEW}
    settings = own.changed(options, may_change=MAY_CHANGE, sets=sets)
    check_live_page(settings, registry)
    progress = ConsoleProgress(quiet=settings.train.quiet)
    return TrainingSession(settings, registry, sys.argv, progress).go_on(run)


def _film(outcome: Outcome, registry: Registry) -> tuple[int, bool]:
    """Film the learner alone if an episode of the final evaluation reached something.

    Return the exit code, and False if the environment draws no pictures.

    The training's results are shown before, so that they are not lost if filming is interrupted or fails.
    """
    settings = ResolvedSettings.from_run(outcome.run.folder, registry)
    if outcome.evaluation is None or not settings.train.film or not can_film():
        return 0, True
    tell: Callable[[str], None] = typer.echo if not settings.train.quiet else lambda text: None
    try:
        film = film_learner_alone(outcome.run, settings, registry, outcome.evaluation, tell=tell)
    except (PkmnError, OSError) as error:
        say(f"The film was not made, and the run is saved: {error}")
        return 0, not isinstance(error, EnvironmentSetupError)
    except typer.Exit as interrupted:
        say("The film was not made, and the run is saved.")
        return interrupted.exit_code, True
    else:
        if film is not None:
            typer.echo(f"Watch it play: {film}")
    return 0, True


def _alone_lines(summary: Mapping[str, Any]) -> list[str]:
    """Return the lines on the learner alone, from the final evaluation."""
    if "verdict" not in summary:
        return []
    return ["", summary["verdict"], *table_lines(rows_of(summary), "  ")]


def _show_results(outcome: Outcome) -> None:
    """Print the results of the training."""
    summary = outcome.summary
    average = summary["final_avg_reward"]
    lines = [
        f"{counted(summary['total_steps'], 'step')} in {counted(summary['total_episodes'], 'episode')}, "
        f"{duration(summary['elapsed_s'])} at {summary['steps_per_second'] or 0:.0f} steps/s.",
    ]
    if average is not None:
        lines.append(
            f"Reward in training: {average:,.1f} on average over the last episodes, "
            f"{summary['best_reward']:,.1f} at best."
        )
    if not summary["total_steps"]:
        lines = ["No step was taken."]
    shares = {name: share for name, share in summary["source_shares"].items() if share}
    if shares:
        percents = zip(shares, whole_percents(list(shares.values())), strict=True)
        decided = ", ".join(f"{DECIDED_BY[Source[name.upper()]]} {percent}%" for name, percent in percents)
        lines.append(f"Decided by: {decided}.")
    if summary["workers_lost"]:
        lines.append(f"Workers lost and replaced: {summary['workers_lost']:,}. The run's log.txt says why.")
    if "llm" in summary:
        lines += [advice_line(summary["llm"]), *model_lines(summary["llm"])]
    typer.echo(
        prose("\n".join([*lines, *_milestone_lines(summary), *_ahead(outcome), *_alone_lines(summary)]), indent="  ")
    )


def _show_next_steps(outcome: Outcome, registry: Registry, *, pictures: bool) -> None:
    """Print the run's folder, and commands for what can be done with it."""
    summary, run = outcome.summary, outcome.run.folder
    train = ResolvedSettings.from_run(run, registry).train
    if outcome.exit_code:
        lines = ["", "Interrupted, and saved. Resume with:", f"  pkmn train --resume {quoted_path(run)}"]
    else:
        which = "" if run.parent == default_save_dir().absolute() else f" {quoted_path(run)}"
        learned = summary["source_shares"]["rl"] + summary["source_shares"]["explore"] > 0
        films = {f"pkmn replay{which} --video best.mp4": "the training's best episode as a film"}
        if learned:
            steps = {} if "verdict" in summary else {f"pkmn eval{which}": "how good the learner is alone"}
            steps[f"pkmn watch{which}"] = "watch the learner play alone"
        else:
            steps = {f"pkmn eval{which} --mode llm-only": "how good the rules are"} if train.pilot != NONE else {}
        steps |= films if pictures and summary["total_episodes"] else {}
        steps |= {
            f"pkmn analyze-patterns{which}": "what was done where, and what it brought",
            f"pkmn train --resume{which} {larger_budget(train, summary)}": "play on"
            if train.rl == NONE
            else "train on",
        }
        lines = ["", prose(f"The run is in {run}. Next:"), commands_to_copy(list(steps.items()))]
    tell_result("\n".join(lines))


def _ahead(outcome: Outcome) -> list[str]:
    """Return a line with the next milestones by name, up to the goal."""
    summary = outcome.summary
    try:
        names = outcome.run.read_names()
    except RunError:
        return []
    running = summary["journey"]["milestones"] if summary["journey"] else ()
    reached = {*summary["milestones"], *(one["name"] for one in running)}
    found = milestones_ahead(names.get("milestones", ()), reached, names.get("goal"))
    if not reached or not found:
        return []
    more = f" and {len(found) - _MOST_AHEAD:,} more" if len(found) > _MOST_AHEAD else ""
    return [f"Ahead: {', '.join(found[:_MOST_AHEAD])}{more}."]


def _milestone_lines(summary: Mapping[str, Any]) -> list[str]:
    """Return lines on the furthest point and the first step of each milestone, unfinished episodes included."""
    journey = None if summary["journey"] is None else Journey.from_dict(summary["journey"])
    lines = [] if journey is None or not journey.steps or not journey.total else [f"Got furthest: {in_words(journey)}."]
    on_the_way = () if journey is None or journey.ended else journey.milestones
    running = {one.name: one for one in on_the_way if one.name not in summary["milestones"]}
    width = max(map(len, [*summary["milestones"], *running]), default=0)
    for name, reached in summary["milestones"].items():
        episodes, first = counted(reached["episodes"], "episode"), reached["first_step"]
        lines.append(f"  {name:{width}}  in {episodes}, first at step {first:,}")
    for name, one in running.items():
        assert journey is not None
        played_s = None if one.frame is None else one.frame / journey.frames_per_second
        played = "" if played_s is None else f", {play_time(played_s, seconds=True)} played"
        lines.append(f"  {name:{width}}  at step {one.step:,} of the running episode{played}")
    return lines

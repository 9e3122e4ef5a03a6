"""`pkmn train`: trains an agent, or goes on with a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from pkmncli.config import MAY_CHANGE, NONE, ResolvedSettings, TrainSettings, resolve_settings
from pkmncli.config.resolved import DEFAULT
from pkmncli.diagnostics import say, tell_result
from pkmncli.errors import ConfigurationError, PkmnError
from pkmncli.llm.closing import advice_line
from pkmncli.plugins import Registry, get_registry
from pkmncli.replay.filmed_evaluation import can_film, film_learner_alone
from pkmncli.runs import default_save_dir, open_run
from pkmncli.standard_streams import output_is_extra
from pkmncli.training.assembly import check_parts, unread_settings
from pkmncli.training.display.console import ConsoleProgress
from pkmncli.training.display.estimate import duration
from pkmncli.training.display.verdict import rows_of, table_lines
from pkmncli.training.interrupts import stop_with_whoever_began_this
from pkmncli.training.parts_fit import fit_parts
from pkmncli.training.recording.journey import Journey, in_words, play_time
from pkmncli.training.run_settings import run_settings
from pkmncli.training.session import Outcome, TrainingSession, larger_budget, quoted

_READ_WITH_A_MODEL = ("max_context_length", "strategy", "initial_strategy")
"""Settings beside those of ``llm_...`` that only a training with a language model reads."""

_NAMED_ANEW = ("save_dir", "rom_path", "game_folder")
"""Options that say where a run that goes on finds what it has already."""

OPTION_NAMES = {
    "rom_path": "--rom",
    "reward": "--reward",
    "llm_prices": "--llm-price",
    "track": "--track",
    "curriculum.enabled": "--curriculum/--no-curriculum",
    "web": "--dashboard/--no-web",
}


def train(
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="With --resume: the run to go on with; by default the latest.")
    ] = None,
    *,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run exactly where it was saved.")] = False,
    rom: Annotated[
        Path | None, typer.Option(readable=False, help="Cartridge image. [default: the bundled game]")
    ] = None,
    game: Annotated[str | None, typer.Option(help="Game profile. [default: told by the image]")] = None,
    game_folder: Annotated[Path | None, typer.Option(help="Folder of a game profile of your own.")] = None,
    force_rom: Annotated[
        bool, typer.Option("--force-rom", help="Go on with an image that the profile does not know, at your own risk.")
    ] = False,
    rl: Annotated[str | None, typer.Option(help="Learning algorithm: dqn, ppo, a2c; or none. [default: dqn]")] = None,
    preset: Annotated[
        str | None, typer.Option(help="Settings to begin from: a preset of the learner, or a preset's file.")
    ] = None,
    no_rl: Annotated[bool, typer.Option("--no-rl", "--no-dqn", help="No learner: the pilot plays alone.")] = False,
    llm: Annotated[str | None, typer.Option(help="Language model backend, or none. [default: none]")] = None,
    llm_model: Annotated[str | None, typer.Option(help="Language model. [default: the backend's choice]")] = None,
    llm_interval: Annotated[int | None, typer.Option(help="Steps between requests for advice. [default: 30]")] = None,
    llm_wait: Annotated[
        bool | None, typer.Option("--llm-wait", help="Wait for each answer: slow, but the same every time.")
    ] = None,
    llm_optional: Annotated[
        bool | None, typer.Option("--llm-optional", help="Go on without a model that can't be reached.")
    ] = None,
    llm_vision: Annotated[
        bool | None, typer.Option("--llm-vision", help="Send the screen to a model that sees.")
    ] = None,
    llm_cache: Annotated[str | None, typer.Option(help="Replies on disk: off, read, readwrite or only.")] = None,
    llm_cache_path: Annotated[Path | None, typer.Option(help="File of the replies.")] = None,
    llm_prompt: Annotated[Path | None, typer.Option(help="Prompt template of your own.")] = None,
    lessons_file: Annotated[
        Path | None,
        typer.Option(help="Lessons of earlier runs for the prompt, from pkmn analyze-patterns --show advice."),
    ] = None,
    llm_timeout_s: Annotated[
        float | None, typer.Option(help="Seconds until a request for advice is given up. [default: 30]")
    ] = None,
    llm_load_timeout_s: Annotated[
        float | None,
        typer.Option(help="Seconds for the first answer, while the model loads. [default: ten times --llm-timeout-s]"),
    ] = None,
    llm_max_open: Annotated[int | None, typer.Option(help="Requests under way at once, at most. [default: 4]")] = None,
    llm_temperature: Annotated[float | None, typer.Option(help="How freely the model answers. [default: 0]")] = None,
    llm_reply_tokens: Annotated[
        int | None, typer.Option(help="Longest reply, in tokens; models that think need thousands. [default: 300]")
    ] = None,
    llm_price: Annotated[
        list[str] | None,
        typer.Option(help="Price as MODEL=PROMPT/REPLY, dollars a million tokens; may be repeated."),
    ] = None,
    llm_budget_usd: Annotated[float | None, typer.Option(help="Dollars that the model may cost.")] = None,
    llm_budget_tokens: Annotated[int | None, typer.Option(help="Tokens that the model may use.")] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="Share of advice against rules: adaptive, llm-heavy, balanced or rule-heavy. [default: adaptive]"
        ),
    ] = None,
    curriculum: Annotated[
        bool | None,
        typer.Option(
            "--curriculum/--no-curriculum", help="Trust the learner more, stage by stage.", show_default=False
        ),
    ] = None,
    mode: Annotated[
        str | None, typer.Option(help="Who decides: adaptive, rl-only or llm-only. [default: adaptive]")
    ] = None,
    pilot: Annotated[str | None, typer.Option(help="Player by rules, or none. [default: rules]")] = None,
    env: Annotated[str | None, typer.Option(help="Environment: pyboy, gameboy. [default: pyboy]")] = None,
    envs: Annotated[int | None, typer.Option(help="Environments, each in a process of its own. [default: 1]")] = None,
    steps: Annotated[
        int | None, typer.Option("--steps", "--actions", help="Steps over all environments. [default: 60,000]")
    ] = None,
    episodes: Annotated[int | None, typer.Option(help="Episodes; the first budget used up ends the training.")] = None,
    max_steps_per_episode: Annotated[int | None, typer.Option(help="Steps after which an episode is cut off.")] = None,
    goal: Annotated[
        str | None, typer.Option(help="Milestone that ends an episode; first or last of the game. [default: first]")
    ] = None,
    demonstrations: Annotated[
        list[str] | None,
        typer.Option(metavar="RUN", help="Earlier run whose episodes the learner is shown first; may be repeated."),
    ] = None,
    pretrain_steps: Annotated[
        int | None, typer.Option(help="Updates on what it was shown, before the learner decides anything. [default: 0]")
    ] = None,
    start_from: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Begin with the weights of RUN, RUN:best, or pretrained[:GAME]."),
    ] = None,
    init_state: Annotated[
        Path | None, typer.Option(readable=False, help="Saved state in which every episode begins.")
    ] = None,
    cartridge: Annotated[
        Path | None,
        typer.Option(readable=False, metavar="FILE", help="Battery save in whose saved game every episode begins."),
    ] = None,
    reward: Annotated[
        list[str] | None, typer.Option(help="Part of the reward as NAME or NAME=WEIGHT; may be repeated.")
    ] = None,
    observation_type: Annotated[
        str | None, typer.Option(help="goal, goal_screen, multi_modal, screen or state. [default: what learns best]")
    ] = None,
    goals: Annotated[
        str | None, typer.Option(help="Who says what the learner's goals are: rules or none. [default: rules]")
    ] = None,
    knowledge: Annotated[
        str | None,
        typer.Option(help="What ways are planned with: cartridge, or only what was seen. [default: cartridge]"),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random. [default: 0]")] = None,
    device: Annotated[str | None, typer.Option(help="Where the learner computes: auto, cpu, cuda or mps.")] = None,
    torch_threads: Annotated[
        int | None, typer.Option(help="Threads of the learner; results differ between numbers. [default: 1]")
    ] = None,
    save_dir: Annotated[Path | None, typer.Option(help="Folder for run folders. [default: runs]")] = None,
    run_name: Annotated[str | None, typer.Option(help="Name of the run folder.")] = None,
    save_interval: Annotated[int | None, typer.Option(help="Steps between checkpoints. [default: 10,000]")] = None,
    eval_interval: Annotated[int | None, typer.Option(help="Steps between evaluations of the learner alone.")] = None,
    eval_episodes: Annotated[int | None, typer.Option(help="Episodes of such an evaluation. [default: 10]")] = None,
    final_episodes: Annotated[
        int | None,
        typer.Option(
            help="Episodes of the learner alone at the end, beside the pilot and random play; 0 for none. [default: 10]"
        ),
    ] = None,
    film: Annotated[
        bool | None, typer.Option("--film/--no-film", help="Film the best of them.", show_default=False)
    ] = None,
    keep_checkpoints: Annotated[int | None, typer.Option(help="Newest checkpoints kept. [default: 3]")] = None,
    disk_limit_gb: Annotated[float | None, typer.Option(help="Most that the run may write, in GB.")] = None,
    track: Annotated[
        list[str] | None,
        typer.Option(help="Where metrics go too: tensorboard, wandb, or none; repeatable. [default: tensorboard]"),
    ] = None,
    log_level: Annotated[str | None, typer.Option(help="DEBUG, INFO, WARNING or ERROR, for log.txt.")] = None,
    headless: Annotated[
        bool | None, typer.Option("--headless/--no-headless", help="Without a window, or with one.", show_default=False)
    ] = None,
    dashboard: Annotated[
        bool | None,
        typer.Option("--dashboard/--no-web", help="Show the training on a live page.", show_default=False),
    ] = None,
    web_port: Annotated[
        int | None, typer.Option(help="Show it there; the next free port where it is taken. [default: 8080]")
    ] = None,
    web_host_name: Annotated[
        list[str] | None,
        typer.Option(help="Name that a proxy has the page under, which then asks for a token; repeatable."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show only errors and the result.")] = False,
    config: Annotated[Path | None, typer.Option(help="Settings file, TOML or JSON.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A plugin's setting, as dqn.learning_rate=1e-4; repeatable.")
    ] = None,
) -> None:
    """Train an agent. Without options: DQN and the pilot on the bundled game, a few minutes."""
    options = {
        "rom_path": rom,
        "game": game,
        "game_folder": game_folder,
        "force_rom": force_rom or None,
        "rl": NONE if no_rl else rl,
        "preset": preset,
        "llm": llm,
        "llm_model": llm_model,
        "llm_interval": llm_interval,
        "llm_wait": llm_wait,
        "llm_optional": llm_optional,
        "llm_vision": llm_vision,
        "llm_cache": llm_cache,
        "llm_cache_path": llm_cache_path,
        "llm_prompt": llm_prompt,
        "lessons_file": lessons_file,
        "llm_timeout_s": llm_timeout_s,
        "llm_load_timeout_s": llm_load_timeout_s,
        "llm_max_open": llm_max_open,
        "llm_temperature": llm_temperature,
        "llm_reply_tokens": llm_reply_tokens,
        "llm_prices": llm_price or None,
        "llm_budget_usd": llm_budget_usd,
        "llm_budget_tokens": llm_budget_tokens,
        "strategy": strategy,
        "curriculum.enabled": curriculum,
        "mode": mode,
        "pilot": pilot,
        "env": env,
        "envs": envs,
        "steps": steps,
        "episodes": episodes,
        "max_steps_per_episode": max_steps_per_episode,
        "goal": goal,
        "demonstrations": demonstrations or None,
        "pretrain_steps": pretrain_steps,
        "start_from": start_from,
        "init_state": init_state,
        "cartridge": cartridge,
        "reward": reward or None,
        "observation_type": observation_type,
        "goals": goals,
        "knowledge": knowledge,
        "seed": seed,
        "device": device,
        "torch_threads": torch_threads,
        "save_dir": save_dir,
        "run_name": run_name,
        "save_interval": save_interval,
        "eval_interval": eval_interval,
        "eval_episodes": eval_episodes,
        "final_episodes": final_episodes,
        "film": film,
        "keep_checkpoints": keep_checkpoints,
        "disk_limit_gb": disk_limit_gb,
        "track": track or None,
        "log_level": log_level,
        "headless": headless,
        "web": True if dashboard is None and web_port is not None else dashboard,
        "web_port": web_port,
        "web_host_name": web_host_name or None,
        "quiet": quiet or None,
    }
    stop_with_whoever_began_this()
    output_is_extra()
    registry = get_registry()
    if not resume:
        if run is not None:
            raise ConfigurationError(f"to go on with a run, write: pkmn train --resume {run}")
        settings = resolve_settings(
            options, registry=registry, config_path=config, sets=set_ or (), option_names=OPTION_NAMES
        )
        settings = fit_parts(settings, registry)
        check_parts(settings)
        _check_page(settings, registry)
        _tell_what_has_no_effect(settings, registry)
        progress = ConsoleProgress(quiet=settings.train.quiet)
        outcome = TrainingSession(settings, registry, sys.argv, progress).start()
    else:
        if config is not None:
            raise ConfigurationError("a run that goes on keeps its own settings: leave out --config")
        outcome = _resume(run, save_dir, options, set_ or [], registry)
    _show_results(outcome)
    ended_by = outcome.exit_code or _film(outcome, registry)
    _show_next_steps(outcome, registry)
    if ended_by:
        raise typer.Exit(ended_by)


def _resume(
    which: str | None, save_dir: Path | None, options: Mapping[str, Any], sets: list[str], registry: Registry
) -> Outcome:
    run = open_run(which, save_dir)
    own = run_settings(run, registry, rom=options["rom_path"], game_folder=options["game_folder"])
    options = {name: value for name, value in options.items() if name not in _NAMED_ANEW}
    settings = own.changed(options, may_change=MAY_CHANGE, sets=sets, option_names=OPTION_NAMES)
    _check_page(settings, registry)
    progress = ConsoleProgress(quiet=settings.train.quiet)
    return TrainingSession(settings, registry, sys.argv, progress).go_on(run)


def _check_page(settings: ResolvedSettings, registry: Registry) -> None:
    """Refuses to train with a live page that nothing could serve. Raises PluginError."""
    if settings.train.web:
        registry.get("commands", "dashboard").load()


def _tell_what_has_no_effect(settings: ResolvedSettings, registry: Registry) -> None:
    """Settings that the documents name are taken, but say so where nothing in this training reads them."""
    chosen = [
        name
        for name in (*(name for name in TrainSettings.model_fields if name.startswith("llm_")), *_READ_WITH_A_MODEL)
        if settings.origins[name] != DEFAULT
    ]
    if chosen and settings.train.llm == NONE:
        say(f"{', '.join(chosen)}: no effect, since no language model is chosen (--llm)")
    unread = [name for name in unread_settings(settings, registry) if settings.origins[name] != DEFAULT]
    if unread:
        say(f"{', '.join(unread)}: no effect, since the environment {settings.train.env} has no such setting")
    page = [name for name in ("web_port", "web_host_name") if settings.origins[name] != DEFAULT]
    if page and not settings.train.web:
        say(f"{', '.join(page)}: no effect, since no live page is asked for (--dashboard)")


def _film(outcome: Outcome, registry: Registry) -> int:
    """Film the learner alone, where the final evaluation had an episode that reached something; return the exit code.

    It comes after what the training found, so that nothing of that is lost with a film that is interrupted or fails.
    """
    settings = ResolvedSettings.from_run(outcome.run.folder, registry)
    if outcome.evaluation is None or not settings.train.film or not can_film():
        return 0
    tell: Callable[[str], None] = typer.echo if not settings.train.quiet else lambda text: None
    try:
        film = film_learner_alone(outcome.run, settings, registry, outcome.evaluation, tell=tell)
    except (PkmnError, OSError) as error:
        say(f"The film was not made, and the run is saved: {error}")
    except typer.Exit as interrupted:
        say("The film was not made, and the run is saved.")
        return interrupted.exit_code
    else:
        if film is not None:
            typer.echo(f"Watch it play: {film}")
    return 0


def _alone_lines(summary: Mapping[str, Any]) -> list[str]:
    """Return the lines on the learner alone, from the final evaluation."""
    if "verdict" not in summary:
        return []
    return ["", summary["verdict"], *(f"  {line}" for line in table_lines(rows_of(summary)))]


def _show_results(outcome: Outcome) -> None:
    """Say what the training came to."""
    summary = outcome.summary
    average = summary["final_avg_reward"]
    lines = [
        f"{summary['total_steps']:,} steps in {summary['total_episodes']:,} episodes, "
        f"{duration(summary['elapsed_s'])} at {summary['steps_per_second'] or 0:.0f} steps/s.",
    ]
    if average is not None:
        lines.append(
            f"Reward in training: {average:,.1f} on average over the last episodes, "
            f"{summary['best_reward']:,.1f} at best."
        )
    if not summary["total_steps"]:
        lines = ["No step was taken."]
    shares = [f"{name} {share:.0%}" for name, share in summary["source_shares"].items() if share]
    if shares:
        lines.append(f"Decided by: {', '.join(shares)}.")
    if "llm" in summary:
        lines.append(advice_line(summary["llm"]))
    typer.echo("\n".join([*lines, *_milestone_lines(summary), *_alone_lines(summary)]))


def _show_next_steps(outcome: Outcome, registry: Registry) -> None:
    """Say where the run is, and what can be done with it."""
    summary, run = outcome.summary, outcome.run.folder
    train = ResolvedSettings.from_run(run, registry).train
    if outcome.exit_code:
        lines = ["", "Interrupted, and saved. Go on with:", f"  pkmn train --resume {quoted(run)}"]
    else:
        which = "" if run.parent == default_save_dir().absolute() else f" {quoted(run)}"
        learned = summary["source_shares"]["rl"] + summary["source_shares"]["explore"] > 0
        if "verdict" in summary:
            steps = {f"pkmn replay{which} --evaluation --terminal": "watch the learner alone"}
        elif learned:
            steps = {f"pkmn eval{which}": "how good the learner is alone"}
        else:
            steps = {f"pkmn eval{which} --mode llm-only": "how good the rules are"}
        steps |= {
            f"pkmn replay{which} --video best.mp4": "the training's best episode as a film",
            f"pkmn analyze-patterns{which}": "what was done where, and what it brought",
            f"pkmn train --resume{which} {larger_budget(train, summary)}": "train on",
        }
        width = max(map(len, steps))
        lines = ["", f"The run is in {run}. Next:", *(f"  {step:{width}}  {why}" for step, why in steps.items())]
    tell_result("\n".join(lines))


def _milestone_lines(summary: Mapping[str, Any]) -> list[str]:
    """Tell how far the training has got, and when each milestone was reached: also by an episode that has not ended."""
    journey = None if summary["journey"] is None else Journey.from_dict(summary["journey"])
    lines = [] if journey is None or not journey.steps else [f"Got furthest: {in_words(journey)}."]
    on_the_way = () if journey is None or journey.ended else journey.milestones
    running = {one.name: one for one in on_the_way if one.name not in summary["milestones"]}
    width = max(map(len, [*summary["milestones"], *running]), default=0)
    for name, reached in summary["milestones"].items():
        lines.append(f"  {name:{width}}  in {reached['episodes']:,} episodes, first at step {reached['first_step']:,}")
    for name, one in running.items():
        assert journey is not None
        played_s = None if one.frame is None else one.frame / journey.frames_per_second
        played = "" if played_s is None else f", {play_time(played_s, seconds=True)} played"
        lines.append(f"  {name:{width}}  at step {one.step:,} of the running episode{played}")
    return lines

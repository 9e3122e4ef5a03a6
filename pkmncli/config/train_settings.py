"""The core's settings of a training. Plugins bring their own models, set under ``[name]``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pkmncli.config.option import Heading, Option
from pkmncli.config.setting_types import (
    NONE,
    AbsolutePath,
    Ensemble,
    FieldTexts,
    HostNames,
    KeywordTexts,
    LogLevel,
    Prices,
    RewardParts,
    StrategyName,
    Texts,
    Trackers,
    UrlFolder,
    WrapperTexts,
    member_of_text,
)

DEFAULT_STEPS = 60_000
"""Default budget of a training, in steps: a few minutes on two cores."""

MAY_CHANGE = (
    "steps",
    "episodes",
    "save_interval",
    "save_interval_episodes",
    "save_interval_minutes",
    "eval_interval",
    "eval_interval_episodes",
    "eval_episodes",
    "final_episodes",
    "film",
    "keep_checkpoints",
    "disk_limit_gb",
    "log_level",
    "envs_per_worker",
    "workers",
    "ray_address",
    "headless",
    "quiet",
    "web",
    "web_port",
    "web_host_name",
    "web_root_path",
    "track",
)
"""Settings that may change when a run resumes: how long and how visibly it trains, not what it does."""


class TrainSettings(BaseModel):
    """Settings of a training: keys of a configuration file, most of them also options of ``pkmn train``."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True, validate_default=True)

    game: Annotated[str | None, Option(Heading.GAME, "Game profile.", default="the game of the image")] = Field(
        None, description="game profile; by default the one that the ROM is of, else quillwood"
    )
    game_folder: Annotated[AbsolutePath | None, Option(Heading.GAME, "Folder of your own game profile.")] = Field(
        None, description="folder of your own game profile, instead of game"
    )
    rom_path: Annotated[
        AbsolutePath | None,
        Option(Heading.GAME, "Cartridge image.", names=("--rom",), default="the bundled game", readable=False),
    ] = Field(None, description="cartridge image; by default the bundled game's")
    force_rom: Annotated[
        bool, Option(Heading.GAME, "Continue with an image that the profile does not know, at your own risk.")
    ] = Field(False, description="continue with a cartridge image that the game profile does not know")
    init_state: Annotated[
        AbsolutePath | None, Option(Heading.GAME, "Saved state in which every episode begins.", readable=False)
    ] = Field(None, description="saved emulator state in which every episode begins")
    cartridge: Annotated[
        AbsolutePath | None,
        Option(Heading.GAME, "Battery save in whose saved game every episode begins.", metavar="FILE", readable=False),
    ] = Field(None, description="file of a cartridge's battery save, in whose saved game every episode begins")
    goal: Annotated[str | None, Option(Heading.GAME, "Milestone that ends an episode; first or last of the game.")] = (
        Field(
            "first",
            min_length=1,
            description="milestone at which an episode ends; first is the game's milestone for a first training, last "
            "the end of the game",
        )
    )

    env: Annotated[str, Option(Heading.GAME, "Environment: pyboy, gameboy, or any of Gymnasium as gym:ID.")] = Field(
        "pyboy", description="environment; gym:ID is the environment of Gymnasium that is registered under the id"
    )
    env_args: Annotated[
        KeywordTexts,
        Option(
            Heading.GAME,
            "Argument of a gym: environment, as KEY=VALUE; repeatable.",
            names=("--env-arg",),
            metavar="KEY=VALUE",
        ),
    ] = Field([], description="arguments that a Gymnasium environment is built with, each key=value")
    wrappers: Annotated[
        WrapperTexts,
        Option(
            Heading.GAME,
            "Wrapper around the environment, as 'module:Class key=value'; repeatable, the innermost first.",
            names=("--wrapper",),
            metavar="WRAPPER",
        ),
    ] = Field([], description="wrappers around the environment, the innermost first, each module:Class key=value ...")
    env_object: str | None = Field(
        None, description="environment object of the script that began the run, which only that script has"
    )
    env_object_digest: str | None = Field(
        None, description="digest of that object's classes and plain attributes, to notice another object at a resume"
    )
    env_class: str | None = Field(
        None,
        pattern=r"^\w+(\.\w+)*:\w+(\.\w+)*$",
        description="your own class derived from the environment's, as package.module:Name",
    )
    pilot: Annotated[str, Option(Heading.DECIDERS, "Player by rules, or none.")] = Field(
        "rules", description="rule-based player beside the learner, or none"
    )
    reward: Annotated[
        RewardParts, Option(Heading.GAME, "Part of the reward as NAME or NAME=WEIGHT; may be repeated.")
    ] = Field(
        ["progress", "exploration=0.5"], min_length=1, description="parts of the reward, each a name or name=weight"
    )
    rl: Annotated[str, Option(Heading.LEARNER, "Learning algorithm: dqn, ppo, a2c; or none.")] = Field(
        "dqn", description="learning algorithm, or none"
    )
    preset: Annotated[str | None, Option(Heading.SETTINGS)] = Field(
        None, min_length=1, description="settings to begin from: a preset of the learner, or a preset's file"
    )
    demonstrations: Annotated[
        Texts,
        Option(
            Heading.LEARNER,
            "Earlier run whose episodes the learner is shown first; may be repeated.",
            metavar="RUN",
        ),
    ] = Field([], description="earlier runs, each a folder or name, whose episodes the learner is shown first")
    demonstration_steps: int = Field(
        100_000, ge=1, description="maximum number of steps of earlier runs to show, over all environments"
    )
    pretrain_steps: Annotated[
        int, Option(Heading.LEARNER, "Updates on demonstrations, before the learner decides anything.")
    ] = Field(
        0,
        ge=0,
        description="updates before the learner decides its first step: on demonstrations, or on what the rules play "
        "first",
    )
    start_from: Annotated[
        str | None,
        Option(Heading.LEARNER, "Begin with the weights of RUN, RUN:best, or pretrained[:GAME].", metavar="RUN"),
    ] = Field(
        None,
        min_length=1,
        description="run whose weights the learner begins with, as RUN or RUN:CHECKPOINT; or pretrained, or "
        "pretrained:GAME, for the policy that comes with a game",
    )

    mode: Annotated[
        Literal["adaptive", "llm-only", "rl-only"],
        Option(Heading.DECIDERS, "Who decides: adaptive, rl-only or llm-only."),
    ] = Field("adaptive", description="who may decide")

    llm: Annotated[str, Option(Heading.LANGUAGE_MODEL)] = Field(NONE, description="language model backend, or none")
    llm_model: Annotated[
        str | None, Option(Heading.LANGUAGE_MODEL, "Language model.", default="the backend's choice")
    ] = Field(None, description="language model; by default the backend chooses")
    llm_extra: Annotated[
        FieldTexts,
        Option(
            Heading.LANGUAGE_MODEL,
            "Further field of each request, as top_k=20 or options.num_gpu=20; repeatable.",
            metavar="KEY=VALUE",
        ),
    ] = Field(
        [],
        description="further fields of each request, as key=value with TOML values; a run has them as extra_fields of "
        "its backend",
    )
    llm_ensemble: Annotated[
        Ensemble,
        Option(
            Heading.LANGUAGE_MODEL,
            "Models that advise together, instead of --llm: BACKEND:MODEL,BACKEND:MODEL.",
            metavar="MODELS",
        ),
    ] = Field([], description="language models that advise together, each BACKEND or BACKEND:MODEL")
    llm_ensemble_by: Annotated[
        Literal["vote", "record"],
        Option(Heading.LANGUAGE_MODEL, "Which of an ensemble's advice is followed: vote or record."),
    ] = Field(
        "vote",
        description="advice of an ensemble that is followed: that of most models, or that of the model that was right "
        "most often lately in this kind of situation",
    )
    llm_interval: Annotated[int, Option(Heading.LANGUAGE_MODEL)] = Field(
        30, ge=1, description="steps between requests for advice"
    )
    llm_wait: Annotated[
        bool, Option(Heading.LANGUAGE_MODEL, "Wait for each answer: slow, but the same every time.")
    ] = Field(False, description="wait for each answer instead of playing on")
    llm_probe: Annotated[
        bool,
        Option(Heading.LANGUAGE_MODEL, "Measure the model before the training.", names=("--llm-probe/--no-llm-probe",)),
    ] = Field(
        True, description="measure the model before a training, with one or two questions, and say what it is good for"
    )
    llm_optional: Annotated[bool, Option(Heading.LANGUAGE_MODEL)] = Field(
        False, description="continue without a model that can't be reached"
    )
    llm_timeout_s: Annotated[float, Option(Heading.LANGUAGE_MODEL)] = Field(
        30.0, gt=0, le=600, description="seconds until a request for advice is given up"
    )
    llm_load_timeout_s: Annotated[
        float | None,
        Option(
            Heading.LANGUAGE_MODEL,
            "Seconds for the first answer, while the model loads.",
            default="ten times --llm-timeout-s",
        ),
    ] = Field(
        None,
        gt=0,
        le=3600,
        description="seconds that the first answer may take, while a server loads the model; by default ten times "
        "llm_timeout_s",
    )
    llm_allowance: float = Field(
        0.03,
        ge=0,
        le=1,
        description="maximum cost of advice, as a share of what the rules would have earned without it; 1 for no limit",
    )
    llm_notes: Annotated[int, Option(Heading.LANGUAGE_MODEL, "Notes that the model may keep for itself.")] = Field(
        0, ge=0, le=50, description="maximum number of notes that the model keeps for itself; 0 for none"
    )
    llm_summary: Annotated[bool, Option(Heading.LANGUAGE_MODEL, "Tell the model what happened long ago.")] = Field(
        False, description="tell the model what happened long ago: ended episodes, and older events of the running one"
    )
    lessons: bool = Field(
        True,
        description="tell the model what came of earlier advice in a situation",
    )
    lessons_file: Annotated[
        AbsolutePath | None,
        Option(
            Heading.LANGUAGE_MODEL,
            "Lessons of earlier runs for the prompt, from pkmn analyze-patterns --show advice.",
        ),
    ] = Field(None, description="lessons of earlier runs for the prompt, as pkmn analyze-patterns writes them")
    llm_max_open: Annotated[int, Option(Heading.LANGUAGE_MODEL, "Maximum number of open requests.")] = Field(
        4, ge=1, le=64, description="maximum number of open requests for advice, over all environments"
    )
    llm_vision: Annotated[bool, Option(Heading.LANGUAGE_MODEL)] = Field(
        False, description="send the screen to a model that sees"
    )
    llm_temperature: Annotated[float, Option(Heading.LANGUAGE_MODEL)] = Field(
        0.0, ge=0, le=2, description="randomness of the model's answers"
    )
    llm_reply_tokens: Annotated[int, Option(Heading.LANGUAGE_MODEL)] = Field(
        300, ge=32, le=100_000, description="longest reply, in tokens; models that think first need thousands"
    )
    llm_prompt: Annotated[AbsolutePath | None, Option(Heading.LANGUAGE_MODEL)] = Field(
        None, description="your own prompt template, a TOML file"
    )
    llm_cache: Annotated[
        Literal["off", "read", "readwrite", "only"],
        Option(Heading.LANGUAGE_MODEL, "Replies on disk: off, read, readwrite or only."),
    ] = Field("off", description="use of replies kept on disk; with only, no model is asked")
    llm_cache_path: Annotated[AbsolutePath | None, Option(Heading.LANGUAGE_MODEL, "File of the replies.")] = Field(
        None, description="file of the replies; by default one in the user's cache folder"
    )
    llm_budget_usd: Annotated[float | None, Option(Heading.LANGUAGE_MODEL, "Dollars that the model may cost.")] = Field(
        None, gt=0, description="dollars after which the rules continue alone"
    )
    llm_budget_tokens: Annotated[int | None, Option(Heading.LANGUAGE_MODEL, "Tokens that the model may use.")] = Field(
        None, ge=1, description="tokens after which the rules continue alone"
    )
    llm_prices: Annotated[
        Prices,
        Option(
            Heading.LANGUAGE_MODEL,
            "Price as MODEL=PROMPT/REPLY, dollars a million tokens; may be repeated.",
            names=("--llm-price",),
        ),
    ] = Field(
        [],
        description="prices in dollars a million tokens, each MODEL=PROMPT/REPLY by the beginning of the model's name; "
        "they replace those that the backend knows",
    )
    max_context_length: int = Field(8000, ge=256, description="longest prompt, in tokens")
    strategy: Annotated[
        StrategyName,
        Option(Heading.DECIDERS, "Share of advice against rules: adaptive, llm-heavy, balanced or rule-heavy."),
    ] = Field("adaptive", description="how advised steps are shared between language model and rules")
    initial_strategy: Literal["llm_heavy", "balanced", "rule_heavy"] = Field(
        "llm_heavy",
        description="share of language model against rules that adapting begins with: 80/20, 50/50 or 20/80",
    )

    envs: Annotated[int, Option(Heading.LENGTH, "Environments that are stepped together.")] = Field(
        1, ge=1, le=256, description="environments that are stepped together"
    )
    envs_per_worker: Annotated[int, Option(Heading.LENGTH, "Environments of each worker process.")] = Field(
        1,
        ge=1,
        le=256,
        description="environments of each worker process, at most envs; more are faster where a step takes less than "
        "about 0.1 ms",
    )
    workers: Annotated[
        Literal["local", "ray"], Option(Heading.LENGTH, "Place of the environments: local processes, or actors of ray.")
    ] = Field("local", description="place of the environments: local processes, or actors of Ray on other machines too")
    ray_address: Annotated[
        str | None,
        Option(Heading.LENGTH, "Ray cluster.", metavar="HOST:PORT", default="a local one, for this training"),
    ] = Field(
        None,
        description="HOST:PORT of a Ray cluster's head node; by default a local one is started, which ends with the "
        "training",
    )
    steps: Annotated[
        int | None,
        Option(
            Heading.LENGTH,
            "Steps over all environments.",
            names=("--steps", "--actions"),
            default=f"{DEFAULT_STEPS:,}",
        ),
    ] = Field(
        None,
        ge=1,
        description=f"steps to take, counted over all environments; {DEFAULT_STEPS:,} if episodes is not set either",
    )
    episodes: Annotated[int | None, Option(Heading.LENGTH, "Episodes; the first budget used up ends the training.")] = (
        Field(None, ge=1, description="episodes to play; whichever of steps and episodes ends first")
    )
    max_steps_per_episode: Annotated[int | None, Option(Heading.LENGTH, "Steps after which an episode is cut off.")] = (
        Field(None, ge=1, description="steps after which an episode is cut off; by default what suits the game")
    )
    seed: Annotated[int, Option(Heading.SETTINGS, "Seed of everything random.")] = Field(
        0, ge=0, lt=2**63, description="seed of everything random; the same seed gives the same run"
    )
    device: Annotated[
        Literal["auto", "cpu", "cuda", "mps"],
        Option(Heading.LEARNER, "Where the learner computes: auto, cpu, cuda or mps."),
    ] = Field("auto", description="where the learner computes")
    torch_threads: Annotated[
        int, Option(Heading.LEARNER, "Threads of the learner; results differ between numbers.")
    ] = Field(1, ge=1, le=256, description="threads of torch; results differ between numbers")
    stack: Annotated[int, Option(Heading.LEARNER, "Latest observations that the learner sees at once.")] = Field(
        1, ge=1, le=64, description="latest observations that the learner sees at once; also env.stack"
    )
    observation_type: Annotated[
        Literal["goal", "goal_screen", "multi_modal", "screen", "state"] | None,
        Option(Heading.LEARNER, "goal, goal_screen, multi_modal, screen or state.", default="the best to learn from"),
    ] = Field(
        None,
        description="the learner's observation: the current goal and the map around, those and the screen, screen "
        "and state variables, or one of these; by default the best to learn from in the environment",
    )
    goals: Annotated[
        Literal["rules", "none"],
        Option(Heading.DECIDERS, "Source of the learner's goals: rules or none."),
    ] = Field("rules", description="source of the learner's goals, if it observes goals")
    knowledge: Annotated[
        Literal["cartridge", "seen"],
        Option(Heading.DECIDERS, "Maps that routes are planned with: all of the cartridge, or only what was seen."),
    ] = Field(
        "cartridge",
        description="maps that the player by rules knows: all that the cartridge has, or what was seen of it "
        "in the episode",
    )
    headless: Annotated[
        bool, Option(Heading.SHOWN, "Without a window, or with one.", names=("--headless/--no-headless",))
    ] = Field(True, description="run without a window")

    save_dir: Annotated[AbsolutePath, Option(Heading.SAVING, "Folder for run folders.")] = Field(
        Path("runs"), description="folder in which run folders are made"
    )
    run_name: Annotated[str | None, Option(Heading.SAVING, "Name of the run folder.")] = Field(
        None, min_length=1, description="name of the run folder; by default date, game and learner"
    )
    decision_db_path: AbsolutePath | None = Field(
        None,
        description="folder in which each run keeps its decisions, in a folder of the run's name; by default the run "
        "folder",
    )
    save_interval: Annotated[int, Option(Heading.SAVING, "Steps between checkpoints.")] = Field(
        10_000, ge=1, description="steps between two checkpoints, over all environments"
    )
    save_interval_episodes: int | None = Field(None, ge=1, description="episodes between two checkpoints, beside steps")
    save_interval_minutes: float = Field(
        10.0,
        gt=0,
        allow_inf_nan=False,
        description="maximum minutes between two checkpoints, beside steps and episodes",
    )
    eval_interval: Annotated[int | None, Option(Heading.LENGTH, "Steps between evaluations of the learner alone.")] = (
        Field(None, ge=1, description="steps between two evaluations of the learner alone")
    )
    eval_interval_episodes: int | None = Field(None, ge=1, description="episodes between two evaluations")
    eval_episodes: Annotated[int, Option(Heading.LENGTH, "Episodes of such an evaluation.")] = Field(
        10, ge=1, le=10_000, description="episodes of an evaluation"
    )
    final_episodes: Annotated[
        int,
        Option(
            Heading.LENGTH,
            "Episodes of the learner alone at the end, beside the pilot and random play; 0 for none.",
        ),
    ] = Field(
        10,
        ge=0,
        le=10_000,
        description="episodes from held-out starts that the learner alone, the pilot and random play have each at the "
        "end of a training; 0 for none",
    )
    film: Annotated[
        bool,
        Option(Heading.SHOWN, "Film the best episode of the learner alone at the end.", names=("--film/--no-film",)),
    ] = Field(True, description="film the learner alone at the end of pkmn train")
    keep_checkpoints: Annotated[int, Option(Heading.SAVING, "Newest checkpoints to keep.")] = Field(
        3, ge=1, description="newest checkpoints to keep, beside the best and the milestones'"
    )
    disk_limit_gb: Annotated[float, Option(Heading.SAVING, "Maximum size of the run, in GB.")] = Field(
        10.0, gt=0, description="maximum size of a run on disk, in GB"
    )

    log_level: Annotated[LogLevel, Option(Heading.SHOWN, "DEBUG, INFO, WARNING or ERROR, for log.txt.")] = Field(
        "INFO", description="least severe messages that log.txt keeps"
    )
    track: Annotated[
        Trackers, Option(Heading.SHOWN, "Where metrics are sent too: tensorboard, wandb, or none; repeatable.")
    ] = Field(["tensorboard"], min_length=1, description="trackers that receive the metrics, or none")
    quiet: Annotated[bool, Option(Heading.SHOWN, "Show only errors and the result.")] = Field(
        False, description="show no progress"
    )
    web: Annotated[
        bool, Option(Heading.SHOWN, "Show the training on a live page.", names=("--dashboard/--no-web",))
    ] = Field(False, description="show the training on a live page")
    web_port: Annotated[
        int, Option(Heading.SHOWN, "Port of the live page; the next free one if it is taken.", default="8080")
    ] = Field(8080, ge=1, le=65535, description="port of the live page; the next free one if it is taken")
    web_host_name: Annotated[
        HostNames,
        Option(Heading.SHOWN, "Name that a proxy has the page under, which then asks for a token; repeatable."),
    ] = Field([], description="names that a proxy has the live page under, which then asks for a token")
    web_root_path: Annotated[
        UrlFolder, Option(Heading.SHOWN, "Folder that a proxy has the page under and passes on, such as /user/me/page.")
    ] = Field("", description="folder that a proxy has the live page under, if it passes that on")

    @property
    def reward_weights(self) -> dict[str, float]:
        """Weight of each part of the reward, by name; 1 if none was given."""
        weights = {}
        for text in self.reward:
            name, separator, weight = text.partition("=")
            weights[name.strip()] = float(weight) if separator else 1.0
        return weights

    @property
    def llm_load_time_s(self) -> float:
        """Maximum seconds for an answer while the model loads."""
        return self.llm_load_timeout_s or min(10 * self.llm_timeout_s, 3600.0)

    @property
    def takes_advice(self) -> bool:
        """True if a language model may give advice."""
        return self.mode != "rl-only"

    @property
    def shares_advice(self) -> bool:
        """True if a strategy shares steps between a language model and the rules."""
        return self.mode == "adaptive" and self.llm != NONE

    @property
    def model_alone(self) -> bool:
        """True if a language model decides every step: neither rules nor a learner do."""
        return self.pilot == NONE != self.llm and (self.rl == NONE or self.mode == "llm-only")

    def plugins_in_use(self) -> list[tuple[str, str, str]]:
        """Return each plugin that these settings choose, except the game: the setting, the kind and the name."""
        chosen = [
            ("env", "environments", self.env),
            ("pilot", "pilots", self.pilot),
            ("rl", "algorithms", self.rl),
            ("llm", "llm_backends", self.llm),
            *(("llm_ensemble", "llm_backends", member_of_text(text)[0]) for text in self.llm_ensemble),
            *(("reward", "rewards", name) for name in self.reward_weights),
            *(("track", "trackers", name) for name in self.track),
        ]
        if self.shares_advice:
            chosen.append(("strategy", "strategies", self.strategy))
        return [choice for choice in chosen if choice[2] != NONE]

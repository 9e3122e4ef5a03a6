"""The core's own settings of a training. Plugins bring theirs as models of their own, set under ``[name]``."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

NONE = "none"
"""Given as a plugin's name, switches that part off."""

DEFAULT_STEPS = 60_000
"""Budget of a training that was given none: a few minutes on two cores."""


def _absolute(path: Path) -> Path:
    try:
        return path.expanduser().absolute()
    except FileNotFoundError:
        raise ValueError("the current folder was deleted: go to one that is there") from None


HEAVIEST_REWARD = 1e9


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _split(value: Any) -> Any:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


def _check_reward(text: str) -> str:
    _, separator, weight = text.partition("=")
    if separator and not _is_finite_number(weight):
        raise ValueError(f"{text!r} is no reward: write a name, or name=weight with a number as weight")
    if separator and abs(float(weight)) > HEAVIEST_REWARD:
        raise ValueError(f"{text!r}: a weight is at most {HEAVIEST_REWARD:,.0f} either way, or rewards overflow")
    return text


def _check_no_part_twice(parts: list[str]) -> list[str]:
    names = [text.partition("=")[0].strip() for text in parts]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice!r} is named twice: give one weight")
    return parts


def _check_trackers(names: list[str]) -> list[str]:
    if NONE in names and len(names) > 1:
        raise ValueError(f"{NONE!r} goes alone: no other tracker beside it")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice!r} is named twice")
    return names


def _check_host_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?", text) or len(text) > 253:
        raise ValueError(f"{text!r} is no host name: write the name alone, as page.example.org")
    return text.lower()


def _hyphenated(value: Any) -> Any:
    return value.replace("_", "-").lower() if isinstance(value, str) else value


def _check_price(text: str) -> str:
    price_of_text(text)
    return text


def price_of_text(text: str) -> tuple[str, float, float]:
    """The beginning of models' names and the two prices, in US dollars a million tokens, of ``NAME=PROMPT/REPLY``."""
    model, equals, prices = text.rpartition("=")
    numbers = [part for part in prices.split("/") if _is_finite_number(part) and float(part) >= 0]
    if not equals or prices.count("/") != 1 or len(numbers) != 2:
        raise ValueError(f"{text!r} is no price: write MODEL=PROMPT/REPLY, dollars a million tokens, as gpt-4o=2.5/10")
    return model.strip(), float(numbers[0]), float(numbers[1])


def _is_finite_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


AbsolutePath = Annotated[Path, AfterValidator(_absolute)]
"""A path made absolute from the current folder when it is read, so that a run can be resumed from anywhere."""

MAY_CHANGE = (
    "steps",
    "episodes",
    "save_interval",
    "save_interval_episodes",
    "eval_interval",
    "eval_interval_episodes",
    "eval_episodes",
    "final_episodes",
    "film",
    "keep_checkpoints",
    "disk_limit_gb",
    "log_level",
    "headless",
    "quiet",
    "web",
    "web_port",
    "web_host_name",
    "track",
)
"""Settings that a run which goes on may change: they decide how long and how visibly it trains, not what it does."""


class TrainSettings(BaseModel):
    """What ``pkmn train`` does. Every field is a key of a configuration file and an option of the command."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True, validate_default=True)

    game: str | None = Field(None, description="game profile; by default the one that the ROM is of, else quillwood")
    game_folder: AbsolutePath | None = Field(
        None, description="folder of a game profile of your own; goes in the place of game"
    )
    rom_path: AbsolutePath | None = Field(None, description="cartridge image; by default the bundled game's")
    force_rom: bool = Field(False, description="go on with a cartridge image that the game profile does not know")
    init_state: AbsolutePath | None = Field(None, description="saved emulator state in which every episode begins")
    cartridge: AbsolutePath | None = Field(
        None, description="file of a cartridge's battery save, in whose saved game every episode begins"
    )
    goal: str | None = Field(
        "first",
        min_length=1,
        description="milestone at which an episode ends; first is the one that the game has for a first training, last "
        "the end of the game",
    )

    demonstrations: Annotated[list[str], BeforeValidator(_split)] = Field(
        [], description="earlier runs, each a folder or name, whose episodes the learner is shown first"
    )
    demonstration_steps: int = Field(
        100_000, ge=1, description="most steps of earlier runs that it is shown, over all environments"
    )
    pretrain_steps: int = Field(
        0,
        ge=0,
        description="updates before the learner decides its first step: on demonstrations, or on what the rules play "
        "first",
    )
    start_from: str | None = Field(
        None,
        min_length=1,
        description="run whose weights the learner begins with, as RUN or RUN:CHECKPOINT; or pretrained, or "
        "pretrained:GAME, for the policy that a game comes with",
    )

    env: str = Field("pyboy", description="environment")
    env_class: str | None = Field(
        None,
        pattern=r"^\w+(\.\w+)*:\w+(\.\w+)*$",
        description="class of your own derived from the environment's, as package.module:Name",
    )
    pilot: str = Field("rules", description="rule-based player beside the learner, or none")
    reward: Annotated[
        list[Annotated[str, AfterValidator(_check_reward)]],
        BeforeValidator(_split),
        AfterValidator(_check_no_part_twice),
    ] = Field(
        ["progress", "exploration=0.5"], min_length=1, description="parts of the reward, each a name or name=weight"
    )
    rl: str = Field("dqn", description="learning algorithm, or none")
    preset: str | None = Field(
        None, min_length=1, description="settings to begin from: a preset of the learner, or a preset's file"
    )
    mode: Literal["adaptive", "llm-only", "rl-only"] = Field("adaptive", description="who may decide")

    llm: str = Field(NONE, description="language model backend, or none")
    llm_model: str | None = Field(None, description="language model; by default the backend chooses")
    llm_interval: int = Field(30, ge=1, description="steps between two requests for advice")
    llm_wait: bool = Field(False, description="wait for each answer instead of playing on")
    llm_optional: bool = Field(False, description="go on without a language model that cannot be reached")
    llm_timeout_s: float = Field(30.0, gt=0, le=600, description="seconds until a request for advice is given up")
    llm_load_timeout_s: float | None = Field(
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
        description="what advice may cost, as a share of what the rules would have earned without it; 1 for no limit",
    )
    lessons: bool = Field(
        True, description="tell the model what came of advice before, and hold back what always failed in a situation"
    )
    lessons_file: AbsolutePath | None = Field(
        None, description="lessons of earlier runs for the prompt, as pkmn analyze-patterns writes them"
    )
    llm_max_open: int = Field(
        4, ge=1, le=64, description="requests for advice under way at once, over all environments"
    )
    llm_vision: bool = Field(False, description="send the screen along, to a model that sees")
    llm_temperature: float = Field(0.0, ge=0, le=2, description="how freely the model answers")
    llm_reply_tokens: int = Field(
        300, ge=32, le=100_000, description="longest reply, in tokens; a model that thinks first needs thousands"
    )
    llm_prompt: AbsolutePath | None = Field(None, description="prompt template of your own, a TOML file")
    llm_cache: Literal["off", "read", "readwrite", "only"] = Field(
        "off", description="what replies kept on disk are used for; with only, no model is asked"
    )
    llm_cache_path: AbsolutePath | None = Field(
        None, description="file of the replies; by default one in the user's cache folder"
    )
    llm_budget_usd: float | None = Field(None, gt=0, description="dollars after which the rules go on alone")
    llm_budget_tokens: int | None = Field(None, ge=1, description="tokens after which the rules go on alone")
    llm_prices: Annotated[list[Annotated[str, AfterValidator(_check_price)]], BeforeValidator(_split)] = Field(
        [],
        description="prices in dollars a million tokens, each MODEL=PROMPT/REPLY by the beginning of the model's name; "
        "they go before those that the backend knows",
    )
    max_context_length: int = Field(8000, ge=256, description="longest prompt, in tokens")
    strategy: Annotated[str, BeforeValidator(_hyphenated)] = Field(
        "adaptive", description="how advised steps are shared between language model and rules"
    )
    initial_strategy: Literal["llm_heavy", "balanced", "rule_heavy"] = Field(
        "llm_heavy",
        description="share of language model against rules that adapting begins with: 80/20, 50/50 or 20/80",
    )

    envs: int = Field(1, ge=1, le=256, description="environments, each a process of its own")
    steps: int | None = Field(
        None,
        ge=1,
        description=f"steps to take, counted over all environments; {DEFAULT_STEPS:,} where episodes is not set either",
    )
    episodes: int | None = Field(None, ge=1, description="episodes to play; whichever of steps and episodes ends first")
    max_steps_per_episode: int | None = Field(
        None, ge=1, description="steps after which an episode is cut off; by default what suits the game"
    )
    seed: int = Field(0, ge=0, lt=2**63, description="seed of everything random; the same seed gives the same run")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field("auto", description="where the learner computes")
    torch_threads: int = Field(1, ge=1, le=256, description="threads of torch; results differ between numbers")
    observation_type: Literal["goal", "goal_screen", "multi_modal", "screen", "state"] | None = Field(
        None,
        description="what the learner sees: the goal of the moment and the map around, those and the screen, screen "
        "and state variables, or one of these; by default what is learned best from in the environment",
    )
    goals: Literal["rules", "none"] = Field(
        "rules", description="who says what the learner's goals are, where it sees goals"
    )
    knowledge: Literal["cartridge", "seen"] = Field(
        "cartridge",
        description="what the player by rules knows of the world: all that the cartridge has, or what was seen of it "
        "in the episode",
    )
    headless: bool = Field(True, description="run without a window")

    save_dir: AbsolutePath = Field(Path("runs"), description="folder in which run folders are made")
    run_name: str | None = Field(
        None, min_length=1, description="name of the run folder; by default date, game and learner"
    )
    decision_db_path: AbsolutePath | None = Field(
        None, description="folder in which each run keeps its decisions in one of its name; by default the run folder"
    )
    save_interval: int = Field(10_000, ge=1, description="steps between two checkpoints, over all environments")
    save_interval_episodes: int | None = Field(None, ge=1, description="episodes between two checkpoints, beside steps")
    eval_interval: int | None = Field(None, ge=1, description="steps between two evaluations of the learner alone")
    eval_interval_episodes: int | None = Field(None, ge=1, description="episodes between two evaluations")
    eval_episodes: int = Field(10, ge=1, le=10_000, description="episodes of an evaluation")
    final_episodes: int = Field(
        10,
        ge=0,
        le=10_000,
        description="episodes from held-out starts that the learner alone, the pilot and random play have each at the "
        "end of a training; 0 for none",
    )
    film: bool = Field(True, description="film the learner alone at the end of pkmn train")
    keep_checkpoints: int = Field(3, ge=1, description="newest checkpoints kept, beside the best and the milestones")
    disk_limit_gb: float = Field(10.0, gt=0, description="most that a run may write, in GB")

    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(_upper)] = Field(
        "INFO", description="least severe messages that log.txt keeps"
    )
    track: Annotated[list[str], BeforeValidator(_split), AfterValidator(_check_trackers)] = Field(
        ["tensorboard"], min_length=1, description="trackers that metrics are handed to, or none"
    )
    quiet: bool = Field(False, description="show no progress")
    web: bool = Field(False, description="show the training on a live page")
    web_port: int = Field(
        8080, ge=1, le=65535, description="port of the live page; the next free one where it is taken"
    )
    web_host_name: Annotated[list[Annotated[str, AfterValidator(_check_host_name)]], BeforeValidator(_split)] = Field(
        [], description="names that a proxy has the live page under, which then asks for a token"
    )

    @property
    def reward_weights(self) -> dict[str, float]:
        """Weight of each part of the reward, by name; 1 where none was written."""
        weights = {}
        for text in self.reward:
            name, separator, weight = text.partition("=")
            weights[name.strip()] = float(weight) if separator else 1.0
        return weights

    @property
    def llm_load_time_s(self) -> float:
        """Seconds that an answer may take while the model is being loaded."""
        return self.llm_load_timeout_s or min(10 * self.llm_timeout_s, 3600.0)

    @property
    def takes_advice(self) -> bool:
        """Whether a language model has a say."""
        return self.mode != "rl-only"

    @property
    def shares_advice(self) -> bool:
        """Whether a strategy shares steps between a language model and the rules."""
        return self.mode == "adaptive" and self.llm != NONE

    def plugins_in_use(self) -> list[tuple[str, str, str]]:
        """Each plugin that these settings choose, the game aside: the setting, the kind and the name."""
        chosen = [
            ("env", "environments", self.env),
            ("pilot", "pilots", self.pilot),
            ("rl", "algorithms", self.rl),
            ("llm", "llm_backends", self.llm),
            *(("reward", "rewards", name) for name in self.reward_weights),
            *(("track", "trackers", name) for name in self.track),
        ]
        if self.shares_advice:
            chosen.append(("strategy", "strategies", self.strategy))
        return [choice for choice in chosen if choice[2] != NONE]

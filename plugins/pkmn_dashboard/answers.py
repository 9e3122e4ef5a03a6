"""Models of the server's JSON answers, from which its OpenAPI description is made."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, FiniteFloat

from pkmn_dashboard.watched_run import RunState


class RunDescription(BaseModel):
    """Identity of the run, its settings, and the names of its numbers."""

    name: str
    folder: str
    state: RunState
    steps: int | None
    """Recorded steps, also those since the latest checkpoint."""
    may_control: bool
    game: str
    settings: dict[str, Any]
    """Settings of the training."""
    screen_shape: list[int] | None
    """Shape of one environment's screen during a training: rows and bytes of two pixels, or RGB."""
    maps: dict[str, str]
    phases: list[str]
    actions: list[str]
    frames_per_second: float
    """Frames of the game that are one second of play."""
    milestones: list[str]
    goal: str | None
    """Milestone that ends an episode."""


class Environment(BaseModel):
    """Latest decision of an environment."""

    episode: int
    step: int
    action: str
    source: str
    confidence: float | None
    reward: float | None
    reason: str
    map_id: int
    x: int
    y: int
    phase: int
    milestones: int
    played_s: float
    """Seconds of the game's own time since the episode began."""
    latest_milestone: str | None
    progress: dict[str, float]
    """Progress of the game, such as badges and level."""
    steps_since_progress: int | None


class State(BaseModel):
    """Present state of a training."""

    run: RunState
    may_control: bool
    steps: int | None = None
    episodes: int | None = None
    elapsed_s: float | None = None
    fraction_done: float | None = None
    steps_per_second: float | None = None
    age_s: float | None = None
    """Age of this state in seconds."""
    answers: int = 0
    """Number of viewers' requests answered so far."""
    message: str = ""
    """Latest of those answers."""
    doing: str = ""
    """Present activity instead of steps, such as an evaluation; the rest is of the latest step then."""
    environments: list[Environment]


class Metric(BaseModel):
    """Metric of the run."""

    name: str
    count: int
    latest: float


class Series(BaseModel):
    """Metric over the steps of the run; if there are many, neighbours are averaged."""

    steps: list[int]
    values: list[float]


class Milestone(BaseModel):
    """Milestone with the number of episodes that reached it, and its fastest and latest split."""

    name: str
    episodes: int
    first_seen: int | None
    """Steps of the run at the end of the first episode that reached it."""
    best_step: int | None
    latest_step: int | None
    best_s: float | None
    """Seconds of the game's own time."""
    latest_s: float | None
    running_step: int | None = None
    """Step at which the furthest running episode reached it."""
    running_s: float | None = None


class Episode(BaseModel):
    """Ended episode."""

    environment: int
    episode: int
    last_step: int
    steps: int
    total_reward: float
    outcome: str
    llm_share: float
    milestones: dict[str, int]


class Evaluation(BaseModel):
    """Evaluation that the run keeps, as of ``pkmn eval``."""

    time: str
    """Local time of its end where it was held, as ``2026-11-30 09:30``."""
    mode: str
    """Player, as ``--mode`` of ``pkmn eval`` names it; ``command`` for a run of a plugin's command."""
    stochastic: bool
    """True if actions were sampled."""
    checkpoint: str
    episodes: int
    goal: str | None
    reached: int | None
    """Episodes that reached the goal."""
    goal_low: FiniteFloat | None
    """Ends of the 95% interval of the share that reaches the goal, 0..1."""
    goal_high: FiniteFloat | None
    reward: FiniteFloat
    """Mean reward of an episode."""
    reward_low: FiniteFloat | None
    """Ends of its 95% interval; None where fewer than two episodes are recorded."""
    reward_high: FiniteFloat | None


class RecordedDecision(BaseModel):
    """Recorded decision."""

    global_step: int
    environment: int
    episode: int
    step: int
    action: int
    source: int
    confidence: float
    reward: float
    map_id: int
    x: int
    y: int
    phase: int
    reason: str
    model: str


class VisitedMap(BaseModel):
    """Map with the steps spent on it, and the number of its visited tiles."""

    map_id: int
    steps: int
    tiles: int


class MapPicture(BaseModel):
    """Picture of a map from the game's image, as a PNG file in base64, one pixel for each tile."""

    png: str | None
    """None if the environment draws none, or the image is not there."""
    width: int
    height: int


class VisitedTile(BaseModel):
    """Tile with the steps decided on it."""

    x: int
    y: int
    steps: int


class AdviceAnswer(BaseModel):
    """Question to the language model, and the use of its answer."""

    global_step: int
    asked_at: int
    environment: int
    event: str
    followed: bool
    reading: str
    problem: str
    advice: dict[str, Any] | None
    model: str
    cached: bool
    prompt: str
    reply: str
    prompt_tokens: int
    completion_tokens: int
    latency_s: float


class Transcript(BaseModel):
    """Latest answers of the language model, and the totals of all."""

    answers: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    """Dollars, if the price of the model is known."""
    latest: list[AdviceAnswer]


class Patterns(BaseModel):
    """Actions that paid off, by situation, as in `pkmn analyze-patterns`."""

    horizon: int
    """Decisions over which the reward of one is summed."""
    patterns: list[dict[str, Any]]


class RunBeside(BaseModel):
    """Run in the folder of the shown run, with its result so far."""

    name: str
    shown: bool
    """True for the run of this page."""
    training: bool
    created: float
    """Seconds since 1970."""
    game: str
    settings: dict[str, Any]
    """Learner, mode and language model."""
    steps: int | None
    """Recorded steps."""
    episodes: float | None
    goal_share: float | None
    """Share of the held-out starts from which the learner alone reaches the goal, 0..1."""
    reward: float | None
    """Average reward of the learner alone."""


class Asked(BaseModel):
    """Confirmation of a request that the training carries out after its current step."""

    asked: Literal["pause", "resume", "checkpoint", "start", "stop"]


class Refusal(BaseModel):
    """Reason of a refusal."""

    detail: str

"""What the page's server answers: the shapes of its JSON, which its OpenAPI description is made of."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from pkmn_dashboard.watched_run import RunState


class RunDescription(BaseModel):
    """Which run it is, how it was set up, and the names of what its numbers stand for."""

    name: str
    folder: str
    state: RunState
    may_control: bool
    game: str
    settings: dict[str, Any]
    """The training's own settings."""
    screen_shape: list[int] | None
    """Of one environment's screen, while a training goes on: rows and bytes of two pixels, or RGB."""
    maps: dict[str, str]
    phases: list[str]
    milestones: list[str]
    goal: str | None
    """The milestone that ends an episode."""


class Environment(BaseModel):
    """The latest decision of an environment."""

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
    """What the game says of how far it has got, such as badges and level."""
    steps_since_progress: int | None


class State(BaseModel):
    """Where a training stands now."""

    run: RunState
    may_control: bool
    steps: int | None = None
    episodes: int | None = None
    elapsed_s: float | None = None
    fraction_done: float | None = None
    steps_per_second: float | None = None
    age_s: float | None = None
    """How old this is, in seconds."""
    answers: int = 0
    """Requests of viewers that were answered so far."""
    message: str = ""
    """The latest of those answers."""
    environments: list[Environment]


class Metric(BaseModel):
    """A metric of the run."""

    name: str
    count: int
    latest: float


class Series(BaseModel):
    """A metric over the steps of the run; where there are many, neighbours are averaged."""

    steps: list[int]
    values: list[float]


class Milestone(BaseModel):
    """In how many episodes a milestone was reached, and the soonest and the latest split."""

    name: str
    episodes: int
    first_seen: int | None
    """Steps of the run when the first episode ended that reached it."""
    best_step: int | None
    latest_step: int | None
    best_s: float | None
    """Seconds of the game's own time."""
    latest_s: float | None
    running_step: int | None = None
    """Step at which a running episode reached it: of the one that has got furthest."""
    running_s: float | None = None


class Episode(BaseModel):
    """An episode that ended."""

    environment: int
    episode: int
    last_step: int
    steps: int
    total_reward: float
    outcome: str
    llm_share: float
    milestones: dict[str, int]


class RecordedDecision(BaseModel):
    """A decision as it was recorded."""

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
    """Steps spent on a map, and how many of its tiles were visited."""

    map_id: int
    steps: int
    tiles: int


class VisitedTile(BaseModel):
    """Steps decided on a tile."""

    x: int
    y: int
    steps: int


class AdviceAnswer(BaseModel):
    """A question to the language model, and what became of the answer."""

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
    """The latest answers of the language model, and what all of them came to."""

    answers: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    """Dollars, where the price of the model is known."""
    latest: list[AdviceAnswer]


class Patterns(BaseModel):
    """Which actions paid off in which situations: what `pkmn analyze-patterns` shows."""

    patterns: list[dict[str, Any]]


class Asked(BaseModel):
    """A request was passed on to the training, which does it after its current step."""

    asked: Literal["pause", "resume", "checkpoint", "start", "stop"]


class Refusal(BaseModel):
    """Why something can't be done."""

    detail: str

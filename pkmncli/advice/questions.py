"""Questions to the language model: the prompt for the state of an environment, and the request with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pkmncli.advice.lessons import EarlierLessons, lesson_lines
from pkmncli.advice.live_advice import AdvisedEnvironment, OpenQuestion
from pkmncli.advice.notes import Notes
from pkmncli.advice.triggers import Event
from pkmncli.advice.worth import AdviceWorth, Situation
from pkmncli.api import ActionNames, Advice, Context, LLMRequest, PhaseRole, Skill
from pkmncli.api.actions import MASK
from pkmncli.llm.prompts import PromptTemplate, Question, game_in_words
from pkmncli.llm.replies import ReplyForm

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Environments(Protocol):
    """Environments of a training, as far as advice needs them."""

    @property
    def num_envs(self) -> int:
        """Number of environments."""

    @property
    def phase_roles(self) -> Sequence[PhaseRole]:
        """Roles of the phases, by number."""

    @property
    def milestone_names(self) -> Sequence[str]:
        """Names of the milestones, in the game's order."""

    @property
    def names(self) -> Mapping[str, Any]:
        """Names of numbers by kind; ``maps`` has those of maps by id."""

    @property
    def action_names(self) -> ActionNames:
        """Names of the actions."""

    @property
    def skills(self) -> Sequence[Skill]:
        """Skills of the pilots."""

    def context(self, index: int) -> Context:
        """Return the state of an environment in words."""

    def observation(self, index: int) -> Mapping[str, NDArray[Any]]:
        """Return the observation of an environment, of shape (1, ...)."""

    def picture(self, index: int) -> bytes:
        """Return the screen of an environment as a PNG file."""

    def advise(self, index: int, advice: Advice | None) -> None:
        """Give advice to the pilot of an environment; None withdraws it."""


@dataclass(frozen=True, slots=True)
class AdviceOptions:
    """Options of the questions."""

    interval: int
    """Steps of an environment between two questions if nothing happens."""
    prompt_tokens: int
    timeout_s: float
    vision: bool
    seed: int
    form: ReplyForm
    temperature: float = 0.0
    reply_tokens: int = 300
    lessons: bool = True
    """True if prompts have the results of advice in this run."""
    earlier: EarlierLessons = field(default_factory=EarlierLessons)
    """Lessons of earlier runs, for prompts."""
    rules: bool = True
    """True if a pilot plays without advice. Otherwise advice is compared with the learner."""
    summary: bool = False
    """True if prompts have a summary of what happened long ago."""
    most_notes: int = 0
    """Maximum number of notes that the model keeps; 0 for none."""
    alone: bool = False
    """True if nobody plays without advice: then the next question follows as soon as advice has ended."""


class Questions:
    """Questions about the environments of a training.

    Args:
        environments: of the training.
        template: of the prompts.
        options: of the questions.
        worth: results of earlier advice, for the lessons in prompts.
        notes: of the model.
    """

    def __init__(
        self,
        environments: Environments,
        template: PromptTemplate,
        options: AdviceOptions,
        worth: AdviceWorth,
        notes: Notes | None = None,
    ) -> None:
        self._environments = environments
        self._template = template
        self._options = options
        self._worth = worth
        self._notes = notes or Notes()

    def new(self, index: int, environment: AdvisedEnvironment, step: int, lag_steps: int) -> OpenQuestion:
        """Return a question about the present state of an environment.

        Args:
            index: the environment's number.
            environment: the state of its advice.
            step: steps taken, over all environments.
            lag_steps: steps of the environment until an answer comes, as far as known.
        """
        question = Question(
            self._environments.context(index),
            tuple(environment.watcher.lines),
            tuple(environment.failures),
            self._lessons(environment.situation),
            notes=tuple(self._notes.lines),
            earlier=self._earlier(environment),
            lag_steps=lag_steps,
            form=self._options.form,
            game=game_in_words(self._environments.names),
            allowed=() if self._options.form.skills else self._allowed(index),
        )
        prompt = self._template.fill(question, self._options.prompt_tokens)
        return OpenQuestion(prompt.system, prompt.text, environment.event or Event.INTERVAL, step)

    def request(self, index: int, question: OpenQuestion) -> LLMRequest:
        """Return the request with a question about an environment, with its picture if the model is to see it."""
        return LLMRequest(
            system=question.system,
            prompt=question.prompt,
            schema=self._options.form.schema,
            images=(self._environments.picture(index),) if self._options.vision else (),
            max_tokens=self._options.reply_tokens,
            temperature=self._options.temperature,
            seed=self._options.seed,
            timeout_s=self._options.timeout_s,
        )

    def _allowed(self, index: int) -> Sequence[int]:
        """Return the actions that the mask allows now; empty without a mask."""
        allowed: list[int] = np.flatnonzero(self._environments.observation(index).get(MASK, ())).tolist()
        return allowed

    def _earlier(self, environment: AdvisedEnvironment) -> Sequence[str]:
        if not self._options.summary:
            return ()
        watcher = environment.watcher
        events = tuple(watcher.earlier.items())
        return environment.history.lines(events, len(watcher.milestone_names), watcher.map_names)

    def _lessons(self, situation: Situation | None) -> tuple[str, ...]:
        if situation is None:
            return ()
        own = lesson_lines(self._worth.results(situation)) if self._options.lessons else ()
        return (*self._options.earlier.lines(situation), *own)

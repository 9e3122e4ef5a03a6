"""Environment that `pkmn llm ask` and `pkmn llm chat` are about: its state in words, and advice carried out in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from pkmncli.advice.build import advice_seed
from pkmncli.api import PILOT_ACTS, Advice, LLMRequest, Source
from pkmncli.config import ResolvedSettings
from pkmncli.llm.prompts import Prompt, PromptTemplate, Question, game_in_words
from pkmncli.llm.replies import NOTES, ReplyForm
from pkmncli.plugins import Registry
from pkmncli.plurals import counted
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import worker_spec
from pkmncli.training.workers.pool import WorkerPool

MOST_STEPS = 100
"""Maximum number of steps for which advice is carried out."""


@dataclass(frozen=True, slots=True)
class View:
    """State of the environment."""

    prompt: Prompt
    request: LLMRequest
    """Question of a training about the state."""
    situation: str
    """The same in words, without the form of a reply."""
    summary: str
    """The state in a sentence or two."""


class Scene:
    """Environment with a pilot, in a worker process.

    Args:
        pool: one environment, in an episode.
        settings: of a training.
    """

    def __init__(self, pool: WorkerPool, settings: ResolvedSettings) -> None:
        self._pool = pool
        self._settings = settings
        self.form = ReplyForm(pool.skills, pool.action_names, notes=settings.train.llm_notes > 0)

    def look(self) -> View:
        """Return the state."""
        pool, form, train = self._pool, self.form, self._settings.train
        images = (pool.picture(0),) if train.llm_vision else ()
        allowed = () if pool.skills else np.flatnonzero(pool.observations()["action_mask"][0]).tolist()
        context = pool.context(0)
        question = Question(context, form=form, game=game_in_words(pool.names), allowed=allowed)
        template = PromptTemplate.load(train.llm_prompt, train.max_context_length, form)
        prompt = template.fill(question, train.max_context_length)
        request = LLMRequest(
            system=prompt.system,
            prompt=prompt.text,
            schema=form.schema,
            images=images,
            max_tokens=train.llm_reply_tokens,
            temperature=train.llm_temperature,
            seed=advice_seed(self._settings),
            timeout_s=train.llm_timeout_s,
        )
        situation = template.fill(question, train.max_context_length, with_form=False).text
        return View(prompt, request, situation, context.context_summary)

    def carry_out(self, advice: Advice) -> str:
        """Carry out advice until it is over, the episode ends or :data:`MOST_STEPS`. Return how long, and how it ended.

        The words are a sentence for people.
        """
        if advice.skill == NOTES:
            return "Nothing to carry out: it is only a note."
        self._pool.advise(0, advice)
        advised = others = 0
        end = f"stopped after {MOST_STEPS} steps, the most at a time"
        while advised + others < MOST_STEPS:
            result = self._pool.step(
                np.array([PILOT_ACTS]), np.array([Source.LLM], np.uint8), np.full(1, advice.confidence, np.float32)
            )
            record = result.records[0]
            by_advice = record["source"] == Source.LLM
            advised, others = advised + by_advice, others + (not by_advice)
            if record["terminated"] or record["truncated"]:
                end = "the episode ended, and a new one has begun"
                break
            if not record["advice_steps_left"]:
                end = self._pool.call(0, "advice_end")
                break
        self._pool.advise(0, None)
        if not advised:
            return f"No step was by the advice: {end}. The pilot played {counted(others, 'step')} of its own."
        beside = f", with {counted(others, 'step')} of the pilot's own" if others else ""
        return f"Carried out for {counted(advised, 'step')}{beside}: {end}."


@contextmanager
def opened_scene(settings: ResolvedSettings, registry: Registry) -> Iterator[Scene]:
    """Provide the environment that the settings choose, at the beginning of an episode."""
    with WorkerPool(worker_spec(settings, registry, Purpose.ADVICE, num_envs=1)) as pool:
        pool.reset()
        yield Scene(pool, settings)

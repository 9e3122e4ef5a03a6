"""The advised side of an agent in a loop: the language model's advice if it is due and followed, else the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.advice.policy import LLMShare
from pkmncli.api import Context, Pilot, Source
from pkmncli.config import TrainSettings
from pkmncli.diagnostics import say
from pkmncli.llm.prompts import PromptTemplate, Question, game_in_words
from pkmncli.llm.replies import ReplyForm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.llm.manager import BaseLLMManager


@dataclass(frozen=True, slots=True)
class AgentDecision:
    """A decision of :meth:`pkmncli.HybridAgent.get_action`, its source and reason."""

    action: int
    source: Source
    confidence: float
    """Confidence of the deciding side, 0..1."""
    reason: str


class AdvisedSide:
    """Decisions of language model and rules for one environment.

    Args:
        train: settings of a training.
        manager: the language model; None for no advice.
        pilot: the rules; None without.
        env: the environment, for its name and the context of a prompt; None if unknown.
        form: of the model's replies.
        share: of the advice that is followed.
        model_alone: True if the model is asked at every step, and nothing else decides.
    """

    def __init__(
        self,
        train: TrainSettings,
        manager: BaseLLMManager | None,
        pilot: Pilot | None,
        env: Any,
        *,
        form: ReplyForm,
        share: LLMShare,
        model_alone: bool,
    ) -> None:
        self.share = share
        self.random = np.random.default_rng(train.seed)
        """Source of actions where a model alone has none."""
        self.steps = 0
        """Decisions in the running episode."""
        self._train = train
        self._manager = manager
        self._pilot = pilot
        self._names: Mapping[str, Any] = getattr(getattr(env, "unwrapped", env), "names", {})
        self._context = getattr(env, "context", None)
        self._form = form
        self._model_alone = model_alone
        self._template = PromptTemplate.load(max_tokens=train.max_context_length, form=form)
        self._told = False

    def decide(self, observation: Mapping[str, Any], mask: NDArray[Any], episode: int) -> AgentDecision | None:
        """Return the decision for an observation; None if there is neither advice nor a pilot.

        Args:
            observation: of one environment.
            mask: (actions,), 0 where an action is not allowed.
            episode: its number, which seeds the pilot.
        """
        step, self.steps = self.steps, self.steps + 1
        if self._model_alone:
            return self._by_model_alone(observation, mask)
        by_rules = None
        if self._pilot is not None:
            if step == 0:
                self._pilot.reset(self._train.seed + episode)
            made = self._pilot.act(None)
            by_rules = AgentDecision(made.action, Source.RULE, made.confidence, made.reason)
        if self._manager is None or step % self._train.llm_interval:
            return by_rules
        if not self.share.follows():
            self.share.count(llm=False)
            return by_rules
        advised = self._ask(self._manager, observation, mask)
        if advised is None or not _allows(mask, advised.action):
            return by_rules
        self.share.count(llm=True)
        return advised

    def _by_model_alone(self, observation: Mapping[str, Any], mask: NDArray[Any]) -> AgentDecision:
        """Return the model's action; if it has no allowed one, the idle action or a random one."""
        assert self._manager is not None
        advised = self._ask(self._manager, observation, mask)
        if advised is not None and _allows(mask, advised.action):
            return advised
        names, allowed = self._form.actions, np.flatnonzero(mask)
        idles = bool(names.idle) and names.idle_action in allowed
        action = names.idle_action if idles else int(self.random.choice(allowed))
        why = "the model has no answer" if advised is None else "the model's action is not allowed"
        return AgentDecision(action, Source.RULE, 0.0, why)

    def _ask(self, manager: BaseLLMManager, observation: Mapping[str, Any], mask: NDArray[Any]) -> AgentDecision | None:
        prompt = self._template.fill(
            Question(
                self._situation(observation),
                form=self._form,
                game=game_in_words(self._names),
                allowed=np.flatnonzero(mask).tolist(),
            ),
            max_tokens=self._train.max_context_length,
        )
        action, metadata = manager.get_action(f"{prompt.system}\n\n{prompt.text}")
        error = metadata.get("error")
        if error:
            if not self._told:
                say(f"No advice: {error}")
            self._told = True
            return None
        reason = str(metadata.get("reasoning") or metadata.get("reason") or "")
        return AgentDecision(int(action), Source.LLM, float(metadata.get("confidence", 0.5)), reason)

    def _situation(self, observation: Mapping[str, Any]) -> Context:
        if callable(self._context):
            context: Context = self._context()
            return context
        words = observation.get("strategic_context") or {}
        return Context(
            str(words.get("current_goal", "")),
            str(words.get("context_summary", "")),
            tuple(map(str, words.get("action_suggestions", ()))),
        )


def _allows(mask: NDArray[Any], action: int) -> bool:
    return 0 <= action < len(mask) and bool(mask[action])

"""The hybrid agent, for loops written by the user: learner, language model and rules in one environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.advice.policy import LLMShare
from pkmncli.api import PILOT_ACTS, Action, Algorithm, Context, Decision, Pilot, Source, Strategy, Transitions
from pkmncli.config import DEFAULT_STEPS, NONE, resolve_settings
from pkmncli.declared import action_names_of, skills_of
from pkmncli.diagnostics import say
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.arbiter import AgentMode, Arbiter
from pkmncli.hybrid.build import build_curriculum, build_learner, build_pilot
from pkmncli.llm.prompts import PromptTemplate, Question, game_in_words
from pkmncli.llm.replies import ReplyForm
from pkmncli.plugins import get_registry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.llm.manager import BaseLLMManager

WINDOW_EPISODES = 10
"""Episodes in an average reward."""


@dataclass(frozen=True, slots=True)
class AgentDecision:
    """A decision of :meth:`HybridAgent.get_action`, its source and reason."""

    action: int
    source: Source
    confidence: float
    """Confidence of the deciding side, 0..1."""
    reason: str


class HybridAgent:
    """Agent that decides step by step as a training does, and learns from each step.

    In the adaptive mode the learner acts if its confidence exceeds trust times the advised side's. The advised side
    is the language model at every ``llm_interval``-th step, as far as the strategy allows, and the rules otherwise.
    The rules are the pilot of ``env``; without one, the learner takes the steps without advice.

    The agent waits for the language model. :class:`~pkmncli.HybridLLMRLTrainer` asks in parallel with the game, over
    many environments, and can resume: this class is for experiments.

    Args:
        llm_manager: the language model; None for no advice.
        adaptive_strategy: decides how much of the advice is followed; None for all of it.
        action_space_size: number of actions.
        curriculum_config: settings of the curriculum, as in ``[curriculum]``; None for constant trust.
        mode: the sides that may decide.
        env: the environment that is played, for its rules.
        rl: name of the learner; ``none`` for no learner.
        llm_interval: steps from one question to the next.
        settings: other settings of a training by name, and a plugin's as ``section.key``.

    Raises:
        ConfigurationError: a setting is wrong, or no side could decide.
    """

    def __init__(
        self,
        llm_manager: BaseLLMManager | None = None,
        adaptive_strategy: Strategy | None = None,
        action_space_size: int = len(Action),
        curriculum_config: Mapping[str, Any] | None = None,
        *,
        mode: AgentMode = AgentMode.ADAPTIVE,
        env: Any = None,
        rl: str = "dqn",
        llm_interval: int = 30,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.llm_manager = llm_manager
        self.adaptive_strategy = adaptive_strategy
        self.mode = AgentMode(mode)
        self._core: dict[str, Any] = {"mode": str(self.mode), "rl": rl, "llm_interval": llm_interval}
        self._core |= {name: value for name, value in (settings or {}).items() if "." not in name}
        self._sets = [f"{name}={value}" for name, value in (settings or {}).items() if "." in name]
        self.settings = resolve_settings(self._core, registry=get_registry(), sets=self._sets)
        self.curriculum_config = dict(curriculum_config) if curriculum_config is not None else None
        self.last_decision: AgentDecision | None = None
        """The latest decision, with its reason."""
        self.episodes = 0
        """Number of episodes that have ended."""
        self._actions = action_space_size
        self._pilot: Pilot | None = None if env is None else build_pilot(self.settings, env)
        unwrapped = getattr(env, "unwrapped", env)
        self._names: Mapping[str, Any] = getattr(unwrapped, "names", {})
        self._context = getattr(env, "context", None)
        self._form = ReplyForm(skills_of(self._pilot), action_names_of(unwrapped))
        if llm_manager is not None and env is not None:
            llm_manager.form = self._form
        self._share = LLMShare(1.0 if adaptive_strategy is None else adaptive_strategy.share)
        self._arbiter = Arbiter(self.mode, 1, self.settings.train.seed)
        self._curriculum = None if curriculum_config is None else build_curriculum(curriculum_config)
        if self._curriculum is not None:
            self._arbiter.trust = self._curriculum.trust
        self.learner: Algorithm | None = None
        """Built at the first observation."""
        self._template = PromptTemplate.load(max_tokens=self.settings.train.max_context_length)
        self._steps = 0
        self._told = False
        self._rewards: list[float] = []
        self._begin_episode()
        if rl == NONE and llm_manager is None and self._pilot is None:
            raise ConfigurationError(
                "no side could decide: give a learner (rl), a language model, or env for its rules"
            )

    @property
    def trust(self) -> float:
        """Weight of the advised side's confidence against the learner's, 0..1."""
        return self._arbiter.trust

    # Called by the loop ----------------------------------------------------------------------------------------------

    def get_action(self, observation: Mapping[str, Any], info: Mapping[str, Any] | None = None) -> int:
        """Return the action for an observation. :attr:`last_decision` has its source and reason.

        Args:
            observation: of one environment.
            info: the environment's; not used.
        """
        advised = self._advised(observation)
        self.last_decision = self._arbitrate(_batch_of_one(observation), advised)
        return self.last_decision.action

    def update(
        self,
        observation: Mapping[str, Any],
        action: int,
        reward: float,
        next_observation: Mapping[str, Any],
        done: bool,
    ) -> None:
        """Take in the result of an action, for the learner, the strategy and the curriculum.

        Args:
            observation: the observation that was acted on.
            action: the action taken.
            reward: its reward.
            next_observation: the observation that followed; the last one if the episode has ended.
            done: True if the episode has ended.
        """
        source = Source.RULE if self.last_decision is None else self.last_decision.source
        self._count(source, reward)
        if self.learner is not None:
            self._learn(observation, action, reward, next_observation, done, source)
        if done:
            self._end_episode()

    def describe(self, given: Any) -> None:
        """Describe the agent's parts to a trainer, without what the agent has learned.

        Args:
            given: receives settings, as :class:`pkmncli.training.from_objects.Given` does.
        """
        given.core |= self._core
        given.sets += self._sets
        if self.llm_manager is not None:
            given.model(self.llm_manager)
        if self.adaptive_strategy is not None:
            given.strategy(self.adaptive_strategy)
        for key, value in (self.curriculum_config or {}).items():
            given.plugin("curriculum", key, value)

    # Deciding --------------------------------------------------------------------------------------------------------

    def _advised(self, observation: Mapping[str, Any]) -> AgentDecision | None:
        """Return the advised side's decision: the model's advice if it is due and followed, else the rules'."""
        if self.mode is AgentMode.RL_ONLY:
            return None
        mask = np.asarray(observation.get("action_mask", np.ones(self._actions)))
        by_rules = None
        if self._pilot is not None:
            if self._episode_steps == 0:
                self._pilot.reset(self.settings.train.seed + self.episodes)
            by_rules = _of_pilot(self._pilot.act(None))
        due = self.llm_manager is not None and self._episode_steps % self.settings.train.llm_interval == 0
        self._episode_steps += 1
        if due and self._share.follows():
            advised = self._ask(observation)
            if advised is not None and mask[advised.action]:
                self._share.count(llm=True)
                return advised
        elif due:
            self._share.count(llm=False)
        return by_rules

    def _ask(self, observation: Mapping[str, Any]) -> AgentDecision | None:
        manager = self.llm_manager
        assert manager is not None
        prompt = self._template.fill(
            Question(
                self._situation(observation),
                form=manager.reply_form(),
                game=game_in_words(self._names),
            ),
            max_tokens=self.settings.train.max_context_length,
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

    def _arbitrate(self, arrays: Mapping[str, NDArray[Any]], advised: AgentDecision | None) -> AgentDecision:
        if self.settings.train.rl == NONE or (self.mode is AgentMode.LLM_ONLY and advised is not None):
            return advised or AgentDecision(self._form.actions.idle_action, Source.RULE, 0.0, "no side has an action")
        if self.learner is None:
            self.learner = self._new_learner(arrays)
        actions, confidences, exploring = self.learner.act(arrays, explore=True)
        own = AgentDecision(
            int(actions[0]),
            Source.EXPLORE if exploring[0] else Source.RL,
            float(confidences[0]),
            "explores at random" if exploring[0] else "its best allowed action",
        )
        if advised is None:
            return own
        chosen, _ = self._arbiter.choose(actions, confidences, exploring, np.array([advised.confidence], np.float32))
        return advised if chosen[0] == PILOT_ACTS else own

    def _new_learner(self, arrays: Mapping[str, NDArray[Any]]) -> Algorithm:
        """Return the learner for observations such as ``arrays``, batch first."""
        from gymnasium import spaces  # noqa: PLC0415 - a tenth of a second that only agents with a learner need

        train = self.settings.train
        return build_learner(
            self.settings,
            get_registry(),
            spaces.Dict({name: _space_of(name, array[0]) for name, array in arrays.items()}),
            spaces.Discrete(self._actions),
            num_envs=1,
            seed=train.seed,
            total_steps=DEFAULT_STEPS if train.steps is None else train.steps,
        )

    # Results ---------------------------------------------------------------------------------------------------------

    def _learn(
        self,
        observation: Mapping[str, Any],
        action: int,
        reward: float,
        next_observation: Mapping[str, Any],
        done: bool,
        source: Source,
    ) -> None:
        learner = self.learner
        assert learner is not None
        learner.observe(
            Transitions(
                observations=_batch_of_one(observation),
                actions=np.array([action], np.int64),
                rewards=np.array([reward], np.float32),
                terminated=np.array([done]),
                truncated=np.array([False]),
                next_observations=_batch_of_one(next_observation),
                sources=np.array([source], np.uint8),
            )
        )
        self._steps += 1
        if self._steps % learner.update_interval == 0:
            drawn = learner.draw()
            if drawn is not None:
                learner.learn(drawn)
                learner.publish()

    def _count(self, source: Source, reward: float) -> None:
        self._episode_reward += reward
        self._episode_updates += 1
        self._llm_steps += source is Source.LLM

    def _end_episode(self) -> None:
        self.episodes += 1
        reward = self._episode_reward
        self._rewards = [*self._rewards, reward][-WINDOW_EPISODES:]
        strategy = self.adaptive_strategy
        if strategy is not None:
            self._share.share = strategy.select(
                {
                    "episode_reward": reward,
                    "average_reward": fmean(self._rewards),
                    "episode_length": self._episode_updates,
                    "llm_usage_rate": self._llm_steps / self._episode_updates,
                    "curriculum_stage": 1 if self._curriculum is None else self._curriculum.stage,
                }
            )
        if self._curriculum is not None:
            stays = strategy is not None and strategy.asks_to_stay
            change = self._curriculum.end_episode(reward, asks_to_stay=stays)
            self._arbiter.trust = self._curriculum.trust
            if change is not None:
                say(change.reason)
                if strategy is not None and change.advanced:
                    strategy.begin_stage(change.preferred)
        self._begin_episode()

    def _begin_episode(self) -> None:
        self._episode_steps = self._episode_updates = self._llm_steps = 0
        self._episode_reward = 0.0


def _of_pilot(decision: Decision) -> AgentDecision:
    return AgentDecision(decision.action, Source.RULE, decision.confidence, decision.reason)


def _batch_of_one(observation: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays of an observation, without its texts, as a learner takes them."""
    return {name: np.asarray(part)[None] for name, part in observation.items() if not isinstance(part, Mapping)}


def _space_of(name: str, array: NDArray[Any]) -> Any:
    from gymnasium import spaces  # noqa: PLC0415 - as above

    low, high = (0, 255) if array.dtype == np.uint8 else (0, 1) if name == "action_mask" else (-np.inf, np.inf)
    return spaces.Box(low, high, array.shape, array.dtype.type)

"""The hybrid agent of the documents, for loops of one's own: learner, language model and rules in one environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import PILOT_ACTS, Action, Algorithm, Context, Decision, Pilot, Source, Strategy, Transitions
from pkmncli.config import NONE, resolve_settings
from pkmncli.diagnostics import say
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.agent_parts import batch_of_one, build_curriculum, build_learner, build_pilot
from pkmncli.hybrid.arbiter import AgentMode, Arbiter
from pkmncli.hybrid.sides import SideShare
from pkmncli.llm.prompts import PromptTemplate, Question
from pkmncli.plugins import get_registry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.llm.manager import BaseLLMManager

WINDOW_EPISODES = 10
"""Episodes of an average reward."""


@dataclass(frozen=True, slots=True)
class AgentDecision:
    """What :meth:`HybridAgent.get_action` decided, who did, and why."""

    action: int
    source: Source
    confidence: float
    """Of whoever decided, 0..1."""
    reason: str


class HybridAgent:
    """Decides step by step as a training does, and learns from each.

    In the adaptive mode the learner acts where its confidence exceeds trust times the advised side's. The advised side
    is the language model at every ``llm_interval``-th step, as far as the strategy lets it, and the rules elsewhere.
    The rules are the pilot of ``env``; without one, the learner has the steps for which there is no advice.

    A language model is waited for. :class:`~pkmncli.HybridLLMRLTrainer` asks beside the game, over many environments,
    and can go on where it was: this class is for trying things out.

    Args:
        llm_manager: the language model; None for no advice.
        adaptive_strategy: how much of the advice is followed; None for all of it.
        action_space_size: number of actions.
        curriculum_config: settings of the curriculum, as ``[curriculum]`` has them; None for trust that stays.
        mode: which sides may decide.
        env: the environment that is played, for its rules.
        rl: the learner, by name; none for no learner.
        llm_interval: steps from one question to the next.
        settings: other settings of a training by name, and a plugin's as ``section.key``.

    Raises:
        ConfigurationError: a setting is wrong, or there is nobody to decide.
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
        """Episodes that have ended."""
        self._actions = action_space_size
        self._pilot: Pilot | None = None if env is None else build_pilot(self.settings, env)
        self._context = getattr(env, "context", None)
        self._sides = SideShare(1.0 if adaptive_strategy is None else adaptive_strategy.share)
        self._arbiter = Arbiter(self.mode, 1, self.settings.train.seed)
        self._curriculum = None if curriculum_config is None else build_curriculum(curriculum_config)
        if self._curriculum is not None:
            self._arbiter.trust = self._curriculum.trust
        self.learner: Algorithm | None = None
        """Built at the first observation that it decides on."""
        self._template = PromptTemplate.load(max_tokens=self.settings.train.max_context_length)
        self._steps = 0
        self._told = False
        self._rewards: list[float] = []
        self._begin_episode()
        if rl == NONE and llm_manager is None and self._pilot is None:
            raise ConfigurationError("nobody could decide: give a learner (rl), a language model, or env for its rules")

    @property
    def trust(self) -> float:
        """How much more weight the advised side's confidence has than the learner's, 0..1."""
        return self._arbiter.trust

    # A loop's side ---------------------------------------------------------------------------------------------------

    def get_action(self, observation: Mapping[str, Any], info: Mapping[str, Any] | None = None) -> int:
        """Decides for the state observed. :attr:`last_decision` says who did and why.

        Args:
            observation: as the environment gives it, one environment's.
            info: the environment's; not needed.
        """
        advised = self._advised(observation)
        self.last_decision = self._arbitrate(batch_of_one(observation), advised)
        return self.last_decision.action

    def update(
        self,
        observation: Mapping[str, Any],
        action: int,
        reward: float,
        next_observation: Mapping[str, Any],
        done: bool,
    ) -> None:
        """Takes in what followed on an action: for the learner, the strategy and the curriculum.

        Args:
            observation: what was decided on.
            action: what was done.
            reward: what it earned.
            next_observation: what followed; an episode's last one where it has ended.
            done: whether the episode has ended.
        """
        source = Source.RULE if self.last_decision is None else self.last_decision.source
        self._count(source, reward)
        if self.learner is not None:
            self._learn(observation, action, reward, next_observation, done, source)
        if done:
            self._end_episode()

    def describe(self, given: Any) -> None:
        """Tells a trainer what the agent is made of; what it has learned is not part of that.

        Args:
            given: takes settings, as :class:`pkmncli.training.from_objects.Given` does.
        """
        given.core |= self._core
        given.sets += self._sets
        if self.llm_manager is not None:
            given.model(self.llm_manager)
        if self.adaptive_strategy is not None:
            given.strategy(self.adaptive_strategy)
        for key, value in (self.curriculum_config or {}).items():
            given.plugin("curriculum", key, value)

    # Who decides -----------------------------------------------------------------------------------------------------

    def _advised(self, observation: Mapping[str, Any]) -> AgentDecision | None:
        """What the advised side would do: the model's advice where it is due and followed, the rules' otherwise."""
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
        if due and self._sides.follows():
            advised = self._ask(observation)
            if advised is not None and mask[advised.action]:
                self._sides.count(llm=True)
                return advised
        elif due:
            self._sides.count(llm=False)
        return by_rules

    def _ask(self, observation: Mapping[str, Any]) -> AgentDecision | None:
        manager = self.llm_manager
        assert manager is not None
        prompt = self._template.fill(
            Question(self._situation(observation)), max_tokens=self.settings.train.max_context_length
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
            return advised or AgentDecision(int(Action.NONE), Source.RULE, 0.0, "nobody had anything to say")
        if self.learner is None:
            self.learner = build_learner(self.settings, arrays, self._actions)
        actions, confidences, exploring = self.learner.act(arrays, explore=True)
        own = AgentDecision(
            int(actions[0]),
            Source.EXPLORE if exploring[0] else Source.RL,
            float(confidences[0]),
            "tries something at random" if exploring[0] else "its first choice of what is allowed",
        )
        if advised is None:
            return own
        chosen, _ = self._arbiter.choose(actions, confidences, exploring, np.array([advised.confidence], np.float32))
        return advised if chosen[0] == PILOT_ACTS else own

    # What followed ---------------------------------------------------------------------------------------------------

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
                observations=batch_of_one(observation),
                actions=np.array([action], np.int64),
                rewards=np.array([reward], np.float32),
                terminated=np.array([done]),
                truncated=np.array([False]),
                next_observations=batch_of_one(next_observation),
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
            self._sides.share = strategy.select(
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

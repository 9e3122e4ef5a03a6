"""The hybrid agent, for loops written by the user: learner, language model and rules in one environment."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy, deepcopy
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.advice.policy import LLMShare
from pkmncli.api import PILOT_ACTS, Action, Algorithm, FlatActions, Pilot, Source, Strategy
from pkmncli.config import NONE, resolve_settings
from pkmncli.config.resolved import DEFAULT
from pkmncli.declared import action_names_of, skills_of
from pkmncli.diagnostics import say, say_once
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.advised_side import AdvisedSide, AgentDecision
from pkmncli.hybrid.arbiter import AgentMode, Arbiter
from pkmncli.hybrid.build import build_curriculum, build_pilot
from pkmncli.hybrid.learner_side import LearnerSide
from pkmncli.llm.replies import ReplyForm
from pkmncli.plugins import get_registry

if TYPE_CHECKING:
    from pkmncli.llm.manager import BaseLLMManager

logger = logging.getLogger(__name__)

WINDOW_EPISODES = 10
"""Episodes in an average reward."""


class HybridAgent:
    """Agent that decides step by step as a training does, and learns from each step.

    In the adaptive mode the learner acts if its confidence exceeds trust times the advised side's. The advised side
    is the language model at every ``llm_interval``-th step, as far as the strategy allows, and the rules otherwise.
    The rules are the pilot of ``env``; without one, or with the setting ``pilot`` = ``none``, the learner takes the
    steps without advice.

    In the mode ``LLM_ONLY`` the learner never decides. The rules of ``env`` take the steps without advice. If there are
    no rules, the model alone is asked at every step; where it has no allowed action, the agent takes the idle action,
    or a random allowed one if the environment declares none.

    Actions are numbers from 0; those of a MultiDiscrete or MultiBinary space are as :class:`pkmncli.api.FlatActions`
    counts them.

    A training reads an agent's settings. If a subclass overrides :meth:`get_action` or :meth:`update`, the training
    calls them for each step of its one environment, and nothing else decides.

    The agent waits for the language model. :class:`~pkmncli.HybridLLMRLTrainer` asks in parallel with the game, over
    many environments, and can resume: this class is for experiments.

    Args:
        llm_manager: the language model; None for no advice.
        adaptive_strategy: decides how much of the advice is followed; None for all of it.
        action_space_size: number of actions, unless ``env`` is given.
        curriculum_config: settings of the curriculum, as in ``[curriculum]``; None for constant trust.
        mode: the sides that may decide.
        env: the environment that is played, for its rules.
        rl: name of the learner; ``none`` for no learner.
        llm_interval: steps from one question to the next; None for the setting's.
        settings: other settings of a training by name, and a plugin's as ``section.key``.

    Raises:
        ConfigurationError: a setting is wrong, or no side could decide.
    """

    explores: bool = True
    """True if the learner may explore; False in an evaluation."""

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
        llm_interval: int | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.llm_manager = llm_manager
        self.adaptive_strategy = adaptive_strategy
        self.mode = AgentMode(mode)
        self._core: dict[str, Any] = {"mode": str(self.mode), "rl": rl}
        self._core |= {} if llm_interval is None else {"llm_interval": llm_interval}
        self._core |= {name: value for name, value in (settings or {}).items() if "." not in name}
        self._sets = [f"{name}={value}" for name, value in (settings or {}).items() if "." in name]
        self.settings = resolve_settings(self._core, registry=get_registry(), sets=self._sets)
        self.curriculum_config = dict(curriculum_config) if curriculum_config is not None else None
        self.last_decision: AgentDecision | None = None
        """The latest decision, with its reason."""
        self.episodes = 0
        """Number of episodes that have ended."""
        if hasattr(getattr(env, "action_space", None), "low"):
            raise ConfigurationError(
                "an agent chooses numbered actions; train continuous ones with pkmn train --rl ppo"
            )
        self._actions = FlatActions.of(env.action_space).count if hasattr(env, "action_space") else action_space_size
        has_pilot = env is not None and self.settings.train.pilot != NONE
        self._pilot: Pilot | None = build_pilot(self.settings, env) if has_pilot else None
        self._form = ReplyForm(skills_of(self._pilot), action_names_of(getattr(env, "unwrapped", env), self._actions))
        if llm_manager is not None:
            own = llm_manager.reply_form()
            if env is None and len(own.actions.names) == self._actions:
                self._form = own
            llm_manager.form = self._form
        self._share = LLMShare(1.0 if adaptive_strategy is None else adaptive_strategy.share)
        self._arbiter = Arbiter(self.mode, 1, self.settings.train.seed)
        self._curriculum = None if curriculum_config is None else build_curriculum(curriculum_config)
        if self._curriculum is not None:
            self._arbiter.trust = self._curriculum.trust
        self._advised = AdvisedSide(
            self.settings.train,
            llm_manager,
            self._pilot,
            env,
            form=self._form,
            share=self._share,
            model_alone=self._model_alone,
        )
        self._learner = LearnerSide(self.settings, self._actions)
        self._allowed = self._actions
        """Number of allowed actions at the latest decision."""
        self._confidences = ("none", "none")
        """Actions and confidences of the learner and of the advised side at the latest decision, in words."""
        self._rewards: list[float] = []
        self.begin_episode()
        self._check_sides()

    def _check_sides(self) -> None:
        """Check that a side can decide. Say what is not obvious about the mode LLM_ONLY."""
        if self.settings.train.rl == NONE and self.llm_manager is None and self._pilot is None:
            raise ConfigurationError(
                "no side could decide: give a learner (rl), a language model, or env for its rules"
            )
        if self.mode is not AgentMode.LLM_ONLY:
            return
        if self.llm_manager is None and self._pilot is None:
            raise ConfigurationError(
                "mode llm-only needs a language model, or env for its rules: its learner never decides"
            )
        if self.llm_manager is not None and self._pilot is not None:
            say_once(
                "Mode llm-only: the rules of env decide the steps without advice; settings={'pilot': 'none'} leaves "
                "the language model alone."
            )
        if self._model_alone:
            given = {
                "llm_interval": self.settings.origins["llm_interval"] != DEFAULT,
                "adaptive_strategy": self.adaptive_strategy is not None,
            }
            names = [name for name, is_given in given.items() if is_given]
            if names:
                say_once(f"{', '.join(names)}: no effect, since the language model alone decides every step")

    @property
    def _model_alone(self) -> bool:
        return self.mode is AgentMode.LLM_ONLY and self._pilot is None

    @property
    def learner(self) -> Algorithm | None:
        """Learner that is built at the first observation, or the trained one after a training."""
        return self._learner.learner

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
        mask = np.asarray(observation.get("action_mask", np.ones(self._actions)))
        by_advice = self.mode is not AgentMode.RL_ONLY
        advised = self._advised.decide(observation, mask, self.episodes) if by_advice else None
        if logger.isEnabledFor(logging.DEBUG):
            self._confidences = ("none", self._in_words(advised))
            self._allowed = int(np.count_nonzero(mask))
        self.last_decision = self._arbitrate(observation, advised)
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
        if logger.isEnabledFor(logging.DEBUG):
            self._log(action, reward)
        self._episode_reward += reward
        self._episode_updates += 1
        self._llm_steps += source is Source.LLM
        self._learner.observe(observation, action, reward, next_observation, done, source)
        if done:
            self._end_episode()

    def _log(self, action: int, reward: float) -> None:
        """Log a decision with all that led to it, once its reward is known."""
        made, (learner, advised) = self.last_decision, self._confidences
        by_llm = made is not None and made.source is Source.LLM
        logger.debug(
            "episode %d, step %d: %s; learner %s, advised side %s, trust %.2f; %d of %d actions allowed; advice: %s; "
            "strategy: %s; reward %g",
            self.episodes,
            self._episode_updates + 1,
            action if made is None else f"{self._in_words(made)} by {made.source.name.lower()}",
            learner,
            advised,
            self.trust,
            self._allowed,
            self._actions,
            (made.reason or "without a reason") if made is not None and by_llm else "none",
            "none" if self.adaptive_strategy is None else self.adaptive_strategy.name,
            reward,
        )

    def _in_words(self, decision: AgentDecision | None) -> str:
        if decision is None:
            return "none"
        names = self._form.actions.names
        name = names[decision.action] if 0 <= decision.action < len(names) else str(decision.action)
        return f"{name} {decision.confidence:.2f}"

    @property
    def decides_itself(self) -> bool:
        """True if a subclass decides or learns otherwise: a training then calls it for each step."""
        kind = type(self)
        return kind.get_action is not HybridAgent.get_action or kind.update is not HybridAgent.update

    def take_trained(
        self, learner: Algorithm | None, observed: Mapping[str, Any], *, episodes: int, trust: float
    ) -> None:
        """Take the results of a training.

        Args:
            learner: the trained learner, for one environment; None if nothing learned.
            observed: spaces of its observations by name; names in nested dictionaries are joined by dots.
            episodes: number of episodes that have ended.
            trust: weight of the advised side's confidence.
        """
        self.episodes, self._arbiter.trust = episodes, trust
        self._learner.take(learner, observed)
        self.begin_episode()

    def state_dict(self) -> dict[str, Any]:
        """Return the state as arrays and plain values by dotted name, without the experience of the learner."""
        return {
            "episodes": self.episodes,
            "steps": self._learner.steps,
            "rewards": list(self._rewards),
            "episode": [self._advised.steps, self._episode_updates, self._llm_steps, self._episode_reward],
            "arbiter": self._arbiter.state_dict(),
            "random": self._advised.random.bit_generator.state,
            "share": self._share.state_dict(),
            "curriculum": None if self._curriculum is None else self._curriculum.state_dict(),
            "strategy": None if self.adaptive_strategy is None else self.adaptive_strategy.state_dict(),
            **self._learner.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. The learner takes its part when it is built, at the next observation."""
        self.episodes, self._learner.steps = int(state["episodes"]), int(state["steps"])
        self._rewards = [float(reward) for reward in state["rewards"]]
        self._advised.steps, self._episode_updates, self._llm_steps = (int(count) for count in state["episode"][:3])
        self._episode_reward = float(state["episode"][3])
        self._arbiter.load_state_dict(state["arbiter"])
        self._advised.random.bit_generator.state = state["random"]
        self._share.load_state_dict(state["share"])
        if self._curriculum is not None and state["curriculum"] is not None:
            self._curriculum.load_state_dict(state["curriculum"])
        if self.adaptive_strategy is not None and state["strategy"] is not None:
            self.adaptive_strategy.load_state_dict(state["strategy"])
        self._learner.load_state_dict(state)

    @contextmanager
    def evaluation(self) -> Iterator[None]:
        """Play episodes of an evaluation while entered: nothing explores, and the state is as before afterwards.

        The state is that of :meth:`state_dict`. The learner keeps its experience.
        """
        state, learner, decision = deepcopy(self.state_dict()), copy(self._learner), self.last_decision
        self.explores = False
        try:
            yield
        finally:
            self.explores = True
            self.load_state_dict(state)
            self._learner, self.last_decision = learner, decision

    def describe(self, given: Any) -> None:
        """Describe the agent's parts to a trainer, without what the agent has learned.

        Args:
            given: receives settings, as :class:`pkmncli.training.from_objects.Given` does.
        """
        given.core |= self._core
        given.sets += self._sets
        if self.decides_itself:
            if self._pilot is not None:
                raise ConfigurationError(
                    f"{type(self).__name__} decides by itself, and its rules look at env, which a training does not "
                    "play: leave out env"
                )
            given.agent(self)
            return
        if self._model_alone:
            given.core.setdefault("pilot", NONE)
        if self.llm_manager is not None:
            given.model(self.llm_manager)
        if self.adaptive_strategy is not None:
            given.strategy(self.adaptive_strategy)
        for key, value in (self.curriculum_config or {}).items():
            given.plugin("curriculum", key, value)

    # Deciding --------------------------------------------------------------------------------------------------------

    def _arbitrate(self, observation: Mapping[str, Any], advised: AgentDecision | None) -> AgentDecision:
        if self.settings.train.rl == NONE or self.mode is AgentMode.LLM_ONLY:
            return advised or AgentDecision(self._form.actions.idle_action, Source.RULE, 0.0, "no side has an action")
        actions, confidences, exploring = self._learner.act(observation, explore=self.explores)
        own = AgentDecision(
            int(actions[0]),
            Source.EXPLORE if exploring[0] else Source.RL,
            float(confidences[0]),
            "explores at random" if exploring[0] else "its best allowed action",
        )
        if logger.isEnabledFor(logging.DEBUG):
            self._confidences = (self._in_words(own), self._confidences[1])
        if advised is None:
            return own
        chosen, _ = self._arbiter.choose(actions, confidences, exploring, np.array([advised.confidence], np.float32))
        return advised if chosen[0] == PILOT_ACTS else own

    # Results ---------------------------------------------------------------------------------------------------------

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
        self.begin_episode()

    def begin_episode(self) -> None:
        """Forget the episode before: called after its end, and at the start of each episode of an evaluation."""
        self._advised.steps = self._episode_updates = self._llm_steps = 0
        self._episode_reward = 0.0
        self._learner.memory = None

"""The hybrid agent in a user's loop: who decides, why, and what it learns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
from support.plain_environments import Nested
from support.variants import long_after

from pkmn_pyboy.enhanced_environment import EnhancedPyBoyPokemonCrystalEnv
from pkmn_strategies.adaptive import AdaptiveStrategySystem
from pkmncli.api import Action, Source, StrategyType
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.agent import HybridAgent
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.llm.manager import BaseLLMManager

QUICK = {"dqn.learning_starts": 8, "dqn.batch_size": 4}
QUICK_ROLLOUTS = {"ppo.n_steps": 8, "ppo.batch_size": 4, "ppo.n_epochs": 1}


class Talkative(BaseLLMManager):
    """Model that always advises the same action, that of A, and keeps its prompts."""

    def __init__(self, action: int = 0) -> None:
        super().__init__(None, "none")
        self.action = action
        self.asked: list[str] = []

    def get_action(self, context: str) -> tuple[int, dict[str, Any]]:
        self.asked.append(context)
        return self.action, {"reason": "somebody may be there", "confidence": 1.0}


class Silent(BaseLLMManager):
    """Model that never gives advice."""

    def get_action(self, context: str) -> tuple[int, dict[str, Any]]:
        return 8, {"error": "the line is dead", "confidence": 0.0}


@pytest.fixture(scope="module")
def env() -> Iterator[EnhancedPyBoyPokemonCrystalEnv]:
    environment = EnhancedPyBoyPokemonCrystalEnv(max_steps_per_episode=20)
    yield environment
    environment.close()


def play(env: EnhancedPyBoyPokemonCrystalEnv, agent: HybridAgent, steps: int) -> list[Source]:
    """Return who decided each step."""
    sources = []
    observation, info = env.reset(seed=1)
    for _ in range(steps):
        action = agent.get_action(observation, info)
        assert observation["action_mask"][action], "nobody presses what is not allowed"
        assert agent.last_decision is not None
        assert agent.last_decision.reason
        sources.append(agent.last_decision.source)
        following, reward, terminated, truncated, info = env.step(action)
        agent.update(observation, action, reward, following, terminated or truncated)
        observation = following
        if terminated or truncated:
            observation, info = env.reset()
    return sources


def test_the_advised_side_alone_is_model_and_rules(env: EnhancedPyBoyPokemonCrystalEnv) -> None:
    model = Talkative()
    agent = HybridAgent(model, mode=AgentMode.LLM_ONLY, env=env, rl="none", llm_interval=5)
    assert play(env, agent, 10) == ([Source.LLM] + [Source.RULE] * 4) * 2
    assert len(model.asked) == 2
    assert "stairs" in model.asked[0]


@pytest.mark.parametrize(("rl", "settings"), long_after(1, [("dqn", QUICK), ("ppo", QUICK_ROLLOUTS), ("a2c", {})]))
def test_the_learner_alone_learns(env: EnhancedPyBoyPokemonCrystalEnv, rl: str, settings: dict[str, Any]) -> None:
    agent = HybridAgent(mode=AgentMode.RL_ONLY, rl=rl, settings=settings)
    assert set(play(env, agent, 24)) <= {Source.RL, Source.EXPLORE}
    learner: Any = agent.learner
    assert learner.state_dict()["learning.updates"] > 0
    assert agent.episodes == 1


def test_an_untrained_learner_leaves_most_to_the_rules(env: EnhancedPyBoyPokemonCrystalEnv) -> None:
    sources = play(env, HybridAgent(env=env, settings=QUICK), 40)
    assert sources.count(Source.RULE) >= 20


def test_without_a_pilot_the_learner_fills_in(env: EnhancedPyBoyPokemonCrystalEnv) -> None:
    sources = play(env, HybridAgent(Talkative(), llm_interval=4, settings=QUICK), 8)
    assert sources[0] is Source.LLM
    assert set(sources[1:4]) <= {Source.RL, Source.EXPLORE}


def test_a_strategy_says_how_much_advice_is_followed(env: EnhancedPyBoyPokemonCrystalEnv) -> None:
    strategy = AdaptiveStrategySystem(initial=StrategyType.RULE_HEAVY)
    model = Talkative()
    agent = HybridAgent(model, strategy, mode=AgentMode.LLM_ONLY, env=env, rl="none", llm_interval=1)
    sources = play(env, agent, 20)
    assert sources.count(Source.LLM) == 4, "a fifth of 20"
    assert strategy.get_strategy_stats()["episodes"] == 1


def test_a_model_that_fails_is_told_once(
    env: EnhancedPyBoyPokemonCrystalEnv, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = HybridAgent(Silent(), mode=AgentMode.LLM_ONLY, env=env, rl="none", llm_interval=1)
    capsys.readouterr()
    assert set(play(env, agent, 5)) == {Source.RULE}
    assert capsys.readouterr().err == "No advice: the line is dead\n"


def test_a_model_alone_decides_every_step(
    env: EnhancedPyBoyPokemonCrystalEnv, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Talkative()
    agent = HybridAgent(model, AdaptiveStrategySystem(), mode=AgentMode.LLM_ONLY, llm_interval=7)
    unread = "llm_interval, adaptive_strategy: no effect, since the language model alone decides every step"
    assert unread in capsys.readouterr().err
    assert set(play(env, agent, 10)) == {Source.LLM}
    assert (len(model.asked), agent.learner) == (10, None)


def test_a_model_alone_without_an_answer_waits(env: EnhancedPyBoyPokemonCrystalEnv) -> None:
    agent = HybridAgent(Silent(), mode=AgentMode.LLM_ONLY)
    observation, info = env.reset(seed=1)
    assert [agent.get_action(observation, info) for _ in range(3)] == [Action.NONE] * 3
    assert agent.last_decision is not None
    assert agent.last_decision.reason == "the model has no answer"


def test_llm_only_needs_a_model_or_rules() -> None:
    with pytest.raises(ConfigurationError, match="mode llm-only needs a language model, or env for its rules"):
        HybridAgent(mode=AgentMode.LLM_ONLY)


def test_rules_beside_a_model_are_announced(
    env: EnhancedPyBoyPokemonCrystalEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("pkmncli.hybrid.agent.say_once", said.append)
    HybridAgent(Talkative(), mode=AgentMode.LLM_ONLY, env=env)
    assert ["the rules of env decide the steps without advice" in line for line in said] == [True]


def test_a_curriculum_lowers_trust(env: EnhancedPyBoyPokemonCrystalEnv, capsys: pytest.CaptureFixture[str]) -> None:
    stages = [{"reward_threshold": 5_000, "llm_confidence": trust} for trust in (0.9, 0.6)]
    agent = HybridAgent(env=env, curriculum_config={"stages": stages, "advancement_patience": 1}, settings=QUICK)
    assert agent.trust == 0.9
    play(env, agent, 20)
    assert agent.trust == 0.6
    assert "sinks to 0.6" in capsys.readouterr().err
    with pytest.raises(ConfigurationError, match=r"curriculum_config\.stages"):
        HybridAgent(curriculum_config={"stages": []})


def test_somebody_has_to_decide() -> None:
    with pytest.raises(ConfigurationError, match="no side could decide"):
        HybridAgent(rl="none")


def test_arrays_of_nested_dictionaries_reach_the_learner_and_texts_do_not() -> None:
    agent = HybridAgent(mode=AgentMode.RL_ONLY, rl="a2c", env=Nested(), settings={"pilot": "none"})
    observation = {"me": {"cards": np.ones(2, np.float32), "suit": np.int64(3), "said": "none"}, "words": ()}
    actions = [agent.get_action(observation) for _ in range(40)]
    assert 8 < max(actions) < 12, "the components' values, 3 by 4, are numbered"
    agent.update(observation, actions[-1], 1.0, observation, True)
    assert agent.episodes == 1


class Cards(gymnasium.Env[dict[str, Any], int]):
    """Environment of 500 actions, of which two are allowed."""

    action_space = gymnasium.spaces.Discrete(500)
    names: ClassVar[dict[str, str]] = {"game": "Cards"}


def test_advice_names_any_action_of_an_environment_without_a_pilot() -> None:
    class Dealer(BaseLLMManager):
        def get_action(self, context: str) -> tuple[int, dict[str, Any]]:
            assert "Environment: Cards" in context
            assert "Allowed now: action_7, action_499." in context
            return self.parse_action('{"actions": ["action_499"], "confidence": 1}'), {"confidence": 1.0}

    mask = np.zeros(500, np.int8)
    mask[[7, 499]] = 1
    agent = HybridAgent(Dealer(), env=Cards(), rl="none", mode=AgentMode.LLM_ONLY, settings={"pilot": "none"})
    assert agent.get_action({"action_mask": mask}) == 499
    assert agent.last_decision is not None
    assert agent.last_decision.source is Source.LLM


def test_advice_beyond_the_actions_of_an_environment_is_not_followed() -> None:
    agent = HybridAgent(Talkative(4), rl="none", mode=AgentMode.LLM_ONLY, settings={"pilot": "none"})
    assert agent.get_action({"action_mask": np.array([0, 1, 0], np.int8)}) == 1
    assert agent.last_decision is not None
    assert agent.last_decision.reason == "the model's action is not allowed"

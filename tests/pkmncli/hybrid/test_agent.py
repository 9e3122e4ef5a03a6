"""The hybrid agent in a user's loop: who decides, why, and what it learns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pkmn_pyboy.enhanced_environment import EnhancedPyBoyPokemonCrystalEnv
from pkmn_strategies.adaptive import AdaptiveStrategySystem
from pkmncli.api import Source, StrategyType
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.agent import HybridAgent
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.llm.manager import BaseLLMManager

QUICK = {"dqn.learning_starts": 8, "dqn.batch_size": 4}
QUICK_ROLLOUTS = {"ppo.n_steps": 8, "ppo.batch_size": 4, "ppo.n_epochs": 1}


class Talkative(BaseLLMManager):
    """Model that always advises to press A, and keeps its prompts."""

    def __init__(self) -> None:
        super().__init__(None, "none")
        self.asked: list[str] = []

    def get_action(self, context: str) -> tuple[int, dict[str, Any]]:
        self.asked.append(context)
        return 0, {"reason": "somebody may be there", "confidence": 1.0}


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


@pytest.mark.parametrize(("rl", "settings"), [("dqn", QUICK), ("ppo", QUICK_ROLLOUTS), ("a2c", {})])
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
    assert set(play(env, agent, 5)) == {Source.RULE}
    assert capsys.readouterr().err == "No advice: the line is dead\n"


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

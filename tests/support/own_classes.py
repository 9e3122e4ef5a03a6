"""Classes that a user of the documents writes: environments are imported by workers, so they stand in a module."""

from __future__ import annotations

from typing import Any

from pkmn_pyboy.enhanced_environment import EnhancedPyBoyPokemonCrystalEnv
from pkmncli import BaseLLMManager


class CustomPokemonEnv(EnhancedPyBoyPokemonCrystalEnv):
    """Fifty more where a field of the state says so."""

    def _calculate_reward(self, current_state: Any, previous_state: Any, action: int) -> float:
        base_reward = super()._calculate_reward(current_state, previous_state, action)
        custom_reward = 0.0
        if current_state.get("money"):
            custom_reward += 50.0
        return base_reward + custom_reward


class CustomRewardEnvironment(EnhancedPyBoyPokemonCrystalEnv):
    """A hundred more where a condition of its own holds."""

    def _check_custom_condition(self, state: Any) -> bool:
        return bool(state["x"] != state["y"])

    def _calculate_reward(self, current_state: Any, previous_state: Any, action: int) -> float:
        base_reward = super()._calculate_reward(current_state, previous_state, action)
        custom_reward = 0.0
        if self._check_custom_condition(current_state):
            custom_reward += 100.0
        return base_reward + custom_reward


class Advisor(BaseLLMManager):
    """A model of one's own, whose service is in this class."""

    def get_action(self, context: str) -> tuple[int, dict[str, Any]]:
        response = "The stairs are to the north: press up."
        action = self.parse_action(response)
        metadata = {"source": "custom_llm", "confidence": 0.8}
        return action, metadata

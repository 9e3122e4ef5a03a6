"""Train agents that play Pokemon Crystal: rules, a language model and reinforcement learning together."""

from importlib import import_module

_OWN = {
    "AgentMode": "pkmncli.hybrid.arbiter",
    "BaseLLMManager": "pkmncli.llm.manager",
    "HybridAgent": "pkmncli.hybrid.agent",
    "HybridLLMRLTrainer": "pkmncli.training.hybrid_trainer",
    "LLMManager": "pkmncli.llm.manager",
    "StrategyType": "pkmncli.api",
    "create_trainer_from_config": "pkmncli.training.hybrid_trainer",
}
"""Names offered here, and the modules that have them: imported when one is asked for, so that nothing is at the start.

``__init__.pyi`` says the same to type checkers.
"""

_OF_PLUGINS = {
    "AdaptiveStrategySystem": ("strategies", "adaptive"),
    "DecisionHistoryAnalyzer": ("analyzers", "decisions"),
    "EnhancedPyBoyPokemonCrystalEnv": ("environments", "pyboy"),
    "GameStateAnalysis": ("environments", "pyboy"),
    "GoalOrientedPlanner": ("environments", "pyboy"),
}
"""Names that the package of a registered plugin offers at its top, by the kind and name that it registers."""

__all__ = [
    "AdaptiveStrategySystem",
    "AgentMode",
    "BaseLLMManager",
    "DecisionHistoryAnalyzer",
    "EnhancedPyBoyPokemonCrystalEnv",
    "GameStateAnalysis",
    "GoalOrientedPlanner",
    "HybridAgent",
    "HybridLLMRLTrainer",
    "LLMManager",
    "StrategyType",
    "create_trainer_from_config",
]


def __getattr__(name: str) -> object:
    if name in _OWN:
        return getattr(import_module(_OWN[name]), name)
    if name in _OF_PLUGINS:
        from pkmncli.plugins import get_registry  # noqa: PLC0415 - looks for plugins, which few need that import this

        return get_registry().get(*_OF_PLUGINS[name]).offered(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

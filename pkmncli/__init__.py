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
    "hookimpl": "pkmncli.hookspecs",
}
"""Names, and the modules that define them. Each is imported on first use. ``__init__.pyi`` has the same names."""

_OF_PLUGINS = {
    "AdaptiveStrategySystem": ("strategies", "adaptive"),
    "DecisionHistoryAnalyzer": ("analyzers", "decisions"),
    "EnhancedPyBoyPokemonCrystalEnv": ("environments", "pyboy"),
    "GameStateAnalysis": ("environments", "pyboy"),
    "GoalOrientedPlanner": ("environments", "pyboy"),
}
"""Names in the package of a registered plugin, by the kind and name that it registers."""

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
    "hookimpl",
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

"""Train agents that play Pokemon Crystal: rules, a language model and reinforcement learning together."""

from pkmncli.lazy_names import attach

_OF_PLUGINS = {
    "AdaptiveStrategySystem": ("strategies", "adaptive"),
    "DecisionHistoryAnalyzer": ("analyzers", "decisions"),
    "EnhancedPyBoyPokemonCrystalEnv": ("environments", "pyboy"),
    "GameStateAnalysis": ("environments", "pyboy"),
    "GoalOrientedPlanner": ("environments", "pyboy"),
}
"""Names in the package of a registered plugin, by the kind and name that it registers."""

_own, __dir__, __all__ = attach(__name__, __file__)


def __getattr__(name: str) -> object:
    if name in _OF_PLUGINS:
        from pkmncli.plugins import get_registry  # noqa: PLC0415 - looks for plugins, which few need that import this

        return get_registry().get(*_OF_PLUGINS[name]).offered(name)
    return _own(name)

"""PyBoy environment: the plugin that knows game memory."""

from importlib import import_module

_OFFERED = {
    "EnhancedPyBoyPokemonCrystalEnv": "pkmn_pyboy.enhanced_environment",
    "GameStateAnalysis": "pkmn_pyboy.words.analysis",
    "GoalOrientedPlanner": "pkmn_pyboy.pilot.goals.goal_planner",
}
"""Names for scripts, and their modules, which are imported on first use."""


def __getattr__(name: str) -> object:
    if name in _OFFERED:
        return getattr(import_module(_OFFERED[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

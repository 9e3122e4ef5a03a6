"""Names of ``pkmncli``, for type checkers and for its ``__init__.py``: each is imported on first use."""

from pkmn_decisions.analyzer import DecisionHistoryAnalyzer as DecisionHistoryAnalyzer
from pkmn_pyboy.enhanced_environment import EnhancedPyBoyPokemonCrystalEnv as EnhancedPyBoyPokemonCrystalEnv
from pkmn_pyboy.pilot.goals.goal_planner import GoalOrientedPlanner as GoalOrientedPlanner
from pkmn_pyboy.words.analysis import GameStateAnalysis as GameStateAnalysis
from pkmn_strategies.adaptive import AdaptiveStrategySystem as AdaptiveStrategySystem
from pkmncli.api import StrategyType as StrategyType
from pkmncli.hookspecs import hookimpl as hookimpl
from pkmncli.hybrid.agent import HybridAgent as HybridAgent
from pkmncli.hybrid.arbiter import AgentMode as AgentMode
from pkmncli.llm.manager import BaseLLMManager as BaseLLMManager
from pkmncli.llm.manager import LLMManager as LLMManager
from pkmncli.training.hybrid_trainer import HybridLLMRLTrainer as HybridLLMRLTrainer
from pkmncli.training.hybrid_trainer import create_trainer_from_config as create_trainer_from_config

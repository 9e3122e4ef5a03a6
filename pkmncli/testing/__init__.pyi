"""Names of ``pkmncli.testing``, for type checkers and for its ``__init__.py``: each is imported on first use."""

from pkmncli.testing.benchmarks import benchmark_decision_latency as benchmark_decision_latency
from pkmncli.testing.benchmarks import benchmark_memory_usage as benchmark_memory_usage
from pkmncli.testing.benchmarks import benchmark_training_speed as benchmark_training_speed
from pkmncli.testing.plugin_check import check_plugin as check_plugin
from pkmncli.testing.plugin_steps import exercise_plugin as exercise_plugin
from pkmncli.testing.plugin_tests import PluginTests as PluginTests
from pkmncli.testing.trainers import cleanup_test_files as cleanup_test_files
from pkmncli.testing.trainers import create_mock_environment as create_mock_environment
from pkmncli.testing.trainers import create_test_trainer as create_test_trainer
from pkmncli.testing.trainers import generate_test_config as generate_test_config

"""Names of ``pkmncli.testing``, for type checkers; each is imported on first use."""

from pkmncli.testing.benchmarks import benchmark_decision_latency as benchmark_decision_latency
from pkmncli.testing.benchmarks import benchmark_memory_usage as benchmark_memory_usage
from pkmncli.testing.benchmarks import benchmark_training_speed as benchmark_training_speed
from pkmncli.testing.plugin_check import check_plugin as check_plugin
from pkmncli.testing.trainers import cleanup_test_files as cleanup_test_files
from pkmncli.testing.trainers import create_mock_environment as create_mock_environment
from pkmncli.testing.trainers import create_test_trainer as create_test_trainer
from pkmncli.testing.trainers import generate_test_config as generate_test_config

__all__ = [
    "benchmark_decision_latency",
    "benchmark_memory_usage",
    "benchmark_training_speed",
    "check_plugin",
    "cleanup_test_files",
    "create_mock_environment",
    "create_test_trainer",
    "generate_test_config",
]

"""Tools for plugin authors and tests: fixtures, a check of a plugin's contracts, small trainings, measurements.

In a project's top ``conftest.py``: ``pytest_plugins = ["pkmncli.testing.pytest_plugin"]``.
"""

from importlib import import_module

_OWN = {
    "benchmark_decision_latency": "benchmarks",
    "benchmark_memory_usage": "benchmarks",
    "benchmark_training_speed": "benchmarks",
    "check_plugin": "plugin_check",
    "cleanup_test_files": "trainers",
    "create_mock_environment": "trainers",
    "create_test_trainer": "trainers",
    "generate_test_config": "trainers",
}
"""Names exported here, with their modules; each is imported on first use."""

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


def __getattr__(name: str) -> object:
    if name in _OWN:
        return getattr(import_module(f"pkmncli.testing.{_OWN[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

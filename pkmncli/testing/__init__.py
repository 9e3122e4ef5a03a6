"""For plugin authors: fixtures, and a check that a plugin keeps the contracts.

In a project's top ``conftest.py``: ``pytest_plugins = ["pkmncli.testing.pytest_plugin"]``.
"""

from pkmncli.testing.plugin_check import check_plugin

__all__ = ["check_plugin"]

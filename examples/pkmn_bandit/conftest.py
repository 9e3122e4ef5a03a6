"""Fixtures for plugin authors."""

pytest_plugins = ["pkmncli.testing.pytest_plugin"]

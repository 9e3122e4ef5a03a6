"""Tests that any plugin should pass, to inherit in a plugin's own tests."""

from __future__ import annotations

from typing import Any, ClassVar

from pkmncli.testing.plugin_check import check_plugin
from pkmncli.testing.plugin_steps import exercise_plugin


class PluginTests:
    """Tests of all parts of a plugin. A subclass, called ``Test...``, names the plugin.

    For example ``class TestPlugin(PluginTests): plugin = my_package.plugin``.
    """

    plugin: ClassVar[Any]
    """Module that the entry point names, or an object with hook implementations."""

    def test_the_parts_keep_the_contracts(self) -> None:
        """Check what the plugin registers, with :func:`pkmncli.testing.check_plugin`."""
        assert check_plugin(self.plugin) is not None

    def test_the_parts_run(self) -> None:
        """Run each part for some steps, with :func:`pkmncli.testing.exercise_plugin`."""
        exercise_plugin(self.plugin, ask=False)

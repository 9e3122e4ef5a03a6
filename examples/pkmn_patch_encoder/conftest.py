"""Makes the fixtures for plugin authors available."""

pytest_plugins = ["pkmncli.testing.pytest_plugin"]

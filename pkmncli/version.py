"""The version of the distribution, and that of the contracts with plugins."""

__version__ = "0.1.0"

API_VERSION = 1
"""Version of the contracts in :mod:`pkmncli.api`. A plugin that asks for a newer one is reported and left out."""

"""Tools for plugin authors and tests: fixtures, a check of a plugin's contracts, small trainings, measurements.

pytest loads the fixtures of ``pkmncli.testing.pytest_plugin`` by itself, by an entry point.
"""

from pkmncli.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

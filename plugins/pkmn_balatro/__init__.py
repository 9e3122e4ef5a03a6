"""Balatro as an environment: a simulator, players by rules, and a small training framework."""

from pkmncli.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

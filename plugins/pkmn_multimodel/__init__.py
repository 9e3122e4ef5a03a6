"""Several language models that learn together: a population of adapters, games in words, and runs of them."""

from pkmncli.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Contracts between the core and its plugins, and the data that crosses them.

Nothing is imported before it is asked for, so that a plugin's registration module may import it freely.
A contract is a :class:`typing.Protocol`: a class satisfies it by having the methods, without inheriting.
"""

from pkmncli.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

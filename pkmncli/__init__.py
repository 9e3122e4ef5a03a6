"""Train agents that play Pokemon Crystal: rules, a language model and reinforcement learning together."""

from importlib import import_module

_LAZY = {
    "BaseLLMManager": "pkmncli.llm.manager",
    "LLMManager": "pkmncli.llm.manager",
}
"""Names offered here, and the modules that have them: imported when one is asked for, so that nothing is at the start.

``__init__.pyi`` says the same to type checkers.
"""

__all__ = ["BaseLLMManager", "LLMManager"]


def __getattr__(name: str) -> object:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

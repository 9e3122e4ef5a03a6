"""What ``pkmncli`` offers by name, for type checkers; each is imported when it is asked for."""

from pkmncli.llm.manager import BaseLLMManager as BaseLLMManager
from pkmncli.llm.manager import LLMManager as LLMManager

__all__ = ["BaseLLMManager", "LLMManager"]

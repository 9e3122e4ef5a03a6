"""Environment with the situation in words in its observations, and a reward that subclasses may change."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from gymnasium import spaces

from pkmn_pyboy.emulation.settings import settings_from
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.state.game_state import GameState
from pkmncli.api import Context

LONGEST_TEXT = 16_384
LETTERS = string.ascii_letters + string.digits + string.punctuation + " \n" + "éÉ♂♀…¥×’‘“”„·"
"""Characters of the words of a context; others are written as a question mark."""


class TextList(spaces.Sequence):
    """Space of lists or tuples of texts."""

    def __init__(self) -> None:
        super().__init__(spaces.Text(LONGEST_TEXT, min_length=0, charset=LETTERS))

    def contains(self, x: Any) -> bool:
        """Return True if ``x`` is a list or tuple of texts."""
        return isinstance(x, list | tuple) and super().contains(tuple(x))


class StateMapping(Mapping[str, Any]):
    """Fields of a state by name, as ``_calculate_reward`` reads them: ``state.get("money")``."""

    def __init__(self, state: GameState) -> None:
        self.state = state

    def __getitem__(self, name: str) -> Any:
        if name in GameState._fields:
            return getattr(self.state, name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(GameState._fields)

    def __len__(self) -> int:
        return len(GameState._fields)


class EnhancedPyBoyPokemonCrystalEnv(PokemonEnvironment):
    """Environment with ``strategic_context`` in its observations: what to do next, the situation, suggestions.

    For people and scripts; training uses :class:`PokemonEnvironment`, whose step has no words. A subclass may change
    the reward with :meth:`_calculate_reward`; it can be trained like any other environment if its module can be
    imported.

    Args:
        rom_path: cartridge image; None for the bundled game.
        headless: True for no window.
        observation_type: multi_modal, screen or state.
        settings: any other field of :class:`EnvironmentSettings`.

    Raises:
        ConfigurationError: a setting is unknown or out of range.
        RomError: the image is missing, damaged or unknown.
    """

    def __init__(
        self,
        rom_path: str | Path | None = None,
        headless: bool = True,
        observation_type: Literal["multi_modal", "screen", "state"] = "multi_modal",
        **settings: Any,
    ) -> None:
        given = {"rom_path": rom_path, "headless": headless, "observation_type": observation_type, **settings}
        super().__init__(settings_from(EnvironmentSettings, given))
        self._lean_space = self.observation_space
        text = spaces.Text(LONGEST_TEXT, min_length=0, charset=LETTERS)
        words = spaces.Dict({"current_goal": text, "context_summary": text, "action_suggestions": TextList()})
        self.observation_space = spaces.Dict({**self.observation_space.spaces, "strategic_context": words})

    @classmethod
    def from_settings(cls, settings: EnvironmentSettings) -> Self:
        """Build an environment for training: without words, which no learner reads.

        A subclass gets the settings by name.
        """
        environment = cls(**{name: getattr(settings, name) for name in settings.model_fields_set})
        environment.observation_space = environment._lean_space
        return environment

    def observation(self) -> dict[str, Any]:
        """Return the observation of the latest step or reset."""
        arrays = super().observation()
        if self.observation_space is self._lean_space:
            return arrays
        context = self.context()
        return {
            **arrays,
            "strategic_context": {
                "current_goal": _plain(context.current_goal),
                "context_summary": _plain(_summary(context)),
                "action_suggestions": [_plain(suggestion) for suggestion in context.action_suggestions],
            },
        }

    def _score(self, previous: GameState, action: int, state: GameState) -> float:
        return float(self._calculate_reward(StateMapping(state), StateMapping(previous), action))

    def _calculate_reward(self, current_state: StateMapping, previous_state: StateMapping, action: int) -> float:
        """Return the reward of a step: the sum of the settings' reward parts. A subclass adds to it."""
        return self.rewards.score(previous_state.state, action, current_state.state)


def _summary(context: Context) -> str:
    """Return the situation with its danger and changes, which have no separate key here."""
    sentences = [context.context_summary]
    if context.danger:
        sentences.append(f"Danger: {context.danger}.")
    if context.changes:
        sentences.append(f"Changed: {', '.join(context.changes)}.")
    return " ".join(sentences)


def _plain(text: str) -> str:
    return "".join(letter if letter in LETTERS else "?" for letter in text)[:LONGEST_TEXT]

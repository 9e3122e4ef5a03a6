"""Settings of the environment and of its encoders, the section ``[balatro]`` of a configuration.

[own] is chosen here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, field_validator

from pkmncli.api import PROVIDED
from pkmncli.errors import did_you_mean

Weight = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]


class BalatroSettings(BaseModel):
    """Settings of a run of Balatro: its rules, its actions and its reward; and sizes of the encoders."""

    model_config = ConfigDict(extra="forbid")

    pilots: ClassVar[tuple[str, ...]] = ("planning", "greedy", "random")
    """Pilots that can play the environment."""

    deck: str = Field(default="red", description="Deck of the run, such as red or checkered.")
    stake: str = Field(default="white", description="Stake of the run, from white (the easiest) to gold.")
    win_ante: int = Field(
        default=8, ge=1, le=38, description="Ante whose boss must be beaten to win. A lower one is an easier task."
    )
    endless: bool = Field(default=False, description="Continue a run that is won, until it is lost.")
    jokers: tuple[str, ...] = Field(
        default=(), max_length=5, description="Jokers that a run begins with, by name: an easier task."
    )
    money: int | None = Field(
        default=None, ge=0, le=1000, description="Dollars that a run begins with; the deck's by default."
    )
    hand_positions: int = Field(
        default=10,
        ge=5,
        le=12,
        description="Places of the hand whose cards can be chosen. Of 10 there are 637 sets of up to five cards.",
    )
    max_steps_per_episode: int | None = Field(
        default=None,
        ge=1,
        description="Steps after which an episode is truncated; 2,000 by default.",
        json_schema_extra=PROVIDED,
    )
    start_state: Path | None = Field(
        default=None, description="File of the saved state in which episodes begin.", json_schema_extra=PROVIDED
    )
    render_mode: Literal["rgb_array", "ansi"] | None = Field(
        default=None,
        description="Form of the table that render() returns: a picture or text.",
        json_schema_extra=PROVIDED,
    )
    illegal_actions: Literal["ignore", "raise"] = Field(
        default="ignore",
        description="Effect of an action that the mask forbids: a step without effect, or an error.",
    )
    reward_progress: Weight = Field(
        default=0.5, description="Reward for the whole score of a blind, hand by hand [own]."
    )
    reward_blind: Weight = Field(default=1.0, description="Reward for a beaten blind [own].")
    reward_boss: Weight = Field(default=1.0, description="Further reward if that blind was a boss [own].")
    reward_win: Weight = Field(default=10.0, description="Reward for a won run [own].")
    reward_loss: Weight = Field(default=0.0, description="Reward for a lost run [own].")
    encoder_card_features: PositiveInt = Field(default=24, le=512, description="Numbers that describe a card [own].")
    encoder_kind_features: PositiveInt = Field(
        default=12, le=512, description="Learned numbers for each kind of joker and item [own]."
    )
    encoder_features: PositiveInt = Field(
        default=256, le=8192, description="Numbers that describe an observation [own]."
    )
    encoder_layers: PositiveInt = Field(default=1, le=8, description="Layers that compute these [own].")
    encoder_action_features: PositiveInt = Field(
        default=48, le=512, description="Units of the layers of balatro-actions that score an action [own]."
    )

    @field_validator("deck")
    @classmethod
    def _known_deck(cls, name: str) -> str:
        from pkmn_balatro.simulator.decks import DECKS  # noqa: PLC0415 - only where a setting is checked

        return _known("deck", name, [deck.name for deck in DECKS])

    @field_validator("stake")
    @classmethod
    def _known_stake(cls, name: str) -> str:
        from pkmn_balatro.simulator.stakes import STAKES  # noqa: PLC0415 - only where a setting is checked

        return _known("stake", name, STAKES)

    @field_validator("jokers")
    @classmethod
    def _known_jokers(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not names:
            return names
        from pkmn_balatro.simulator.jokers import JOKERS  # noqa: PLC0415 - only where a setting is checked

        return tuple(_known("joker", name, [joker.name for joker in JOKERS]) for name in names)


def _known(kind: str, name: str, known: Sequence[str]) -> str:
    """Return the known name that a name means, whatever its capitals. Raise ValueError if there is none."""
    by_folded = {one.casefold(): one for one in known}
    found = by_folded.get(name.strip().casefold())
    if found is None:
        near = did_you_mean(name, known, f"known are {', '.join(known)}")
        raise ValueError(f"there is no {kind} '{name}'; {near}")
    return found

"""Sections of the core, for groups of settings that few trainings change."""

from __future__ import annotations

from pydantic import BaseModel

from pkmncli.config.curriculum_settings import CurriculumSettings
from pkmncli.config.hand_over_settings import HandOverSettings
from pkmncli.config.starts_settings import StartsSettings

CURRICULUM = "curriculum"
HAND_OVER = "hand_over"
STARTS = "starts"

CORE_SECTIONS: dict[str, type[BaseModel]] = {
    CURRICULUM: CurriculumSettings,
    HAND_OVER: HandOverSettings,
    STARTS: StartsSettings,
}
"""Settings model of each section."""

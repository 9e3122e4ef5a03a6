"""Sections of the core's own, beside the settings at the top of a file: large parts that few trainings change."""

from __future__ import annotations

from pydantic import BaseModel

from pkmncli.config.curriculum_settings import CurriculumSettings
from pkmncli.config.starts_settings import StartsSettings

CURRICULUM = "curriculum"
STARTS = "starts"

CORE_SECTIONS: dict[str, type[BaseModel]] = {CURRICULUM: CurriculumSettings, STARTS: StartsSettings}
"""Each section with its model."""

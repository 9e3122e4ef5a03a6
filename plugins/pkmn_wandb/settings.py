"""Settings of the section ``[wandb]``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class WandbSettings(BaseModel):
    """Settings of a run's place on the server. wandb itself knows the account and the server."""

    model_config = ConfigDict(extra="forbid")

    project: str = Field("pkmncli", min_length=1, description="project of the runs")
    entity: str | None = Field(None, min_length=1, description="user or team; by default wandb's own")
    group: str | None = Field(None, min_length=1, description="group of runs that belong together, such as seeds")
    tags: list[str] = Field([], description="tags of the run")

"""What users can set under ``[wandb]``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class WandbSettings(BaseModel):
    """Where a run goes on the server. Who one is, and which server, wandb knows by itself."""

    model_config = ConfigDict(extra="forbid")

    project: str = Field("pkmncli", min_length=1, description="project that runs are put into")
    entity: str | None = Field(None, min_length=1, description="user or team; by default wandb's own")
    group: str | None = Field(None, min_length=1, description="group of runs that belong together, such as seeds")
    tags: list[str] = Field([], description="tags of the run")

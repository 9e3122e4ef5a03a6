"""Settings of the environment ``gym``, the section ``[gym]`` of a configuration."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from pkmncli.api import PROVIDED


class GymnasiumSettings(BaseModel):
    """Settings of any environment that is registered with Gymnasium."""

    model_config = ConfigDict(extra="forbid")

    pilots: ClassVar[tuple[str, ...]] = ()
    """Pilots that can play the environment: none."""

    id: str | None = Field(
        default=None,
        min_length=1,
        description="Id of the environment, as CartPole-v1, or module:ID if a module registers it; also --env gym:ID.",
    )
    env_args: dict[str, Any] = Field(
        default={}, description="Arguments that it is built with, by name.", json_schema_extra=PROVIDED
    )
    max_steps_per_episode: int | None = Field(
        default=None,
        ge=1,
        description="Steps after which an episode is truncated; the environment's own limit, or 10,000.",
        json_schema_extra=PROVIDED,
    )
    render_mode: str | None = Field(
        default=None, description="Kind of pictures that it draws.", json_schema_extra=PROVIDED
    )

"""Settings of the backend, the section ``[local]``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pkmncli.api import expand_home


def _absolute(path: Path) -> Path:
    return expand_home(path).absolute()


class LocalSettings(BaseModel):
    """Settings of a model in this process: its file and its options."""

    model_config = ConfigDict(extra="forbid")

    model_path: Annotated[Path, AfterValidator(_absolute)] | None = Field(
        default=None,
        description="GGUF file. [default: the one of --llm-model, else one that pkmn models downloaded]",
    )
    context_tokens: int = Field(default=4096, ge=512, description="Longest prompt and reply together, in tokens.")
    threads: int = Field(
        default=1, ge=1, le=256, description="Threads of llama.cpp; the training needs the other cores."
    )
    gpu_layers: int = Field(default=0, ge=0, description="Layers that run on a GPU, if llama.cpp was built for one.")

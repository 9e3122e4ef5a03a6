"""Settings of the backend: the sections ``[openai]`` and ``[vllm]``. The key is the client's own OPENAI_API_KEY."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from pkmncli.llm.transport import ServiceAddress, ServiceSettings


class OpenAISettings(ServiceSettings):
    """Settings of a service with OpenAI's interface: its address and its options."""

    serves: ClassVar[tuple[str, ...]] = ("gpt-", "chatgpt-", "o1", "o3", "o4")
    """Beginnings of names of models for which this backend is chosen automatically."""

    base_url: ServiceAddress | None = Field(
        default=None, description="Address of the interface, up to /v1. [default: OPENAI_BASE_URL, then OpenAI]"
    )
    default_model: str | None = Field(
        default="gpt-4o-mini", description="Default model; by default the first that the service lists."
    )
    use_schema: bool = Field(default=True, description="Ask for replies that follow the schema.")
    sees: bool = Field(default=True, description="Send images, if asked to.")


class VLLMSettings(OpenAISettings):
    """Settings of a vLLM server."""

    serves: ClassVar[tuple[str, ...]] = ()

    base_url: ServiceAddress | None = Field(
        default="http://127.0.0.1:8000/v1", description="Address of the interface, up to /v1."
    )
    default_model: str | None = Field(default=None, description="Model; without one the first that the server lists.")
    sees: bool = Field(default=False, description="Send images, if asked to.")

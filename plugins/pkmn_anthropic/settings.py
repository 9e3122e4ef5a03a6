"""Settings of the backend, the section ``[anthropic]``. The key is the client's own ANTHROPIC_API_KEY."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from pkmncli.llm.transport import ServiceAddress, ServiceSettings


class AnthropicSettings(ServiceSettings):
    """Settings of Anthropic's service: address and default model."""

    serves: ClassVar[tuple[str, ...]] = ("claude",)

    base_url: ServiceAddress | None = Field(
        default=None, description="Address of the service. [default: ANTHROPIC_BASE_URL, then its own]"
    )
    default_model: str = Field(
        default="claude-haiku-4-5", description="Default model; a listed one if it no longer exists."
    )
    use_schema: bool = Field(default=True, description="Ask for replies through a tool that has the schema.")

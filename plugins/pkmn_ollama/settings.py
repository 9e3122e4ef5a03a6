"""Settings of the backend, the section ``[ollama]``. The server is that of OLLAMA_HOST, as for Ollama's own client."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from pkmncli.llm.transport import ServiceAddress, ServiceSettings


class OllamaSettings(ServiceSettings):
    """Settings of an Ollama server: its address and the options of its models."""

    serves: ClassVar[tuple[str, ...]] = ("llama", "gpt-oss", "qwen", "mistral", "gemma", "phi", "smollm", "deepseek")

    host: ServiceAddress | None = Field(
        default=None, description="Address of the server. [default: OLLAMA_HOST, then this machine]"
    )
    keep_alive: str = Field(default="10m", description="Time for which the server keeps a model after a request.")
    think: bool | Literal["low", "medium", "high"] | None = Field(
        default=None, description="Let the model think before it answers, if it can; by default as the model does."
    )
    context_tokens: int | None = Field(
        default=None, ge=256, description="Context length that the server gives the model."
    )
    use_schema: bool = Field(default=True, description="Ask for replies that follow the schema.")
    sees: bool = Field(default=True, description="Send images, if asked to; models without vision refuse them.")

"""A language model that answers from a file: for tests, and to show advice without a model."""

from __future__ import annotations

import re
import time
import tomllib
import zlib
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from pkmncli.api import LLMFailure, LLMFault, LLMReply, LLMRequest, expand_home
from pkmncli.api.data_text import parse_toml
from pkmncli.errors import LLMConnectionError, first_fault


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"no regular expression: {error}") from error
    return text


def _absolute(path: Path) -> Path:
    return expand_home(path).absolute()


class ScriptedSettings(BaseModel):
    """Settings of ``[scripted]``."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    file: Annotated[Path, AfterValidator(_absolute)] | None = Field(
        default=None, description="TOML file of the replies: [[reply]] tables."
    )


class _ScriptedReply(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    text: str = ""
    when: Annotated[str, AfterValidator(_pattern)] | None = None
    model: str | None = None
    delay_s: float = Field(default=0.0, ge=0)
    fault: LLMFault | None = None


class _Script(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    reply: list[_ScriptedReply] = Field(min_length=1)


class ScriptedBackend:
    """Language model that answers from ``[[reply]]`` tables with ``text``, or ``fault``, and perhaps ``delay_s``.

    It gives the first reply whose ``when``, a regular expression, is found in the prompt. Among replies without
    ``when``, a hash of the prompt picks one, so that the same prompt always gets the same answer. A reply with
    ``model`` is only for the scripted model of that name, so that one file can be several models.
    """

    sees = True
    probed = False

    def __init__(self, settings: ScriptedSettings | None, model: str | None) -> None:
        self.model = model or "script"
        self._settings = settings or ScriptedSettings()
        self._replies: list[_ScriptedReply] = []

    def check(self) -> str:
        """Read the file."""
        path = self._settings.file
        if path is None:
            raise LLMConnectionError("the scripted model needs its replies: --set scripted.file=FILE.toml")
        self._replies = [reply for reply in _read(path) if reply.model in (None, self.model)]
        if not self._replies:
            raise LLMConnectionError(f"the replies in {path} are of other models than {self.model}")
        return f"Advice: {len(self._replies)} replies written in {path}."

    def complete(self, request: LLMRequest) -> LLMReply:
        """Return the file's reply to a prompt."""
        if not self._replies:
            try:
                self.check()
            except LLMConnectionError as error:
                raise LLMFailure(LLMFault.UNREACHABLE, str(error)) from error
        chosen = self._choose(request.prompt)
        if chosen is None:
            raise LLMFailure(LLMFault.REFUSED, "the script has no reply to this prompt")
        if chosen.delay_s > request.timeout_s:
            time.sleep(request.timeout_s)
            raise LLMFailure(LLMFault.TIMEOUT, f"no reply within {request.timeout_s:g} s")
        time.sleep(chosen.delay_s)
        if chosen.fault is not None:
            raise LLMFailure(chosen.fault, f"the script says: {chosen.fault}")
        words = len(request.prompt.split()) + len(request.system.split())
        return LLMReply(chosen.text, self.model, words, len(chosen.text.split()), chosen.delay_s)

    def models(self) -> list[str]:
        """Return the only model."""
        return [self.model]

    def close(self) -> None:
        """Do nothing: no resource is open."""

    def _choose(self, prompt: str) -> _ScriptedReply | None:
        for reply in self._replies:
            if reply.when is not None and re.search(reply.when, prompt):
                return reply
        others = [reply for reply in self._replies if reply.when is None]
        return others[zlib.crc32(prompt.encode()) % len(others)] if others else None


def _read(path: Path) -> list[_ScriptedReply]:
    try:
        return _Script.model_validate(parse_toml(path.read_text(encoding="utf-8"))).reply
    except OSError as error:
        raise LLMConnectionError(f"the replies in {path} can't be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise LLMConnectionError(f"the replies in {path} are not TOML: {error}") from error
    except ValidationError as error:
        raise LLMConnectionError(f"the replies in {path}: {first_fault(error)}") from error

"""Settings that the backends for services share: proxy, further fields and headers, and the list of models."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue
from pydantic_core import PydanticCustomError

from pkmncli.llm.keys import key_from
from pkmncli.llm.stored_keys import stored_names

_OWN_FIELDS = frozenset({"messages", "model", "stream", "system", "tools"})
"""Fields of a request that the program fills in."""

_SECRET_NAME = re.compile(
    r"(?:^|[_-])(?:api[_-]?key|secret|password|passwd|authori[sz]ation|(?:access|auth|bearer)[_-]?token|credentials?"
    r"|cookie)(?:$|[_-])|^(?:api)?key$|^token$|-key$|-token$",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(r"^(?:sk-|hf_|gh[pousr]_|bearer\s|basic\s)|://[^/\s]*@", re.IGNORECASE)
_KEY_HEADERS = frozenset({"authorization", "api-key", "x-api-key"})
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_SECRET_VARIABLE = re.compile(r"(?:^|_)(?:API_?KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
"""Names of variables whose values are removed from all output."""

_REFUSED = (
    "must hold no key or password, since settings are written into the run; a header may be $NAME, the environment "
    "variable NAME, called ..._API_KEY or ..._TOKEN"
)


def _without_secrets(address: str) -> str:
    if any(sign in address for sign in "@?#"):
        raise PydanticCustomError(
            "secret",
            "must be an address without name, password or query, since settings are written into the run; keys belong "
            "into the environment",
        )
    return address


ServiceAddress = Annotated[str, AfterValidator(_without_secrets)]
"""Type of a setting with a service's address. An address with a possible secret is refused, and not shown."""


def _check_fields(fields: dict[str, JsonValue]) -> dict[str, JsonValue]:
    _refuse_secrets(fields)
    own = sorted(_OWN_FIELDS & set(fields))
    if own:
        raise ValueError(f"must not hold {', '.join(own)}: the program fills that in")
    try:
        json.dumps(fields, allow_nan=False)
    except ValueError:
        raise ValueError("must be values that JSON has: no inf, no nan") from None
    return fields


def _refuse_secrets(value: Any, name: str = "") -> None:
    """Refuse values that look like a secret, or whose name does, at any depth."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _refuse_secrets(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            _refuse_secrets(inner, name)
    elif isinstance(value, str) and value and (_SECRET_NAME.search(name) or _SECRET_VALUE.search(value)):
        raise PydanticCustomError("secret", _REFUSED)


def _check_headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name):
            raise ValueError("must be names of headers with their values; a name is letters, digits and hyphens")
        variable = _variable_of(value)
        if variable is not None:
            if not _SECRET_VARIABLE.search(variable):
                raise PydanticCustomError("secret", _REFUSED)
            continue
        _refuse_secrets(value, name)
        if not (value.isascii() and value.isprintable()):
            raise ValueError("must hold values of printable ASCII")
    return headers


def _variable_of(value: str) -> str | None:
    """Return the environment variable in a header's value, alone or after a word such as Bearer; None without one."""
    found = _VARIABLE.fullmatch(value.rpartition(" ")[2])
    return None if found is None else found[1] or found[2]


class ServiceSettings(BaseModel):
    """Settings of a service: proxy, further fields and headers, and whether a model must be listed."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    proxy: ServiceAddress | None = Field(
        default=None,
        min_length=1,
        description="Proxy, as http://HOST:PORT or socks5://HOST:PORT, or none. [default: HTTPS_PROXY, HTTP_PROXY, "
        "ALL_PROXY, but for NO_PROXY and this machine]",
    )
    extra_fields: Annotated[dict[str, JsonValue], AfterValidator(_check_fields)] = Field(
        default={}, description="Further fields of every request, a table, such as {enable_thinking = false}."
    )
    extra_headers: Annotated[dict[str, str], AfterValidator(_check_headers)] = Field(
        default={},
        description="Further headers of every request, a table; the value $NAME_API_KEY is that environment variable.",
    )
    listed_only: bool = Field(
        default=True,
        description="Whether a model that the service does not list must answer a short question first.",
    )

    @property
    def carries_key(self) -> bool:
        """True if the further headers have a key, so that no other is needed."""
        return any(name.lower() in _KEY_HEADERS for name in self.extra_headers)

    @property
    def headers(self) -> dict[str, str]:
        """Further headers, with the values of environment variables.

        Raises:
            LLMConnectionError: a variable has characters that no header can have.
        """
        filled = {}
        for name, value in self.extra_headers.items():
            variable = _variable_of(value)
            if variable is None:
                filled[name] = value
            elif variable in os.environ or variable in stored_names():
                word, blank, _ = value.rpartition(" ")
                filled[name] = f"{word}{blank}{key_from(variable)}"
        return filled

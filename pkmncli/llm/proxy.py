"""Routes to services: proxy and certificates of a request, from settings and environment.

The client libraries read the environment themselves and fail if anything there is wrong, even if it does not concern
the address of the request. So they do not read it, and get the values for one address from here.
"""

from __future__ import annotations

import contextlib
import importlib.util
import ipaddress
import os
import re
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, getproxies_environment, proxy_bypass

from pkmncli.errors import LLMConnectionError

NO_PROXY = "none"
"""Value of the setting ``proxy`` for no proxy, whatever the environment says."""

THROUGH = " through the proxy "
"""Words before a proxy's name in a message."""

_PROXY_SCHEMES = {
    "http": "http",
    "https": "https",
    "socks5": "socks5",
    "socks5h": "socks5h",
    "socks": "socks5",  # as GNOME writes it
}
_DEFAULT_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[A-Za-z0-9_.-]+|[0-9A-Fa-f:.]+(%\w+)?")
_READ_BY_CLIENTS = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")
_CERTIFICATES_OF_OTHERS = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Variables of other programs. Their certificates are added if they can be read, because a service behind the same
gateway needs them, too."""


@dataclass(frozen=True, slots=True)
class Route:
    """Route of a client to an address."""

    options: dict[str, Any]
    """Arguments of the library's ``Client``."""
    via: str = ""
    """The proxy for people, without its password: `` through the proxy HOST:PORT (HTTPS_PROXY)``."""
    remarks: tuple[str, ...] = ()
    """Values that were ignored, one line each."""


def route_to(url: str, library: ModuleType, *, proxy: str | None = None) -> Route:
    """Return the route to an address.

    Args:
        url: of the service, with its scheme.
        library: ``httpx`` or another with its interface; its certificates are the default.
        proxy: the setting: an address, ``none``, or None for the proxy of the environment.

    Raises:
        LLMConnectionError: the proxy's address is invalid or of an unknown kind, or the connection is encrypted and the
            certificates of the environment cannot be read; with a hint.
    """
    address, via = _proxy_for(url, proxy)
    secure = "https" in (urlsplit(url).scheme, urlsplit(address or "").scheme)
    context, remarks = _certificates(library, secure=secure)
    given: Any = address
    if address is not None and urlsplit(address).scheme == "https":
        given = library.Proxy(address, ssl_context=context)
    return Route({"trust_env": False, "proxy": given, "verify": context, "follow_redirects": True}, via, remarks)


@contextlib.contextmanager
def without_environment(*variables: str) -> Iterator[None]:
    """Hide variables from a library during its import that it could fail on: proxies and certificates."""
    names = {name for name in os.environ if name.lower().endswith("_proxy")}
    names.update(_READ_BY_CLIENTS, variables)
    hidden = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(hidden)


def is_this_machine(host: str) -> bool:
    """Return True if a host's name or address is this machine."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


# Proxies -------------------------------------------------------------------------------------------------------------


def _proxy_for(url: str, setting: str | None) -> tuple[str | None, str]:
    """Return the address of the proxy and its name for people; None for no proxy."""
    if setting is not None:
        return (None, "") if setting.lower() == NO_PROXY else _checked(setting, "the setting proxy")
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
    # A proxy elsewhere could not reach this machine by such a name, and would read the requests.
    if not host or is_this_machine(host):
        return None, ""
    found = _of_environment(parts.scheme)
    if found is None:
        system = {} if getproxies_environment() else getproxies()  # of macOS and Windows
        named = next((key for key in (parts.scheme, "all") if system.get(key)), None)
        if named is None or _is_bypassed(host, port):
            return None, ""
        return _checked(system[named], "the system's setting")
    variable, text = found
    if _is_excepted(host, port, _variable("no_proxy") or "") or _is_bypassed(host, port):
        return None, ""
    return _checked(text, variable)


def _of_environment(scheme: str) -> tuple[str, str] | None:
    """Return the variable with the proxy for a scheme, and its value; None if there is none."""
    for key in (scheme, "all"):
        for name in (f"{key}_proxy", f"{key}_PROXY".upper()):
            text = os.environ.get(name)
            # Under a web server's CGI, HTTP_PROXY may come from a visitor's header named Proxy.
            if text is None or (name == "HTTP_PROXY" and "REQUEST_METHOD" in os.environ):
                continue
            if text.strip():
                return name, text.strip()
            break  # an empty variable in small letters disables the one in capitals
    return None


def _variable(name: str) -> str | None:
    return os.environ.get(name, os.environ.get(name.upper()))


def _is_bypassed(host: str, port: int) -> bool:
    """Return True if the system bypasses the proxy for a host; on macOS and Windows by the system's settings."""
    try:
        return bool(proxy_bypass(f"{host}:{port}")) or bool(proxy_bypass(host))
    except (OSError, ValueError):
        return False


def _is_excepted(host: str, port: int, exceptions: str) -> bool:
    """Return True if NO_PROXY has a host: by name, parent domain, address or network, with or without port.

    ``*`` means all hosts. Entries are separated by commas or white space.
    """
    name = host.rstrip(".").lower()
    try:
        address: Any = ipaddress.ip_address(name)
    except ValueError:
        address = None
    for text in re.split(r"[,\s]+", exceptions):
        entry = text.strip().lower().partition("://")[2] or text.strip().lower()
        if entry == "*":
            return True
        entry, asked_port = _entry_parts(entry)
        if not entry or (asked_port is not None and asked_port != port):
            continue
        if address is None:
            entry = entry.removeprefix("*").strip(".")
            if entry and (name == entry or name.endswith(f".{entry}")):
                return True
            continue
        with contextlib.suppress(ValueError):
            if address in ipaddress.ip_network(entry, strict=False):
                return True
    return False


def _entry_parts(entry: str) -> tuple[str, int | None]:
    """Return host and port of an entry of NO_PROXY. An IPv6 address with a port has brackets."""
    found = re.fullmatch(r"\[([^\]]*)\](?::(\d+))?", entry) or re.fullmatch(r"([^:]*):(\d+)", entry)
    if found is None:
        return entry, None
    return found[1], None if found[2] is None else int(found[2])


def _checked(text: str, source: str) -> tuple[str, str]:
    """Return a proxy's address for the clients, and its name for people, since the address may have a password."""
    text = text.strip()
    address = text if "://" in text else f"http://{text}"
    wrong = LLMConnectionError(
        f"{source[0].upper()}{source[1:]} names no proxy: write http://HOST:PORT or socks5://HOST:PORT, signs in a "
        "password as %23, or take it back"
    )
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise wrong from None
    if not _HOST.fullmatch(host) or parts.path.strip("/") or parts.query or parts.fragment:
        raise wrong
    scheme = _PROXY_SCHEMES.get(parts.scheme)
    shown = f"[{host}]" if ":" in host else host
    shown = shown if port is None else f"{shown}:{port}"
    if scheme is None:
        raise LLMConnectionError(
            f"The proxy {shown} ({source}) speaks {parts.scheme}, which is not known here: write http:// or socks5://, "
            "or except the service with NO_PROXY"
        )
    if scheme.startswith("socks") and importlib.util.find_spec("socksio") is None:
        raise LLMConnectionError(
            f"The SOCKS proxy {shown} ({source}) needs the package socksio; run: pip install socksio, or except the "
            "service with NO_PROXY"
        )
    return f"{scheme}{address[address.index('://') :]}", f"{THROUGH}{shown} ({source})"


# Certificates --------------------------------------------------------------------------------------------------------


def _certificates(library: ModuleType, *, secure: bool) -> tuple[ssl.SSLContext, tuple[str, ...]]:
    """Return the certificates, and remarks. Unreadable ones are an error only if the connection is encrypted."""
    problem = next((found for found in map(_unusable, ("SSL_CERT_FILE", "SSL_CERT_DIR")) if found), "")
    if problem and secure:
        raise LLMConnectionError(f"{problem}: mend or unset it")
    file, folder = ("", "") if problem else (os.environ.get(name, "") for name in _READ_BY_CLIENTS[:2])
    try:
        if file or folder:
            context = ssl.create_default_context(cafile=file or None, capath=folder or None)
        else:
            context = library.create_ssl_context(trust_env=False)
    except OSError as error:
        key_log = os.environ.get("SSLKEYLOGFILE")
        if secure:
            which = f"SSLKEYLOGFILE names {key_log}, which" if key_log else "What certificates are checked against"
            raise LLMConnectionError(f"{which} can't be used ({_why(error)}): mend or unset it") from error
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # for a redirect, with the system's certificates
        context.load_default_certs()
    remarks = []
    for name in _CERTIFICATES_OF_OTHERS if secure and not (file or folder) else ():
        problem = _unusable(name)
        path = os.environ.get(name, "")
        if problem:
            remarks.append(f"{problem}; the usual certificates count.")
        elif path:
            context.load_verify_locations(**{"capath" if Path(path).is_dir() else "cafile": path})
    return context, tuple(remarks)


def _unusable(variable: str) -> str:
    """Return why the certificates of a variable cannot be read; empty if they can, or it is not set."""
    path = os.environ.get(variable, "")
    if not path:
        return ""
    said = f"{variable} names {path}, "
    if variable == "SSL_CERT_DIR":
        missing = [one for one in path.split(os.pathsep) if one and not Path(one).is_dir()]
        return f"{said}which is no folder" if missing else ""
    if Path(path).is_dir():
        return f"{said}which is a folder" if variable == "SSL_CERT_FILE" else ""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except FileNotFoundError:
        return f"{said}which does not exist"
    except ssl.SSLError:
        return f"{said}which holds no certificates"
    except (OSError, ValueError) as error:
        return f"{said}which can't be read ({_why(error)})"
    return ""


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__

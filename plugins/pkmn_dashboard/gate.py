"""Access control of the page's server: host, origin and token checks, and restrictive response headers.

- A page of another origin may make a browser send requests here. So the Host header must be an address or this
  machine's name, which excludes names that an attacker has pointed at this machine. Requests that change something need
  a header that no form can send, and this server's Origin. This does not exclude programs on this machine.
- From other machines, also through a proxy, every request needs the token that was printed once: as a bearer token, or
  in a cookie that the address with ``?token=`` sets.
- A proxy may show the page under another name and path. Its names are given; the path is never known here, so every
  address is relative.
"""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
import socket
from collections.abc import Mapping, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
ACTION_HEADER = "x-pkmn-action"
"""Header required of requests that change something; browsers let only the server's own pages send it."""

COOKIE_DAYS = 30
EVENTS = "/api/events"
"""Path of the only answer that has no end."""
MOST_BYTES = 64 * 1024
"""Maximum body of a request; no request needs more than an address."""

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class Gate:
    """Check of requests.

    Args:
        token: required of every request; None requires none.
        hosts: further names of this machine.
        proxies: names under which proxies show the page; pages there count as this server's own.
        port: port of the server. Browsers send a cookie to every port of a machine, so its name includes the port.
        root_path: folder under which a proxy shows the page, if it passes that on, such as ``/user/me/page``.
    """

    def __init__(
        self,
        token: str | None = None,
        hosts: tuple[str, ...] = (),
        port: int = 0,
        *,
        proxies: Sequence[str] = (),
        root_path: str = "",
    ) -> None:
        if proxies and token is None:
            raise ValueError("everyone who can reach the proxy can reach the page, so it needs a token")
        self.root_path = root_path
        self._token = token
        self._proxies = {name.lower() for name in proxies}
        self._cookie = f"pkmn_dashboard_{port}"
        self._hosts = {"localhost", *self._proxies, *(host.lower() for host in hosts)}
        if token is not None:
            self._hosts |= own_names()

    def objection(self, method: str, headers: Mapping[str, str], query: str) -> Response | None:
        """Return the refusal of a request; None if it is allowed."""
        host = headers.get("host", "")
        if not self._knows(host):
            return PlainTextResponse("This server does not go by that name.\n", 421)
        if self._token is not None:
            given = dict(parse_qsl(query)).get("token")
            if not self._is_token(given) and not self._is_token(self._sent(headers)):
                text = "This page needs its token: open the address that pkmn dashboard printed.\n"
                return PlainTextResponse(text, 401, headers={"www-authenticate": "Bearer"})
        from_elsewhere = headers.get("sec-fetch-site") == "cross-site"
        if from_elsewhere and (method not in SAFE_METHODS or headers.get("sec-fetch-mode") != "navigate"):
            return PlainTextResponse("Pages of other servers may lead here, and nothing else.\n", 403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            return PlainTextResponse("No request needs to bring so much.\n", 413, headers={"connection": "close"})
        if method in SAFE_METHODS or (ACTION_HEADER in headers and self._own_origin(headers.get("origin"), host)):
            return None
        return PlainTextResponse(f"Only the page itself may do that, with the header {ACTION_HEADER}.\n", 403)

    def welcome(self, path: str, query: str) -> Response | None:
        """Return the answer to a valid token in an address: a cookie, and a redirect without the token."""
        values = parse_qsl(query)
        if self._token is None or not self._is_token(dict(values).get("token")):
            return None
        rest = urlencode([(name, value) for name, value in values if name != "token"])
        target = f"./{quote(path.rpartition('/')[2])}"  # relative to the address itself, so never at another server
        answer = RedirectResponse(f"{target}?{rest}" if rest else target, 303)
        # Without a path the cookie is for the folder of the address: behind a proxy, other servers may have the rest.
        answer.set_cookie(
            self._cookie, self._token, max_age=COOKIE_DAYS * 86400, httponly=True, samesite="strict", path=None
        )
        return answer

    def _own_origin(self, origin: str | None, host: str) -> bool:
        """Return whether the request is from a page of this server, or from a program, which sends no origin."""
        if origin is None:
            return True
        try:
            parts = urlsplit(origin)
            return parts.netloc == host or (parts.scheme in ("http", "https") and parts.hostname in self._proxies)
        except ValueError:
            return False

    def _is_token(self, given: str | None) -> bool:
        assert self._token is not None
        return given is not None and hmac.compare_digest(given.encode(), self._token.encode())

    def _sent(self, headers: Mapping[str, str]) -> str | None:
        kind, _, value = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return value.strip()
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return None
        return cookie.value if cookie is not None else None

    def _knows(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        except ValueError:
            return False
        if name in self._hosts:
            return True
        try:
            found = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self._token is not None or found.is_loopback


def own_names() -> set[str]:
    """Return the known names of this machine in its network."""
    name = socket.gethostname()
    found = {name, name.partition(".")[0], f"{name}.local", socket.getfqdn()}
    with contextlib.suppress(OSError):
        canonical, aliases, _ = socket.gethostbyname_ex(name)
        found |= {canonical, *aliases}
    return {one.lower().rstrip(".") for one in found if one}


def _without_body(send: Send) -> Send:
    async def passed(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return passed


class GateMiddleware:
    """ASGI middleware that puts a gate before an application."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    def _below_root(self, scope: Scope, query: str) -> tuple[Response | None, Scope]:
        """Return the scope without the proxy's folder, and a redirect if the address has no slash after it."""
        root, path = self._gate.root_path, scope["path"]
        if root and path == root:  # without the slash, the page's relative addresses would miss the folder
            target = f"./{root.rpartition('/')[2]}/"
            return RedirectResponse(f"{target}?{query}" if query else target, 307), scope
        if root and path.startswith(f"{root}/"):
            below = path[len(root) :]
            return None, {**scope, "path": below, "raw_path": quote(below).encode()}
        return None, scope

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a refusal, or pass the request on; set the headers in both cases."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        query = scope["query_string"].decode("latin-1")
        folder, scope = self._below_root(scope, query)
        if scope["method"] == "HEAD" and scope["path"] != EVENTS:  # like GET, without the body
            scope = {**scope, "method": "GET"}
            send = _without_body(send)
        objection = self._gate.objection(scope["method"], Headers(scope=scope), query)
        answer = objection or folder or self._gate.welcome(scope["path"], query)
        await (answer or self._app)(scope, receive, with_headers)

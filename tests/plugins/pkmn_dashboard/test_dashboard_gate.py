"""Whom the page's server answers: not a name that was pointed here, not another page, nobody without the token."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from pkmn_dashboard.app import make_app
from pkmn_dashboard.gate import Gate
from pkmn_dashboard.live_events import LiveEvents
from pkmn_dashboard.watched_run import WatchedRun

TOKEN = "a-token-of-24-characters"
ACTION = {"x-pkmn-action": "1"}


@pytest.fixture
def served(finished_run: Path) -> Callable[..., TestClient]:
    def make(token: str | None = None, base_url: str = "http://127.0.0.1:8080") -> TestClient:
        run = WatchedRun(finished_run)
        app = make_app(run, LiveEvents(run, ended=lambda: True), Gate(token, ("trainer.lan",)))
        return TestClient(app, base_url=base_url, follow_redirects=False)

    return make


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8080", 200),
        ("localhost:9000", 200),  # as through an ssh tunnel
        ("[::1]:8080", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("192.168.1.5:8080", 421),
        ("[::1", 421),
        ("", 421),
    ],
)
def test_a_name_that_was_pointed_here_is_not_answered(served: Any, host: str, status: int) -> None:
    assert served().get("/api/run", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"origin": "http://127.0.0.1:8080"}, 403),
        ({**ACTION, "origin": "http://evil.example"}, 403),
        ({**ACTION, "origin": "null"}, 403),
        ({**ACTION, "origin": "http://[::1"}, 403),
        ({**ACTION, "sec-fetch-site": "cross-site"}, 403),
        ({**ACTION, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 403),
        ({**ACTION, "origin": "http://127.0.0.1:8081"}, 403),
        ({**ACTION, "origin": "http://127.0.0.1:8080"}, 409),
        (ACTION, 409),  # no training goes on, which only those learn who may ask
    ],
)
def test_only_the_page_itself_changes_anything(served: Any, headers: dict[str, str], status: int) -> None:
    assert served().post("/api/pause", headers=headers).status_code == status


def test_another_page_may_lead_here_and_embed_nothing(served: Any) -> None:
    elsewhere = {"sec-fetch-site": "cross-site"}
    assert served().get("/", headers={**elsewhere, "sec-fetch-mode": "navigate"}).status_code == 200
    assert served().get("/api/patterns", headers={**elsewhere, "sec-fetch-mode": "no-cors"}).status_code == 403


def test_pages_at_two_ports_keep_their_own_tokens() -> None:
    answers = [Gate(TOKEN, port=port).welcome("/", f"token={TOKEN}") for port in (8080, 8081)]
    names = {answer.headers["set-cookie"].partition("=")[0] for answer in answers if answer is not None}
    assert names == {"pkmn_dashboard_8080", "pkmn_dashboard_8081"}


def test_another_page_may_not_ask_what_it_could_send(served: Any) -> None:
    preflight = {"origin": "http://evil.example", "access-control-request-method": "POST"}
    answer = served().options("/api/pause", headers=preflight)
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("path", ["/", "/api/run", "/api/openapi.json", "/api/events", "/page/main.js", "/nothing"])
def test_everything_needs_the_token(served: Any, path: str) -> None:
    with served(TOKEN, "http://trainer.lan:8080") as client:
        assert client.get(path).status_code == 401
        assert client.get(path, headers={"authorization": "Bearer wrong"}).status_code == 401
        assert client.get(path, headers={"cookie": "pkmn_dashboard_0=wrong"}).status_code == 401
        assert client.get(path, params={"token": "ünlike"}).status_code == 401
        assert client.get(path, headers={"authorization": f"Bearer {TOKEN}"}).status_code in {200, 404}


def test_the_printed_address_leaves_the_token_in_a_cookie(served: Any) -> None:
    with served(TOKEN, "http://192.168.1.5:8080") as client:
        answer = client.get("/", params={"token": TOKEN})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=strict" in cookie
        assert client.get("/api/run").status_code == 200, "the cookie is enough from here on"
        assert client.post("/api/stop").status_code == 403, "and still no form of another page stops a training"
    elsewhere = Gate(TOKEN).welcome("//evil.example/", f"token={TOKEN}")
    assert elsewhere is not None and elsewhere.headers["location"] == "/evil.example/"


def test_answers_may_do_nothing_but_what_the_page_needs(served: Any) -> None:
    for path in ("/", "/api/run", "/nothing"):
        headers = served().get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"

"""Whom the page's server answers: not a name that was pointed here, not another page, nobody without the token."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from support.variants import long_after

from pkmn_dashboard.app import make_app
from pkmn_dashboard.gate import Gate
from pkmn_dashboard.live_events import LiveEvents
from pkmn_dashboard.ports import checked_folder, checked_name
from pkmn_dashboard.watched_run import WatchedRun
from pkmncli.errors import ConfigurationError

TOKEN = "a-token-of-24-characters"
ACTION = {"x-pkmn-action": "1"}


@pytest.fixture
def served(finished_run: Path) -> Callable[..., TestClient]:
    def make(token: str | None = None, base_url: str = "http://127.0.0.1:8080") -> TestClient:
        run = WatchedRun(finished_run)
        app = make_app(run, LiveEvents(run, ended=lambda: True), Gate(token, ("trainer.lan",)))
        return TestClient(app, base_url=base_url, follow_redirects=False)

    return make


@pytest.fixture
def behind_proxy(finished_run: Path) -> TestClient:
    """A page that proxies have as page.example.org."""
    run = WatchedRun(finished_run)
    app = make_app(run, LiveEvents(run, ended=lambda: True), Gate(TOKEN, proxies=["Page.example.org"]))
    return TestClient(app, base_url="http://127.0.0.1:18091", follow_redirects=False)


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
        (ACTION, 409),  # no training is running, which only those learn who may ask
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
        assert (answer.status_code, answer.headers["location"]) == (303, "./")
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=strict" in cookie
        assert client.get("/api/run").status_code == 200, "the cookie is enough from here on"
        assert client.post("/api/stop").status_code == 403, "and still no form of another page stops a training"
        assert "path=" not in cookie, "it is for the folder of the address, wherever a proxy has that"


@pytest.mark.parametrize(
    ("path", "query", "where"),
    [
        ("/", "", "./"),
        ("/", "a=1&b=/x", "./?a=1&b=%2Fx"),
        ("/api/run", "", "./run"),
        ("//evil.example/", "", "./"),
        ("//evil.example", "", "./evil.example"),
        ("/\\\\evil.example", "", "./%5C%5Cevil.example"),
        ("/http://evil.example/x:y", "", "./x%3Ay"),
        ("/x\r\nset-cookie: a", "", "./x%0D%0Aset-cookie%3A%20a"),
    ],
)
def test_the_token_leads_to_where_it_was_given_and_nowhere_else(path: str, query: str, where: str) -> None:
    answer = Gate(TOKEN).welcome(path, f"token={TOKEN}&{query}")
    assert answer is not None and answer.headers["location"] == where


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("page.example.org", 200),
        ("Page.Example.org:443", 200),
        ("page.example.org.", 200),
        ("localhost:18091", 200),  # a proxy that puts its own in place of the browser's
        ("other.example.org", 421),
        ("page.example.org.evil.example", 421),
        ("xpage.example.org", 421),
        ("example.org", 421),
    ],
)
def test_a_proxys_name_is_answered_and_needs_the_token_too(behind_proxy: TestClient, host: str, status: int) -> None:
    right = {"authorization": f"Bearer {TOKEN}"}
    assert behind_proxy.get("/api/run", headers={"host": host, **right}).status_code == status
    assert behind_proxy.get("/api/run", headers={"host": host}).status_code == (401 if status == 200 else 421)


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("page.example.org", "https://page.example.org", 409),
        ("localhost:18091", "https://page.example.org", 409),
        ("localhost:18091", "https://page.example.org:8443", 409),
        ("page.example.org", "https://evil.example", 403),
        ("page.example.org", "https://page.example.org.evil.example", 403),
        ("page.example.org", "ftp://page.example.com", 403),
        ("page.example.org", "null", 403),
        ("localhost:18091", "https://localhost:1", 403),
    ],
)
def test_a_page_under_a_proxys_name_may_press_its_buttons(
    behind_proxy: TestClient, host: str, origin: str, status: int
) -> None:
    headers = {**ACTION, "host": host, "origin": origin, "authorization": f"Bearer {TOKEN}"}
    assert behind_proxy.post("/api/pause", headers=headers).status_code == status
    del headers["x-pkmn-action"]
    assert behind_proxy.post("/api/pause", headers=headers).status_code == 403


@pytest.fixture
def in_folder(finished_run: Path) -> TestClient:
    """A page that a proxy has in a folder, which it passes on."""
    run = WatchedRun(finished_run)
    gate = Gate(TOKEN, proxies=["page.example.org"], root_path="/user/me/page")
    app = make_app(run, LiveEvents(run, ended=lambda: True), gate)
    return TestClient(app, base_url="http://page.example.org", follow_redirects=False)


@pytest.mark.parametrize(
    ("path", "status"),
    long_after(
        1,
        [
            ("/user/me/page/", 200),
            ("/user/me/page/api/run", 200),
            ("/user/me/page/page/main.js", 200),
            ("/api/run", 200),  # from this machine, or by a proxy that removes the folder
            ("/user/you/page/api/run", 404),
            ("/user/me/pages/api/run", 404),
            ("/user/me/page/user/me/page/api/run", 404),
            ("/user/me/page//api/run", 404),
            ("/user/me/page/page/..%2f..%2fgate.py", 404),
        ],
    ),
)
def test_a_folder_that_is_passed_on_leads_to_the_page_and_needs_the_token(
    in_folder: TestClient, path: str, status: int
) -> None:
    assert in_folder.get(path).status_code == 401
    right = {"authorization": f"Bearer {TOKEN}"}
    assert in_folder.get(path, headers={**right, "host": "evil.example"}).status_code == 421
    assert in_folder.get(path, headers=right).status_code == status
    assert in_folder.post(path, headers={**right, **ACTION, "origin": "http://evil.example"}).status_code == 403


def test_a_folder_without_its_slash_leads_to_the_one_with_it_before_the_cookie_is_set(in_folder: TestClient) -> None:
    assert in_folder.get("/user/me/page").status_code == 401
    answer = in_folder.get("/user/me/page", params={"token": TOKEN})
    assert (answer.status_code, answer.headers["location"]) == (307, f"./page/?token={TOKEN}")
    assert "set-cookie" not in answer.headers, "it would be for the folder above"


@pytest.mark.parametrize(
    "name", long_after(1, ["x-forwarded-host", "x-forwarded-prefix", "x-script-name", "forwarded", "x-original-url"])
)
def test_headers_that_anyone_can_send_name_no_other_host_or_folder(in_folder: TestClient, name: str) -> None:
    right = {"authorization": f"Bearer {TOKEN}"}
    for value in ("page.example.org", "host=page.example.org", "/other", "/other/api/run"):
        sent = {**right, name: value}
        assert in_folder.get("/api/run", headers={**sent, "host": "evil.example"}).status_code == 421
        assert in_folder.get("/other/api/run", headers=sent).status_code == 404
        assert in_folder.get("/api/run", headers={name: value}).status_code == 401


@pytest.mark.parametrize(
    "path", ["page", "//evil.example", "/a/../b", "/a?b", "/a//b", "/ü", "/a b", "http://a/b", "/.", "/%2e"]
)
def test_what_is_no_folder_of_a_proxy(path: str) -> None:
    with pytest.raises(ConfigurationError, match="is no folder"):
        checked_folder(path)


def test_no_page_behind_a_proxy_is_without_a_token() -> None:
    with pytest.raises(ValueError, match="needs a token"):
        Gate(proxies=["page.example.org"])


@pytest.mark.parametrize("name", ["*", "*.example.org", "http://example.org", "a:80", "a/b", "", ".", "-a", "a" * 300])
def test_what_is_no_name_of_a_proxy(name: str) -> None:
    with pytest.raises(ConfigurationError, match="is no host name"):
        checked_name(name)


def test_beyond_this_machine_its_own_names_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "GPU.lab.example.org")
    monkeypatch.setattr(socket, "getfqdn", lambda: "gpu-2.lab.example.org")
    monkeypatch.setattr(socket, "gethostbyname_ex", lambda name: ("node7.cluster", ["gpu-alias"], ["10.0.0.7"]))
    gate = Gate(TOKEN, ("0.0.0.0",))
    for name in ("gpu", "gpu.lab.example.org", "gpu-2.lab.example.org", "node7.cluster", "gpu-alias", "10.0.0.7"):
        assert gate.objection("GET", {"host": f"{name}:8080"}, f"token={TOKEN}") is None, name
    for name in ("lab.example.org", "evil.example", "gpu.evil.example"):
        answer = gate.objection("GET", {"host": name}, f"token={TOKEN}")
        assert answer is not None and answer.status_code == 421
    assert Gate().objection("GET", {"host": "gpu"}, "") is not None, "on loopback nobody calls it so"


@pytest.mark.parametrize(
    "path", long_after(1, ["/", "/api/run", "/api/events", "/page/main.js", "/api/openapi.json", "/nothing"])
)
def test_head_answers_as_get_does_without_the_content(served: Any, path: str) -> None:
    with served() as client:
        head = client.head(path)
        assert head.content == b""
        assert head.status_code == (404 if path == "/nothing" else 200)
        if path != "/api/events":
            get = client.get(path)
            assert get.headers["content-type"] == head.headers["content-type"]
            assert get.headers["content-length"] == head.headers["content-length"]
        assert "default-src 'none'" in head.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("length", "status"), [("0", 409), ("65536", 409), ("65537", 413), ("9" * 30, 413), ("-1", 413), ("x", 413)]
)
def test_no_request_brings_much(served: Any, length: str, status: int) -> None:
    headers = {**ACTION, "content-length": length}
    assert served().post("/api/pause", headers=headers).status_code == status


@pytest.mark.long
def test_answers_may_do_nothing_but_what_the_page_needs(served: Any) -> None:
    for path in ("/", "/api/run", "/nothing"):
        headers = served().get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"

"""Services behind proxies, and addresses of services."""

from __future__ import annotations

import importlib.util

import pytest
from support.asked_services import REMOTE, assert_answers, assert_fails
from support.fault_server import FaultServer
from support.faults import BuildBackend
from support.proxies import Proxy
from support.variants import long_after

from pkmncli.api import LLMFault
from pkmncli.errors import LLMConnectionError

FAR = "http://service.invalid:99"
"""Where only a proxy leads to."""
CREDENTIALS = "bWU6aHVzaA=="
"""``me:hush`` as a header has it."""
needs_socks = pytest.mark.skipif(importlib.util.find_spec("socksio") is None, reason="socksio is not installed")


@pytest.mark.parametrize("name", REMOTE)
@pytest.mark.parametrize(
    ("variable", "address"),
    [
        ("HTTP_PROXY", "http://127.0.0.1:{port}"),
        ("http_proxy", "http://127.0.0.1:{port}/"),
        ("HTTP_PROXY", "127.0.0.1:{port}"),
        ("ALL_PROXY", "http://me:hush@127.0.0.1:{port}"),
    ],
)
def test_a_proxy_of_the_environment_leads_to_the_service(
    name: str, variable: str, address: str, good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy(good.port, credentials=CREDENTIALS if "@" in address else None) as proxy:
        monkeypatch.setenv(variable, address.format(port=proxy.port))
        assert_answers(build(name, FAR), f"through the proxy 127.0.0.1:{proxy.port} ({variable})")
        assert set(proxy.asked) == {"service.invalid:99"}


@needs_socks
@pytest.mark.parametrize("name", REMOTE)
@pytest.mark.parametrize("scheme", ["socks5", "socks5h", "socks"])
def test_a_socks_proxy_leads_to_the_service(
    name: str, scheme: str, good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy(good.port, socks=True) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"{scheme}://127.0.0.1:{proxy.port}")
        assert_answers(build(name, FAR), f"through the proxy 127.0.0.1:{proxy.port} (ALL_PROXY)")
        assert set(proxy.asked) == {"service.invalid:99"}


@pytest.mark.parametrize("name", REMOTE)
@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:9",
        "socks5://127.0.0.1:9",
        "socks4://127.0.0.1:9",
        "socks://x",
        "foo:bar:baz",
        "http://",
        "ftp://x",
    ],
)
def test_no_proxy_of_the_environment_stands_before_this_machine(
    name: str, address: str, good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(variable, address)
    assert_answers(build(name, good.url))


@pytest.mark.parametrize("name", REMOTE)
def test_the_setting_leads_through_a_proxy_to_this_machine_too(
    name: str, good: FaultServer, build: BuildBackend
) -> None:
    with Proxy(good.port) as proxy:
        assert_answers(build(name, good.url, proxy=f"http://127.0.0.1:{proxy.port}"), "(the setting proxy)")
        assert proxy.asked


@pytest.mark.parametrize("name", REMOTE)
@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.1:9", ("through the proxy 127.0.0.1:9 (HTTP_PROXY) can't be reached",)),
        ("socks4://me:hush@127.0.0.1:9", ("(HTTP_PROXY) speaks socks4", "NO_PROXY")),
        ("http://me:hush#1@127.0.0.1:9", ("HTTP_PROXY names no proxy", "%23")),
        ("\u201chttp://x:1\u201d", ("HTTP_PROXY names no proxy",)),
    ],
)
def test_a_proxy_that_leads_nowhere_is_told(
    name: str, address: str, said: tuple[str, ...], build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", address)
    assert_fails(build(name, FAR), *said)


@pytest.mark.parametrize("name", long_after(1, REMOTE))
@pytest.mark.parametrize(
    ("url", "fault"), long_after(1, [(FAR, LLMFault.AUTHENTICATION), ("https://service.invalid", LLMFault.UNREACHABLE)])
)
def test_a_proxy_that_wants_a_password_says_so(
    name: str,
    url: str,
    fault: LLMFault,
    good: FaultServer,
    build: BuildBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Proxy(good.port, credentials=CREDENTIALS) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"http://me:other-hush@127.0.0.1:{proxy.port}")
        assert_fails(build(name, url), "407", "(ALL_PROXY)", fault=fault)
        with pytest.raises(LLMConnectionError, match="NAME:PASSWORD@HOST:PORT"):
            build(name, url).check()


@pytest.mark.parametrize(
    ("name", "variable"),
    [("ollama", "OLLAMA_HOST"), ("openai", "OPENAI_BASE_URL"), ("anthropic", "ANTHROPIC_BASE_URL")],
)
@pytest.mark.parametrize(
    "address", ["http://[::1", "http://me:hush@127.0.0.1:port", "http://", "ftp://127.0.0.1", "http://h:99999"]
)
def test_an_address_that_is_none_is_told_by_its_variable(
    name: str, variable: str, address: str, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, address)
    backend = build(name, None)
    assert_fails(backend, variable, "is no address: write http://")
    assert not getattr(backend, "prices", {})


@pytest.mark.parametrize("end", ["", "/", "/chat/completions", "/chat/completions/"])
def test_an_address_may_go_on_to_where_questions_go(
    end: str, good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{good.url}/v1{end}\n")
    assert_answers(build("openai", None))
    assert good.asked[0].path == "/v1/chat/completions"

"""Services as they are: behind proxies and certificates, with lists and refusals of their own, for each backend."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.certificates import CERTIFICATE, KEY_OF_CERTIFICATE
from support.fault_server import MODEL, Behaviour, FaultServer
from support.faults import GOOD, KEY, BuildBackend
from support.proxies import Proxy
from support.reply_forms import FORM

from pkmncli.api import LLMFailure, LLMFault, LLMRequest
from pkmncli.errors import LLMConnectionError

REMOTE = ("ollama", "openai", "anthropic")
KEY_OF = {"ollama": "OLLAMA_API_KEY", "openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
FAR = "http://service.invalid:99"
"""Where only a proxy leads to."""
REQUEST = LLMRequest("you advise", "what now?", FORM.schema, max_tokens=77, seed=9, timeout_s=60)
CREDENTIALS = "bWU6aHVzaA=="
"""``me:hush`` as a header has it."""

needs_socks = pytest.mark.skipif(importlib.util.find_spec("socksio") is None, reason="socksio is not installed")


@pytest.fixture(autouse=True)
def _certificates_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(name="build")
def _build_and_close(build: BuildBackend) -> Iterator[BuildBackend]:
    """Builds backends as elsewhere, and closes them in the end."""
    with contextlib.ExitStack() as stack:

        def make(*arguments: Any, **settings: Any) -> Any:
            backend = build(*arguments, **settings)
            stack.callback(backend.close)
            return backend

        yield make


@pytest.fixture
def good(server: FaultServer) -> FaultServer:
    server.answer(Behaviour(text=GOOD))
    return server


def assert_answers(backend: Any, *said: str) -> None:
    """The backend can be checked and asked; what its check says has the given parts."""
    line = backend.check()
    for part in said:
        assert part in line
    assert "\n" not in line
    assert backend.complete(REQUEST).text == GOOD


def assert_fails(backend: Any, *said: str, fault: LLMFault = LLMFault.UNREACHABLE) -> None:
    """Neither can be done, in one line that has the given parts and no password."""
    with pytest.raises(LLMConnectionError) as unchecked:
        backend.check()
    with pytest.raises(LLMConnectionError) as unlisted:
        backend.models()
    with pytest.raises(LLMFailure) as failure:
        backend.complete(REQUEST)
    assert failure.value.fault is fault
    for error in (unchecked.value, unlisted.value, failure.value):
        for part in said:
            assert part in str(error)
        assert "\n" not in str(error)
        assert "hush" not in str(error)
        assert KEY not in str(error)


# Proxies -------------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("name", REMOTE)
@pytest.mark.parametrize(
    ("url", "fault"), [(FAR, LLMFault.AUTHENTICATION), ("https://service.invalid", LLMFault.UNREACHABLE)]
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


# Certificates --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    path.write_text(CERTIFICATE)
    return str(path)


@pytest.fixture(scope="module")
def tls(certificate: str, tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    key = tmp_path_factory.mktemp("tls") / "key.pem"
    key.write_text(KEY_OF_CERTIFICATE)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


@pytest.fixture(scope="module")
def secure(tls: ssl.SSLContext) -> Iterator[FaultServer]:
    with FaultServer(Behaviour(text=GOOD), tls=tls) as running:
        yield running


@pytest.mark.parametrize("name", REMOTE)
def test_a_proxy_may_be_encrypted(
    name: str,
    good: FaultServer,
    certificate: str,
    tls: ssl.SSLContext,
    build: BuildBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Proxy(good.port, credentials=CREDENTIALS, tls=tls) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"https://me:hush@127.0.0.1:{proxy.port}")
        assert_fails(build(name, FAR), "its certificate is not trusted", "(HTTP_PROXY)")
        monkeypatch.setenv("SSL_CERT_FILE", certificate)
        assert_answers(build(name, FAR), "(HTTP_PROXY)")


@pytest.mark.parametrize("name", REMOTE)
@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
def test_a_certificate_of_the_environment_is_trusted(
    name: str,
    variable: str,
    secure: FaultServer,
    certificate: str,
    build: BuildBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert_fails(build(name, secure.url), "its certificate is not trusted", "SSL_CERT_FILE")
    monkeypatch.setenv(variable, certificate)
    assert_answers(build(name, secure.url))
    with Proxy(secure.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        assert_answers(build(name, "https://service.invalid"), "(HTTPS_PROXY)")
        assert set(proxy.asked) == {"service.invalid:443"}


@pytest.mark.parametrize("name", REMOTE)
@pytest.mark.parametrize(
    "variables",
    [
        {"SSL_CERT_FILE": "/gone/cacert.pem"},
        {"SSL_CERT_FILE": __file__},
        {"SSL_CERT_FILE": str(Path(__file__).parent)},
        {"SSL_CERT_DIR": "/gone"},
        {"SSL_CERT_FILE": "/gone/cacert.pem", "SSL_CERT_DIR": "/gone", "SSLKEYLOGFILE": "/gone/keys"},
    ],
    ids=str,
)
def test_stale_certificates_concern_only_what_is_encrypted(
    name: str,
    variables: dict[str, str],
    good: FaultServer,
    secure: FaultServer,
    build: BuildBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    variable, value = next(iter(variables.items()))
    assert_fails(build(name, secure.url), f"{variable} names {value}", "mend or unset it")
    assert_answers(build(name, good.url))


@pytest.mark.parametrize("name", REMOTE)
def test_a_service_that_speaks_no_https_is_told(name: str, good: FaultServer, build: BuildBackend) -> None:
    assert_fails(build(name, good.url.replace("http:", "https:")), "does not speak https", "http://")


HOSTILE = (
    {"ALL_PROXY": "socks5://127.0.0.1:9"},
    {"ALL_PROXY": "socks://127.0.0.1:9"},
    {"HTTPS_PROXY": "foo:bar:baz"},
    {"SSL_CERT_FILE": "/gone/cacert.pem"},
    {"SSLKEYLOGFILE": "/gone/keys"},
    {"OLLAMA_HOST": "http://[::1"},
    {"OLLAMA_HOST": "http://127.0.0.1:port"},
    {"OLLAMA_API_KEY": "\u201csk-abc\u201d"},
)
_IMPORTS = """
import importlib, json, os, sys
for variables in json.loads(sys.argv[1]):
    os.environ.update(variables)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("ollama", "pkmn_ollama")]:
        del sys.modules[name]
    for backend in ("ollama", "openai", "anthropic"):
        importlib.import_module(f"pkmn_{backend}.backend")
    assert all(os.environ.pop(name) == value for name, value in variables.items())
"""


@pytest.mark.long
def test_the_clients_are_imported_whatever_the_environment_is() -> None:
    """Only a process of its own imports them anew. The environment is left as it was."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUTF8": "1"}
    command = [sys.executable, "-c", _IMPORTS, json.dumps(HOSTILE)]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


# Keys ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REMOTE)
@pytest.mark.parametrize("end", ["\n", "\r\n", "  ", "\u00a0"])
def test_a_key_with_a_line_end_is_the_key(
    name: str, end: str, good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_OF[name], KEY + end)
    assert_answers(build(name, good.url))
    headers = {header.lower(): value for header, value in good.asked[0].headers.items()}
    assert headers.get("authorization", headers.get("x-api-key")) in (KEY, f"Bearer {KEY}")


@pytest.mark.parametrize("name", REMOTE)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"\u201c{KEY}\u201d", "typographic quotation mark"),
        (f'"{KEY}"', "quotation marks"),
        (f"{KEY} {KEY}", "holds a blank"),
        (f"\u200b{KEY}", "can't be seen"),
    ],
)
def test_a_key_that_is_none_is_named(
    name: str, text: str, said: str, good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_OF[name], text)
    assert_fails(build(name, good.url), f"The key in {KEY_OF[name]}", said, fault=LLMFault.AUTHENTICATION)
    assert good.asked == []


def test_a_token_with_a_line_end_is_the_token(
    good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", f"{KEY}\n")
    assert_answers(build("anthropic", good.url))
    assert {name.lower(): value for name, value in good.asked[0].headers.items()}["authorization"] == f"Bearer {KEY}"


def test_another_variable_of_a_client_that_no_header_takes_is_named(
    good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org\nanisation")
    assert_fails(build("openai", good.url), "OPENAI_ORG_ID", fault=LLMFault.AUTHENTICATION)


# Lists of models -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REMOTE)
@pytest.mark.parametrize(
    "listing",
    [
        *(Behaviour(status=status, message="no such place") for status in (400, 404, 405, 501)),
        Behaviour(status=503, message="Loading model"),
        Behaviour(status=403, message="You have insufficient permissions: missing scopes: api.model.read"),
        Behaviour(body=b"{}"),
        Behaviour(body=b'{"data": null}'),
    ],
    ids=lambda listing: str(listing.body or listing.status),
)
def test_a_service_without_a_list_is_asked_all_the_same_with_a_remark(
    name: str, listing: Behaviour, build: BuildBackend
) -> None:
    with FaultServer(Behaviour(text=GOOD)) as server:
        server.listing = listing
        assert_answers(build(name, server.url), MODEL, "It lists no models: the first question shows")


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_an_empty_list_is_as_good_as_none(name: str, build: BuildBackend) -> None:
    with FaultServer(Behaviour(text=GOOD)) as server:
        server.models = []
        assert_answers(build(name, server.url), MODEL, "It lists no models")


@pytest.mark.parametrize("name", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("model", "listed"), [("tiny", "models/tiny"), ("tiny", "tiny:latest"), ("some/tiny:nitro", "some/tiny")]
)
def test_a_model_that_is_listed_under_another_name_is_asked_by_its_own(
    name: str, model: str, listed: str, build: BuildBackend
) -> None:
    with FaultServer(Behaviour(text=GOOD)) as server:
        server.models = [listed]
        assert_answers(build(name, server.url, model), model)
        assert server.asked[0].body["model"] == model


@pytest.mark.parametrize("name", REMOTE)
def test_a_model_that_is_not_listed_must_answer_unless_a_setting_goes_past_the_list(
    name: str, server: FaultServer, build: BuildBackend
) -> None:
    server.answer(Behaviour(text=GOOD))
    assert_answers(build(name, server.url, "alias"), "alias", "does not list 'alias', but it answers", "tiny")
    assert [one.body["model"] for one in server.asked] == ["alias"] * 2
    server.answer(Behaviour(status=404, message="what is alias?"), Behaviour(text=GOOD))
    with pytest.raises(LLMConnectionError, match="no model 'alias'"):
        build(name, server.url, "alias").check()
    assert_answers(build(name, server.url, "alias", listed_only=False), "alias")
    server.answer(Behaviour(status=503, message="busy"), Behaviour(text=GOOD))
    assert_answers(build(name, server.url, "alias"), "did not answer yet", "busy")


@pytest.mark.parametrize("name", ["ollama", "openai"])
def test_a_model_that_can_be_talked_to_is_chosen_before_others(name: str, build: BuildBackend) -> None:
    with FaultServer(Behaviour(text=GOOD)) as server:
        server.models = ["nomic-embed-text", "whisper-1", "tiny"]
        assert_answers(build(name, server.url, None), "tiny")
        assert server.asked[0].body["model"].startswith("tiny")
        server.models = ["nomic-embed-text", "whisper-1"]
        with pytest.raises(LLMConnectionError, match="only nomic-embed-text"):
            build(name, server.url, None).check()


@pytest.mark.parametrize("name", REMOTE)
def test_a_model_that_does_not_talk_is_told(name: str, server: FaultServer, build: BuildBackend) -> None:
    server.answer(Behaviour(status=400, message='"nomic-embed-text" does not support chat'))
    with pytest.raises(LLMFailure, match="no model to talk to, choose another with --llm-model") as failure:
        build(name, server.url).complete(REQUEST)
    assert failure.value.fault is LLMFault.NO_MODEL
    assert len(server.asked) == 1


# Refusals ------------------------------------------------------------------------------------------------------------


def _no_system(body: Any) -> str:
    has = body.get("system") or any(message["role"] == "system" for message in body["messages"])
    return "System role not supported" if has else ""


def _has(field: str, message: str) -> Callable[[Any], str]:
    return lambda body: message if field in body or field in body.get("options", {}) else ""


@pytest.mark.parametrize(
    ("name", "objects", "settings", "said"),
    [
        *((name, _no_system, {}, "takes no system role") for name in REMOTE),
        ("openai", _has("temperature", "temperature is not supported"), {}, "refuses temperature"),
        ("openai", _has("seed", "Unknown parameter: seed"), {}, "refuses seed"),
        ("openai", _has("max_tokens", "Unsupported parameter: 'max_tokens'"), {}, "max_completion_tokens"),
        ("openai", _has("response_format", "This response_format type is unavailable now"), {}, "takes no schema"),
        (
            "openai",
            lambda body: (
                ""
                if body.get("enable_thinking") is False
                else "parameter.enable_thinking must be set to false for non-streaming calls"
            ),
            {},
            "enable_thinking = false",
        ),
        *(
            (name, _has("frob", "Unrecognized request argument supplied: frob"), {"extra_fields": {"frob": 1}}, "frob")
            for name in REMOTE
        ),
        ("ollama", _has("think", '"tiny" does not support thinking'), {"think": True}, "knows no thinking"),
        ("ollama", _has("format", "invalid format: grammar is not supported"), {}, "takes no schema"),
        ("anthropic", _has("tools", "tools are not supported by this model"), {}, "refuses tools"),
        *(
            (
                name,
                lambda body: _no_system(body) or _has("seed", "seed is not supported")(body),
                {"extra_fields": {"seed": 1}},
                "takes no system role",
            )
            for name in ("openai", "anthropic")
        ),
    ],
)
def test_what_a_service_refuses_is_left_out_remembered_and_told_once(
    name: str,
    objects: Callable[[Any], str],
    settings: dict[str, Any],
    said: str,
    server: FaultServer,
    build: BuildBackend,
) -> None:
    server.answer(Behaviour(text=GOOD, objects=objects))
    backend = build(name, server.url, **settings)
    told: list[str] = []
    backend.tell = told.append
    assert backend.complete(REQUEST).text == GOOD
    asked = len(server.asked)
    assert asked == 1 + len(told)
    assert said in told[0]
    assert backend.complete(REQUEST).text == GOOD
    assert len(server.asked) == asked + 1, "it is remembered"
    body = server.asked[-1].body
    assert "what now?" in str(body)
    assert "you advise" in str(body)


# Settings that go along ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REMOTE)
def test_further_fields_and_headers_go_along(
    name: str, good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_TOKEN", "let-me-in\n")
    fields = {"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "low", "temperature": 1.5}
    headers = {"X-Title": "pkmn", "X-Gate": "Bearer $GATEWAY_TOKEN"}
    backend = build(name, good.url, extra_fields=fields, extra_headers=headers)
    assert_answers(backend)
    asked = good.asked[0]
    for field, value in fields.items():
        assert asked.body[field] == value, "which goes before the program's own"
    if name == "ollama":
        assert asked.body["options"]["temperature"] == 1.5, "where the server reads it"
    sent = {header.lower(): value for header, value in asked.headers.items()}
    assert (sent["x-title"], sent["x-gate"]) == ("pkmn", "Bearer let-me-in")


@pytest.mark.parametrize("name", REMOTE)
def test_a_header_may_be_the_key(
    name: str, good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in KEY_OF.values():
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("GATEWAY_TOKEN", "let-me-in")
    with Proxy(good.port) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        assert_answers(build(name, FAR, extra_headers={"Authorization": "Bearer $GATEWAY_TOKEN"}))
    sent = {header.lower(): value for header, value in good.asked[0].headers.items()}
    assert sent["authorization"] == "Bearer let-me-in"


def test_further_options_of_ollama_join_its_own(good: FaultServer, build: BuildBackend) -> None:
    assert_answers(build("ollama", good.url, extra_fields={"options": {"top_k": 20, "num_predict": 5}}))
    options = good.asked[0].body["options"]
    assert (options["top_k"], options["num_predict"], options["seed"]) == (20, 5, 9)

"""Services with certificates of their own, and environment variables that damage a client."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.asked_services import REMOTE, assert_answers, assert_fails
from support.certificates import CERTIFICATE, KEY_OF_CERTIFICATE
from support.fault_server import Behaviour, FaultServer
from support.faults import GOOD, BuildBackend
from support.proxies import Proxy
from support.variants import long_after

FAR = "http://service.invalid:99"
"""Where only a proxy leads to."""
CREDENTIALS = "bWU6aHVzaA=="
"""``me:hush`` as a header has it."""


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


@pytest.mark.parametrize("name", long_after(1, REMOTE))
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


@pytest.mark.parametrize("name", long_after(1, REMOTE))
@pytest.mark.parametrize("variable", long_after(1, ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"]))
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


@pytest.mark.parametrize("name", long_after(1, REMOTE))
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

"""The way to a service: proxies and exceptions to them, certificates, and keys, as an environment may have them."""

from __future__ import annotations

import os
import ssl
import sys
from pathlib import Path

import httpx2
import pytest
from support.variants import long_after

from pkmncli.errors import LLMConnectionError
from pkmncli.llm.keys import key_from
from pkmncli.llm.proxy import is_this_machine, route_to

FAR = "https://service.example:8443/v1"
PROXY = "http://proxy.example:3128"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name in {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUEST_METHOD"}:
            monkeypatch.delenv(name)


def proxy_of(url: str, setting: str | None = None) -> str | None:
    given = route_to(url, httpx2, proxy=setting).options["proxy"]
    return given if given is None or isinstance(given, str) else str(given.url)


@pytest.mark.parametrize(
    ("url", "variables", "expected"),
    [
        (FAR, {}, None),
        (FAR, {"HTTPS_PROXY": PROXY}, PROXY),
        (FAR, {"https_proxy": PROXY}, PROXY),
        (FAR, {"HTTPS_PROXY": PROXY, "https_proxy": ""}, None),
        (FAR, {"HTTPS_PROXY": "  "}, None),
        (FAR, {"HTTPS_PROXY": " proxy.example:3128\n"}, PROXY),
        (FAR, {"HTTPS_PROXY": "proxy.example"}, "http://proxy.example"),
        (FAR, {"HTTP_PROXY": PROXY}, None),
        (FAR, {"ALL_PROXY": PROXY}, PROXY),
        (FAR, {"ALL_PROXY": "http://other.example", "HTTPS_PROXY": PROXY}, PROXY),
        (FAR, {"HTTPS_PROXY": "http://me:secret@proxy.example:3128"}, "http://me:secret@proxy.example:3128"),
        (FAR, {"HTTPS_PROXY": "http://[2001:db8::1]:3128"}, "http://[2001:db8::1]:3128"),
        (FAR, {"HTTPS_PROXY": "https://proxy.example"}, "https://proxy.example"),
        ("http://service.example", {"HTTP_PROXY": PROXY}, PROXY),
        ("http://service.example", {"HTTP_PROXY": PROXY, "REQUEST_METHOD": "GET"}, None),
        ("http://service.example", {"HTTPS_PROXY": PROXY}, None),
        *(
            (f"http://{host}:11434", {"HTTP_PROXY": PROXY, "ALL_PROXY": "socks4://nonsense"}, None)
            for host in ("127.0.0.1", "localhost", "LOCALHOST.", "[::1]", "127.8.9.1", "me.localhost", "0.0.0.0")
        ),
        ("http://192.168.1.5:11434", {"HTTP_PROXY": PROXY}, PROXY),
        ("http://localhost.example", {"HTTP_PROXY": PROXY}, PROXY),
    ],
)
def test_the_environment_names_the_proxy(
    url: str, variables: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxy_of(url) == expected


@pytest.mark.parametrize(
    ("url", "exceptions", "excepted"),
    long_after(
        1,
        [
            (FAR, "service.example", True),
            (FAR, "SERVICE.EXAMPLE", True),
            (FAR, "example", True),
            (FAR, ".example", True),
            (FAR, "*.example", True),
            (FAR, "ice.example", False),
            (FAR, "other.example,service.example", True),
            (FAR, " other.example ,  service.example ", True),
            (FAR, "other.example service.example", True),
            (FAR, "service.example:8443", True),
            (FAR, "service.example:443", False),
            (FAR, "https://service.example", True),
            (FAR, "service.example.", True),
            (FAR, "*", True),
            (FAR, "a.example,*", True),
            (FAR, "", False),
            (FAR, ",,", False),
            (FAR, "192.168.0.0/16", False),
            ("https://service.example", "service.example:443", True),
            ("https://192.168.1.5", "192.168.1.5", True),
            ("https://192.168.1.5", "192.168.0.0/16", True),
            ("https://192.168.1.5:8443", "192.168.1.5:8443", True),
            ("https://192.168.1.5:8443", "192.168.1.5:1", False),
            ("https://192.168.1.5", "192.169.0.0/16", False),
            ("https://[2001:db8::1]", "2001:db8::1", True),
            ("https://[2001:db8::1]", "[2001:db8:0::1]", True),
            ("https://[2001:db8::1]:8443", "[2001:db8::1]:8443", True),
            ("https://[2001:db8::1]", "2001:db8::/32", True),
        ],
    ),
)
@pytest.mark.parametrize("variable", long_after(1, ["NO_PROXY", "no_proxy"]))
def test_no_proxy_excepts_hosts(
    url: str, exceptions: str, excepted: bool, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", PROXY)
    monkeypatch.setenv(variable, exceptions)
    assert (proxy_of(url) is None) == excepted


def test_the_setting_goes_before_the_environment_and_for_this_machine_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://other.example")
    monkeypatch.setenv("NO_PROXY", "*")
    assert proxy_of(FAR, PROXY) == PROXY
    assert proxy_of("http://127.0.0.1:11434", PROXY) == PROXY
    monkeypatch.delenv("NO_PROXY")
    assert proxy_of(FAR, "none") is None


@pytest.mark.parametrize(
    "text",
    [
        "foo:bar:baz",
        "http://",
        "http://proxy.example:99999",
        "http://proxy.example:port",
        "http:/proxy.example:3128/x",
        "http://proxy.example/path",
        "http://proxy.example?x",
        "http://me:hush#hush@proxy.example:3128",
        "http://me:hush/hush@proxy.example:3128",
        "\u201chttp://proxy.example:3128\u201d",
        '"http://proxy.example:3128"',
        "http://[::1",
        "proxy example:3128",
    ],
)
@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "ALL_PROXY"])
def test_a_proxy_that_is_none_is_told_by_its_variable(
    text: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, text)
    with pytest.raises(LLMConnectionError, match=f"^{variable} names no proxy: write http") as error:
        route_to(FAR, httpx2)
    assert "hush" not in str(error.value)
    assert route_to("http://127.0.0.1:8000", httpx2).via == "", "which nothing of it concerns"


@pytest.mark.parametrize(
    "text", ["socks4://proxy.example", "socks4a://me:hush@proxy.example:1080", "ftp://proxy.example"]
)
def test_a_proxy_of_another_kind_is_told(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", text)
    with pytest.raises(
        LLMConnectionError, match=r"proxy\.example.*\(ALL_PROXY\) speaks .*socks5://.*NO_PROXY"
    ) as error:
        route_to(FAR, httpx2)
    assert "hush" not in str(error.value)


def test_a_socks_proxy_without_its_package_is_told_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://me:hush@127.0.0.1:1080")
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(
        LLMConnectionError, match=r"127\.0\.0\.1:1080 .ALL_PROXY. needs .* pip install socksio"
    ) as error:
        route_to(FAR, httpx2)
    assert "hush" not in str(error.value)


def test_a_proxy_is_told_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:hush@proxy.example:3128")
    assert route_to(FAR, httpx2).via == " through the proxy proxy.example:3128 (HTTPS_PROXY)"


# Certificates --------------------------------------------------------------------------------------------------------


def _no_certificates(folder: Path) -> dict[str, str]:
    text, empty = folder / "text.pem", folder / "empty.pem"
    text.write_text("no certificate")
    empty.touch()
    return {"a text": str(text), "empty": str(empty), "gone": str(folder / "gone.pem"), "a folder": str(folder)}


@pytest.mark.parametrize("what", ["a text", "empty", "gone", "a folder"])
def test_certificates_that_are_none_are_told_only_where_something_is_encrypted(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _no_certificates(tmp_path)[what]
    monkeypatch.setenv("SSL_CERT_FILE", path)
    with pytest.raises(LLMConnectionError, match=f"^SSL_CERT_FILE names {path}, which .*: mend or unset it$"):
        route_to(FAR, httpx2)
    context = route_to("http://192.168.1.5:8000", httpx2).options["verify"]
    assert context.verify_mode is ssl.CERT_REQUIRED, "a redirect may lead to where it counts"
    monkeypatch.setenv("HTTP_PROXY", "https://proxy.example")
    with pytest.raises(LLMConnectionError, match="SSL_CERT_FILE"):
        route_to("http://192.168.1.5:8000", httpx2)


@pytest.mark.parametrize("folder", ["gone", "file"])
def test_a_folder_of_certificates_that_is_none_is_told(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SSL_CERT_DIR", f"{tmp_path}{os.pathsep}{tmp_path / folder}")
    with pytest.raises(LLMConnectionError, match=r"^SSL_CERT_DIR names .*, which is no folder"):
        route_to(FAR, httpx2)
    assert route_to("http://192.168.1.5:8000", httpx2).options["verify"] is not None
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert route_to(FAR, httpx2).remarks == ()


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
@pytest.mark.parametrize("what", ["a text", "gone"])
def test_certificates_that_others_read_are_missed_with_a_remark(
    variable: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _no_certificates(tmp_path)[what]
    monkeypatch.setenv(variable, path)
    remarks = route_to(FAR, httpx2).remarks
    assert len(remarks) == 1 and remarks[0].startswith(f"{variable} names {path}, which ")
    assert route_to("http://192.168.1.5:8000", httpx2).remarks == ()


def test_a_key_log_that_can_not_be_written_is_told_only_where_something_is_encrypted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", _certificate(tmp_path))
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "gone" / "keys"))
    with pytest.raises(LLMConnectionError, match=r"^SSLKEYLOGFILE names"):
        route_to(FAR, httpx2)
    assert route_to("http://192.168.1.5:8000", httpx2).options["verify"].verify_mode is ssl.CERT_REQUIRED


def _certificate(folder: Path) -> str:
    from support.certificates import CERTIFICATE  # noqa: PLC0415 - of the backends' tests

    path = folder / "certificate.pem"
    path.write_text(CERTIFICATE)
    return str(path)


# Keys ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["sk-abc", " sk-abc", "sk-abc\n", "sk-abc\r\n", "\tsk-abc \n", "\u00a0sk-abc"])
def test_blanks_around_a_key_are_none_of_it(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", text)
    assert key_from("OPENAI_API_KEY") == "sk-abc"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\u201csk-abc\u201d", r"typographic quotation mark \(U\+201C\)"),
        ("sk-abc\u2019", r"typographic quotation mark \(U\+2019\)"),
        ("\u00absk-abc\u00bb", r"typographic quotation mark \(U\+00AB\)"),
        ("\u201esk-abc\u201c", r"typographic quotation mark \(U\+201E\)"),
        ('"sk-abc"', "stands in quotation marks"),
        ("'sk-abc'", "stands in quotation marks"),
        ("sk-abc'", "stands in quotation marks"),
        ("sk- abc", "holds a blank"),
        ("Bearer sk-abc", "holds a blank"),
        ("sk-\u00a0abc", "holds a blank"),
        ("sk-abc\nsk-def", "holds a line break"),
        ("sk-\u200babc", r"can't be seen \(U\+200B\)"),
        ("\ufeffsk-abc", r"can't be seen \(U\+FEFF\)"),
        ("sk-\x1babc", r"can't be seen \(U\+001B\)"),
        ("sk\u2013abc", r"\(U\+2013, en dash\)"),
        ("sk-\u00e4bc", r"\(U\+00E4, latin small letter a with diaeresis\)"),
    ],
)
def test_what_no_key_holds_is_named(text: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", text)
    with pytest.raises(LLMConnectionError, match=f"^The key in OPENAI_API_KEY .*{said}") as error:
        key_from("OPENAI_API_KEY")
    assert "abc" not in str(error.value)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("[::1]", True),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("", False),
    ],
)
def test_this_machine_is_known_by_its_names(host: str, expected: bool) -> None:
    assert is_this_machine(host) is expected

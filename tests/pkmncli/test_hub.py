"""``pkmn export --bundle hf:USER/NAME`` and ``pkmn import hf:USER/NAME``, by the real library at a hub on loopback."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.hub_server import READER, STRANGER, WRITER, HubServer
from support.variants import long_after

from pkmncli.command_table import build_command
from pkmncli.runs import Run

library = pytest.importorskip("huggingface_hub")

Pkmn = Callable[..., Any]

BUNDLE = "pkmn-bundle.zip"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    """A hub on loopback, with the token of ``me``. The library uploads by LFS, and does not wait between attempts."""
    import huggingface_hub.utils._http as http  # noqa: PLC0415

    with HubServer() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("HF_TOKEN", WRITER)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
        monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "hf" / "token"))
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(http, "time", SimpleNamespace(sleep=lambda seconds: None, time=time.time))
        yield server
        library.close_session()


@pytest.fixture
def run(shared_run: Callable[..., Path], tmp_path: Path) -> Run:
    run = Run(shutil.copytree(shared_run(), tmp_path / "runs" / "it"))
    (run.folder / "film.mp4").write_bytes(b"film")
    return run


def evaluate(run: Run, **changes: Any) -> None:
    """Put an evaluation of the learner alone into a run."""
    latest = json.loads((run.folder / "checkpoints" / "index.json").read_text())["latest"]
    alone = {"episodes": 10, "avg_reward": 300.0, "std_reward": 20.0, "avg_length": 30.0}
    goal = {"goal": "thorn_badge", "reached": 7, "goal_low": 0.397, "goal_high": 0.892, "goal_steps": 25}
    result = {"checkpoint": latest, "mode": "rl-only", **alone, **goal, "milestones": {}, **changes}
    folder = run.folder / "evaluations" / "20260101-000000-rl-only"
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(result))


def card_of(hub: HubServer, name: str = "me/agent") -> str:
    return hub.repositories[name].files["README.md"].decode()


# Sharing ----------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_shared_run_comes_back(pkmn: Pkmn, hub: HubServer, run: Run, tmp_path: Path) -> None:
    shared = pkmn("export", "it", "--bundle=hf:me/agent")
    assert shared.code == 0, shared.err
    assert f"Shared {hub.url}/me/agent" in shared.out
    assert "pkmn import hf:me/agent" in shared.out
    files = hub.repositories["me/agent"].files
    assert files.keys() == {".gitattributes", "README.md", BUNDLE, "replay.mp4"}
    assert files["replay.mp4"] == b"film"
    assert not hub.repositories["me/agent"].private
    imported = pkmn("import", "hf:me/agent", "--save-dir=theirs")
    assert imported.code == 0, imported.err
    commit = hub.repositories["me/agent"].commit_of("main")
    assert commit is not None
    assert f"Imported {tmp_path / 'theirs' / 'it'} from me/agent, revision {commit[:12]}." in imported.out
    assert Run(tmp_path / "theirs" / "it").checkpoints.index().latest is not None
    assert [path.name for path in (tmp_path / "theirs").iterdir()] == ["it"]
    assert all("pkmncli/" in one.agent for one in hub.asked if "/api/models/" in one.path)
    assert {one.token for one in hub.asked if "/storage/" in one.path} == {None}, "the token stays with the hub"


@pytest.mark.long
def test_a_private_run_is_read_with_its_owners_token_only(
    pkmn: Pkmn, hub: HubServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pkmn("export", "it", "--bundle=hf:me/agent", "--private").code == 0
    assert hub.repositories["me/agent"].private
    monkeypatch.setenv("HF_TOKEN", READER)
    assert pkmn("import", "hf:me/agent", "--name=mine").code == 0
    for token in (STRANGER, ""):
        monkeypatch.setenv("HF_TOKEN", token)
        refused = pkmn("import", "hf:me/agent", "--name=theirs")
        assert (refused.code, refused.out) == (5, "")
        assert "has no model repository me/agent, or it is private and your token may not read it" in refused.err


@pytest.mark.long
def test_a_second_run_becomes_the_newest_revision_when_asked(pkmn: Pkmn, hub: HubServer, run: Run) -> None:
    assert pkmn("export", "it", "--bundle=hf:me/agent").code == 0
    repository = hub.repositories["me/agent"]
    first = repository.commit_of("main")
    (run.folder / "film.mp4").unlink()
    refused = pkmn("export", "it", "--bundle=hf:me/agent")
    assert refused.code == 2
    assert "me/agent on the hub holds a run already: choose another name, or add" in refused.err
    assert repository.commit_of("main") == first
    assert pkmn("export", "it", "--bundle=hf:me/agent", "--overwrite", "--checkpoint=160").code == 0
    assert repository.files.keys() == {".gitattributes", "README.md", BUNDLE}, "the film was of the other one"
    assert pkmn("import", f"hf:me/agent@{first}", "--name=first").code == 0
    assert pkmn("import", "hf:me/agent", "--name=second").code == 0
    assert Run(run.folder.parent / "second").checkpoints.index().latest == "step-000000160"
    assert Run(run.folder.parent / "first").checkpoints.index().latest != "step-000000160"


def test_a_public_repository_takes_no_private_run(pkmn: Pkmn, hub: HubServer, run: Run) -> None:
    assert pkmn("export", "it", "--bundle=hf:me/agent").code == 0
    refused = pkmn("export", "it", "--bundle=hf:me/agent", "--overwrite", "--private")
    assert (refused.code, refused.out) == (2, "")
    assert "me/agent on the hub is public" in refused.err
    assert len(hub.repositories["me/agent"].revisions) == 2


@pytest.mark.long
def test_another_model_is_not_overwritten(pkmn: Pkmn, hub: HubServer, run: Run) -> None:
    assert pkmn("export", "it", "--bundle=hf:me/agent").code == 0
    hub.repositories["me/agent"].add({"README.md": b"mine", "model.safetensors": b"weights"})
    refused = pkmn("export", "it", "--bundle=hf:me/agent", "--overwrite")
    assert refused.code == 2
    assert "me/agent on the hub holds something else than a run" in refused.err
    assert hub.repositories["me/agent"].files["README.md"] == b"mine"


# The card ---------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_card_has_score_settings_and_commands_that_work(pkmn: Pkmn, hub: HubServer, run: Run) -> None:
    evaluate(run)
    assert pkmn("export", "it", "--bundle=hf:me/agent").code == 0
    card = card_of(hub)
    data = library.ModelCard(card).data
    assert (data.library_name, data.pipeline_tag) == ("pkmncli", "reinforcement-learning")
    assert data.eval_results[0].metric_value == "300.00 +/- 20.00"
    assert "| learner alone | 7 of 10 | 40% to 89% | 25 | 300.0 |" in card
    assert "Its mean reward is 300.0, with 1.96 standard errors 287.6 to 312.4." in card
    assert "[A film of an episode](replay.mp4)" in card
    assert "| game | Quillwood |" in card
    assert "| `dqn.batch_size` | `8` |" in card
    for line in re.findall(r"^pkmn .*$", card, re.MULTILINE):
        command: Any = build_command()
        name, found, rest = command.resolve_command(
            command.make_context("pkmn", ["x"], resilient_parsing=True), shlex.split(line)[1:]
        )
        found.make_context(name, rest)
    assert pkmn("import", "hf:me/agent", "--name=there").code == 0


def test_the_card_of_a_run_that_was_not_evaluated_says_so(pkmn: Pkmn, hub: HubServer, run: Run) -> None:
    (run.folder / "film.mp4").unlink()
    assert pkmn("export", "it", "--bundle=hf:me/agent").code == 0
    card = card_of(hub)
    assert "The run was not evaluated." in card
    assert "film" not in card and "replay." not in card
    assert library.ModelCard(card).data.eval_results is None


def test_the_card_tells_nothing_of_the_machine_or_of_a_secret(
    pkmn: Pkmn, hub: HubServer, run: Run, tmp_path: Path
) -> None:
    config = run.config_file.read_text()
    run.config_file.write_text(config.replace("# rom_path is not set", f'rom_path = "{tmp_path}/own.gbc" # option'))
    (tmp_path / "own.gbc").write_bytes(b"image")
    assert pkmn("export", "it", "--bundle=hf:me/agent").code == 0
    card = card_of(hub)
    assert str(tmp_path.parents[1]) not in card
    assert WRITER not in card
    assert "| `rom_path` | `own.gbc` |" in card
    image = run.read_names()["identity"]["image"]
    assert f"The game's image is not in here. The run needs your own image with SHA-1 `{image}`" in card
    content = b"".join(hub.repositories["me/agent"].files.values())
    with zipfile.ZipFile(io.BytesIO(hub.repositories["me/agent"].files[BUNDLE])) as archive:
        content += b"".join(archive.read(name) for name in archive.namelist())
    assert b"image" * 2 not in content and WRITER.encode() not in content


def test_a_secret_in_a_run_is_not_uploaded(pkmn: Pkmn, hub: HubServer, run: Run) -> None:
    run.names_file.write_text(json.dumps({**run.read_names(), "game": "sk-" + "a1" * 20}))
    refused = pkmn("export", "it", "--bundle=hf:me/agent")
    assert refused.code == 5
    assert "holds a secret" in refused.err
    assert not hub.repositories


def test_markdown_in_a_name_stays_text(pkmn: Pkmn, hub: HubServer, run: Run) -> None:
    run.names_file.write_text(json.dumps({**run.read_names(), "game": "A|B](http://x) <b>`c`\n# d"}))
    assert pkmn("export", "it", "--bundle=hf:me/agent").code == 0
    card = card_of(hub)
    assert r"# dqn on A\|B\](http://x) \<b\>\`c\` \# d" in card.splitlines()
    assert library.ModelCard(card).data.library_name == "pkmncli"


# What goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("hf:agent", "hf:agent is no address on the Hugging Face hub: write hf:USER/NAME or hf:USER/NAME@REVISION"),
        ("hf:me/agent/main", "hf:me/agent/main is no address"),
        ("hf:me/", "hf:me/ is no address"),
        ("hf:me/a--b", "me/a--b is no name on the hub: HFValidationError: Cannot have -- or .. in repo_id: 'me/a--b'."),
    ],
)
def test_a_wrong_address_is_named(source: str, message: str, pkmn: Pkmn, hub: HubServer, run: Run) -> None:
    for command in (["import", source], ["export", "it", f"--bundle={source}"]):
        result = pkmn(*command)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(message)
        assert len(result.err.splitlines()) == 1
    assert not hub.repositories


def test_options_that_do_not_go_together(pkmn: Pkmn, hub: HubServer, run: Run) -> None:
    assert pkmn("export", "it", "--private").err == "--private goes with --bundle hf:USER/NAME\n"
    assert pkmn("export", "it", "--bundle=it.zip", "--private").err == "--private goes with --bundle hf:USER/NAME\n"
    revision = pkmn("export", "it", "--bundle=hf:me/agent@v2")
    assert (revision.code, revision.err) == (2, "a run is shared as the newest revision: write hf:me/agent\n")
    assert "leave out --format" in pkmn("export", "it", "--bundle=hf:me/agent", "--format=parquet").err
    assert not hub.asked


def test_what_is_not_there_is_named(pkmn: Pkmn, hub: HubServer, run: Run) -> None:
    missing = pkmn("import", "hf:me/agent")
    assert (missing.code, len(missing.err.splitlines())) == (5, 1)
    assert "has no model repository me/agent" in missing.err
    assert pkmn("export", "it", "--bundle=hf:me/agent").code == 0
    revision = pkmn("import", "hf:me/agent@v2", "--name=other")
    assert (revision.code, revision.err) == (
        5,
        "me/agent on the hub has no revision 'v2': name a branch, a tag or a whole commit\n",
    )
    hub.repositories["me/agent"].add({"README.md": b"", "model.safetensors": b""})
    other = pkmn("import", "hf:me/agent", "--name=other")
    assert (other.code, other.err) == (5, f"me/agent on the hub holds no run of pkmn: it has no {BUNDLE}\n")
    hub.repositories["me/agent"].gated = True
    gated = pkmn("import", "hf:me/agent", "--name=other")
    assert (gated.code, gated.err) == (
        5,
        f"me/agent on the hub asks for your agreement: give it on {hub.url}/me/agent\n",
    )


@pytest.mark.parametrize(
    ("change", "message"),
    long_after(
        1,
        [
            (lambda content: content[:-40], "hf:me/agent is damaged, or no bundle"),
            (lambda content: b"no zip", "hf:me/agent is damaged, or no bundle"),
        ],
    ),
)
def test_what_is_fetched_is_checked_like_a_file(
    change: Callable[[bytes], bytes], message: str, pkmn: Pkmn, hub: HubServer, run: Run, tmp_path: Path
) -> None:
    assert pkmn("export", "it", "--bundle=hf:me/agent").code == 0
    repository = hub.repositories["me/agent"]
    repository.add({**repository.files, BUNDLE: change(repository.files[BUNDLE])})
    refused = pkmn("import", "hf:me/agent", "--save-dir=theirs")
    assert (refused.code, refused.out) == (5, "")
    assert message in refused.err
    assert not (tmp_path / "theirs").exists()


def test_a_hostile_bundle_on_the_hub_is_refused(pkmn: Pkmn, hub: HubServer, run: Run, tmp_path: Path) -> None:
    assert pkmn("export", "it", "--bundle=hf:me/agent").code == 0
    repository = hub.repositories["me/agent"]
    with zipfile.ZipFile(io.BytesIO(repository.files[BUNDLE])) as archive:
        files = {name: archive.read(name) for name in archive.namelist()} | {"../evil.json": b"{}"}
    about = json.loads(files.pop("bundle.json"))
    about["files"] = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()} for name, content in files.items()
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in {**files, "bundle.json": json.dumps(about).encode()}.items():
            archive.writestr(name, content)
    repository.add({BUNDLE: packed.getvalue()})
    refused = pkmn("import", "hf:me/agent", "--save-dir=theirs")
    assert refused.code == 5
    assert "hf:me/agent is no bundle: a run has no file '../evil.json'" in refused.err
    assert not list(tmp_path.rglob("evil.json"))


def test_a_bundle_that_is_too_large_is_not_downloaded(
    pkmn: Pkmn, hub: HubServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pkmn("export", "it", "--bundle=hf:me/agent").code == 0
    monkeypatch.setattr("pkmncli.run_upkeep.hub.LARGEST_BYTES", 1000)
    refused = pkmn("import", "hf:me/agent", "--name=other")
    assert refused.code == 5
    assert "hf:me/agent is larger than 0 GiB: it is not downloaded" in refused.err
    assert not [path for path in hub.paths("GET") if path.startswith("/storage/")]


def test_without_a_token_nothing_is_sent(pkmn: Pkmn, hub: HubServer, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN")
    refused = pkmn("export", "it", "--bundle=hf:me/agent")
    assert (refused.code, refused.out) == (2, "")
    assert "no token of the Hugging Face hub is known" in refused.err
    assert "'pkmn llm keys set huggingface' or 'hf auth login', or set HF_TOKEN" in refused.err
    assert not hub.asked
    monkeypatch.setenv("HF_TOKEN", "“hf_wrong”")
    assert "The key in HF_TOKEN holds a typographic quotation mark" in pkmn("export", "it", "--bundle=hf:me/a").err


def test_a_token_of_the_librarys_login_is_used(
    pkmn: Pkmn, hub: HubServer, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    (tmp_path / "hf").mkdir(exist_ok=True)
    (tmp_path / "hf" / "token").write_text(WRITER)
    assert pkmn("export", "it", "--bundle=hf:me/agent").code == 0
    assert "me/agent" in hub.repositories


def test_a_token_in_the_keyring_is_used(pkmn: Pkmn, hub: HubServer, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "")  # set again at the end of the test
    monkeypatch.setattr("pkmncli.llm.keys.take_stored_key", lambda variable: {"HF_TOKEN": WRITER}[variable])
    assert pkmn("export", "it", "--bundle=hf:me/agent").code == 0
    assert "me/agent" in hub.repositories


@pytest.mark.parametrize(
    ("token", "name", "code", "message"),
    long_after(
        1,
        [
            (STRANGER, "me/agent", 2, "the token may not write to me/agent"),
            (READER, "me/agent", 2, "the token may not write to me/agent"),
            ("hf_" + "x" * 24, "me/agent", 2, "refuses the token: make a new one at"),
        ],
    ),
)
def test_a_token_that_may_not_write_is_refused(
    token: str,
    name: str,
    code: int,
    message: str,
    pkmn: Pkmn,
    hub: HubServer,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    refused = pkmn("export", "it", f"--bundle=hf:{name}")
    assert (refused.code, refused.out) == (code, "")
    assert message in refused.err
    assert token not in refused.err
    assert len(refused.err.splitlines()) == 1
    assert not hub.repositories


def test_without_the_library_a_line_says_how_to_install_it(
    pkmn: Pkmn, hub: HubServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pkmncli.run_upkeep.hub.find_spec", lambda name: None)
    line = "hf: addresses need huggingface_hub, which is not installed; run: pip install 'pkmncli[hub]'\n"
    for command in (["import", "hf:me/agent"], ["export", "it", "--bundle=hf:me/agent"]):
        result = pkmn(*command)
        assert (result.code, result.err) == (2, line)


def test_without_a_network_a_line_says_so(
    pkmn: Pkmn, hub: HubServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    for command in (["import", "hf:me/agent"], ["export", "it", "--bundle=hf:me/agent"]):
        result = pkmn(*command)
        assert (result.code, len(result.err.splitlines())) == (5, 1)
        assert "the Hugging Face hub (127.0.0.1:9) can't be reached: " in result.err
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "may not use the network: unset HF_HUB_OFFLINE" in pkmn("import", "hf:me/agent").err


def test_a_hub_that_is_out_of_order_is_named(pkmn: Pkmn, hub: HubServer, run: Run) -> None:
    hub.fail = lambda method, path: 503 if path.startswith("/api/models/") else None
    result = pkmn("import", "hf:me/agent")
    assert (result.code, len(result.err.splitlines())) == (5, 1)
    assert "answers 503: try again in some minutes" in result.err


@pytest.mark.parametrize("broken", long_after(1, ["/storage/", "/preupload/", "/commit/", "/verify/", "/batch"]))
@pytest.mark.parametrize("status", long_after(1, [0, 500]))
def test_an_upload_that_breaks_off_publishes_nothing_and_is_done_again(
    status: int, broken: str, pkmn: Pkmn, hub: HubServer, run: Run
) -> None:
    hub.fail = lambda method, path: status if broken in path else None
    failed = pkmn("export", "it", "--bundle=hf:me/agent")
    assert (failed.code, failed.out) == (5, "")
    assert "nothing of it is published; run the command again" in failed.err
    uploading, *others = failed.err.splitlines()
    assert uploading.startswith("Uploading ") and len(others) == 1
    assert hub.repositories["me/agent"].files.keys() == {".gitattributes"}
    hub.fail = lambda method, path: None
    before = len(hub.paths("PUT"))
    again = pkmn("export", "it", "--bundle=hf:me/agent")
    assert again.code == 0, again.err
    assert BUNDLE in hub.repositories["me/agent"].files
    if broken in ("/commit/", "/verify/"):
        film = hashlib.sha256(b"film").hexdigest()
        assert f"/storage/{film}" not in hub.paths("PUT")[before:], "it is there already"


@pytest.mark.long
def test_an_interrupted_upload_says_that_nothing_is_published(hub: HubServer, run: Run, tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def hold(method: str, path: str) -> int | None:
        if method == "PUT":
            begun.set()
            go_on.wait(60)
        return None

    hub.fail = hold
    environ = {**os.environ, "HF_HUB_DISABLE_XET": "1"}
    command = [sys.executable, "-m", "pkmncli", "export", "it", "--bundle=hf:me/agent"]
    with subprocess.Popen(command, cwd=tmp_path, env=environ, stderr=subprocess.PIPE, text=True) as process:
        assert begun.wait(60)
        process.send_signal(signal.SIGINT)
        go_on.set()
        _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert "Interrupted: nothing of it is published; run the command again" in error
    assert hub.repositories["me/agent"].files.keys() == {".gitattributes"}


@pytest.mark.long
def test_the_library_uploads_by_xet_where_it_can(hub: HubServer, run: Run, tmp_path: Path) -> None:
    """Its storage is a folder here; what it stores is its own."""
    pytest.importorskip("hf_xet")
    hub.xet_folder = tmp_path / "xet"
    command = [sys.executable, "-m", "pkmncli", "export", "it", "--bundle=hf:me/agent"]
    result = subprocess.run(command, cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert list((tmp_path / "xet").rglob("*")), "it is stored there"
    assert not hub.paths("PUT")
    assert hub.repositories["me/agent"].files.keys() == {".gitattributes", "README.md", BUNDLE, "replay.mp4"}

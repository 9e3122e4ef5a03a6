"""Damaged and random files and requests: each is read, or refused by an error that says so. ``make fuzz`` tries more.

``FUZZ_SECONDS`` is how long each of these is tried, with ever new seeds; without it, a few examples are, the same ones.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import json
import os
import shutil
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pytest
import tomlkit
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from support.reply_forms import FORM
from support.tables import decisions, episodes, metrics

from pkmn_dashboard.app import make_app
from pkmn_dashboard.gate import Gate
from pkmn_dashboard.live_events import LiveEvents
from pkmn_dashboard.watched_run import WatchedRun
from pkmn_decisions.analyzer import DecisionHistoryAnalyzer
from pkmn_decisions.store.store import DuckDBStore
from pkmn_pyboy.emulation.rom import load_rom
from pkmn_pyboy.emulation.saved_state import MAGIC, read_saved_state, write_saved_state
from pkmn_pyboy.profile.loading import GAMES_FOLDER, load_profile
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.changed_world import ChangedWorld
from pkmn_pyboy.world_command.descriptions import Describer
from pkmn_pyboy.world_command.pages import list_page
from pkmncli.api import LLMReply, parse_json, parse_toml
from pkmncli.config import resolve_settings
from pkmncli.config.sources import from_file
from pkmncli.errors import CheckpointError, ConfigurationError, EmulatorError, EnvironmentSetupError, PkmnError
from pkmncli.llm.replies import MOST_PRESSES
from pkmncli.plugins import get_registry
from pkmncli.training.checkpoints.files import read_checkpoint, read_segments

SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
QUILLWOOD = GAMES_FOLDER / "quillwood"

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["", "\0", "../x", "/etc/passwd", "inf", "[red]", "\x1b[2J", "\ud800", "9" * 5000, "{}", "true"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=6), inner, max_size=4)),
    max_leaves=8,
)


def fuzzed(*strategies: Any, examples: int = 25) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Try a check on examples: the same few ones from day to day, new ones for as long as ``FUZZ_SECONDS`` says."""

    def around(check: Callable[..., None]) -> Callable[[], None]:
        quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
        rule = settings(
            max_examples=examples, deadline=None, derandomize=not SECONDS, database=None, suppress_health_check=quiet
        )

        @pytest.mark.timeout(SECONDS * 2 + 300)
        def test() -> None:
            end, number = time.monotonic() + SECONDS, 0
            while True:
                run = rule(given(*strategies)(check))
                if SECONDS:
                    run = seed(int.from_bytes(os.urandom(6)))(run)
                run()
                number += 1
                if time.monotonic() >= end:
                    return

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return around


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


@st.composite
def changed(draw: st.DrawFn, value: Any) -> Any:
    """A JSON value with one to three of its places changed, left out or doubled."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(value))
        if not found:
            break
        *way, last = found[draw(st.integers(0, len(found) - 1))]
        holder = value
        for key in way:
            holder = holder[key]
        what = draw(st.sampled_from(["change", "change", "remove", "double"]))
        if what == "change":
            holder[last] = draw(VALUES)
        elif what == "remove":
            del holder[last]
        elif isinstance(holder, list):
            holder.append(copy.deepcopy(holder[last]))
        else:
            holder[draw(st.text(max_size=8))] = copy.deepcopy(holder[last])
    return value


@st.composite
def damaged(draw: st.DrawFn, data: bytes, where: tuple[int, int] | None = None) -> bytes:
    """Bytes of which some are other ones, some are gone, or more are there."""
    changed = bytearray(data)
    first, last = where or (0, len(data))
    for _ in range(draw(st.integers(1, 12))):
        if len(changed) <= first:
            break
        place = draw(st.integers(first, min(last, len(changed)) - 1))
        what = draw(st.sampled_from(["byte", "byte", "run"] if where else ["byte", "byte", "run", "cut", "insert"]))
        if what == "byte":
            changed[place] = draw(st.integers(0, 255))
        elif what == "run":
            more = draw(st.binary(min_size=1, max_size=64))[: len(changed) - place]
            changed[place : place + len(more)] = more
        elif what == "cut":
            del changed[place : place + draw(st.integers(1, len(changed)))]
        else:
            changed[place:place] = draw(st.binary(max_size=64))
    return bytes(changed)


# Settings ------------------------------------------------------------------------------------------------------------

SETTINGS: dict[str, Any] = {
    "steps": 1000,
    "reward": ["progress", "exploration=0.5"],
    "seed": 3,
    "save_dir": "runs",
    "llm_prices": ["a=1/2"],
    "track": ["none"],
    "dqn": {"gamma": 0.9, "screen_channels": [8, 16], "encoder": "convolution", "double": True},
    "curriculum": {"enabled": False},
    "openai": {"base_url": "http://127.0.0.1:1/v1"},
    "rules": {"page_steps": 100},
}


@fuzzed(changed(SETTINGS), examples=60)
def test_settings(content: Any) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.json"
        try:
            path.write_text(json.dumps(content))
        except ValueError:
            return  # no file can hold such an integer
        try:
            resolve_settings({}, registry=get_registry(), config_path=path, environ={})
        except PkmnError as error:
            assert str(error)


@fuzzed(damaged(b"a = 1\n[dqn]\ngamma = 0.9\nscreen_channels = [8, 16]\ncreated = 2026-01-01T00:00:00Z\n"), examples=60)
def test_settings_files(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        for name in ("a.toml", "a.json"):
            (Path(folder) / name).write_bytes(data)
            try:
                from_file(Path(folder) / name)
            except ConfigurationError as error:
                assert name in str(error)


@fuzzed(st.sampled_from(["dqn.gamma", "seed", "reward", "dqn.screen_channels", "save_dir"]), st.text(), examples=80)
def test_settings_on_the_command_line(name: str, text: str) -> None:
    try:
        resolve_settings({}, registry=get_registry(), sets=[f"{name}={text}"], environ={})
    except PkmnError as error:
        assert str(error)


@pytest.mark.parametrize("name", ["~0", "~nobody-has-this-name/runs", "~\N{SNOWMAN}"])
def test_a_home_folder_that_nobody_has_is_a_name_like_any_other(name: str) -> None:
    settings = resolve_settings({}, registry=get_registry(), sets=[f"save_dir={name}"], environ={})
    assert settings.train.save_dir == Path.cwd() / name


@fuzzed(st.text(max_size=200) | st.binary(max_size=200), examples=100)
def test_texts_of_json_and_toml(text: str | bytes) -> None:
    for read in (parse_json, parse_toml) if isinstance(text, str) else (parse_json,):
        try:
            read(text)  # type: ignore[arg-type]
        except ValueError as error:
            assert str(error)


# Game profiles, images and world tables ------------------------------------------------------------------------------


@st.composite
def profile_file(draw: st.DrawFn) -> tuple[str, str]:
    """The name of a file of a profile, and its text with something changed."""
    name = draw(st.sampled_from(["game.toml", "milestones.toml", "names.toml", "world.toml", "tables.toml"]))
    content = draw(changed(tomllib.loads((QUILLWOOD / name).read_text(encoding="utf-8"))))
    try:
        return name, tomlkit.dumps(content)
    except Exception:
        return name, "a = ["


@fuzzed(profile_file(), examples=12)
def test_game_profiles(file: tuple[str, str]) -> None:
    with TemporaryDirectory() as folder:
        place = Path(folder) / "game"
        shutil.copytree(QUILLWOOD, place, ignore=shutil.ignore_patterns("src", "data", "gfx", "tools", "pretrained"))
        try:
            (place / file[0]).write_text(file[1], encoding="utf-8")
        except UnicodeEncodeError:
            return
        try:
            load_profile(place)
        except EnvironmentSetupError as error:
            assert str(place) in str(error)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('[1, 3, "Home 2F",', '[1, "Home 2F", 3,', "maps.table.2: Value error, a row begins with 2 whole numbers"),
        ('[1, 3, "Home 2F",', "[1, 3, 7,", "a name is text"),
        ('[1, 3, "Home 2F",', '[1, -3, "Home 2F",', "from 0 to 65535"),
    ],
)
def test_profiles_that_fuzzing_found(before: str, after: str, said: str, tmp_path: Path) -> None:
    place = tmp_path / "game"
    shutil.copytree(QUILLWOOD, place, ignore=shutil.ignore_patterns("src", "data", "gfx", "tools", "pretrained"))
    text = (place / "names.toml").read_text(encoding="utf-8")
    assert before in text
    (place / "names.toml").write_text(text.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(EnvironmentSetupError, match=r"names\.toml") as caught:
        load_profile(place)
    assert said in str(caught.value)


@pytest.mark.parametrize("number", [None, "1", [], 1.5])
def test_a_saved_state_whose_header_has_no_length(number: Any) -> None:
    text = json.dumps({**header_of(STATE), "bytes": number}).encode()
    with pytest.raises(EmulatorError, match="is cut off or something was added"):
        read_saved_state(MAGIC + len(text).to_bytes(4, "little") + text + b"x", game="a", rom_sha1="b")


@functools.cache
def image() -> bytes:
    return (QUILLWOOD / "quillwood.gbc").read_bytes()


@fuzzed(damaged(image(), (0x100, 0x150)) | damaged(image()[:0x8000]) | st.binary(max_size=0x200), examples=30)
def test_image_headers(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.gbc"
        path.write_bytes(data)
        try:
            assert load_rom(path).data == data
        except EnvironmentSetupError as error:
            assert str(path) in str(error)


@functools.cache
def profile() -> Any:
    return load_profile(QUILLWOOD)


def around_tables() -> st.SearchStrategy[bytes]:
    """The image with bytes changed where its tables stand, or anywhere behind its first bank."""
    starts = [table.offset for table in profile().memory.rom_tables.values()]
    near = st.sampled_from(starts).flatmap(lambda start: damaged(image(), (start, min(start + 512, len(image()) - 1))))
    return near | damaged(image(), (0x4000, len(image()) - 1))


TABLES = (
    *("species", "moves", "items", "machines", "machine_items", "type_chart", "stat_stages", "growth_rates"),
    *("trainers", "wild", "shops", "spawns"),
)


@fuzzed(st.deferred(around_tables), examples=6)
def test_world_tables(data: bytes) -> None:
    """A table that makes no sense is empty; a map that makes none is left out."""
    cartridge = Cartridge(data, profile())
    for name in TABLES:
        getattr(cartridge, name)
    world = cartridge.world
    for map_id in world.map_ids():
        here = world.map(map_id)
        assert here is None or here.name
        world.ways(map_id)
    assert list_page(Describer(cartridge, profile().names, ChangedWorld(world)), "a", 80)


# Saved states and checkpoints ----------------------------------------------------------------------------------------

SESSION = {"step": 3, "facts": {"x": 1, "names": ["a", None]}, "milestones": {"start": 0}}
STATE = write_saved_state(bytes(range(256)) * 4, SESSION, game="a", rom_sha1="b")


@fuzzed(damaged(STATE) | st.binary(max_size=64).map(lambda data: MAGIC + data), examples=80)
def test_saved_states(data: bytes) -> None:
    try:
        state = read_saved_state(data, game="a", rom_sha1="b")
    except EmulatorError as error:
        assert str(error)
    else:
        assert state.emulator == bytes(range(256)) * 4 and isinstance(state.session, dict)


def header_of(data: bytes) -> dict[str, Any]:
    length = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 4], "little")
    found: dict[str, Any] = json.loads(data[len(MAGIC) + 4 : len(MAGIC) + 4 + length])
    return found


@fuzzed(changed(header_of(STATE)), examples=60)
def test_headers_of_saved_states(header: Any) -> None:
    try:
        text = json.dumps(header).encode()
    except ValueError:
        return
    data = MAGIC + len(text).to_bytes(4, "little") + text + bytes(range(256)) * 4
    try:
        state = read_saved_state(data, game="a", rom_sha1="b")
    except EmulatorError as error:
        assert str(error)
    else:
        assert isinstance(state.session, dict)


@functools.cache
def checkpoint() -> tuple[Path, dict[str, Any]]:
    """A checkpoint in a folder that lasts as long as the tests, and its meta."""
    import atexit  # noqa: PLC0415

    import numpy as np  # noqa: PLC0415

    from pkmncli.api import Segment  # noqa: PLC0415
    from pkmncli.training.checkpoints.files import Checkpoint, write_checkpoint  # noqa: PLC0415
    from pkmncli.training.checkpoints.state import TrainerState  # noqa: PLC0415
    from pkmncli.training.workers.spec import WorkerState  # noqa: PLC0415

    run = TemporaryDirectory()
    atexit.register(run.cleanup)
    folder = Path(run.name) / "run" / "checkpoints" / "step-000000010"
    folder.parent.mkdir(parents=True)
    content = Checkpoint(
        step=10,
        learner={"weights": np.ones(3, np.float32), "updates": 3},
        trainer=TrainerState(episodes=[{"number": 1, "presses": np.arange(4)}]),
        workers=(WorkerState(1, 5, b"state", None, ()),),
        milestone_names=("a", "b"),
    )
    write_checkpoint(folder, content, [Segment("replay-000000", False, {"x": np.zeros(2)})])
    return folder, json.loads((folder / "meta.json").read_text())


def resealed(meta: Any) -> str:
    """The text of a meta.json whose checksum is right, whatever it says."""
    plain = {name: value for name, value in meta.items() if name != "checksum"}
    text = json.dumps(plain, sort_keys=True)
    return json.dumps({**plain, "checksum": hashlib.blake2b(text.encode(), digest_size=16).hexdigest()})


@fuzzed(st.deferred(lambda: changed({k: v for k, v in checkpoint()[1].items() if k != "checksum"})), examples=60)
def test_meta_of_checkpoints(meta: Any) -> None:
    """Also where whoever changed it has written its checksum anew."""
    folder, _ = checkpoint()
    try:
        text = resealed(meta)
        (folder / "meta.json").write_text(text, encoding="utf-8")
    except (ValueError, UnicodeEncodeError):
        return
    try:
        read_checkpoint(folder)
        list(read_segments(folder))
    except CheckpointError as error:
        assert str(error)


# Tables of a run, and the page that shows them -----------------------------------------------------------------------


@functools.cache
def tables() -> Path:
    """A run of two files of ten decisions, with an episode and metrics, in a folder that lasts as long as the tests."""
    import atexit  # noqa: PLC0415

    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    run = Path(folder.name) / "run"
    with DuckDBStore(run) as store:
        for first in (1, 11):
            store.append("decisions", decisions(first, first + 9))
            store.flush()
        store.append("episodes", episodes(20))
        store.append("metrics", metrics(*range(1, 21)))
    return run


@functools.cache
def table_files() -> list[Path]:
    """The files of these tables and their index, from the run's folder."""
    run = tables()
    return sorted(path.relative_to(run) for path in run.rglob("*") if path.suffix in {".parquet", ".jsonl"})


@st.composite
def damaged_table(draw: st.DrawFn) -> tuple[Path, bytes]:
    """Name of one of these files and its damaged content; half of the damage is near the end, where the schema is."""
    name = draw(st.sampled_from(table_files()))
    data = (tables() / name).read_bytes()
    where = draw(st.sampled_from([None, (max(0, len(data) - 600), len(data))]))
    return name, draw(damaged(data, where))


@fuzzed(st.deferred(damaged_table), examples=25)
def test_tables(file: tuple[Path, bytes]) -> None:
    """A row that is read was recorded: damage is told, or was where nothing is read."""
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        shutil.copytree(tables(), run)
        (run / file[0]).write_bytes(file[1])
        try:
            with DuckDBStore(run) as store:
                read = store.read("decisions")
            analyzer = DecisionHistoryAnalyzer(run)
            try:
                analyzer.analyze_patterns(1)
            finally:
                analyzer.close()
        except PkmnError as error:
            assert str(error)
        else:
            found = {row["global_step"]: row["reason"] for row in read}
            assert found == {step: f"reason {step}" for step in found}


PATHS = ("run", "summary", "metrics", "metric-names", "milestones", "decisions", "episodes", "advice", "maps", "log")


@functools.cache
def page() -> TestClient:
    """The page of the run with these tables."""
    run = WatchedRun(tables())
    app = make_app(run, LiveEvents(run, ended=lambda: True), Gate())
    return TestClient(app, base_url="http://127.0.0.1:8080", raise_server_exceptions=True)


@fuzzed(
    st.sampled_from(PATHS) | st.text(max_size=30),
    st.dictionaries(
        st.sampled_from(["limit", "before", "source", "name", "points", "environment"]) | st.text(max_size=6),
        st.integers(-(2**70), 2**70).map(str) | st.text(max_size=12),
        max_size=4,
    ),
    st.sampled_from(["GET", "GET", "GET", "POST", "PUT", "DELETE", "HEAD"]),
    st.binary(max_size=200),
    examples=40,
)
def test_requests_of_the_page(path: str, query: dict[str, str], method: str, body: bytes) -> None:
    """Each is answered, or refused as one that was wrong."""
    address = "/api/" + quote(path.encode("utf-8", "surrogatepass"), safe="/.")
    answer = page().request(method, address, params=query, content=body if method in {"POST", "PUT"} else None)
    assert answer.status_code < 500
    assert answer.headers["content-security-policy"]


# Replies of models ---------------------------------------------------------------------------------------------------

REPLY = {
    "goal": "Go up",
    "skill": "press",
    "presses": ["up", "a"],
    "map": "Route 29",
    "x": 3,
    "y": 4,
    "confidence": 0.8,
    "reason": "the door",
}


@fuzzed(changed(REPLY), st.text(max_size=20), st.text(max_size=20), examples=100)
def test_replies(value: Any, before: str, after: str) -> None:
    """Whatever a model writes, it becomes a few presses of known buttons or nothing."""
    try:
        text = json.dumps(value)
    except ValueError:
        text = str(value)[:200]
    for read in (
        FORM.read(LLMReply(before, "m", parsed=value), expires_after=10),
        FORM.read(LLMReply(before + text + after, "m"), expires_after=10, words_too=True),
        FORM.read(LLMReply(before + text + after, "m"), expires_after=10),
        FORM.read(LLMReply(text[: len(text) // 2], "m"), expires_after=10),
        FORM.read(LLMReply(before + after, "m"), expires_after=10),
    ):
        if read.advice is not None:
            assert len(read.advice.presses) <= MOST_PRESSES
            assert all(0 <= int(press) <= 8 for press in read.advice.presses)
            assert 0 <= read.advice.confidence <= 1

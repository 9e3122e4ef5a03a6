"""Damaged checkpoints and tables, random requests of the page: each is read, or refused by an error that says so."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import strategies as st
from starlette.testclient import TestClient
from support.fuzzing import changed, damaged, fuzzed
from support.tables import decisions, episodes, metrics

from pkmn_dashboard.app import make_app
from pkmn_dashboard.gate import Gate
from pkmn_dashboard.live_events import LiveEvents
from pkmn_dashboard.watched_run import WatchedRun
from pkmn_decisions.analyzer import DecisionHistoryAnalyzer
from pkmn_decisions.store.store import DuckDBStore
from pkmncli.errors import CheckpointError, PkmnError
from pkmncli.training.checkpoints.files import read_checkpoint, read_segments


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
@pytest.mark.long
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
@pytest.mark.long
def test_requests_of_the_page(path: str, query: dict[str, str], method: str, body: bytes) -> None:
    """Each is answered, or refused as one that was wrong."""
    address = "/api/" + quote(path.encode("utf-8", "surrogatepass"), safe="/.")
    answer = page().request(method, address, params=query, content=body if method in {"POST", "PUT"} else None)
    assert answer.status_code < 500
    assert answer.headers["content-security-policy"]

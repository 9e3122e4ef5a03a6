"""What the tests of faults share: one training that nothing happens to, and a table of what came of each fault.

``make test-faults`` tries each fault as often as FAULT_TRIES says; without it, each is tried once or twice.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from support.faulty_trainings import COURSE, MakeTally, Tally, run_to_end

QUICK_TRIES = 1


@pytest.fixture
def tries() -> int:
    """How often a fault is to be tried."""
    return int(os.environ.get("FAULT_TRIES", QUICK_TRIES))


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    """The moments of a test: the same each time, unless FAULT_SEED says otherwise."""
    return random.Random(os.environ.get("FAULT_SEED", "0") + request.node.name)


@pytest.fixture
def tally(record_property: Callable[[str, object], None]) -> Iterator[MakeTally]:
    """Make a row of the table, by the fault's name."""
    rows: list[Tally] = []

    def make(fault: str) -> Tally:
        rows.append(Tally(fault))
        return rows[-1]

    yield make
    for row in rows:
        record_property("fault", (row.fault, row.tries, row.survived, row.lost_rows))


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the training to which nothing happens, made once."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "undisturbed"
    folder.mkdir(exist_ok=True)
    with FileLock(folder / "lock"):
        if not (folder / "runs").exists():
            assert run_to_end(folder, *COURSE, "--run-name=whole").code == 0
    return folder / "runs" / "whole"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table."""
    # Rows are recorded when a test is torn down.
    reports = [
        one for some in terminalreporter.stats.values() for one in some if getattr(one, "when", "") == "teardown"
    ]
    rows = [value for report in reports for name, value in getattr(report, "user_properties", ()) if name == "fault"]
    if not rows:
        return
    terminalreporter.section("faults")
    terminalreporter.write_line("| fault | tries | survived | rows lost |")
    terminalreporter.write_line("| --- | --- | --- | --- |")
    for fault, tried, survived, lost in rows:
        terminalreporter.write_line(f"| {fault} | {tried:,} | {survived:,} | {lost:,} |")

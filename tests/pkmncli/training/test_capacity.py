"""Many environments are checked against the memory and the cores of the machine before they start."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.worker_pools import make_spec

from pkmncli.errors import ConfigurationError
from pkmncli.training.workers import capacity


def test_too_little_memory_is_refused_with_the_number_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity, "free_bytes", lambda: 60_000_000)
    with pytest.raises(ConfigurationError, match=r"envs = 200: 200 workers take .* 0\.1 GB are free: at most") as found:
        capacity.check_capacity(make_spec(200), pytest.fail, cores=2)
    fit = re.search(r"at most (\d+) fit", str(found.value))
    assert fit is not None and 0 < int(fit[1]) < 20


def test_more_environments_than_the_cores_keep_busy_are_told() -> None:
    told: list[str] = []
    capacity.check_capacity(make_spec(9), told.append, cores=2)
    assert told == [
        "9 environments in 9 workers on 2 cores: more than about 8 bring nothing, and they take long to start."
    ]


def test_few_environments_are_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity, "free_bytes", lambda: 0)
    capacity.check_capacity(make_spec(8), pytest.fail, cores=1)


def test_free_memory_is_within_the_limit_of_a_container(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "max").write_text("5000\n")
    (tmp_path / "current").write_text("2000\n")
    monkeypatch.setattr(capacity, "LIMIT_FILES", ((str(tmp_path / "max"), str(tmp_path / "current")),))
    assert capacity.free_bytes() == 3000
    (tmp_path / "memory.stat").write_text("anon 10\ninactive_file 500\n")
    assert capacity.free_bytes() == 3500, "files that are only kept are given up"
    (tmp_path / "max").write_text("max\n")
    assert capacity.free_bytes() > 1_000_000

"""Rows counted by columns: all that were flushed, of all files, once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.tables import decisions

from pkmn_decisions.store.store import DuckDBStore
from pkmncli.api import CountingStore
from pkmncli.errors import DecisionValidationError, RunError


def test_every_flushed_row_counts_once(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path) as store:
        counting: CountingStore = store
        assert counting.count("decisions", ("map_id", "x")) == []
        store.append("decisions", decisions(1, 4, map_id=np.array([1, 1, 1, 2], "u4"), x=np.array([5, 5, 6, 5], "u1")))
        store.flush()
        store.append("decisions", decisions(5, 6, map_id=np.array([1, 2], "u4"), x=np.array([5, 5], "u1")))
        store.flush()
        store.append("decisions", decisions(7, 7))
        assert counting.count("decisions", ("map_id", "x")) == [(1, 5, 3), (1, 6, 1), (2, 5, 2)]
        assert counting.count("decisions", ("map_id",)) == [(1, 4), (2, 2)]


def test_what_cannot_be_counted_is_told(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path) as store:
        with pytest.raises(DecisionValidationError, match="no column tile"):
            store.count("decisions", ("tile",))
        store.append("decisions", decisions(1, 4))
        store.flush()
        (file,) = (tmp_path / "decisions").iterdir()
        file.write_bytes(b"not parquet")
        with pytest.raises(RunError, match="is not what was recorded"):
            store.count("decisions", ("map_id",))

"""The memory that environments share is there before anybody writes to it, wherever there is room for it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from pkmncli.errors import RunError
from pkmncli.training import shared_block
from pkmncli.training.shared_block import SharedBlock, layout_of

SPACE = gymnasium.spaces.Dict({"screen": gymnasium.spaces.Box(0, 255, (80, 90), np.uint8)})


def test_every_byte_of_it_is_there() -> None:
    block = SharedBlock(layout_of(SPACE), 3)
    stat = shared_block.os.fstat(block._file.fileno())
    assert stat.st_blocks * 512 >= stat.st_size > 3 * 80 * 90
    block.close()


@pytest.mark.parametrize("problem", [28, 30])
def test_without_room_in_memory_it_is_a_temporary_file(problem: int, monkeypatch: pytest.MonkeyPatch) -> None:
    places = []
    made = tempfile.TemporaryFile

    def refused(dir: Path | None = None) -> object:
        places.append(dir)
        if dir is not None:
            raise OSError(problem, "no")
        return made()

    monkeypatch.setattr(shared_block.tempfile, "TemporaryFile", refused)
    block = SharedBlock(layout_of(SPACE), 1)
    block.slots[0]["screen"][:] = 7
    assert places == [shared_block.IN_MEMORY, None]
    block.close()


def test_without_room_anywhere_it_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int, _begin: int, _size: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shared_block.os, "posix_fallocate", full)
    with pytest.raises(RunError, match=r"no room for what the environments share, 0\.0 MB.*No space left.*TMPDIR"):
        SharedBlock(layout_of(SPACE), 1)

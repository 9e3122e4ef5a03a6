"""The memory that trainer and workers share needs room nowhere but in memory; where there is none, a line says so."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from support.variants import long_after

from pkmncli.api import REWARD_PARTS
from pkmncli.errors import TrainingError
from pkmncli.training.workers.shared_memory import RECORD_DTYPE, FieldLayout, SharedBlock, layout_of
from pkmncli.training.workers.step_result import StepColumns

LAYOUT = (FieldLayout("screen", (72, 80, 3), "|u1"), FieldLayout("mask", (9,), "|i1"))

FULL = "mount -t tmpfs -o size=64k tmpfs /dev/shm; head -c 65536 /dev/zero > /dev/shm/full"
READ_ONLY = "mount -t tmpfs -o ro tmpfs /dev/shm"


@pytest.mark.skipif(sys.platform != "linux", reason="mounts of its own")
@pytest.mark.parametrize("mount", long_after(1, [FULL, READ_ONLY]))
def test_a_full_or_read_only_dev_shm_is_not_needed(mount: str) -> None:
    code = (
        "import numpy as np\n"
        "from pkmncli.training.workers.shared_memory import FieldLayout, SharedBlock\n"
        f"block = SharedBlock({LAYOUT!r}, 8)\n"
        "for slot in block.slots:\n"
        "    slot['screen'][:] = 7\n"
        "print(int(sum(np.sum(slot['screen'] == 7) for slot in block.slots)))\n"
    )
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        pytest.skip("may not mount anything")
    command = ["unshare", "-m", "sh", "-c", f'({mount}) 2>/dev/null; exec "$0" -c "$1"', sys.executable, code]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, f"{3 * 8 * 72 * 80 * 3}\n"), found.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_no_room_is_told_instead_of_dying_at_the_first_write() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
    try:
        with pytest.raises(TrainingError, match=r"no room for the observations .* bytes: File too large; use fewer"):
            SharedBlock(LAYOUT, 8)
        block = SharedBlock((LAYOUT[1],), 8)
        assert np.all(block.slots[0]["mask"] == 0)
        block.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def fields_of(record: dict[str, Any]) -> list[Any]:
    """Return a value for each field of a record, 0 where ``record`` has none."""
    empty = {name: np.zeros((), dtype).item() for name, (dtype, _) in RECORD_DTYPE.fields.items() if not dtype.subdtype}
    return [{**empty, "reward_parts": bytes(4 * REWARD_PARTS), **record}[name] for name in RECORD_DTYPE.names]


@pytest.mark.parametrize(
    ("field", "written", "read"),
    [
        ("fine_hash", 2**64 - 1, 2**64 - 1),
        ("reason", b"north", b"north"),
        ("reward", np.float64(0.1), np.float32(0.1)),
        ("reward", 1e300, np.inf),
        ("x", -3.7, -3),
        ("terminated", np.True_, True),
        ("milestones", np.int64(7), 7),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_a_record_holds_what_numpy_makes_of_the_values(field: str, written: Any, read: Any) -> None:
    block = SharedBlock(LAYOUT, 3)
    parts = np.arange(REWARD_PARTS, dtype=np.float32)
    block.write_record(1, fields_of({field: written, "episode": 9, "next_phase": 3, "reward_parts": parts.tobytes()}))
    for records in (block.records, block.copy_records()[0]):
        assert records[field].tolist() == [records[field].dtype.type(0), read, records[field].dtype.type(0)]
        assert records["episode"].tolist() == [0, 9, 0]
        assert records["next_phase"].tolist() == [0, 3, 0]
        assert records["reward_parts"][1].tolist() == parts.tolist()
        assert not records["reward_parts"][[0, 2]].any()
    assert StepColumns.of_each(block.copy_records()) == [StepColumns.of(record) for record in block.records]
    block.close()


def test_an_action_that_no_record_can_hold_is_refused() -> None:
    block = SharedBlock(LAYOUT, 1)
    with pytest.raises(OverflowError):
        block.write_record(0, fields_of({"action": 2**40}))
    block.close()


def test_single_numbers_and_nested_dictionaries_are_written_in_place() -> None:
    spaces = gymnasium.spaces
    space = spaces.Dict(
        room=spaces.Discrete(9),
        me=spaces.Dict(hand=spaces.MultiDiscrete([4, 4]), said=spaces.Text(9)),
        flags=spaces.MultiBinary(3),
    )
    block = SharedBlock(layout_of(space), 2)
    out = block.environment(0, 1)
    out["room"][...] = 7
    out["me"]["hand"][:] = [2, 3]
    out["flags"][:] = [1, 0, 1]
    assert block.slots[0]["room"].tolist() == [0, 7]
    assert block.slots[0]["me.hand"].tolist() == [[0, 0], [2, 3]]
    assert block.slots[0]["flags"].tolist() == [[0, 0, 0], [1, 0, 1]]
    block.close()

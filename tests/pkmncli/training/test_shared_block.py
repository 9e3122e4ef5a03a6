"""The memory that trainer and workers share needs room nowhere but in memory; where there is none, a line says so."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys

import numpy as np
import pytest
from support.variants import long_after

from pkmncli.errors import TrainingError
from pkmncli.training.workers.shared_memory import FieldLayout, SharedBlock

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
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(TrainingError, match=r"no room for the observations .* bytes: File too large; use fewer"):
            SharedBlock(LAYOUT, 8)
        block = SharedBlock((LAYOUT[1],), 8)
        assert np.all(block.slots[0]["mask"] == 0)
        block.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

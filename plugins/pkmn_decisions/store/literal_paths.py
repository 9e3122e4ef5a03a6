"""Paths that DuckDB takes as they are.

It reads ``*``, ``?`` and ``[`` in a path as a pattern, ``~`` at its beginning as the home folder, and takes only
paths that are UTF-8. A folder whose path it would not take is reached through a link with a plain name.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path

_PATTERN = re.compile(r"[*?\[\\]" if os.name != "nt" else r"[*?\[]")


def literal_path(path: Path) -> Path:
    """Return a path of the same file that DuckDB neither expands nor refuses. The file need not exist."""
    absolute = path.absolute()  # a relative path may begin with ~ or look like an address
    if _is_plain(absolute.parent):
        return absolute
    return _link(absolute.parent) / absolute.name


def _is_plain(folder: Path) -> bool:
    text = str(folder)
    try:
        text.encode()
    except UnicodeEncodeError:  # a name whose bytes are not UTF-8
        return False
    return _PATTERN.search(text) is None


class _Links:
    """A temporary folder of links, removed when the process ends."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pkmn-links-"))
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


@functools.cache
def _links() -> _Links:
    return _Links()


@functools.cache
def _link(folder: Path) -> Path:
    links = _links().folder
    link = links / str(len(list(links.iterdir())))
    link.symlink_to(folder, target_is_directory=True)
    return link

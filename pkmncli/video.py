"""Pictures of a game from its screens: mp4 and gif files, folders of PNG files, and half blocks for a terminal."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pkmncli.errors import ConfigurationError, RunError
from pkmncli.outgoing_text import drawing_stream, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL import Image

VIDEO_SUFFIXES = (".mp4", ".gif")
SCALE = 4
"""Pixels per side of each screen pixel."""
GIF_SCALE = 2
"""The same in a gif, where every pixel costs space."""
MOST_COLUMNS = 1280
"""Pixels that a screen is at most enlarged to in width: pictures with letters are large as they are."""

_ESCAPE = "\x1b["
_HOME = f"{_ESCAPE}H"
_CLEAR = f"{_ESCAPE}2J{_ESCAPE}?25l"
_RESTORE = f"{_ESCAPE}0m{_ESCAPE}?25h"


class VideoWriter(Protocol):
    """Writer of screens, each (height, width, 3) uint8."""

    def add(self, screen: NDArray[np.uint8]) -> None:
        """Append a screen."""


@contextmanager
def open_video(path: Path, frames_per_second: float, *, enlarged: bool = False) -> Iterator[VideoWriter]:
    """Open a film to add screens to. The file appears only when it is complete.

    Args:
        path: ends in .mp4 or .gif, or in neither: then it is a folder of PNG files, numbered from 1.
        frames_per_second: screens shown per second.
        enlarged: True if the screens have their final size.

    Raises:
        ConfigurationError: another suffix, or the folder exists and is not empty.
        RunError: it cannot be written.
    """
    suffix = check_video_name(path)
    temporary = path.with_name(f".{path.stem}.tmp{suffix}")
    writer: _Mp4Writer | _GifWriter | _FolderWriter
    if suffix == ".mp4":
        writer = _Mp4Writer(temporary, frames_per_second, 1 if enlarged else SCALE)
    elif suffix == ".gif":
        writer = _GifWriter(temporary, frames_per_second, 1 if enlarged else GIF_SCALE)
    else:
        writer = _FolderWriter(temporary, 1 if enlarged else SCALE)
    missing = [folder for folder in path.absolute().parents if not folder.exists()]
    try:
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        yield writer
        writer.finish()
        temporary.replace(path)
    except OSError as error:
        raise RunError(f"the video {path} could not be written: {error.strerror or error}") from error
    finally:
        writer.abandon()
        _remove(temporary)
        if not path.exists():
            with contextlib.suppress(OSError):  # another file may be in it by now
                for folder in missing:
                    folder.rmdir()


def check_video_name(path: Path) -> str:
    """Return the kind of video for a file name: its suffix, empty for a folder of pictures.

    Raises:
        ConfigurationError: another suffix, or a folder that is not empty.
    """
    suffix = path.suffix.lower()
    if suffix and suffix not in VIDEO_SUFFIXES:
        raise ConfigurationError(
            f"{path}: a video's name ends in {' or '.join(VIDEO_SUFFIXES)}, or in neither for a folder of pictures"
        )
    if not suffix and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise ConfigurationError(f"{path}: pictures go into a new or empty folder")
    if suffix and path.is_dir():
        raise ConfigurationError(f"{path} is a folder: choose another name for the video")
    return suffix


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def enlarge(screen: NDArray[np.uint8], scale: int = SCALE) -> NDArray[np.uint8]:
    """Return the screen with each pixel as a square of ``scale`` pixels, fewer where the screen is large."""
    scale = max(1, min(scale, MOST_COLUMNS // screen.shape[1]))
    return np.ascontiguousarray(screen.repeat(scale, axis=0).repeat(scale, axis=1))


_ENCODING = ("-crf", "23", "-g", "600", "-tune", "animation", "-movflags", "+faststart")
"""Options of ffmpeg for flat areas with sharp edges; a browser can start before the download is complete."""


class _Mp4Writer:
    """Writer of H.264 with 4:2:0 colours, which every player supports; each side has an even number of pixels."""

    def __init__(self, path: Path, frames_per_second: float, scale: int) -> None:
        self._path = path
        self._rate = frames_per_second
        self._scale = scale
        self._sink: Any = None

    def add(self, screen: NDArray[np.uint8]) -> None:
        import imageio_ffmpeg  # noqa: PLC0415 - only videos need it

        frame = enlarge(screen, self._scale)
        if self._sink is None:
            self._sink = imageio_ffmpeg.write_frames(
                str(self._path),
                (frame.shape[1], frame.shape[0]),
                fps=self._rate,
                macro_block_size=None,
                quality=None,
                output_params=list(_ENCODING),
            )
            self._sink.send(None)
        self._sink.send(frame)

    def finish(self) -> None:
        self.abandon()

    def abandon(self) -> None:
        if self._sink is not None:
            self._sink.close()
            self._sink = None


class _GifWriter:
    """Writer of a gif; it keeps only screens that differ from the one before, since a gif stores each one whole."""

    def __init__(self, path: Path, frames_per_second: float, scale: int) -> None:
        self._path = path
        self._milliseconds = 1000 / frames_per_second
        self._scale = scale
        self._latest: NDArray[np.uint8] | None = None
        self._images: list[Image.Image] = []
        self._durations: list[float] = []

    def add(self, screen: NDArray[np.uint8]) -> None:
        from PIL import Image  # noqa: PLC0415 - only videos need it

        if self._latest is not None and np.array_equal(self._latest, screen):
            self._durations[-1] += self._milliseconds
        else:
            self._latest = screen.copy()
            # here and not at the end, where nothing could show the progress; it takes most of the time
            self._images.append(Image.fromarray(enlarge(screen, self._scale)).quantize(64))
            self._durations.append(self._milliseconds)

    def finish(self) -> None:
        self._images[0].save(
            self._path,
            save_all=True,
            append_images=self._images[1:],
            duration=[max(20, round(duration)) for duration in self._durations],  # players ignore shorter ones
            loop=0,
        )

    def abandon(self) -> None:
        self._images.clear()


class _FolderWriter:
    """Writer of a PNG file per screen."""

    def __init__(self, folder: Path, scale: int) -> None:
        self._folder = folder
        self._scale = scale
        self._count = 0

    def add(self, screen: NDArray[np.uint8]) -> None:
        from PIL import Image  # noqa: PLC0415 - only videos need it

        self._folder.mkdir(exist_ok=True)
        self._count += 1
        Image.fromarray(enlarge(screen, self._scale)).save(self._folder / f"{self._count:06d}.png")

    def finish(self) -> None:
        """Do nothing: every picture is written already."""

    def abandon(self) -> None:
        """Do nothing: no file is open."""


class TerminalScreen:
    """Screens in a terminal, two pixels per character, as large as the terminal allows.

    Args:
        caption_lines: lines of text below a screen.
    """

    def __init__(self, caption_lines: int = 1) -> None:
        self._caption_lines = caption_lines
        self._size = shutil.get_terminal_size()

    def __enter__(self) -> TerminalScreen:
        print(_CLEAR, end="", file=drawing_stream())
        return self

    @property
    def columns(self) -> int:
        """Columns of the terminal."""
        return self._size.columns

    @property
    def _rows(self) -> int:
        """Rows above the caption."""
        return max(self._size.lines - 1 - self._caption_lines, 1)

    def fit(self) -> None:
        """Take over the present size of the terminal. Call it before each picture."""
        size = shutil.get_terminal_size()
        if size != self._size:
            self._size = size
            print(_CLEAR, end="", file=drawing_stream())

    def __exit__(self, *_exception: object) -> None:
        print(_RESTORE, file=drawing_stream())

    def show(self, screen: NDArray[np.uint8], caption: str = "") -> None:
        """Draw one screen with text below."""
        self._draw(half_blocks(screen, self.columns, self._rows), caption)

    def show_text(self, text: str, caption: str = "") -> None:
        """Show lines of text in the place of a screen.

        If there are too many, empty ones are left out, then the first ones; the last ones are often what matters most.
        """
        lines = [printable(line) for line in text.split("\n")]
        if len(lines) > self._rows:
            lines = [line for line in lines if line.strip()]
        if len(lines) > self._rows:
            above = len(lines) - self._rows + 1
            lines = [f"... {above} more lines above", *lines[above:]]
        self._draw(self._filled([*lines, *[""] * (self._rows - len(lines))]), caption)

    def _draw(self, upper: str, caption: str) -> None:
        lower = self._filled(printable(caption).split("\n"))
        print(f"{_HOME}{upper}\n{_ESCAPE}0m{lower}", end="", file=drawing_stream(), flush=True)

    def _filled(self, lines: Sequence[str]) -> str:
        return "\n".join(line[: self.columns].ljust(self.columns) for line in lines)


def half_blocks(screen: NDArray[np.uint8], columns: int, rows: int) -> str:
    """Return the screen as lines of coloured upper half blocks that fit into ``columns`` by ``rows`` characters."""
    height, width, _channels = screen.shape
    step = max(-(-width // max(columns, 1)), -(-height // max(2 * rows, 1)), 1)
    small = screen[::step, ::step]
    if len(small) % 2:
        small = small[:-1]
    lines = []
    for upper, lower in zip(small[0::2].tolist(), small[1::2].tolist(), strict=True):
        line, last = [], None
        for top, bottom in zip(upper, lower, strict=True):
            colours = (*top, *bottom)
            if colours != last:
                line.append("\x1b[38;2;{};{};{};48;2;{};{};{}m".format(*colours))
                last = colours
            line.append("▀")
        lines.append("".join(line) + f"{_ESCAPE}0m")
    return "\n".join(lines)

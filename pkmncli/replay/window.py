"""A window for pictures, if there is a display; it uses Tk, which comes with Python."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pkmncli.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_SCREEN_SHARE = 0.92
"""Share of the display's height for the picture; the rest is for the title and a panel of the desktop."""


class PictureWindow:
    """Window as a context manager: ``with PictureWindow("title", "use --terminal") as window``.

    Args:
        title: of the window.
        elsewhere: what to do where there can be no window, for messages.

    Raises:
        ConfigurationError: there is no display, or this Python has no Tk.
    """

    def __init__(self, title: str, elsewhere: str) -> None:
        try:
            import tkinter  # noqa: PLC0415 - only a window needs it, and some systems package it by itself
        except ImportError:
            raise ConfigurationError(f"--window: this Python has no tkinter; install it, or {elsewhere}") from None
        try:
            self._root = tkinter.Tk()
        except tkinter.TclError as error:
            raise ConfigurationError(f"--window: there is no display ({error}); {elsewhere}") from None
        self._root.title(title)
        self._root.resizable(False, False)
        self._room = self._root.winfo_screenwidth(), int(_SCREEN_SHARE * self._root.winfo_screenheight())
        self._label = tkinter.Label(self._root, borderwidth=0)
        self._label.pack()
        self._picture: Any = None
        self.open = True
        """True while the user has it open."""
        self._root.protocol("WM_DELETE_WINDOW", self._close)
        self._root.bind("<Escape>", lambda _event: self._close())
        self._typed = ""
        self._root.bind("<Key>", self._type)

    def __enter__(self) -> PictureWindow:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._picture = None  # before the interpreter that it belongs to is destroyed
        self._root.destroy()

    def _close(self) -> None:
        self.open = False

    def _type(self, event: Any) -> None:
        self._typed += event.char

    def read(self, seconds: float) -> str:
        """Return the characters that are typed within so many seconds; ``q`` if the window was closed."""
        self._root.update()
        if self.open and not self._typed:
            time.sleep(seconds)
            self._root.update()
        typed, self._typed = self._typed, ""
        return typed if self.open else "q"

    def show(self, picture: NDArray[np.uint8], title: str) -> None:
        """Show a picture, (height, width, 3), in its own size or, on a small display, reduced to fit, and a title."""
        self._root.title(title)
        from PIL import Image, ImageTk  # noqa: PLC0415

        image = Image.fromarray(picture)
        image.thumbnail(self._room)
        self._picture = ImageTk.PhotoImage(image)
        self._label.configure(image=self._picture)
        self._root.update()

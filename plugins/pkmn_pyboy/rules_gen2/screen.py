"""Geometry of the screens: tiles of cursors and boxes, and the positions of menus and lists."""

from __future__ import annotations

COLUMNS, ROWS = 20, 18
"""Size of the screen in tiles."""

SOLID_CURSOR, HOLLOW_CURSOR, NEXT_ARROW = 0xED, 0xEC, 0xEE
"""Tiles of the cursor, of one left in a list below a newer window, and of the arrow that asks for A."""

BOX_CORNERS = (0x79, 0x7B, 0x7D, 0x7E)
"""Tiles of the message box: upper left, upper right, lower left, lower right."""

MESSAGE_ROW = 12
"""First row of the message box, which reaches to the last one."""

QUESTION_COLUMN = 10
"""First column of a question's cursor on a full-screen page; the page's own lists are left of it."""

BATTLE_MENU_ROW = 14
"""First row of the battle menu, which has two rows and two columns."""
FIGHT_CELL, PARTY_CELL, PACK_CELL, RUN_CELL = (1, 1), (1, 2), (2, 1), (2, 2)
"""Row and column of the entries of the battle menu, from 1."""
MOVES_ROW, MOVES_COLUMN = 13, 5
"""First row and column of the list of moves in a battle."""

PARTY_FIRST_ROWS = (0, 1)
"""Possible rows of the first member in the party list."""
PARTY_ROW_STEP = 2
PARTY_NAME_COLUMNS = 5
"""Columns in which the names of the party list begin."""
SUBMENU_COLUMN = 8
"""First column of the cursor in a member's submenu."""

NAME_END = 0x50
"""Code that ends a stored name."""
NICKNAME_BYTES = 11
SHORT_WORD, SHORT_WORD_LETTERS = b"\x54", b"\x8f\x8e\x8a\xea"
"""Code of a whole word in stored names, and the letters that the screen shows for it."""
BLANK = 0x7F
FIRST_CAPITAL, LAST_SMALL = 0x80, 0xB9
"""First and last code of the letters."""
_FIRST_SIGN = 0xF6


def is_letter(tile: int) -> bool:
    """Return True if a tile is a letter, a digit or a sign of a word."""
    return FIRST_CAPITAL <= tile <= LAST_SMALL or tile >= _FIRST_SIGN

"""Words to the bytes of the game's character set, wrapped for the message box."""

from __future__ import annotations

END, LINE, PARAGRAPH = 0x50, 0x4F, 0x51
LINE_LENGTH = 18
PLACEHOLDERS = {
    "{mon}": 1,
    "{foe}": 2,
    "{move}": 3,
    "{num}": 4,
    "{player}": 0x52,
    "{lesson}": 3,
    "{kind}": 3,
    "{word}": 5,
    "{name}": 5,
    "{stat}": 5,
    "{who}": 6,
    "{trainer}": 7,
    "{rival}": 0x53,
}
# the most letters of each: the same place has other names by what it holds
WIDTHS = {
    "{mon}": 10,
    "{foe}": 10,
    "{move}": 12,
    "{lesson}": 5,
    "{kind}": 10,
    "{num}": 5,
    "{player}": 7,
    "{word}": 12,
    "{name}": 10,
    "{stat}": 8,
    "{who}": 14,
    "{trainer}": 15,
    "{rival}": 7,
}

CHARMAP: dict[str, int] = {" ": 0x7F}
for first, letters in (
    (0x80, "ABCDEFGHIJKLMNOPQRSTUVWXYZ():;[]"),
    (0xA0, "abcdefghijklmnopqrstuvwxyz"),
    (0xF6, "0123456789"),
):
    CHARMAP.update({ch: first + i for i, ch in enumerate(letters)})
CHARMAP.update({"'": 0xE0, "-": 0xE3, "?": 0xE6, "!": 0xE7, ".": 0xE8, "&": 0xE9, ",": 0xF4, "$": 0xF0})
# drawn shapes of the font file that stand for screen symbols, not for letters
SYMBOLS = {"}": 0xEC, ">": 0xED, "|": 0xEE, "*": 0xF1, "/": 0xF3}


def encode(text: str) -> bytes:
    """Return a line of words as bytes, without a terminator."""
    out = bytearray()
    i = 0
    while i < len(text):
        if text[i] == "{":
            end = text.index("}", i) + 1
            out.append(PLACEHOLDERS[text[i:end]])
            i = end
        else:
            out.append(CHARMAP[text[i]])
            i += 1
    return bytes(out)


def width(words: str) -> int:
    """Return the most letters that words take on the screen, with the longest names in their placeholders."""
    for placeholder, most in WIDTHS.items():
        words = words.replace(placeholder, "x" * most)
    return len(words)


def wrap(text: str) -> list[str]:
    """Return lines of at most 18 letters, however long the names in them; "/" breaks a line."""
    lines: list[str] = []
    for part in text.split("/"):
        line = ""
        for word in part.split():
            if line and width(f"{line} {word}") > LINE_LENGTH:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}".strip()
        lines.append(line)
    for line in lines:
        if width(line) > LINE_LENGTH:
            raise SystemExit(f"{line!r} in {text!r}: may take {width(line)} letters, and {LINE_LENGTH} fit")
    return lines


def message(text: str) -> bytes:
    """Return a message: pairs of lines; a new pair is a new page; "//" starts one early."""
    pages: list[list[str]] = []
    for paragraph in text.split("//"):
        lines = wrap(paragraph.strip())
        pages += [lines[i : i + 2] for i in range(0, len(lines), 2)]
    body = bytes([PARAGRAPH]).join(bytes([LINE]).join(encode(line) for line in page) for page in pages)
    return body + bytes([END])


def name(text: str, size: int = 0) -> bytes:
    """Return a name ended (and padded up to size) with the terminator."""
    return (encode(text) + bytes([END])).ljust(size, bytes([END]))[: size or None]

"""Check that no variable, buffer or stack of the game is on a shared memory field."""

from __future__ import annotations

import re

from source import HOME, toml

# what start.s and game.h place by hand: first byte, length, name
OWN = [
    (0xC000, 0xA0, "OAM shadow"),
    (0xC101, 0xC29D - 0xC101, "stack"),
    (0xC300, 384, "push buffers"),
    (0xD9C4, 128, "palettes"),
    (0xDEF4, 128, "palettes_shown"),
    (0xDF80, 56, "name buffers"),
    (0xDB80, 32, "base_data"),
    (0xFF80, 18, "OAM routine"),
    (0xFFB0, 37, "HRAM variables"),
]


def main() -> None:
    """Compare every byte the game places with the list of shared fields."""
    fields = toml("memory.toml")["field"]
    owner: dict[int, str] = {}
    for name, address, size, _ in fields:
        for place in range(address, address + size):
            owner[place] = name
    ranges = list(OWN)
    text = (HOME / "build/code.map").read_text()
    area = re.search(r"^_DATA\s+([0-9A-F]+)\s+([0-9A-F]+)", text, re.MULTILINE)
    if area is None:
        raise SystemExit("build/code.map: no _DATA area")
    start, size = int(area.group(1), 16), int(area.group(2), 16)
    ranges.append((start, size, "C variables"))
    taken: dict[int, str] = {}
    clashes = []
    for first, length, what in ranges:
        for place in range(first, first + length):
            if place in owner:
                clashes.append(f"{what} at {place:04X} lies on {owner[place]}")
            if place in taken:
                clashes.append(f"{what} at {place:04X} lies on {taken[place]}")
            taken[place] = what
    for name in ("_INITIALIZED", "_BSS"):
        found = re.search(rf"^{name}\s+[0-9A-F]+\s+([0-9A-F]+)", text, re.MULTILINE)
        if found and int(found.group(1), 16):
            clashes.append(f"area {name} is not empty: variables must start at zero")
    if clashes:
        raise SystemExit("\n".join(clashes[:20]))
    print(f"  memory: {size} bytes of variables at {start:04X}, no overlap with {len(fields)} shared fields")


if __name__ == "__main__":
    main()

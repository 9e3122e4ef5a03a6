"""Puts linked code and data banks together, writes the header, and says what came out."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

from rom import BANK_SIZE, FIRST_BANK
from source import HOME

TITLE = b"QUILLWOOD"
BANKS = 16


def read_ihx(path: Path, image: bytearray) -> dict[int, int]:
    """Load the linker's records; return the end of the used part of each bank."""
    upper = 0
    used: dict[int, int] = {}
    for line in path.read_text().split():
        record = bytes.fromhex(line[1:])
        count, address, kind = record[0], record[1] << 8 | record[2], record[3]
        if kind == 4:
            upper = record[4] << 8 | record[5]
        elif kind == 0:
            # the linker's addresses are those of the file
            place = upper << 16 | address
            image[place : place + count] = record[4 : 4 + count]
            bank = place // BANK_SIZE
            used[bank] = max(used.get(bank, 0), place % BANK_SIZE + count)
    if max(used) >= FIRST_BANK or any(end > BANK_SIZE for end in used.values()):
        raise SystemExit(f"code does not fit its banks: {used}")
    return used


def main() -> None:
    """Write quillwood.gbc, BUILD_INFO and the hash in game.toml."""
    image = bytearray(BANKS * BANK_SIZE)
    used = read_ihx(HOME / "build/code.ihx", image)
    data = (HOME / "build/data.bin").read_bytes()
    image[FIRST_BANK * BANK_SIZE : FIRST_BANK * BANK_SIZE + len(data)] = data
    image[0x104:0x150] = bytes(0x4C)
    image[0x134 : 0x134 + len(TITLE)] = TITLE
    image[0x143] = 0xC0  # colour only
    image[0x147] = 0x1B  # MBC5, RAM, battery
    image[0x148] = BANKS.bit_length() - 2  # 32 KiB << code
    image[0x149] = 0x03  # 32 KiB of RAM
    image[0x14A] = 0x01
    image[0x14D] = -sum(value + 1 for value in image[0x134:0x14D]) & 0xFF
    total = sum(image) - image[0x14E] - image[0x14F] & 0xFFFF
    image[0x14E:0x150] = bytes([total >> 8, total & 255])
    (HOME / "quillwood.gbc").write_bytes(image)
    sha1 = hashlib.sha1(image).hexdigest()
    compiler = subprocess.run(["sdcc", "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"(\d+\.\d+\.\d+) #\d+", compiler)
    (HOME / "BUILD_INFO").write_text(f"compiler: SDCC {version.group(0) if version else 'unknown'}\nsha1: {sha1}\n")
    game = HOME / "game.toml"
    if game.exists():
        game.write_text(re.sub(r'(?m)^sha1 = ".*"', f'sha1 = "{sha1}"', game.read_text()))
    print("  code banks: " + ", ".join(f"{bank}: {end}" for bank, end in sorted(used.items())))
    print(f"  quillwood.gbc: {len(image)} bytes, sha1 {sha1}")


if __name__ == "__main__":
    main()

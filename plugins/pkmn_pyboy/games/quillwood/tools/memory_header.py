"""Writes build/memory.h, the C names of the shared memory fields, from data/memory.toml."""

from __future__ import annotations

from source import HOME, toml

FORMS = {
    "u8": "(*(u8 *)0x{:04X})",
    "v8": "(*(volatile u8 *)0x{:04X})",
    "u16": "(*(u16 *)0x{:04X})",
    "u8a": "((u8 *)0x{:04X})",
}


def main() -> None:
    """Write the header."""
    fields = toml("memory.toml")["field"]
    lines = ["/* Written by tools/memory_header.py from data/memory.toml. */"]
    lines += [f"#define {name} {FORMS[kind].format(address)}" for name, address, _, kind in fields]
    (HOME / "build").mkdir(exist_ok=True)
    (HOME / "build/memory.h").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

"""The map scripts: one command per line, compiled to the bytes that src/script.c runs.

say WORDS            a message; it waits for a button on every page
ask WORDS            a message with YES and NO; the answer goes to the script variable
face                 the person spoken to turns to the player
turn NAME DIRECTION  a person turns           turnplayer DIRECTION
walk DIRECTION N     the player walks
ifflag FLAG LABEL    jumps when the flag is set      setflag FLAG
ifscene NAME N LABEL jumps when the scene byte is N  setscene NAME N
ifno LABEL           jumps when the answer was NO    jump LABEL
hide NAME FLAG       takes a person away and sets the flag that keeps it away
give SPECIES LEVEL   a creature joins the party      heal   mend (heal with a pause)
spawn MAP            the place to return to after a white-out is this map
end
A label is a word with a colon; "script.label" reaches into another script of the map.
"""

from __future__ import annotations

from typing import Any

import text
from rom import word

OPCODES = {
    name: number
    for number, name in enumerate(
        "end say ask face turn turnplayer walk ifflag setflag ifscene setscene ifno jump hide give heal mend spawn".split()
    )
}
DIRECTIONS = {"down": 0, "up": 1, "left": 2, "right": 3}


class ScriptCompiler:
    """Compiles the scripts of one map."""

    def __init__(
        self,
        where: str,
        flags: dict[str, int],
        scenes: dict[str, int],
        species: list[str],
        people: dict[str, int],
        maps: dict[str, Any],
        texts: list[bytes],
    ) -> None:
        self.where, self.flags, self.scenes, self.species = where, flags, scenes, species
        self.people, self.maps, self.texts = people, maps, texts

    def say(self, words: str) -> bytes:
        message = text.message(words)
        if message not in self.texts:
            self.texts.append(message)
        return word(self.texts.index(message))

    def compile(self, scripts: dict[str, str], start: int) -> tuple[dict[str, int], bytes]:
        """Addresses by script name, and the code, which will lie at start."""
        code = bytearray()
        labels: dict[str, int] = {}
        fixups: list[tuple[int, str, str]] = []

        def jump_to(script: str, label: str) -> None:
            fixups.append((len(code), script, label))
            code.extend(b"\0\0")

        for script, body in scripts.items():
            labels[script] = start + len(code)
            for line in body.strip().split("\n"):
                line = line.strip()
                if not line:
                    continue
                if line.endswith(":") and " " not in line:
                    labels[f"{script}.{line[:-1]}"] = start + len(code)
                    continue
                command, _, rest = line.partition(" ")
                words = rest.split()
                try:
                    code.append(OPCODES[command])
                    if command in ("say", "ask"):
                        code += self.say(rest)
                    elif command == "turn":
                        code += bytes([self.people[words[0]], DIRECTIONS[words[1]]])
                    elif command == "turnplayer":
                        code.append(DIRECTIONS[words[0]])
                    elif command == "walk":
                        code += bytes([DIRECTIONS[words[0]], int(words[1])])
                    elif command == "ifflag":
                        code += word(self.flags[words[0]])
                        jump_to(script, words[1])
                    elif command == "setflag":
                        code += word(self.flags[words[0]])
                    elif command == "ifscene":
                        code += word(self.scenes[words[0]]) + bytes([int(words[1])])
                        jump_to(script, words[2])
                    elif command == "setscene":
                        code += word(self.scenes[words[0]]) + bytes([int(words[1])])
                    elif command in ("ifno", "jump"):
                        jump_to(script, words[0])
                    elif command == "hide":
                        code += bytes([self.people[words[0]]]) + word(self.flags[words[1]])
                    elif command == "give":
                        code += bytes([self.species.index(words[0]) + 1, int(words[1])])
                    elif command == "spawn":
                        code += bytes(self.maps[words[0]].id)
                except (KeyError, ValueError, IndexError) as error:
                    raise SystemExit(f"{self.where}, script {script}: {line!r}: {error}") from error
            code.append(OPCODES["end"])
        for place, script, label in fixups:
            target = labels.get(f"{script}.{label}", labels.get(label))
            if target is None:
                raise SystemExit(f"{self.where}, script {script}: no label {label!r}")
            code[place : place + 2] = word(target)
        return labels, bytes(code)

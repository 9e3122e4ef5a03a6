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
trainer FLAG LABEL   first in the script of a trainer: jumps when the flag is set, until then the trainer watches
battle CLASS N       a battle with the N-th trainer of a class; a lost one ends the script at the healer
badge N              a badge                ifbadge N LABEL
giveitem ITEM N      answer YES when there was room, {word} is its name
takeitem ITEM        ifitem ITEM LABEL      ifspecies SPECIES LABEL (in the party)   iffull LABEL (party of six)
nickname             asks for a nickname of the creature that came last
shop NAME            a shop's menu          step NAME DIRECTION N a person walks    emote NAME
letgo                the player may give a member away, the answer is YES when it is gone
shove                what a boulder answers
status N             sets a bit of wStatusFlags (0: the guide of creatures)
hour N               the clock is set to an hour, with the screen dark    ifnight LABEL
wild SPECIES LEVEL   a battle with a wild creature; a lost one ends the script at the healer
clearflag FLAG       iffacing DIRECTION LABEL (of the player)
changes              the map's [[changed]] blocks and [[placed]] people again, after a flag or a scene byte changed
namerival            a page of letters for the neighbour's name, {rival}
ending               saves the game, rolls the credits, and restarts the console
end
A label is a word with a colon; "script.label" reaches into another script of the map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import text
from rom import word
from source import toml

if TYPE_CHECKING:
    from maps import Map

COMMANDS = (
    "end", "say", "ask", "face", "turn", "turnplayer", "walk", "ifflag", "setflag", "ifscene", "setscene", "ifno",
    "jump", "hide", "give", "heal", "mend", "spawn", "trainer", "battle", "badge", "ifbadge", "giveitem", "takeitem",
    "ifitem", "ifspecies", "iffull", "nickname", "shop", "step", "emote", "ending", "letgo", "shove",
    "status", "namerival", "hour", "ifnight", "wild", "clearflag", "iffacing", "changes",
)  # fmt: skip
OPCODES = {name: number for number, name in enumerate(COMMANDS)}
DIRECTIONS = {"down": 0, "up": 1, "left": 2, "right": 3}


class ScriptCompiler:
    """Compiler of the scripts of one map; words that they say go to the end of texts."""

    def __init__(self, here: Map, maps: dict[str, Map], texts: list[bytes]) -> None:
        self.here, self.maps, self.texts = here, maps, texts
        self.flags, self.scenes = toml("flags.toml"), toml("scenes.toml")
        self.species = [s["name"] for s in toml("creatures.toml")["species"]]
        self.classes = {c["name"]: i for i, c in enumerate(toml("trainers.toml")["class"], 1)}
        items = toml("items.toml")
        self.items = {item["name"]: i for i, item in enumerate(items["item"], 1)}
        self.shops = list(items["shops"])
        self.people = {p["name"]: i + 1 for i, p in enumerate(here.data.get("people", []))}

    def _message(self, words: str) -> bytes:
        message = text.message(words)
        if message not in self.texts:
            self.texts.append(message)
        return word(self.texts.index(message))

    def _arguments(self, command: str, rest: str) -> tuple[bytes, str | None]:
        """Return the bytes after a command's own, and the label that it may jump to."""
        words = rest.split()
        match command:
            case "say" | "ask":
                return self._message(rest), None
            case "turn":
                return bytes([self.people[words[0]], DIRECTIONS[words[1]]]), None
            case "turnplayer":
                return bytes([DIRECTIONS[words[0]]]), None
            case "walk":
                return bytes([DIRECTIONS[words[0]], int(words[1])]), None
            case "ifflag":
                return word(self.flags[words[0]]), words[1]
            case "setflag" | "clearflag":
                return word(self.flags[words[0]]), None
            case "ifscene":
                return word(self.scenes[words[0]]) + bytes([int(words[1])]), words[2]
            case "setscene":
                return word(self.scenes[words[0]]) + bytes([int(words[1])]), None
            case "iffacing":
                return bytes([DIRECTIONS[words[0]]]), words[1]
            case "ifno" | "jump":
                return b"", words[0]
            case "hide":
                return bytes([self.people[words[0]]]) + word(self.flags[words[1]]), None
            case "give" | "wild":
                return bytes([self.species.index(words[0]) + 1, int(words[1])]), None
            case "trainer":
                return word(self.flags[words[0]]), words[1]
            case "battle":
                return bytes([self.classes[words[0]], int(words[1])]), None
            case "badge" | "status" | "hour":
                return bytes([int(words[0])]), None
            case "ifbadge":
                return bytes([int(words[0])]), words[1]
            case "giveitem":
                return bytes([self.items[words[0].replace("_", " ")], int(words[1])]), None
            case "takeitem":
                return bytes([self.items[words[0].replace("_", " ")]]), None
            case "ifitem":
                return bytes([self.items[words[0].replace("_", " ")]]), words[1]
            case "ifspecies":
                return bytes([self.species.index(words[0]) + 1]), words[1]
            case "iffull" | "ifnight":
                return b"", words[0]
            case "shop":
                return bytes([self.shops.index(words[0])]), None
            case "step":
                return bytes([self.people[words[0]], DIRECTIONS[words[1]], int(words[2])]), None
            case "emote":
                return bytes([self.people[words[0]]]), None
            case "spawn":
                return bytes(self.maps[words[0]].id), None
        return b"", None

    def compile(self, start: int) -> tuple[dict[str, int], bytes]:
        """Return addresses by script name, and the code, which will begin at ``start``."""
        code = bytearray()
        labels: dict[str, int] = {}
        jumps: list[tuple[int, str, str]] = []
        for script, body in self.here.data.get("scripts", {}).items():
            labels[script] = start + len(code)
            for line in body.strip().split("\n"):
                command, _, rest = line.strip().partition(" ")
                if command.endswith(":"):
                    labels[f"{script}.{command[:-1]}"] = start + len(code)
                    continue
                try:
                    code.append(OPCODES[command])
                    arguments, label = self._arguments(command, rest)
                except (KeyError, ValueError, IndexError) as error:
                    raise SystemExit(f"{self.here.key}, script {script}: {line!r}: {error}") from error
                code += arguments
                if label is not None:
                    jumps.append((len(code), script, label))
                    code += bytes(2)
            code.append(OPCODES["end"])
        for place, script, label in jumps:
            target = labels.get(f"{script}.{label}", labels.get(label))
            if target is None:
                raise SystemExit(f"{self.here.key}, script {script}: no label {label!r}")
            code[place : place + 2] = word(target)
        return labels, bytes(code)

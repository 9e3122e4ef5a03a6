"""Recordings of a running game, played to the reader.

A recording is a list of (frame, fields that changed), sampled every 8 frames. It has no tiles except a flag for the
message box, and no event flags. Two of menus also have a flag for the cursor at the game's position, and one for words
in the message box.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pkmn_pyboy.profile.milestones import Milestone
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.rules_gen2.screen import SOLID_CURSOR
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.state.reader import StateReader
from pkmn_pyboy.story.tracker import MilestoneTracker
from support.pyboy_fakes import FakeMemory

FOLDER = Path(__file__).parents[1] / "plugins/pkmn_pyboy/recordings"
RECORDINGS = sorted(path.stem for path in FOLDER.glob("*.json"))
TRAINER = 2
NOT_OUT_YET = 0xFF
LETTER, BLANK = 0x80, 0x7F


@dataclass
class Stretch:
    """Stretch of play, sample by sample. ``reached`` are the milestones reached after its start, in order."""

    states: list[GameState] = field(default_factory=list)
    reached: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    """Milestones that were reached at the start."""
    stale_opponents: int = 0
    """Samples of trainer battles in which memory still held the opponent of an earlier battle."""

    def note_milestones(self, milestones: Sequence[Milestone], steps: Sequence[int]) -> None:
        behind = [(step, place) for place, step in enumerate(steps) if step >= 0]
        self.before = [milestones[place].key for step, place in behind if step == 0]
        self.reached = [milestones[place].key for step, place in sorted(behind) if step > 0]


def recorded_rows(name: str) -> list[tuple[int, dict[str, Any]]]:
    rows: list[tuple[int, dict[str, Any]]] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))["rows"]
    return rows


def apply(memory: FakeMemory, changed: dict[str, Any]) -> None:
    values = dict(changed)
    box, cursor, words = (values.pop(name, None) for name in ("message_box", "cursor", "words"))
    memory.set(**values)
    if box == 1:
        memory.message_box()
    elif box == 0:
        memory.tile(12, 0, 0)
    if words is not None:
        memory.tile(14, 1, LETTER if words else BLANK)
    if cursor is not None:
        place = int.from_bytes(memory.read(0, memory.fields["wCursorCurrentTile"].address, 2), "little")
        memory.put(0, place, bytes((SOLID_CURSOR if cursor else BLANK,)))


def play_recordings(profile: GameProfile, *names: str, flags: dict[str, int] | None = None) -> Stretch:
    """Play consecutive recordings of one story. ``flags``: an event flag that is set when one of them begins."""
    memory, reader, tracker = FakeMemory(profile.memory), StateReader(profile), MilestoneTracker(profile.milestones)
    stretch, events, step = Stretch(), profile.memory["wEventFlags"], 0
    for name in names:
        if flags and name in flags:
            place = events.address + (flags[name] >> 3)
            byte = memory.read(events.bank, place, 1)[0] | 1 << (flags[name] & 7)
            memory.put(events.bank, place, bytes((byte,)))
        for _, changed in recorded_rows(name):
            apply(memory, changed)
            state = reader.read(memory)
            if step == 0:
                tracker.begin(memory, reader.current_map())
            else:
                tracker.update(memory, reader.current_map(), step)
            step += 1
            stretch.states.append(state)
            if state.battle is not None and state.battle.kind == TRAINER:
                awaited = profile.memory.read(memory, "wCurOTMon") == NOT_OUT_YET
                stretch.stale_opponents += awaited and profile.memory.read(memory, "wEnemyMon")[0] > 0
    stretch.note_milestones(profile.milestones, tracker.steps)
    return stretch

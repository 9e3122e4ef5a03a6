"""The game in a terminal: frames at the console's pace, keys as they come, pictures as the terminal takes them."""

from __future__ import annotations

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.play.frame_clock import FrameClock
from pkmn_pyboy.play.keys import Key, Pad
from pkmn_pyboy.play.raw_terminal import RawTerminal
from pkmn_pyboy.play.state_files import StateFile
from pkmn_pyboy.play.terminal_page import KEYS, Caption, compose_page
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import Phase
from pkmn_pyboy.state.reader import StateReader
from pkmncli.errors import EmulatorError

KEYS_HELP = "Keys: " + ", ".join(f"{keys}: {meaning}" for keys, meaning in KEYS).replace("arrows, ", "arrows or ") + "."

PICTURE_FRAMES = 2
"""A picture at most every so many frames: 30 a second are as good to the eye in half blocks, at half the work."""

MOST_SKIPPED_FRAMES = 15
"""So often, in frames, there is a picture even on a machine that can't keep up."""

NOTE_FRAMES = 240
_WALKING = (Phase.FREE, Phase.MOVING, Phase.DIALOGUE, Phase.CHOICE)


QUIT_NOTE = "not saved: q again ends, s saves"


def play_in_terminal(terminal: RawTerminal, emulator: Emulator, profile: GameProfile, target: StateFile) -> None:
    """Play until the player quits; ask once more if there are actions since the last saved state.

    Args:
        terminal: not yet entered.
        emulator: without a window, where the game begins.
        profile: of the game.
        target: where the key s saves.
    """
    with terminal:
        _Game(terminal, emulator, profile, target).play()


class _Game:
    def __init__(self, terminal: RawTerminal, emulator: Emulator, profile: GameProfile, target: StateFile) -> None:
        self.terminal, self.emulator, self.profile, self.target = terminal, emulator, profile, target
        self.reader = StateReader(profile)
        self.pad = Pad(emulator, profile.hold_frames)
        self.unsaved = False
        self.note = ""
        self.note_frames = 0
        self._shown: object = None

    def play(self) -> None:
        clock = FrameClock()
        skipped = 0
        while True:
            waiting = True
            while waiting:
                remaining = clock.remaining_s()
                for key in self.terminal.keys(remaining):
                    if key is Key.QUIT and self._quits():
                        return
                    self._handle(key)
                waiting = clock.remaining_s() > 0
            skipped += 1
            draw = skipped >= MOST_SKIPPED_FRAMES or (skipped >= PICTURE_FRAMES and not clock.late())
            draw = draw and self.terminal.ready()
            self.emulator.run(1, render=draw)
            self.pad.frame_passed()
            self.note_frames = max(self.note_frames - 1, 0)
            if draw:
                skipped = 0
                self._draw()
            clock.frame_passed()

    def _quits(self) -> bool:
        if not self.unsaved or (self.note == QUIT_NOTE and self.note_frames):
            return True
        self._tell(QUIT_NOTE)
        return False

    def _tell(self, note: str) -> None:
        self.note, self.note_frames = note, NOTE_FRAMES

    def _handle(self, key: Key) -> None:
        if key is Key.QUIT:
            return
        if key is not Key.SAVE:
            self.unsaved = True
            self.pad.press(key)
            return
        # A button that is down in a state would stay down for whoever starts from it.
        self.pad.release_all()
        self.emulator.run(1)
        try:
            self.target.save(self.emulator)
        except EmulatorError as error:
            self._tell(str(error))
        else:
            self.unsaved = False
            self._tell(f"saved {self.target.path.name}")

    def _draw(self) -> None:
        size = self.terminal.size()
        caption = self._caption()
        screen = self.emulator.screen[:, :, :3]
        page = (size, caption, screen.tobytes())
        if page != self._shown:
            self._shown = page
            self.terminal.show(compose_page(screen, caption, size.columns, size.lines), size)

    def _caption(self) -> Caption:
        state = self.reader.read(self.emulator)
        place = ""
        if state.phase in _WALKING and state.map_id:
            place = f"{self.profile.names.map_name(state.map_id)} {state.x},{state.y}"
        tiles = self.reader.screen_tiles()
        words = self.profile.charmap.screen_text(tiles).splitlines() if tiles else []
        return Caption(place, self.note if self.note_frames else "", tuple(words))

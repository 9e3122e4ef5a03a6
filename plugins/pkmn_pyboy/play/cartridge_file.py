"""Battery save of a game that a person plays: checked at the start, written at the end."""

from __future__ import annotations

from pathlib import Path

from pkmn_pyboy.emulation.battery import BatterySave, check_battery, read_battery_save
from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.emulation.rom import RomImage
from pkmn_pyboy.environments.starts import check_saved_game, find_saved_game
from pkmn_pyboy.play.state_files import check_folder, free_path, write_whole
from pkmn_pyboy.profile.model import GameProfile


class CartridgeFile:
    """File of the RAM that a cartridge's battery keeps.

    An existing file is overwritten only if it is a battery save of this game, or blank.

    Args:
        path: the file, which need not exist yet.
        profile: of the game.
        rom: the cartridge.

    Raises:
        ConfigurationError: nothing can be written there.
        EnvironmentSetupError: the cartridge has no battery, or there is something else than a battery save of the game.
    """

    def __init__(self, path: Path, profile: GameProfile, rom: RomImage) -> None:
        self.path = check_folder(path, "--cartridge")
        self._recipe = profile.continuing
        check_battery(self.path, rom)
        self._save: BatterySave | None = None
        if self.path.exists():
            self._save = read_battery_save(self.path, rom)
            if self._recipe is not None and not self._save.blank:
                check_saved_game(profile, self._save)
        self._before = b""
        self.written = False

    @property
    def ram(self) -> bytes | None:
        """Saved RAM; None if there is no file yet."""
        return None if self._save is None else self._save.ram

    def begin(self, emulator: Emulator) -> None:
        """Remember the cartridge's RAM at the start."""
        self._before = emulator.cartridge_ram()

    def end(self, emulator: Emulator) -> None:
        """Stop the emulator, and write the cartridge's RAM if the game was saved.

        A change of the RAM alone is not enough: games use it for more than saving.

        Raises:
            EmulatorError: the file can't be written.
        """
        ram = emulator.close_with_cartridge()
        if ram == self._before or (self._recipe is not None and find_saved_game(self._recipe, ram) is None):
            return
        rest = b"" if self._save is None else self._save.rest
        if self._changed_meanwhile():
            self.path = free_path(self.path)  # what another program saved there meanwhile is not lost
        write_whole(self.path, ram + rest, "name another with --cartridge")
        self.written = True

    def _changed_meanwhile(self) -> bool:
        try:
            now = self.path.read_bytes()
        except OSError:
            return False  # it was taken away, or never there: nothing can be lost
        return self._save is None or now != self._save.ram + self._save.rest

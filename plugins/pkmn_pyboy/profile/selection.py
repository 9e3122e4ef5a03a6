"""Selection of the profile and the cartridge image that the settings ask for, checked against each other."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Protocol

from pkmn_pyboy.emulation.rom import RomImage, check_identity, load_rom
from pkmn_pyboy.profile.loading import GAMES_FOLDER, load_profile
from pkmn_pyboy.profile.model import GameProfile
from pkmncli.errors import EnvironmentSetupError, RomError, did_you_mean

DEFAULT_GAME = "quillwood"


class GameChoice(Protocol):
    """Settings that choose a game."""

    game: str | None
    game_folder: Path | None
    rom_path: Path | None
    force_rom: bool


def select_game(settings: GameChoice) -> tuple[GameProfile, RomImage]:
    """Return the profile and the image that the settings ask for.

    With a profile named, the image is ``rom_path`` or the profile's own. With only an image named, the profile is the
    built-in one that knows it. With neither, it is the bundled game.

    Raises:
        EnvironmentSetupError: the profile is missing or wrong, or brings no image.
        RomError: the image is missing, damaged, or not one that the profile describes.
    """
    folder = settings.game_folder
    if folder is None and settings.game is None and settings.rom_path is not None:
        rom = load_rom(settings.rom_path)
        return _profile_of(rom, force=settings.force_rom), rom
    profile = load_profile(folder if folder is not None else _built_in(settings.game or DEFAULT_GAME))
    path = settings.rom_path or profile.bundled_rom
    if path is None:
        raise EnvironmentSetupError(
            f"{profile.title} needs your own cartridge image: name it with --rom (rom_path), "
            "or leave the game out to play the bundled one"
        )
    rom = load_rom(path)
    if path != profile.bundled_rom:
        check_identity(rom, profile.title, profile.roms, profile.lookalikes, force=settings.force_rom)
    return profile, rom


def built_in_games() -> list[str]:
    """Return the names of the profiles that come with the plugin."""
    return sorted(folder.name for folder in GAMES_FOLDER.iterdir() if (folder / "game.toml").is_file())


@cache
def built_in_milestones(name: str) -> tuple[str, ...]:
    """Return the milestones of a profile that comes with the plugin, in order; none of another profile."""
    return tuple(one.key for one in load_profile(GAMES_FOLDER / name).milestones) if name in built_in_games() else ()


def _built_in(name: str) -> Path:
    if name in built_in_games():
        return GAMES_FOLDER / name
    hint = did_you_mean(name, built_in_games(), f"there are {', '.join(built_in_games())}.", shown="{}")
    raise EnvironmentSetupError(f"No game {name!r} is built in; {hint} For another one name the folder of its profile")


def _profile_of(rom: RomImage, *, force: bool) -> GameProfile:
    profiles = [load_profile(GAMES_FOLDER / name) for name in built_in_games()]
    for profile in profiles:
        if any(identity.sha1 == rom.sha1 for identity in profile.roms):
            return profile
    if force:
        raise RomError(
            f"{rom.path} ({rom.header.title or 'no title'}) is no known game, so --force-rom needs to be told "
            f"which one to take it for: --game {' or --game '.join(built_in_games())}"
        )
    # Not known byte for byte: the profile whose images look most like it says what is wrong.
    for profile in profiles:
        looks = any(identity.title and identity.title == rom.header.title for identity in profile.roms)
        if looks or any(lookalike.matches(rom.header) for lookalike in profile.lookalikes):
            check_identity(rom, profile.title, profile.roms, profile.lookalikes, force=False)
    known = ", ".join(identity.name for profile in profiles for identity in profile.roms)
    raise RomError(
        f"{rom.path} ({rom.header.title or 'no title'}, SHA-1 {rom.sha1[:12]}) is no known game ({known}): "
        "--env gameboy plays it by its screen alone; --game and --force-rom together take it for one of them"
    )

"""Registers the PyBoy environment, its games, rewards and pilot. Names only: nothing is imported until it is used."""

from __future__ import annotations

from pkmn_pyboy.rewards.built_in import BUILT_IN_REWARDS
from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_environments(register: Register) -> None:
    """Register the environments of games on an emulated Game Boy Color."""
    register(
        "pyboy",
        "pkmn_pyboy.environment:PokemonEnvironment",
        config="pkmn_pyboy.settings:EnvironmentSettings",
        help="Pokemon games on an emulated Game Boy Color",
        play="pkmn_pyboy.play.command:play",
    )
    register(
        "gameboy",
        "pkmn_pyboy.gameboy.environment:GameBoyEnvironment",
        config="pkmn_pyboy.gameboy.settings:GameBoySettings",
        help="any Game Boy image, by its screen alone",
    )


@hookimpl
def pkmn_register_games(register: Register) -> None:
    """Register the profiles that come with the environment."""
    register("quillwood", "pkmn_pyboy:games/quillwood", help="the bundled game, free to use")
    register("crystal", "pkmn_pyboy:games/crystal", help="Pokemon Crystal (English); bring your own image")


@hookimpl
def pkmn_register_rewards(register: Register) -> None:
    """Register the parts of a reward that come with the environment."""
    for name, reward in BUILT_IN_REWARDS.items():
        register(name, reward.target, config=reward.config, help=reward.help)


@hookimpl
def pkmn_register_pilots(register: Register) -> None:
    """Register the pilot that plays by rules."""
    register(
        "rules",
        "pkmn_pyboy.pilot.pilot:RulesPilot",
        config="pkmn_pyboy.pilot.settings:PilotSettings",
        help="walks, talks, fights and uses menus by rules",
    )


@hookimpl
def pkmn_register_commands(register: Register) -> None:
    """Register the command that shows the maps."""
    register(
        "world", "pkmn_pyboy.world_command.command:world", help="Show the game's maps, and the way between two places."
    )

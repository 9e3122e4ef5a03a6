"""`pkmn play`: the command of the environment that is played, with its own options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest
import typer

from pkmncli import cli, hookimpl
from pkmncli.errors import PluginError
from pkmncli.plugins import Registry


class Coins:
    """A plugin with an environment that people play, and one that they don't."""

    def __init__(self) -> None:
        self.played: list[int] = []

    @hookimpl
    def pkmn_register_environments(self, register: Callable[..., None]) -> None:
        def play(coins: Annotated[int, typer.Option(help="Coins to begin with.")] = 3) -> None:
            """Collect coins yourself."""
            self.played.append(coins)

        register("coins", dict, play=play)
        register("alone", dict)


@pytest.fixture
def coins(plugin_registry: Registry) -> Coins:
    plugin = Coins()
    plugin_registry.register_plugin(plugin, "mine")
    return plugin


@pytest.mark.parametrize(
    ("arguments", "played"),
    [
        (["--env", "coins"], 3),
        (["--env=coins", "--coins", "5"], 5),
        (["--coins=7", "--env", "coins"], 7),
        (["--env", "alone", "--env", "coins"], 3),
    ],
)
def test_the_environments_command_plays_with_its_options(coins: Coins, arguments: list[str], played: int) -> None:
    assert cli.run(["play", *arguments]) == 0
    assert coins.played == [played]


def test_the_help_is_that_of_the_environment_and_says_how_to_choose(
    coins: Coins, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["play", "--env", "coins", "--help"]) == 0
    text = capsys.readouterr().out
    assert "Collect coins yourself." in text and "Coins to begin with." in text
    assert "Environment to play: coins." in text
    assert coins.played == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--env", "alone"], "--env alone: it has no command to play; choose from coins"),
        (["--env", "coin"], "there is no environment 'coin'; did you mean 'coins'?"),
        (["--env", "coins", "--state", "x"], "--state"),
        (["--env", "coins", "--env"], "--env"),
    ],
)
def test_what_cannot_be_played_is_told(
    coins: Coins, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["play", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error and "Traceback" not in error
    assert coins.played == []


def test_only_environments_bring_a_command_to_play(plugin_registry: Registry) -> None:
    class Wrong:
        @hookimpl
        def pkmn_register_rewards(self, register: Callable[..., Any]) -> None:
            register("coins", dict, play="pkmn_coins.play:play")

    with pytest.raises(PluginError, match="only environments have one"):
        plugin_registry.register_plugin(Wrong(), "mine")


def test_a_command_to_play_is_written_as_an_import(plugin_registry: Registry) -> None:
    class Wrong:
        @hookimpl
        def pkmn_register_environments(self, register: Callable[..., Any]) -> None:
            register("coins", dict, play="pkmn_coins/play.py")

    with pytest.raises(PluginError, match=r"its play 'pkmn_coins/play\.py' is not written as"):
        plugin_registry.register_plugin(Wrong(), "mine")

"""``pkmn plugins`` shows what is there in words and as JSON, on wide terminals and narrow ones."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from pydantic import BaseModel, ConfigDict, Field

from pkmncli import cli, hookimpl
from pkmncli.plugins import Registry


class CoinSettings(BaseModel):
    """Settings of every sort."""

    model_config = ConfigDict(extra="forbid")

    weight: float = Field(0.5, gt=0, le=1, description="how much coins count")
    timeout_s: float = Field(30.0, ge=0, description="longest wait")
    reach: int | None = Field(None, ge=1, description="how far", json_schema_extra={"unit": "tiles"})
    sides: tuple[int, ...] = Field((1, 2), description="faces")
    shiny: bool = Field(False, description="whether they gleam")


class Coins:
    @hookimpl
    def pkmn_register_rewards(self, register: Callable[..., None]) -> None:
        register("coins", CoinSettings, config=CoinSettings, help="money gained, beyond the most of the episode")
        register("needy", "a_module_that_nobody_has:Reward", extra="llm", help="needs more")


@pytest.fixture
def shown(
    plugin_registry: Registry, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Runs ``pkmn plugins`` and returns what it prints."""
    plugin_registry.register_plugin(Coins(), "mine")

    def run(*arguments: str, columns: int = 100, code: int = 0) -> str:
        monkeypatch.setattr("pkmncli.tables.terminal_columns", lambda: columns)
        assert cli.run(["plugins", *arguments]) == code
        captured = capsys.readouterr()
        return captured.err if code else captured.out

    return run


def test_the_table(shown: Callable[..., str]) -> None:
    lines = shown().splitlines()
    assert lines[0].split() == ["kind", "name", "from", "what", "it", "is"]
    assert lines[2].split()[:2] == ["reward", "coins"]
    assert "money gained" in lines[2]


def test_a_narrow_terminal_loses_nothing(shown: Callable[..., str]) -> None:
    text = shown(columns=40)
    assert max(map(len, text.splitlines())) <= 40
    assert {"reward", "coins", "money", "gained,", "beyond", "most", "episode"} <= set(text.split())


def test_json_is_all_there_is(shown: Callable[..., str]) -> None:
    listing = json.loads(shown("--json"))
    assert listing["api"] == 1
    assert [(entry["kind"], entry["name"], entry["state"]) for entry in listing["names"]] == [
        ("reward", "coins", "registered"),
        ("reward", "needy", "registered"),
    ]
    assert listing["problems"] == []


def test_show_has_every_setting(shown: Callable[..., str]) -> None:
    text = shown("show", "coins")
    assert "state:  ready" in text
    assert "weight = 0.5   (number > 0, <= 1)\n      how much coins count" in text
    assert "timeout_s = 30.0 seconds   (number >= 0)" in text
    assert "reach = not set tiles   (whole number" in text
    assert "sides = [1, 2]   (list of whole number)" in text
    assert "shiny = false   (true or false)" in text
    assert "--set coins.name=value" in text and "PKMN_COINS__NAME" in text


def test_show_as_json(shown: Callable[..., str]) -> None:
    (entry,) = json.loads(shown("show", "coins", "--json"))
    assert entry["settings"][1] == {
        "name": "timeout_s",
        "default": "30.0",
        "allowed": "number >= 0",
        "unit": "seconds",
        "description": "longest wait",
    }


def test_show_says_what_is_missing(shown: Callable[..., str]) -> None:
    assert "run: pip install 'pkmncli[llm]'" in shown("show", "needy")


def test_show_suggests(shown: Callable[..., str]) -> None:
    assert "no plugin brings 'coin'; did you mean 'coins'?" in shown("show", "coin", code=2)


@pytest.mark.long
def test_check_tries_a_plugin_by_its_own_name_and_by_what_it_brings(
    shown: Callable[..., str], plugin_registry: Registry
) -> None:
    from pkmn_encoders import plugin  # noqa: PLC0415

    plugin_registry.register_plugin(plugin, "encoders")
    for name in ("encoders", "embedding"):
        lines = shown("check", name).splitlines()
        assert lines[0] == "plugin 'encoders' of a plugin registered by hand keeps the contracts:"
        assert lines[1:] == ["  encoder convolution", "  encoder embedding"]


def test_check_says_in_a_line_what_breaks_a_contract(shown: Callable[..., str]) -> None:
    text = shown("check", "coins", code=2)
    assert "reward 'coins': CoinSettings has no reset, score, save_state, load_state" in text
    assert text.count("\n") == 1
    assert "did you mean 'coins'?" in shown("check", "coin", code=2)

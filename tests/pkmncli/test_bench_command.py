"""``pkmn bench``: pairs are fair, ratios are those of pairs, and the figures come out as JSON. No time is asserted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pkmncli.bench import environment as environment_bench
from pkmncli.bench import startup
from pkmncli.bench.pairs import Measurement, measure_pairs, never, quantity, ratio
from pkmncli.config import resolve_settings
from pkmncli.plugins import get_registry

KEYS = {"name", "value", "low", "high", "unit", "budget", "at_least", "met", "detail"}


def test_every_round_measures_each_side_once_in_alternating_order() -> None:
    order: list[str] = []

    def side(name: str) -> Callable[[], float]:
        def measure() -> float:
            order.append(name)
            return float(len(order))

        return measure

    results = measure_pairs([side("a"), side("b"), side("c")], 3)
    assert "".join(order) == "abccbaabc"
    assert results == [[1, 6, 7], [2, 5, 8], [3, 4, 9]]


def test_a_ratio_is_the_median_of_pairs_not_the_ratio_of_medians() -> None:
    # the machine was ten times slower in the last round, for both sides alike
    measured = ratio("twice as fast", [2.0, 2.2, 20.0], [1.0, 1.0, 10.0], budget=1.8)
    assert (measured.value, measured.low, measured.high) == (2.0, 2.0, 2.2)
    assert measured.met is True


@pytest.mark.parametrize(
    ("value", "budget", "at_least", "met"),
    [(2, 1.5, True, True), (1, 1.5, True, False), (2, 1.5, False, False), (1, 1.5, False, True), (1, None, True, None)],
)
def test_a_budget_is_a_floor_or_a_ceiling(value: float, budget: float | None, at_least: bool, met: bool | None) -> None:
    assert Measurement("x", value, value, value, budget=budget, at_least=at_least).met is met


def test_a_quantity_may_be_at_most_its_budget() -> None:
    measured = quantity("memory", [300.0, 100.0, 200.0], "MB", budget=250)
    assert (measured.value, measured.low, measured.high, measured.met) == (200, 100, 300, True)


@pytest.mark.long
def test_figures_as_json(pkmn: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup.bench_startup, "__defaults__", (2, never))  # rounds: the form is tested, not the speed
    result = pkmn("bench", "startup", "--json")
    assert result.code == 0, result.err
    content = json.loads(result.out)
    assert set(content) == {"machine", "parts"}
    assert content["machine"]["cores"] >= 1
    assert list(content["parts"]) == ["startup"]
    for figure in content["parts"]["startup"]:
        assert set(figure) == KEYS
        assert 0 < figure["low"] <= figure["value"] <= figure["high"]
        assert figure["met"] in (True, False)


@pytest.mark.long
def test_figures_as_a_table(pkmn: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup.bench_startup, "__defaults__", (1, never))
    result = pkmn("bench", "startup")
    assert result.code == 0, result.err
    words = " ".join(result.out.split())
    assert words.startswith("startup what median range budget ")
    assert "at most 9" in words and "at most 2" in words


@pytest.mark.long
def test_an_environment_shows_what_reading_its_state_takes_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """The row is there once, in percent, with a ceiling, if the environment can measure it."""
    monkeypatch.setattr(environment_bench, "STEPS_PER_ROUND", 4)
    registry = get_registry()
    settings = resolve_settings({"mode": "rl-only"}, registry=registry, environ={})
    figures = environment_bench.bench_environment(settings, registry, pairs=1)
    (row,) = [figure for figure in figures if figure.unit == "%"]
    assert row.name == "state reader and mask, share of a step"
    assert (row.budget, row.at_least) == (6.0, False)
    assert 0 < row.value < 100


@pytest.mark.parametrize("env", ["balatro", "gym:CartPole-v1"])
def test_an_environment_without_an_emulator_shows_its_steps(monkeypatch: pytest.MonkeyPatch, env: str) -> None:
    monkeypatch.setattr(environment_bench, "STEPS_PER_ROUND", 40)
    registry = get_registry()
    settings = resolve_settings({"env": env, "mode": "rl-only"}, registry=registry, environ={})
    (row,) = environment_bench.bench_environment(settings, registry, pairs=1)
    assert (row.name, row.unit, row.met) == ("random allowed actions, with observations", "steps/s", None)
    assert row.value > 0


def test_an_unknown_part_is_told(pkmn: Callable[..., Any]) -> None:
    result = pkmn("bench", "speed")
    assert result.code == 2
    assert "startup" in result.err

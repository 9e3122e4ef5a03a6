"""Forecast of what a language model is good for in a training, from its speed and that of the environments."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pkmncli.config import TrainSettings
from pkmncli.llm.probe import ModelSpeed
from pkmncli.plurals import counted
from pkmncli.training.display.estimate import duration, short_duration

_IN_TIME_STEPS = 8
"""Steps up to which an answer still fits the situation of its question: actions are dropped later."""
_FEW_ANSWERS = 3
"""Answers in 1,000 steps below which a model has no say in a training."""
_SLOWEST = 20
"""A training that takes more than this many times as long is not proposed."""
_CHEAP = 5
"""A training that takes up to this many times as long is proposed without a longer interval."""
_LONG_INTERVAL = 300


def forecast(speeds: Mapping[str, ModelSpeed], train: TrainSettings, steps_per_second: float, envs: int) -> list[str]:
    """Return what the model is good for, in a line or two; empty if no model was measured.

    Args:
        speeds: of the models, by name; the name is empty without an ensemble.
        train: settings of the training.
        steps_per_second: of all environments together, without the model.
        envs: number of environments.
    """
    lines = [f"{f'{name}: ' if name else ''}{_useless(one)}" for name, one in speeds.items() if one.problem]
    usable = [one for one in speeds.values() if one.answered and not one.problem]
    silent = [one for one in speeds.values() if not one.answered and not one.problem]
    if silent:
        lines.append(_silence(max(one.seconds for one in silent), steps_per_second, envs))
    if usable:
        slowest = max(usable, key=lambda one: one.seconds)
        lines.append(_speed(slowest, train, steps_per_second, envs))
    return lines


def _useless(speed: ModelSpeed) -> str:
    if not speed.answered:
        return f"The language model gave no answer to a first question: {speed.problem}."
    return (
        f"The language model answered in {short_duration(speed.seconds)}, but not with advice: {speed.problem}. "
        "'pkmn llm ask' with the same options shows the answer; a larger model may keep to the form."
    )


def _silence(seconds: float, steps_per_second: float, envs: int) -> str:
    steps = seconds * steps_per_second / envs
    return (
        f"No answer of the language model within {seconds:.0f} s, in which an environment takes {steps:,.0f} steps. "
        "If it is still being loaded, the answers after that are faster; otherwise a faster model is needed."
    )


def _speed(speed: ModelSpeed, train: TrainSettings, steps_per_second: float, envs: int) -> str:
    answer_s, interval = speed.seconds, train.llm_interval
    lag = answer_s * steps_per_second / envs
    plain_s = 1000 / steps_per_second
    step = short_duration(envs / steps_per_second)
    fact = f"An answer of the language model takes {short_duration(answer_s)}, a step {step}"

    def waiting_s(every: int) -> float:
        return plain_s + 1000 / every * answer_s

    if train.model_alone:
        return f"{fact}. It plays alone and names at most 8 actions in an answer: {_thousand(waiting_s(8), plain_s)}."
    if train.llm_wait:
        line = f"{fact}. With --llm-wait, {_thousand(waiting_s(interval), plain_s)}."
        if waiting_s(interval) > _SLOWEST * plain_s and interval < _LONG_INTERVAL:
            line += f" With --llm-interval {_LONG_INTERVAL}: {duration(waiting_s(_LONG_INTERVAL))}."
        return line
    at_once = min(envs, train.llm_max_open) if speed.parallel else 1
    answers = min(1000 / interval, at_once * plain_s / answer_s)
    number = "less than 1 answer" if answers < 1 else f"about {counted(round(answers), 'answer')}"
    fact += f": {number} in 1,000 steps"
    if lag <= _IN_TIME_STEPS:
        return f"{fact}, in time for every action."
    late = f"{fact}, each {lag:,.0f} steps late (too late for actions, not for goals and places)."
    if waiting_s(interval) <= _CHEAP * plain_s:
        return f"{late} With --llm-wait the game waits: {_thousand(waiting_s(interval), plain_s)}."
    longer = max(interval, _LONG_INTERVAL)
    wait = f"--llm-wait --llm-interval {longer}" if longer > interval else "--llm-wait"
    waiting = f"with {wait} the game waits, and {_thousand(waiting_s(longer), plain_s)}"
    if answers >= _FEW_ANSWERS:
        rounded = math.ceil(lag / 10) * 10
        fits = f"--llm-interval {rounded} asks no more than it can answer; " if rounded > interval else ""
        return f"{late} Try another way: {fits}{waiting}."
    if waiting_s(longer) <= _SLOWEST * plain_s:
        return f"{late} Not worth it like this: {waiting}."
    return f"{late} Not worth it on this machine: even {waiting}. Take a faster model, or none."


def _thousand(seconds: float, plain_s: float) -> str:
    return f"1,000 steps take about {short_duration(seconds)} instead of {short_duration(plain_s)}"

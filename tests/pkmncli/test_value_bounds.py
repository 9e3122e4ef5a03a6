"""Values that no setting can have, and texts that no reader can take: refused before anything starts, in one line."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import BaseModel

from pkmncli.api import parse_json, parse_toml
from pkmncli.config.core_sections import CORE_SECTIONS
from pkmncli.config.sources import CORE, Given, from_set_options
from pkmncli.config.train_settings import TrainSettings
from pkmncli.config.validation import settable_fields, validate
from pkmncli.errors import ConfigurationError
from pkmncli.plugins import get_registry

Pkmn = Callable[..., Any]

DIGITS = "9" * 6000
DEEP = 100_000


def numeric(annotation: Any) -> set[type]:
    """Return int, float or bool, as far as a setting of the type may hold them, alone or in a list."""
    if annotation in (int, float, bool):
        return {annotation}
    parts = get_args(annotation)[:1] if get_origin(annotation) is Annotated else get_args(annotation)
    return set().union(*(numeric(part) for part in parts if not isinstance(part, str | int)))


def in_place(annotation: Any, value: str) -> str:
    """Return a number as the TOML text that a setting of the type takes it by: in a list where it holds one."""
    for part in (annotation, *get_args(annotation)):
        if get_origin(part) in (list, tuple):
            return f"[{', '.join([value] * max(1, len([one for one in get_args(part) if one is not Ellipsis])))}]"
        if get_origin(part) is dict:
            return f"{{ a = {value} }}"
    return value


def every_numeric_setting() -> Iterator[tuple[str, type[BaseModel], str, set[type]]]:
    registry = get_registry()
    models: dict[str, type[BaseModel]] = {CORE: TrainSettings, **CORE_SECTIONS}
    for section in registry.settings_sections():
        model = registry.settings_section(section).load_config()
        if model is not None:
            models[section] = model
    for section, model in models.items():
        for key in settable_fields(model):
            kinds = numeric(model.model_fields[key].annotation)
            if kinds & {int, float}:
                yield section, model, key, kinds


@pytest.mark.long
def test_no_number_that_is_none_and_none_without_end() -> None:
    """Also where a third party's model sets no bounds at all."""
    found = list(every_numeric_setting())
    assert len(found) > 200
    for section, model, key, kinds in found:
        values = [
            "inf",
            "-inf",
            "nan",
            '"inf"',
            "1e400",
            "99999999999999999999",
            "-99999999999999999999",
            DIGITS,
            "9" * 400,
        ]
        for value in values if bool in kinds else [*values, "true", "false"]:
            text = in_place(model.model_fields[key].annotation, value)
            given = {key: from_set_options([f"{section}.{key}={text}" if section else f"{key}={text}"])[0]}
            with pytest.raises(ConfigurationError) as caught:
                validate(model, section, given)
            line = str(caught.value)
            assert "\n" not in line and key in line and len(line) < 500, value


@pytest.mark.parametrize(
    ("setting", "code", "line"),
    [
        ("dqn.batch_size=99999999999999999999", 2, "setting 'dqn.batch_size' = 99999999999999999999 (option --set"),
        ("dqn.batch_size=70000000", 2, "must be at most 1000000"),
        ("dqn.head_features=1000000", 2, "must be at most 65536"),
        ("dqn.screen_channels=[8, 10000]", 2, "setting 'dqn.screen_channels[1]' = 10000"),
        ("dqn.learning_rate=inf", 2, "setting 'dqn.learning_rate' = inf (option --set dqn.learning_rate): must be a f"),
        ("ppo.clip_range=nan", 2, "must be a finite number"),
        ("seed=true", 2, "must be a whole number, not true"),
        ("dqn.gamma=true", 2, "must be a number, not true"),
        ("dqn.screen_channels=[true, 4]", 2, "must be a whole number, not true"),
        ("seed=1.5", 2, "must be a whole number"),
        (f"seed={DIGITS}", 2, "must be a finite number"),
        (f"dqn.learning_rate={DIGITS}", 2, "must be a finite number"),
        ("dqn.batch_size=" + "[" * DEEP, 2, "must be a whole number"),
        ('rom_path="a\\u0000b"', 2, "setting 'rom_path' = 'a\\x00b' (option --set rom_path): holds a NUL character"),
        ('save_dir="\\u0000"', 2, "holds a NUL character"),
        ('run_name="a\\u0000"', 2, "holds a NUL character"),
        ('track=["a\\u0000"]', 2, "holds a NUL character"),
        (f"run_name={'n' * 300}", 2, "has more than 255 bytes"),
        (f"rom_path={'n' * 300}", 3, "File name too long"),
        (f"game_folder={'n' * 300}", 3, "File name too long"),
        (f"init_state={'n' * 300}", 3, "File name too long"),
        (f"save_dir={'n' * 300}", 5, "File name too long"),
    ],
)
def test_what_is_said_of_values_that_cannot_be(setting: str, code: int, line: str, pkmn: Pkmn, tmp_path: Path) -> None:
    result = pkmn("train", "--steps=5", "--rl=none", "--final-episodes=0", f"--set={setting}")
    assert (result.code, line in result.err) == (code, True), result
    assert result.err.count("\n") == 1 and "unexpected" not in result.err
    assert not list(tmp_path.rglob("config.toml"))


def test_a_key_in_a_setting_is_refused(pkmn: Pkmn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    for setting in ("llm_model=sk-very-secret-0123456789", 'track=["sk-very-secret-0123456789"]'):
        result = pkmn("train", "--steps=5", "--rl=none", f"--set={setting}")
        assert result.code == 2
        assert "holds the value of OPENAI_API_KEY" in result.err and "very-secret" not in result.err
    assert not list(tmp_path.rglob("config.toml"))


def nested(kind: str) -> str:
    return "[" * DEEP + "]" * DEEP if kind == "json" else "a = " + "[" * DEEP + "]" * DEEP


@pytest.mark.parametrize("kind", ["json", "toml"])
@pytest.mark.parametrize("content", ["deep", "tables", "digits", "cut", "hundred"])
def test_every_fault_of_a_text_is_one_kind_of_error(kind: str, content: str) -> None:
    error = json.JSONDecodeError if kind == "json" else tomllib.TOMLDecodeError
    texts = {
        "deep": nested(kind),
        "tables": '{"a":' * DEEP if kind == "json" else f"[{'.'.join(['a'] * 2000)}]\nb = 1",
        "digits": DIGITS if kind == "json" else f"a = {DIGITS}",
        "cut": nested(kind)[:-1],
        "hundred": nested(kind).replace("[" * DEEP, "[" * 102).replace("]" * DEEP, "]" * 102),
    }
    with pytest.raises(error):
        (parse_json if kind == "json" else parse_toml)(texts[content])


def test_what_is_not_too_deep_is_read() -> None:
    assert parse_json("[" * 100 + "]" * 100) is not None
    assert parse_json(b'{"a": [1, {"b": null}]}') == {"a": [1, {"b": None}]}
    assert parse_toml("a = [[1], {b = 2}]") == {"a": [[1], {"b": 2}]}
    assert parse_toml("[a.b.c]\nd = 1") == {"a": {"b": {"c": {"d": 1}}}}


@pytest.mark.parametrize("content", ["deep", "digits"])
@pytest.mark.parametrize(
    ("name", "command", "code"),
    [
        ("a.toml", ["train", "--config=a.toml"], 2),
        ("a.json", ["train", "--config=a.json"], 2),
        ("a.toml", ["train", "--preset=./a.toml"], 2),
        ("a.toml", ["experiment", "a.toml"], 2),
        ("a.toml", ["tune", "a.toml"], 2),
        ("a.toml", ["train", "--llm=scripted", "--llm-prompt=a.toml"], 2),
        ("a.json", ["train", "--llm=scripted", "--lessons-file=a.json"], 2),
        ("a.toml", ["train", "--llm=scripted", "--set=scripted.file=a.toml"], 4),
        ("game.toml", ["train", "--game-folder=."], 3),
    ],
)
def test_files_without_end(name: str, command: list[str], code: int, content: str, pkmn: Pkmn, tmp_path: Path) -> None:
    kind = Path(name).suffix[1:]
    number = f'{{"a": {DIGITS}}}' if kind == "json" else f"a = {DIGITS}"
    (tmp_path / name).write_text(nested(kind) if content == "deep" else number)
    result = pkmn(*command, *(["--steps=5", "--rl=none"] if command[0] == "train" else []))
    assert result.code == code, result
    assert name in result.err and result.err.count("\n") == 1 and "unexpected" not in result.err, result
    assert len(result.err) < 500


def test_a_value_of_any_type_where_another_is_needed() -> None:
    """Of tables within lists, too."""
    given = {"reward": Given(CORE, "reward", [["a\0"]], "here")}
    with pytest.raises(ConfigurationError, match="holds a NUL character"):
        validate(TrainSettings, CORE, given)

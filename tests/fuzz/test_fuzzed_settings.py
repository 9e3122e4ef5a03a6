"""Damaged and random settings: each is read, or refused by an error that says so."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import strategies as st
from support.fuzzing import changed, damaged, fuzzed

from pkmncli.api import parse_json, parse_toml
from pkmncli.config import resolve_settings
from pkmncli.config.sources import from_file
from pkmncli.errors import ConfigurationError, PkmnError
from pkmncli.plugins import get_registry

SETTINGS: dict[str, Any] = {
    "steps": 1000,
    "reward": ["progress", "exploration=0.5"],
    "seed": 3,
    "save_dir": "runs",
    "llm_prices": ["a=1/2"],
    "track": ["none"],
    "dqn": {"gamma": 0.9, "screen_channels": [8, 16], "encoder": "convolution", "double": True},
    "curriculum": {"enabled": False},
    "openai": {"base_url": "http://127.0.0.1:1/v1"},
    "rules": {"page_steps": 100},
}


@fuzzed(changed(SETTINGS), examples=60)
@pytest.mark.long
def test_settings(content: Any) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.json"
        try:
            path.write_text(json.dumps(content))
        except ValueError:
            return  # no file can hold such an integer
        try:
            resolve_settings({}, registry=get_registry(), config_path=path, environ={})
        except PkmnError as error:
            assert str(error)


@fuzzed(damaged(b"a = 1\n[dqn]\ngamma = 0.9\nscreen_channels = [8, 16]\ncreated = 2026-01-01T00:00:00Z\n"), examples=60)
def test_settings_files(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        for name in ("a.toml", "a.json"):
            (Path(folder) / name).write_bytes(data)
            try:
                from_file(Path(folder) / name)
            except ConfigurationError as error:
                assert name in str(error)


@fuzzed(st.sampled_from(["dqn.gamma", "seed", "reward", "dqn.screen_channels", "save_dir"]), st.text(), examples=80)
def test_settings_on_the_command_line(name: str, text: str) -> None:
    try:
        resolve_settings({}, registry=get_registry(), sets=[f"{name}={text}"], environ={})
    except PkmnError as error:
        assert str(error)


@pytest.mark.parametrize("name", ["~0", "~nobody-has-this-name/runs", "~\N{SNOWMAN}"])
def test_a_home_folder_that_nobody_has_is_a_name_like_any_other(name: str) -> None:
    settings = resolve_settings({}, registry=get_registry(), sets=[f"save_dir={name}"], environ={})
    assert settings.train.save_dir == Path.cwd() / name


@fuzzed(st.text(max_size=200) | st.binary(max_size=200), examples=100)
def test_texts_of_json_and_toml(text: str | bytes) -> None:
    for read in (parse_json, parse_toml) if isinstance(text, str) else (parse_json,):
        try:
            read(text)  # type: ignore[arg-type]
        except ValueError as error:
            assert str(error)

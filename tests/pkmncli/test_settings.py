"""Settings: which source wins, what is refused and in what words, and that a run's file reads back the same."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from pkmncli import hookimpl
from pkmncli.config import ResolvedSettings, TrainSettings, resolve_settings
from pkmncli.errors import ConfigurationError, PluginError, RunError
from pkmncli.plugins import Registry

DOCUMENTED_JSON = """{
  "rom_path": "roms/pokemon_crystal.gbc",
  "headless": true,
  "observation_type": "multi_modal",
  "llm_model": "gpt-4",
  "max_context_length": 8000,
  "initial_strategy": "llm_heavy",
  "decision_db_path": "pokemon_decisions.db",
  "save_dir": "training_checkpoints",
  "log_level": "INFO"
}
"""


class LearnerSettings(BaseModel):
    """A learner's settings, one of each type."""

    model_config = ConfigDict(extra="forbid")

    learning_rate: float = Field(1e-4, gt=0, description="step size")
    hidden: list[int] = Field([64, 64], description="units")
    note: str = Field("", description="anything")
    double: bool = Field(True, description="two networks")
    threads: int | Literal["auto"] = Field("auto", description="threads")
    parts: dict[str, float] = Field({}, description="a table")
    limit: int | None = Field(None, description="none by default")


class TwoPartSettings(BaseModel):
    """Settings that must fit each other."""

    model_config = ConfigDict(extra="forbid")
    low: int = Field(1, description="least")
    high: int = Field(2, description="most")

    def model_post_init(self, context: Any) -> None:
        if self.low > self.high:
            raise ValueError("low must not be above high")


class Plugin:
    @hookimpl
    def pkmn_register_algorithms(self, register: Callable[..., None]) -> None:
        register("dqn", dict, config=LearnerSettings)

    @hookimpl
    def pkmn_register_rewards(self, register: Callable[..., None]) -> None:
        register("two-part", dict, config=TwoPartSettings)
        register("plain", dict)


class CloudSettings(BaseModel):
    """Settings of a backend that serves two families of models."""

    serves: ClassVar[tuple[str, ...]] = ("gpt-", "both-")


class HomeSettings(BaseModel):
    """Settings of one that serves a part of the first, too."""

    serves: ClassVar[tuple[str, ...]] = ("gpt-oss", "both-")


class Models:
    @hookimpl
    def pkmn_register_llm_backends(self, register: Callable[..., None]) -> None:
        register("cloud", dict, config=CloudSettings)
        register("home", dict, config=HomeSettings)
        register("any", dict)


@pytest.fixture
def models(plugin_registry: Registry) -> None:
    """Backends ``cloud``, ``home`` and ``any`` are installed."""
    plugin_registry.register_plugin(Models(), "models")


@pytest.fixture
def resolve(plugin_registry: Registry) -> Callable[..., ResolvedSettings]:
    """Resolves settings with a learner ``dqn`` and rewards ``two-part`` and ``plain`` installed."""
    plugin_registry.register_plugin(Plugin(), "mine")

    def run(cli: Mapping[str, Any] | None = None, **sources: Any) -> ResolvedSettings:
        return resolve_settings(cli or {}, registry=plugin_registry, **{"environ": {}, **sources})

    return run


Resolve = Callable[..., ResolvedSettings]


def test_each_source_goes_before_the_next(resolve: Resolve, tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text("seed = 1\nenvs = 1\nsteps = 1\nepisodes = 1\n\n[dqn]\nlearning_rate = 0.1\nnote = 'file'\n")
    environ = {"PKMN_ENVS": "2", "PKMN_STEPS": "2", "PKMN_EPISODES": "2", "PKMN_DQN__LEARNING_RATE": "0.2"}
    resolved = resolve(
        {"episodes": 4, "quiet": None}, config_path=file, environ=environ, sets=["steps=3", "episodes=3"]
    )
    train = resolved.train
    assert (train.seed, train.envs, train.steps, train.episodes, train.quiet) == (1, 2, 3, 4, False)
    learner = resolved.plugin("dqn")
    assert isinstance(learner, LearnerSettings)
    assert (learner.learning_rate, learner.note, learner.double) == (0.2, "file", True)
    origins = resolved.origins
    assert [origins[key] for key in ("seed", "envs", "steps", "episodes", "quiet")] == [
        f"{file}:1",
        "environment variable PKMN_ENVS",
        "option --set steps",
        "option --episodes",
        "default",
    ]
    assert origins["dqn.learning_rate"] == "environment variable PKMN_DQN__LEARNING_RATE"
    assert origins["dqn.note"] == f"{file}:8"


@pytest.mark.usefixtures("models")
def test_the_documented_json_works_as_it_stands(
    resolve: Resolve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "hybrid_training_config.json"
    file.write_text(DOCUMENTED_JSON)
    monkeypatch.chdir(tmp_path)
    train = resolve(config_path=file).train
    assert train.rom_path == tmp_path / "roms" / "pokemon_crystal.gbc"
    assert train.save_dir == tmp_path / "training_checkpoints"
    assert train.decision_db_path == tmp_path / "pokemon_decisions.db"
    assert (train.llm_model, train.initial_strategy, train.log_level) == ("gpt-4", "llm_heavy", "INFO")
    assert train.llm == "cloud", "the backend that serves it"


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize(
    ("model", "backend"), [("gpt-4", "cloud"), ("GPT-4", "cloud"), ("gpt-oss:20b", "home"), ("gpt-oss", "home")]
)
def test_a_model_alone_chooses_the_backend_that_serves_it(model: str, backend: str, resolve: Resolve) -> None:
    """The longest beginning decides; the run's file says why it is there, and reads back the same."""
    settings = resolve({"llm_model": model})
    assert settings.train.llm == backend
    assert f'llm = "{backend}" # it serves llm_model = {model}, from option --llm-model' in settings.to_toml()


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize(
    ("model", "says"), [("both-9", "cloud and home both serve it"), ("claude-3", "known (any, cloud, home)")]
)
def test_a_model_that_says_no_backend_is_an_error_with_what_to_do(model: str, says: str, resolve: Resolve) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve({"llm_model": model})
    text = str(caught.value)
    assert says in text
    assert "option --llm-model" in text
    assert "choose with --llm NAME" in text
    assert "\n" not in text


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize(
    ("given", "llm"),
    [
        ({"llm": "any"}, "any"),
        ({"llm": "none"}, "none"),
        ({"mode": "rl-only"}, "none"),
    ],
)
def test_a_model_chooses_no_backend_where_one_is_chosen_or_none_is_needed(
    given: dict[str, str], llm: str, resolve: Resolve
) -> None:
    assert resolve({"llm_model": "gpt-4", **given}).train.llm == llm


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("007", "note", "007"),
        ("1e5", "note", "1e5"),
        ("'quoted text'", "note", "quoted text"),
        ("a = b", "note", "a = b"),
        ("1e-3", "learning_rate", 1e-3),
        ("[1, 2, 3]", "hidden", [1, 2, 3]),
        ("false", "double", False),
        ("0", "double", False),
        ("auto", "threads", "auto"),
        ("4", "threads", 4),
        ("{a = 1, b = 0.5}", "parts", {"a": 1.0, "b": 0.5}),
    ],
)
def test_text_is_read_as_what_the_setting_holds(resolve: Resolve, text: str, key: str, value: Any) -> None:
    for sources in ({"sets": [f"dqn.{key}={text}"]}, {"environ": {f"PKMN_DQN__{key.upper()}": text}}):
        assert resolve(**sources).plugin("dqn").model_dump()[key] == value


def test_rewards_are_names_with_weights(resolve: Resolve) -> None:
    assert resolve(environ={"PKMN_REWARD": "plain, two-part=0.5"}).train.reward_weights == {"plain": 1, "two-part": 0.5}
    assert resolve({"reward": ["plain=-2"]}).train.reward_weights == {"plain": -2}


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ({"cli": {"envs": 0}}, "setting 'envs' = 0 (option --envs): must be at least 1"),
        ({"cli": {"rom_path": 3}}, "setting 'rom_path' = 3 (option --rom): must be a path"),
        ({"cli": {"disk_limit_gb": -1}}, "(option --disk-limit-gb): must be greater than 0"),
        ({"cli": {"mode": "llm_only"}}, "or 'rl-only'; did you mean 'llm-only'?"),
        ({"cli": {"reward": ["plain=lots"]}}, "'plain=lots' is no reward: write a name, or name=weight"),
        ({"cli": {"reward": ["plain=nan"]}}, "'plain=nan' is no reward"),
        ({"cli": {"reward": ["plain=-1e10"]}}, "'plain=-1e10': a weight is at most 1,000,000,000 either way"),
        (
            {"environ": {"PKMN_SEED": "many"}},
            "'seed' = 'many' (environment variable PKMN_SEED): must be a whole",
        ),
        ({"environ": {"PKMN_SEEED": "1"}}, "'seeed' (environment variable PKMN_SEEED): did you mean 'seed'?"),
        (
            {"environ": {"PKMN_DQM__NOTE": "1"}},
            "[dqm] (environment variable PKMN_DQM__NOTE): did you mean [dqn]?",
        ),
        ({"environ": {"PKMN_SEED__X": "1"}}, "setting 'seed' (environment variable PKMN_SEED__X) is one value"),
        ({"sets": ["dqn.learning_rat=1"]}, "(option --set dqn.learning_rat): did you mean 'dqn.learning_rate'?"),
        (
            {"sets": ["dqn.learning_rate=0"]},
            "'dqn.learning_rate' = 0 (option --set dqn.learning_rate): must be",
        ),
        ({"sets": ["dqn.hidden=[1, 'x']"]}, "setting 'dqn.hidden[1]' = 'x'"),
        ({"sets": ["dqn.double=maybe"]}, "must be true or false"),
        (
            {"sets": ["dqn.colour=red"]},
            "'dqn.colour' (option --set dqn.colour): [dqn] has learning_rate,",
        ),
        ({"sets": ["dqn.lr=1"]}, "(option --set dqn.lr): did you mean 'dqn.learning_rate'?"),
        ({"cli": {"learning_rate": 1}}, "'learning_rate' (option --learning-rate): did you mean 'dqn.learning_rate'?"),
        ({"cli": {"colour": 1}}, "'colour' (option --colour): pkmn train --help lists the settings"),
        ({"cli": {"rl": "dqm"}}, "setting 'rl' (option --rl): there is no algorithm 'dqm'; did you mean 'dqn'?"),
        ({"environ": {"PKMN_REWARD": "plane"}}, "(environment variable PKMN_REWARD): there is no reward 'plane'; did"),
        ({"sets": ["seed"]}, "option --set seed: write it as --set section.key=value"),
        ({"sets": ["two_part.low=3"]}, "settings [two-part] (option --set two_part.low): low must not be"),
        ({"sets": ["plain.x=3"]}, "no plugin has settings under [plain]"),
    ],
)
def test_a_wrong_value_is_one_line_with_key_origin_and_remedy(
    resolve: Resolve, sources: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve(**sources)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_wrong_value_gets_its_line(resolve: Resolve) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve({"envs": 0, "seed": -1})
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("c.toml", "seed = 1\n\n[dqn]\nlearning_rate = -1\n", "c.toml:4): must be greater than 0"),
        ("c.toml", "[dqn]\nnote = 'seed'\n[two-part]\nlow = 'x'\n", "c.toml:4): must be a whole number"),
        ("c.json", '{\n  "seed": "x"\n}', "c.json:2): must be a whole number"),
        ("c.json", '{"dqn": {"note": "",\n  "learning_rate": 0}}', "c.json:2): must be greater than 0"),
        ("c.toml", "seed = 1\nenvs = \n", "c.toml:2: not valid TOML: "),
        ("c.toml", "seed = [1\n", "c.toml:1: not valid TOML: Unclosed array (at the end)"),
        ("c.json", '{"seed": 1,\n "envs" 2}', "c.json:2: not valid JSON: Expecting ':' delimiter (column 9)"),
        ("settings", '{"seed": 1,}', "settings:1: not valid JSON"),
        ("c.json", "[1]", "c.json:1: a configuration is keys with values, not a list"),
    ],
)
def test_a_wrong_file_names_the_line(resolve: Resolve, tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        resolve(config_path=tmp_path / name)
    assert message in str(caught.value)


def test_a_file_that_cannot_be_read_is_told(resolve: Resolve, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"there is no configuration file .*none\.toml"):
        resolve(config_path=tmp_path / "none.toml")
    with pytest.raises(ConfigurationError, match="cannot be read: Is a directory"):
        resolve(config_path=tmp_path)
    (tmp_path / "picture.toml").write_bytes(b"\x89PNG\xff")
    with pytest.raises(ConfigurationError, match="it is not UTF-8 text"):
        resolve(config_path=tmp_path / "picture.toml")


def test_null_and_an_empty_variable_are_not_set(resolve: Resolve, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"steps": null, "dqn": {"note": null}}')
    assert resolve(config_path=tmp_path / "c.json", environ={"PKMN_SEED": ""}).train == TrainSettings()


def test_other_variables_of_pkmn_are_no_settings(resolve: Resolve) -> None:
    environ = {"PKMN_DEBUG": "1", "PKMN_DISABLE_PLUGINS": "x", "PKMN_STRICT_PLUGINS": "1", "PKMN_TEST_ROM": "x"}
    assert resolve(environ=environ).train == TrainSettings()


def test_a_run_reads_back_what_was_written(resolve: Resolve, tmp_path: Path, plugin_registry: Registry) -> None:
    written = resolve(
        {"seed": 5, "reward": ["plain", "two-part=2"], "run_name": 'it\'s "mine" # 1'},
        sets=["dqn.parts={a = 1.5}", "dqn.double=false"],
    )
    (tmp_path / "config.toml").write_text(written.to_toml())
    text = written.to_toml()
    assert "seed = 5 # option --seed" in text
    assert "double = false # option --set dqn.double" in text
    assert "# limit is not set" in text
    values = tomllib.loads(text)
    assert values["two-part"] == {"low": 1, "high": 2}
    read = ResolvedSettings.from_run(tmp_path, plugin_registry)
    assert read.train == written.train
    assert read.values() == written.values()
    assert read.origins == written.origins
    assert read.to_toml() == text


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    note=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30),
    learning_rate=st.floats(min_value=1e-30, max_value=1e12),
    hidden=st.lists(st.integers(-(10**12), 10**12), max_size=4),
    parts=st.dictionaries(st.text(max_size=8), st.floats(min_value=-1e12, max_value=1e12), max_size=3),
)
@pytest.mark.long
def test_any_value_survives_the_file(
    resolve: Resolve, tmp_path: Path, plugin_registry: Registry, **values: Any
) -> None:
    written = resolve({f"dqn.{key}": value for key, value in values.items()})
    (tmp_path / "config.toml").write_text(written.to_toml(), encoding="utf-8")
    assert ResolvedSettings.from_run(tmp_path, plugin_registry).plugin("dqn") == written.plugin("dqn")


def test_a_run_that_goes_on_changes_only_what_it_may(resolve: Resolve) -> None:
    run = resolve({"seed": 5, "steps": 100})
    longer = run.changed({"steps": 200, "seed": 5, "quiet": None}, may_change={"steps", "quiet"})
    assert (longer.train.steps, longer.train.seed) == (200, 5)
    with pytest.raises(ConfigurationError, match=r"setting 'seed' \(option --seed\) cannot change .*it has seed = 5"):
        run.changed({"seed": 6}, may_change={"steps"})
    with pytest.raises(ConfigurationError, match=r"setting 'dqn\.note' \(option --set dqn\.note\) cannot change"):
        run.changed({}, sets=["dqn.note=x"], may_change={"steps"})


def test_a_run_of_an_earlier_version_still_goes_on_to_the_end_of_its_game(
    resolve: Resolve, tmp_path: Path, plugin_registry: Registry
) -> None:
    text = resolve({"seed": 5}).to_toml()
    assert 'goal = "first"' in text
    lines = [line for line in text.splitlines()[1:-1] if not line.startswith("goal = ")]
    (tmp_path / "config.toml").write_text("\n".join(lines))
    read = ResolvedSettings.from_run(tmp_path, plugin_registry)
    assert (read.train.goal, read.train.seed) == (None, 5)
    (tmp_path / "config.toml").write_text(read.to_toml())
    assert ResolvedSettings.from_run(tmp_path, plugin_registry).train.goal is None


def test_a_folder_without_or_with_a_damaged_file_is_told(tmp_path: Path, plugin_registry: Registry) -> None:
    with pytest.raises(RunError, match=r"is no run folder: it has no config\.toml"):
        ResolvedSettings.from_run(tmp_path, plugin_registry)
    (tmp_path / "config.toml").write_text("seed = = 1")
    with pytest.raises(RunError, match=r"config\.toml is damaged"):
        ResolvedSettings.from_run(tmp_path, plugin_registry)


def test_settings_of_a_plugin_with_a_name_of_the_core_are_refused(plugin_registry: Registry) -> None:
    class Clash:
        @hookimpl
        def pkmn_register_rewards(self, register: Callable[..., None]) -> None:
            register("goal", dict, config=LearnerSettings)

    plugin_registry.register_plugin(Clash(), "mine")
    with pytest.raises(PluginError, match="reward 'goal' of a plugin registered by hand has the name of a setting"):
        resolve_settings({}, registry=plugin_registry, environ={}).plugin("goal")


def test_every_core_setting_is_described() -> None:
    assert [name for name, field in TrainSettings.model_fields.items() if not field.description] == []
    assert json.loads(DOCUMENTED_JSON).keys() <= TrainSettings.model_fields.keys()

"""Settings are checked, explained and documented; registering the learners costs nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from pkmn_ppo import plugin
from pkmn_ppo.learner import A2C, PPO
from pkmn_ppo.settings import A2CSettings, PPOSettings
from pkmncli.plugins.registry import Registry
from pkmncli.testing import check_plugin

GUIDE = Path(__file__).parents[3] / "docs" / "learners.md"


def written(cell: str) -> object:
    """Return the value shown in a cell of the guide's table; None for an empty one."""
    if cell in ("true", "false"):
        return cell == "true"
    if cell.startswith("["):
        return tuple(json.loads(cell))
    if cell.isalpha():
        return cell
    return None if cell in ("", "not set") else float(cell.replace(",", ""))


@pytest.mark.parametrize("name", sorted({*PPOSettings.model_fields, *A2CSettings.model_fields}))
def test_every_setting_is_explained_with_its_defaults(name: str) -> None:
    section = GUIDE.read_text(encoding="utf-8").partition("## ppo and a2c")[2].partition("\n## ")[0]
    row = next((line for line in section.splitlines() if line.startswith(f"| `{name}` |")), "")
    assert row, "the guide does not explain it"
    _, _, ppo, a2c, *_ = (cell.strip() for cell in row.split("|"))
    for cell, model in ((ppo, PPOSettings), (a2c, A2CSettings)):
        assert written(cell) == (model.model_fields[name].default if name in model.model_fields else None)


PRESETS = {
    PPOSettings: {
        "learning_rate": 3e-4,
        "n_steps": 2048,
        "batch_size": 64,
        "n_epochs": 10,
        "gamma": 0.99,
        "gae_lambda": 0.95,
        "clip_range": 0.2,
        "ent_coef": 0.01,
        "vf_coef": 0.5,
        "max_grad_norm": 0.5,
    },
    A2CSettings: {
        "learning_rate": 7e-4,
        "n_steps": 5,
        "gamma": 0.99,
        "gae_lambda": 1.0,
        "ent_coef": 0.01,
        "vf_coef": 0.5,
        "max_grad_norm": 0.5,
    },
}


@pytest.mark.parametrize("model", PRESETS)
def test_the_presets_are_the_promised_ones(model: type[PPOSettings] | type[A2CSettings]) -> None:
    assert model().model_dump().items() >= PRESETS[model].items()


@pytest.mark.parametrize(
    ("model", "wrong"),
    [
        (PPOSettings, {"learning_rte": 1e-3}),
        (PPOSettings, {"gae_lambda": 1.5}),
        (PPOSettings, {"n_steps": 0}),
        (PPOSettings, {"clip_range": 0}),
        (A2CSettings, {"clip_range": 0.2}),
        (A2CSettings, {"learning_rate_decay": 2}),
    ],
)
def test_wrong_settings_are_refused(model: type[PPOSettings] | type[A2CSettings], wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        model(**wrong)


def test_the_names_stand_for_the_learners_and_their_settings() -> None:
    registry = Registry()
    registry.register_plugin(plugin, "ppo")
    for name, learner, settings in (("ppo", PPO, PPOSettings), ("a2c", A2C, A2CSettings)):
        registration = registry.get("algorithms", name)
        assert registration.load() is learner
        assert registration.load_config() is settings


def test_the_plugin_keeps_the_contracts_and_loading_it_imports_nothing_heavy() -> None:
    registered = {(entry.kind, entry.name) for entry in check_plugin(plugin)}
    assert registered == {("algorithms", "ppo"), ("algorithms", "a2c")}

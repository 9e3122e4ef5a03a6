"""Settings are checked, explained and documented; registering the learner costs nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pkmn_dqn import plugin
from pkmn_dqn.learner import DQN
from pkmn_dqn.settings import DQNSettings
from pkmncli.plugins.registry import Registry

GUIDE = Path(__file__).parents[3] / "docs" / "learners.md"


@pytest.mark.parametrize("name", DQNSettings.model_fields)
def test_every_setting_is_explained_with_its_default(name: str) -> None:
    field = DQNSettings.model_fields[name]
    assert field.description
    row = next((line for line in GUIDE.read_text().splitlines() if line.startswith(f"| `{name}` |")), "")
    shown = row.split("|")[2].strip().replace(",", "") if row else ""
    default = field.default
    if isinstance(default, bool):
        assert shown == str(default).lower()
    elif isinstance(default, str):
        assert shown == default
    elif default is None:
        assert shown == "not set"
    elif isinstance(default, tuple):
        assert shown == str(list(default)).replace(",", "")
    else:
        assert float(shown) == default


@pytest.mark.parametrize(
    "wrong",
    [
        {"learning_rte": 1e-3},
        {"gamma": 1.5},
        {"exploration_final": 0.9, "exploration_initial": 0.1},
        {"exploration_schedule": "cosine"},
        {"exploration_schedule": "exponential", "exploration_final": 0},
        {"priority_exponent": 1.1},
        {"priority_epsilon": 0},
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DQNSettings(**wrong)


def test_the_name_dqn_stands_for_the_learner_and_its_settings() -> None:
    registry = Registry()
    registry.register_plugin(plugin, "dqn")
    registration = registry.get("algorithms", "dqn")
    assert registration.load() is DQN
    assert registration.load_config() is DQNSettings


def test_registering_the_learner_imports_nothing_heavy() -> None:
    program = (
        "import sys, pkmn_dqn.plugin; "
        "print([name for name in ('torch', 'numpy', 'gymnasium', 'pydantic') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"

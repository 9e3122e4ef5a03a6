"""Parts that are made by name: an environment and its pilot."""

from __future__ import annotations

import pytest

from pkmncli.api import make_environment, make_pilot
from pkmncli.errors import PluginError


def test_a_registered_environment_and_its_pilot_play() -> None:
    environment = make_environment("pyboy", observation_type="state", goals="none")
    try:
        environment.reset(seed=1)
        pilot = make_pilot("rules", environment)
        for _ in range(30):
            environment.advance(int(pilot.act().action))
        assert environment.facts().milestones >= 2
    finally:
        environment.close()


def test_a_wrong_name_or_setting_is_an_error_that_says_so() -> None:
    with pytest.raises(PluginError, match="pyboi"):
        make_environment("pyboi")
    with pytest.raises(ValueError, match="no_such_setting"):
        make_environment("pyboy", no_such_setting=1)

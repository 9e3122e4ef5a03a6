"""A pilot without progress reports its situation, tries remedies in turn, and records which one helped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import Phase
from pkmncli.api import Action

MakeEnvironment = Callable[..., PokemonEnvironment]

NEVER = '[{ kind = "event", index = 1999 }]'
STORY = """
[[milestone]]
key = "end"
name = "Never"
hint = "Never."
evidence_all = {never}
errands = [{errands}]

[[errand]]
key = "nothing"
name = "Stand on a tile of the bedroom"
hint = "Nothing comes of it."
evidence_all = {never}
target = {{ map = [1, 3], x = 3, y = 5 }}

[[errand]]
key = "down"
name = "Go downstairs"
hint = "By the stairs."
evidence_all = [{{ kind = "map", group = 1, number = 2 }}]
target = {{ map = [1, 3], x = 7, y = 0 }}
"""
BLOCKED = f"""
[[milestone]]
order = 8
key = "end"
name = "Never"
hint = "Never."
evidence_all = {NEVER}
needs = ["first_battle_won"]
target = {{ map = [2, 1], x = 29, y = 6 }}
"""
"""Goal that cannot be reached, on a tile of grass."""
SETTINGS = PilotSettings(report_after_steps=120, remedy_steps=40, goal_tries=50, forget_tries_steps=30)


def folder_of(profile: GameProfile, folder: Path, *errands: str) -> Path:
    """Write the bundled game with a story that never ends."""
    for name in ("game.toml", "names.toml", "tables.toml", "world.toml"):
        (folder / name).write_text((profile.folder / name).read_text(encoding="utf-8"), encoding="utf-8")
    listed = ", ".join(f'"{key}"' for key in errands)
    (folder / "milestones.toml").write_text(STORY.format(never=NEVER, errands=listed), encoding="utf-8")
    return folder


def begin(make: MakeEnvironment, folder: Path, rom: Path, settings: PilotSettings = SETTINGS) -> RulesPilot:
    environment = make(observation_type="state", game_folder=folder, rom_path=rom, max_steps_per_episode=5000)
    pilot = RulesPilot(environment, settings)
    environment.reset(seed=1)
    pilot.reset(1)
    return pilot


def play(environment: PokemonEnvironment, pilot: RulesPilot, steps: int) -> list[dict[str, Any]]:
    """Play, and return the reports in their order."""
    told = []
    for _ in range(steps):
        environment.advance(pilot.act().action)
        told += pilot.reports()
    return told


@pytest.fixture
def stuck(quillwood: GameProfile, rom_path: Path, tmp_path: Path, make: MakeEnvironment) -> Any:
    made: list[PokemonEnvironment] = []

    def build(*errands: str, settings: PilotSettings = SETTINGS) -> tuple[PokemonEnvironment, RulesPilot]:
        def keep(**values: Any) -> PokemonEnvironment:
            made.append(make(**values))
            return made[-1]

        pilot = begin(keep, folder_of(quillwood, tmp_path, *errands), rom_path, settings)
        return made[-1], pilot

    return build


def test_a_report_has_numbers_and_words(stuck: Any) -> None:
    environment, pilot = stuck("nothing")
    report = play(environment, pilot, 140)[0]
    assert report["number"] == 1
    assert report["place"]["map"] == [1, 3]
    assert report["steps_without_progress"] == SETTINGS.report_after_steps
    assert [(goal["kind"], goal["key"]) for goal in report["goals"]] == [("milestone", "end"), ("errand", "nothing")]
    assert report["goals"][1]["target"] == {"map_id": 259, "x": 3, "y": 5, "person": 0, "scene": -1}
    pressed = "".join(letters for _, letters in report["presses"])
    assert 100 < len(pressed) <= 200
    assert set(pressed) <= set("UDLRABS.")
    assert "goal nothing" in {reason for reason, _ in report["presses"]}
    assert report["flags"] == [8]
    assert report["money"] == 3000
    assert any("milestone end > errand nothing" in line for line in report["words"])
    assert any("120 steps without progress" in line for line in report["words"])
    assert len(json.dumps(report)) < 30_000


def test_another_errand_comes_first_if_possible_and_is_reported_to_have_helped(stuck: Any) -> None:
    environment, pilot = stuck("nothing", "down")
    told = play(environment, pilot, 260)
    last = {report["number"]: report for report in told}[1]
    assert [one["remedy"] for one in last["tried"]] == ["replan", "reorder"]
    assert last["tried"][1]["step"] >= last["tried"][0]["step"] + SETTINGS.remedy_steps
    assert last["helped"] == "reorder"
    assert last["helped_at_step"] > last["tried"][1]["step"]
    assert environment.state.map_id != 259 or len(pilot.memory.visits) > 1
    assert pilot.memory.stall.put_off == []
    assert [report["helped"] for report in told[:3]] == ["", "", "reorder"]


@pytest.mark.long
def test_with_one_errand_it_goes_on_to_heal_and_begins_again(stuck: Any) -> None:
    environment, pilot = stuck("nothing", settings=SETTINGS.model_copy(update={"heal_steps": 0}))
    told = play(environment, pilot, 330)
    tried = [one["remedy"] for one in {report["number"]: report for report in told}[1]["tried"]]
    assert tried[:4] == ["replan", "heal", "replan", "heal"]


@pytest.mark.long
def test_a_pilot_that_goes_on_from_a_saved_state_reports_the_same(stuck: Any, tmp_path: Path) -> None:
    environment, pilot = stuck("nothing", "down")
    play(environment, pilot, 150)
    kept = environment.save_state(), json.loads(json.dumps(pilot.save_state()))
    unbroken = play(environment, pilot, 120)
    environment.load_state(kept[0])
    other = RulesPilot(environment, SETTINGS)
    other.load_state(kept[1])
    assert play(environment, other, 120) == unbroken
    assert unbroken


def test_steps_that_others_press_are_no_stall_of_the_pilot(stuck: Any) -> None:
    environment, pilot = stuck("nothing")
    told = []
    for step in range(400):
        pilot.act()
        environment.advance((Action.LEFT, Action.RIGHT)[step % 2])
        told += pilot.reports()
    assert told == []
    assert "pressed by others" in {reason for reason, _ in pilot.memory.stall.presses}


@pytest.mark.long
def test_no_report_without_a_stall_or_where_none_is_wanted(stuck: Any) -> None:
    environment, pilot = stuck("nothing", settings=SETTINGS.model_copy(update={"report_after_steps": 0}))
    assert play(environment, pilot, 300) == []


@pytest.mark.long
def test_no_report_holds_text_of_the_game(make: MakeEnvironment, quillwood: GameProfile) -> None:
    environment = make(observation_type="state", max_steps_per_episode=5000)
    pilot = RulesPilot(environment, SETTINGS.model_copy(update={"report_after_steps": 12, "remedy_steps": 4}))
    environment.reset(seed=1)
    pilot.reset(1)
    told, lines = "", set()
    for _ in range(620):
        environment.advance(pilot.act().action)
        told += json.dumps(pilot.reports())
        if environment.state.phase in (Phase.DIALOGUE, Phase.CHOICE):
            lines |= {line.strip() for line in environment.screen_words().splitlines()}
    names = quillwood.memory["wPartyMonNicknames"]
    nickname = environment.emulator.read(names.bank, names.address, 5)
    assert len(told) > 10_000
    assert environment.state.party.count
    assert "".join(chr(byte - 0x80 + ord("A")) for byte in nickname) not in told
    assert len(lines) > 10
    assert [line for line in lines if len(line) > 8 and line in told] == []


@pytest.mark.long
def test_levels_that_come_by_chance_are_no_progress_towards_a_blocked_goal(
    make: MakeEnvironment, quillwood: GameProfile, rom_path: Path, tmp_path: Path
) -> None:
    folder = folder_of(quillwood, tmp_path)
    story = (quillwood.folder / "milestones.toml").read_text(encoding="utf-8").replace("first_goal = ", "# ")
    begun = story[: story.index("[[milestone]]\norder = 8\n")]
    (folder / "milestones.toml").write_text(begun + BLOCKED, encoding="utf-8")
    settings = PilotSettings(report_after_steps=500)
    environment = make(observation_type="state", game_folder=folder, rom_path=rom_path, max_steps_per_episode=5000)
    pilot = RulesPilot(environment, settings)
    environment.reset(seed=1)
    pilot.reset(1)
    won, level, told = list(environment.milestone_names).index("first_battle_won"), 0, []
    while environment.milestones.steps[won] < 0:
        environment.advance(pilot.act().action)
    levels, without = [], 0
    for _ in range(1500):
        environment.advance(pilot.act().action)
        told += pilot.reports()
        without += 1
        if environment.state.party.level_sum > level:
            level = environment.state.party.level_sum
            levels.append(without)
            without = 0
    assert max(levels) < settings.report_after_steps
    assert len(levels) > 3
    assert told
    assert told[0]["place"]["map"] == [2, 1]
    assert told[0]["goals"][-1]["key"] == "end"


@pytest.mark.long
def test_it_plays_the_same_whether_it_is_asked_for_reports_or_not(make: MakeEnvironment) -> None:
    def presses(*, asked: bool) -> list[int]:
        environment = make(observation_type="state", max_steps_per_episode=5000)
        pilot = RulesPilot(environment, SETTINGS.model_copy(update={"report_after_steps": 12, "remedy_steps": 4}))
        environment.reset(seed=1)
        pilot.reset(1)
        pressed, told = [], 0
        for _ in range(900):
            pressed.append(pilot.act().action)
            environment.advance(pressed[-1])
            told += len(pilot.reports()) if asked else 0
        assert told or not asked
        return pressed

    assert presses(asked=True) == presses(asked=False)


@pytest.mark.long
def test_a_report_notes_the_remedy_that_ends_the_episode(make: MakeEnvironment) -> None:
    environment = make(observation_type="state", max_steps_per_episode=5000, goal="first_battle_won")
    pilot = RulesPilot(environment, SETTINGS.model_copy(update={"report_after_steps": 12, "remedy_steps": 4}))
    environment.reset(seed=1)
    pilot.reset(1)
    told, ended = [], False
    while not ended:
        ended = any(environment.advance(pilot.act().action)[1:])
        told += pilot.reports()
    assert told[-1]["helped"]
    assert told[-1]["helped_at_step"] == environment.steps
    assert pilot.reports() == []

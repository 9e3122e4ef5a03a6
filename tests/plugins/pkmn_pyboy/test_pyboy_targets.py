"""Targets and rooms of milestones.toml: valid ones, and the one-line errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from pkmn_pyboy.profile.loading import load_profile
from pkmn_pyboy.profile.milestones import LockedRooms, Target, TargetCase
from pkmn_pyboy.profile.model import GameProfile
from pkmncli.errors import EnvironmentSetupError

EVIDENCE = 'evidence_all = [{ kind = "event", index = 8 }]'
HERE = 'evidence_all = [{ kind = "map", group = 1, number = 3 }]'
MILESTONE = f'[[milestone]]\nkey = "a"\nname = "A"\n{EVIDENCE}\n'
ERRAND = f'[[errand]]\nkey = "b"\nname = "B"\n{EVIDENCE}\n'
BY = "by = { address = 0xD964 }"


def load(folder: Path, quillwood: GameProfile, milestones: str) -> GameProfile:
    for name in ("game.toml", "names.toml", "tables.toml"):
        (folder / name).write_text((quillwood.folder / name).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "milestones.toml").write_text(milestones, encoding="utf-8")
    return load_profile(folder)


def test_all_keys_of_a_target_are_read(quillwood: GameProfile, tmp_path: Path) -> None:
    text = (
        MILESTONE
        + "target = { map = [1, 4], person = 1, facing = 'up', " + BY + ", cases = [{ value = 2, facing = 'down' }, "
        "{ value = 9, x = 10, y = 36 }] }\n"
        "errands = ['b', 'c']\ncatch = [5]\nsupplies = [[1, 3]]\n"
        + ERRAND
        + "target = { map = [1, 1], x = 1, y = 2, choices = [{ x = 6, y = 4 }, { person = 3 }] }\n"
        "over_with = ['a', 'c']\n"
        + ERRAND.replace('"b"', '"c"')
        + "target = { map = [1, 1] }\ngives_hour = 20\n"
        + "[[locked_rooms]]\nenter = [1, 2]\nrooms = [[1, 3], [1, 4]]\n"
    )  # fmt: skip
    profile = load(tmp_path, quillwood, text)
    milestone, errand = profile.milestones[0], profile.errands["b"]
    assert milestone.target is not None
    assert milestone.target.by is not None
    assert (milestone.target.by.bank, milestone.target.by.address) == (1, 0xD964)
    assert milestone.target.cases == (TargetCase(2, facing="down"), TargetCase(9, 10, 36))
    assert (milestone.catch, milestone.supplies) == ((5,), ((1, 3),))
    assert errand.target == Target(0x101, 1, 2, choices=(TargetCase(x=6, y=4), TargetCase(person=3)))
    assert errand.over_with == ("a", "c")
    assert profile.errands["c"].gives_hour == 20
    assert profile.locked_rooms == (LockedRooms(0x102, frozenset((0x103, 0x104))),)


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("x = 1", "x and y go together"),
        ("y = 1", "x and y go together"),
        ("x = 1, y = 2, person = 3", "give either a person or x and y"),
        ("facing = 'up'", "facing is for a person, or for x and y"),
        ("scene = 1, facing = 'up'", "a scene starts on any of its tiles; remove facing"),
        ("scene = 1, x = 3, y = 3", "a scene starts on any of its tiles; remove x"),
        ("scene = 1, person = 3", "a scene starts on any of its tiles; remove person"),
        ("push_to = [3, 3]", 'push_to needs needs_field_moves = ["strength"]'),
        ("push_to = [3, 3], facing = 'up'", "push_to is the destination; remove facing"),
        ("push_to = [3, 3], choices = [{ person = 3 }]", "push_to is one tile; remove choices"),
        ("person = 3, by = { address = 0xD964 }", "by and cases go together"),
        ("person = 3, cases = [{ value = 1, facing = 'up' }]", "by and cases go together"),
        (f"person = 3, {BY}, cases = [{{ value = 1 }}]", "cases.0: a: it changes nothing"),
        (f"person = 3, {BY}, cases = [{{ value = 1, x = 3 }}]", "cases.0: a: x and y go together"),
        (f"person = 3, {BY}, cases = [{{ value = 300, x = 3, y = 3 }}]", "cases.0.value"),
        (f"scene = 3, {BY}, cases = [{{ value = 1, facing = 'up' }}]", "cases.0: a: facing is for a person"),
        (f"{BY}, cases = [{{ value = 1, facing = 'up' }}]", "cases.0: a: facing is for a person"),
        (
            f"person = 3, {BY}, cases = [{{ value = 1, facing = 'up' }}, {{ value = 1, facing = 'down' }}]",
            "value 1 is listed twice",
        ),
        (
            f"person = 3, {BY}, cases = [{{ value = 1, facing = 'up' }}], choices = [{{ person = 3 }}]",
            "there are cases already",
        ),
        ("person = 3, by = {}, cases = [{ value = 1, facing = 'up' }]", "give either field or address"),
        ("person = 3, by = { field = 'wMony' }, cases = [{ value = 1, facing = 'up' }]", "did you mean wMoney"),
        ("person = 3, by = { field = 'wMoney' }, cases = [{ value = 1, facing = 'up' }]", "wMoney has 3 bytes"),
        ("x = 3, y = 3, choices = [{ x = 1, y = 1, person = 2 }]", "choices.0: a: give either a person or x and y"),
        ("x = 3, y = 3, choices = [{ value = 3 }]", "choices.0.value"),
    ],
)  # fmt: skip
def test_keys_that_mean_nothing_together_are_refused(
    quillwood: GameProfile, tmp_path: Path, target: str, says: str
) -> None:
    with pytest.raises(EnvironmentSetupError) as caught:
        load(tmp_path, quillwood, f"{MILESTONE}target = {{ map = [1, 4], {target} }}\n")
    assert says in str(caught.value)
    assert "milestones.toml: milestone.0.target" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{MILESTONE}over_with = ['b']\n", "milestone.0.over_with"),
        (f"{MILESTONE}gives_hour = 3\n", "milestone.0.gives_hour"),
        (f"{MILESTONE}{ERRAND}over_with = ['z']\n", "b.over_with: there is no goal z"),
        (f"{MILESTONE}{ERRAND}over_with = ['b']\n", "b.over_with: it cannot end itself"),
        (f"{MILESTONE}{ERRAND}gives_hour = 24\n", "errand.0.gives_hour"),
        (f"{MILESTONE}{ERRAND}gives_hour = 20\n", "errand.0.gives_hour: b: it needs a target to go to"),
        (f"{MILESTONE}catch = [250]\n", "milestone.0.catch: a: there is no species 250"),
        (
            f"{MILESTONE}foes = [[1, 1], [1, 1, 99999]]\n",
            "milestone.0.foes.1: a: there is no event 99999; flags are 0 to",
        ),
        (f"{MILESTONE}target = {{ map = [99, 256] }}\n", "milestone.0.target.map.1"),
        (f"{MILESTONE}foes = [[1, 1, 2048]]\n", "milestone.0.foes.0: a: there is no event 2048"),
        (f"{MILESTONE}foes = [[1, 1, -7]]\n", "milestone.0.foes.0: a: there is no event -7"),
        (f"{MILESTONE}supplies = [[250, 1]]\n", "milestone.0.supplies: a: there is no item 250"),
        (f"{MILESTONE}supplies = [[1, 2], [3, 1], [1, 5]]\n", "milestone.0.supplies: a: item 1 is listed twice"),
        (f"{MILESTONE}needs_badges = [15]\n", "a.needs_badges: no goal gives badge 15"),
        (
            f"{MILESTONE}needs_badges = [2]\n[[milestone]]\nkey = 'z'\nname = 'Z'\n"
            "evidence_all = [{ kind = 'bit', field = 'wJohtoBadges', bit = 2 }]\n",
            "a: it needs itself: a -> z -> a",
        ),
        (ERRAND, "milestone: there is none"),
        ("[[locked_rooms]]\nenter = [1, 2]\nrooms = [[1, 3]]\n", "milestone: there is none"),
        (
            f"{MILESTONE.replace(EVIDENCE, HERE)}[[locked_rooms]]\nenter = [1, 2]\nrooms = [[1, 3]]\n",
            "locked_rooms.0.rooms: the game begins in",
        ),
        (f"{MILESTONE}supplies = [[1, 0]]\n", "milestone.0.supplies"),
        (
            f"{MILESTONE}[[locked_rooms]]\nenter = [9, 9]\nrooms = [[1, 3]]\n",
            "locked_rooms.0.enter: there is no map 9.9",
        ),
        (f"{MILESTONE}[[locked_rooms]]\nenter = [1, 2]\nrooms = [[9, 9]]\n", "locked_rooms.0.rooms: there is no map"),
        (f"{MILESTONE}[[locked_rooms]]\nenter = [1, 2]\nrooms = []\n", "locked_rooms.0.rooms"),
        (f"{MILESTONE}[[locked_rooms]]\nenter = [1, 3]\nrooms = [[1, 3]]\n", "is listed twice"),
    ],
)
def test_mistakes_of_errands_and_rooms_name_their_key(
    quillwood: GameProfile, tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(EnvironmentSetupError) as caught:
        load(tmp_path, quillwood, text)
    assert says in str(caught.value)
    assert "milestones.toml" in str(caught.value)

"""Command `pkmn world`: lists, maps and routes in the terminal, as JSON and as pictures; and its error messages."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from support.variants import long_after

from pkmn_pyboy.profile.model import GameProfile
from pkmncli import cli

Capture = pytest.CaptureFixture[str]


def told(capsys: Capture, *arguments: str, code: int = 0) -> str:
    """Return what the command prints to the right stream."""
    assert cli.run(["world", *arguments]) == code
    out, err = capsys.readouterr()
    assert (err == "") is (code == 0)
    return out if code == 0 else err


def values(capsys: Capture, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told(capsys, *arguments, "--json"))
    return found


def test_all_maps_are_listed(capsys: Capture) -> None:
    page = told(capsys)
    assert "2.1  Fern Trail" in page
    assert "40 x 16  route   north, east" in page
    found = values(capsys)
    assert len(found["maps"]) >= 20
    assert found["left_out"] == []
    assert next(one for one in found["maps"] if one["name"] == "Alderbrook")["exits"] == "3 doors, west"


def test_a_map_is_drawn_with_what_is_on_it(capsys: Capture) -> None:
    page = told(capsys, "alderbrook")
    lines = page.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(" 0 "))
    assert [len(line) for line in lines[first : first + 18]] == [23] * 18
    assert lines[first + 4][3 + 4] == "D"
    assert "west edge, (0,8) to (0,9), to Fern Trail" in page
    assert "D door or stairs" in page
    found = values(capsys, "Alderbrook")
    assert found["rows"] == [line[3:] for line in lines[first : first + 18]]
    assert {"by": "door", "tiles": [[4, 4]], "map": "1.2", "arrives": [4, 7], "to": "Home 1F"} in found["exits"]


def test_trainers_shops_and_wild_pokemon_are_told(capsys: Capture) -> None:
    wood = told(capsys, "2.3")
    assert "SCOUT LARK, sees 4 tiles down, QUILLET 6 MOTHLY 6" in wood
    assert "TONIC, gone with ITEM_WOOD_1" in wood
    assert "grass, any time, about one in 10 steps: SPOREEP 30% at 5" in wood
    assert "shop clerk, sells CAPSULE 200, SALVE 150" in told(capsys, "alder", "--game", "quillwood") + told(
        capsys, "rest house"
    )


def test_a_way_is_told_leg_by_leg(capsys: Capture) -> None:
    page = told(capsys, "home 2f:3,3", "fern")
    assert "Home 2F (3,3) to Fern Trail: 29 steps over 4 maps" in page
    assert "through (5,7), press down, to Alderbrook" in page
    found = values(capsys, "home 2f:3,3", "fern trail:20,6")
    assert found["walkable"] is True
    assert found["legs"][-1]["tiles"][-1] == [20, 6]
    assert [leg["name"] for leg in found["legs"]] == ["Home 2F", "Home 1F", "Alderbrook", "Fern Trail"]
    assert found["steps"] == sum(len(leg["tiles"]) for leg in found["legs"]) - 1


@pytest.mark.long
def test_field_moves_and_badges_decide(capsys: Capture) -> None:
    arguments = ("home 2f:3,3", "summit house")
    assert values(capsys, *arguments)["walkable"] is True
    without = values(capsys, *arguments, "--with", "none")
    assert without["walkable"] is False
    assert [one["kind"] for one in without["obstacles"] if one["missing"]][:2] == ["cut", "surf"]
    assert "which needs surf" in told(capsys, *arguments, "--with", "cut")
    assert values(capsys, *arguments, "--badges", "1")["with"] == [
        "cut",
        "flash",
        "rock_smash",
        "waterfall",
        "whirlpool",
    ]
    assert {"cut", "surf"} <= set(values(capsys, *arguments, "--badges", "thorn,tide")["with"])
    assert values(capsys, *arguments, "--badges", "thorn,tide,cairn")["walkable"] is True


def test_the_nearest_of_a_kind_and_the_maps_of_a_way(capsys: Capture) -> None:
    page = told(capsys, "alderbrook:5,8", "healer", "--maps")
    assert "to (3,3), facing up" in page
    assert "2. Rest House" in page
    assert "@ start" in page
    assert "X goal" in page


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["alderbrok"], 2, "did you mean Alderbrook?"),
        (["cairn"], 2, "Cairn Rest House (5.2), Cairn Shop (5.3), Cairn Hall (5.4)"),
        (["9.9"], 2, "there is no map 9.9"),
        (["..."], 2, "name a map"),
        (["zzzzqq"], 2, "see: pkmn world"),
        (["fern trail:99,0", "alderbrook"], 2, "99,0 is outside"),
        (["fern trail:0,0", "alderbrook"], 2, "is a wall"),
        (["fern trail:5,0"], 2, "add the destination of the route"),
        (["fern", "alderbrook", "--with", "karate"], 2, "not a field move"),
        (["fern", "alderbrook", "--badges", "gold"], 2, "no badge is called 'gold'"),
        (["fern", "--picture", "map.txt"], 2, "ends in .png"),
        (["--picture", "map.png"], 2, "name a map"),
        (["--check", "Home 2F"], 2, "leave out MAP"),
        (["--check", "fern", "alderbrook", "--maps"], 2, "leave out MAP, TO, --maps"),
        (["--check", "--events", "3", "--with", "cut", "--badges", "1"], 2, "leave out --with, --badges, --events"),
        (["--check", "--picture", "map.png"], 2, "leave out --picture"),
        (["fern", "--events", "none,738"], 2, "either none or flags"),
        (["fern", "--rom", "none.gbc"], 3, "none.gbc"),
        (["fern", "--game", "crystal"], 3, "your own cartridge image"),
    ],
)
def test_mistakes_are_answered_in_one_line(
    arguments: list[str], code: int, words: str, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = told(capsys, *arguments, code=code)
    assert words in answer
    assert len(answer.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_pictures_show_walls_and_the_way(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "new" / "map.png"
    page = told(capsys, "alderbrook", "--picture", str(path))
    picture = Image.open(path)
    assert f"Drawn to {path}, {picture.width} x {picture.height} pixels." in page
    colours = {colour for _, colour in picture.convert("RGB").getcolors(1 << 20) or []}  # type: ignore[misc]
    assert {(94, 98, 106), (120, 176, 224), (200, 88, 60)} <= colours
    assert (214, 40, 40) not in colours, "there is no way on it"
    way = tmp_path / "way.png"
    told(capsys, "home 2f:3,3", "summit", "--picture", str(way))
    found = Image.open(way)
    assert (214, 40, 40) in {colour for _, colour in found.convert("RGB").getcolors(1 << 20) or []}  # type: ignore[misc]
    assert found.width <= 1700


def test_a_narrow_terminal_gets_paragraphs(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pkmn_pyboy.world_command.command.terminal_columns", lambda: 50)
    page = told(capsys)
    assert "2.1 Fern Trail\n  40 x 16, route, north, east, wild: grass" in page
    assert all(len(line) <= 50 for line in told(capsys, "alderbrook", "healer").splitlines())


@pytest.mark.long
def test_it_starts_without_the_emulator() -> None:
    code = (
        "from pkmncli import cli; import sys; cli.run(['world', 'fern']); print({'pyboy', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "set()"


def test_a_map_wider_than_the_terminal_is_shown_in_pieces(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = values(capsys, "fern")["rows"]
    monkeypatch.setattr("pkmn_pyboy.world_command.command.terminal_columns", lambda: 30)
    page = told(capsys, "fern").splitlines()
    assert all(len(line) <= 30 for line in page)
    starts = [number for number, line in enumerate(page) if line.startswith("Columns ")]
    pieces = [[line[3:] for line in page[start + 2 : start + 18]] for start in starts]
    assert ["".join(row) for row in zip(*pieces, strict=True)] == whole


def profile_with_stairs(folder: Path, quillwood: GameProfile) -> Path:
    """Return the bundled game with a story that claims to make floor of the first corner of its trail."""
    shutil.copytree(quillwood.folder, folder / "mine", ignore=shutil.ignore_patterns("src", "data", "gfx", "tools"))
    world = folder / "mine/world.toml"
    added = "\n[[changed]]\nmap = [2, 1]\nwith = [{ event = 10, blocks = [{ x = 0, y = 0, block = 3 }] }]\n"
    world.write_text(world.read_text(encoding="utf-8") + added, encoding="utf-8")
    return folder / "mine"


@pytest.mark.long
def test_a_map_is_shown_as_the_story_has_changed_it(capsys: Capture, tmp_path: Path, quillwood: GameProfile) -> None:
    mine = str(profile_with_stairs(tmp_path, quillwood))
    first = values(capsys, "fern", "--game", mine)
    assert first["changed"] == [{"with": "GOT_STARTER", "tiles": [[0, 0]]}]
    assert "with GOT_STARTER: (0,0)" in told(capsys, "fern", "--game", mine)
    later = values(capsys, "fern", "--game", mine, "--events", "got_starter")
    assert later["rows"][:2] != first["rows"][:2]
    assert later["rows"][2:] == first["rows"][2:]
    assert values(capsys, "fern", "--game", mine, "--events", "10")["rows"] == later["rows"]
    assert values(capsys, "fern", "--game", mine, "--events", "none")["rows"] == first["rows"]
    pictures = [tmp_path / "first.png", tmp_path / "later.png"]
    told(capsys, "fern", "--game", mine, "--picture", str(pictures[0]))
    told(capsys, "fern", "--game", mine, "--picture", str(pictures[1]), "--events", "got_starter")
    assert pictures[0].read_bytes() != pictures[1].read_bytes()


def test_people_are_gone_with_the_flags_that_are_set(capsys: Capture) -> None:
    arguments = ("hollow cave:18,4", "hollow cave:18,2")
    assert values(capsys, *arguments, "--events", "none")["walkable"] is False
    assert values(capsys, *arguments, "--events", "gate_open")["walkable"] is True


@pytest.mark.parametrize(
    ("events", "message"),
    long_after(1, [("gate_opn", "did you mean GATE_OPEN?"), ("9999", "use a name of the profile, or 0 to")]),
)
def test_a_flag_that_there_is_not_is_refused(capsys: Capture, events: str, message: str) -> None:
    assert message in " ".join(told(capsys, "fern", "--events", events, code=2).split())


@pytest.mark.long
def test_the_check_tells_the_way_to_each_goal(capsys: Capture) -> None:
    found = values(capsys, "--check")
    assert found["problems"] == []
    roads = {road["key"]: road for road in found["roads"]}
    assert len(roads) == found["goals"]
    assert roads["outside"]["maps"] == ["1.3", "1.2", "1.1"][: len(roads["outside"]["maps"])]
    assert roads["glade_reached"]["steps"] > 50
    assert any(note.startswith("cut: ") for note in roads["shear_taught"]["notes"])
    page = told(capsys, "--check")
    assert "glade_reached" in page
    assert "to Quill Glade" in page
    assert f"{found['goals']} of {found['goals']} milestones and errands of Quillwood can be reached." in page


@pytest.mark.long
def test_a_story_with_something_wrong_ends_with_the_code_of_a_profile(
    capsys: Capture, tmp_path: Path, quillwood: GameProfile
) -> None:
    mine = profile_with_stairs(tmp_path, quillwood)
    world = mine / "world.toml"
    world.write_text(world.read_text(encoding="utf-8").replace("block = 3 }", "block = 255 }"), encoding="utf-8")
    assert cli.run(["world", "--check", "--game", str(mine)]) == 3
    page = capsys.readouterr().out
    assert "block 255 at (0,0): the tileset of Fern Trail has" in page
    assert cli.run(["world", "--check", "--json", "--game", str(mine)]) == 3
    found = json.loads(capsys.readouterr().out)
    assert f"{found['goals']} of {found['goals']} milestones" in page, "the block is no goal"
    assert [one["key"] for one in found["problems"]] == ["changed 2.1"]

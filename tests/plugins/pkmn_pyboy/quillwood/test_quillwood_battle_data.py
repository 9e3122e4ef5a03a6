"""The data of battles: ailments that are really met, a chart with a place for each type, hints that tell the truth."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator

import pytest
from support.battle_bench import data

from pkmn_pyboy.profile.loading import GAMES_FOLDER

FOLDER = GAMES_FOLDER / "quillwood"
MAPS = {path.stem: tomllib.loads(path.read_text()) for path in sorted((FOLDER / "data/maps").glob("*.toml"))}
AILMENTS = {"sleep": (1,), "poison": (2, 66), "paralysis": (6, 67)}
LEADERS = {"thorn_badge": "FENNA", "tide_badge": "MERROW", "cairn_badge": "CAIRNE"}
TYPES = {name for _, name in data("creatures")["types"]}
MOVES = {row[0]: row for row in data("creatures")["moves"]}
SPECIES = {row["name"]: row for row in data("creatures")["species"]}
TRAINERS = {
    row[0]: [tuple(member) for member in row[1:]] for group in data("trainers")["class"] for row in group["trainers"]
}


def moves_of(level: int, name: str) -> list[str]:
    """The last four moves that a species knows at a level."""
    known: list[str] = []
    for at, move in SPECIES[name]["moves"]:
        if at <= level and move not in known:
            known.append(move)
    return known[-4:]


def inflicts(level: int, name: str, ailment: str) -> bool:
    return any(MOVES[move][1] in AILMENTS[ailment] for move in moves_of(level, name))


def trainers_met() -> Iterator[str]:
    """The trainers whom some map's script lets fight."""
    groups = {group["name"]: group["trainers"] for group in data("trainers")["class"]}
    for here in MAPS.values():
        for script in here.get("scripts", {}).values():
            for group, number in re.findall(r"(?m)^battle (\w+) (\d+)", script):
                yield groups[group][int(number) - 1][0]


@pytest.mark.parametrize("ailment", AILMENTS)
def test_each_ailment_is_met_in_the_grass_and_from_trainers(ailment: str) -> None:
    trainers = {name for name in trainers_met() if any(inflicts(*member, ailment) for member in TRAINERS[name])}
    grass = {
        name
        for name, here in MAPS.items()
        if any(inflicts(*slot, ailment) for slot in here.get("wild", {}).get("slots", []))
    }
    assert len(trainers) >= 1, trainers
    assert len(grass) >= 2, grass


@pytest.mark.parametrize(("leader", "ailment"), [("FENNA", "sleep"), ("MERROW", "poison")])
def test_leaders_do_what_is_said_of_them(leader: str, ailment: str) -> None:
    assert any(inflicts(*member, ailment) for member in TRAINERS[leader])


def test_every_ailments_cure_is_sold_or_given_before_the_second_hall() -> None:
    sold = {thing for name in ("alderbrook", "marrowmere") for thing in data("items")["shops"][name]}
    assert {"ANTIVENOM", "WAKE HERB", "LOOSENER"} <= sold
    assert "giveitem WAKE_HERB 1" in MAPS["thorn_lodge"]["scripts"]["moss"], "before FENNA"


@pytest.mark.parametrize("milestone", LEADERS)
def test_hints_tell_the_leaders_levels_and_types(milestone: str) -> None:
    rows = tomllib.loads((FOLDER / "milestones.toml").read_text())["milestone"]
    hint = next(row["hint"] for row in rows if row["key"] == milestone)
    members = TRAINERS[LEADERS[milestone]]
    levels = [level for level, _ in members]
    assert f"levels {min(levels)} to {max(levels)}" in hint
    description, advice = hint.rsplit(". ", 1)
    types = [SPECIES[name]["types"] for _, name in members]
    told = {name for name in TYPES if re.search(rf"\b{name.lower()}\b", description)}
    assert told, "the hint names types"
    assert all(set(one) & told for one in types), "each creature has a type that was told"
    chart = {(attacker, defender): factor for attacker, defender, factor in data("creatures")["chart"]}
    good = {name for name in TYPES if re.search(rf"\b{name.lower()}\b", advice.lower())}
    assert good
    for attacker in good:
        shares = []
        for one in types:
            share = 1.0
            for defender in set(one):
                share *= chart.get((attacker, defender), 10) / 10
            shares.append(share)
        assert sum(shares) > len(shares), f"{attacker} does well"


def test_the_guide_tells_the_leaders_levels() -> None:
    guide = (FOLDER.parents[3] / "docs/quillwood.md").read_text()
    for leader in LEADERS.values():
        levels = [level for level, _ in TRAINERS[leader]]
        assert f"{leader.title()}, levels {min(levels)} to {max(levels)}" in guide


@pytest.mark.parametrize(
    ("partner", "leader", "helper", "here"),
    [
        ("BRAMBIT", "FENNA", "FINCHIP", "fern_trail"),
        ("RILLET", "MERROW", "LUMEWISP", "tangle_wood"),
        ("KINDLYNX", "CAIRNE", "DRIPNEWT", "marrowmere"),
    ],
)
def test_each_partner_has_a_hall_where_a_caught_creature_does_better(
    partner: str, leader: str, helper: str, here: str
) -> None:
    chart = {(attacker, defender): factor / 10 for attacker, defender, factor in data("creatures")["chart"]}

    def works(kind: str) -> float:
        """What a type does to the leader's creatures on average."""
        shares = [
            math.prod(chart.get((kind, t), 1.0) for t in set(SPECIES[name]["types"])) for _, name in TRAINERS[leader]
        ]
        return sum(shares) / len(shares)

    level = next(level for level, name in MAPS[here]["wild"]["slots"] if name == helper)
    best = max(works(MOVES[move][3]) for move in moves_of(level + 4, helper) if MOVES[move][2])
    assert works(SPECIES[partner]["types"][0]) < 1 < best


def test_who_fights_whom() -> None:
    assert all(len(TRAINERS[name]) >= 3 for name in LEADERS.values())
    assert max(map(len, TRAINERS.values())) >= 4
    assert sorted(trainers_met()) == sorted(TRAINERS), "each trainer stands somewhere, once"


def test_the_chart_has_a_place_for_every_type() -> None:
    chart = data("creatures")["chart"]
    assert len({(attacker, defender) for attacker, defender, _ in chart}) == len(chart)
    assert sum(factor == 0 for *_, factor in chart) >= 2
    for name in TYPES - {"NORMAL"}:
        assert any(attacker == name and factor == 20 for attacker, _, factor in chart), f"{name} is strong somewhere"
        assert any(defender == name and factor == 20 for _, defender, factor in chart), f"{name} is weak somewhere"


def test_every_move_is_known_by_somebody_and_changes_are_into_what_is_there() -> None:
    known = {move for row in SPECIES.values() for _, move in row["moves"]}
    taught = {lesson for row in SPECIES.values() for lesson in row.get("lessons", [])}
    assert set(MOVES) == known | taught
    for row in SPECIES.values():
        assert "evolves" not in row or row["evolves"][1] in SPECIES


def widest(line: str, sizes: dict[str, int]) -> int:
    """Letters of a line whose names are as long as they come."""
    return len(re.sub(r"\{(\w+)\}", lambda found: "x" * sizes[found.group(1)], line))


def test_words_fit_the_box() -> None:
    sizes = {"mon": 10, "foe": 10, "move": 12, "num": 5, "word": 12, "who": 14, "trainer": 15, "player": 7}
    sizes |= {"name": 10, "stat": 8, "kind": 10, "lesson": 5, "rival": 7}
    for name, words in data("text").items():
        for page in words.split("//"):
            for line in page.split("/") if "/" in page else ():
                assert widest(line, sizes) <= 18, f"{name}: {line}"

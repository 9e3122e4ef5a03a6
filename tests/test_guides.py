"""The guides can be followed: their Python runs, and the files and names in them exist.

Their command lines are tried in ``tests/pkmncli/test_guide_commands.py``.
"""

from __future__ import annotations

import importlib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import pkmncli
from pkmn_pyboy.environment import make_environment
from pkmn_pyboy.goal_view.local_map import PLANES
from pkmn_pyboy.goal_view.table import GOAL_NUMBERS
from pkmn_pyboy.profile.loading import GAMES_FOLDER, load_profile
from pkmn_pyboy.state.game_state import PHASE_NAMES, Party, Phase
from pkmn_pyboy.state.mask_rules import MASK_RULES, allowed_actions
from pkmn_pyboy.state.variables import STATE_VARIABLES
from pkmncli import cli, errors
from pkmncli.api import Action
from pkmncli.command_table import build_command
from pkmncli.config import MAY_CHANGE, TrainSettings
from pkmncli.config.curriculum_settings import CurriculumSettings, Stage
from pkmncli.outgoing_text import secrets_of
from pkmncli.plugins import get_registry
from pkmncli.training.recording.counters import TrainingStatistics

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
GENERATED = re.compile(r"<!-- begin: .*?<!-- end -->", re.DOTALL)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
PACKAGES = (
    *("pkmncli", "pkmn_pyboy", "pkmn_dqn", "pkmn_ppo", "pkmn_decisions"),
    *("pkmn_ollama", "pkmn_openai", "pkmn_anthropic", "pkmn_local", "pkmn_strategies"),
    *("pkmn_tensorboard", "pkmn_wandb", "pkmn_gymnasium"),
)
EPISODE_STEPS = 40
OF_A_WRITTEN_PACKAGE = "from pkmn_coin_hunt import plugin"
"""Python that needs what ``pkmn plugins new`` writes; ``tests/pkmncli/test_new_plugin.py`` runs that."""
TAKE_LONG = {"balatro.md", "learners.md", "multimodel.md", "training.md"}
"""Guides whose Python trains."""


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder in which a reader tries things: one short training has been done there."""
    folder = tmp_path_factory.mktemp("guides")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        options = f"--steps 1000 --save-interval 800 --max-steps-per-episode {EPISODE_STEPS} --quiet --run-name guide"
        assert cli.run(["train", *options.split(), "--set", "dqn.learning_starts=200"]) == 0
        yield folder


def text_of(page: Path) -> str:
    """A page without what `make docs` writes into it."""
    return GENERATED.sub("", page.read_text(encoding="utf-8"))


def blocks(page: Path, language: str) -> list[str]:
    return [found[2] for found in BLOCK.finditer(text_of(page)) if found[1] == language]


def rows(page: Path, first_heading: str) -> list[list[str]]:
    """The cells of a table's rows, found by the heading of its first column."""
    lines = page.read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {first_heading} |"))
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def named(cell: str) -> list[str]:
    return CODE.findall(cell)


# Python and other blocks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.long] if page.name in TAKE_LONG else [])
        for page in PAGES
        if blocks(page, "python")
    ],
)
def test_python_runs(page: Path, workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page's blocks run one after the other, as a reader would paste them."""
    if page.name == "environments.md":  # its runs are of other environments than those that later pages read
        monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    for number, block in enumerate(blocks(page, "python")):
        exec(compile(block, f"{page.name}, block {number}", "exec"), namespace)
    if page.name == "training.md":
        assert namespace["rows"]


def options_of(command: Any) -> set[str]:
    """Every name of every option of a command."""
    return {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_of_other_languages_are_what_they_say(page: Path) -> None:
    """Each Python block is marked as one, so that it runs; TOML and JSON can be read."""
    found = [(kind, block) for kind, block in re.findall(BLOCK, text_of(page)) if kind != "python"]
    assert {kind for kind, _ in found} <= {"", "text", "sh", "toml", "json", "mermaid"}
    for kind, block in found:
        if kind == "toml":
            tomllib.loads(block)
        elif kind == "json":
            json.loads(block)
        elif OF_A_WRITTEN_PACKAGE not in block:
            assert not re.search(r"^(from [\w.]+ import |import [\w.]+$)", block, re.MULTILINE), block


# Files and names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_files_exist(page: Path) -> None:
    for code in CODE.findall(BLOCK.sub("", text_of(page))):
        if re.fullmatch(r"(docs|examples|plugins|tests|benchmarks|pkmncli)/[\w./-]+", code):
            assert (ROOT / code).exists(), f"{page.name} names {code}"
        elif re.fullmatch(r"\w+/[\w/]+\.py", code):
            assert list(ROOT.glob(f"plugins/*/{code}")), f"{page.name} names {code}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_objects_exist(page: Path) -> None:
    for code in CODE.findall(BLOCK.sub("", text_of(page))):
        name = code.removesuffix("()")
        if re.fullmatch(rf"({'|'.join(PACKAGES)})(\.\w+)+", name):
            assert importable(name), f"{page.name} names {code}"


def importable(name: str) -> bool:
    parent, _, last = name.rpartition(".")
    try:
        importlib.import_module(name)
    except ImportError:
        return bool(parent) and hasattr(importlib.import_module(parent), last)
    return True


def test_every_guide_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    guides = {page.name for page in DOCS.glob("*.md")} - {"README.md"}
    assert guides == set(re.findall(r"\(([\w-]+\.md)\)", index))


# environment.md and games.md --------------------------------------------------------------------------------------


def test_state_variables_are_as_the_code_has_them() -> None:
    expected = [
        [str(index), f"`{one.name}`", one.unit, f"{one.scale:g}", one.meaning]
        for index, one in enumerate(STATE_VARIABLES)
    ]
    assert rows(DOCS / "environment.md", "index") == expected


def test_numbers_of_goals_are_as_the_code_has_them() -> None:
    table = rows(DOCS / "environment.md", "numbers")
    assert [name for _, names, _ in table for name in named(names)] == [number.name for number in GOAL_NUMBERS]
    places = [[int(place) for place in numbers.split(" to ")] for numbers, _, _ in table]
    first = 0
    for ends, (_, names, meaning) in zip(places, table, strict=True):
        assert (ends[0], ends[-1]) == (first, first + len(named(names)) - 1)
        assert meaning
        first = ends[-1] + 1


def test_planes_of_the_map_are_as_the_code_has_them() -> None:
    expected = [[str(bit), f"`{name}`", meaning] for bit, (name, meaning) in enumerate(PLANES)]
    assert rows(DOCS / "environment.md", "bit") == expected


def test_phases_are_as_the_code_has_them() -> None:
    table = rows(DOCS / "environment.md", "phase")
    assert [(named(name)[0], int(number)) for name, number, _ in table] == [
        (name, number) for number, name in enumerate(PHASE_NAMES)
    ]
    short = {"A": Action.A, "B": Action.B, "up": Action.UP, "down": Action.DOWN}
    environment = make_environment()
    environment.close()
    menu = environment.state.menu._replace(columns=1, cursor_shown=False, full_screen=False)
    strict = environment.state._replace(map_group=1, party=Party(), message_box=True, menu=menu)
    for (_, _, text), phase in zip(table, Phase, strict=True):
        words = set(re.findall(r"\w+", text.split(";")[0]))
        actions = allowed_actions(strict._replace(phase=phase)) - {Action.NONE}
        if "same" not in words:
            allowed = {short[word] for word in words & short.keys()}
            allowed |= {Action.UP, Action.DOWN, Action.LEFT, Action.RIGHT} if "directions" in words else set()
            assert allowed == actions, phase.name


def test_mask_rules_are_as_the_code_has_them() -> None:
    table = [(named(name)[0], forbids, why) for name, forbids, why in rows(DOCS / "environment.md", "rule")]
    assert table == [(rule.name, rule.summary, rule.why) for rule in MASK_RULES]


def test_rewards_are_as_the_code_has_them() -> None:
    """Every built-in reward has its row with the names of its parts, and the table of its settings."""
    page = DOCS / "rewards.md"
    table = {named(reward)[0]: tuple(named(parts)) for reward, _, parts in rows(page, "reward")}
    registered = [entry for entry in get_registry().registrations("rewards") if entry.distribution == "pkmncli"]
    assert table == {entry.name: entry.load().PARTS for entry in registered}
    for name in table:
        assert f"<!-- begin: settings {name} -->" in page.read_text(encoding="utf-8")


def test_info_is_described() -> None:
    environment = make_environment()
    _, info = environment.reset(seed=0)
    environment.close()
    text = text_of(DOCS / "environment.md").split("## Info")[1].split("## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) == list(info)


def test_editions_are_those_of_the_profile() -> None:
    known = [(rom.name, rom.sha1) for rom in load_profile(GAMES_FOLDER / "crystal").roms]
    assert [(name, named(sha1)[0]) for name, sha1 in rows(DOCS / "games.md", "edition")] == known


def test_the_example_of_a_profile_plays(tmp_path: Path) -> None:
    for block in blocks(DOCS / "games.md", "toml"):
        name = block.splitlines()[0].removeprefix("# ")
        (tmp_path / name).write_text(block, encoding="utf-8")
    assert len(list(tmp_path.iterdir())) == 4
    environment = make_environment(game_folder=tmp_path, rom_path=GAMES_FOLDER / "quillwood" / "quillwood.gbc")
    try:
        environment.reset(seed=0)
        assert environment.state.phase.name == "FREE"
        assert environment.context().context_summary.startswith("Bedroom, tile (")
        before = (environment.state.x, environment.state.y)
        for action in (Action.LEFT, Action.RIGHT, Action.RIGHT, Action.UP):
            environment.step(action)
        assert (environment.state.x, environment.state.y) != before
    finally:
        environment.close()


# language-models.md -------------------------------------------------------------------------------------------------


def test_backends_and_their_variables_are_described() -> None:
    table = rows(DOCS / "language-models.md", "name")
    built_in = [entry for entry in get_registry().registrations("llm_backends") if entry.distribution == "pkmncli"]
    assert sorted(named(cells[0])[0] for cells in table) == sorted(entry.name for entry in built_in)
    extras = {entry.name: entry.extra for entry in built_in}
    for name, _, needs, variables in table:
        assert named(needs) == ([f".[{extras[named(name)[0]]}]"] if extras[named(name)[0]] else [])
        for variable in named(variables):
            if variable.endswith(("_KEY", "_TOKEN")):
                assert secrets_of({variable: "k" * 20}), "its value is blanked out"


# training.md -------------------------------------------------------------------------------------------------------


def test_files_of_a_run_are_described(workplace: Path) -> None:
    described = {name.rstrip("/") for cell, _ in rows(DOCS / "training.md", "file") for name in named(cell)}
    there = {path.name for path in (workplace / "runs" / "guide").iterdir()}
    assert there <= described
    sometimes = {"evaluations", "labels.json", "superseded", "starts", "reports", "live.json", "live.board"}
    assert described - there <= sometimes


def test_metrics_are_described(workplace: Path) -> None:
    described = {name for cell, _ in rows(DOCS / "training.md", "name") for name in named(cell)}
    measured = duckdb.sql("SELECT DISTINCT name FROM read_parquet('runs/guide/metrics/*.parquet')").fetchall()
    names = {name for (name,) in measured}
    rewards = {name for name in names if name.startswith("reward/")}
    splits = {name for name in names if name.startswith("milestone/")}
    examples = {"environment/score", "reward/progress.level", "milestone/starter/step", "milestone/starter/frame"}
    with_a_model = {"strategy/llm_share", "llm/tokens", "llm/cost_usd"}
    with_priorities = {"learner/importance_exponent", "learner/greatest_priority"}
    situations = {name for name in names if name.startswith("hand_over/") and "/walking/" not in name}
    pretraining = {name for name in described if name.startswith("pretraining/")}
    told = described - examples - with_a_model - with_priorities - pretraining
    assert told == names - rewards - splits - situations
    assert "reward/exploration.new_tile" in rewards
    for name in rewards:
        reward, part = name.removeprefix("reward/").split(".")
        assert part in get_registry().get("rewards", reward).load().PARTS


def test_exit_codes_are_described() -> None:
    described = {int(code) for cell, _ in rows(DOCS / "training.md", "code") for code in cell.split(",")}
    defined = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    assert described == defined | {129, 143, 152}


def test_what_may_change_is_described() -> None:
    text = text_of(DOCS / "training.md")
    listed = text.split("Only these may change:")[1].split(";")[0]
    assert sorted(named(listed)) == sorted(MAY_CHANGE)


# differences.md ----------------------------------------------------------------------------------------------------


def train_options() -> set[str]:
    command: Any = build_command()
    context = command.make_context("pkmn", ["train"], resilient_parsing=True)
    _, train, _ = command.resolve_command(context, ["train"])
    return options_of(train)


def test_options_that_work_are_options() -> None:
    assert {named(cell)[0] for cell, _ in rows(DOCS / "differences.md", "option")} <= train_options()


def test_keys_that_work_are_settings() -> None:
    text = text_of(DOCS / "differences.md").split("## Options and keys")[1].split("Of the training summary")[0]
    keys = {name for name in named(text) if re.fullmatch(r"[a-z]+(_[a-z]+)+", name) and not name.endswith(".py")}
    models = (TrainSettings, CurriculumSettings, Stage)
    assert keys and keys <= {key for model in models for key in model.model_fields}


def test_keys_of_the_summary_are_there() -> None:
    text = text_of(DOCS / "differences.md").split("are in `summary.json`:")[1].split(". All keys")[0]
    keys = named(text)
    assert len(keys) == 11
    assert set(keys) <= TrainingStatistics().summary().keys()


def test_what_is_not_there_yet_is_not_there() -> None:
    """A line that has come true has to go."""
    sources = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in (ROOT / "pkmncli", ROOT / "plugins")
        for path in folder.rglob("*.py")
    )
    for what, _ in rows(DOCS / "differences.md", "what"):
        for name in named(what):
            if name.startswith("--"):
                assert name not in train_options()
            else:
                assert not hasattr(pkmncli, name)
                assert not re.search(rf"\b(def|class) {re.escape(name)}\b", sources), name
    kinds = {entry.name for entry in get_registry().registrations("algorithms")}
    assert kinds == {"dqn", "ppo", "a2c"}

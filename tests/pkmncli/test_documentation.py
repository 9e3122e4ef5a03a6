"""The guides say what the code does: every hook, setting, option and file in them is as it is now."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

from pkmncli import api, cli, hookspecs
from pkmncli.config import TrainSettings
from pkmncli.config.core_sections import CORE_SECTIONS
from pkmncli.config.validation import settable_fields
from pkmncli.plugins import get_registry

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CONTRACTS = frozenset({"Environment", "Pilot", "Reward", "Algorithm", "Tracker", "LLMBackend", "Store"})


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_pages_are_as_the_code_is(generator: ModuleType, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = page.read_text(encoding="utf-8")
    assert generator.refreshed(text) == text, f"docs/{page.name} is out of date: run make docs"


def test_every_hook_is_described() -> None:
    guide = (DOCS / "plugins.md").read_text(encoding="utf-8")
    for name, function in vars(hookspecs).items():
        if name.startswith("pkmn_"):
            assert f"| `{name}({', '.join(inspect.signature(function).parameters)})` | " in guide
            assert inspect.getdoc(function)


def test_every_argument_of_register_is_described() -> None:
    guide = (DOCS / "plugins.md").read_text(encoding="utf-8")
    parameters = list(inspect.signature(api.Register.__call__).parameters)[1:]
    assert [name for name in parameters if f"| `{name}` | " not in guide] == []


def test_every_optional_member_is_described() -> None:
    guide = (DOCS / "plugins.md").read_text(encoding="utf-8")
    for name in api.__all__:
        protocol = getattr(api, name)
        if name.startswith("Optional") or any(one.__name__ in CONTRACTS for one in getattr(protocol, "__bases__", ())):
            rows = "".join(re.findall(rf"^\| `pkmncli\.api\.{name}` \| (.*?) \|", guide, re.MULTILINE))
            members = [*protocol.__annotations__, *(one for one in vars(protocol) if not one.startswith("_"))]
            assert [one for one in members if not re.search(rf"`{one}\W", rows)] == [], name


def test_the_list_of_stable_modules_is_what_plugins_import() -> None:
    guide = (DOCS / "plugins.md").read_text(encoding="utf-8")
    section = guide.partition("## What is stable")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\| `(pkmncli[\w.]*)` \|", section, re.MULTILINE))
    learners = section.partition("| `pkmncli.learners` |")[2].partition("\n")[0]
    assert {path.stem for path in (ROOT / "pkmncli" / "learners").glob("[!_]*.py")} == set(
        re.findall(r"`(\w+)`", learners)
    )
    imported = {
        node.module.replace("pkmncli.learners.", "pkmncli.learners/").split("/")[0]
        for folder in ("plugins", "examples")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "pkmncli"
    }
    assert imported <= listed
    assert listed - imported <= {"pkmncli.hookspecs"}, "listed for readers"


def test_every_setting_is_described() -> None:
    page = (DOCS / "settings.md").read_text(encoding="utf-8")
    registry = get_registry()
    models = [
        TrainSettings,
        *CORE_SECTIONS.values(),
        *(registry.settings_section(name).load_config() for name in registry.settings_sections()),
    ]
    for model in filter(None, models):
        for name in settable_fields(model):
            field = model.model_fields[name]
            assert field.description, f"{model.__name__}.{name} has no description"
            assert re.search(rf"^\| `{name}` \|.*\| {re.escape(field.description)} \|$", page, re.MULTILINE), name


@pytest.mark.parametrize(
    "arguments",
    [
        *(["train"], ["eval"], ["replay"], ["plot"], ["compare"], ["experiment"], ["tune"], ["export"], ["bench"]),
        ["plugins"],
        ["analyze-patterns"],
    ],
)
def test_every_option_has_a_help_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*arguments, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    options = [number for number, line in enumerate(lines) if re.match(r"  (-\w, )?--\w", line)]
    assert options
    for number in options:
        beside = re.search(r"\S  +\S", lines[number][2:])
        below = number + 1 < len(lines) and lines[number + 1].startswith("     ")
        assert beside or below, f"pkmn {arguments[0]}: no help for {lines[number].strip()}"


def anchors_of(page: Path) -> set[str]:
    """The names of a page's headings, as links to them are written."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*sorted(DOCS.glob("*.md")), *sorted(ROOT.glob("*.md"))], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", text):
        path = page.parent / target if target else page
        assert path.exists(), f"{page.name} links to {target}"
        if anchor and path.suffix == ".md":
            assert anchor in anchors_of(path), f"{page.name} links to {target}#{anchor}"

"""The command lines of all pages: options and values are right, trainings have valid settings, and quick ones run."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pkmncli.command_table import build_command

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(ROOT.glob("examples/*/README.md")),
    *sorted(ROOT.glob("plugins/**/README.md")),
]
GENERATED = re.compile(r"<!-- begin: .*?<!-- end -->", re.DOTALL)
BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ +)*(pkmn(?: .*|$))", re.DOTALL)
PLACEHOLDER = re.compile(r"[A-Z]+(\.[A-Z]+)?|.*(\.\.\.|…)")
STAND_INS = {"N": "1", "KIND": "reward"}

STOPPED = 77
"""Exit code of a training that would begin now."""

OF_EXAMPLES = ("bandit",)
"""Commands of example packages, whose own tests run them."""

RUNS = ("RUN", "NAME", "first", "second", "guide")
"""Runs that a reader of the pages has."""

NO_TRAINING = {
    r"--llm (NAME|fast)\b": "a name of the reader's",
    r"--preset NAME": "a name of the reader's",
    r"/home/me/": "a place of the reader's",
    r"dqn\.lr=": "a wrong name, whose message the page shows",
    r"\bcoins\b|--rl linear|\bpatches\b|env ID": "a part of an example package or of the reader's",
}
"""Lines with names that are not here, and why."""

QUICK = (
    r"pkmn (--help|--version|.* --help)$",
    r"pkmn (analyze-patterns|compare|doctor --run|export|init|runs|states|world)\b",
    r"pkmn llm (aliases|logs|keys list)\b",
    r"pkmn llm ask .*--prompt-only$",
    r"pkmn (models list|plugins|plugins show \w+|plugins new .*)$",
    r"pkmn (experiment|tune) .*--dry-run$",
)
"""Lines that take a moment and ask no service."""

NOT_RUN = {
    r"--policy|--pretrained|--plot|--picture": "takes long: a test of its own runs it",
    r"hf:": "asks the hub: tests/pkmncli/test_hub.py does",
    r"--llm local": "needs the extra local",
    r"crystal\.gbc|own\.gbc|--rom": "needs an image of the reader's",
    r"old\.db|runs/\w|--checkpoint|--save-dir": "a file or run of the page's story",
    r"--metric|--show advice|--by dqn": "of trainings that got further, differ, or were advised",
    r"RUN RUN|--run RUN --|RUN --run": "needs two runs",
    r"plugins show (?!dqn|battle|ollama)": "of an example package",
    r"KIND|world MAP": "a name of the reader's",
    r"runs prune$|runs prune --older": "asks first",
}
"""Lines among those that are not run here, and why."""


def lines_of(page: Path) -> list[str]:
    """Return the command lines of a page, without those that ``make docs`` writes."""
    text = re.sub(r"\s*\\\n\s*", " ", GENERATED.sub("", page.read_text(encoding="utf-8")))
    # Where output is shown, a command may be followed by two spaces and what it does.
    blocks = [line.strip().partition("  ")[0] for block in BLOCK.findall(text) for line in block.splitlines()]
    cells = [cell for line in re.split(r"\n\n|\n\|", BLOCK.sub("", text)) for cell in re.findall(r"`([^`]+)`", line)]
    inline = [" ".join(cell.split()) for cell in cells]
    single = [part.split(" > ")[0] for line in [*blocks, *inline] for part in line.split(" && ")]
    found = [COMMAND.match(line) for line in single]
    return [shlex.join(shlex.split(one[1], comments=True)) for one in found if one is not None]


def all_lines() -> list[tuple[str, str]]:
    """Return page and command line, each line once."""
    found: dict[str, str] = {}
    for page in PAGES:
        for line in lines_of(page):
            found.setdefault(line, page.relative_to(ROOT).as_posix())
    return sorted((page, line) for line, page in found.items())


def options_of(command: Any) -> dict[str, Any]:
    """Return the options of a command by each of their names."""
    return {name: one for one in command.params for name in (*one.opts, *one.secondary_opts) if name.startswith("-")}


def unfinished(command: Any, tokens: list[str]) -> bool:
    """Return True if a line only names an option that takes a value, without giving one."""
    last = options_of(command).get(tokens[-1]) if tokens else None
    return last is not None and not last.is_flag


def with_values(tokens: list[str]) -> list[str]:
    """Return the tokens with a value in the place of each placeholder for which not every text is one."""
    return [STAND_INS.get(token, token) for token in tokens]


def command_of(line: str) -> tuple[Any, str, list[str]]:
    """Return the command of a line, its name, and the arguments that are left; without a command where one is open."""
    tokens = shlex.split(line)[1:]
    command: Any = build_command()
    name = "pkmn"
    context = command.make_context(name, list(tokens), resilient_parsing=True)
    while tokens and not tokens[0].startswith("-") and hasattr(command, "resolve_command"):
        if PLACEHOLDER.fullmatch(tokens[0]):
            return None, name, tokens
        name = tokens[0]
        _, command, tokens = command.resolve_command(context, tokens)
        if command is None and name in OF_EXAMPLES:
            return None, name, tokens
        assert command is not None, f"no such command: {line}"
        context = command.make_context(name, list(tokens), resilient_parsing=True)
        command = context.command  # of `pkmn play`, that of the environment
    return command, name, [token for token in tokens if token != "--debug"]


def reason_of(line: str, reasons: dict[str, str]) -> str | None:
    """Return the reason why a line is left out, or None."""
    return next((why for pattern, why in reasons.items() if re.search(pattern, line)), None)


LINES = all_lines()
TRAININGS = [line for _, line in LINES if re.match(r"pkmn train( |$)(?!.*--help)", line)]
QUICK_LINES = [line for _, line in LINES if any(re.match(pattern, line) for pattern in QUICK)]


@pytest.mark.parametrize(("page", "line"), LINES, ids=lambda value: value)
def test_command_lines_parse(page: str, line: str) -> None:
    command, name, tokens = command_of(line)
    if command is None:
        return
    options = options_of(command).keys() | {"--help"}
    given = [token.split("=")[0] for token in tokens if token.startswith("--")]
    assert [option for option in given if option not in options] == [], f"{page}: {line}"
    named = not tokens and (hasattr(command, "resolve_command") or any(one.required for one in command.params))
    if {"--help", "--install-completion"}.isdisjoint(tokens) and not unfinished(command, tokens) and not named:
        command.make_context(name, with_values(tokens))


def test_command_lines_are_found() -> None:
    """Of each form: in a block, in a sentence over two lines, after a variable, on two lines of a shell."""
    lines = {line for _, line in LINES}
    assert {
        "pkmn train --resume --steps 1000000",
        "pkmn analyze-patterns runs/doc --show advice --format json",
        "pkmn import hf:USER/NAME",
    } <= lines
    assert any(line.startswith("pkmn train --steps 20000 --envs 2 --llm scripted --llm-wait") for line in lines)
    assert any(line.startswith("pkmn train --env gym:grid_world:GridWorld-v0 --rl none") for line in lines)


@pytest.fixture(scope="module")
def trained(shared_run: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide the folder of a reader, with runs, files of settings and the project's examples."""
    folder = tmp_path_factory.mktemp("reader")
    for name in RUNS:
        shutil.copytree(shared_run(), folder / "runs" / name)
    for name in ("examples", "benchmarks"):
        (folder / name).symlink_to(ROOT / name)
    for name in ("my.toml", "mine.toml", "pkmn.toml", "runs/doc/config.toml", "runs/tune-dqn/best.toml"):
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        about = 'description = "a preset"\n' if name in ("mine.toml", "runs/tune-dqn/best.toml") else ""
        file.write_text(f"{about}[dqn]\ngamma = 0.98\n")
    (folder / "lessons.json").write_text("[]")
    return folder


@pytest.mark.parametrize("line", [line for line in TRAININGS if reason_of(line, NO_TRAINING) is None])
def test_training_lines_have_valid_settings(
    line: str, pkmn: Callable[..., Any], trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, _, tokens = command_of(line)
    if unfinished(command, tokens):
        pytest.skip("names an option in a sentence")

    def stop(*_: Any) -> None:
        raise SystemExit(STOPPED)

    for method in ("start", "go_on"):
        monkeypatch.setattr(f"pkmncli.commands.train.TrainingSession.{method}", stop)
    monkeypatch.chdir(trained)
    result = pkmn("train", *with_values(tokens))
    assert result.code == STOPPED, result.err


@pytest.mark.parametrize("line", [line for line in QUICK_LINES if reason_of(line, NOT_RUN) is None])
def test_quick_lines_run(
    line: str, pkmn: Callable[..., Any], trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, _, tokens = command_of(line)
    if command is None or unfinished(command, tokens):
        pytest.skip("names a part of a command in a sentence")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name in RUNS:
        shutil.copytree(trained / "runs" / name, tmp_path / "runs" / name)
    result = pkmn(*shlex.split(line)[1:])
    assert result.code == 0, result.err
    assert result.out


def test_every_reason_is_needed() -> None:
    """A pattern that leaves no line out is one of a line that is gone."""
    for lines, reasons in ((TRAININGS, NO_TRAINING), (QUICK_LINES, NOT_RUN)):
        for pattern, why in reasons.items():
            assert any(re.search(pattern, line) for line in lines), f"{pattern}: {why}"

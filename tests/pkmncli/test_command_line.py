"""How ``pkmn`` answers: help, typos, errors in one line, exit codes, and what it must not import or print."""

from __future__ import annotations

import errno
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pkmncli import cli, command_table, hookimpl
from pkmncli.config import TrainSettings
from pkmncli.config.core_sections import CORE_SECTIONS
from pkmncli.config.option import Heading, option_of
from pkmncli.core_commands import CORE_COMMANDS
from pkmncli.errors import ConfigurationError, RomError
from pkmncli.plugins import Registry
from pkmncli.testing.plugin_check import HEAVY_MODULES
from pkmncli.version import __version__

RunPkmn = Callable[..., subprocess.CompletedProcess[str]]


class OneCommand:
    """A plugin with a command ``try-it`` that does what a test wants."""

    def __init__(self, action: Callable[[], None]) -> None:
        self.action = action

    @hookimpl
    def pkmn_register_commands(self, register: Callable[..., None]) -> None:
        def try_it() -> None:
            """Do it."""
            self.action()

        register("try-it", try_it, help="Do it.")


def raising(error: BaseException) -> Callable[[], None]:
    def action() -> None:
        raise error

    return action


@pytest.fixture
def try_it(plugin_registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs a command that raises, and returns the exit code."""
    monkeypatch.setenv("PKMN_DEBUG", "0")

    def run(error: BaseException, *options: str) -> int:
        plugin_registry.register_plugin(OneCommand(raising(error)), "mine")
        return cli.run(["try-it", *options])

    return run


def test_an_error_of_the_user_is_its_text_and_its_exit_code(
    try_it: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert try_it(RomError("game.gbc is no cartridge image: give another --rom")) == 3
    assert capsys.readouterr() == ("", "game.gbc is no cartridge image: give another --rom\n")


def test_an_unexpected_error_is_one_line(try_it: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert try_it(ZeroDivisionError("by\nzero")) == 1
    assert capsys.readouterr().err == (
        "unexpected error: ZeroDivisionError: by zero; run again with --debug for the traceback\n"
    )


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), ConfigurationError("wrong")])
def test_debug_shows_the_traceback_wherever_it_stands(
    try_it: Callable[..., int], capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    try_it(error, "--debug")
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_an_interrupt_ends_with_130(try_it: Callable[..., int]) -> None:
    assert try_it(KeyboardInterrupt()) == 130


def test_no_key_is_printed(
    try_it: Callable[..., int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-hidden")
    try_it(ValueError("refused: sk-very-secret and sk-ant-hidden"), "--debug")
    error = capsys.readouterr().err
    assert "refused: <OPENAI_API_KEY> and <ANTHROPIC_API_KEY>" in error
    assert "secret" not in error and "hidden" not in error


@pytest.mark.long
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    script = (
        "import sys; from pkmncli import cli, command_table\n"
        "class App:\n"
        "    def main(self, **_):\n"
        "        for number in range(20_000): print(number)\n"
        "command_table.build_command = App\n"
        "sys.exit(cli.run(['x']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline() == "0\n"
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    process.wait(timeout=30)


def test_wrong_usage_ends_with_2_and_suggests(plugin_registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    plugin_registry.register_plugin(OneCommand(lambda: None), "mine")
    assert cli.run(["trian"]) == 2
    assert "Did you mean 'train'?" in capsys.readouterr().err
    assert cli.run(["try-i"]) == 2
    assert "Did you mean 'try-it'" in capsys.readouterr().err
    assert cli.run(["try-it", "--colour"]) == 2
    assert cli.run(["try-it"]) == 0


def test_help_lists_every_command(plugin_registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    plugin_registry.register_plugin(OneCommand(lambda: None), "mine")
    assert cli.run(["--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for name, line in {**CORE_COMMANDS, "try-it": "Do it."}.items():
        assert f"{name} {line}" in text


def test_a_missing_command_module_is_told(
    plugin_registry: Registry, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(CORE_COMMANDS, "dance", "Dance.")
    assert cli.run(["dance"]) == 2
    assert capsys.readouterr().err == f"this installation of pkmncli {__version__} has no command 'dance'\n"


@pytest.mark.parametrize("name", CORE_COMMANDS)
def test_every_core_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([name, "--help"]) == 0
    assert f"Usage: pkmn {name}" in capsys.readouterr().out


def test_help_of_train_has_its_options_under_headings(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["train", "--help"]) == 0
    sections = re.split(r"^(\S.*):$", capsys.readouterr().out, flags=re.MULTILINE)
    batched = zip(sections[1::2], sections[2::2], strict=True)
    options = {name: re.findall(r"^  (--[\w-]+)", text, re.MULTILINE) for name, text in batched}
    assert [name for name in options if name in list(Heading)] == list(Heading)
    assert "--llm-interval" in options[Heading.LANGUAGE_MODEL] and "--steps" in options[Heading.LENGTH]
    fields = [field for model in (TrainSettings, *CORE_SECTIONS.values()) for field in model.model_fields.values()]
    own = {"--config", "--set", "--no-rl", "--resume"}
    shown = [option for heading in Heading for option in options[heading]]
    assert own < set(shown) and len(shown) == len(own) + sum(option_of(field) is not None for field in fields)


def test_help_of_train_ends_with_examples_that_fit_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["train", "--help"]) == 0
    examples = capsys.readouterr().out.partition("\nExamples:\n")[2].splitlines()
    assert [line.split()[:2] for line in examples[::2]] == [["pkmn", "train"]] * 3
    assert max(map(len, examples)) < 80


def test_help_of_the_page_needs_no_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for name in ("pkmn_dashboard.command", "pkmn_dashboard.serving", "pkmn_dashboard.patient_protocol"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert cli.run(["dashboard", "--help"]) == 0
    assert "--view-only" in capsys.readouterr().out
    assert cli.run(["dashboard"]) == 2
    assert capsys.readouterr().err.endswith("run: pip install 'pkmncli[dashboard]'\n")


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([option]) == 0
    assert capsys.readouterr().out == f"pkmn {__version__}\n"


def test_the_version_imports_next_to_nothing(run_pkmn: RunPkmn) -> None:
    assert imported(run_pkmn, "--version") == {
        "pkmncli",
        "pkmncli.cli",
        "pkmncli.lazy_names",
        "pkmncli.standard_streams",
        "pkmncli.version",
    }


def test_help_imports_nothing_heavy(run_pkmn: RunPkmn) -> None:
    modules = imported(run_pkmn, "--help")
    assert not modules & {*HEAVY_MODULES, "rich", "importlib.metadata", "asyncio"}
    assert {"pkmn_dqn.plugin", "pkmn_pyboy.plugin"} <= modules, "the plugins were not loaded, so this shows nothing"


def imported(run_pkmn: RunPkmn, argument: str) -> set[str]:
    """Modules that a command line imports, those that Python itself starts with left out."""
    code = (
        "import sys; start = set(sys.modules); from pkmncli import cli; cli.run(sys.argv[1:]); "
        "print(); print('modules', *(set(sys.modules) - start))"
    )
    result = run_pkmn(argument, python=("-c", code))
    assert result.returncode == 0, result.stderr
    interesting = ("pkmn", *HEAVY_MODULES, "rich", "importlib.metadata", "asyncio")
    return {name for name in result.stdout.splitlines()[-1].split()[1:] if name.startswith(interesting)}


@pytest.mark.long
def test_it_works_from_any_folder(run_pkmn: RunPkmn, tmp_path: Path) -> None:
    result = run_pkmn("eval")
    assert result.returncode == 5
    assert f"no run yet in {tmp_path}" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EMFILE, "Too many open files"), "too many open files: allow more, as with ulimit -n 1024\n"),
        (
            OSError(errno.EMFILE, "Too many open files", "x.toml"),
            "too many open files: allow more, as with ulimit -n 1024\n",
        ),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "allow more, as with ulimit -u\n"),
        (RuntimeError("can't start new thread"), "allow more, as with ulimit -u\n"),
    ],
)
def test_a_limit_of_the_system_is_one_line(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(command_table, "build_command", fail)
    assert cli.run(["plugins"]) == 1
    found = capsys.readouterr().err
    assert found.endswith(said)
    assert found.count("\n") == 1

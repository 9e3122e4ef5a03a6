"""`pkmn play --env balatro`: a person plays a run, line by line, in a terminal or through a pipe."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError
from rich.console import Console

from pkmn_balatro.environment import BalatroEnvironment
from pkmn_balatro.play.hints import PILOTS, pilot_hint, play_hints
from pkmn_balatro.play.table import SIGNS_AS_LETTERS, deck_table, hands_table, help_table, table
from pkmn_balatro.play.typed_lines import MistakeError, TypedGame, verb_of
from pkmn_balatro.settings import BalatroSettings
from pkmn_balatro.simulator.run import Phase
from pkmn_balatro.states import is_saved_state
from pkmncli.api import expand_home, quoted_path, read_given
from pkmncli.errors import ConfigurationError, EnvironmentSetupError, first_fault

if TYPE_CHECKING:
    from rich.console import RenderableType

_MOST_SEED = 2**31 - 1
_MOST_LETTERS = 1000


def play(
    *,
    seed: Annotated[int | None, typer.Option(min=0, max=_MOST_SEED, help="Seed of the run. [default: any]")] = None,
    deck: Annotated[str, typer.Option(help="Deck of the run, such as red or checkered.")] = "red",
    stake: Annotated[str, typer.Option(help="Stake of the run, from white to gold.")] = "white",
    win_ante: Annotated[int, typer.Option(min=1, max=38, help="Ante whose boss must be beaten to win.")] = 8,
    endless: Annotated[bool, typer.Option("--endless", help="Continue a run that is won, until it is lost.")] = False,
    state: Annotated[Path | None, typer.Option(metavar="FILE", help="Continue with a saved run.")] = None,
    hints: Annotated[bool, typer.Option("--hints", help="Show hints below each table.")] = False,
    pilot: Annotated[str, typer.Option(help="Pilot that gives hints: planning or greedy.")] = "planning",
) -> None:
    """Play a run of Balatro yourself, with typed lines such as 'play 1 3 5'.

    The line 'help' lists what can be written. Input may also come from a pipe, a line at a time.
    """
    if sys.stdin is None:
        raise ConfigurationError("standard input is closed: there is nobody who plays")
    if state is not None and seed is not None:
        raise ConfigurationError("--state and --seed both say where to begin: leave one out")
    try:
        settings = BalatroSettings(deck=deck, stake=stake, win_ante=win_ante, endless=endless)
    except ValidationError as error:
        raise ConfigurationError(f"--{first_fault(error).replace('_', '-')}") from None
    if pilot not in PILOTS:
        raise ConfigurationError(f"--pilot: there is no pilot '{pilot}'; choose from {', '.join(PILOTS)}")
    session = _Session(settings, pilot, hints=hints)
    if state is not None:
        session.load(state)
    else:
        session.begin(seed)
    try:
        session.run()
    finally:
        session.end()


class _Session:
    """A person's game, from the first line to the last."""

    def __init__(self, settings: BalatroSettings, pilot: str, *, hints: bool) -> None:
        self.console = Console(highlight=False)
        self.environment = BalatroEnvironment(settings)
        self.typed = TypedGame(self.environment.game)
        self.pilot, self.hints = pilot, hints
        self.interactive = sys.stdin.isatty()
        if self.interactive:
            with contextlib.suppress(ImportError):  # Windows has its own line editing
                import readline  # noqa: F401, PLC0415 - lets the person edit and repeat lines
        self.unsaved = False
        self.saved: Path | None = None
        self.ending = False
        """True once "not saved" is on the screen."""
        self.others: dict[str, Callable[[str], None]] = {
            "hint": self._hint,
            "deck": lambda _rest: self.print(deck_table(self.typed.game.run)),
            "hands": lambda _rest: self.print(hands_table(self.typed.game.run)),
            "save": lambda rest: self.save(_named(rest, "save")),
            "load": lambda rest: self.load(_named(rest, "load")),
            "new": self._new,
            "help": lambda _rest: self.print(help_table()),
            "quit": lambda _rest: None,
        }
        self.known = {**self.typed.verbs, **dict.fromkeys(self.others, lambda _words: list[str]())}

    def print(self, *parts: RenderableType, style: str | None = None, whole: bool = False) -> None:
        """Print words or parts of a table, with letters in the place of signs where the output has none.

        Args:
            parts: what to print; words are printed as they are.
            style: colour of rich.
            whole: true for lines that are not to be broken.
        """
        with self.console.capture() as printed:
            self.console.print(*parts, style=style, sep="\n", markup=False, soft_wrap=whole)
        text = printed.get()
        try:
            text.encode(self.console.encoding)
        except UnicodeEncodeError:
            text = text.translate(SIGNS_AS_LETTERS)
        self.console.file.write(text)
        self.console.file.flush()

    def begin(self, seed: int | None) -> None:
        """Begin a run: the same as an episode of the environment with this seed."""
        seed = secrets.randbelow(_MOST_SEED) if seed is None else seed
        self.environment.reset(seed=seed)
        self.typed.game = self.environment.game
        self.unsaved = False
        self.print(f"Balatro, seed {seed}. 'help' lists what can be written.")

    def run(self) -> None:
        """Follow lines until the last one."""
        self._show()
        while (line := self._line()) is not None:
            try:
                if line and self._follow(line):
                    return
            except (MistakeError, ConfigurationError, EnvironmentSetupError) as mistake:
                self.print(str(mistake), style="red")

    def end(self) -> None:
        """Say what is left of the run."""
        if self.saved is not None and not self.unsaved:
            self.print(
                f"Saved {self.saved}. Continue with: pkmn play --env balatro --state {quoted_path(self.saved)}",
                whole=True,
            )
        elif self.unsaved:
            self.print("The run was not saved.")

    def save(self, path: Path) -> None:
        """Save the run in a file, as a state from which episodes can begin, too.

        Raises:
            ConfigurationError: the file can't be written, or is another one's.
        """
        path = expand_home(path)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            if path.exists() and not is_saved_state(read_given(path)):
                raise ConfigurationError(f"{path} is no saved run and is not overwritten; name another file")
            temporary.write_bytes(self.environment.save_state())
            temporary.replace(path)
        except OSError as error:
            raise ConfigurationError(f"{path} can't be written: {error.strerror}") from None
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
        self.saved, self.unsaved = path, False
        self.print(f"Saved {path}.")

    def load(self, path: Path) -> None:
        """Continue with a saved run.

        Raises:
            EnvironmentSetupError: the file can't be read, or is no saved run.
        """
        try:
            state = read_given(expand_home(path))
        except OSError as error:
            raise EnvironmentSetupError(f"{path} can't be read: {error.strerror}; check the path") from None
        try:
            self.environment.load_state(state)
        except EnvironmentSetupError as error:
            raise EnvironmentSetupError(f"{path}: {error}") from None
        self.environment.pending = None
        self.typed.game = self.environment.game
        self.saved, self.unsaved = None, False
        self.print(f"Continued from {path}.")

    def _line(self) -> str | None:
        """Return the next line, None after the last one. What comes through a pipe is shown."""
        try:
            line = input("> ") + "\n" if self.interactive else sys.stdin.readline(_MOST_LETTERS)
        except EOFError:
            self.print()
            return None
        except KeyboardInterrupt:
            self.print()
            raise
        except UnicodeDecodeError:
            line = "?\n"
        if len(line) >= _MOST_LETTERS:
            raise ConfigurationError(f"a line has {_MOST_LETTERS:,} letters or more: that is no game")
        shown = "".join(letter if letter.isprintable() else "?" for letter in line.strip())
        if line and not self.interactive:
            self.print(f"> {shown}")
        return shown if line else None

    def _follow(self, line: str) -> bool:
        """Follow a line. Return True if it is the last one."""
        first, _, rest = line.partition(" ")
        verb = verb_of(first.rstrip(",").lower(), self.known)
        if verb == "quit":
            if self.interactive and self.unsaved and not self.ending:
                self.ending = True
                self.print("Not saved: 'quit' again ends, 'save FILE' saves.")
                return False
            return True
        self.ending = False
        if verb in self.others:
            self.others[verb](rest.strip())
            if verb in ("load", "new"):
                self._show()
            return False
        told = self.typed.take(line)
        self.unsaved = self.typed.game.run.phase != Phase.OVER
        self._show()
        for one in told:
            self.print(one, style="bold")
        return False

    def _show(self) -> None:
        self.print(*table(self.typed.game, min(self.console.width, 120)))
        if self.hints and self.typed.game.run.phase != Phase.OVER:
            self._hint("")

    def _hint(self, rest: str) -> None:
        run, pilot = self.typed.game.run, rest.lower() or self.pilot
        if pilot not in PILOTS:
            raise MistakeError(f"there is no pilot '{pilot}': 'hint {' or '.join(PILOTS)}'")
        if run.phase == Phase.OVER:
            raise MistakeError("the run has ended: 'new' begins another")
        state = self.environment.save_state()
        for line in (f"{pilot}: {pilot_hint(state, pilot)}", *play_hints(run)):
            self.print(f"hint: {line}", style="cyan")

    def _new(self, rest: str) -> None:
        if rest and not (rest.isdecimal() and int(rest) <= _MOST_SEED):
            raise MistakeError(f"a seed is a number from 0 to {_MOST_SEED}, such as 'new 7'")
        self.begin(int(rest) if rest else None)


def _named(rest: str, verb: str) -> Path:
    if not rest:
        raise MistakeError(f"name a file, such as '{verb} mine.run'")
    return Path(rest)

"""Command `pkmn llm logs`: what a run asked its language model, what was answered, and what was made of it."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from pkmncli.advice.journal import advice_of, members_of, replies_of
from pkmncli.api import ActionNames, Advice
from pkmncli.api.stores import open_tables
from pkmncli.errors import ConfigurationError
from pkmncli.llm.replies import Reading
from pkmncli.llm.thoughts import take_apart
from pkmncli.plurals import counted
from pkmncli.runs import Run, open_run

DEFAULT_LAST = 20
"""Questions that are shown without a number."""

_LONGEST_LINE = 200
"""Characters of an answer that is shown in short."""


def logs(
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="Run folder or name. [default: latest]")] = None,
    *,
    grep: Annotated[
        str | None,
        typer.Option(metavar="WORDS", help="Only where question, answer or problem match, a regular expression."),
    ] = None,
    invalid: Annotated[bool, typer.Option("--invalid", help="Only questions without a usable answer.")] = False,
    last: Annotated[
        int | None, typer.Option(min=1, help=f"Only so many latest ones. [default: {DEFAULT_LAST}; all with --json]")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Show whole questions and answers.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, for other programs.")] = False,
    save_dir: Annotated[Path | None, typer.Option(help="Folder of the run folders. [default: runs]")] = None,
) -> None:
    """Show what a run asked its language model, the answers, and what was made of them; oldest first."""
    pattern = _compiled(grep)
    found = open_run(run, save_dir)
    rows = _rows(found)
    chosen = [
        row
        for row in rows
        if not (invalid and row["reading"] != Reading.NOTHING) and (pattern is None or _matches(pattern, row))
    ]
    shown = chosen[-last:] if last is not None else chosen if as_json else chosen[-DEFAULT_LAST:]
    if as_json:
        typer.echo(json.dumps([_values(row) for row in shown], indent=2, ensure_ascii=False))
        return
    if not rows:
        typer.echo(f"{found.name} asked no language model.")
        return
    names = ActionNames(tuple(map(str, found.read_names().get("actions", ()))))
    for row in shown:
        typer.echo("\n".join(_lines(row, names, full=full)) + "\n")
    searched = f", {len(chosen):,} of them chosen" if len(chosen) < len(rows) else ""
    typer.echo(f"{counted(len(rows), 'question')} of {found.name}{searched}, {len(shown):,} shown.")


def _compiled(text: str | None) -> re.Pattern[str] | None:
    if text is None:
        return None
    try:
        return re.compile(text, re.IGNORECASE)
    except re.error as error:
        raise ConfigurationError(f"--grep {text}: this is no regular expression ({error})") from error


def _rows(run: Run) -> list[dict[str, Any]]:
    with contextlib.closing(open_tables(run.folder)) as store:
        return store.read("advice")


def _matches(pattern: re.Pattern[str], row: Mapping[str, Any]) -> bool:
    texts = [row["prompt"], row["reply"], row["advice"], row["problem"], row["event"], row["model"]]
    texts += [str(one.get(name, "")) for one in members_of(row) for name in ("reply", "problem", "model")]
    return any(pattern.search(text) for text in texts)


def _values(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as plain values, with its advice and members as objects."""
    advice, members = row["advice"], list(members_of(row))
    values = {name: value for name, value in row.items() if isinstance(value, str | int | float | bool)}
    return {**values, "advice": json.loads(advice) if advice else None, "members": members}


def _lines(row: Mapping[str, Any], names: ActionNames, *, full: bool) -> Iterator[str]:
    """Return a question with its answer: at which step, the texts, and what was made of them."""
    waited = row["global_step"] - 1 - row["asked_at"]
    late = f", {counted(waited, 'step')} after the question" if waited else ""
    tokens = f", {row['prompt_tokens']:,} + {row['completion_tokens']:,} tokens, {row['latency_s']:.1f} s"
    who = f"{row['model']}{' from the cache' if row['cached'] else tokens}" if row["model"] else "no answer"
    yield f"--- step {row['global_step'] - 1:,}{late}, environment {row['environment']}, {row['event']}: {who} ---"
    if full and row["prompt"]:
        yield row["prompt"] + "\n"
    members = members_of(row)
    replies = {one["name"]: one["reply"] for one in members} if members else {"answered": row["reply"]}
    for name, text in replies.items():
        for number, reply in enumerate(replies_of(text)):
            answer, thoughts = take_apart(reply)
            if full and thoughts.strip():
                yield f"thought: {thoughts.strip()}"
            yield f"{f'{name}, asked again' if number else name}: {answer.strip() if full else _short(answer)}"
    yield f"  -> {_made_of(row, advice_of(row), names)}"


def _made_of(row: Mapping[str, Any], advice: Advice | None, names: ActionNames) -> str:
    if advice is None:
        return f"not used: {row['problem']}" if row["problem"] else "not used"
    fate = "followed"
    if not row["followed"]:
        fate = f"not followed: {row['problem'] or 'set aside for the share of the rules'}"
    return f"{advice_in_words(advice, names)} (read by {row['reading']}, {fate})"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}..."


def advice_in_words(advice: Advice, names: ActionNames) -> str:
    """Return advice on one line: skill or actions, goal, confidence and reason."""
    arguments = ", ".join(f"{name} {value}" for name, value in advice.arguments.items())
    what = " ".join(part for part in (advice.skill or "press", arguments, _actions(advice.presses, names)) if part)
    goal = f": {advice.goal}" if advice.goal else ""
    reason = f" {advice.reason}" if advice.reason else ""
    note = f' Note: "{advice.note}"' if advice.note else ""
    return f"{what}{goal} (confidence {advice.confidence:.2f}){reason}{note}"


def _actions(actions: Sequence[int], names: ActionNames) -> str:
    known = all(0 <= action < len(names.names) for action in actions)
    return names.in_words(actions) if known else ", ".join(map(str, actions))

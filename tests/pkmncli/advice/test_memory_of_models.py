"""What a model remembers: notes that it writes for itself, and a summary of what happened long ago."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands import run_here
from support.killed_training import train_until

from pkmncli.advice.long_ago import EpisodeHistory
from pkmncli.advice.notes import Notes
from pkmncli.advice.triggers import KEPT_EARLIER, KEPT_LINES, EventWatcher
from pkmncli.api import Argument, Context, LLMReply, PhaseRole, Skill
from pkmncli.api.decisions import STEP_RECORD
from pkmncli.errors import PluginError
from pkmncli.llm.prompts import PromptTemplate, Question
from pkmncli.llm.replies import MOST_NOTE_CHARACTERS, ReplyForm

SKILLS = (Skill("go_to", "walks there", arguments=(Argument("map"),), needs=(("map",),)),)


# Notes -------------------------------------------------------------------------------------------------------------


def test_notes_are_bounded_and_a_repeated_one_is_kept_once_as_the_latest() -> None:
    notes = Notes(most=3)
    for note in ("a", "b", "", "c", "a", "d"):
        notes.add(note)
    assert notes.lines == ["c", "a", "d"]
    resumed = Notes(most=2)
    resumed.load_state_dict(notes.state_dict())
    assert resumed.lines == ["a", "d"]
    none = Notes()
    none.add("a")
    assert none.lines == []


def read(form: ReplyForm, **fields: Any) -> Any:
    return form.read(LLMReply(json.dumps({"confidence": 0.5, **fields}), "m"), expires_after=10)


@pytest.mark.parametrize("skills", [SKILLS, ()])
def test_a_reply_can_have_a_note_beside_what_it_advises(skills: tuple[Skill, ...]) -> None:
    form = ReplyForm(skills, notes=True)
    act = {"presses": ["up"]} if skills else {"actions": ["up"]}
    assert read(form, **act, note="the door\nis shut").advice.note == "the door is shut"
    assert read(form, **act, note=None).advice.note == ""
    assert len(read(form, **act, note="x" * 999).advice.note) == MOST_NOTE_CHARACTERS
    assert "note" in form.schema["properties"]
    assert "note" not in ReplyForm(skills).schema["properties"]
    assert read(ReplyForm(skills), **act, note="ignored").advice.note == ""


def test_the_skill_notes_only_writes_one() -> None:
    form = ReplyForm(SKILLS, notes=True)
    advice = read(form, skill="notes", note="the door is shut").advice
    assert (advice.skill, advice.presses, advice.note) == ("notes", (), "the door is shut")
    assert read(form, skill="notes").problem == "the skill notes needs a note"
    assert read(ReplyForm(SKILLS), skill="notes", note="x").advice is None


def test_a_pilot_that_has_a_skill_of_this_name_keeps_it() -> None:
    with pytest.raises(PluginError, match="llm_notes"):
        ReplyForm((Skill("notes", "reads the notes"),), notes=True)


def test_a_prompt_has_the_notes_and_says_how_to_write_one() -> None:
    form = ReplyForm(SKILLS, notes=True)
    template = PromptTemplate.load(form=form)
    text = template.fill(Question(Context("win", "here"), notes=["the door is shut"], form=form), 8000).text
    assert "Your notes, oldest first:\n- the door is shut" in text
    assert "Choose one skill: press, go_to, notes." in text
    assert '"note": null}' in text
    plain = template.fill(Question(Context("win", "here"), form=ReplyForm(SKILLS)), 8000).text
    assert "note" not in plain


# Long ago ----------------------------------------------------------------------------------------------------------


def record(**values: Any) -> Any:
    row = np.zeros(1, list(STEP_RECORD))[0]
    for name, value in values.items():
        row[name] = value
    return row


def test_the_summary_has_the_number_of_episodes_the_best_and_the_latest() -> None:
    history = EpisodeHistory()
    assert history.lines([], 44, {}) == []
    history.add(record(reward=2.0, step=1, milestones=1))
    history.add(record(reward=3.0, step=2, milestones=6, map_id=7, truncated=True))
    history.add(record(reward=9.0, step=1, episode=1, milestones=2, terminated=True))
    history = EpisodeHistory.from_state_dict(json.loads(json.dumps(history.state_dict())))
    assert history.lines([("a battle began", 5), ("came to Mill", 1)], 44, {7: "Fern Trail"}) == [
        "2 episodes before this one, on average reward 7.0 in 2 steps",
        "the best: episode 1, 6 of 44 milestones, reward 5.0 in 2 steps, ran out of steps in Fern Trail",
        "the latest: episode 2, 2 of 44 milestones, reward 9.0 in 1 step, ended",
        "earlier in this episode: a battle began (5 times), came to Mill",
    ]
    history = EpisodeHistory()
    history.add(record(step=1, terminated=True))
    assert history.lines([], 0, {})[0] == "1 episode before this one, on average reward 0.0 in 1 step"


def test_events_that_are_no_longer_among_the_latest_are_counted() -> None:
    watcher = EventWatcher([PhaseRole.FREE], [], {})
    visits = [1 + number % 3 for number in range(KEPT_LINES + 7)]
    for place in visits:
        watcher.look(record(next_map=place))
    assert sum(watcher.earlier.values()) + len(watcher.lines) == len(visits) - 1
    assert watcher.earlier == {"came to map 2": 2, "came to map 3": 2, "came to map 1": 2}
    resumed = EventWatcher([PhaseRole.FREE], [], {})
    resumed.load_state_dict(json.loads(json.dumps(watcher.state_dict())))
    assert list(resumed.earlier.items()) == list(watcher.earlier.items())
    for place in range(100, 200):
        watcher.look(record(next_map=place))
    assert len(watcher.earlier) == KEPT_EARLIER
    watcher.look(record(truncated=True))
    assert watcher.earlier == {}


# In a training -----------------------------------------------------------------------------------------------------

SCRIPT = """
[[reply]]
when = "step 1[0-9],"
text = '{"actions": ["action_2"], "confidence": 0.9, "note": "I was here at ten"}'
[[reply]]
when = "I was here at ten"
text = '{"actions": ["action_1"], "confidence": 0.9, "note": "and read it again"}'
[[reply]]
text = '{"actions": ["action_3"], "confidence": 0.9}'
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run with notes and summary, and the same one, killed after answers that no checkpoint has, and resumed."""
    folder = tmp_path_factory.mktemp("memory")
    (folder / "script.toml").write_text(SCRIPT)
    common = ["--env=gym:CliffWalking-v1", "--rl=none", "--llm=scripted", f"--set=scripted.file={folder}/script.toml"]
    common += ["--llm-interval=4", "--llm-notes=2", "--llm-summary", "--max-steps-per-episode=25", "--quiet"]
    common += [f"--save-dir={folder}", "--steps=90", "--save-interval=20"]
    result = run_here("train", *common, "--run-name=whole")
    assert result.code == 0, result.err
    train_until(("os.rename", ".step-000000060.tmp", 1), folder, *common, "--run-name=killed")
    result = run_here("train", "--resume", "killed", f"--save-dir={folder}", "--quiet")
    assert result.code == 0, result.err
    return {name: folder / name for name in ("whole", "killed")}


@pytest.mark.long
def test_a_model_reads_its_notes_and_what_happened_long_ago(
    runs: dict[str, Path], course: Callable[[Path], dict[str, Any]]
) -> None:
    found = course(runs["whole"])
    prompts = [row["prompt"] for row in found["advice"]]
    assert "Your notes" not in prompts[0]
    assert any("Your notes, oldest first:\n- I was here at ten" in prompt for prompt in prompts)
    assert any("What happened long ago:\n- 1 episode before this one" in prompt for prompt in prompts)
    failed = "What did not work:\n- action_3: brought nothing in 1 step\n"
    assert any(failed in prompt for prompt in prompts), "advice without a goal is named by its actions"
    assert sorted(found["summary"]["llm"]["notes"]) == ["I was here at ten", "and read it again"]


@pytest.mark.long
def test_a_killed_run_has_the_same_notes_and_summaries_in_the_end(
    runs: dict[str, Path], course: Callable[[Path], dict[str, Any]]
) -> None:
    whole, killed = course(runs["whole"]), course(runs["killed"])
    assert [row["prompt"] for row in whole["advice"]] == [row["prompt"] for row in killed["advice"]]
    assert whole["summary"]["llm"]["notes"] == killed["summary"]["llm"]["notes"]
    assert [row["action"] for row in whole["decisions"]] == [row["action"] for row in killed["decisions"]]

"""Prompts: all of it where there is room, whole parts less where there is none, in the template's order."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.reply_forms import FORM

from pkmncli.api import ActionNames, Context, MilestoneSplit, Skill
from pkmncli.errors import ConfigurationError
from pkmncli.llm.prompts import PromptTemplate, Question, estimated_tokens
from pkmncli.llm.replies import ReplyForm

CONTEXT = Context(
    "Reach the lab.",
    "In the town. It is day.",
    ("walk", "talk"),
    "###\n#@.\n###",
    danger="high",
    changes=("lost 5 HP", "met someone"),
    milestones=(MilestoneSplit("left_home", 40, 900),),
)
QUESTION = Question(
    CONTEXT,
    form=FORM,
    events=[f"event {n} happened." for n in range(8)],
    failures=["up: nothing."],
    history=["A opens doors."],
)


@pytest.fixture(scope="module")
def template() -> PromptTemplate:
    return PromptTemplate.load()


def test_everything_known_stands_in_a_prompt_with_room(template: PromptTemplate) -> None:
    prompt = template.fill(QUESTION, 8000)
    assert prompt.dropped == ()
    for text in (
        "Reach the lab.",
        "In the town.",
        "#@.",
        "walk; talk",
        "event 0",
        "event 7",
        "up: nothing",
        "A opens",
        "Danger: high",
        "lost 5 HP",
        "left home",
    ):
        assert text in prompt.text
    assert "press, go_to, talk_to" in prompt.text


def test_every_skill_that_can_be_chosen_is_explained(template: PromptTemplate) -> None:
    text = template.fill(Question(Context("g", "s"), form=FORM), 8000).text
    for skill in FORM.schema["properties"]["skill"]["enum"]:
        assert f"`{skill}`" in text


def test_a_part_that_has_nothing_to_say_is_left_out(template: PromptTemplate) -> None:
    text = template.fill(Question(Context("g", "s", danger="none")), 8000).text
    assert "lately" not in text
    assert "did not work" not in text
    assert "Danger" not in text
    assert "since" not in text


@pytest.mark.parametrize("most", range(190, 460, 10))
def test_a_prompt_is_no_longer_than_it_may_be_and_no_sentence_is_cut(template: PromptTemplate, most: int) -> None:
    whole = template.fill(QUESTION, 8000).text.splitlines()
    prompt = template.fill(QUESTION, most)
    assert prompt.tokens <= max(most, template.fill(QUESTION, 1).tokens)
    assert set(prompt.text.splitlines()) <= set(whole)


@pytest.mark.long
def test_parts_go_in_the_order_of_the_template_and_old_lines_before_them(template: PromptTemplate) -> None:
    seen: list[str] = []
    events = []
    for most in range(600, 1, -1):
        prompt = template.fill(QUESTION, most)
        seen += [name for name in prompt.dropped if name not in seen]
        events.append([line for line in prompt.text.splitlines() if line.startswith("- event")])
    assert seen == ["milestones", "history", "events", "changes", "failures", "suggestions", "map", "danger"]
    kept = [lines for lines in events if lines]
    assert all(lines[-1] == "- event 7 happened." for lines in kept)
    assert len({len(lines) for lines in kept}) == 8


def test_what_is_needed_stays_even_where_it_is_longer(template: PromptTemplate) -> None:
    prompt = template.fill(QUESTION, 1)
    assert "Reach the lab." in prompt.text
    assert "confidence" in prompt.text
    assert prompt.tokens > 1


def test_a_user_brings_a_template_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('system = "S"\n[[part]]\nname = "g"\ntext = "$goal costs $$5"\n')
    prompt = PromptTemplate.load(path).fill(QUESTION, 100)
    assert (prompt.system, prompt.text) == ("S", "Reach the lab. costs $5")


def test_a_template_that_can_never_be_short_enough_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'system = "S"\n[[part]]\nname = "g"\ntext = "{"word " * 300}"\n')
    with pytest.raises(ConfigurationError, match="max_context_length is 256") as error:
        PromptTemplate.load(path, 256)
    assert str(path) in str(error.value)
    PromptTemplate.load(path, 8000)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('system = "S"', "part"),
        ('system = "S"\n[[part]]\nname = "g"\ntext = "$gaol"', "gaol"),
        ('system = "S"\n[[part]]\nname = "g"\ntext = "5$ only"', "$$"),
        ('system = "S"\n[[part]]\nname = "g"\ntext = "t"\ndrop = -1', "drop"),
        ("system = ", "no TOML"),
    ],
)
def test_a_template_that_is_wrong_says_where(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=says.replace("$", r"\$")) as error:
        PromptTemplate.load(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_template_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="can't be read"):
        PromptTemplate.load(tmp_path / "none.toml")


def test_tokens_are_counted_rather_too_many_than_too_few() -> None:
    text = "The player walks to the laboratory and talks to the professor."
    assert len(text.split()) < estimated_tokens(text)


def test_of_very_many_actions_a_prompt_with_skills_lists_a_part(template: PromptTemplate) -> None:
    actions = ActionNames(("wait", *(f"play_{one}_{two}" for one in range(40) for two in range(0, 80, 2))))
    form = ReplyForm((Skill("attack", "wins the battle"),), actions)
    prompt = template.fill(Question(CONTEXT, form=form), 8000)
    assert "wait, play_0_0, play_0_2" in prompt.text
    assert f"more, the last of which is {actions.names[-1]}" in prompt.text
    assert prompt.tokens < 1000

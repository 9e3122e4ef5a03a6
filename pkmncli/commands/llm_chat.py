"""Conversation of `pkmn llm chat`: a person and a model about a state of an environment, with its skills."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from io import TextIOWrapper

import typer

from pkmncli.api import Advice, LLMFailure
from pkmncli.commands.llm_logs import advice_in_words
from pkmncli.commands.llm_scene import Scene, View
from pkmncli.errors import LLMConnectionError
from pkmncli.llm.client import LLMClient
from pkmncli.llm.prompts import estimated_tokens
from pkmncli.llm.thoughts import take_apart
from pkmncli.tables import prose

LEAVE = frozenset({"/quit", "/exit", "/q"})
HELP = (
    "/advice asks for advice as in a training, /do carries it out, /state shows the situation, /quit leaves; anything "
    "else is said."
)

_SYSTEM = (
    "You talk with a person about the situation below, in which an agent acts. Answer in a few plain sentences. You "
    "know only what is written here; say so if something is missing. If the person asks what to do, name one of the "
    "skills or actions, and why."
)
_ANSWER = "Answer that in a few plain sentences, without JSON."


@dataclass(slots=True)
class Conversation:
    """Conversation about an environment. Earlier turns are part of each question, as many of the latest as fit.

    Args:
        client: of the model.
        scene: the environment.
        most_tokens: maximum length of a question in tokens, estimated.
    """

    client: LLMClient
    scene: Scene
    most_tokens: int
    turns: list[tuple[str, str]] = field(default_factory=list)
    """Words of the person, and the model's answers."""
    view: View = field(init=False)
    advice: Advice | None = None
    """Latest advice that was not carried out."""

    def __post_init__(self) -> None:
        self.view = self.scene.look()

    def say(self, words: str) -> str:
        """Return the model's answer to the person's words.

        Raises:
            LLMConnectionError: there is no answer.
        """
        if words == "/advice":
            found = self._advice()
            self.turns.append(("What is your advice?", found))
            return found
        if words == "/do":
            return self._carry_out()
        if words == "/state":
            return self.view.situation
        if words.startswith("/"):
            return HELP
        try:
            request = replace(self.view.request, system=_SYSTEM, schema=None)
            reply = self.client.answer(replace(request, prompt=self._prompt(words)))
        except LLMFailure as failure:
            raise LLMConnectionError(f"No answer: {failure}") from failure
        answer = take_apart(reply.text).answer.strip() or reply.problem or "(no answer)"
        self.turns.append((words, answer))
        return answer

    def _advice(self) -> str:
        answer = self.client.ask(self.view.request)
        if answer.fault is not None:
            raise LLMConnectionError(f"No answer: {answer.problem}")
        self.advice = answer.advice
        if answer.advice is None:
            return f"No advice: {answer.problem}"
        return advice_in_words(answer.advice, self.scene.form.actions)

    def _carry_out(self) -> str:
        if self.advice is None:
            return "There is no advice to carry out: ask with /advice."
        advice, self.advice = self.advice, None
        ended = self.scene.carry_out(advice)
        self.view = self.scene.look()
        done = f"{ended} {self.view.summary}"
        self.turns.append(("I carry it out.", done))
        return done

    def _prompt(self, words: str) -> str:
        """Return the situation with as many of the latest turns as fit, and the person's words."""
        kept = list(self.turns)
        while True:
            told = "".join(f"Person: {said}\nYou: {answer}\n" for said, answer in kept)
            before = f"Your conversation so far:\n{told}\n" if told else ""
            prompt = f"{self.view.situation}\n\n{before}{words}\n\n{_ANSWER}"
            if not kept or estimated_tokens(_SYSTEM) + estimated_tokens(prompt) <= self.most_tokens:
                return prompt
            del kept[0]


def converse(conversation: Conversation) -> None:
    """Read words from the standard input, a line each, and print the answers, until it ends or the person leaves."""
    by_hand = sys.stdin.isatty()
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # bytes of another encoding cannot be sent
    if by_hand:
        typer.echo(prose(HELP))
    while True:
        if by_hand:
            typer.echo("> ", nl=False)
        line = sys.stdin.readline()
        words = line.strip()
        if not line or words in LEAVE:
            return
        if not words:
            continue
        try:
            typer.echo(prose(conversation.say(words)))
        except LLMConnectionError as error:
            if not by_hand:
                raise
            typer.echo(prose(str(error)), err=True)  # the person may try again

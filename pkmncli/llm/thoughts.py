"""Thoughts that models write into a reply, and the answer beside them."""

from __future__ import annotations

import re
from typing import NamedTuple

_MARK = re.compile(
    r"""
      (?P<thought>
          <\|channel\|?> \s*+ (?!final) [\w.]* (?: [ ]to=[\w.]+ )? \s* (?: <\|constrain\|> \s* \w+ )? \s*
              (?: <\|message\|> )?                                                        # channels of gpt-oss, Gemma
        | \A \s* (?:assistant)? (?-i: analysis | commentary ) (?-i: (?=[A-Z]|<\|message) )  # the same, marks taken out
        | \A \s* (?: Thinking \.\.\. \s | Here\ is\ my\ thought\ process: | Here\ are\ my\ reasoning\ steps: )
        | <unused94>
        | < \|? (?: im_end | eot_id | eom_id | end_of_text | endoftext | end_of_turn | end | return | call ) \|? >
        | </s>                                                                            # no part of the answer either
        | \[END\ FINAL\ RESPONSE\]
      )
    | (?P<answer>
          <\|channel\|?> \s* final (?: \s* <\|constrain\|> \s* \w+ )? \s* (?: <\|message\|> )?
        | <channel\|>
        | (?-i: assistantfinal )
        | \.\.\.done\ thinking\.
        | Here\ is\ my\ response:
        | <unused95>
        | \[BEGIN\ FINAL\ RESPONSE\]
      )
    | (?: (?P<angle> <\|? | &lt; ) | \[ | ◁ | 【 ) \s?                                      # <think>, [THINK], ◁/think▷
      (?P<ends> / \s? | end_ (?:of_)? )?
      [\w:.-]{0,30}?
      (?: think | thought | reason | reflect | analys | scratch | monologue | rationale | deliberat | details | plan
        | (?P<named_answer> answer | response | solution | output | final | of_box ) )
      [\w:.-]{0,30}? (?P<ends_too> [_-]end )?
      (?(angle) (?: \s [^<>\[\]\n/]{0,200} )? | \s? )
      (?: \|?> | &gt; | \] | ▷ | 】 )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SIGN = re.compile(r"<\|(?:start|im_start|start_header_id)\|>\s*\w*|<\|[a-z_]{1,30}\|>", re.IGNORECASE)
"""Remains of a model's notation."""


class Parts(NamedTuple):
    """Parts of a reply's text."""

    answer: str
    thoughts: str


def take_apart(text: str) -> Parts:
    """Return the answer in a reply and the thoughts around it.

    Thoughts are the text between their marks, before an end mark without a beginning, and after a beginning without an
    end. If the answer has marks, all text before it is thoughts.
    """
    answer: list[str] = []
    thoughts: list[str] = []
    thinking, place = False, 0
    for mark in _MARK.finditer(text):
        (thoughts if thinking else answer).append(text[place : mark.start()])
        place = mark.end()
        begins_thought = mark["thought"] is not None or (
            mark["answer"] is None and bool(mark["ends"] or mark["ends_too"]) == bool(mark["named_answer"])
        )
        if not begins_thought and not thinking:  # so all that went before it was no answer
            thoughts += answer
            answer.clear()
        thinking = begins_thought
    (thoughts if thinking else answer).append(text[place:])
    return Parts(_SIGN.sub(" ", "".join(answer)), _SIGN.sub(" ", "".join(thoughts)))

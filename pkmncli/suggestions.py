"""Suggestion of a known name for one that is not known."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "", *, lead: str = "", shown: str = "'{}'") -> str:
    """Return the question ``did you mean 'x'?`` with the most similar known name.

    Args:
        name: the unknown name.
        known: the known names.
        otherwise: result if no name is similar.
        lead: text before the question.
        shown: format of the suggested name.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only for an error

    near = get_close_matches(name, list(known), n=1)
    return f"{lead}did you mean {shown.format(near[0])}?" if near else otherwise

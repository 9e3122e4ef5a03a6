"""Evaluations that a run keeps: a folder for each, with its result and its episodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pkmncli.atomic_files import read_json, reason
from pkmncli.errors import RunError

EVALUATIONS = "evaluations"
"""Folder of a run for what its evaluations found."""

RESULT_FILE = "result.json"


def evaluation_folders(run: Path) -> list[Path]:
    """Return the folders of a run's evaluations, newest first: their names begin with the time."""
    return sorted((run / EVALUATIONS).glob("*/"), reverse=True)


def read_evaluation(
    folder: Path, wanted: Callable[[Mapping[str, Any]], bool] = lambda result: True
) -> dict[str, Any] | None:
    """Return the result of an evaluation, with ``mode`` and ``avg_reward`` at least; None while it is being written.

    Args:
        folder: of the evaluation.
        wanted: returns False for a result to leave out, unchecked: None is returned for it.

    Raises:
        RunError: it is damaged.
    """
    path = folder / RESULT_FILE
    try:
        result = read_json(path)
        if not wanted(result):
            return None
        return {**result, "mode": str(result["mode"]), "avg_reward": float(result["avg_reward"])}
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(f"{path} can't be read: {reason(error)}; delete its folder, and evaluate again") from None
    except (ValueError, KeyError, TypeError, OverflowError):
        raise RunError(f"{path} is damaged: delete its folder, and evaluate again") from None

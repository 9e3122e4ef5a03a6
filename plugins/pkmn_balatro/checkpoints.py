"""Checkpoints of trainers that save themselves, in a folder: the newest and the best."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pkmncli.errors import CheckpointError


class CheckpointManager:
    """Checkpoints in a folder, by their steps: it keeps the newest and the best.

    It also lists those of a run of ``pkmn train``, in the folder ``checkpoints`` of the run, but writes none there.

    Args:
        folder: where they are.
        keep: number of the newest to keep.
    """

    _NAME = re.compile(r"step-(\d{9,})(\.\w+)?")
    _INDEX = "index.json"

    def __init__(self, folder: str | Path, keep: int = 3) -> None:
        self.folder = Path(folder)
        self.keep = keep

    def paths(self) -> list[Path]:
        """Return all checkpoints, oldest first."""
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        return sorted((path for path in found if self._NAME.fullmatch(path.name)), key=self.step_of)

    def latest(self) -> Path | None:
        """Return the newest checkpoint; None if there is none."""
        paths = self.paths()
        return paths[-1] if paths else None

    def best(self) -> Path | None:
        """Return the checkpoint with the best score; None if none has a score."""
        name = self._index().get("best")
        return next((path for path in self.paths() if name is not None and path.stem == Path(name).stem), None)

    @classmethod
    def step_of(cls, path: Path) -> int:
        """Return the steps at a checkpoint, by its name."""
        found = cls._NAME.fullmatch(path.name)
        if found is None:
            raise CheckpointError(f"{path.name} is no checkpoint's name; they are called like step-000120000")
        return int(found[1])

    def save(self, model: Any, step: int, score: float | None = None) -> Path:
        """Write a checkpoint, which is whole or not there. Remove old ones.

        Args:
            model: anything with ``save(path)``.
            step: steps so far.
            score: its score, if it was evaluated; the highest is the best.

        Raises:
            CheckpointError: it cannot be written.
        """
        path = self.folder / f"step-{step:09d}.zip"
        part = self.folder / f"part-{path.name}"
        index = self._index()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            model.save(part)
            part.replace(path)
            if score is not None and (index.get("best_score") is None or score >= index["best_score"]):
                index |= {"best": path.name, "best_score": score}
                part = self.folder / f"part-{self._INDEX}"
                part.write_text(json.dumps(index))
                part.replace(self.folder / self._INDEX)
            for old in self.paths()[: -self.keep]:
                if old.name != index.get("best"):
                    old.unlink()
        except OSError as error:
            raise CheckpointError(f"{path} cannot be written: {error.strerror}") from None
        return path

    def _index(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self.folder / self._INDEX).read_text())
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, ValueError) as error:
            raise CheckpointError(f"{self.folder / self._INDEX} cannot be read: {error}") from None
        return found

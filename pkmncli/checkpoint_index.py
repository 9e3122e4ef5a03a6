"""Names of a run's checkpoints, and the index of the latest, the best, and each milestone's."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pkmncli.atomic_files import read_json, reason, write_json
from pkmncli.errors import CheckpointError, did_you_mean

INDEX_FILE = "index.json"
VERSIONS_FILE = "versions.json"
META_FILE = "meta.json"
"""File of each checkpoint with its plain values."""
LATEST = "latest"
BEST = "best"

_NAME = re.compile(r"step-(\d{9,})")
_EPISODE = re.compile(r"(?:checkpoint_)?episode[-_](\d{1,12})(?:\.pt)?")
_MADE_ANEW = "'pkmn train --resume' makes it again; until then name a checkpoint by its steps"


def checkpoint_name(step: int) -> str:
    """Return the folder name of the checkpoint after a number of environment steps: ``step-000120000``."""
    return f"step-{step:09d}"


def checkpoint_step(name: str) -> int:
    """Return the environment steps in a checkpoint's name.

    Raises:
        CheckpointError: it is not a checkpoint's name.
    """
    found = _NAME.fullmatch(name)
    if not found:
        raise CheckpointError(f"'{name}' is no checkpoint's name; they are called like {checkpoint_name(120_000)}")
    return int(found[1])


def names_episode(which: str) -> bool:
    """Return True for a name such as ``episode-500`` or ``checkpoint_episode_500.pt``."""
    return _EPISODE.fullmatch(which) is not None


def run_id(folder: Path) -> str:
    """Return the id of a run in a folder; empty if it cannot be read.

    A run that was moved or copied keeps it. A run of an earlier version is identified by its time of creation.
    """
    try:
        versions = read_json(folder / VERSIONS_FILE)
        return str(versions.get("id") or versions["created"])
    except (OSError, ValueError, KeyError):
        return ""


def of_another_run(folder: Path, said: object) -> bool:
    """Return whether a file in a run's folder names another run; a file of an earlier version names none.

    Args:
        folder: folder of the run.
        said: run id in the file, if any.
    """
    own = run_id(folder)
    return bool(said and own and said != own)


@dataclass(frozen=True, slots=True)
class CheckpointIndex:
    """Roles of checkpoints, by folder name."""

    latest: str | None = None
    best: str | None = None
    best_score: float | None = None
    """Score of the best one; the trainer defines its meaning."""
    milestones: Mapping[str, str] = field(default_factory=dict)
    """Milestone -> checkpoint in which it was first reached."""


class Checkpoints:
    """Checkpoints folder of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index_file = folder / INDEX_FILE

    @property
    def has_index(self) -> bool:
        """True if anything has the name of the index."""
        return os.path.lexists(self.index_file)

    def path(self, step: int) -> Path:
        """Return the folder of the checkpoint after so many steps."""
        return self.folder / checkpoint_name(step)

    def names(self) -> list[str]:
        """Return the names of all complete checkpoints, oldest first. A folder gets its name when it is complete.

        Raises:
            CheckpointError: the folder cannot be read.
        """
        try:
            return sorted((p.name for p in self.folder.iterdir() if _NAME.fullmatch(p.name)), key=checkpoint_step)
        except FileNotFoundError:
            if self.folder.is_symlink():  # its content is unknown here, so no run should begin
                target = self.folder.readlink()
                raise CheckpointError(
                    f"{self.folder} leads to {target}, which is not there: is its disk in place?"
                ) from None
            return []
        except OSError as error:
            raise CheckpointError(f"{self.folder} can't be read: {reason(error)}") from None

    def index(self) -> CheckpointIndex:
        """Return the index, corrected by the existing folders: the newest one counts even if the index lacks it.

        Raises:
            CheckpointError: the index is damaged, unreadable or another run's.
        """
        names = self.names()
        path = self.index_file
        try:
            content = read_json(path)
            foreign = of_another_run(self.folder.parent, content.get("run"))
            score = content["best_score"]
            index = CheckpointIndex(
                content["latest"],
                content["best"],
                None if score is None else float(score),
                dict(content["milestones"]),
            )
        except FileNotFoundError:
            index, foreign = CheckpointIndex(), False
        except OSError as error:
            raise CheckpointError(f"{path} can't be read: {reason(error)}; {_MADE_ANEW}") from None
        except (ValueError, KeyError, TypeError, OverflowError):
            raise CheckpointError(f"{path} is damaged; {_MADE_ANEW}") from None
        if foreign:
            raise CheckpointError(f"{path} is another run's; {_MADE_ANEW}")
        best_exists = index.best in names
        return CheckpointIndex(
            latest=names[-1] if names else None,
            best=index.best if best_exists else None,
            best_score=index.best_score if best_exists else None,
            milestones={milestone: name for milestone, name in index.milestones.items() if name in names},
        )

    def record(self, step: int, *, best_score: float | None = None, milestones: Iterable[str] = ()) -> CheckpointIndex:
        """Add a checkpoint that is complete on disk to the index.

        Args:
            step: environment steps at the checkpoint.
            best_score: its score, if it is the best so far.
            milestones: milestones reached for the first time.
        """
        name = checkpoint_name(step)
        index = replace(self.index(), latest=name)
        if best_score is not None:
            index = replace(index, best=name, best_score=best_score)
        index = replace(index, milestones={**dict.fromkeys(milestones, name), **index.milestones})
        self.write(index)
        return index

    def mark_best(self, name: str) -> None:
        """Mark a checkpoint as the best, regardless of scores.

        Raises:
            CheckpointError: there is no such checkpoint.
        """
        self.write(replace(self.index(), best=self.resolve(name).name))

    def resolve(self, which: str = LATEST) -> Path:
        """Return the folder of a checkpoint: ``latest``, ``best``, a milestone, a name, or a number of steps.

        ``episode-500``, also as ``checkpoint_episode_500.pt``, is the first one after so many ended episodes.

        Raises:
            CheckpointError: there is no such checkpoint (names the existing ones), or the needed index is damaged.
        """
        names = self.names()
        if not names:
            raise CheckpointError(f"no checkpoint in {self.folder} yet: the run has not saved one")
        number = f"step-{which.lstrip('0').zfill(9)}" if which.isascii() and which.isdecimal() else which
        if which == LATEST or number in names:  # needs no index
            return self.folder / (names[-1] if which == LATEST else number)
        if (episode := _EPISODE.fullmatch(which)) is not None:
            return self.folder / self._after_episodes(int(episode[1]), names)
        index = self.index()
        name = index.best if which == BEST else index.milestones.get(which, which)
        if name is None:
            raise CheckpointError(
                f"no checkpoint in {self.folder} is the best yet: fewer than 10 episodes have ended; use {LATEST}"
            )
        if name not in names:
            known = [LATEST, BEST, *index.milestones, *names]
            hint = did_you_mean(name, known, ";", lead="; ")
            raise CheckpointError(f"no checkpoint '{which}' in {self.folder}{hint} there are {', '.join(names)}")
        return self.folder / name

    def _after_episodes(self, wanted: int, names: list[str]) -> str:
        """Return the name of the first checkpoint after a number of ended episodes."""
        found: dict[int, str] = {}
        for name in names:
            try:
                episodes = int(read_json(self.folder / name / META_FILE)["trainer"]["statistics"]["episodes"])
            except (OSError, ValueError, KeyError, TypeError):  # damaged, or not of a training
                continue
            found.setdefault(episodes, name)
        if wanted not in found:
            there = ", ".join(f"episode-{episode}" for episode in found) or "none that says its episodes"
            raise CheckpointError(f"no checkpoint in {self.folder} after {wanted} episodes; there are {there}")
        return found[wanted]

    def superfluous(self, keep: int, *, milestones: bool = True) -> list[Path]:
        """Return the checkpoints that may be deleted: not among the ``keep`` newest, and not the best.

        Args:
            keep: number of newest checkpoints that stay.
            milestones: true if the first one after each milestone stays too.
        """
        index, names = self.index(), self.names()
        kept = {*names[-keep:], index.best, *(index.milestones.values() if milestones else ())}
        return [self.folder / name for name in names if name not in kept]

    def write(self, index: CheckpointIndex) -> None:
        """Replace the index."""
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {
            "run": run_id(self.folder.parent),
            "latest": index.latest,
            "best": index.best,
            "best_score": index.best_score,
            "milestones": dict(index.milestones),
        }
        write_json(self.index_file, content)

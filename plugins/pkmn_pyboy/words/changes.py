"""Changes between two snapshots of a game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_MIN_SHARE_SHOWN = 0.01


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Values to compare, as plain values. ``items`` are counts by name, ``milestones`` those reached."""

    step: int
    map_name: str
    levels: int
    hp_share: float
    party: tuple[str, ...]
    money: int
    badges: int
    caught: int
    items: Mapping[str, int] = field(default_factory=dict)
    milestones: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values (JSON)."""
        return {name: getattr(self, name) for name in self.__slots__} | {
            "party": list(self.party),
            "items": dict(self.items),
            "milestones": list(self.milestones),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Snapshot:
        """Restore a snapshot from :meth:`as_dict`."""
        lists = {"party": tuple(values["party"]), "milestones": tuple(values["milestones"])}
        return cls(**{**values, **lists})


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of a game. Numbers are differences; empty texts and zeros mean no change."""

    steps: int = 0
    left_map: str = ""
    entered_map: str = ""
    levels: int = 0
    hp_share: float = 0.0
    joined: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    money: int = 0
    badges: int = 0
    caught: int = 0
    items: Mapping[str, int] = field(default_factory=dict)
    milestones: tuple[str, ...] = ()

    def words(self) -> tuple[str, ...]:
        """Return one short phrase for each change."""
        phrases = []
        if self.entered_map:
            phrases.append(f"went from {self.left_map} to {self.entered_map}")
        phrases += [f"reached the milestone {name}" for name in self.milestones]
        if self.badges:
            phrases.append(f"{self.badges:+} badge{'s' if abs(self.badges) > 1 else ''}")
        # An evolution looks like an exchange: only names are compared.
        exchanged = min(len(self.joined), len(self.gone))
        phrases += [f"{new} in place of {old}" for old, new in zip(self.gone, self.joined, strict=False)]
        phrases += [f"{name} joined the party" for name in self.joined[exchanged:]]
        phrases += [f"{name} left the party" for name in self.gone[exchanged:]]
        if self.levels:
            phrases.append(f"{self.levels:+} level{'s' if abs(self.levels) > 1 else ''}")
        if abs(self.hp_share) >= _MIN_SHARE_SHOWN:
            phrases.append(f"{self.hp_share:+.0%} of the party's hit points")
        if self.caught:
            phrases.append(f"{self.caught:+} species caught")
        if self.money:
            phrases.append(f"{self.money:+} money")
        phrases += [f"{count:+} {name}" for name, count in self.items.items()]
        return tuple(phrases)


def changes_between(before: Snapshot, now: Snapshot) -> Changes:
    """Return the changes from ``before`` to ``now``, both of one episode."""
    moved = before.map_name != now.map_name
    names = sorted({*before.items, *now.items})
    counts = {name: now.items.get(name, 0) - before.items.get(name, 0) for name in names}
    return Changes(
        steps=now.step - before.step,
        left_map=before.map_name if moved else "",
        entered_map=now.map_name if moved else "",
        levels=now.levels - before.levels,
        hp_share=now.hp_share - before.hp_share,
        joined=_without(now.party, before.party),
        gone=_without(before.party, now.party),
        money=now.money - before.money,
        badges=now.badges - before.badges,
        caught=now.caught - before.caught,
        items={name: count for name, count in counts.items() if count},
        milestones=tuple(name for name in now.milestones if name not in before.milestones),
    )


def _without(names: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that are not among the others, each as often as it is missing there."""
    left = list(others)
    missing = []
    for name in names:
        if name in left:
            left.remove(name)
        else:
            missing.append(name)
    return tuple(missing)

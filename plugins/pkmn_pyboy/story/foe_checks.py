"""Check of a story's foes against the trainers of its image: missing foes, and trainers that no goal names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pkmn_pyboy.profile.milestones import Milestone, Target
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.records import MapPerson, Role

_STEPS = {"down": (0, 1), "up": (0, -1), "left": (-1, 0), "right": (1, 0)}


def check_foes(profile: GameProfile, cartridge: Cartridge) -> list[tuple[str, str]]:
    """Return the goals that name trainers missing in the image, each with its problem."""
    return [
        (goal.key, f"the image has no trainer {foe.number} of class {foe.trainer_class}")
        for goal in (*profile.milestones, *profile.errands.values())
        for foe in goal.requires.foes
        if (foe.trainer_class, foe.number) not in cartridge.trainers
    ]


class NamedFoes:
    """Trainers that the goals of a story have named as foes so far.

    Args:
        classes: names of trainer classes.
    """

    def __init__(self, classes: Mapping[int, str]) -> None:
        self._classes = classes
        self._named: set[tuple[int, int]] = set()

    def unnamed(self, goal: Milestone, targets: Iterable[Target], world: World) -> list[str]:
        """Return remarks on trainers addressed for a goal that neither it nor an earlier goal names.

        Args:
            goal: the goal; its foes count from now on.
            targets: its targets, by its cases and choices.
            world: people of the image and their places.
        """
        self._named.update((foe.trainer_class, foe.number) for foe in goal.requires.foes)
        found = {}
        for target in targets:
            here = world.map(target.map_id)
            for one in here.people if here is not None else ():
                who = (one.trainer_class, one.trainer)
                if one.role is Role.TRAINER and one.trainer and who not in self._named and _addresses(target, one):
                    called = self._classes.get(one.trainer_class, f"class {one.trainer_class}")
                    found[who] = f"{called} {list(who)} is fought, but is not among the foes"
        return list(found.values())


def _addresses(target: Target, one: MapPerson) -> bool:
    """Return True if a target is a person, by number or by standing in front of the target's tile."""
    if target.push_to is not None or target.person:
        return target.push_to is None and target.person == one.number
    if target.x is None or target.y is None or target.facing is None:
        return False
    dx, dy = _STEPS[target.facing]
    return (one.x, one.y) == (target.x + dx, target.y + dy)

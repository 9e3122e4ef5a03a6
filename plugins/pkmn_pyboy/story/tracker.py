"""Tracker of the milestones reached in an episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pkmn_pyboy.profile.memory_map import Memory, Span
from pkmn_pyboy.profile.milestones import Milestone
from pkmncli.api import MilestoneSplit


class MilestoneTracker:
    """Milestones reached in this episode, with the step of each.

    A milestone is tested only after the milestones that it needs, because some evidence has another meaning earlier in
    the story. A reached milestone stays reached until the episode ends.

    Args:
        milestones: in order.
        errands: by key; their requirements of the party count as well.
        memory: memory to test errands with; by default that of :meth:`begin` or :meth:`update`.
    """

    def __init__(
        self,
        milestones: Sequence[Milestone],
        errands: Mapping[str, Milestone] | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.milestones = tuple(milestones)
        self._errands = errands or {}
        place = {milestone.key: index for index, milestone in enumerate(self.milestones)}
        self._needs = [tuple(place[key] for key in milestone.needs) for milestone in self.milestones]
        self.steps = [-1] * len(self.milestones)
        """Step at which each milestone was reached, 0 at the start of the episode, -1 if not yet."""
        self.frames = [-1] * len(self.milestones)
        """Emulated frame of the episode at which each was reached, by the same rules."""
        self.count = 0
        self._wanted: dict[int, frozenset[int]] = {}
        self._ready: list[int] = []
        self._memory = memory
        self._watch: Callable[[], bytes] | None = None
        self._unproven: tuple[bytes, int] | None = None

    @property
    def party_room(self) -> int:
        """Total of free party slots for the remaining milestones and their errands."""
        wanted: dict[str, int] = {}
        queue = [one for one, step in zip(self.milestones, self.steps, strict=True) if step < 0]
        seen = {one.key for one in queue}
        for goal in queue:
            if goal.room:
                wanted[goal.key] = goal.room
            for key in goal.errands:
                errand = self._errands.get(key)
                if errand is not None and key not in seen:
                    seen.add(key)
                    queue.append(errand)
        if wanted and self._memory is not None:
            done = [key for key in wanted if key in self._errands and self._errands[key].held(self._memory, -1)]
            for key in done:
                del wanted[key]
        return sum(wanted.values())

    def begin(self, memory: Memory, map_id: int) -> None:
        """Start an episode: milestones that hold already count as reached at step 0.

        If a milestone with lasting evidence holds, those that it needs count as reached too, although their evidence
        may be gone. The first one, the start of the game, needs only its lasting evidence.
        """
        self.steps = [-1] * len(self.milestones)
        self.frames = [-1] * len(self.milestones)
        for index in range(len(self.milestones) - 1, -1, -1):
            milestone = self.milestones[index]
            if self.steps[index] < 0 and milestone.lasting and milestone.holds(memory, map_id):
                self._reach_with_needs(index)
        if self.milestones and self.steps[0] < 0 and self.milestones[0].held(memory, map_id):
            self._reach_with_needs(0)
        self._find_ready()
        self.update(memory, map_id, 0)

    def splits(self) -> tuple[MilestoneSplit, ...]:
        """Return the milestones reached in this episode, in the order in which they were reached."""
        reached = [
            MilestoneSplit(milestone.key, step, frame)
            for milestone, step, frame in zip(self.milestones, self.steps, self.frames, strict=True)
            if step >= 0
        ]
        return tuple(sorted(reached, key=lambda split: split.step))

    def update(self, memory: Memory, map_id: int, step: int, frame: int = 0) -> bool:
        """Test the evidence after a step that ended at ``frame``. Return True if a milestone was reached."""
        if memory is not self._memory:
            self._memory = memory
            self._watch = None
        if self._watch is None:
            self._watch = memory.bind(self._watched())
        evidence = (self._watch(), map_id)
        if evidence == self._unproven:
            return False
        found = False
        while True:
            reached = [index for index in self._ready if self.milestones[index].holds(memory, map_id)]
            if not reached:
                # Nothing can become true until one of these bytes changes; which bytes are watched may just have
                # changed.
                self._unproven = None if found else evidence
                return found
            found = True
            for index in reached:
                self.steps[index], self.frames[index] = step, frame
            self._find_ready()

    def current(self, goal: int = -1) -> Milestone | None:
        """Return the next required milestone; None if all are reached.

        Args:
            goal: index of the target milestone, -1 for the last one: milestones that it needs are required.
        """
        wanted = self._wanted.get(goal)
        if wanted is None:
            wanted = self._wanted[goal] = self._with_needs(goal)
        for index, milestone in enumerate(self.milestones):
            if self.steps[index] < 0 and (not milestone.optional or index in wanted):
                return milestone
        return None

    def _with_needs(self, goal: int) -> frozenset[int]:
        found: set[int] = set()
        queue = [goal] if goal >= 0 else []
        while queue:
            index = queue.pop()
            if index not in found:
                found.add(index)
                queue.extend(self._needs[index])
        return frozenset(found)

    def save_state(self) -> dict[str, Any]:
        """Return the state for :meth:`load_state`, as plain values."""
        return {"steps": list(self.steps), "frames": list(self.frames)}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore a saved state. Raises ValueError if it belongs to other milestones."""
        steps = [int(step) for step in state["steps"]]
        if len(steps) != len(self.milestones):
            raise ValueError(f"it has {len(steps)} milestones, not {len(self.milestones)}")
        self.steps = steps
        self.frames = [int(frame) for frame in state["frames"]]
        self._find_ready()

    def _reach_with_needs(self, index: int) -> None:
        self.steps[index] = self.frames[index] = 0
        for needed in self._needs[index]:
            if self.steps[needed] < 0:
                self._reach_with_needs(needed)

    def _watched(self) -> list[Span]:
        """Return the bytes that may prove a milestone that is ready."""
        items = (item for index in self._ready for item in self.milestones[index].evidence if item.size)
        return [(item.bank, item.address, item.size) for item in items]

    def _find_ready(self) -> None:
        self._watch = self._unproven = None
        steps = self.steps
        self.count = sum(step >= 0 for step in steps)
        self._ready = [
            index
            for index, needs in enumerate(self._needs)
            if steps[index] < 0 and all(steps[needed] >= 0 for needed in needs)
        ]


def latest_milestone(milestones: Sequence[Milestone], memory: Memory, map_id: int) -> str:
    """Return the last milestone, in the story's order, that memory proves; empty if it proves none."""
    tracker = MilestoneTracker(milestones)
    tracker.begin(memory, map_id)
    reached = [one.key for one, step in zip(milestones, tracker.steps, strict=True) if step >= 0]
    return reached[-1] if reached else ""

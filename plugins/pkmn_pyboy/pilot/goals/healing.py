"""Healing: known healers, people behind counters, items from the bag."""

from __future__ import annotations

from pkmn_pyboy.pilot.goals.context import GoalContext
from pkmn_pyboy.pilot.memory import MENU, TALK, TILE, PilotMemory, WalkGoal
from pkmn_pyboy.pilot.screens import menu_tasks
from pkmn_pyboy.pilot.walking.legs import PLANNED
from pkmn_pyboy.pilot.walking.routes import Key
from pkmn_pyboy.pilot.walking.surroundings import Surroundings
from pkmn_pyboy.state.bag import Bag
from pkmn_pyboy.state.game_state import GameState, PartyMember
from pkmn_pyboy.world import goals


class Healing:
    """Chooser of the way to heal.

    Args:
        context: game, settings, routes and tasks.
    """

    def __init__(self, context: GoalContext) -> None:
        self._game = game = context.game
        self._settings = settings = context.settings
        self._objectives, self._roads, self._tasks = context.objectives, context.roads, context.tasks
        # PP are unknown without the image's tables.
        self._moves = game.cartridge.moves if game.knowledge != "seen" else {}
        words = [word.lower() for word in settings.healer_maps]
        names = game.profile.names.maps
        self._healer_maps = [map_id for map_id, name in names.items() if any(word in name.lower() for word in words)]

    def is_weak(self, state: GameState) -> bool:
        """Return whether the party should heal before it continues."""
        party = state.party
        lead = party.lead
        if lead is None:
            return False
        hurt = party.hp_share < self._settings.heal_below or lead.hp < self._settings.heal_lead_below * lead.max_hp
        return hurt or self.pp_share(lead) < self._settings.heal_points_below

    def pp_share(self, member: PartyMember) -> float:
        """Return the share of PP left in a member's damaging moves; 1 if it has no such move."""
        left = most = 0
        for slot, number in enumerate(member.moves):
            move = self._moves.get(number)
            if move is not None and move.power and slot < len(member.pp):
                left += member.pp[slot]
                most += move.pp
        return left / most if most else 1.0

    def choose(
        self, state: GameState, memory: PilotMemory, around: Surroundings, *, anyway: bool = False
    ) -> WalkGoal | None:
        """Return a goal that heals, if the party is weak (or ``anyway``); None if no way to heal is known."""
        cure = self._cure(state, memory)
        if cure is not None:
            return cure
        if not anyway and not self.is_weak(state):
            return None
        goal = self.healers(memory)
        key: Key = ("heal", len(memory.healers), *sorted(goal.ends))
        route = self._roads.plan(key, goal, state, memory)
        steps = route.cost if route is not None else None
        if steps is None or steps > self._settings.heal_item_steps:
            thing = self._from_bag(state, memory)
            if thing is not None:
                return thing
        if steps is None or steps > self._settings.heal_steps:
            return self._from_bag(state, memory)
        found = None
        if route is not None and route.goal.map_id == state.map_id and len(route.legs) == 1:
            found = self._here(memory, around)
        end = f"heal/{state.map_id}"
        return (
            found
            or self._objectives.follow(key, goal, end, "to heal", state, memory, around)
            or self._from_bag(state, memory)
        )

    def healers(self, memory: PilotMemory) -> goals.RouteGoal:
        """Return places where someone healed before, known healers, and maps that should have one."""
        ends: dict[int, goals.Ends | None] = dict.fromkeys(
            map_id for map_id in self._healer_maps if self._roads.world.map(map_id) is not None
        )
        ends |= self._roads.of_kind("healer", memory).ends
        for map_id, x, y, facing in memory.healers:
            ends[map_id] = {**(ends.get(map_id) or {}), (x, y): facing}
        tried = self._settings.goal_tries
        return goals.RouteGoal(
            {one: there for one, there in ends.items() if memory.tries.get(f"heal/{one}", 0) < tried}
        )

    def _here(self, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        """Return a goal at a person who healed the party before, else at each person behind a counter in turn."""
        here = around.grid.map_id
        key = f"heal/{here}"
        for map_id, x, y, facing in memory.healers:
            if map_id == here and around.search.reaches(around.grid.cell(x, y)):
                return WalkGoal(TILE, key, here, "heal", PLANNED, x, y, facing)
        behind = [
            person
            for person in around.people
            if around.behind_counter(person) and around.search.nearest(around.talk_ends(person.x, person.y)) is not None
        ]
        if not behind:
            return None
        person = behind[memory.tries.get(key, 0) % len(behind)]
        return WalkGoal(TALK, key, here, "heal", PLANNED, person.x, person.y, person=person.number)

    def _cure(self, state: GameState, memory: PilotMemory) -> WalkGoal | None:
        """Return a goal to use an item on the first member with a status condition that it cures."""
        ailing = [(slot, one) for slot, one in enumerate(state.party.members) if one.status and one.hp and not one.egg]
        if not ailing or not self._settings.use_items or not self._tasks.possible:
            return None
        bag = self._game.bag()
        for slot, member in ailing:
            item = bag.cure(self._game.profile.item_uses, member.status)
            key = f"task/cure/{slot}"
            if item is not None and memory.tries.get(key, 0) < self._settings.goal_tries:
                self._tasks.begin(menu_tasks.USE, item, slot, state, memory)
                return WalkGoal(MENU, key, state.map_id, "use an item that cures", PLANNED)
        return None

    def _from_bag(self, state: GameState, memory: PilotMemory) -> WalkGoal | None:
        """Return a goal to use an item on the most hurt of the first members."""
        if not self._settings.use_items or not self._tasks.possible:
            return None
        bag = self._game.bag()
        revived = self._revive(bag, state, memory)
        if revived is not None:
            return revived
        hurt = [
            (member.hp / max(member.max_hp, 1), slot)
            for slot, member in enumerate(state.party.members)
            if not member.egg and 0 < member.hp < self._settings.heal_below * member.max_hp
        ]
        if not hurt:
            return None
        slot = min(hurt)[1]
        member = state.party.members[slot]
        found = bag.healing(self._game.profile.item_uses, member.max_hp - member.hp)
        key = f"task/use/{slot}"
        if found is None or memory.tries.get(key, 0) >= 2 * self._settings.goal_tries:
            return None
        self._tasks.begin(menu_tasks.USE, found[0], slot, state, memory)
        return WalkGoal(MENU, key, state.map_id, "use an item that heals", PLANNED)

    def _revive(self, bag: Bag, state: GameState, memory: PilotMemory) -> WalkGoal | None:
        """Return a goal to revive the strongest fainted member."""
        item = bag.revival(self._game.profile.item_uses)
        fainted = [
            (member.level, slot)
            for slot, member in enumerate(state.party.members)
            if not member.egg and member.hp == 0 and member.max_hp
        ]
        if item is None or not fainted:
            return None
        slot = max(fainted)[1]
        key = f"task/wake/{slot}"
        if memory.tries.get(key, 0) >= self._settings.goal_tries:
            return None
        self._tasks.begin(menu_tasks.USE, item, slot, state, memory)
        return WalkGoal(MENU, key, state.map_id, "revive a fainted member", PLANNED)

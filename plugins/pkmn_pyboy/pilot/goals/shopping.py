"""Shopping: what to buy, the route to the clerk, and the lists at the counter."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pkmn_pyboy.pilot.goals.context import GoalContext
from pkmn_pyboy.pilot.memory import ENTRY, LEAVE, SURE, TALK, PilotMemory, WalkGoal
from pkmn_pyboy.pilot.notes import NoShop, Purchase
from pkmn_pyboy.pilot.screens import pages
from pkmn_pyboy.pilot.screens.screen_lists import ScreenList, search
from pkmn_pyboy.pilot.walking.legs import PLANNED
from pkmn_pyboy.pilot.walking.routes import Key
from pkmn_pyboy.pilot.walking.surroundings import Surroundings
from pkmn_pyboy.rules_gen2.slots import PARTY_SLOTS
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.world import goals
from pkmn_pyboy.world.records import MapPerson, Role
from pkmn_pyboy.world.route import Route
from pkmncli.api import Action, Decision

_AGAIN_STEPS, _SUPPLIES_AGAIN_STEPS, _LOOK_AGAIN_STEPS = 600, 3000, 60
_MOST_STEPS, _SCROLL_TURN = 120, 12
_LEAST_MONEY = 200
_HEAL_SHARE = 3
_ANYWHERE = 1 << 16


class Shopping:
    """Buyer of balls and healing items at clerks within reach.

    Args:
        context: game, settings, routes and tasks.
    """

    def __init__(self, context: GoalContext) -> None:
        self._game = game = context.game
        self._settings, self._cartridge = context.settings, game.cartridge
        self._objectives, self._roads = context.objectives, context.roads
        self._clerks: tuple[tuple[int, MapPerson], ...] | None = None
        self._names = game.encoded_names

    def choose(self, state: GameState, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        """Return a goal at this map's clerk or on the route to a shop nearby, if there is something to buy."""
        wish = self._wish
        if wish == "never" or state.money < _LEAST_MONEY or not state.party.members:
            return None
        supplies = bool(self._missing(memory))
        if wish == "needed" and not supplies and not memory.strength.losses and (not memory.hunt.wanted or state.balls):
            return None
        balls = wish == "always" or bool(memory.hunt.wanted)
        far = self._settings.supply_steps if supplies else self._settings.shop_steps
        return self._buy_here(balls, state, memory, around) or self._go(balls, far, state, memory, around)

    def for_balls(self, state: GameState, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        """Return a goal at a clerk who sells balls, at any distance; None without such a clerk or money."""
        if self._settings.shop == "never" or not state.party.members:
            return None
        return self._buy_here(True, state, memory, around) or self._go(True, _ANYWHERE, state, memory, around)

    def for_plan(
        self, items: Sequence[tuple[int, int]], state: GameState, memory: PilotMemory, around: Surroundings
    ) -> WalkGoal | None:
        """Return a goal at a clerk who sells a plan's items, at any distance; None if impossible."""
        if self._wish == "never" or not state.party.members:
            return None
        wanted = dict(items)
        others = {item: count for item, count in memory.shop.supplies.items() if item not in wanted}
        memory.shop.supplies = others | wanted
        if not self._missing(memory):
            return None
        return self._buy_here(False, state, memory, around) or self._go(False, _ANYWHERE, state, memory, around)

    def steps_to_balls(self, state: GameState, memory: PilotMemory) -> int | None:
        """Return the steps to the nearest clerk with an affordable ball; None without one."""
        return self.steps_to(self._game.profile.item_uses.ball, state, memory)

    def steps_to(self, items: Collection[int], state: GameState, memory: PilotMemory) -> int | None:
        """Return the steps to the nearest clerk with an affordable one of the items; None without one."""
        if self._wish == "never":
            return None
        route = self._route(self._sellers(set(items), state, memory), state, memory)
        return route.cost if route is not None else None

    def nearest_heals(
        self, state: GameState, memory: PilotMemory
    ) -> tuple[int, tuple[tuple[int, int, int], ...]] | None:
        """Return the steps to the nearest clerk with affordable healing items, and (item, HP, price) of each."""
        heal = self._game.profile.item_uses.heal
        clerks = self._sellers(set(heal), state, memory) if self._wish != "never" else {}
        route = self._route(clerks, state, memory)
        if route is None:
            return None
        goods = self._affordable(clerks[route.goal.map_id], set(heal), state)
        return route.cost, tuple((item, heal[item], price) for item, price in goods.items())

    @property
    def _wish(self) -> str:
        return self._settings.shop if self._game.knowledge != "seen" else "never"

    def _sellers(self, items: set[int], state: GameState, memory: PilotMemory) -> dict[int, MapPerson]:
        """Return the clerks, by map, with an affordable one of the items."""
        return {
            map_id: clerk
            for map_id, clerk in self._all_clerks()
            if self._game.steps >= memory.shop.again.get(str(map_id), 0) and self._affordable(clerk, items, state)
        }

    def _affordable(self, clerk: MapPerson, items: set[int], state: GameState) -> dict[int, int]:
        """Return the prices of the affordable ones among the items at a clerk."""
        shops, known = self._cartridge.shops, self._cartridge.items
        goods = shops[clerk.shop] if 0 <= clerk.shop < len(shops) else ()
        return {
            item: known[item].price
            for item in goods
            if item in items and item in known and 0 < known[item].price <= state.money
        }

    def _route(self, clerks: Mapping[int, MapPerson], state: GameState, memory: PilotMemory) -> Route | None:
        return self._roads.route(self._beside(clerks), state, memory) if clerks else None

    def _beside(self, clerks: Mapping[int, MapPerson]) -> goals.RouteGoal:
        """Return the tiles from which to talk to clerks, by map."""
        world = self._cartridge.world
        found = ((world.map(map_id), clerk) for map_id, clerk in clerks.items())
        return goals.RouteGoal(
            {there.map_id: goals.talk_ends(there, world.rules, clerk.x, clerk.y) for there, clerk in found if there}
        )

    def _missing(self, memory: PilotMemory) -> list[tuple[int, int]]:
        """Return the supplies that are not in the bag yet."""
        if not memory.shop.supplies:
            return []
        bag = self._game.bag()
        return [(item, count) for item, count in memory.shop.supplies.items() if bag.count(item) < count]

    def _buy_here(self, balls: bool, state: GameState, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        here = state.map_id
        clerk = self._clerk(here)
        if clerk is None or self._game.steps < memory.shop.again.get(str(here), 0):
            return None
        person = next((one for one in around.people if one.number == clerk.number), None)
        if person is None or around.search.nearest(around.talk_ends(person.x, person.y)) is None:
            return None
        wanted = self.wanted(clerk.shop, state, balls=balls, supplies=memory.shop.supplies)
        if not wanted:
            return None
        memory.shop.purchases = wanted
        memory.shop.steps = 0
        again = _AGAIN_STEPS if not self._missing(memory) else _SUPPLIES_AGAIN_STEPS
        memory.shop.again[str(here)] = self._game.steps + again
        return WalkGoal(TALK, f"shop/{here}", here, "buy", PLANNED, person.x, person.y, person=person.number)

    def _go(
        self, balls: bool, far: int, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> WalkGoal | None:
        """Return a goal on the route to the nearest shop with a wanted item, if it is near enough."""
        here, steps = state.map_id, self._game.steps
        none_near = memory.shop.none_near
        if far < _ANYWHERE and none_near is not None and none_near.map_id == here and steps < none_near.until:
            return None
        ends = {}
        for map_id, clerk in self._all_clerks():
            there = self._cartridge.world.map(map_id)
            if map_id == here or there is None or steps < memory.shop.again.get(str(map_id), 0):
                continue
            if self.wanted(clerk.shop, state, balls=balls, supplies=memory.shop.supplies):
                ends[map_id] = goals.talk_ends(there, self._cartridge.world.rules, clerk.x, clerk.y)
        key: Key = ("shop", *sorted(ends))
        route = self._roads.plan(key, goals.RouteGoal(ends), state, memory) if ends else None
        if route is None or route.cost > far:
            memory.shop.none_near = NoShop(here, steps + _LOOK_AGAIN_STEPS)
            return None
        return self._objectives.follow(key, goals.RouteGoal(ends), "", "to the shop", state, memory, around)

    def _all_clerks(self) -> tuple[tuple[int, MapPerson], ...]:
        """Return all known clerks with their maps."""
        if self._clerks is None:
            found = ((map_id, self._clerk(map_id)) for map_id in self._cartridge.world.map_ids())
            self._clerks = tuple((map_id, clerk) for map_id, clerk in found if clerk is not None)
        return tuple(one for one in self._clerks if self._is_known(*one))

    def _is_known(self, map_id: int, clerk: MapPerson) -> bool:
        """Return whether a clerk was seen, if only seen tiles are known."""
        if self._roads.seen is None:
            return True
        there = self._roads.seen.map(map_id)
        return there is not None and any(one.number == clerk.number for one in there.people)

    def wanted(
        self, shop: int, state: GameState, *, balls: bool = True, supplies: Mapping[int, int] | None = None
    ) -> list[Purchase]:
        """Return what to buy of what this shop sells and the player lacks, as far as the money lasts.

        Args:
            shop: the shop's number.
            state: the money, and the party.
            balls: whether balls are wanted.
            supplies: counts of items to have before anything else.
        """
        shops, items = self._cartridge.shops, self._cartridge.items
        if not 0 <= shop < len(shops):
            return []
        uses = self._game.profile.item_uses
        bag = self._game.bag()
        prices = {item: items[item].price for item in shops[shop] if item in items and items[item].price}
        money, found = state.money, list[Purchase]()
        for item, count in (supplies or {}).items():
            number = min(count - bag.count(item), money // prices[item]) if item in prices else 0
            if number > 0:
                found.append(Purchase(item, bag.count(item) + number))
                money -= number * prices[item]
        if found and (not balls or bag.balls or any(item in uses.ball for item, _ in found)):
            return found
        kinds = sorted((prices[item], item) for item in prices if balls and item in uses.ball)
        owned = sum(bag.balls.values())
        if kinds and owned < self._settings.balls_wanted and state.party.count < PARTY_SLOTS:
            price, item = kinds[0]
            spare = max(money // 2 // price, int(not owned and money >= price))
            count = min(self._settings.balls_wanted - owned, spare)
            if count > 0:
                found.append(Purchase(item, bag.count(item) + count))
                money -= count * price
        healing = [(uses.heal[item], item) for item in prices if item in uses.heal]
        healing = [pair for pair in healing if prices[pair[1]] * _HEAL_SHARE <= money]
        owned = sum(bag.items.get(item, 0) for item in uses.heal)
        if healing and owned < self._settings.heal_items_wanted:
            _, item = max(healing)
            count = min(self._settings.heal_items_wanted - owned, money // prices[item])
            if count > 0:
                found.append(Purchase(item, bag.count(item) + count))
        return found

    def act(self, state: GameState, memory: PilotMemory) -> Decision | None:
        """Act on a clerk's lists; None if the screen is none of them."""
        memory.shop.steps += 1
        if memory.shop.steps > _MOST_STEPS:
            memory.shop.purchases = []
        if not state.menu.cursor_shown:
            return None
        bag = self._game.bag()
        items = self._cartridge.items
        left = (
            (place, item)
            for place, (item, count) in enumerate(memory.shop.purchases)
            if bag.count(item) < count and item in items and items[item].price <= state.money
        )
        place, wanted = next(left, (0, 0))
        clerk = self._clerk(state.map_id)
        goods = self._cartridge.shops[clerk.shop] if clerk is not None else ()
        screen = ScreenList.read(self._game, memory)
        listed = any(screen.rows_of(self._names.items.get(item, b"")) for item in goods)
        if not wanted:
            memory.point(LEAVE)
            return Decision(Action.B, "leave the shop", SURE)
        press = screen.press_for(self._names.items.get(wanted, b""))
        if press is Action.A and pages.in_vain(memory, self._settings, f"buy/{wanted}", [state.money]):
            # The bag is full, for example. The item stays listed with a count of 0, so that the lists are left.
            memory.shop.purchases[place] = Purchase(wanted, 0)
            memory.point(LEAVE)
            return Decision(Action.B, "the game refuses it", SURE)
        if press is not None:
            return Decision(press, "buy", SURE)
        if listed and screen.column < 2:
            return search(memory, memory.shop.steps, "buy: look for it", _SCROLL_TURN)
        memory.point(ENTRY, min(1 - state.menu.cursor_row, 0))
        if state.menu.cursor_row > 1:
            return Decision(Action.UP, "buy", SURE)
        return Decision(Action.A, "buy", SURE)

    def _clerk(self, map_id: int) -> MapPerson | None:
        here = self._cartridge.world.map(map_id)
        people = here.people if here is not None else ()
        return next((one for one in people if one.role is Role.CLERK and one.shop >= 0), None)

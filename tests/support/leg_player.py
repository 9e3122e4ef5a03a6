"""Plays a list of legs: walk to a tile of a map by the navigation code, face and press there, fight what comes."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.walking.surroundings import Lookout, Surroundings
from pkmn_pyboy.state.game_state import Facing, Phase
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.changed_world import ChangedWorld
from pkmn_pyboy.world.records import Place
from pkmn_pyboy.world.route_planner import RoutePlanner
from pkmn_pyboy.world.tile_rules import PRESSES
from pkmncli.api import Action

MakeEnvironment = Callable[..., PokemonEnvironment]
LEGS = Path(__file__).parents[1] / "plugins/pkmn_pyboy/quillwood/legs.toml"
WEAK = 0.45
BALLS, LESSONS = 1, 3  # pockets of the pack
MOST_STEPS = 20_000
AFTER_CREDITS = "a . a . a . a . " + ". " * 40 + "start . . a . . a . . . ."
"""The last words, the credits, and from the title to the map: CONTINUE, and A on the page with badges and play time."""


@dataclass(frozen=True)
class Leg:
    """A place to go to. With ``facing`` the player turns there and presses A, until ``milestone`` is reached.

    ``level``: before, the lead trains to it on the grass ``grass`` and is mended at ``heal`` when weak.
    ``teach``: there, the lesson of this field move is taught. ``ride``: from there the player goes on in straight lines
    to these tiles, over water or against a boulder. ``tap``: there these buttons are pressed. ``catch``: there wild
    creatures are met until one of this species is caught. ``ends``: the credits follow, and
    the saved game is gone on with.
    """

    map: tuple[int, int]
    x: int
    y: int
    facing: str | None = None
    milestone: str | None = None
    level: int = 0
    grass: str | None = None
    heal: str | None = None
    teach: str | None = None
    ride: tuple[tuple[int, int], ...] = ()
    tap: str = ""
    catch: int = 0
    ends: bool = False

    @property
    def map_id(self) -> int:
        return self.map[0] * 256 + self.map[1]


def read_legs(path: Path) -> tuple[list[Leg], dict[str, Leg]]:
    """The legs in order, and the named places."""
    data = tomllib.loads(path.read_text())

    def leg(row: dict[str, object]) -> Leg:
        ride = tuple((x, y) for x, y in row.get("ride", ()))  # type: ignore[attr-defined]
        return Leg(**{**row, "map": tuple(row["map"]), "ride": ride})  # type: ignore[arg-type]

    return [leg(row) for row in data["leg"]], {name: leg(row) for name, row in data["place"].items()}


class LegPlayer:
    """Plays legs on an environment. All that is no walking is left to the pilot."""

    def __init__(self, environment: PokemonEnvironment, places: dict[str, Leg], seed: int = 0) -> None:
        self.environment = environment
        self.places = places
        environment.reset(seed=seed)
        self.pilot = RulesPilot(environment)
        self.pilot.reset(seed)
        self._lookout = Lookout(environment.game)
        self._world = ChangedWorld(Cartridge(environment.rom.data, environment.profile).world)
        self._routes = RoutePlanner(self._world)
        self._waited = 0
        self._paced = 0

    def play(self, leg: Leg) -> None:
        """One leg, with the training that it asks for."""
        if leg.level and leg.grass and leg.heal:
            self._train(leg.level, self.places[leg.grass], self.places[leg.heal])
            self._mend(self.places[leg.heal])
        extra = 0
        while True:
            arrived = self.go(leg)
            if leg.teach is not None and arrived:
                self.teach(leg.teach)
            if leg.tap and arrived:
                self.tap(leg.tap)
            if leg.catch and arrived:
                self.catch(leg)
            if leg.facing is not None and arrived:
                self.speak(leg)
            if leg.ends:
                self.tap(AFTER_CREDITS)
            if leg.ride and arrived:
                for x, y in leg.ride:
                    self.ride(x, y)
            if leg.milestone is None or self.reached(leg.milestone):
                return
            if not arrived or leg.grass is None or leg.heal is None:
                continue
            # beaten: some more training
            extra += 1
            assert extra < 12, f"{leg} does not succeed"
            self._train(self._level() + 1, self.places[leg.grass], self.places[leg.heal])
            self._mend(self.places[leg.heal])

    def teach(self, name: str) -> int:
        """Teaches a lesson by the pages of the pack to the first member that can learn it; returns the member."""
        lesson = self.environment.profile.field_moves[name]
        members = self.environment.state.party.members
        slot = next(slot for slot, member in enumerate(members) if self.can_learn(member.species, lesson.machine))
        owned = self.field("wTMsHMs")
        entry = sum(1 for count in owned[: lesson.machine] if count)
        self.tap("start . down a . . .")
        while self.field("wCurPocket")[0] != LESSONS:
            self.tap("right . . .")
        self.tap(
            "up . " * len(owned[50:]) + "down . " * entry + "a . . a . . . a . . . a . . . . ."
        )  # USE, two pages, YES
        self.tap("down . " * slot + "a . . .")
        record = self.field(f"wPartyMon{slot + 1}")
        if record[5]:
            self.tap("a . . . a . . . a . . . . ")  # three pages, YES: another move makes room
            keeps = {move.move for move in self.environment.profile.field_moves.values()}
            old = next(place for place in (1, 2, 3) if record[2 + place] not in keeps)
            self.tap("down . " * old + "a . . .")
        self.tap("a . . . b . . . b . . .")
        assert lesson.move in self.field(f"wPartyMon{slot + 1}")[2:6]
        return slot

    def catch(self, leg: Leg) -> None:
        """Meets wild creatures around a place until one of the species is caught; others are left to the pilot."""
        start = self.environment.steps
        while all(member.species != leg.catch for member in self.environment.state.party.members):
            assert self.environment.steps < start + MOST_STEPS, f"{leg}: none was caught"
            battle = self.environment.state.battle
            foe = battle.opponent if battle is not None else None
            if self.environment.state.phase is Phase.FREE:
                if self.environment.state.map_id != leg.map_id or self._weak():
                    self._mend(self.places[str(leg.heal)])
                    self.go(leg)
                self._pace()
            elif self.environment.state.phase is Phase.BATTLE_MENU and foe is not None and foe.species == leg.catch:
                self._throw()
            else:
                self._press(None)

    def _throw(self) -> None:
        """The first capsule in the pack, from the menu of a battle."""
        assert self.field("wNumBalls")[0], "no capsule is left"
        self.tap("up left . down a . . . .")
        while self.field("wCurPocket")[0] != BALLS:
            self.tap("right . .")
        self.tap("a . . a . . . . . . . . . .")

    def can_learn(self, species: int, machine: int) -> bool:
        """By the bits of the species' base data in the image."""
        at = self.environment.profile.memory.rom_tables["BaseData"].offset + (species - 1) * 32 + 24 + machine // 8
        return bool(self.environment.rom.data[at] >> machine % 8 & 1)

    def ride(self, x: int, y: int) -> None:
        """Goes on in a straight line, whatever the navigation holds of it."""
        start = self.environment.steps
        while (self.environment.state.x, self.environment.state.y) != (x, y):
            assert self.environment.steps < start + MOST_STEPS, f"{x}, {y}: not reached"
            state = self.environment.state
            if state.phase is not Phase.FREE:
                self._press(None)
                continue
            if state.y != y:
                self._press(Action.UP if state.y > y else Action.DOWN)
            else:
                self._press(Action.LEFT if state.x > x else Action.RIGHT)

    def tap(self, buttons: str) -> None:
        """Buttons by name; "." waits."""
        for button in buttons.split():
            self.environment.emulator.press(None if button == "." else button, 10, 24, render=False)
        self.environment.advance(int(Action.NONE))

    def field(self, name: str, size: int = 0) -> bytes:
        """A field of memory."""
        memory = self.environment.profile.memory[name]
        return self.environment.emulator.read(memory.bank, memory.address, size or memory.size)

    def reached(self, key: str) -> bool:
        return self.environment.milestone_steps()[list(self.environment.milestone_names).index(key)] >= 0

    def _level(self) -> int:
        return max(member.level for member in self.environment.state.party.members)

    def _weak(self) -> bool:
        lead = self.environment.state.party.lead
        return lead is not None and (lead.hp < WEAK * lead.max_hp or lead.status != 0)

    def _train(self, level: int, grass: Leg, heal: Leg) -> None:
        while True:
            lead = self.environment.state.party.lead
            if self.environment.state.phase is Phase.FREE and lead is not None:
                if lead.level >= level:
                    return
                if self._weak():
                    self._mend(heal)
                elif self.environment.state.map_id != grass.map_id or self._paced == 0:
                    self.go(grass)
                    self._paced = 20
                else:
                    self._paced -= 1
                    self._pace()
            else:
                self._press(None)

    def _mend(self, heal: Leg) -> None:
        while self.environment.state.party.hp_share < 1 or self._weak():
            if self.go(heal):
                self.speak(heal)

    def _pace(self) -> None:
        around = self._around()
        if around is None:
            self._press(Action.NONE)
            return
        beside = [
            (cell, way)
            for cell, way in around.search.first_moves()
            if around.grid.tiles[cell] in around.rules.grass or not around.rules.grass & set(around.grid.tiles)
        ]
        ways = beside or around.search.first_moves()
        _, way = ways[self.environment.steps % len(ways)]
        self._press(PRESSES[way])

    def speak(self, leg: Leg) -> None:
        """Turns, presses A, and plays on until there is control again. Where the game ends, only until then."""
        facing = Facing[str(leg.facing).upper()]
        state = self.environment.state
        if state.facing is not facing:
            self._press(PRESSES[facing])
        self._press(Action.A)
        for _ in range(8):
            if self.environment.state.phase is not Phase.FREE:
                break
            self._press(Action.NONE)
        while self.environment.state.phase is not Phase.FREE:
            if leg.ends and self.reached(str(leg.milestone)):
                return
            self._press(None)

    def go(self, leg: Leg) -> bool:
        """Walks there; false when something came between (a lost battle), or the leg's milestone was reached."""
        start = self.environment.steps
        while True:
            assert self.environment.steps < start + MOST_STEPS, f"{leg}: not reached"
            state = self.environment.state
            if state.phase is not Phase.FREE:
                self._press(None)
                continue
            if leg.milestone is not None and self.reached(leg.milestone):
                return False
            if (state.map_id, state.x, state.y) == (leg.map_id, leg.x, leg.y):
                return True
            around = self._around()
            step = self._step(leg, around) if around is not None else None
            self._press(Action.NONE if step is None else step)

    def _step(self, leg: Leg, around: Surroundings) -> int | None:
        state, grid = self.environment.state, around.grid
        ends: dict[int, int]
        if state.map_id == leg.map_id and around.search.reaches(grid.cell(leg.x, leg.y)):
            ends = {grid.cell(leg.x, leg.y): -1}
        else:
            ends = self._exit(leg, around)
        nearest = around.search.nearest(ends)
        if nearest is None:
            return None
        steps = around.search.directions(nearest[0])
        if steps:
            way = steps[0][1]
            use = around.needs_use(grid.cell(state.x, state.y), way) and state.facing is Facing[PRESSES[way].name]
            return int(Action.A if use else PRESSES[way])
        if ends[nearest[0]] >= 0:
            return int(PRESSES[ends[nearest[0]]])
        # on a door that acts when entered: off it, then back
        moves = around.search.first_moves()
        return int(PRESSES[moves[0][1]]) if moves else None

    def _exit(self, leg: Leg, around: Surroundings) -> dict[int, int]:
        """The ends of the exit on the planned way to the leg's map, or to another part of this one."""
        place = Place(*self.environment.state.position)
        goal = Place(leg.map_id, leg.x, leg.y)
        able = self.environment.game.abilities()
        self._world.follow_bytes(self.field("wEventFlags"))
        route = self._routes.route(place, goal, able) or self._routes.route(place, goal, able, through_obstacles=True)
        if route is None:
            return {}
        cell = around.grid.cell(*route.legs[0].tiles[-1])
        return next((way.ends for way in around.exits if cell in way.ends), {})

    def _around(self) -> Surroundings | None:
        return self._lookout.look(self.environment.state, self.pilot.memory, grass_cost=3)

    def _press(self, action: Action | int | None) -> None:
        """A press, or what the pilot does where it is not for walking."""
        if self.environment.state.phase is Phase.FREE:
            self.pilot.memory.text.answers.clear()  # what was asked before is no repetition
        chosen = self.pilot.act(None).action if action is None else int(action)
        if not self.environment.mask[chosen]:
            chosen = int(Action.NONE)
        self.environment.advance(chosen)


def begin(make: MakeEnvironment, seed: int = 0) -> LegPlayer:
    """A player in the bedroom."""
    environment = make(observation_type="state", max_steps_per_episode=50_000)
    return LegPlayer(environment, read_legs(LEGS)[1], seed)


def play_until(player: LegPlayer, milestone: str) -> None:
    """All legs up to the one that leads to a milestone."""
    for leg in read_legs(LEGS)[0]:
        player.play(leg)
        if leg.milestone == milestone:
            return
    raise AssertionError(f"no leg leads to {milestone}")

"""Pilot ``rules``: passes each phase of the game to the part that handles it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pkmn_pyboy.pilot.advice import ADVICE_PREFIX, BATTLE_SKILLS, SKILLS, AdviceFollower
from pkmn_pyboy.pilot.battle.fighter import Fighter
from pkmn_pyboy.pilot.battle.move_learning import MoveLearner
from pkmn_pyboy.pilot.battle.tables import BattleTables
from pkmn_pyboy.pilot.goals.choosing import GoalChooser
from pkmn_pyboy.pilot.memory import FLOOR, GRASS, LIKELY, MENU, SURE, WATER, PilotMemory
from pkmn_pyboy.pilot.notes import Healer, Interruption, Tuning
from pkmn_pyboy.pilot.screens import dialogue, pages
from pkmn_pyboy.pilot.screens.menu_tasks import MenuTasks
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.travel import Traveller
from pkmn_pyboy.pilot.walking.routes import Roads
from pkmn_pyboy.pilot.watchdog import Watchdog
from pkmn_pyboy.state.game_state import BATTLE_PHASES, GameState, Phase
from pkmn_pyboy.world.changed_world import ChangedWorld
from pkmn_pyboy.world.map_moves import Costs
from pkmn_pyboy.world.observer import WorldObserver
from pkmn_pyboy.world.route_planner import RoutePlanner
from pkmn_pyboy.world.seen_world import SeenWorld
from pkmncli.api import Action, Advice, Decision

if TYPE_CHECKING:
    from pkmn_pyboy.game import HasGame

_TEXT_PHASES = frozenset({Phase.DIALOGUE, Phase.CHOICE, Phase.MENU, Phase.CUTSCENE})
_HEALED, _HURT = 0.99, 0.95
_OPENS_TEXT = frozenset({Action.A, Action.START})
_MENUS = frozenset({Phase.MENU, Phase.CHOICE})
_TITLE_PHASES = frozenset({Phase.MENU, Phase.CUTSCENE})
"""Phases of the title screen and its menus, besides texts and questions."""
_FALLBACK = (Action.A, Action.B)


class RulesPilot:
    """Pilot that plays by rules common to all games of this kind and by the milestones of the game's profile.

    Args:
        environment: the environment, or its game; only read, no button is pressed.
        settings: the pilot's settings; the defaults if None.
    """

    skills = SKILLS

    def __init__(self, environment: HasGame, settings: PilotSettings | None = None) -> None:
        self.settings = settings = settings or PilotSettings()
        self._game = game = environment.game
        self.tasks = MenuTasks(game, settings)
        cartridge = game.cartridge
        self.seen: SeenWorld | None = None
        """World as seen in this episode, if the pilot knows nothing else of it; otherwise None."""
        self._observer: WorldObserver | None = None
        if game.knowledge == "seen" or not cartridge.world.map_ids():
            self.seen = SeenWorld(game.profile)
            self._observer = WorldObserver(game.emulator, game.profile, self.seen)
        self._changed = ChangedWorld(cartridge.world)
        world = self.seen or self._changed
        roads = Roads(game, RoutePlanner(world, Costs(grass=settings.grass_cost)))
        self.chooser = GoalChooser(game, settings, roads, self.tasks)
        self._watchdog = Watchdog(game, settings, self.chooser.planner)
        self._traveller = Traveller(game, settings, self.chooser, self.seen or self._changed)
        tables = BattleTables(cartridge)
        self._fighter = Fighter(game, settings, tables)
        self._learner = MoveLearner(game, settings, tables)
        self._advice = AdviceFollower(game)
        self.memory = PilotMemory()
        """Notes of the current episode."""
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Start an episode. All random choices derive from ``seed``."""
        self.memory = PilotMemory(random=seed & (1 << 64) - 1)
        self._watchdog.begin(self.memory)
        self._changed.clear()
        if self.seen is not None and self._observer is not None:
            self.seen.clear()
            self._observer.reset()
        self._advice.reset()

    def act(self, advice: Advice | None = None) -> Decision:
        """Return the next action with its reason and confidence. The game's mask allows the action."""
        game, memory = self._game, self.memory
        state = game.state
        memory.aim = None
        if self._observer is not None:
            self._observer.note(state)
        self._notice(state)
        self._watchdog.look(state, memory)
        decision = self._advice.act(advice, state, memory)
        if decision is None:
            decision = self._by_rules(state)
            wish = memory.advice.wish
            if wish is not None and wish.skill in BATTLE_SKILLS and state.phase in BATTLE_PHASES:
                decision = Decision(decision.action, f"{ADVICE_PREFIX}{decision.reason}", wish.confidence)
        return self._settled(decision, advice)

    def reconsider(self, advice: Advice) -> Decision | None:
        """Return the action for new advice in a state that :meth:`act` has already decided; None to keep that decision.

        Advice about a state is thus followed in that state, not one step later, when the player may have gone through a
        door. Texts, menus and battles keep the decision.
        """
        state, memory = self._game.state, self.memory
        self._advice.begin(memory)
        decision = self._advice.act(advice, state, memory)
        if decision is None and memory.advice.wish is not None and state.phase is Phase.FREE and not memory.walk.wander:
            decision = self._traveller.decide(state, memory)
        if decision is None:
            return None
        memory.aim = None  # the old aim belongs to the earlier decision
        return self._settled(decision, advice)

    def _settled(self, decision: Decision, advice: Advice | None) -> Decision:
        """Return the decision with an allowed action and its effect on the advice."""
        game, memory = self._game, self.memory
        advised = decision.reason.startswith(ADVICE_PREFIX)
        over = decision.advice_over or self._advice.is_over(advice, memory)
        action = decision.action
        if not game.mask[action]:
            action = next((action for action in _FALLBACK if game.mask[action]), Action.NONE)
            advised = False
        memory.proposed, memory.reason = int(action), decision.reason
        return Decision(memory.proposed, decision.reason, decision.confidence, advised, over)

    @property
    def advice_end(self) -> str:
        """End of the latest advice, as a clause for people."""
        return self._advice.end

    def reports(self) -> list[dict[str, Any]]:
        """Return new or changed stall reports, which say where the pilot made no progress, as plain values."""
        return self._watchdog.take_reports(self.memory)

    def save_state(self) -> dict[str, Any]:
        """Return the pilot's memory as plain values."""
        state = self.memory.to_json()
        state["changed_maps"] = self._changed.save_state()
        if self.seen is not None and self._observer is not None:
            state["seen"] = {"world": self.seen.save_state(), "observer": self._observer.save_state()}
        return state

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`save_state` returned."""
        self.memory = PilotMemory.from_json(state)
        self._watchdog.begin(self.memory)
        self._changed.load_state(state.get("changed_maps", {}))
        if self.seen is not None and self._observer is not None:
            self._observer.reset()
            self.seen.clear()
            if "seen" in state:
                self.seen.load_state(state["seen"]["world"])
                self._observer.load_state(state["seen"]["observer"])
        self._advice.reset()

    def _notice(self, state: GameState) -> None:
        """Count phases and note interruptions and healing."""
        memory, phase = self.memory, state.phase
        memory.phase_steps = memory.phase_steps + 1 if phase == memory.phase else 0
        memory.phase = int(phase)
        pages.note(state, memory)
        if phase in BATTLE_PHASES:
            memory.walk.interrupted = Interruption.BATTLE
            self.chooser.note_battle(state, memory)
            memory.strength.lost = bool(state.party.members) and state.party.hp_share == 0.0
            if memory.strength.lost:
                memory.strength.nemesis = self._opposing_trainer(state)
        else:
            memory.leave_battle()
            if phase in _TEXT_PHASES and not memory.walk.interrupted:
                pressed = self._game.pressed
                others = pressed in _OPENS_TEXT and pressed != memory.proposed
                memory.walk.interrupted = Interruption.OTHERS if others else Interruption.TEXT
        health = state.party.hp_share
        healed = health >= _HEALED and 0.0 < memory.health < _HURT and state.map_id == memory.map_id
        # The bag's screens hide the map: an item used there says nothing about the tile.
        if healed and phase in _TEXT_PHASES and not state.menu.full_screen:
            place = Healer(state.map_id, state.x, state.y, int(state.facing))
            if place not in memory.healers:
                memory.healers.append(place)
        memory.health = health
        if phase is Phase.FREE and memory.shop.purchases and memory.shop.steps:
            memory.shop.purchases = []
        if phase is Phase.FREE and memory.task and memory.task_steps:
            memory.task = None
        if phase is Phase.FREE and memory.tuning is not None and not self._is_to_tune(memory.tuning, memory):
            memory.tuning = None
        lead = state.party.lead
        if memory.strength.lost and phase is Phase.FREE and lead is not None:
            memory.strength.lost = False
            self.learn_from_loss(lead.level, memory)

    def learn_from_loss(self, level: int, memory: PilotMemory) -> None:
        """Train more after losing to a trainer, who is met again; avoid this ground after losing to wild Pokemon."""
        if memory.strength.nemesis or self.seen is not None or "wOtherTrainerID" not in self._game.profile.memory:
            memory.strength.losses += 1
            memory.strength.train_to = level + self.settings.train_levels
            return
        until = self._game.steps + self.settings.poor_ground_steps
        memory.strength.poor_grounds |= {f"{memory.map_id}/{on}": until for on in (GRASS, FLOOR, WATER)}
        memory.strength.plans, memory.hunt.grounds = {}, {}

    @staticmethod
    def _is_to_tune(tuning: Tuning, memory: PilotMemory) -> bool:
        """Return whether the menu must still be opened for the radio."""
        return not tuning.steps and memory.goal is not None and memory.goal.kind == MENU

    def _opposing_trainer(self, state: GameState) -> tuple[int, int] | None:
        """Return class and number of the opposing trainer; None in a wild battle."""
        places, battle = self._game.profile.memory, state.battle
        if battle is None or not battle.trainer_class or "wOtherTrainerID" not in places:
            return None
        return battle.trainer_class, int(places.read(self._game.emulator, "wOtherTrainerID"))

    def _by_rules(self, state: GameState) -> Decision:
        game, memory = self._game, self.memory
        phase = state.phase
        if phase is Phase.FREE:
            return self._traveller.act(state, memory)
        if phase in _TEXT_PHASES and memory.tuning:
            tuned = self.chooser.radio.act(state, memory)
            if tuned is not None:
                return tuned
        if not state.loaded and phase in _TITLE_PHASES:
            return dialogue.begin_game(game, state, memory)
        if pages.overdue(state, memory, self.settings):
            return pages.leave(memory, self.settings)
        opens = pages.wait(memory, self.settings)
        if opens is not None and not dialogue.is_naming(game, state):
            return opens
        if phase is Phase.DIALOGUE:
            return dialogue.read_on(memory)
        if phase is Phase.BATTLE:
            page = self._fighter.use_page(state, memory)
            if page is not None:
                return page
        asked = phase is Phase.CHOICE or dialogue.asks_in_battle(state)
        if asked or (phase is Phase.MENU and memory.forget):
            learning = self._learner.act(state, memory)
            if learning is not None:
                return learning
        if phase in _MENUS and memory.shop.purchases:
            bought = self.chooser.shopping.act(state, memory)
            if bought is not None:
                return bought
        if phase in _MENUS and memory.task:
            job = self.tasks.act(state, memory)
            if job is not None:
                return job
        if asked:
            return dialogue.answer(game, memory, self.settings, self.chooser.refuse_words)
        if phase is Phase.MENU:
            return dialogue.leave_menu(game, state, memory)
        if phase is Phase.BATTLE_MENU:
            return self._fighter.choose_action(state, memory)
        if phase is Phase.BATTLE_MOVES:
            return self._fighter.choose_move(state, memory)
        if phase is Phase.BATTLE:
            return dialogue.read_on_in_battle(memory)
        if phase is Phase.CUTSCENE:
            return dialogue.wait_for_scene(memory)
        if phase is Phase.TRANSITION and state.map_group == 0:
            return Decision((Action.START, Action.A)[memory.phase_steps % 2], "begin the game", LIKELY)
        return Decision(Action.NONE, "wait for control", SURE)

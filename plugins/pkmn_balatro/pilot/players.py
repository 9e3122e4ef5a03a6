"""Pilots ``greedy`` and ``planning``."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pkmn_balatro import actions as at
from pkmn_balatro.pilot.buying import Buyer, Prices, targets
from pkmn_balatro.pilot.draws import Choice
from pkmn_balatro.pilot.plays import best_play, known, options_of
from pkmn_balatro.pilot.settings import PlanningSettings
from pkmn_balatro.simulator import blinds
from pkmn_balatro.simulator import consumables as kinds
from pkmn_balatro.simulator.run import Category, Phase
from pkmn_balatro.skills import SKILLS, action_of
from pkmn_balatro.taking import consumable_of
from pkmncli.api import Advice, Decision

if TYPE_CHECKING:
    from pkmn_balatro.environment import BalatroEnvironment
    from pkmncli.api import Skill

_REASON_CHARACTERS: Final = 50
SURE: Final = 0.9
LIKELY: Final = 0.7


class Player:
    """Pilot of the environment: follows advice, and plays by rules otherwise.

    Args:
        environment: the environment, which is only read.
    """

    skills: ClassVar[tuple[Skill, ...]] = SKILLS
    unbroken: ClassVar[bool] = True

    def __init__(self, environment: BalatroEnvironment) -> None:
        self.environment = environment
        self._seed, self._done = 0, -1
        self.advice_end = ""
        """End of the latest advice, as a clause for people."""

    def reset(self, seed: int) -> None:
        """Begin an episode."""
        self._seed, self._done = seed, -1

    def act(self, advice: Advice | None = None) -> Decision:
        """Return the next action with its reason and confidence. The mask allows the action."""
        if advice is None:
            self._done = -1
            return self.by_rules()
        self._done += 1
        return self._advised(advice)

    def reconsider(self, advice: Advice) -> Decision | None:
        """Return the first action of new advice, in place of the decision before it."""
        self._done = 0
        return self._advised(advice)

    def _advised(self, advice: Advice) -> Decision:
        """Return the action that advice asks for; by the rules, and the advice over, if that is not possible."""
        environment = self.environment
        self.advice_end = "all of it is done"
        words = f"advice: {(advice.reason or advice.goal)[:_REASON_CHARACTERS]}"
        if advice.skill in _SKILL_NAMES:
            action = action_of(environment, advice.skill, advice.arguments)
            chosen = environment.pending is not None
            if action is not None and (self._done == 0 or chosen):
                opens = advice.skill == "use_item" and not chosen and self._needs_targets(action)
                return Decision(action, words, advice.confidence, True, not opens)
        elif self._done < len(advice.presses):
            action = advice.presses[self._done]
            if 0 <= action < environment.actions.count and environment.action_masks()[action]:
                return Decision(action, words, advice.confidence, True, self._done == len(advice.presses) - 1)
        self.advice_end = "it can't be done in this situation"
        if advice.skill not in _SKILL_NAMES and self._done < len(advice.presses):
            self.advice_end = f"its action {self._done + 1} of {len(advice.presses)} is not allowed now"
        return self.by_rules()._replace(advice_over=True)

    def _needs_targets(self, action: int) -> bool:
        needed = self.environment.game.can_use(action - at.USE) if at.USE <= action < at.SELL_JOKER else None
        return needed is not None and needed[1] > 0

    def by_rules(self) -> Decision:
        """Return the action without advice."""
        raise NotImplementedError

    def _targets(self) -> Decision:
        """Return the choice of targets that is open."""
        environment = self.environment
        assert environment.pending is not None
        action, fewest, most = environment.pending
        run = environment.game.run
        chosen = targets(run, consumable_of(run, action), environment.visible_places, fewest, most)
        choice = environment.actions.choice_of(chosen)
        if environment.action_masks()[choice]:
            return Decision(choice, "choose targets", LIKELY)
        return self._any("no targets")

    def _any(self, reason: str) -> Decision:
        """Return the first action that is allowed, of those that lead on."""
        mask = self.environment.action_masks()
        for action in (at.SELECT_BLIND, at.LEAVE_SHOP, at.SKIP_PACK):
            if mask[action]:
                return Decision(action, reason, LIKELY)
        later = int(mask[at.SORT_BY_SUIT + 1 :].argmax()) + at.SORT_BY_SUIT + 1
        return Decision(later if mask[later] else int(mask.argmax()), reason, LIKELY)

    def _checked(self, action: int, reason: str, confidence: float = SURE) -> Decision:
        if self.environment.action_masks()[action]:
            return Decision(action, reason, confidence)
        return self._any(f"{reason} is not possible")

    def save_state(self) -> dict[str, Any]:
        """Return the memory as plain values."""
        return {"seed": self._seed, "done": self._done}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`save_state`."""
        self._seed, self._done = int(state["seed"]), int(state["done"])


_SKILL_NAMES: Final = frozenset(skill.name for skill in SKILLS)


class GreedyPlayer(Player):
    """Pilot ``greedy``: always the play that scores most, never a discard; jokers and planets while money lasts."""

    def by_rules(self) -> Decision:
        """Return the action without advice."""
        environment = self.environment
        if environment.pending is not None:
            return self._targets()
        game, mask = environment.game, environment.action_masks()
        run = game.run
        if run.phase == Phase.PLAY:
            view = known(run)
            total, play = best_play(view, environment.visible_places, options_of(run))
            return self._checked(environment.actions.play_of(play), f"play for {total:,}")
        for place, kind in enumerate(run.consumables[: at.MOST_CONSUMABLES]):
            if kinds.is_planet(kind):
                return self._checked(at.USE + place, "use the planet")
        if run.phase == Phase.SHOP:
            for place, offer in enumerate(run.shop[: at.SHOP_SLOTS]):
                planet = offer.category == Category.CONSUMABLE and offer.item in kinds.PLANETS
                if mask[at.BUY + place] and (offer.category == Category.JOKER or planet):
                    return Decision(at.BUY + place, "buy", SURE)
        elif run.phase == Phase.PACK:
            for place in range(at.PACK_ITEMS):
                if mask[at.PICK + place]:
                    return Decision(at.PICK + place, "take", LIKELY)
        return self._any("go on")


class PlanningPlayer(Player):
    """Pilot ``planning``: expected scores of what may be drawn, and marginal worth of what may be bought.

    It sees what a player sees: not the order of the draw pile, not the cards that are face down.
    """

    def __init__(self, environment: BalatroEnvironment, settings: PlanningSettings | None = None) -> None:
        super().__init__(environment)
        self.settings = settings = settings or PlanningSettings()
        self._prices = Prices(dollar=settings.dollar)
        self._memory: dict[tuple[object, ...], float] = {}

    def by_rules(self) -> Decision:
        """Return the action without advice."""
        environment = self.environment
        if environment.pending is not None:
            return self._targets()
        run = environment.game.run
        if run.phase == Phase.PLAY:
            return self._play()
        if run.phase == Phase.OVER:
            return self._any("the run is over")
        buyer = self._buyer()
        if run.phase == Phase.BLIND:
            action, reason = buyer.before_blind()
        elif run.phase == Phase.SHOP:
            action, reason = buyer.shop()
        else:
            action, reason = buyer.pack()
        return self._checked(action, reason, LIKELY)

    def _buyer(self) -> Buyer:
        return Buyer(self.environment, self.settings.hands, self._prices, self._memory)

    def _play(self) -> Decision:
        environment = self.environment
        run, actions = environment.game.run, environment.actions
        before = self._before_play()
        if before is not None:
            return before
        luck = random.Random((self._seed << 20) + environment.steps)
        choice = Choice(run, environment.visible_places, actions.plays, luck, self.settings.draws)
        plays, cards, reason = choice.decide(self.settings.discard_gain)
        action = actions.play_of(cards) if plays else actions.discard_of(cards)
        return self._checked(action, reason, SURE if plays else LIKELY)

    def _before_play(self) -> Decision | None:
        """Return the use of a consumable, or the sale of a joker that a boss asks for; None if neither is wanted."""
        environment = self.environment
        run, mask = environment.game.run, environment.action_masks()
        for place, kind in enumerate(run.consumables[: at.MOST_CONSUMABLES]):
            if mask[at.USE + place] and kind & 0xFF not in _KEPT:
                return Decision(at.USE + place, f"use {kinds.CONSUMABLES[kind & 0xFF].name}", LIKELY)
        if blinds.active_boss(run) == blinds.LEAF and run.jokers:
            for place in self._buyer().weakest():
                if place < at.MOST_JOKERS and mask[at.SELL_JOKER + place]:
                    return Decision(at.SELL_JOKER + place, "sell a joker, so that cards have their effect", LIKELY)
        return None


_KEPT: Final = frozenset(
    {kinds.HEX, kinds.ANKH, kinds.OUIJA, kinds.ECTOPLASM, kinds.TOWER, kinds.IMMOLATE, kinds.SIGIL}
)
"""Consumables that are not used in the middle of a blind."""

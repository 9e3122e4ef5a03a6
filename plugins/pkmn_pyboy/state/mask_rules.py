"""Named rules that forbid presses without an effect, or with an unwanted one, in a situation.

A rule is a function of the state that returns the actions it forbids. No rule forbids ``none``, so no mask is ever all
zero. Rules use only the values by which :class:`~pkmn_pyboy.state.masks.MaskTable` stores masks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pkmn_pyboy.state.game_state import GameState, Phase
from pkmncli.api import Action
from pkmncli.errors import did_you_mean

ALL_RULES = "all"
"""Name for every rule, in a list of rules to leave out."""

DIRECTIONS = frozenset({Action.UP, Action.DOWN, Action.LEFT, Action.RIGHT})
PRESSES = frozenset(Action) - {Action.NONE}
_NOTHING: frozenset[Action] = frozenset()
_ON_FOOT = frozenset({Phase.FREE, Phase.MOVING})


class MaskRule(NamedTuple):
    """Mask rule: ``forbids`` returns the actions that it forbids in a state; ``summary`` and ``why`` are in words."""

    name: str
    summary: str
    why: str
    forbids: Callable[[GameState], frozenset[Action]]


def _select(state: GameState) -> frozenset[Action]:
    return frozenset({Action.SELECT})


def _start_before_party(state: GameState) -> frozenset[Action]:
    return frozenset({Action.START}) if state.phase in _ON_FOOT and not state.party.members else _NOTHING


def _b_on_foot(state: GameState) -> frozenset[Action]:
    return frozenset({Action.B}) if state.phase in _ON_FOOT else _NOTHING


def _dialogue(state: GameState) -> frozenset[Action]:
    return DIRECTIONS | {Action.START} if state.phase is Phase.DIALOGUE else _NOTHING


def _choice(state: GameState) -> frozenset[Action]:
    if state.phase is not Phase.CHOICE:
        return _NOTHING
    sideways = frozenset({Action.LEFT, Action.RIGHT}) if state.menu.columns <= 1 else _NOTHING
    return sideways | {Action.START}


def _menu(state: GameState) -> frozenset[Action]:
    if state.phase is not Phase.MENU:
        return _NOTHING
    menu = state.menu
    return _NOTHING if menu.full_screen and (menu.columns > 1 or not menu.cursor_shown) else frozenset({Action.START})


def _battle_text(state: GameState) -> frozenset[Action]:
    # A page that hides the message box is the bag, the party, or the naming of a catch.
    if state.phase is not Phase.BATTLE or not state.message_box:
        return _NOTHING
    return frozenset({Action.START}) if state.menu.cursor_shown else DIRECTIONS | {Action.START}


def _battle_menu(state: GameState) -> frozenset[Action]:
    return frozenset({Action.B, Action.START}) if state.phase is Phase.BATTLE_MENU else _NOTHING


def _battle_moves(state: GameState) -> frozenset[Action]:
    return frozenset({Action.LEFT, Action.RIGHT, Action.START}) if state.phase is Phase.BATTLE_MOVES else _NOTHING


def _transition(state: GameState) -> frozenset[Action]:
    return PRESSES if state.phase is Phase.TRANSITION and state.map_group else _NOTHING


def _cutscene(state: GameState) -> frozenset[Action]:
    return DIRECTIONS | {Action.START} if state.phase is Phase.CUTSCENE else _NOTHING


MASK_RULES: tuple[MaskRule, ...] = (
    MaskRule(
        "select",
        "select, everywhere",
        "outside of menus it uses a registered item, in them it reorders things",
        _select,
    ),
    MaskRule(
        "start_before_party",
        "start while walking, before the first Pokemon",
        "it opens a menu with nothing in it to use",
        _start_before_party,
    ),
    MaskRule("b_on_foot", "B while walking", "it does nothing there", _b_on_foot),
    MaskRule("dialogue", "directions and start in a message", "only A and B read on", _dialogue),
    MaskRule(
        "choice",
        "start in a choice, left and right where its list has one column",
        "the cursor cannot go there",
        _choice,
    ),
    MaskRule(
        "menu",
        "start in a menu that leaves the map in view, and in a page's list of one column",
        "it closes a menu or does nothing; on a page of letters it ends the naming of things",
        _menu,
    ),
    MaskRule(
        "battle_text",
        "start in the messages of a battle, and directions while no cursor shows",
        "the battle goes on by A and B; bag, party and naming hide the message box",
        _battle_text,
    ),
    MaskRule(
        "battle_menu", "B and start where a battle asks what to do", "one of the four must be chosen", _battle_menu
    ),
    MaskRule(
        "battle_moves", "left, right and start in a battle's list of moves", "the list has one column", _battle_moves
    ),
    MaskRule("transition", "every press while a map is set up", "buttons are not read", _transition),
    MaskRule(
        "cutscene", "directions and start while the game acts by itself", "it may wait for A or B only", _cutscene
    ),
)
"""All rules, by name in the order of the situations."""

RULE_NAMES: tuple[str, ...] = tuple(rule.name for rule in MASK_RULES)


def rules_without(names: Iterable[str]) -> tuple[MaskRule, ...]:
    """Return all rules except those named; ``all`` names every one.

    Raises:
        ValueError: there is no such rule; the message gives the nearest.
    """
    left_out = set(names)
    for name in sorted(left_out - {*RULE_NAMES, ALL_RULES}):
        known = (*RULE_NAMES, ALL_RULES)
        hint = did_you_mean(name, known, f"choose from {', '.join(known)}")
        raise ValueError(f"there is no mask rule {name!r}; {hint}")
    return () if ALL_RULES in left_out else tuple(rule for rule in MASK_RULES if rule.name not in left_out)


def allowed_actions(state: GameState, rules: Sequence[MaskRule] = MASK_RULES) -> frozenset[Action]:
    """Return the actions that no rule forbids in a state."""
    forbidden = _NOTHING.union(*(rule.forbids(state) for rule in rules))
    return frozenset(Action) - forbidden

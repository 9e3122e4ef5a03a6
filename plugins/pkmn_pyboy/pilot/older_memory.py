"""Memory of the pilot as earlier versions stored it: all fields side by side, with lists of values without names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PARTS: Mapping[str, str] = {
    "walk": "place faced still walked interrupted wander waited bumps legs:paths blocks using kinds",
    "route": "route:legs route_key:key looked",
    "pushing": "pushes:due pushes_for:purpose no_push:failed",
    "strength": "train_to lost losses training:plans poor_grounds",
    "hunt": "catch_wish:wanted hunt:grounds hunted:tries hunted_for:tried_for",
    "shop": "shopping:purchases shop_steps:steps shopped:again",
    "battle": "plan_mark:mark plan_tries:tries page_steps battle_failed:failed flights refusals switches moves_used",
    "page": "page_waits:waits page_mark:mark page_still:still",
    "text": "question answers refused",
    "advice": "advice_key:key advice_done:done advice_pending:pending",
    "stall":
        "presses pressed idle_steps stalls:count stalled:number remedy remedy_due put_off heal_anyway reports "
        "untold",
}  # fmt: skip
"""Names of the earlier fields in each part; after a colon their names there, where they differ."""


def in_parts(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a stored memory in its present form; one that has it already is returned as it is."""
    if "walk" in state:
        return state
    parts: dict[str, Any] = {
        part: {
            name or old: state[old] for old, _, name in (one.partition(":") for one in names.split()) if old in state
        }
        for part, names in _PARTS.items()
    }

    def held(name: str) -> list[Any]:
        return list(state.get(name) or ())

    if progress := held("progress"):
        parts["walk"]["progress"] = dict(zip(("milestones", "maps", "step"), progress, strict=True))
    if missing := held("no_way"):
        parts["route"]["missing"] = [missing[:-1], missing[-1]]
    parts["route"]["avoid"] = [dict(zip(("map_id", "x", "y"), one, strict=True)) for one in held("avoid")]
    parts["strength"]["nemesis"] = held("nemesis") or None
    parts["shop"]["supplies"] = dict(held("supplies"))
    parts["shop"]["none_near"] = held("shops_far") or None
    parts["battle"]["plan"] = held("battle_plan") or None
    parts["page"]["confirmed"] = {
        purpose: [count, mark] for purpose, (count, *mark) in state.get("confirmed", {}).items()
    }
    if leaving := held("leaving"):
        parts["text"] |= {"tries": leaving[0], "menu": leaving[1:]}
    parts["stall"]["marks"] = held("marks") or None
    if wish := held("wish"):
        names = ("skill", "map_id", "x", "y", "confidence", "caught")
        parts["advice"]["wish"] = dict(zip(names, wish, strict=True)) | {
            "battle": state.get("wish_battle", False), "failed": state.get("wish_failed", False)
        }  # fmt: skip
    if task := held("task"):
        parts["task"] = dict(zip(("kind", "number", "slot", "mark"), task, strict=True)) | {
            "move": (held("teach") or [0, 0])[1], "marked": state.get("task_marked", False)
        }  # fmt: skip
    if tuning := held("tuning"):
        *shown, same = held("tuning_mark") or [0]
        parts["tuning"] = {
            "knob": tuning[0], "music": tuning[1], "steps": state.get("tuning_steps", 0),
            "opened": state.get("tuning_opened", 0), "shown": shown, "same": same,
            "outcome": state.get("tuning_over", ""),
        }  # fmt: skip
    return {**state, "forget": held("forget") or None, "aim": held("aim") or None} | {
        "task": None, "tuning": None, **parts
    }  # fmt: skip

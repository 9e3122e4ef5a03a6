"""Advice in checkpoints of earlier versions, converted to the form of today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def upgraded(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the state of :class:`~pkmncli.advice.coordinator.AdviceCoordinator`, of this or an earlier version."""
    if "environments" in state:
        return state
    worth = {**state["allowance"], "results": state["lessons"]}
    return {
        "environments": [_environment(one) for one in state["desks"]],
        "policy": {"share": state["sides"], "worth": worth, "held_back": state["held_back"]},
        "requests": {"client": {"usage": state["usage"], "budget_reported": state["told_spent"]}, "given_up": 0},
        "latency": state["timeliness"],
        "advised_side_steps": state["advised_side_steps"],
    }


def _environment(state: Mapping[str, Any]) -> dict[str, Any]:
    goal, skill, model, key = state["texts"]
    latest = {
        "goal": goal,
        "skill": skill,
        "key": key,
        "model": model,
        "latency_s": float(state.get("latency_s", 0.0)),  # older checkpoints have none
        "given_in": state["given_in"],
        "fresh": bool(state["fresh"]),
        "steps": int(state["steps"]),
        "reward": float(state["reward"]),
    }
    asked = state["asked"] and {**state["asked"], "asked_at": state["asked_at"], "happened": state["passed"]}
    return {
        **{name: state[name] for name in ("watcher", "event", "next_ask", "situation", "between", "failures")},
        "question": asked,
        "live": latest if state["live"] else None,
        "ended": None if state["live"] else latest,
        "set_aside_steps": state["set_aside"],
        "charge": state["after"],
    }

"""Remedies: command lines that change how often a side decides, by the settings of the analysed run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pkmn_decisions.analysis.pilots import better_pilot, own_pilot
from pkmn_decisions.store.names import SOURCES_IN_WORDS
from pkmncli.api import RunInfo, quoted_path

_EXPLORATION = ("exploration_final", "exploration_beside_rules", "ent_coef")
"""Settings of learners that decide how much they explore at last: alone, beside a pilot, by entropy."""

_LEAST_IDLE_STEPS = 30
_LEAST_OUTCOME_DOUBT = 1.0
_DEFAULT_STEPS = 60_000
_LEAST_BY_INTERVAL = 0.2
"""Share of the questions that the interval caused, below which another interval hardly changes their number."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """Change that a user can make."""

    purpose: str
    """Purpose in words: ``explore less``."""
    command: str


class Remedies:
    """Remedies that apply to a run; each method returns None if the run has no such setting, or does not use it.

    Args:
        run: the run; None for decisions without one.
        interval_share: share of the questions to the language model that its interval caused, 0..1.
    """

    def __init__(self, run: RunInfo | None, interval_share: float = 1.0) -> None:
        self._run = run
        sections: Mapping[str, Mapping[str, Any]] = run.settings if run else {}
        self._sections = sections
        self._interval_share = interval_share
        core = sections.get("", {})
        self._core = core
        self._trained = "rl" in core  # a plugin's command has no such settings
        self._learner = "" if core.get("rl") in (None, "none") else str(core["rl"])
        self._pilot = own_pilot(run) is not None
        self._model = core.get("llm") not in (None, "none") or bool(core.get("llm_ensemble"))

    @property
    def by_values(self) -> bool:
        """True if the learner's confidence comes from its predicted values."""
        return bool(self._sections.get("hand_over", {}).get("by") == "values")

    def decide_less(self, who: str) -> Remedy | None:
        """Return the remedy for a source of decisions that does worse than the others."""
        if who == "explore":
            return self._explore_less()
        if who == "llm":
            return self._llm_interval(4.0, "ask the language model less often")
        return self._weigh_outcomes() or (self.better_pilot() if who == "rule" else None)

    def decide_more(self, who: str) -> Remedy | None:
        """Return the remedy for a source of decisions that does better than the others."""
        if who == "llm":
            return self._llm_interval(0.5, "ask the language model more often")
        return None if who == "explore" else self._weigh_outcomes()

    def leave_loops(self, who: str) -> Remedy | None:
        """Return the remedy for loops in which this source decides."""
        idle = self._sections.get("hand_over", {}).get("idle_steps")
        if who in ("rl", "explore") and self._hands_over and idle and idle > _LEAST_IDLE_STEPS:
            value = max(int(idle) // 2, _LEAST_IDLE_STEPS)
            return self._again("let the rules take over sooner without reward", f"hand_over.idle_steps={value}")
        if who == "rule":
            return self.better_pilot()
        return self.train_on() if who == "rl" else None

    def better_pilot(self) -> Remedy | None:
        """Return the remedy for a pilot that is not the best one of the run's environment."""
        better = better_pilot(self._run)
        return self._again("let a better pilot play", "", f"--pilot {better}") if better else None

    def train_on(self) -> Remedy | None:
        """Return the remedy for what the learner has not learned yet."""
        if self._run is None or not self._learner:
            return None
        budgets = {name: self._core[name] for name in ("steps", "episodes") if self._core.get(name)}
        more = " ".join(f"--{name} {2 * value}" for name, value in (budgets or {"steps": _DEFAULT_STEPS}).items())
        return Remedy("train on", f"pkmn train --resume {self._folder} {more}")

    def tell_the_model(self) -> Remedy | None:
        """Return the remedy for actions that a language model should know about."""
        if self._run is None or not self._model or not self._trained:
            return None
        lessons = f"pkmn analyze-patterns {self._folder} --show advice --format json > lessons.json"
        again = self._again("tell the language model", "", "--lessons-file lessons.json")
        return again and Remedy(again.purpose, f"{lessons} && {again.command}")

    def ask_less(self) -> Remedy | None:
        """Return the remedy for questions that help nobody."""
        return self._llm_interval(2.0, "ask the language model less often")

    def judge_by_outcome(self) -> Remedy | None:
        """Return the remedy for a learner that is surer than its success warrants, if its own values decide that."""
        if self._hands_over and self.by_values:
            return self._again("let agreement and outcome decide who acts", "hand_over.by=situation")
        return None

    # Parts -----------------------------------------------------------------------------------------------------

    @property
    def _hands_over(self) -> bool:
        """True if an arbiter chooses between learner and pilot."""
        return bool(self._learner) and self._pilot and self._core.get("mode", "adaptive") == "adaptive"

    @property
    def _folder(self) -> str:
        assert self._run is not None
        return quoted_path(self._run.folder)

    def _explore_less(self) -> Remedy | None:
        own = self._sections.get(self._learner, {})
        beside = self._hands_over and "exploration_beside_rules" in own
        name = next((one for one in _EXPLORATION if own.get(one) and (not beside or one != "exploration_final")), None)
        if name is None:
            return None
        return self._again("explore less", f"{self._learner}.{name}={_number(own[name] / 10)}")

    def _weigh_outcomes(self) -> Remedy | None:
        """Return the remedy where who decides does not follow from who earns more.

        The learner's rewards against the rules' then count from a tenth of the steps on; until then it counts how often
        it chooses as they do.
        """
        if self.by_values:
            return self.judge_by_outcome()
        doubt = self._sections.get("hand_over", {}).get("outcome_doubt")
        if not self._hands_over or doubt is None or doubt / 10 < _LEAST_OUTCOME_DOUBT:
            return None
        return self._again("let rewards decide sooner who acts", f"hand_over.outcome_doubt={_number(doubt / 10)}")

    def _llm_interval(self, factor: float, purpose: str) -> Remedy | None:
        interval = self._core.get("llm_interval")
        value = max(round(interval * factor), 1) if interval else None
        alone = not (self._learner or self._pilot)  # then it is asked whenever its advice has ended
        if not self._model or value is None or value == interval or alone or self._interval_share < _LEAST_BY_INTERVAL:
            return None
        return self._again(purpose, "", f"--llm-interval {value}")

    def _again(self, purpose: str, setting: str, option: str = "") -> Remedy | None:
        """Return the command that trains again as the run did, with one change."""
        if self._run is None or not self._trained:
            return None
        config = quoted_path(self._run.folder / "config.toml")
        change = option or f"--set {setting}"
        changed = re.split(r"[ =]", change.removeprefix("--set ").removeprefix("--"))[0].rpartition(".")[2]
        name = f" --run-name {shlex.quote(self._free_name(changed))}" if self._core.get("run_name") else ""
        return Remedy(purpose, f"pkmn train --config {config}{name} {change}")

    def _free_name(self, changed: str) -> str:
        """Return a name that no run beside this one has, so that several changes can be tried."""
        assert self._run is not None
        base = f"{self._run.folder.name}-{changed}"
        names = (base, *(f"{base}-{number}" for number in range(2, 1_000)))
        return next((name for name in names if not (self._run.folder.parent / name).exists()), base)


def done_by(sources: Mapping[str, int]) -> str:
    """Return who decided, with the shares of the two most frequent: ``the rules 80%, the learner 20%``."""
    total = sum(sources.values())
    most = sorted(sources.items(), key=lambda item: -item[1])[:2]
    return ", ".join(f"{SOURCES_IN_WORDS[name]} {count / total:.0%}" for name, count in most if count)


def _number(value: float) -> str:
    return f"{value:.3g}"

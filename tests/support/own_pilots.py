"""A third party's pilot with a skill of its own. Workers import it, so it has a module."""

from __future__ import annotations

from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmncli.api import Action, Advice, Argument, Decision, Skill

DEPTH = Argument("depth", bounds=(1, 9))
DIG = Skill("dig", 'digs "depth" tiles down', (DEPTH,), needs=(("depth",),), words=("dig",))


class Digger(RulesPilot):
    """Pilot that digs where advice says so, by waiting, and plays by the rules otherwise."""

    skills = (DIG,)

    def act(self, advice: Advice | None = None) -> Decision:
        """Return the next action."""
        if advice is None or advice.skill != DIG.name:
            return super().act(advice)
        depth = advice.arguments[DEPTH.name]
        return Decision(int(Action.NONE), f"digs {depth} deep", advice.confidence, advised=True, advice_over=depth == 1)

    def reconsider(self, advice: Advice) -> Decision | None:
        """Return the action for new advice."""
        return self.act(advice)

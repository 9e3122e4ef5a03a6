"""The learner with a language model's goals against the same learner with the rules' goals, in the bundled game.

    python benchmarks/advised_goals.py --run /tmp/take-over/default-0-training --seeds 300-309
    python benchmarks/advised_goals.py --run runs/long --llm local --seeds 300-304 --steps 3000

The learner of a run acts alone, greedily. Its goals come from a language model: whenever the last goal is over, the
model is asked as in a training; if it sets no goal, the rules do. The default backend is `scripted` with
good_advice.toml, so no server is needed. For comparison: the same learner with the rules' goals, and the pilot with
each. A goal counts as reached if the guiding pilot says so: at the place, after the words, after the fight.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

from learner_in_hand import LearnerInHand
from pilot import badges_of, numbers
from take_over import table

from pkmn_pyboy.emulation.buttons import ACTION_NAMES
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.advice import SKILLS
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.state.game_state import Phase
from pkmncli.advice.build import build_backend
from pkmncli.api import Advice, LLMBackend, LLMFailure, LLMRequest
from pkmncli.config import resolve_settings
from pkmncli.llm.prompts import PromptTemplate, Question, game_in_words
from pkmncli.llm.replies import ReplyForm
from pkmncli.plugins import get_registry
from pkmncli.training.evaluation.evaluation import wilson_interval

FORM = ReplyForm(SKILLS, ACTION_NAMES)
PLAYERS = ("learner, model's goals", "learner, rules' goals", "pilot, model's goals", "pilot, rules' goals")
EXPIRES_AFTER = 150
"""Steps after which a goal counts as not reached."""
ASKING = frozenset({Phase.CHOICE, Phase.BATTLE_MENU})
"""Phases whose beginning is a reason to ask."""
PROMPT_TOKENS, REPLY_TOKENS, TIMEOUT_S = 3_000, 200, 120.0


class Counsellor:
    """A language model that sets goals, and the results of these goals.

    Args:
        backend: the model.
        interval: maximum number of steps without a goal before it is asked again.
    """

    def __init__(self, backend: LLMBackend, interval: int) -> None:
        self._backend, self._interval = backend, interval
        self._template = PromptTemplate.load()
        self.advice: Advice | None = None
        self.goals, self.reached, self.covered = Counter[str](), Counter[str](), 0
        self._asked_at, self._began, self._failed = -interval, 0, False
        self._over = True
        """True if a goal has just ended in a way that needs a new one at once."""
        self._last: tuple[int, int] = (-1, -1)

    def asks(self, environment: PokemonEnvironment) -> bool:
        """Ask if there is a reason to. Return True if there is a goal now."""
        state = environment.state
        now = state.map_id, int(state.phase)
        news = state.map_id != self._last[0] or (state.phase in ASKING and now != self._last)
        self._last = now
        if not (news or self._over or environment.steps - self._asked_at >= self._interval):
            return False
        self._asked_at = self._began = environment.steps
        self._failed = self._over = False
        prompt = self._template.fill(
            Question(environment.context(), form=FORM, game=game_in_words(environment.names)), PROMPT_TOKENS
        )
        request = LLMRequest(prompt.system, prompt.text, FORM.schema, max_tokens=REPLY_TOKENS, timeout_s=TIMEOUT_S)
        try:
            reply = self._backend.complete(request)
        except LLMFailure:
            return False
        self.advice = FORM.read(reply, expires_after=EXPIRES_AFTER, words_too=True).advice
        return self.advice is not None

    def note(self, pilot: RulesPilot, over: bool, steps: int) -> None:
        """Take in the guide's judgement of the goal in this state."""
        if self.advice is None:
            return
        wish = pilot.memory.advice.wish
        is_goal = self.advice.skill in FORM.skill_names[1:] and (wish is not None or steps > self._began or not over)
        self._failed = self._failed or (wish is not None and wish.failed)
        self.covered += is_goal
        late = steps - self._began >= EXPIRES_AFTER
        if over or late:
            if is_goal:
                self.goals[self.advice.skill] += 1
                self.reached[self.advice.skill] += not self._failed and not late
                self._over = not self._failed
            self.advice = None


def play(job: tuple[str, int, dict[str, Any]]) -> dict[str, Any]:
    """Play one episode of a player."""
    player, seed, given = job
    who, whose = player.split(", ")
    steps, learner = given["steps"], None
    if who == "learner":
        learner = LearnerInHand(Path(given["run"]), PokemonEnvironment, steps)
        environment = learner.environment
    else:
        options = {"observation_type": "state", "goal": "last", "max_steps_per_episode": steps}
        environment = PokemonEnvironment(EnvironmentSettings(**options))
    pilot, counsellor = RulesPilot(environment), None
    if whose.startswith("model"):
        registry = get_registry()
        asked = {"llm": given["llm"], "llm_model": given["llm_model"]}
        backend = build_backend(resolve_settings(asked, registry=registry, sets=given["set"]), registry)
        backend.check()
        counsellor = Counsellor(backend, given["interval"])
    environment.guide(pilot)
    environment.reset(seed=seed)
    pilot.reset(seed)
    over = False
    while not over:
        decision = pilot.act(counsellor.advice if counsellor is not None else None)
        if counsellor is not None:
            counsellor.note(pilot, decision.advice_over, environment.steps)
            if counsellor.advice is None and counsellor.asks(environment):
                decision = (
                    pilot.reconsider(counsellor.advice) or decision
                )  # carried out in this state, as in a training
        _, terminated, truncated = environment.advance(decision.action if learner is None else learner.act())
        over = terminated or truncated
    milestones = dict(zip(environment.milestone_names, environment.milestone_steps(), strict=True))
    goal = environment.milestone_names[environment.goal]
    result = {"player": player, "seed": seed, "milestones": milestones, "goal": goal, "steps": environment.steps}
    environment.close()
    if counsellor is not None:
        result |= {"goals": counsellor.goals, "reached": counsellor.reached, "covered": counsellor.covered}
    return result


def show(results: list[dict[str, Any]]) -> None:
    """Print the results of the goals, and the badges won."""
    rows = []
    for player in dict.fromkeys(one["player"] for one in results):
        own = [one for one in results if one["player"] == player and "goals" in one]
        goals: Counter[str] = sum((Counter(one["goals"]) for one in own), Counter())
        reached: Counter[str] = sum((Counter(one["reached"]) for one in own), Counter())
        for skill in (*goals, "all"):
            tried, done = (goals.total(), reached.total()) if skill == "all" else (goals[skill], reached[skill])
            if tried:
                low, high = wilson_interval(done, tried)
                covered = sum(one["covered"] for one in own) / sum(one["steps"] for one in own)
                under = f"{covered:.0%}" if skill == "all" else ""
                rows.append([player, skill, str(tried), f"{done / tried:.0%} ({low:.0%} to {high:.0%})", under])
    print(table(["player", "goal", "set", "reached", "steps with a goal of the model"], rows), end="\n\n")
    badges = [*badges_of(list(results[0]["milestones"])), results[0]["goal"]]
    rows = []
    for player in dict.fromkeys(one["player"] for one in results):
        own = [one for one in results if one["player"] == player]
        row = [player]
        for badge in badges:
            steps = [one["milestones"][badge] for one in own if one["milestones"][badge] >= 0]
            row.append(f"{len(steps)} of {len(own)}" + (f", step {statistics.median(steps):,.0f}" if steps else ""))
        rows.append(row)
    print(table(["player", *badges], rows))


def main() -> None:
    """Play, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="folder of the run with the learner")
    parser.add_argument("--seeds", type=numbers, default="300-309", help="of the episodes (default: 300-309)")
    parser.add_argument("--steps", type=int, default=3000, help="of an episode at most (default: 3000)")
    parser.add_argument("--players", nargs="+", choices=PLAYERS, default=list(PLAYERS))
    parser.add_argument("--interval", type=int, default=30, help="steps without a goal until it is asked again")
    parser.add_argument("--llm", default="scripted", help="backend that sets the goals (default: scripted)")
    parser.add_argument("--llm-model")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="setting of the backend")
    parser.add_argument("--processes", type=int, default=2, help="episodes side by side (default: 2)")
    parser.add_argument("--json", type=Path, help="where to write all results")
    given = parser.parse_args()
    if given.llm == "scripted" and not given.set:
        given.set = [f"scripted.file={Path(__file__).with_name('good_advice.toml')}"]
    options = {**vars(given), "run": str(given.run.resolve()), "json": None}
    jobs = [(player, seed, options) for player in given.players for seed in given.seeds]
    results = []
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
        for result in pool.imap(play, jobs):
            results.append(result)
            print(result["player"], result["seed"], result["steps"], flush=True)
            if given.json:
                given.json.write_text(json.dumps(results), encoding="utf-8")
    show(results)


if __name__ == "__main__":
    main()

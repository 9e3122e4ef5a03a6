"""The worth of a language model's advice on the bundled game: valid replies, and outcomes against random advice.

States are taken from the pilot's play. In each, the model is asked as in a training, once with the schema enforced and
once without; its advice is carried out for some steps, and so is random advice, from the same state. The result is the
reward within those steps. Shares are of all questions, with 95% bootstrap intervals; useful is advice that earned more
than the random one.

    python benchmarks/llm_advice.py --llm local --states 200
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from pkmn_pyboy.emulation.buttons import ACTION_NAMES
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.advice import SKILLS
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.settings import EnvironmentSettings
from pkmncli.advice.build import build_backend
from pkmncli.api import Action, Advice, LLMBackend, LLMFailure, LLMRequest
from pkmncli.comparison.measures import bootstrap_interval, mean
from pkmncli.config import resolve_settings
from pkmncli.llm.prompts import PromptTemplate, Question, game_in_words
from pkmncli.llm.replies import MOST_PRESSES, Reading, ReplyForm
from pkmncli.plugins import get_registry

FORM = ReplyForm(SKILLS, ACTION_NAMES)
HORIZON = 30
BETWEEN_STATES = 25
NONE = int(Action.NONE)
WITH_SCHEMA, WITHOUT = "with schema", "without"


@dataclass
class Tally:
    """Results of one way of asking."""

    readings: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    skills: Counter[str] = field(default_factory=Counter)
    rewards: list[tuple[float, float]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def compare(self, reward: float, by_chance: float) -> None:
        """Count the reward of advice beside that of random advice in the same state."""
        self.rewards.append((reward, by_chance))
        self.outcomes["better" if reward > by_chance else "worse" if reward < by_chance else "equal"] += 1

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        asked = sum(self.readings.values()) + sum(self.faults.values())
        return {
            "asked": asked,
            "valid_by_schema": share(self.readings[Reading.SCHEMA], asked),
            "useful": share(self.outcomes["better"], asked),
            "readings": dict(self.readings),
            "faults": dict(self.faults),
            "skills": dict(self.skills),
            "against_random": dict(self.outcomes),
            "mean_reward": [sum(pair[side] for pair in self.rewards) / max(len(self.rewards), 1) for side in (0, 1)],
            "median_seconds": median(self.seconds) if self.seconds else None,
        }


def share(part: int, whole: int) -> tuple[float, float, float]:
    """Return a share, and the ends of its bootstrap interval."""
    values = np.repeat([1.0, 0.0], [part, max(whole, 1) - part])
    low, high = bootstrap_interval([values], mean)
    return part / max(whole, 1), float(low), float(high)


def played_states(environment: PokemonEnvironment, states: int, seed: int) -> Iterator[bytes]:
    """Play by the pilot and stop at each of some states, in the environment as it then is."""
    environment.reset(seed=seed)
    pilot = RulesPilot(environment, PilotSettings())
    pilot.reset(seed)
    for number in range(states):
        for _ in range(BETWEEN_STATES):
            if any(environment.advance(pilot.act(None).action)[1:]):
                environment.reset(seed=seed + number + 1)
                pilot.reset(seed + number + 1)
        state, memory = environment.save_state(), pilot.save_state()
        yield state
        environment.load_state(state)
        pilot.load_state(memory)


def random_advice(draw: random.Random) -> Advice:
    """Return random actions, as many as the model may name."""
    count = draw.randint(1, MOST_PRESSES)
    return Advice("random", tuple(draw.randrange(len(Action)) for _ in range(count)))


def outcome(environment: PokemonEnvironment, state: bytes, advice: Advice) -> float:
    """Return the reward within the horizon of carrying out advice from a state, then waiting."""
    environment.load_state(state)
    pilot = RulesPilot(environment, PilotSettings())
    pilot.reset(0)
    total = 0.0
    given: Advice | None = advice
    for _ in range(HORIZON):
        decision = pilot.act(given)
        action = decision.action if given is not None and decision.advised else NONE
        if decision.advice_over:
            given = None
        reward, terminated, truncated = environment.advance(action)
        total += reward
        if terminated or truncated:
            break
    return total


def ask(backend: LLMBackend, request: LLMRequest, tally: Tally) -> Advice | None:
    """Ask one question; the reply is read as in a training, without a repair."""
    began = time.perf_counter()
    try:
        reply = backend.complete(request)
    except LLMFailure as failure:
        tally.faults[str(failure.fault)] += 1
        return None
    tally.seconds.append(time.perf_counter() - began)
    read = FORM.read(reply, expires_after=HORIZON, words_too=True)
    tally.readings[str(read.reading)] += 1
    if read.advice is not None:
        tally.skills[read.advice.skill or "press"] += 1
    return read.advice


def measure(
    backend: LLMBackend,
    template: PromptTemplate,
    states: int,
    seed: int,
    timeout_s: float,
    reply_tokens: int,
    ways: Sequence[str],
    keep: Callable[[dict[str, Any]], None],
) -> None:
    """Ask in states of the pilot's play, with and without the schema; call ``keep`` with the figures so far."""
    environment = PokemonEnvironment(EnvironmentSettings(screen="packed", observation_type="state"))
    draw = random.Random(seed)
    tallies = {way: Tally() for way in ways}
    for number, state in enumerate(played_states(environment, states, seed)):
        prompt = template.fill(Question(environment.context(), form=FORM, game=game_in_words(environment.names)), 3000)
        request = LLMRequest(
            prompt.system, prompt.text, FORM.schema, max_tokens=reply_tokens, seed=seed, timeout_s=timeout_s
        )
        by_chance = outcome(environment, state, random_advice(draw))
        for name, tally in tallies.items():
            asked = request if name == WITH_SCHEMA else replace(request, schema=None)
            advice = ask(backend, asked, tally)
            if advice is not None:
                tally.compare(outcome(environment, state, advice), by_chance)
        keep({name: tally.as_dict() for name, tally in tallies.items()})
        print(f"{number + 1}/{states}", end="\r", file=sys.stderr, flush=True)
    environment.close()


def main() -> None:
    """Read the options, measure, print JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llm", default="local")
    parser.add_argument("--llm-model")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--states", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout-s", type=float, default=120.0)
    parser.add_argument("--llm-prompt", type=Path, help="template of the prompts")
    parser.add_argument("--reply-tokens", type=int, default=200)
    parser.add_argument("--ways", nargs="+", choices=(WITH_SCHEMA, WITHOUT), default=(WITH_SCHEMA, WITHOUT))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    settings = resolve_settings(
        {"llm": options.llm, "llm_model": options.llm_model}, registry=get_registry(), sets=options.set
    )
    backend = build_backend(settings, get_registry())
    print(backend.check(), file=sys.stderr)
    text = ""

    def keep(figures: dict[str, Any]) -> None:
        nonlocal text
        text = json.dumps({"model": backend.model, "horizon_steps": HORIZON, **figures}, indent=2)
        if options.out is not None:
            options.out.write_text(text + "\n", encoding="utf-8")

    measure(
        backend,
        PromptTemplate.load(options.llm_prompt),
        options.states,
        options.seed,
        options.timeout_s,
        options.reply_tokens,
        options.ways,
        keep,
    )
    print(text)


if __name__ == "__main__":
    main()

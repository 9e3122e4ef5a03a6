"""An adapter that learns to advise on the bundled game, as a run that ``--set huggingface.adapter`` takes.

    python benchmarks/advising_adapter.py --base FILE.gguf --save-dir /tmp/advising
    pkmn train --llm huggingface --set huggingface.adapter=RUN:model_0 --llm-prompt benchmarks/short_advice.toml
    python benchmarks/advising_adapter.py --evaluate RUN
    python benchmarks/advising_adapter.py --records RUN RUN

States are taken from the pilot's play with other seeds than those of ``llm_advice.py``. In each, some pieces of advice
are carried out, and the adapter imitates the one that earned most, in the form of a reply. States in which all earn the
same are left out. The questions are those of a training with this template. ``--evaluate`` asks the base and the
adapter in the same states, in free text, and compares their advice with random advice as ``llm_advice.py`` does.
``--records`` reads trainings of `pkmn train --llm`: advice is useful if the steps that carried it out earned anything.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

import duckdb
import torch
from llm_advice import FORM, HORIZON, Tally, outcome, played_states, random_advice, share

from pkmn_multimodel import MultiModelConfig, MultiModelTrainer
from pkmn_multimodel.games.text_game import TextGame
from pkmn_multimodel.population.bases import loaded
from pkmn_multimodel.population.population import Population
from pkmn_multimodel.population.replies import BASE
from pkmn_multimodel.recording import nested
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.settings import EnvironmentSettings
from pkmncli.api import Advice, LLMReply, Source, find_run, runs
from pkmncli.llm.prompts import PromptTemplate, Question, game_in_words

CHAT = "<|im_start|>system\n{}<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
"""Form of conversation of SmolLM2, as the backend writes it."""
STATES_OF_A_SEED = 30
FIRST_SEED = 1000
AT_ONCE = 8
"""Questions of a batch."""


class Advising(TextGame):
    """Game of one question about a state; the best reply is the one that earned most there.

    Args:
        examples: pairs of a question and its best reply.
    """

    metadata: ClassVar[dict[str, Any]] = {**TextGame.metadata, "name": "advising_v0"}
    vocabulary = FORM.skill_names

    def __init__(self, examples: Sequence[Sequence[str]]) -> None:
        super().__init__(1, 1)
        self.examples = examples
        self._place, self._right = 0, False

    def begin(self) -> None:
        """Take an example."""
        self._place, self._right = int(self.random.integers(len(self.examples))), False

    def prompt(self, agent: str) -> str:
        """Return the question."""
        return self.examples[self._place][0]

    def options(self, agent: str) -> Sequence[str]:
        """Return the names of the skills."""
        return self.vocabulary

    def read(self, agent: str, reply: str) -> str | None:
        """Return the skill of a whole reply."""
        return skill_of(reply)

    def best(self, agent: str) -> str:
        """Return the reply that earned most."""
        return self.examples[self._place][1]

    def play(self, choices: Mapping[str, str]) -> Mapping[str, float]:
        """Return 1 for the right skill."""
        self._right = choices[self.possible_agents[0]] == skill_of(self.best(""))
        return dict.fromkeys(choices, float(self._right))

    def score(self) -> float:
        """Return 1 for the right skill."""
        return float(self._right)


def main() -> None:
    """Collect examples, train on them, print the run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--base", help="GGUF file or folder of SmolLM2")
    parser.add_argument("--save-dir", default="runs")
    parser.add_argument("--resume", metavar="RUN/step-N", help="resume from this checkpoint in --save-dir")
    parser.add_argument("--evaluate", metavar="RUN", help="compare the adapter of this run with its base")
    parser.add_argument(
        "--records", metavar="RUN", nargs="+", help="count the advice in these runs of pkmn train --llm"
    )
    parser.add_argument("--held-out", type=int, default=40, help="states to evaluate in")
    parser.add_argument("--reply-tokens", type=int, default=100)
    parser.add_argument("--examples", type=Path, help="file of examples: read if it is there, else written")
    parser.add_argument("--states", type=int, default=120)
    parser.add_argument("--updates", type=int, default=30)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--llm-prompt", type=Path, default=Path(__file__).with_name("short_advice.toml"))
    options = parser.parse_args()
    if options.records:
        print(json.dumps({run: recorded(run) for run in options.records}, indent=2))
        return
    template = PromptTemplate.load(options.llm_prompt)
    if options.evaluate:
        print(json.dumps(evaluated(options.evaluate, template, options.held_out, options.reply_tokens), indent=2))
        return
    if options.examples is not None and options.examples.is_file():
        examples = json.loads(options.examples.read_text(encoding="utf-8"))
    else:
        examples = collected(options.states, template)
        if options.examples is not None:
            options.examples.write_text(json.dumps(examples, indent=1), encoding="utf-8")
    print(f"{len(examples)} examples: {dict(Counter(skill_of(reply) for _, reply in examples))}", flush=True)
    games = options.updates * options.batch
    trainer = MultiModelTrainer(
        MultiModelConfig.model_validate(
            {
                "base": options.base,
                "num_models": 1,
                "model_types": ["llama3"],
                "environment": "maze",
                "weight_update_strategy": "synchronized",
                "batch_size": options.batch,
                "micro_batch": options.batch,
                "max_episodes": games,
                "imitation_games": games,
                "imitation_strength": 1.0,
                "learning_rate": options.learning_rate,
                "chat_template": False,
                "checkpoint_dir": options.save_dir,
            }
        )
    )
    trainer.environment = Advising(examples)
    if options.resume:
        trainer.load_checkpoint(options.resume)
    began = time.process_time()
    asyncio.run(trainer.train())
    print(f"{time.process_time() - began:.0f} s of processor time; run {trainer.run_folder}")


def collected(states: int, template: PromptTemplate) -> list[tuple[str, str]]:
    """Return pairs of a question and the reply that earned most, from states of the pilot's play."""
    environment = PokemonEnvironment(EnvironmentSettings(screen="packed", observation_type="state"))
    found = []
    for first in range(0, states, STATES_OF_A_SEED):
        count = min(STATES_OF_A_SEED, states - first)
        for state in played_states(environment, count, FIRST_SEED + first):
            context, names = environment.context(), environment.names
            question = template.fill(Question(context, form=FORM, game=game_in_words(names)), 3000)
            battle = environment.phase_names[environment.facts().phase].startswith("battle")
            tried = candidates(battle, f"{context.current_goal} {context.text_map}", list(names["maps"].values()))
            earned = [outcome(environment, state, one) for one in tried]
            if max(earned) > min(earned):
                best = tried[earned.index(max(earned))]
                found.append((CHAT.format(question.system, question.text), reply_of(best)))
    environment.close()
    return found


def evaluated(which: str, template: PromptTemplate, states: int, reply_tokens: int) -> dict[str, Any]:
    """Return what the base and the adapter of a run advise in the same states, by :class:`llm_advice.Tally`."""
    run = find_run(which)
    own, state = run.settings["multimodel"], nested(runs.read_state(run.folder))["population"]
    base, tokenizer = loaded(own["base"], "float32", "cpu", "multimodel.base")
    modules = tuple(own["target_modules"])
    population = Population(base, tokenizer, ["model_0"], own["rank"], own["alpha"], modules, chat=False)
    population.load_state_dict(state)
    environment = PokemonEnvironment(EnvironmentSettings(screen="packed", observation_type="state"))
    draw, asked = random.Random(0), []
    for saved in played_states(environment, states, 0):
        question = template.fill(
            Question(environment.context(), form=FORM, game=game_in_words(environment.names)), 3000
        )
        asked.append((saved, CHAT.format(question.system, question.text)))
    by_chance = [outcome(environment, saved, random_advice(draw)) for saved, _ in asked]
    tallies = {"base": (BASE, Tally()), "adapter": ("model_0", Tally())}
    for first in range(0, len(asked), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        for name, (adapter, tally) in tallies.items():
            prompts = [prompt for _, prompt in asked[part]]
            replies = population.sample(
                prompts, [adapter] * len(prompts), torch.Generator(), max_new_tokens=reply_tokens, greedy=True
            )
            for reply, (saved, _), chance in zip(replies, asked[part], by_chance[part], strict=True):
                told = LLMReply(reply.text, "", cut=len(reply.tokens) == reply_tokens)
                read = FORM.read(told, expires_after=HORIZON, words_too=True)
                tally.readings[str(read.reading)] += 1
                if read.advice is not None:
                    tally.skills[read.advice.skill or "press"] += 1
                    tally.compare(outcome(environment, saved, read.advice), chance)
            print(f"{first + len(prompts)} states, {name}: {dict(tally.readings)}, {dict(tally.outcomes)}", flush=True)
    environment.close()
    return {name: tally.as_dict() for name, (_, tally) in tallies.items()}


def recorded(which: str) -> dict[str, Any]:
    """Return what became of the advice of a training: shares of all questions, with 95% bootstrap intervals."""
    folder = find_run(which).folder
    advice, decisions = (
        f"read_parquet('{folder}/{table}/*.parquet', hive_partitioning = false, union_by_name = true)"
        for table in ("advice", "decisions")
    )
    rows = duckdb.sql(
        f"""
        WITH asked AS (
            SELECT *, lead(global_step, 1, 1 << 62) OVER (PARTITION BY environment ORDER BY global_step) AS until
            FROM {advice}
        )
        SELECT reading, json_extract_string(nullif(asked.advice, ''), '$.skill') AS skill, asked.latency_s,
               count(*) FILTER (source = {int(Source.LLM)}) AS steps,
               coalesce(sum(reward) FILTER (source = {int(Source.LLM)}), 0) AS earned,
               coalesce(sum(reward), 0) AS whole,
               asked.global_step, asked.environment
        FROM asked LEFT JOIN {decisions} AS d
            ON d.environment = asked.environment AND d.global_step >= asked.global_step AND d.global_step < until
        GROUP BY ALL
        """
    ).fetchall()
    asked = len(rows)
    return {
        "asked": asked,
        "valid_by_schema": share(sum(row[0] == "schema" for row in rows), asked),
        "carried_out": share(sum(row[3] > 0 for row in rows), asked),
        "useful": share(sum(row[4] > 0 for row in rows), asked),
        "skills": dict(Counter(row[1] or "press" for row in rows if row[0] != "nothing")),
        "reward_of_advised_steps": sum(row[4] for row in rows) / max(asked, 1),
        "reward_until_next_question": sum(row[5] for row in rows) / max(asked, 1),
        "median_seconds": median(row[2] for row in rows) if rows else None,
    }


def candidates(battle: bool, words: str, maps: Sequence[str]) -> list[Advice]:
    """Return the advice that is tried in a state. Of equals the first one counts.

    Args:
        battle: True in a battle.
        words: goal and surroundings, in which maps are named.
        maps: names of all maps.
    """
    skills = ("fight", "catch") if battle else ("talk_to", "fight", "heal")
    named = [] if battle else [name for name in maps if re.search(rf"\b{re.escape(name)}\b", words)]
    return [
        *(Advice("go on", skill="go_to", arguments={"map": name}) for name in named),
        *(Advice("go on", skill=skill) for skill in skills),
        Advice("go on", presses=(FORM.actions.names.index("a"),) * 4),
    ]


def reply_of(advice: Advice) -> str:
    """Return advice as a model replies."""
    names = [FORM.actions.names[action] for action in advice.presses]
    place = {name: advice.arguments.get(name) for name in ("map", "x", "y")}
    told = {"goal": advice.goal, "skill": advice.skill or "press", "presses": names, **place, "confidence": 0.9}
    return json.dumps({**told, "reason": ""})


def skill_of(reply: str) -> str | None:
    """Return the skill of a reply; None if it is not read as a whole object."""
    advice = FORM.read(LLMReply(text=reply, model=""), expires_after=1).advice
    return None if advice is None else advice.skill or "press"


if __name__ == "__main__":
    main()

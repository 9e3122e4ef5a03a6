"""Speed of sampling and learning beside TRL's GRPO, on the same base, prompts, adapter and number of replies.

    pip install 'trl==1.16.0' datasets pandas
    python benchmarks/multimodel_trl.py --base SmolLM2-135M-Instruct.Q4_1.gguf
    python benchmarks/multimodel_trl.py --base random:135m --device cuda --models 4

In each round TRL makes one step, then a batch of the same size is sampled and learned from by the code of a multi-model
training. Both sample replies from one adapter on the same base by the same prompts, and the learning rate is so small
that the adapter stays as it is. With ``--models`` more adapters are sampled from and learn here, and TRL, which trains
one, makes as many steps. A base ``random:SIZE`` has random weights, as in ``multimodel_speed.py``. Tokens are those of
replies for sampling, and those of prompts and replies for learning. Seconds are processor time, or time with
``--device cuda``. TRL's sampling includes its rewards, which are trivial here. With ``--precision bfloat16`` the base
has that precision, and the adapters float32.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import pyarrow
import torch
from datasets import Dataset
from multimodel_shards import base_folder
from peft import LoraConfig
from transformers import PreTrainedModel, PreTrainedTokenizerBase, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from pkmn_multimodel.objectives import AdapterLearner
from pkmn_multimodel.population.bases import loaded
from pkmn_multimodel.population.population import Population
from pkmn_multimodel.rollouts import Turn
from pkmn_multimodel.settings import MultiModelConfig

PROMPT = "Coins, round {}. Last round: none. keep or share? Answer:"
UNCHANGED = 1e-12
"""Learning rate with which nothing changes."""


def now() -> float:
    """Return processor time, or the time once a graphics card has done its work, in seconds."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


class Timed(GRPOTrainer):  # type: ignore[misc]
    """TRL's trainer with the processor time of its sampling and of its learning."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.seconds = {"sampling": 0.0, "learning": 0.0}
        self.tokens = {"sampling": 0, "learning": 0}
        self.began = 0.0

    def _prepare_inputs(self, generation_batch: Any) -> Any:
        began = now()
        made = super()._prepare_inputs(generation_batch)
        self.seconds["sampling"] = now() - began
        self.tokens["sampling"] = int(made["completion_mask"].sum())
        self.tokens["learning"] = self.tokens["sampling"] + int(made["prompt_mask"].sum())
        return made

    def training_step(self, *args: Any, **named: Any) -> Any:
        """Make a step, and note when it began."""
        self.began = now()
        return super().training_step(*args, **named)

    def note_step(self) -> None:
        """Note how long the learning of the step that has just been made took, with that of the optimizer."""
        self.seconds["learning"] = now() - self.began - self.seconds["sampling"]


class Alternating(TrainerCallback):  # type: ignore[misc]
    """After some steps of TRL, the same amount of work by a multi-model training.

    Args:
        ours: returns the speeds of that work.
        steps: of TRL, one for each adapter.
    """

    def __init__(self, ours: Callable[[], dict[str, float]], steps: int) -> None:
        self.ours = ours
        self.steps = steps
        self.trainer: Timed | None = None
        self.found: dict[str, list[float]] = {}
        self._made: list[tuple[dict[str, float], dict[str, int]]] = []

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """Note the speeds of TRL's steps, and measure the others."""
        assert self.trainer is not None
        self.trainer.note_step()
        self._made.append((dict(self.trainer.seconds), dict(self.trainer.tokens)))
        if len(self._made) < self.steps:
            return
        theirs = {
            f"{name}, TRL": sum(tokens[name] for _, tokens in self._made) / sum(spent[name] for spent, _ in self._made)
            for name in PARTS
        }
        self._made.clear()
        for name, speed in {**self.ours(), **theirs}.items():
            self.found.setdefault(name, []).append(speed)


PARTS = ("sampling", "learning")


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--base", required=True)
    parser.add_argument("--models", type=int, default=1, help="adapters here, and steps of TRL in a round")
    parser.add_argument("--replies", type=int, default=16, help="replies of a step, a multiple of 8")
    parser.add_argument("--tokens", type=int, default=8, help="most tokens of a reply")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    settings = MultiModelConfig.model_validate(
        {
            "base": options.base,
            "kl_coef": 0.0,
            "chat_template": False,
            "learning_rate": UNCHANGED,
            "micro_batch": options.replies,
            "max_new_tokens": options.tokens,
        }
    )
    with base_folder(options.base, options.device, options.precision) as folder:
        base, tokenizer = loaded(folder, options.precision, options.device, "--base")
    base.is_quantized = False  # a GGUF file is read as plain float32 weights, which the trainer of transformers refuses
    tokenizer.padding_side, tokenizer.pad_token = "left", tokenizer.pad_token or tokenizer.eos_token
    alternating = Alternating(
        ours(settings, copy.deepcopy(base), tokenizer, options.replies, options.models), options.models
    )
    prompts = [PROMPT.format(number % 2 + 1) for number in range(64)]
    with tempfile.TemporaryDirectory() as folder:
        trainer = Timed(
            model=base,
            reward_funcs=lambda completions, **_: [float("share" in reply) for reply in completions],
            args=GRPOConfig(
                output_dir=folder,
                per_device_train_batch_size=options.replies,
                num_generations=8,
                max_completion_length=options.tokens,
                max_steps=(options.rounds + 1) * options.models,
                learning_rate=UNCHANGED,
                beta=0.0,
                gradient_checkpointing=False,
                use_cpu=options.device == "cpu",
                bf16=options.precision == "bfloat16",
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
                logging_strategy="no",
                log_level="error",
            ),
            train_dataset=Dataset(pyarrow.table({"prompt": prompts}), fingerprint="prompts"),
            processing_class=tokenizer,
            callbacks=[alternating],
            peft_config=LoraConfig(
                r=settings.rank,
                lora_alpha=settings.alpha,  # type: ignore[arg-type]
                target_modules=settings.target_modules,
                task_type="CAUSAL_LM",
            ),
        )
        alternating.trainer = trainer
        trainer.train()
    found = {name: speeds[1:] for name, speeds in alternating.found.items()}  # the first round warms up
    for name, speeds in found.items():
        print(f"{name:15} {statistics.median(speeds):8.1f} tokens/s  ({min(speeds):.1f} to {max(speeds):.1f})")
    for name in PARTS:
        ratios = [own / other for own, other in zip(found[name], found[f"{name}, TRL"], strict=True)]
        print(f"{name} / TRL: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


def ours(
    settings: MultiModelConfig,
    base: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    replies: int,
    models: int,
) -> Callable[[], dict[str, float]]:
    """Return a function that samples and learns once, and returns the tokens a second of both."""
    names = [f"model_{number}" for number in range(models)]
    seats = [name for name in names for _ in range(replies)]
    prompts = [PROMPT.format(number // 8 % 2 + 1) for number in range(replies)] * models
    population = Population(
        *(base, tokenizer, names, settings.rank, settings.alpha),
        device=str(base.device),
        chat=settings.chat_template,
    )
    learners = [AdapterLearner(population, name, settings, 0) for name in names]
    generator = torch.Generator().manual_seed(0)

    def measure() -> dict[str, float]:
        began = now()
        made = population.sample(prompts, seats, generator, max_new_tokens=settings.max_new_tokens)
        sampled = now()
        for place, (name, learner) in enumerate(zip(names, learners, strict=True)):
            turns = [
                Turn(name, "player", number // 8, reply, "", True, reward, reward)
                for number, reply in enumerate(made[place * replies : (place + 1) * replies])
                for reward in [float("share" in reply.text)]
            ]
            learner.learn(turns, 1 << 20)
        ended = now()
        told = sum(len(reply.tokens) for reply in made)
        read = told + sum(len(reply.prompt_ids) for reply in made)
        return {"sampling": told / (sampled - began), "learning": read / (ended - sampled)}

    return measure


if __name__ == "__main__":
    main()

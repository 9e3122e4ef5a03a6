"""The settings of a training in the words of verl and AReaL, which train language models on many graphics cards.

Names follow verl 0.9 (``verl/trainer/config``) and AReaL 1.0 (``areal/api/cli_args.py``).
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkmn_multimodel.settings import RLAlgorithm

if TYPE_CHECKING:
    from pkmn_multimodel.settings import MultiModelConfig

VERL_FILE, AREAL_FILE = "verl.args", "areal.yaml"
_ESTIMATORS = {RLAlgorithm.GRPO: "grpo", RLAlgorithm.PPO: "gae", RLAlgorithm.REINFORCE: "reinforce_plus_plus"}


def write_exports(settings: MultiModelConfig, folder: Path) -> list[Path]:
    """Write the files that ``enable_verl`` and ``enable_areal`` ask for into a folder. Return their paths."""
    written = []
    if settings.enable_verl:
        written.append(folder / VERL_FILE)
        written[-1].write_text("\n".join(verl_arguments(settings)) + "\n", encoding="utf-8")
    if settings.enable_areal:
        written.append(folder / AREAL_FILE)
        # JSON is YAML, too, and needs no library.
        written[-1].write_text(json.dumps(areal_settings(settings), indent=2) + "\n", encoding="utf-8")
    return written


def verl_arguments(settings: MultiModelConfig) -> list[str]:
    """Return arguments of ``python -m verl.trainer.main_ppo`` that mean the same, as far as there are such.

    Left to the user: the prompts (``data.train_files``) and the reward, which are the game here.
    """
    model, actor, rollout = "actor_rollout_ref.model", "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
    values: dict[str, Any] = {
        "algorithm.adv_estimator": _ESTIMATORS[settings.algorithm],
        "algorithm.gamma": settings.gamma,
        f"{model}.path": _path(settings),
        f"{model}.lora_rank": settings.rank,
        f"{model}.lora_alpha": round(settings.alpha),
        f"{model}.target_modules": f"[{','.join(settings.target_modules)}]",
        f"{actor}.optim.lr": settings.learning_rate,
        f"{actor}.ppo_mini_batch_size": _games(settings),
        f"{actor}.ppo_micro_batch_size_per_gpu": settings.micro_batch,
        f"{actor}.ppo_epochs": settings.epochs,
        f"{actor}.clip_ratio": settings.clip_range,
        f"{actor}.grad_clip": settings.max_grad_norm,
        f"{actor}.use_kl_loss": settings.kl_coef > 0,
        f"{actor}.kl_loss_coef": settings.kl_coef,
        f"{rollout}.name": "vllm",
        f"{rollout}.temperature": settings.temperature,
        "data.train_batch_size": _games(settings),
        "data.max_response_length": settings.max_new_tokens,
        "trainer.nnodes": 1,
        "trainer.n_gpus_per_node": max(settings.num_gpus, 1),
        "trainer.save_freq": settings.save_every,
        "trainer.total_training_steps": _updates(settings),
        "trainer.project_name": "pkmncli",
        "trainer.experiment_name": settings.environment.value,
    }
    return [f"{name}={value}" for name, value in values.items()]


def areal_settings(settings: MultiModelConfig) -> dict[str, Any]:
    """Return the same as a configuration of AReaL's ``PPOConfig``."""
    path = _path(settings)
    sampling = {"max_new_tokens": settings.max_new_tokens, "temperature": settings.temperature, "n_samples": 1}
    return {
        "experiment_name": settings.environment.value,
        "trial_name": settings.training_mode.value,
        "tokenizer_path": path,
        "total_train_epochs": 1,
        "total_train_steps": _updates(settings),
        "gconfig": sampling,
        "actor": {
            "path": path,
            "temperature": settings.temperature,
            "use_lora": True,
            "lora_rank": settings.rank,
            "lora_alpha": round(settings.alpha),
            "target_modules": list(settings.target_modules),
            "peft_type": "lora",
            "eps_clip": settings.clip_range,
            "discount": settings.gamma,
            "kl_ctl": settings.kl_coef,
            "ppo_n_minibatches": 1,
            "optimizer": {"lr": settings.learning_rate, "gradient_clipping": settings.max_grad_norm},
        },
        "train_dataset": {"batch_size": _games(settings), "path": "", "type": "rl"},
        "cluster": {"n_nodes": 1, "n_gpus_per_node": max(settings.num_gpus, 1)},
        "saver": {"freq_steps": settings.save_every},
    }


def _path(settings: MultiModelConfig) -> str:
    """Return the base's name; both projects load it from the hub, so a model that is made at the start has none."""
    if settings.base not in {"auto", "tiny"}:
        return settings.base
    learners = settings.learners()
    return settings.model_names[settings.type_of(learners[0])] if learners else ""


def _games(settings: MultiModelConfig) -> int:
    """Return the games that an update learns from."""
    return settings.batch_size * settings.update_frequency


def _updates(settings: MultiModelConfig) -> int:
    return math.ceil(settings.max_episodes / _games(settings))

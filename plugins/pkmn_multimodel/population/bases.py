"""Base models: from a folder, a GGUF file or the local cache, or a small one that is made at the start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from pkmn_multimodel.population.tiny import tiny_model
from pkmncli.errors import ConfigurationError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from pkmn_multimodel.settings import MultiModelConfig

TINY, GGUF = "tiny", ".gguf"


class LoadingError(ConfigurationError):
    """Base that is not here, or whose files are damaged."""


def load_base(
    settings: MultiModelConfig,
    examples: Sequence[tuple[str, Sequence[str]]],
    seed: int,
    tell: Callable[[str], None] = lambda text: None,
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase, str]:
    """Return (model, tokenizer, device) of the base that the models share. Nothing is downloaded.

    Args:
        settings: of the training.
        examples: prompts of the game with their options, for a model that is made at the start.
        seed: of such a model.
        tell: reports which one is used, where the settings leave it open.

    Raises:
        LoadingError: there is no such model here, or its files are damaged.
        ConfigurationError: the device is not here.
    """
    device = device_of(settings.device, "multimodel.device")
    if "num_gpus" in settings.model_fields_set:
        graphics_cards(settings.num_gpus, tell)
    name = settings.base
    if name == "auto":
        wanted = {settings.model_names.get(settings.type_of(number), "") for number in settings.learners()}
        first = min(wanted)
        name = first if len(wanted) == 1 and _is_here(first) else TINY
        if name == TINY:
            tell(f"base = auto: {', '.join(sorted(wanted))} is not in the local cache, so a tiny model is made.")
    if name == TINY:
        model, tokenizer = tiny_model(examples, seed)
        torch.nn.Module.to(model, device)
        return model, tokenizer, device
    return *loaded(name, settings.precision, device, "multimodel.base"), device


def graphics_cards(wanted: int, tell: Callable[[str], None] = lambda text: None) -> int:
    """Return the graphics cards that can be used, of so many wanted ones; report a line if there are fewer."""
    there = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if there < wanted:
        place = f"on {there}" if there else "on the processor"
        tell(f"num_gpus = {wanted}: this machine has {there or 'no'} graphics card(s), so the models run {place}.")
    return min(there, wanted)


def loaded(name: str, precision: str, device: str, setting: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Return (model, tokenizer) of a folder, a GGUF file or a name in the local cache.

    Args:
        name: folder, GGUF file, or name.
        precision: ``float32``, ``bfloat16``, or ``auto``: bfloat16 on a graphics card.
        device: place of the weights.
        setting: name of the setting with the name, for messages.

    Raises:
        LoadingError: there is no such model here, or its files are damaged.
    """
    path = Path(name).expanduser()
    kinds = "a folder, a GGUF file, a name in the local Hugging Face cache"
    if setting == "multimodel.base":
        kinds += ", or tiny"
    if not (path.is_file() if path.suffix == GGUF else _is_here(name)):
        raise LoadingError(f"{setting} = {name}: no model is there; give {kinds}")
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415 - takes seconds
    from transformers.utils import logging as transformers_logging  # noqa: PLC0415

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    narrow = precision == "bfloat16" or (precision == "auto" and device.startswith("cuda"))
    place: dict[str, Any] = {"pretrained_model_name_or_path": name, "local_files_only": True}
    if path.suffix == GGUF:
        place |= {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
        reading: Any = import_module("transformers.modeling_gguf_pytorch_utils")
        reading.tqdm = transformers_logging.tqdm  # its own is not turned off by disable_progress_bar
    try:
        tokenizer = AutoTokenizer.from_pretrained(**place)
        model = AutoModelForCausalLM.from_pretrained(**place, dtype=torch.bfloat16 if narrow else torch.float32)
    except (OSError, ValueError, ImportError) as error:
        first = str(error).strip().splitlines()[0]
        raise LoadingError(
            f"{setting} = {name}: no model that can be loaded is there ({first}); give {kinds}"
        ) from None
    torch.nn.Module.to(model, device)
    model.eval()  # type: ignore[no-untyped-call]
    return model, tokenizer


def memory_error(error: torch.cuda.OutOfMemoryError) -> RuntimeError:
    """Return the error of a graphics card with too little memory in one line."""
    return RuntimeError(f"GPU memory insufficient: {str(error).splitlines()[0]}")


def _is_here(name: str) -> bool:
    """Return True if a model is in a folder or in the local cache."""
    if not name:
        return False
    if Path(name).is_dir():
        return True
    from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415 - takes a while

    try:
        return isinstance(try_to_load_from_cache(name, "config.json"), str)
    except ValueError:
        return False  # it can't be a name, such as /nowhere/at/all


def device_of(name: str, setting: str) -> str:
    """Return the device of a setting. Raise ConfigurationError if it is not there."""
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise ConfigurationError(f"{setting} = {name}: there is no graphics card that can be used; give cpu")
    return name

"""Adapters on one base by their numbers: made from settings, asked, saved and loaded; and their places."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkmn_multimodel.managers import LLMResponse, NodeConfig, local_population, sampled_response
from pkmn_multimodel.settings import LLMConfig, LoRAConfig
from pkmncli.api import tell_once

if TYPE_CHECKING:
    from pkmn_multimodel.population.population import Population

MOST_PORTS = 65535


class LoRAManager:
    """Adapters of one base model. The base is loaded when it is first needed.

    Args:
        configs: settings of each adapter by its number.
        base: settings of the base model.
        seed: of the adapters' first weights and of the sampling.
        tell: reports a line for people.

    Raises:
        ValueError: there are no adapters, or a number is not that of its settings.
    """

    def __init__(
        self,
        configs: Mapping[int, LoRAConfig],
        base: LLMConfig | None = None,
        *,
        seed: int = 0,
        tell: Callable[[str], None] = tell_once,
    ) -> None:
        if not configs:
            raise ValueError("there are no adapters: give a LoRAConfig for each number")
        for number, config in configs.items():
            if config.lora_id != number:
                raise ValueError(f"adapter {number} has the settings of adapter {config.lora_id}")
        self.configs = dict(configs)
        self.base = base or LLMConfig.model_validate({})
        self._seed = seed
        self._tell = tell
        self._population: Population | None = None
        self._generator: Any = None

    @property
    def population(self) -> Population:
        """Models, loaded now if they were not. Raise RuntimeError if that fails."""
        if self._population is None:
            from pkmn_multimodel.population.population import Shape  # noqa: PLC0415 - takes seconds

            shapes = {
                self.name_of(number): Shape(config.rank, config.alpha, config.target_modules)
                for number, config in self.configs.items()
            }
            self._population = local_population(self.base, list(shapes), self._seed, self._tell, shapes)
        return self._population

    def name_of(self, lora_id: int) -> str:
        """Return the name of an adapter. Raise ValueError if there is no such number."""
        if lora_id not in self.configs:
            raise ValueError(f"there is no adapter {lora_id}; known: {', '.join(map(str, self.configs))}")
        return f"lora_{lora_id}"

    def generate(self, lora_id: int, prompt: str, **settings: Any) -> LLMResponse:
        """Return an adapter's reply to a prompt.

        Args:
            lora_id: number of the adapter.
            prompt: text.
            settings: values of :class:`pkmn_multimodel.managers.NodeConfig`.

        Raises:
            ValueError: there is no such adapter, a setting is wrong, or the prompt is too long.
        """
        import torch  # noqa: PLC0415 - takes a second

        if self._generator is None:
            self._generator = torch.Generator().manual_seed(self._seed)
        name, config = self.name_of(lora_id), NodeConfig.model_validate(settings)
        return sampled_response(
            *(self.population, name, prompt, config, self.base, self._generator),
            node_id=name,
            temperature=config.temperature or self.base.temperature,
        )

    def save(self, lora_id: int, folder: str | Path) -> Path:
        """Write an adapter as peft does, for any program that reads such files. Return its folder."""
        return self.population.write_adapter(self.name_of(lora_id), Path(folder))

    def load(self, lora_id: int, folder: str | Path) -> None:
        """Read an adapter's weights from a folder that :meth:`save` returned.

        Raises:
            FileNotFoundError: there is no adapter.
            ValueError: it is of another rank, other layers or another base.
        """
        from peft import load_peft_weights  # noqa: PLC0415 - takes seconds

        name, population = self.name_of(lora_id), self.population
        if not (Path(folder) / "adapter_model.safetensors").is_file():
            raise FileNotFoundError(f"no adapter is in {folder}")
        read = load_peft_weights(str(folder), device=population.device)
        own = population.parameters_of(name)
        if {key: tensor.shape for key, tensor in read.items()} != {key: tensor.shape for key, tensor in own.items()}:
            raise ValueError(f"the adapter in {folder} does not fit adapter {lora_id}: other rank, layers or base")
        for key, weights in own.items():
            weights.data.copy_(read[key])
        population.note_change(name)

    def stats(self) -> dict[int, dict[str, Any]]:
        """Return for each adapter its rank, place, updates and hash; the last two are None before it is loaded."""
        found = {}
        for number, config in self.configs.items():
            version = None if self._population is None else self._population.version_of(self.name_of(number))
            found[number] = {
                "rank": config.rank,
                "gpu_id": config.gpu_id,
                "port": config.port,
                "updates": None if version is None else version.number,
                "hash": None if version is None else version.digest,
            }
        return found


class DistributedLoRAScheduler:
    """Scheduler that gives adapters their graphics card and port, and sends requests to them.

    Adapter i has the port ``base_port + i`` and the card ``i % num_gpus``.

    Args:
        base_port: port of the first adapter.
        num_gpus: graphics cards; adapters of cards that are not here share what is.
        base: settings of the base model.
        tell: reports a line for people.
    """

    def __init__(
        self,
        base_port: int = 8001,
        num_gpus: int = 4,
        base: LLMConfig | None = None,
        *,
        tell: Callable[[str], None] = tell_once,
    ) -> None:
        self.base_port = base_port
        self.num_gpus = num_gpus
        self._base = base
        self._tell = tell
        self._configs: dict[int, LoRAConfig] = {}
        self._manager: LoRAManager | None = None
        self._requests: dict[int, int] = {}
        place_of(0, base_port, num_gpus)

    def add(self, lora_id: int | None = None, **settings: Any) -> LoRAConfig:
        """Add an adapter. Return its settings with its place.

        Args:
            lora_id: its number; the next one by default.
            settings: further ones of :class:`LoRAConfig`.

        Raises:
            ValueError: the number is taken, a setting is wrong, or the models are loaded already.
        """
        number = max(self._configs, default=-1) + 1 if lora_id is None else lora_id
        if number in self._configs or self._manager is not None:
            raise ValueError(f"adapter {number} is there already, or the models are loaded")
        port, card = place_of(number, self.base_port, self.num_gpus)
        config = LoRAConfig.model_validate({"lora_id": number, "gpu_id": card, "port": port, **settings})
        self._configs[number] = config
        return config

    def place(self, lora_id: int) -> tuple[int, int]:
        """Return (port, graphics card) of an adapter. Raise ValueError if there is no such number."""
        if lora_id not in self._configs:
            raise ValueError(f"there is no adapter {lora_id}; known: {', '.join(map(str, self._configs)) or 'none'}")
        config = self._configs[lora_id]
        return config.port, config.gpu_id

    @property
    def manager(self) -> LoRAManager:
        """Adapters that were added. No more can be added afterwards."""
        if self._manager is None:
            self._manager = LoRAManager(self._configs, self._base, tell=self._tell)
        return self._manager

    def generate(self, requests: Sequence[tuple[int, str]], **settings: Any) -> list[LLMResponse]:
        """Return the replies to requests, each an adapter's number and a prompt, in their order."""
        found = []
        for number, prompt in requests:
            found.append(self.manager.generate(number, prompt, **settings))
            self._requests[number] = self._requests.get(number, 0) + 1
        return found

    def get_status(self) -> dict[str, Any]:
        """Return the adapters with their places, and how many requests each has had."""
        return {
            "base_port": self.base_port,
            "num_gpus": self.num_gpus,
            "adapters": {
                number: {"port": config.port, "gpu_id": config.gpu_id, "requests": self._requests.get(number, 0)}
                for number, config in self._configs.items()
            },
        }


def place_of(number: int, base_port: int, num_gpus: int) -> tuple[int, int]:
    """Return (port, graphics card) of the node with a number.

    Raises:
        ValueError: the number of cards is below 0, or the port is none.
    """
    if num_gpus < 0:
        raise ValueError(f"num_gpus must be 0 or more: {num_gpus}")
    if not 1 <= base_port + number <= MOST_PORTS:
        raise ValueError(f"base_port {base_port}: node {number} would have the port {base_port + number}, above 65535")
    return base_port + number, number % num_gpus if num_gpus else 0


def create_lora_manager(configs: dict[int, LoRAConfig]) -> LoRAManager:
    """Return the manager of adapters on one base."""
    return LoRAManager(configs)


def create_distributed_lora_scheduler(base_port: int = 8001, num_gpus: int = 4) -> DistributedLoRAScheduler:
    """Return a scheduler of adapters."""
    return DistributedLoRAScheduler(base_port, num_gpus)

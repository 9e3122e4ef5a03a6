"""Settings of multi-model training. They may be changed between two trainings."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from pkmncli.llm.transport import ServiceAddress


class TrainingMode(StrEnum):
    """Relation of the models, which decides what each is rewarded for."""

    COOPERATIVE = "cooperative"
    """All earn the mean of all."""
    COMPETITIVE = "competitive"
    """Each earns its own reward less the mean of the others."""
    MIXED = "mixed"
    """Each earns a mixture of both, by ``cooperation_level``."""
    HIERARCHICAL = "hierarchical"
    """The first model leads: it earns the mean of all, and its words are in the prompts of the others."""


class WeightUpdateStrategy(StrEnum):
    """Times and samples of the adapters' updates."""

    SYNCHRONIZED = "synchronized"
    """All adapters are updated after each batch, from samples of their current weights."""
    ASYNCHRONOUS = "asynchronous"
    """Adapters are updated after each batch, from samples that were taken ``max_staleness`` batches before."""
    FEDERATED = "federated"
    """Adapters are updated apart; every ``federated_every`` updates each becomes the mean of all weight changes."""
    SELECTIVE = "selective"
    """Only the best ``selected_share`` of the models are updated."""


class LLMBackend(StrEnum):
    """Source of a model."""

    HUGGINGFACE = "huggingface"
    """Model on this machine, which can learn."""
    OPENAI_API = "openai_api"
    ANTHROPIC = "anthropic"
    VLLM = "vllm"


class UpdateStrategy(StrEnum):
    """Share of a model's weights that is trained."""

    ADAPTIVE = "adaptive"
    """An adapter if the model can learn, nothing otherwise."""
    LORA = "lora"
    FROZEN = "frozen"


class RLAlgorithm(StrEnum):
    """Objective of an update."""

    REINFORCE = "reinforce"
    """Policy gradient with the running mean reward of the role as baseline."""
    GRPO = "grpo"
    """Advantages are relative to the group of samples with the same role and turn."""
    PPO = "ppo"
    """Clipped objective, several epochs over a batch, with a learned value as baseline."""


class EnvironmentType(StrEnum):
    """Games that come with the plugin."""

    COOP_COMPETE = "coop-compete"
    RESOURCES = "resources"
    TEAM_BATTLE = "team-battle"
    STAGED = "staged"
    MAZE = "maze"
    SOCIAL = "social"
    NEGOTIATION = "negotiation"
    QUILLWOOD = "quillwood"


class CooperationFactor(BaseModel):
    """Weight of the team's reward. It is part of :class:`RLConfig` only."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    level: float = Field(0.5, ge=0, le=1, description="share of the team's mean in a model's reward")


class CompetenceFactor(BaseModel):
    """Weight of a model's own lead. It is part of :class:`RLConfig` only."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    level: float = Field(0.5, ge=0, le=1, description="share of its own lead in a model's reward")


class LLMConfig(BaseModel):
    """Settings of a language model."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True, protected_namespaces=())

    backend: LLMBackend = Field(LLMBackend.HUGGINGFACE, description="source of the model")
    model_name: str = Field("Qwen/Qwen2.5-14B-Instruct", description="name of the model, or a folder")
    device: str = Field("auto", description="auto, cpu, cuda or cuda:N")
    max_length: int = Field(32768, ge=16, description="most tokens of a prompt and its reply")
    temperature: float = Field(0.7, gt=0, description="temperature of sampling")
    api_key: str | None = Field(
        None, repr=False, exclude=True, description="key of the service; by default its environment variable"
    )
    enable_lora: bool = Field(False, description="train an adapter")
    update_strategy: UpdateStrategy = Field(UpdateStrategy.ADAPTIVE, description="share of the weights that is trained")

    @field_validator("backend", mode="before")
    @classmethod
    def _known_backend(cls, value: object) -> object:
        if value not in set(LLMBackend):
            raise ValueError(f"Unsupported LLM backend: {value!r}; known: {', '.join(LLMBackend)}")
        return value


class HuggingFaceSettings(BaseModel):
    """Settings of the backend ``huggingface``."""

    model_config = ConfigDict(extra="forbid")

    adapter: str | None = Field(
        default=None, description="adapter of a multi-model run that the model answers with, as RUN:model_0"
    )
    device: str = Field(default="cpu", description="auto, cpu, cuda or cuda:N; the training may need the graphics card")
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        default="auto", description="auto: bfloat16 on a graphics card; with an adapter, that of its run"
    )


class RLConfig(BaseModel):
    """Reinforcement learning of one model, for the settings of your own programs.

    The training takes the settings of these names from :class:`MultiModelConfig`, and reads none of these.
    """

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    algorithm: RLAlgorithm = Field(RLAlgorithm.PPO, description="objective")
    learning_rate: float = Field(3e-4, gt=0, description="learning rate of Adam")
    gamma: float = Field(0.99, ge=0, le=1, description="discount of a later turn's reward")
    cooperation_factor: CooperationFactor = Field(default_factory=CooperationFactor, description="weight of the team")  # type: ignore[arg-type]
    competence_factor: CompetenceFactor = Field(default_factory=CompetenceFactor, description="weight of its own lead")  # type: ignore[arg-type]
    batch_size: int = Field(32, ge=1, description="games of an update")


class LoRAConfig(BaseModel):
    """Adapter of one model, and its place."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    lora_id: int = Field(ge=0, description="number of the adapter")
    rank: int = Field(16, ge=1, description="rank of its matrices")
    alpha: float = Field(32.0, gt=0, description="scale: alpha / rank times the product of its matrices is added")
    dropout: float = Field(0.1, ge=0, lt=1, description="dropout; sampling and updates use none")
    target_modules: list[str] = Field(
        default_factory=lambda: ["q_proj", "v_proj", "k_proj", "o_proj"], description="layers with an adapter"
    )
    gpu_id: int = Field(0, ge=0, description="graphics card")
    port: int = Field(8001, ge=1, le=65535, description="port of its node")


class MonitoringConfig(BaseModel):
    """Log of a training, besides its run folder."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    enable_file_logging: bool = Field(False, description="write a line of JSON for each event")
    log_file_path: str = Field("./logs/training.json", description="file of these lines")
    log_interval: int = Field(1, ge=1, description="updates between two lines of metrics")


MODEL_TYPES = ("qwen3", "qwen_coder", "qwen_math", "llama3", "openai", "claude", "vllm")
"""Kinds of models in ``model_types``."""
SERVICES: Mapping[str, LLMBackend] = {
    "openai": LLMBackend.OPENAI_API,
    "claude": LLMBackend.ANTHROPIC,
    "vllm": LLMBackend.VLLM,
}
"""Source of each kind that is reached through a service, so that it plays and does not learn."""


def _default_names() -> dict[str, str]:
    return {
        "qwen3": "Qwen/Qwen3-0.6B",
        "qwen_coder": "Qwen/Qwen2.5-Coder-0.5B-Instruct",
        "qwen_math": "Qwen/Qwen2.5-Math-1.5B-Instruct",
        "llama3": "meta-llama/Llama-3.2-1B-Instruct",
        "openai": "gpt-4o-mini",
        "claude": "claude-haiku-4-5",
        "vllm": "",
    }


class MultiModelConfig(BaseModel):
    """Settings of a multi-model training, the section ``[multimodel]``."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True, protected_namespaces=())

    num_models: int = Field(
        4, ge=1, le=64, description="models that play together", json_schema_extra={"option": "--models"}
    )
    model_types: list[str] = Field(
        default_factory=lambda: ["qwen3", "openai", "claude", "llama3"],
        description="kind of each model, repeated in turn; those of a service play and do not learn",
    )
    model_names: dict[str, str] = Field(default_factory=_default_names, description="name of the model of each kind")
    training_mode: TrainingMode = Field(
        TrainingMode.MIXED,
        description="cooperative, competitive, mixed, hierarchical",
        json_schema_extra={"option": "--mode"},
    )
    weight_update_strategy: WeightUpdateStrategy = Field(
        WeightUpdateStrategy.ASYNCHRONOUS,
        description="synchronized, asynchronous, federated, selective",
        json_schema_extra={"option": "--update"},
    )
    max_episodes: int = Field(1000, ge=1, description="games in all", json_schema_extra={"option": "--episodes"})
    learning_rate: float = Field(3e-4, gt=0, description="learning rate of Adam")
    num_gpus: int = Field(4, ge=0, description="graphics cards to use, as far as there are so many")
    base_port: int = Field(8001, ge=1, le=65535, description="port of the first node; the others follow")
    checkpoint_dir: str = Field("./checkpoints/multimodel", description="folder of run folders for MultiModelTrainer")
    enable_verl: bool = Field(True, description="write a configuration for verl beside the run's settings")
    enable_areal: bool = Field(True, description="write a configuration for AReaL beside the run's settings")
    batch_size: int = Field(32, ge=1, description="games of an update")
    kv_cache_size: int = Field(
        10_000, ge=0, description="most tokens whose keys and values are kept while sampling; 0: no limit"
    )
    max_checkpoints: int | None = Field(None, ge=1, description="checkpoints to keep, in place of keep_checkpoints")
    update_frequency: int = Field(1, ge=1, description="batches of games that an update learns from")
    service_calls: int = Field(
        1000, ge=0, description="most questions to services; afterwards their models play at random"
    )
    enable_monitoring: bool = Field(True, description="send metrics to a monitor that was started")

    base: str = Field(
        "auto",
        description="base of the models that learn: a folder, a GGUF file, a name in the local cache, tiny (made here) "
        "or auto: the named models where all are in the local cache, else tiny",
    )
    environment: EnvironmentType = Field(EnvironmentType.COOP_COMPETE, description="game")
    environment_args: dict[str, Any] = Field(default_factory=dict, description="arguments of the game")
    cooperation_level: float = Field(0.5, ge=0, le=1, description="share of the team's mean in mixed mode")
    algorithm: RLAlgorithm = Field(RLAlgorithm.GRPO, description="reinforce, grpo or ppo")
    gamma: float = Field(1.0, ge=0, le=1, description="discount of a later turn's reward")
    kl_coef: float = Field(0.01, ge=0, description="weight of the distance to the base model")
    clip_range: float = Field(0.2, gt=0, description="ppo and grpo: range of the ratio of probabilities")
    epochs: int = Field(1, ge=1, description="passes over a batch")
    micro_batch: int = Field(64, ge=1, description="samples of one backward pass; gradients are accumulated")
    max_grad_norm: float = Field(1.0, gt=0, description="largest norm of an adapter's gradient")
    temperature: float = Field(1.0, gt=0, description="temperature of sampling")
    max_new_tokens: int = Field(8, ge=1, description="most tokens of a reply")
    imitation_games: int = Field(
        0, ge=0, description="first games, which a script plays and the models imitate: they teach the form of replies"
    )
    imitation_strength: float = Field(
        0.0, ge=0, le=1, description="share of the script's choices that are the best known; the rest are random"
    )
    chat_template: bool = Field(
        True, description="ask in the form of a conversation where the base's tokenizer has one"
    )
    rank: int = Field(8, ge=1, description="rank of the adapters")
    alpha: float = Field(16.0, gt=0, description="scale of the adapters")
    target_modules: list[str] = Field(
        default_factory=lambda: ["q_proj", "v_proj", "k_proj", "o_proj"], description="layers with an adapter"
    )
    self_play: bool = Field(
        False, description="the first model that learns plays in all places of models that learn, and learns every role"
    )
    max_staleness: int = Field(1, ge=0, description="asynchronous: most versions between sampling and update")
    federated_every: int = Field(1, ge=1, description="federated: updates between two means")
    selected_share: float = Field(0.5, gt=0, le=1, description="selective: share of models that keep their update")
    league_every: int = Field(0, ge=0, description="updates between two past adapters kept as opponents; 0: none")
    league_share: float = Field(0.25, ge=0, le=1, description="share of games against an opponent of the league")
    league_size: int = Field(8, ge=1, le=64, description="past adapters kept; a new one replaces the oldest")
    league_scripts: list[Literal["random", "best"]] = Field(
        default_factory=lambda: ["random"],  # type: ignore[arg-type]
        description="scripts that play in the league besides past adapters: random, best",
    )
    engine: Literal["in-process", "ray", "sharded"] = Field(
        "in-process",
        description="where games are played and adapters are updated: in-process, in actors of ray, or sharded: in "
        "processes that share the weights of the base",
    )
    actors: int = Field(
        1, ge=1, le=256, description="parts of a batch of games; with the other engines each is played by an actor"
    )
    ray_address: str | None = Field(
        None,
        description="HOST:PORT of a Ray cluster's head node; by default a local one is started, which ends with it",
    )
    gpus_per_actor: float = Field(0.0, ge=0, description="graphics cards of each actor; a part of one is possible")
    sampler: Literal["in-process", "vllm"] = Field(
        "in-process", description="source of sampled replies: in-process, or vllm, a server with the same base"
    )
    sampler_url: ServiceAddress = Field("http://127.0.0.1:8000", description="address of the vLLM server")
    sampler_folder: str | None = Field(
        None, description="folder for adapters that the vLLM server can read; by default a temporary one"
    )
    save_every: int = Field(20, ge=1, description="updates between two checkpoints")
    episode_timeout_s: float = Field(600.0, gt=0, description="most seconds of a batch of games")
    device: str = Field("auto", description="auto, cpu, cuda or cuda:N")
    precision: Literal["auto", "float32", "bfloat16"] = Field("auto", description="auto: bfloat16 on a graphics card")

    @field_validator("num_models", mode="before")
    @classmethod
    def _count(cls, value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 64:
            raise ValueError(f"Invalid number of models: {f'{value!r}'[:20]}; give 1 to 64")
        return value

    @field_validator("model_types")
    @classmethod
    def _known_types(cls, value: list[str]) -> list[str]:
        for kind in value:
            if kind not in MODEL_TYPES:
                raise ValueError(f"Unsupported LLM backend: {kind!r}; known: {', '.join(MODEL_TYPES)}")
        if not value:
            raise ValueError("model_types is empty")
        return value

    @model_validator(mode="after")
    def _shards_are_possible(self) -> MultiModelConfig:
        if self.engine == "sharded" and self.actors < 2:
            raise ValueError("engine = sharded shares the base between actors: give actors = 2 or more")
        return self

    @model_validator(mode="after")
    def _league_is_possible(self) -> MultiModelConfig:
        if self.league_every and self.num_models < 2:
            raise ValueError("league_every needs num_models = 2 or more")
        if self.league_every and self.weight_update_strategy is WeightUpdateStrategy.FEDERATED:
            raise ValueError(
                "league_every: weight_update_strategy = federated changes the shared weights, and with them past "
                "adapters; choose another strategy, or league_every = 0"
            )
        return self

    @model_validator(mode="after")
    def _sampler_is_possible(self) -> MultiModelConfig:
        if self.sampler == "vllm" and self.base == "tiny":
            raise ValueError("sampler = vllm needs a base in a folder, since a server can't serve base = tiny")
        if self.sampler == "vllm" and self.weight_update_strategy is WeightUpdateStrategy.FEDERATED:
            raise ValueError(
                "sampler = vllm: weight_update_strategy = federated changes the shared weights, which the server does "
                "not get; choose another strategy"
            )
        return self

    def type_of(self, model: int) -> str:
        """Return the kind of a model, by its number from 0."""
        return self.model_types[model % len(self.model_types)]

    def learners(self) -> list[int]:
        """Return the numbers of the models that learn."""
        found = [model for model in range(self.num_models) if self.type_of(model) not in SERVICES]
        return found[:1] if self.self_play else found

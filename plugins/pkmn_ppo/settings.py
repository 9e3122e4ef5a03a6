"""Settings of the learners PPO and A2C, each with its unit and where its default comes from.

Sources named in the descriptions: [preset] the project's own presets for PPO and A2C; [ppo] Schulman et al. 2017,
"Proximal policy optimization algorithms"; [gae] Schulman et al. 2016, "High-dimensional continuous control using
generalized advantage estimation"; [a3c] Mnih et al. 2016, "Asynchronous methods for deep reinforcement learning";
[study] Andrychowicz et al. 2021, "What matters for on-policy deep actor-critic methods?"; [details] Huang et al. 2022,
"The 37 implementation details of proximal policy optimization"; [own] measured or chosen here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pkmncli.api import NAMES_ENCODER
from pkmncli.learners.sizes import Channels, Features, Horizon, Layers, Steps


class OnPolicySettings(BaseModel):
    """Settings common to both learners. Fields without a default have one in each learner's settings."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    # Optimisation
    learning_rate: float
    learning_rate_decay: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Share of the learning rate lost by the end of the run, in a straight line; 1 ends at 0 [preset: "
        "constant]",
    )
    max_grad_norm: float = Field(0.5, gt=0, description="Gradients are scaled down to this Euclidean norm [preset]")

    # Rollouts and advantages
    n_steps: Steps
    overlap: bool = Field(
        True,
        description="Collect the next rollout while learning from the last: faster, but its actions are sampled by a "
        "policy one update older; false waits for the update [own]",
    )
    gamma: float = Field(0.99, ge=0, le=1, description="Discount of the reward one step later [preset]")
    gae_lambda: float
    normalize_advantage: bool
    reward_scale: float = Field(
        0.1, gt=0, description="Factor on rewards before learning; values of 1 to 10 suit the step size [own]"
    )
    normalize_rewards: bool = Field(
        False,
        description="Divide rewards by the deviation of the discounted returns so far; reward_scale has no effect then "
        "[own: off]",
    )
    normalize_observations: bool = Field(
        False,
        description="Shift and scale each number of an observation to mean 0 and deviation 1, by what was seen so far; "
        "not images, maps of bits and categories [own: off]",
    )

    # Loss
    ent_coef: float = Field(0.01, ge=0, description="Weight of the policy's entropy, in nats, at the start [preset]")
    ent_coef_decay: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Share of that weight lost by the end of the run, in a straight line; 1 ends at 0 [preset: "
        "constant]",
    )
    vf_coef: float = Field(0.5, ge=0, description="Weight of the value's mean squared error [preset]")

    # Demonstrations: actions that the advised side would take
    demonstration_weight: float = Field(
        1.0,
        ge=0,
        description="Weight of the cross-entropy, in nats, of the advised side's actions, at the start; 0 turns "
        "demonstrations off [own]",
    )
    demonstration_final_weight: float = Field(
        0.1,
        ge=0,
        description="The same at the end, so that the policy stays near the demonstrations; 0 drops them entirely "
        "[own: as dqn's]",
    )
    demonstration_fraction: float = Field(
        1.0, ge=0, le=1, description="Share of the run's steps over which that weight falls [own: as dqn's]"
    )

    # Processes
    own_process: bool = Field(
        True,
        description="Learning moves to its own process after some seconds, which takes 250 MB of memory and makes "
        "steps faster; not on a GPU, nor without overlap [own]",
    )

    # Confidence
    confidence_horizon: Horizon = Field(
        100, description="Steps of reward that a value is judged by [own: 1 / (1 - gamma)]"
    )
    confidence_memory: Steps = Field(2_000, description="Latest choices that decide the learner's reliability [own]")

    # Network
    encoder: str = Field(
        "convolution",
        json_schema_extra=NAMES_ENCODER,
        description="Network part that reads observations [own: as dqn's]",
    )
    screen_channels: tuple[Channels, Channels] = Field(
        (32, 64), description="Channels of the two convolutions on the screen [own: as dqn's]"
    )
    screen_features: Features = Field(256, description="Numbers that describe the screen [own: as dqn's]")
    map_channels: tuple[Channels, Channels] = Field(
        (16, 32), description="Channels of the two convolutions on the map of bits [own: as dqn's]"
    )
    map_features: Features = Field(64, description="Numbers that describe the map of bits [own: as dqn's]")
    vector_features: Features = Field(
        128, description="Numbers that describe the vectors: goal and state variables [own: as dqn's]"
    )
    vector_layer_norm: bool = Field(
        True,
        description="Normalise those numbers for each observation; without it, the network also sees at first how "
        "large the numbers of a vector are together [own]",
    )
    features_dim: Features | None = Field(
        None, description="Units of a layer that joins what the encoder gives, before policy and value; not set: none"
    )
    recurrent: Literal["none", "gru"] = Field(
        "none",
        description="Memory of earlier steps of an episode: gru, a layer before policy and value; none has only the "
        "observation [preset: none]",
    )
    gru_size: Features = Field(128, description="Units of that layer [own: as head_features]")
    sequence_length: Steps = Field(
        32,
        description="Consecutive steps that gradients go back through that layer; at most a rollout, which is a "
        "multiple of it [own]",
    )
    head_features: Features = Field(
        128, description="Hidden units of policy and value each, without net_arch [own: as dqn's]"
    )
    net_arch: Layers | None = Field(
        None, description="Widths of the hidden layers of policy and value; not set: one of head_features"
    )
    policy_net_arch: Layers | None = Field(None, description="The same for the policy alone; not set: net_arch")
    value_net_arch: Layers | None = Field(None, description="The same for the value alone; not set: net_arch")

    @property
    def memory_size(self) -> int:
        """Numbers that are remembered from step to step; 0 without a memory."""
        return 0 if self.recurrent == "none" else self.gru_size

    @property
    def hidden_layers(self) -> tuple[Sequence[int], Sequence[int]]:
        """Widths of the hidden layers of policy and value."""
        both = (self.head_features,) if self.net_arch is None else self.net_arch
        policy, value = self.policy_net_arch, self.value_net_arch
        return both if policy is None else policy, both if value is None else value


class PPOSettings(OnPolicySettings):
    """Settings of ``[ppo]``."""

    learning_rate: float = Field(3e-4, gt=0, description="Step size of Adam, at the start [preset, ppo]")
    n_steps: Steps = Field(
        2_048, description="Steps of each environment in a rollout, after which there is an update [preset, ppo]"
    )
    gae_lambda: float = Field(
        0.95, ge=0, le=1, description="Weight of longer returns in the advantages; 1 counts every reward [preset, gae]"
    )
    normalize_advantage: bool = Field(
        True,
        description="Advantages of a rollout's own steps are shifted and scaled to mean 0 and deviation 1 "
        "[details: of a minibatch]",
    )

    # The update
    batch_size: Steps = Field(64, description="Steps in a minibatch [preset, ppo]")
    n_epochs: Steps = Field(10, description="Times that each step of a rollout is learned from [preset, ppo]")
    clip_range: float = Field(
        0.2,
        gt=0,
        description="Maximum change of an action's probability, as a ratio, before its gain is clipped [preset, ppo]",
    )
    max_importance_weight: float = Field(
        2.0,
        ge=1,
        description="Maximum importance weight of an action that has become likelier since it was sampled, an update "
        "earlier [own]",
    )
    clip_range_vf: float = Field(
        0.0, ge=0, description="The same for a value, in units of return; 0 does not clip [study]"
    )
    target_kl: float = Field(
        0.0,
        ge=0,
        description="KL divergence from the policy before the update, in nats, that ends the update after the epoch "
        "that reaches it; 0 never does [preset has none]",
    )
    adam_epsilon: float = Field(1e-5, gt=0, description="Term that keeps Adam's division stable [details]")


class A2CSettings(OnPolicySettings):
    """Settings of ``[a2c]``."""

    learning_rate: float = Field(7e-4, gt=0, description="Step size of RMSprop, at the start [preset, a3c]")
    n_steps: Steps = Field(
        5, description="Steps of each environment in a rollout, after which there is an update [preset, a3c]"
    )
    gae_lambda: float = Field(
        1.0, ge=0, le=1, description="Weight of longer returns in the advantages; 1 counts every reward [preset, a3c]"
    )
    normalize_advantage: bool = Field(
        False,
        description="Advantages of a rollout's own steps are shifted and scaled to mean 0 and deviation 1 [a3c: not]",
    )

    # The update
    rms_alpha: float = Field(
        0.99, ge=0, lt=1, description="Share of older gradients in RMSprop's mean of their squares [a3c]"
    )
    rms_epsilon: float = Field(1e-5, gt=0, description="Term that keeps RMSprop's division stable [own]")

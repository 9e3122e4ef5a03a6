"""Settings of the DQN learner, each with its unit and where its default comes from.

Sources named in the descriptions: [preset] the project's own DQN preset; [nature] Mnih et al. 2015, "Human-level
control through deep reinforcement learning"; [rainbow] Hessel et al. 2018; [efficient] van Hasselt et al. 2019,
"When to use parametric models in reinforcement learning?"; [dqfd] Hester et al. 2018, "Deep Q-learning from
demonstrations"; [per] Schaul et al. 2016, "Prioritized experience replay"; [own] measured or chosen here.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, model_validator

from pkmncli.api import NAMES_ENCODER
from pkmncli.learners.sizes import Channels, Features, Horizon, Layers, Steps


class DQNSettings(BaseModel):
    """Settings of ``[dqn]``."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    # Optimisation
    learning_rate: float = Field(1e-4, gt=0, description="Step size of Adam [preset]")
    adam_epsilon: float = Field(1.5e-4, gt=0, description="Term that keeps Adam's division stable [rainbow]")
    batch_size: Steps = Field(32, description="Steps learned from in one update [preset, nature]")
    train_freq: PositiveInt = Field(
        4, description="Environment steps, counted over all environments, between two rounds of updates [preset]"
    )
    gradient_steps: Steps = Field(1, description="Updates in one round [nature]")
    max_grad_norm: float = Field(10.0, gt=0, description="Gradients are scaled down to this Euclidean norm [rainbow]")
    huber_delta: float = Field(
        1.0, gt=0, description="Error, in units of return, from which the loss grows linearly [nature]"
    )

    # Targets
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
    gamma: float = Field(0.99, ge=0, le=1, description="Discount of the reward one step later [preset]")
    n_step: Steps = Field(
        5, description="Rewards summed, in steps, before the target network's value [own: 3 in rainbow]"
    )
    double: bool = Field(True, description="The learned network picks the next action, the target network values it")
    target_update_interval: PositiveInt = Field(
        250, description="Updates between two copies to the target network; 250 are 1,000 steps [own]"
    )
    tau: float = Field(1.0, gt=0, le=1, description="Share of the learned weights in such a copy; 1 replaces [nature]")

    # Demonstrations: actions that the advised side took, or would have taken
    demonstrations: Literal["every_step", "pressed"] = Field(
        "every_step",
        description="Steps that demonstrate: all with a known action of the advised side, or only those that it took "
        "[own: as in dataset aggregation, Ross et al. 2011]",
    )
    demonstration_loss: Literal["margin", "cross_entropy"] = Field(
        "cross_entropy",
        description="Loss of demonstrated actions: a value a margin above all others, or probability under a softmax "
        "over the values [own: margin in dqfd]",
    )
    demonstration_margin: float = Field(
        0.8,
        ge=0,
        description="Margin, in units of return, of a demonstrated action above any other; 0 turns demonstrations off "
        "[dqfd]",
    )
    demonstration_weight: float = Field(
        1.0, ge=0, description="Weight of that loss beside the loss of the targets, at the start [dqfd]"
    )
    demonstration_final_weight: float = Field(
        0.1,
        ge=0,
        description="The same at the end: demonstrations still count a little, 0 drops them entirely [own]",
    )
    demonstration_fraction: float = Field(
        1.0, ge=0, le=1, description="Share of the run's steps over which that weight falls [own]"
    )

    # Experience
    buffer_size: PositiveInt = Field(
        100_000, le=10_000_000, description="Latest environment steps to sample from [preset]"
    )
    learning_starts: PositiveInt = Field(
        1_000, description="Steps collected before the first update [own: the preset's 10,000 outlast a first try]"
    )

    # Prioritised replay
    priority_exponent: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Degree to which steps with large errors are sampled more often: 0 uniformly, 1 in proportion to "
        "the error [own; 0.6 in per]",
    )
    importance_exponent: float = Field(
        0.4,
        ge=0,
        le=1,
        description="Degree to which the loss corrects for prioritised sampling at the start; it rises to 1, fully, at "
        "the end of the run [per]",
    )
    priority_epsilon: float = Field(
        0.001, gt=0, description="Added to every error, in units of return, so that each step may be sampled [dqfd]"
    )
    demonstration_priority: float = Field(
        0.0,
        ge=0,
        description="Also added to the error of demonstrated steps, in units of return [own; 1 in dqfd]",
    )

    # Exploration
    exploration_initial: float = Field(1.0, ge=0, le=1, description="Share of random actions at the start [nature]")
    exploration_final: float = Field(0.05, ge=0, le=1, description="Share of random actions at the end [own]")
    exploration_schedule: Literal["linear", "exponential"] = Field(
        "linear", description="Fall of random actions: in a straight line, or by the same factor in every step [nature]"
    )
    exploration_fraction: float = Field(
        0.2, ge=0, le=1, description="Share of the run's steps over which random actions get fewer [own]"
    )

    exploration_beside_rules: float = Field(
        0.05,
        ge=0,
        le=1,
        description="Maximum share of random actions once the advised side labels steps: every step then shows what to "
        "do, and random ones add little [own]",
    )
    softmax_temperature: float = Field(
        0.1,
        gt=0,
        description="Difference of two values, in units of return, that makes one action e times as likely when "
        "actions are sampled (pkmn eval --stochastic), and in the cross-entropy of demonstrations [own]",
    )

    # Processes
    own_process: bool = Field(
        True,
        description="Learning moves to its own process after some seconds, which takes 250 MB of memory and makes "
        "steps faster; not on a GPU [own]",
    )

    # Confidence
    confidence_horizon: Horizon = Field(
        100, description="Steps of reward that a choice is judged by [own: 1 / (1 - gamma)]"
    )
    confidence_memory: Steps = Field(2_000, description="Latest choices that decide the learner's reliability [own]")

    # Network
    dueling: bool = Field(True, description="Separate streams for state value and action advantages [rainbow]")
    quantiles: PositiveInt = Field(
        1,
        le=200,
        description="Equally likely returns learned for each action, whose mean is the value; 1 learns the mean alone "
        "[own: 200 in Dabney et al. 2018]",
    )
    encoder: str = Field(
        "convolution", json_schema_extra=NAMES_ENCODER, description="Network part that reads observations [own]"
    )
    screen_channels: tuple[Channels, Channels] = Field(
        (32, 64), description="Channels of the two convolutions on the screen [own: speed on one core]"
    )
    screen_features: Features = Field(256, description="Numbers that describe the screen [own]")
    map_channels: tuple[Channels, Channels] = Field(
        (16, 32), description="Channels of the two convolutions on the map of bits [own]"
    )
    map_features: Features = Field(64, description="Numbers that describe the map of bits [own]")
    vector_features: Features = Field(
        128, description="Numbers that describe the vectors: goal and state variables [own]"
    )
    vector_layer_norm: bool = Field(
        True,
        description="Normalise those numbers for each observation; without it, the network also sees at first how "
        "large the numbers of a vector are together [own]",
    )
    features_dim: Features | None = Field(
        None, description="Units of a layer that joins what the encoder gives, before the output streams; not set: none"
    )
    head_features: Features = Field(128, description="Hidden units of each output stream, without net_arch [own]")
    net_arch: Layers | None = Field(
        None, description="Widths of the hidden layers of each output stream; not set: one of head_features"
    )

    @model_validator(mode="after")
    def _schedules_fall(self) -> Self:
        if self.demonstration_final_weight > self.demonstration_weight > 0:
            raise ValueError("demonstration_final_weight must not be above demonstration_weight")
        if self.exploration_final > self.exploration_initial:
            raise ValueError("exploration_final must not be above exploration_initial")
        if self.exploration_schedule == "exponential" and self.exploration_final == 0:
            raise ValueError("an exponential exploration_schedule never gets to 0: set exploration_final above it")
        return self

"""Members that a part may have besides its contract. The core looks for each by its name, and does without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from pkmncli.api.decisions import Advice, Decision
from pkmncli.api.environments import Environment, Pilot, Reward
from pkmncli.api.learning import Algorithm
from pkmncli.api.tracking import Tracker
from pkmncli.api.vocabulary import ActionNames, PhaseRole, Skill

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class OptionalEnvironment(Environment, Protocol):
    """Members that an environment may have."""

    action_names: ActionNames | Sequence[str]
    """Names of the actions, in the order of the action mask."""
    phase_roles: Sequence[PhaseRole]
    """Role of each of ``phase_names``."""
    situations: Sequence[str]
    """Kind of situation of each of ``phase_names``: the learner takes over kind by kind."""
    frames_per_second: float
    """Frames of the game that are one second of play."""
    goal_name: str | None
    """Milestone that ends an episode; None if there is none."""
    identity: Mapping[str, Any]
    """Plain values that a recorded action depends on, such as the image's hash and the frames of an action.

    An episode that was recorded elsewhere can be played again only if they are the same.
    """
    reward_names: Sequence[str]
    """Parts of the reward."""
    steps_since_progress: int
    """Steps since anything was new."""

    def write_reward_parts(self, out: NDArray[np.float32]) -> None:
        """Write the value of each of ``reward_names`` in the latest step into ``out``; the rest of it is 0."""
        ...

    def reward_totals(self) -> Mapping[str, float]:
        """Return the total of each part of the reward in this episode, by name."""
        ...

    def milestone_frames(self) -> Sequence[int]:
        """Return the same as ``milestone_steps()`` in emulated frames."""
        ...

    def progress(self) -> Mapping[str, float]:
        """Return the progress of the running episode as a few named numbers, such as ``{"badges": 2}``."""
        ...

    def status(self) -> str:
        """Return the state of the game in one line for people."""
        ...

    def view(self) -> NDArray[np.uint8] | None:
        """Return the picture for people, (height, width, 3) uint8; None if none is drawn.

        Without it, viewers of a training see the screen that the learner observes.
        """
        ...

    def guide(self, pilot: Any) -> None:
        """Take the pilot that decides beside the environment. From now on observations show its goals."""
        ...


class OptionalPilot(Pilot, Protocol):
    """Members that a pilot may have."""

    skills: Sequence[Skill]
    """Skills that advice can ask for. Declare them on the class."""

    def reconsider(self, advice: Advice) -> Decision | None:
        """Decide again, for advice about a state in which ``act`` has decided; None to keep that decision.

        Without it, advice begins one step later.
        """
        ...

    def reports(self) -> Sequence[Mapping[str, Any]]:
        """Return new and changed reports about the running episode. Called after every step.

        A report is plain values (JSON) with its ``number`` in the episode, from 1. The run keeps it. ``pkmn doctor
        --run`` shows its ``words``, a list of lines; ``tried``, a list of ``{"remedy": name, "step": step}``; and
        ``helped``, the name of the remedy that helped. The call must have no effect on what ``act`` returns.
        """
        ...


class OptionalReward(Reward, Protocol):
    """Members that a part of the reward may have."""

    PARTS: ClassVar[Sequence[str]]
    """Names of the parts that ``score`` can return. Without it they are recorded as one."""

    def bind(self, environment: Any) -> None:
        """Take the environment, once it is complete."""
        ...

    def finish(self, state: Any) -> Mapping[str, float]:
        """Return the parts to add to the last step, when the goal, reached in ``state``, has ended the episode."""
        ...


class OptionalAlgorithm(Algorithm, Protocol):
    """Members that a learner may have to choose when it learns; :class:`Algorithm` describes the usual order."""

    waits_for_updates: bool
    """True to act with an update at once: the environments wait for each ``learn``, which ``publish`` follows."""
    draws_ahead: bool
    """True if ``draw`` does not depend on a running ``learn``.

    Then the order is: ``draw``, queue the next ``learn``, wait for the running one, ``publish(begun=True)``. So acting
    never waits for learning to begin.
    """
    learns_at_once: bool
    """True if ``learn`` only launches work on a graphics card, and does not wait for it.

    Then ``draw`` and ``learn`` are called by the trainer's thread while the environments take the step after the
    window's end, and ``publish`` at the end of the next window.
    """

    def learn_beside(self) -> None:
        """Prepare for a training that steps while it learns."""
        ...

    def close(self) -> None:
        """Release what the learner holds, such as a process. May be called again."""
        ...


class OptionalTracker(Tracker, Protocol):
    """Members that a tracker may have."""

    @classmethod
    def check(cls, settings: Any) -> None:
        """Check the settings before anything of the run is made. Raise ConfigurationError if something is missing."""
        ...


class OptionalSettings(Protocol):
    """Class attributes that a settings model may have."""

    pilots: ClassVar[Sequence[str]]
    """Of an environment: names of its plugin's pilots that can play it."""
    observed_in_training: ClassVar[str]
    """Of an environment: observation type that is best to learn from."""
    serves: ClassVar[Sequence[str]]
    """Of a language model's backend: beginnings of the model names that it is chosen for."""

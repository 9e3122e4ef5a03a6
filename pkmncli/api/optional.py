"""Members that a part may have besides its contract. The core looks for each by its name, and does without it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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

    action_names: ActionNames | Sequence[str] | Sequence[Sequence[str]]
    """Names of the actions, in the order of the action mask; or for each component the names of its values."""
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
    metric_names: Sequence[str]
    """Names of the environment's own metrics of an episode."""
    succeeded: bool | None
    """True if the episode that has ended is a success, False if not, None if unknown.

    Without it, an episode is a success if it reached the milestone that ends it; without milestones nothing is known.
    """
    pressed: int
    """Action that the latest step carried out, such as the idle action in place of one that the mask forbids.

    Without it, that is the action that was given.
    """
    steps_since_progress: int
    """Steps since anything was new."""

    def reset_unobserved(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode as ``reset`` does, without an observation. It is used if no subclass has another ``reset``.

        Episodes of a few steps are faster with it: what is read is written by ``write_observation`` anyway.
        """
        ...

    def earlier_memory_hashes(self) -> Sequence[int]:
        """Return what ``memory_hash()`` of earlier versions returned here: a replay of their episodes accepts these."""
        ...

    def write_reward_parts(self, out: NDArray[np.float32]) -> None:
        """Write the value of each of ``reward_names`` in the latest step into ``out``; the rest of it is 0."""
        ...

    def reward_totals(self) -> Mapping[str, float]:
        """Return the total of each part of the reward in this episode, by name."""
        ...

    def metrics(self) -> Mapping[str, float]:
        """Return the environment's own metrics of the episode, such as ``{"score": 12}``. Called at its end."""
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

    def screen_words(self) -> str:
        """Return the text on the screen, for terminals, whose half blocks cannot show letters; empty for none."""
        ...

    def text_view(self, columns: int) -> str:
        """Return the state as lines of text of at most so many columns, as people want to see it in a terminal.

        Without it, ``pkmn watch`` and ``pkmn replay --terminal`` show the picture in half blocks.
        """
        ...

    @staticmethod
    def describe_state(state: bytes) -> Mapping[str, Any] | None:
        """Return what a saved state is: ``game``, ``step``, ``milestone``; None if another environment saved it.

        ``pkmn states`` shows it; a value that is not known is None. The state may be damaged: raise nothing.
        """
        ...

    @staticmethod
    def map_pictures(settings: Mapping[str, Any], maps: Collection[int]) -> Mapping[int, NDArray[np.uint8]]:
        """Return a picture of each of these maps of a run that is known, one pixel for each tile.

        ``pkmn plot`` and the live page draw visits over them, and keep none.

        Args:
            settings: settings of the run by ``key`` or ``section.key``, without those that are not set.
            maps: ids of maps, as in :attr:`Facts.map_id`.

        Returns:
            By id, (height, width, 3) uint8.

        Raises:
            PkmnError: what the pictures are drawn from, such as a cartridge image, is not here any more.
        """
        ...

    def guide(self, pilot: Any) -> None:
        """Take the pilot that decides beside the environment. From now on observations show its goals."""
        ...

    def for_evaluation(self) -> None:
        """Prepare for episodes that nothing is learned from. Called once, before the first one.

        What makes training easier, such as shorter games at first, ends here: each episode is the whole task.
        """
        ...


class OptionalPilot(Pilot, Protocol):
    """Members that a pilot may have."""

    skills: Sequence[Skill]
    """Skills that advice can ask for. Declare them on the class."""
    unbroken: bool
    """True if advice is over as soon as the learner acts, because it only holds for consecutive steps."""
    advice_end: str
    """End of the latest advice with ``advice_over``, as a clause for people: "the place is reached"."""

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
    samples_ahead: bool
    """True if ``sample`` does not depend on a running ``learn``.

    Then the order is: ``sample``, queue the next ``learn``, wait for the running one, ``publish(begun=True)``. So
    acting never waits for learning to begin.
    """
    learns_at_once: bool
    """True if ``learn`` only launches work on a GPU, and does not wait for it.

    Then ``sample`` and ``learn`` are called by the trainer's thread while the environments take the step after the
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
    """Class attributes and methods that a settings model may have."""

    pilots: ClassVar[Sequence[str]]
    """Of an environment: names of its plugin's pilots that can play it. The first one does by default."""
    observed_in_training: ClassVar[str]
    """Of an environment: observation type that is best to learn from."""
    serves: ClassVar[Sequence[str]]
    """Of a language model's backend: beginnings of the model names that it is chosen for."""

    def check(self) -> None:
        """Of an environment: raise the errors that are known without building it, such as a missing file.

        A training calls it before its processes start and libraries are imported, so it takes little time.
        """
        ...

"""A worker: one environment and its pilot, stepped, saved and asked by the parent."""

from __future__ import annotations

import io
import math
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import (
    MEMORY_HASH_INTERVAL,
    PILOT_ACTS,
    REASON_BYTES,
    REWARD_PARTS,
    Advice,
    Environment,
    Facts,
    FlatActions,
    Pilot,
    Source,
)
from pkmncli.api.actions import MASK
from pkmncli.api.live import BoardPart, LiveBoard
from pkmncli.api.spaces import blank_observation
from pkmncli.declared import action_names_of, phase_roles_of, reward_names_of
from pkmncli.diagnostics import one_line
from pkmncli.errors import EnvironmentSetupError, PkmnError, TrainingError
from pkmncli.outgoing_text import redact_values
from pkmncli.seeds import derive_seed, episode_number
from pkmncli.training.workers.action_log import ActionLog
from pkmncli.training.workers.advised_pilot import AdvisedPilot
from pkmncli.training.workers.consequences import ConsequenceWatcher
from pkmncli.training.workers.frame_stack import unstacked_state
from pkmncli.training.workers.shared_memory import NO_SLOT, TERMINAL_SLOT, SharedBlock
from pkmncli.training.workers.spec import Standing, StepNews, WorkerSpec, WorkerState, end_of, standing_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NO_REWARD_PARTS = bytes(4 * REWARD_PARTS)

TRIED_STARTS = (0, 1)
"""Seeds with which a state is tried as a start: a start begins a little differently with each."""


class Worker:
    """Environment and pilot in their worker process: carries out what the pool asks for."""

    def __init__(self, index: int, spec: WorkerSpec, environment: Environment, pilot: Pilot | None) -> None:
        self.index = index
        self.spec = spec
        self.environment = environment
        self.pilot = AdvisedPilot(pilot, shows=spec.pilot_shows)
        self.block: SharedBlock | None = None
        self._place = index
        self._views: list[dict[str, Any]] = []
        """Arrays of the observation in each slot of the block."""
        self._facts = Facts()
        """Facts of the published state: those before the next step. To ask for them may cost a hash."""
        self.live_board: LiveBoard | None = None
        self.episode = 0
        self.step_in_episode = 0
        self._milestones_told = 0
        """Milestones of the running episode that the parent knows of."""
        self.consequences = ConsequenceWatcher(phase_roles_of(environment))
        self._reward_parts = np.zeros(max(REWARD_PARTS, len(reward_names_of(environment))), np.float32)
        self._write_reward_parts = getattr(environment, "write_reward_parts", None)
        self._begin_episode = _beginning_of(environment)
        take_guide = getattr(environment, "guide", None)
        if pilot is not None and take_guide is not None:
            take_guide(pilot)
        self._step_limit = spec.step_limit or math.inf
        self.slot = 0
        """Slot of the block with the published state."""
        self._repeats = True
        self.next_start: bytes | None = None
        """The saved state in which the next episodes begin; None for the environment's own start."""

    def attach(self, block: SharedBlock, place: int | None = None) -> None:
        """Take the memory that is shared with the parent, or copied to it.

        Args:
            block: the memory.
            place: the environment's place in it; by default its number.
        """
        self.block = block
        self._place = self.index if place is None else place
        self._views = [block.environment(slot, self._place) for slot in range(len(block.slots))]

    # Calls, by name ---------------------------------------------------------------------------------------------

    def reset(self, episode: int, slot: int) -> None:
        """Begin the given episode of this environment."""
        self.episode = episode
        self._begin(slot)

    def begin_recorded(self, seed: int, start: bytes | None, slot: int) -> None:
        """Begin an episode as an earlier run recorded it. The next ones are this environment's own again."""
        self._begin_at(seed, start, slot)

    def begin_next_at(self, state: bytes | None) -> None:
        """Begin the next episodes in a saved state; None for the environment's own start."""
        self.next_start = state

    def start_state(self, slot: int) -> bytes | None:
        """Return the environment's state if an episode that begins in it has all milestones of this one; else None.

        In the middle of a door, say, some evidence does not hold. Leaves everything as it was.
        """
        state = self.save()
        reached = [place for place, step in enumerate(self.environment.milestone_steps()) if step >= 0]
        fits = True
        try:
            for seed in TRIED_STARTS:
                self.environment.reset(seed=seed, options={"start_state": state.environment})
                steps = self.environment.milestone_steps()
                fits = fits and all(steps[place] == 0 for place in reached)
        except (PkmnError, OSError):
            fits = False
        self.load(state, slot)
        return unstacked_state(state.environment) if fits else None

    def save(self) -> WorkerState:
        """Return the worker's state."""
        pilot, tiles = self.pilot.state_dict(), tuple(self.consequences.state_dict()["tiles"])
        return WorkerState(self.episode, self.step_in_episode, self.environment.save_state(), pilot, tiles)

    def load(self, state: WorkerState, slot: int) -> None:
        """Restore a saved state."""
        self.environment.load_state(state.environment)
        self.episode, self.step_in_episode = state.episode, state.step
        self.consequences.load_state_dict({"tiles": state.tiles})
        self.pilot.load_state_dict(state.pilot)
        self._publish(slot)
        self._milestones_told = self._facts.milestones if state.step else 0

    def replay(self, episode: int, log: ActionLog, slot: int, start: bytes | None) -> None:
        """Replay an episode, which began in the state ``start``, up to its latest step, in a replaced worker."""
        self.begin_next_at(start)
        self.reset(episode, slot)
        given = dict(log.advice)
        for step, (action, source) in enumerate(zip(log.actions, log.sources, strict=True)):
            if step == log.described:
                self.context()
            if step in given:
                self.advise(given[step])
            before = self.environment.facts()
            self.environment.advance(action)
            self.consequences.look(before, self.environment.facts())
            self.pilot.use_up_advice(by_pilot=source in (Source.LLM, Source.RULE))
            self.pilot.propose()  # at every step, since the pilot remembers what it sees
        self.step_in_episode = len(log.actions)
        if self.step_in_episode == log.described:
            self.context()
        if self.step_in_episode in given:
            self.advise(given[self.step_in_episode])
        self._publish(slot)
        self._milestones_told = self._facts.milestones if self.step_in_episode else 0

    def context(self) -> Any:
        """Return the state in words."""
        return self.environment.context()

    def status(self) -> str:
        """Return the state of the game in a line for people; empty if the environment has none."""
        tell = getattr(self.environment, "status", None)
        return "" if tell is None else str(tell())

    def picture(self) -> bytes:
        """Return the screen as a PNG file. Raises TrainingError if the environment draws none."""
        pixels: Any = self.environment.render()
        if pixels is None:
            raise TrainingError("this environment draws no pictures: leave out --llm-vision")
        from PIL import Image  # noqa: PLC0415 - only a run with a model that sees needs it

        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "PNG")
        return file.getvalue()

    def view(self) -> NDArray[np.uint8] | str | None:
        """Return the picture for people, (height, width, 3); None if the environment has none.

        A text says why there is none where the environment fails to draw it: looking must not end a training.
        """
        see = getattr(self.environment, "view", None)
        if see is None:
            return None
        try:
            seen = see()
            if seen is None:
                return None
            picture: NDArray[np.uint8] = np.asarray(seen)
        except Exception as error:  # whatever a third party's environment raises
            return f"the environment's view() failed: {one_line(error)}"
        if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3 or not picture.size:
            return f"the environment's view() is not (height, width, 3) uint8 but {picture.shape} {picture.dtype}"
        return picture

    def screen_words(self) -> str:
        """Return the text on the screen; empty if there is none, or the environment does not say."""
        return str(getattr(self.environment, "screen_words", str)())

    def text_view(self, columns: int) -> str | None:
        """Return the state as lines of text of at most so many columns; None if the environment has none."""
        see = getattr(self.environment, "text_view", None)
        return None if see is None else str(see(columns))

    def render_rate(self) -> float | None:
        """Return the steps per second at the real console's speed, from the environment's metadata; None without."""
        rate = (getattr(self.environment, "metadata", None) or {}).get("render_fps")
        return None if rate is None else float(rate)

    def view_onto(self, path: str, num_envs: int, shape: tuple[int, ...]) -> str:
        """Write that picture onto the live board in a file, which costs a tenth of sending it.

        Returns:
            Why there is none, a black one then; empty where all is well.
        """
        if self.live_board is None or not self.live_board.is_at(Path(path)):
            try:
                self.live_board = LiveBoard(Path(path), num_envs, shape)
            except (OSError, ValueError) as error:  # someone removed it, or cut it off
                return f"no live board: {one_line(error)}"
        screens = self.live_board.screens
        return "" if screens is None else show_picture(screens, self.index, self.view(), shape)

    def milestones(self) -> list[int]:
        """Return the steps at which the running episode reached its milestones, -1 for those not reached."""
        return self.environment.milestone_steps()

    def standing(self) -> Standing:
        """Return the standing of the running episode."""
        return standing_of(self.environment, self.step_in_episode)

    def show(self, slot: int) -> None:
        """Write the observation of the current state, which the latest step did not write."""
        self._show(slot, self._facts)

    def advise(self, advice: Advice | None, slot: int | None = None) -> None:
        """Take new advice for the pilot, or withdraw the old.

        The step that is proposed already stays as it is, unless the pilot reconsiders it for what is new: then its goal
        is another one too, and the observation in ``slot`` shows it.
        """
        if self.pilot.take_advice(advice):
            if slot is None:
                self._publish_proposal()
            else:
                self._publish(slot)

    def advice_end(self) -> str:
        """Return how the latest advice ended, as a clause for people; empty if it holds or the episode ended."""
        return self.pilot.advice_end

    def time_steps(self, count: int) -> float:
        """Return the seconds of one step here and now, of allowed actions. Leave the environment as it was.

        An environment that does not repeat the beginning of an episode begins the episode again.
        """
        environment, elapsed = self.environment, 0.0
        idle = action_names_of(environment, FlatActions.of(environment.action_space).count).idle_action
        state = environment.save_state()
        mask = self._mask_at(state)
        for number in range(count):
            action = idle if mask[idle] else int(mask.argmax())
            began = time.perf_counter()
            observation, _reward, terminated, truncated, _info = environment.step(action)
            elapsed += time.perf_counter() - began
            if terminated or truncated:
                observation, _info = environment.reset(seed=number)
            mask = observation[MASK]
        self._mask_at(state)
        return elapsed / count

    def repeats(self) -> bool:
        """Return False if :meth:`time_steps` has found that the environment does not go back to a saved state."""
        return self._repeats

    def _mask_at(self, state: bytes) -> NDArray[Any]:
        """Go back to a saved state, or else to the beginning of the episode. Return the mask there."""
        environment = self.environment
        try:
            observation = environment.load_state(state)[0]
        except EnvironmentSetupError:
            if self.step_in_episode:
                raise
            self._repeats = False
            self._begin(self.slot)
            observation = blank_observation(environment.observation_space)
            environment.write_observation(observation)
        mask: NDArray[Any] = observation[MASK]
        return mask

    # Steps -------------------------------------------------------------------------------------------------------

    def make_latest(self, row: int) -> None:
        """Make the record in a row of the block that of the latest step."""
        assert self.block is not None
        self.block.make_latest(self._place, row)

    def step(self, action: int, slot: int, source: int, confidence: float, row: int = 0) -> StepNews | None:
        """Take one step, reset at the end of an episode, and leave the results in the shared block.

        With :data:`NO_SLOT` as slot, no observation is written. The record is written to ``row``.

        Returns what is known of an episode only when it ends, and what the pilot has to report; mostly nothing.
        """
        assert self.block is not None
        environment = self.environment
        reason = b""
        by_pilot = action == PILOT_ACTS
        if by_pilot:
            (action, reason_text, confidence, *_), source = self.pilot.decision()
            reason = _kept_reason(reason_text)
        before = self._facts
        controls = self.block.controls[self._place].copy() if self.block.dimensions else action
        reward, terminated, truncated = environment.advance(controls)
        self.step_in_episode += 1
        truncated = truncated or self.step_in_episode >= self._step_limit
        after = environment.facts()
        ended = terminated or truncated
        hashed = ended or self.step_in_episode % MEMORY_HASH_INTERVAL == 0
        record = (
            self.episode,
            self.step_in_episode,
            getattr(environment, "pressed", action),
            source,
            confidence,
            reward,
            self._reward_parts_of_step(),
            terminated,
            truncated,
            before.map_id,
            before.x,
            before.y,
            before.phase,
            before.battle,
            before.opponent,
            before.health,
            before.opponent_health,
            after.milestones,
            after.frames,
            before.coarse_hash,
            after.fine_hash,
            environment.memory_hash() if hashed else 0,
            reason,
        )
        consequence = self.consequences.look(before, after)
        if not ended:
            self.pilot.use_up_advice(by_pilot=by_pilot)
            self.pilot.propose()
            self._show(slot, after)
            self._write_record(record, consequence, row)
            reports, standing = self.pilot.reports(), None
            if after.milestones != self._milestones_told:
                self._milestones_told = after.milestones
                standing = standing_of(environment, self.step_in_episode, after)
            return StepNews(None, reports, standing) if reports or standing else None
        end = end_of(environment, self.step_in_episode, after)
        reports = self.pilot.reports()
        self.pilot.propose()  # since the last observation shows the pilot's goal, too
        if slot != NO_SLOT:
            environment.write_observation(self._views[TERMINAL_SLOT])
        self.episode += 1
        self._begin(slot)
        self._write_record(record, consequence, row)
        return StepNews(end, reports)

    def _write_record(self, record: tuple[Any, ...], consequence: int, row: int) -> None:
        """Write the record of a step, with the proposal for the next one."""
        assert self.block is not None
        confidence, action, steps_left = self.pilot.shown()
        facts = self._facts
        after = confidence, action, steps_left, consequence, facts.map_id, facts.phase
        self.block.write_record(self._place, record + after, row)

    def _begin(self, slot: int) -> None:
        number = episode_number(self.index, self.episode, self.spec.num_envs)
        self._begin_at(derive_seed(self.spec.seed, self.spec.purpose, number), self.next_start, slot)

    def _begin_at(self, seed: int, start: bytes | None, slot: int) -> None:
        self._begin_episode(seed=seed, options={"start_state": start} if start else None)
        self.step_in_episode = self._milestones_told = 0
        facts = self.environment.facts()
        self.consequences.begin(facts)
        self.pilot.begin(seed)
        self._show(slot, facts)
        self._publish_proposal()

    def _reward_parts_of_step(self) -> bytes:
        if self._write_reward_parts is None:
            return _NO_REWARD_PARTS
        parts = self._reward_parts
        self._write_reward_parts(parts)
        if len(parts) > REWARD_PARTS:
            parts[REWARD_PARTS - 1] = parts[REWARD_PARTS - 1 :].sum()
        return parts[:REWARD_PARTS].tobytes()

    def _publish(self, slot: int) -> None:
        self._show(slot, self.environment.facts())
        self._publish_proposal()

    def _show(self, slot: int, facts: Facts) -> None:
        """Write the observation of the current state, of which these are the facts, if there is a slot for it."""
        self._facts = facts
        if slot == NO_SLOT:
            return
        self.slot = slot
        if self.block is not None:
            self.environment.write_observation(self._views[slot])

    def _publish_proposal(self) -> None:
        if self.block is not None:
            record = self.block.records[self._place]
            record["pilot_confidence"], record["pilot_action"], record["advice_steps_left"] = self.pilot.shown()
            record["next_map"], record["next_phase"] = self._facts.map_id, self._facts.phase


def _beginning_of(environment: Environment) -> Callable[..., Any]:
    """Return ``reset_unobserved()`` of an environment, or ``reset()`` where a subclass or wrapper has another one."""
    for kind in type(environment).__mro__:
        for name in ("reset_unobserved", "reset"):
            if name in vars(kind):
                beginning: Callable[..., Any] = getattr(environment, name)
                return beginning
    return environment.reset


def show_picture(
    screens: BoardPart, index: int, picture: NDArray[np.uint8] | str | None, shape: tuple[int, ...]
) -> str:
    """Write what :meth:`Worker.view` returned onto a live board. Return why there is no picture, else nothing.

    Args:
        screens: the board's pictures.
        index: of the environment.
        picture: a picture, why there is none, or None.
        shape: of the board's pictures.
    """
    if picture is None:
        return ""
    if not isinstance(picture, str) and picture.shape != tuple(shape):
        picture = f"the environment's view() has another shape than before: {picture.shape}"
    if isinstance(picture, str):
        screens.write(np.zeros((1, *shape), np.uint8), index)
        return picture
    screens.write(picture[None], index)
    return ""


@lru_cache(maxsize=1024)
def _kept_reason(text: str) -> bytes:
    """Return a pilot's reason as a record has room for it: without secrets, which being cut off would hide."""
    return redact_values(text).encode()[:REASON_BYTES]

"""A worker: one environment and its pilot, stepped, saved and asked by the parent."""

from __future__ import annotations

import io
import time
from dataclasses import asdict
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
    Decision,
    Environment,
    Pilot,
    Source,
)
from pkmncli.api.live import LiveBoard
from pkmncli.declared import action_names_of, phase_roles_of, reward_names_of
from pkmncli.diagnostics import one_line
from pkmncli.errors import PkmnError, TrainingError
from pkmncli.outgoing_text import redact_values
from pkmncli.seeds import derive_seed, episode_number
from pkmncli.training.workers.consequences import ConsequenceWatcher
from pkmncli.training.workers.press_log import PressLog
from pkmncli.training.workers.shared_memory import TERMINAL_SLOT, SharedBlock
from pkmncli.training.workers.spec import EpisodeEnd, Standing, StepNews, WorkerSpec, WorkerState, standing_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_ACTION = -1
"""In place of what the pilot would press, where there is none or it does not say."""

TRIED_STARTS = (0, 1)
"""Seeds with which a state is tried as a start: a start begins a little differently with each."""


class Worker:
    """The environment's side of the conversation."""

    def __init__(self, index: int, spec: WorkerSpec, environment: Environment, pilot: Pilot | None) -> None:
        self.index = index
        self.spec = spec
        self.environment = environment
        self.pilot = pilot
        self.block: SharedBlock | None = None
        self.live_board: LiveBoard | None = None
        self.episode = 0
        self.step_in_episode = 0
        self.advice: Advice | None = None
        self.advice_steps_left = 0
        self.proposal = Decision(0, "", 0.0)
        self.consequences = ConsequenceWatcher(phase_roles_of(environment))
        self._reward_parts = np.zeros(max(REWARD_PARTS, len(reward_names_of(environment))), np.float32)
        self._write_reward_parts = getattr(environment, "write_reward_parts", None)
        self._reports_of_pilot = getattr(pilot, "reports", None)
        take_guide = getattr(environment, "guide", None)
        if pilot is not None and take_guide is not None:
            take_guide(pilot)
        self.next_start: bytes | None = None
        """The saved state in which the next episodes begin; None for the environment's own start."""

    # Calls, by name ---------------------------------------------------------------------------------------------

    def reset(self, episode: int, slot: int) -> None:
        """Begin the given episode of this environment."""
        self.episode = episode
        self._begin(slot)

    def begin_recorded(self, seed: int, start: bytes | None, slot: int) -> None:
        """Begin an episode as an earlier run recorded it. The next ones are this environment's own again."""
        self._begin_at(seed, start, slot)

    def begin_next_at(self, path: str) -> None:
        """Begin the next episodes in the saved state of a file; an empty path for the environment's own start."""
        self.next_start = Path(path).read_bytes() if path else None

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
        return state.environment if fits else None

    def save(self) -> WorkerState:
        """Return the worker's state."""
        pilot = None
        if self.pilot is not None:
            pilot = {
                "memory": self.pilot.save_state(),
                "proposal": list(self.proposal),
                "advice": None if self.advice is None else asdict(self.advice),
                "advice_steps_left": self.advice_steps_left,
            }
        tiles = tuple(self.consequences.state_dict()["tiles"])
        return WorkerState(self.episode, self.step_in_episode, self.environment.save_state(), pilot, tiles)

    def load(self, state: WorkerState, slot: int) -> None:
        """Restore a saved state."""
        self.environment.load_state(state.environment)
        self.episode, self.step_in_episode = state.episode, state.step
        self.consequences.load_state_dict({"tiles": state.tiles})
        if self.pilot is not None and state.pilot is not None:
            self.pilot.load_state(state.pilot["memory"])
            self.proposal = Decision(*state.pilot["proposal"])
            advice = state.pilot["advice"]
            self.advice = None if advice is None else Advice.from_values(advice)
            self.advice_steps_left = state.pilot["advice_steps_left"]
        self._publish(slot)

    def replay(self, episode: int, log: PressLog, slot: int) -> None:
        """Replay an episode up to its latest step, in a worker that replaces a lost one."""
        self.begin_next_at(log.start)
        self.reset(episode, slot)
        given = dict(log.advice)
        for step, (action, source) in enumerate(zip(log.presses, log.sources, strict=True)):
            if step == log.described:
                self.context()
            if step in given:
                self.advise(given[step])
            before = self.environment.facts()
            self.environment.advance(action)
            self.consequences.look(before, self.environment.facts())
            self._use_up_advice(by_pilot=source in (Source.LLM, Source.RULE))
            self._propose()  # at every step, since the pilot remembers what it sees
        self.step_in_episode = len(log.presses)
        if self.step_in_episode == log.described:
            self.context()
        if self.step_in_episode in given:
            self.advise(given[self.step_in_episode])
        self._publish(slot)

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
        picture = self.view()
        if picture is None or screens is None:
            return ""
        if not isinstance(picture, str) and picture.shape != tuple(shape):
            picture = f"the environment's view() has another shape than before: {picture.shape}"
        if isinstance(picture, str):
            screens.write(np.zeros((1, *shape), np.uint8), self.index)
            return picture
        screens.write(picture[None], self.index)
        return ""

    def milestones(self) -> list[int]:
        """Return the steps at which the running episode reached its milestones, -1 for those not reached."""
        return self.environment.milestone_steps()

    def standing(self) -> Standing:
        """Return the standing of the running episode."""
        return standing_of(self.environment, self.step_in_episode)

    def advise(self, advice: Advice | None, slot: int | None = None) -> None:
        """Take new advice for the pilot, or withdraw the old.

        The step that is proposed already stays as it is, unless the pilot reconsiders it for what is new: then its goal
        is another one too, and the observation in ``slot`` shows it.
        """
        self.advice = advice
        self.advice_steps_left = 0 if advice is None else max(advice.expires_after, 1)
        reconsider = getattr(self.pilot, "reconsider", None)
        if advice is not None and reconsider is not None:
            # the proposal was made for earlier advice: it can't say that this advice is over
            self.proposal = reconsider(advice) or self.proposal._replace(advice_over=False)
            if slot is None:
                self._publish_proposal()
            else:
                self._publish(slot)

    def time_steps(self, count: int) -> float:
        """Return the seconds of one step here and now. Leave the environment as it was."""
        idle = action_names_of(self.environment, int(self.environment.action_space.n)).idle_action
        state = self.environment.save_state()
        began = time.perf_counter()
        for _ in range(count):
            self.environment.step(idle)
        elapsed = time.perf_counter() - began
        self.environment.load_state(state)
        return elapsed / count

    # Steps -------------------------------------------------------------------------------------------------------

    def step(self, action: int, slot: int, source: int, confidence: float) -> StepNews | None:
        """Take one step, reset at the end of an episode, and leave the results in the shared block.

        Returns what is known of an episode only when it ends, and what the pilot has to report; mostly nothing.
        """
        assert self.block is not None
        environment = self.environment
        reason = b""
        by_pilot = action == PILOT_ACTS
        if by_pilot:
            if self.pilot is None or not self.spec.pilot_shows:
                raise TrainingError("the pilot was to act, but these environments have none that may")
            action, reason_text, confidence, advised, _over = self.proposal
            reason = _kept_reason(reason_text)
            source = Source.LLM if advised else Source.RULE
        before = environment.facts()
        reward, terminated, truncated = environment.advance(action)
        self.step_in_episode += 1
        after = environment.facts()
        ended = terminated or truncated
        hashed = ended or self.step_in_episode % MEMORY_HASH_INTERVAL == 0
        self.block.records[self.index] = (
            self.episode,
            self.step_in_episode,
            environment.pressed,
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
            0.0,
            NO_ACTION,
            0,
            self.consequences.look(before, after),
            0,
            0,
        )
        if not ended:
            self._use_up_advice(by_pilot=by_pilot)
            self._propose()
            self._publish(slot)
            reports = self._reports()
            return StepNews(None, reports) if reports else None
        totals = getattr(environment, "reward_totals", None)
        standing = standing_of(environment, self.step_in_episode)
        end = EpisodeEnd(standing, {} if totals is None else dict(totals()))
        reports = self._reports()
        self._propose()  # since the last observation shows the pilot's goal, too
        environment.write_observation(self.block.environment(TERMINAL_SLOT, self.index))
        self.episode += 1
        self._begin(slot)
        return StepNews(end, reports)

    def _reports(self) -> list[dict[str, Any]]:
        return list(self._reports_of_pilot()) if self._reports_of_pilot is not None else []

    def _begin(self, slot: int) -> None:
        number = episode_number(self.index, self.episode, self.spec.num_envs)
        self._begin_at(derive_seed(self.spec.seed, self.spec.purpose, number), self.next_start, slot)

    def _begin_at(self, seed: int, start: bytes | None, slot: int) -> None:
        self.environment.reset(seed=seed, options={"start_state": start} if start else None)
        self.step_in_episode = 0
        self.consequences.begin(self.environment.facts())
        self.advise(None)
        if self.pilot is not None:
            self.pilot.reset(seed)
            self._propose()
        self._publish(slot)

    def _reward_parts_of_step(self) -> NDArray[np.float32]:
        parts = self._reward_parts
        if self._write_reward_parts is not None:
            self._write_reward_parts(parts)
            parts[REWARD_PARTS - 1] = parts[REWARD_PARTS - 1 :].sum()
        return parts[:REWARD_PARTS]

    def _use_up_advice(self, *, by_pilot: bool) -> None:
        if self.advice is None:
            return
        self.advice_steps_left -= 1
        proposal = self.proposal
        if self.advice_steps_left == 0 or (proposal.advice_over and (by_pilot or not proposal.advised)):
            self.advise(None)

    def _propose(self) -> None:
        if self.pilot is not None:
            self.proposal = self.pilot.act(self.advice)

    def _publish(self, slot: int) -> None:
        if self.block is not None:
            self.environment.write_observation(self.block.environment(slot, self.index))
            self._publish_proposal()

    def _publish_proposal(self) -> None:
        if self.block is not None:
            record = self.block.records[self.index]
            shows = self.pilot is not None and self.spec.pilot_shows
            record["pilot_confidence"] = self.proposal.confidence if shows else 0.0
            record["pilot_action"] = self.proposal.action if shows else NO_ACTION
            record["advice_steps_left"] = self.advice_steps_left
            now = self.environment.facts()
            record["next_map"], record["next_phase"] = now.map_id, now.phase


@lru_cache(maxsize=1024)
def _kept_reason(text: str) -> bytes:
    """Return a pilot's reason as a record has room for it: without secrets, which being cut off would hide."""
    return redact_values(text).encode()[:REASON_BYTES]

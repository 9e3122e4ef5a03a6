"""Gymnasium environment of a Pokemon game on an emulated Game Boy Color."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmn_pyboy.emulation.buttons import BUTTONS
from pkmn_pyboy.emulation.saved_state import MILESTONE, NOVELTY, read_session
from pkmn_pyboy.emulation.settings import settings_from
from pkmn_pyboy.environments.emulated import EmulatedEnvironment
from pkmn_pyboy.environments.starts import base_start, continued_start, floor_ahead, vary_start
from pkmn_pyboy.environments.step_record import facts_of
from pkmn_pyboy.game import Game
from pkmn_pyboy.goal_view.guide import Guide
from pkmn_pyboy.goal_view.view import GOAL, LOCAL_MAP, GoalView
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.profile.selection import built_in_milestones, select_game
from pkmn_pyboy.rewards.composition import RewardSum
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.state.details import Details
from pkmn_pyboy.state.game_state import PHASE_NAMES, PHASE_ROLES, SITUATIONS, GameState, Phase
from pkmn_pyboy.state.variables import write_state_variables
from pkmn_pyboy.story.tracker import MilestoneTracker
from pkmn_pyboy.words.analysis import GameStateAnalysis
from pkmn_pyboy.words.changes import Snapshot
from pkmn_pyboy.words.context import analyse, describe, status_line, take_snapshot
from pkmn_pyboy.words.text_map import TextMap
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.map_picture import map_pictures
from pkmncli.api import Action, Context, Facts, MilestoneSplit
from pkmncli.errors import EmulatorError, EnvironmentSetupError

_NONE = int(Action.NONE)


class PokemonEnvironment(EmulatedEnvironment):
    """Environment ``pyboy``. One step is one action: a button held, then released, 24 frames in all.

    Observations hold ``action_mask`` int8 (9,) and, by the setting, ``screen``, ``state_variables``, ``goal`` and
    ``local_map``. An action that the mask forbids is not pressed: the step waits instead, and ``info["masked"]`` counts
    it. So every pressed action was allowed.

    Besides Gymnasium's methods: :meth:`advance` and :meth:`write_observation` make a step without new arrays;
    :attr:`game` is for pilots.

    Args:
        settings: setup, observation and reward of the game; defaults if None.

    Raises:
        EnvironmentSetupError: the profile is missing or wrong.
        RomError: the cartridge image is missing, damaged or unknown.
        EmulatorError: the emulator does not start.
    """

    def __init__(self, settings: EnvironmentSettings | None = None) -> None:
        self.settings = settings = settings or EnvironmentSettings()
        profile, rom = select_game(settings)
        action_frames = settings.action_frames or profile.action_frames
        super().__init__(
            rom,
            settings,
            name=profile.name,
            observation_type=settings.observation_type,
            action_frames=action_frames,
            hold_frames=settings.hold_frames or min(profile.hold_frames, action_frames - 1),
            action_repeat=settings.action_repeat,
            local_map=settings.local_map,
        )
        self.goal = self._goal_index(profile)
        """Index of the milestone that ends an episode, -1 for none."""
        self.game = Game(
            self.emulator,
            rom,
            profile,
            goal=self.goal,
            knowledge=settings.knowledge,
            without_mask_rules=settings.without_mask_rules,
        )
        """Running game, as pilot, rewards and words read it."""
        # Without a goal setting, an episode is as long as for the first goal, as in earlier versions.
        most = profile.steps_to(self.goal) if settings.goal is not None else profile.episode_steps
        self.max_steps_per_episode = settings.max_steps_per_episode or most
        self.rewards = RewardSum(settings.rewards)
        self.reward_names = self.rewards.part_names
        self.phase_names = PHASE_NAMES
        self.situations = SITUATIONS
        self.phase_roles = PHASE_ROLES
        self.milestone_names = tuple(milestone.key for milestone in profile.milestones)
        titles = {milestone.key: milestone.name for milestone in profile.milestones}
        self.names: dict[str, Any] = {
            "game": profile.title,
            "about": "a Pokemon game for the Game Boy",
            "milestone_titles": titles,
            **self.game.names.as_mapping(),
        }
        self._has_variables = "state_variables" in self.observation_space.spaces
        self._text_map = TextMap(self.emulator, profile, self.game.names)
        self._described: Snapshot | None = None
        self.masked = 0
        """Steps of this episode whose action the mask forbade."""
        self._goal_view: GoalView | None = None
        self._guide: Guide | None = None
        if GOAL in self.observation_space.spaces:
            self._goal_view = GoalView(self.game)
            if settings.goals == "rules":
                self._guide = Guide(self)
        self._facts: Facts | None = None
        self.rewards.bind(self.game)

    @property
    def profile(self) -> GameProfile:
        """Description of the game."""
        return self.game.profile

    @property
    def state(self) -> GameState:
        """State after the latest reset or step."""
        return self.game.state

    @property
    def mask(self) -> NDArray[np.int8]:
        """(9,) int8, 1 = allowed now. Shared: do not change it."""
        return self.game.mask

    @property
    def milestones(self) -> MilestoneTracker:
        """Milestones reached in this episode."""
        return self.game.milestones

    # Gymnasium ----------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Start an episode.

        The seed determines its start: some idle frames, steps and turns. The same seed starts the same episode, in any
        process.

        Args:
            seed: seed of the episode and of all random choices in it.
            options: ``start_state`` holds bytes to start from: a state of :meth:`save_state`, or one of PyBoy.

        Raises:
            EmulatorError: the state does not fit.
            EnvironmentSetupError: the goal is already reached at the start of the episode.
        """
        self._begin(seed, options)
        game = self.game
        game.reader.reset()
        vary_start(
            self.emulator,
            self.np_random,
            self.settings.seed_noops,
            self.settings.seed_presses,
            lambda: game.reader.read(self.emulator),
            partial(floor_ahead, self.emulator, self.profile),
        )
        self.emulator.run(1, render=True)
        self.masked = 0
        game.begin()
        if game.goal_reached:
            raise EnvironmentSetupError(
                f"The goal {self.goal_name} is already reached at the start of the episode: "
                "choose another goal or another start"
            )
        self._facts = None
        self._described = None
        self.rewards.reset(self.state)
        if self._guide is not None:
            self._guide.begin(seed)
        self._running = True
        return self.observation(), self._info()

    # Step without new arrays --------------------------------------------------------------------------------

    def advance(self, action: int | np.integer[Any]) -> tuple[float, bool, bool]:
        """Take one action without building an observation. Return (reward, terminated, truncated)."""
        self._check_running()
        settings = self.settings
        wanted = int(action)
        if settings.sticky_probability and self.np_random.random() < settings.sticky_probability:
            wanted = self.pressed
        if not self.mask[wanted]:
            self.masked += 1
            wanted = _NONE
        previous = self.state
        self._press(wanted)
        self.pressed = wanted
        self.steps += 1
        self.game.look(wanted, self.steps, self.frames)
        self._facts = None
        state = self.state
        reward = self._score(previous, wanted, state)
        if self._guide is not None:
            self._guide.look()
        terminated = self.game.goal_reached
        if terminated:
            reward += self.rewards.finish(state)
        return reward, terminated, self.steps >= self.max_steps_per_episode

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        """Write the observation into arrays of the observation space's shapes and dtypes, such as shared memory."""
        super().write_observation(out)
        if self._has_variables:
            write_state_variables(
                out["state_variables"], self.state, len(self.profile.milestones), self.steps_since_progress
            )
        if self._goal_view is not None:
            memory = self._guide.memory if self._guide is not None else None
            self._goal_view.write_goal(out[GOAL], memory)
            if self.settings.local_map:
                self._goal_view.write_local_map(out[LOCAL_MAP], memory)

    def guide(self, pilot: Any) -> None:
        """Show the goals of the pilot that plays with this environment, if goals are observed.

        Without a call the environment has another pilot for that, which decides at every step and never presses. With
        ``goals="none"`` no goals are shown.

        Args:
            pilot: the pilot. It must have decided in a state before that state is observed.
        """
        if self._guide is not None:
            self._guide.follow(pilot)

    # Other methods for training -----------------------------------------------------------------------------

    def facts(self) -> Facts:
        """Return the step record after the latest reset or step."""
        if self._facts is None:
            self._facts = facts_of(self.game)
        return self._facts

    def milestone_steps(self) -> list[int]:
        """Return for each milestone the step of this episode at which it was reached, 0 at its start, -1 if not yet."""
        return list(self.milestones.steps)

    def milestone_frames(self) -> list[int]:
        """Return the same in emulated frames of the episode."""
        return list(self.milestones.frames)

    def milestone_splits(self) -> tuple[MilestoneSplit, ...]:
        """Return the milestones reached in this episode, with the step and the emulated frame of each, in order."""
        return self.milestones.splits()

    @property
    def steps_since_progress(self) -> int:
        """Steps since a milestone, level, badge, catch or map was new."""
        return self.game.steps_since_progress

    def progress(self) -> dict[str, int]:
        """Return the progress of the episode, for people: badges, and the highest level in the party."""
        state = self.state
        return {
            "badges": state.johto_badges.bit_count() + state.kanto_badges.bit_count(),
            "level": max((member.level for member in state.party.members if not member.egg), default=0),
        }

    def details(self) -> Details:
        """Return the details, read on request: bag, Pokedex, event flags, clock, names and more of a battle."""
        return self.game.details()

    def analysis(self) -> GameStateAnalysis:
        """Return the meaning of the state: danger, health, suggestions, changes since the latest :meth:`context`."""
        return analyse(self.game, self._described)

    def reward_totals(self) -> dict[str, float]:
        """Return the weighted total of each reward part in this episode, as ``reward.part``."""
        return dict(self.rewards.totals)

    def write_reward_parts(self, out: NDArray[np.float32]) -> None:
        """Write the weighted value of each of :attr:`reward_names` in the latest step.

        The reward that a subclass adds is in none of them.
        """
        self.rewards.write_parts(out)

    def status(self) -> str:
        """Return the state of the game in one line for people. A call has no effect on the game."""
        return status_line(self.game, self.rewards.totals)

    def context(self) -> Context:
        """Return the state in words. Changes are those since the previous call."""
        context = describe(self.game, self._described, self.text_map())
        self._described = take_snapshot(self.game)
        return context

    def screen_words(self) -> str:
        """Return the text on the screen, while a window with text is open; empty otherwise."""
        return self.game.screen_words()

    def text_map(self) -> str:
        """Return the tiles around the player in letters, while the player can see them; empty otherwise."""
        if self.state.phase not in (Phase.FREE, Phase.MOVING, Phase.DIALOGUE, Phase.CHOICE, Phase.CUTSCENE):
            return ""
        columns, rows = self.settings.text_map_columns, self.settings.text_map_rows
        return self._text_map.draw(self.state, self.game.seen, columns, rows)

    def baselines(self) -> dict[str, Callable[[int], None]]:
        """Return functions to compare :meth:`step` with: the emulation alone, and the reading of one step alone."""

        def read(action: int) -> None:
            self.game.read_and_mask()

        return {**super().baselines(), "state reader and mask": read}

    @staticmethod
    def describe_state(state: bytes) -> dict[str, Any] | None:
        """Return game, step and latest milestone of a saved state, as far as it says them; None for another's state."""
        found = read_session(state)
        if found is None or NOVELTY in found[1]:
            return None
        game, session = found
        milestone = session.get(MILESTONE)
        names = built_in_milestones(game)
        if names and "milestones" in session:
            try:
                steps = session["milestones"]["steps"]
                reached = [name for name, step in zip(names, steps, strict=False) if step >= 0]
            except (KeyError, TypeError):
                return None
            milestone = reached[-1] if reached else ""
        return {"game": game, "step": session.get("steps"), "milestone": milestone}

    @staticmethod
    def map_pictures(settings: Mapping[str, Any], maps: Collection[int]) -> dict[int, NDArray[np.uint8]]:
        """Return pictures of maps from the image of a run's settings, one pixel for each tile.

        Raises:
            PkmnError: the image is not there any more, or another one.
        """
        chosen = {name: settings[name] for name in ("game", "game_folder", "rom_path", "force_rom") if name in settings}
        profile, image = select_game(EnvironmentSettings.model_validate(chosen))
        return map_pictures(Cartridge(image.data, profile).world, maps)

    # Inner parts --------------------------------------------------------------------------------------------

    def _first_state(self) -> bytes:
        if self._battery_save is not None:
            return continued_start(self.emulator, self.profile, self._battery_save)
        return base_start(self.emulator, self.profile)

    def _session(self) -> dict[str, Any]:
        return {
            "masked": self.masked,
            **self.game.save_state(),
            "described": self._described.as_dict() if self._described is not None else None,
            "rewards": self.rewards.save_state(),
            "reward_totals": self.rewards.totals,
            "guide": self._guide.save_state() if self._guide is not None else None,
        }

    def _check_session(self, session: Mapping[str, Any]) -> None:
        names = self.rewards.names
        if set(session.get("rewards", {})) != names:
            raise EmulatorError(
                f"The saved state has the rewards {', '.join(sorted(session.get('rewards', {}))) or 'none'}, this "
                f"environment {', '.join(sorted(names)) or 'none'}: use the same ones, or start from it with reset()"
            )

    def _load_session(self, session: Mapping[str, Any]) -> None:
        self.masked = int(session["masked"])
        self.game.load_state(session, self.pressed, self.steps, self.frames)
        described = session["described"]
        self._described = Snapshot.from_dict(described) if described is not None else None
        self.rewards.load_state(session["rewards"])
        self.rewards.totals = {str(part): float(total) for part, total in session["reward_totals"].items()}
        self._facts = None
        if self._guide is not None:
            self._guide.load_state(session.get("guide"))

    def _score(self, previous: GameState, action: int, state: GameState) -> float:
        return self.rewards.score(previous, action, state)

    def _press(self, action: int) -> None:
        button = BUTTONS[action]
        for repeat in range(self.settings.action_repeat):
            # Each press of a repeated action must be allowed.
            if repeat and not self.game.read_and_mask()[action]:
                break
            self.emulator.press(button, self.hold_frames, self.action_frames, self._is_drawn())
            self.frames += self.action_frames

    def _info(self) -> dict[str, Any]:
        return {
            "frames": self.frames,
            "milestones": self.milestones.count,
            "masked": self.masked,
            "pressed": self.pressed,
            "reward_parts": self.rewards.parts,
        }

    @property
    def goal_name(self) -> str | None:
        """Milestone that ends an episode; None if the game has none."""
        return self.milestone_names[self.goal] if self.goal >= 0 else None

    def _goal_index(self, profile: GameProfile) -> int:
        goal = profile.first_goal if self.settings.goal == "first" else self.settings.goal
        if goal is not None and goal != "last":
            return profile.milestone_index(goal)
        return profile.last_goal


def make_environment(**settings: Any) -> PokemonEnvironment:
    """Build the environment from keyword settings, for ``gymnasium.make``."""
    return PokemonEnvironment(settings_from(EnvironmentSettings, settings))

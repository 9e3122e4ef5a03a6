"""Environment ``balatro``: a run of Balatro as an episode."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from gymnasium import spaces

from pkmn_balatro import actions as at
from pkmn_balatro import states, taking, words
from pkmn_balatro.actions import ActionList
from pkmn_balatro.masks import MOST_FREE_ACTIONS, Masks
from pkmn_balatro.observation import observation_spaces
from pkmn_balatro.observer import Observer
from pkmn_balatro.settings import BalatroSettings
from pkmn_balatro.simulator import saves
from pkmn_balatro.simulator.blinds import BOSSES
from pkmn_balatro.simulator.cards import FORCED
from pkmn_balatro.simulator.game import Game
from pkmn_balatro.simulator.jokers.kinds import kind_named
from pkmn_balatro.simulator.pools import joker_of
from pkmn_balatro.simulator.queries import OVER
from pkmn_balatro.simulator.rounds import refresh_hand_size
from pkmn_balatro.simulator.run import Category, IllegalActionError, Offer, Run
from pkmn_balatro.simulator.uses import add_joker
from pkmn_balatro.step_facts import facts_of
from pkmncli.api import ActionNames, BaseEnvironment, Context, Facts, PhaseRole
from pkmncli.errors import EnvironmentSetupError

if TYPE_CHECKING:
    from numpy.typing import NDArray

RULES_VERSION: Final = 1
"""Version of the rules: a recorded episode is only repeated by the same one."""

EPISODE_STEPS: Final = 2000
"""Steps after which an episode is truncated where no setting says so."""
_TARGETS: Final = 5
"""Place in :data:`PHASES` of an open choice of targets."""
PHASES: Final = ("blind", "play", "shop", "pack", "over", "targets")
"""Names of the phases: those of :class:`pkmn_balatro.simulator.run.Phase`, and the choice of targets."""
_ROLES: Final = (
    PhaseRole.ANSWERING,
    PhaseRole.FREE,
    PhaseRole.MENU,
    PhaseRole.MENU,
    PhaseRole.BETWEEN,
    PhaseRole.MENU,
)
_ANTES: Final = range(2, 9)
"""Antes that are milestones."""
REWARDS: Final = ("progress", "blind", "boss", "win", "loss")
"""Parts of the reward."""
_NO_REWARD: Final = [0.0] * len(REWARDS)


class BalatroEnvironment(BaseEnvironment):
    """A run of Balatro, from the first blind until it is won or lost.

    One step is one action of :class:`pkmn_balatro.actions.ActionList`. A consumable that needs targets takes two: it is
    named, then the cards are chosen. The observation has ``hand``, ``offered_cards``, ``numbers``, ``kinds``, see
    :mod:`pkmn_balatro.observation`, and ``action_mask`` int8 (actions,), 1 = allowed; ``info`` has the mask, too.

    An action that the mask forbids changes nothing but the number of steps, and ``info["illegal"]`` says why in one
    line. With the setting ``illegal_actions = "raise"`` it raises :class:`IllegalActionError`.

    Args:
        settings: rules, actions and reward; defaults if None.

    Raises:
        EnvironmentSetupError: the start state cannot be read.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array", "ansi"], "render_fps": 4}  # type: ignore[misc]
    phase_names = PHASES
    phase_roles = _ROLES
    situations = PHASES
    milestone_names = (*(f"ante_{ante}" for ante in _ANTES), "won")
    metric_names = ("ante", "round", "score", "money", "jokers")
    reward_names = REWARDS
    goal_name = "won"

    def __init__(self, settings: BalatroSettings | None = None) -> None:
        self.settings = settings = settings or BalatroSettings()
        self.render_mode = settings.render_mode
        self.actions = ActionList(settings.hand_positions)
        """All actions."""
        self.action_space: Any = spaces.Discrete(self.actions.count)
        self.observation_space = spaces.Dict(observation_spaces(settings.hand_positions, self.actions.count))
        self.max_steps_per_episode = settings.max_steps_per_episode or EPISODE_STEPS
        self.action_names = ActionNames(self.actions.names, synonyms=words.SYNONYMS)
        self.win_ante = settings.win_ante
        """Ante whose boss must be beaten; a change counts from the next reset."""
        titles = {f"ante_{ante}": f"ante {ante}" for ante in _ANTES} | {"won": "the run is won"}
        self._names: dict[str, Any] = {
            "game": "Balatro",
            "about": words.ABOUT,
            "milestone_titles": titles,
            "maps": {ante: f"ante {ante}" for ante in range(40)},
            "battles": dict(enumerate(("none", "small blind", "big blind", "boss blind"))),
            "species": {number + 1: boss.name for number, boss in enumerate(BOSSES)},
        }
        self._masks = Masks(self.actions)
        self._first_places = [list(range(count)) for count in range(settings.hand_positions + 1)]
        self._observer = Observer(settings.hand_positions)
        self._weights = tuple(float(getattr(settings, f"reward_{part}")) for part in REWARDS)
        self._start = None if settings.start_state is None else states.read_state(settings.start_state)
        self.game = self._new_game(0)
        """The game that is played."""
        self._running = False
        self._clear()

    def _clear(self) -> None:
        """Forget the episode before."""
        self.pending: tuple[int, int, int] | None = None
        """Open choice of targets: the action that began it, fewest and most cards."""
        self.free_actions = 0
        """Actions without effect on the game that were taken in turn."""
        self._best = 0
        self._reached = [-1] * len(self.milestone_names)
        self.milestones = 0
        """Milestones that are reached."""
        self._parts = [0.0] * len(REWARDS)
        self._totals = [0.0] * len(REWARDS)
        self._mask: bytes | None = None
        self._places: Sequence[int] | None = None

    def _new_game(self, seed: int) -> Game:
        settings = self.settings
        try:
            game = Game(
                seed, deck=settings.deck, stake=settings.stake, win_ante=self.win_ante, endless=settings.endless
            )
        except ValueError as error:
            raise EnvironmentSetupError(f"balatro: {error}") from None
        run = game.run
        if settings.money is not None:
            run.money = settings.money
        for name in settings.jokers:
            add_joker(run, joker_of(run, Offer(Category.JOKER.value, kind_named(name))))
        if settings.jokers:
            refresh_hand_size(run)
        return game

    # Gymnasium -------------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Begin a run. The same seed begins the same run.

        Args:
            seed: seed of the episode and of all luck in it.
            options: ``start_state`` holds a state of :meth:`save_state` to begin in, with the luck of the seed.

        Raises:
            EnvironmentSetupError: the state does not fit.
        """
        self.reset_unobserved(seed=seed, options=options)
        return self.observation(), self._info()

    def reset_unobserved(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a run as :meth:`reset` does, without an observation."""
        super().reset(seed=seed, options=options)
        start: bytes | None = (options or {}).get("start_state", self._start)
        luck = int(self.np_random.integers(2**63))
        if start is None:
            self.game = self._new_game(luck)
            self._clear()
        else:
            kept = self.np_random, self.win_ante  # those of the state belong to another run
            self._restore(start)
            self.np_random, self.win_ante = kept
            game, pending = self.game, self.pending
            game.run.random.seed(luck)
            self._clear()
            self.pending = pending
        self.steps = 0
        self._running = self.game.run.phase != OVER
        self._look(self.game.run)

    def step(self, action: int) -> tuple[dict[str, NDArray[Any]], float, bool, bool, dict[str, Any]]:
        """Take one action. Return (observation, reward, terminated, truncated, info)."""
        illegal = self._refusal(int(action))
        reward, terminated, truncated = self.advance(action)
        info = self._info()
        if illegal:
            info["illegal"] = illegal
        return self.observation(), reward, terminated, truncated, info

    def advance(self, action: int) -> tuple[float, bool, bool]:
        """Take one action. Return (reward, terminated, truncated).

        Raises:
            EnvironmentSetupError: no episode is running.
            IllegalActionError: there is no such action; or it is forbidden, and the setting says to raise.
        """
        if not self._running:
            raise EnvironmentSetupError("no episode is running: call reset() before step()")
        action = int(action)
        self._parts = parts = _NO_REWARD[:]
        if not 0 <= action < self.actions.count or not self.mask_bytes()[action]:
            refusal = self._refusal(action)
            if self.settings.illegal_actions == "raise" or not 0 <= action < self.actions.count:
                raise IllegalActionError(refusal)
            self.steps += 1
            return 0.0, False, self.steps >= self.max_steps_per_episode
        run = self.game.run
        score, target, rounds, blind, won = run.score, run.target, run.rounds, run.blind, run.won
        self._take(action)
        self._mask = self._places = None
        self.steps += 1
        run = self.game.run
        if action >= self.actions.play:
            beaten = run.rounds > rounds
            if action < self.actions.discard:
                self._best = max(self._best, run.score - score)
            if beaten:
                parts[0] = self._weights[0] * (1.0 - min(1.0, score / target))
                parts[1] = self._weights[1]
                parts[2] = self._weights[2] if blind == 2 else 0.0
            elif action < self.actions.discard and target:
                parts[0] = self._weights[0] * (min(1.0, run.score / target) - min(1.0, score / target))
        if run.won and not won:
            parts[3] = self._weights[3]
        terminated = run.phase == OVER
        if terminated and not run.won:
            parts[4] = self._weights[4]
        if run.ante - 1 > self.milestones or run.won:
            self._look(run)
        if parts != _NO_REWARD:
            totals = self._totals
            for place, part in enumerate(parts):
                totals[place] += part
        truncated = not terminated and self.steps >= self.max_steps_per_episode
        self._running = not (terminated or truncated)
        return sum(parts), terminated, truncated

    def write_observation(self, out: Mapping[str, NDArray[Any]]) -> None:
        """Write the observation into arrays of the space's shapes and dtypes."""
        hand = self.game.run.hand
        visible = [hand[place] for place in self.visible_places]
        targets = (0, 0) if self.pending is None else self.pending[1:]
        self._observer.write(out, self.game.run, visible, targets, 1.0 - self.free_actions / MOST_FREE_ACTIONS)
        out["action_mask"][...] = np.frombuffer(self.mask_bytes(), np.int8)

    def action_masks(self) -> NDArray[np.int8]:
        """Return the mask, (actions,) int8, 1 = allowed now."""
        return np.frombuffer(self.mask_bytes(), np.int8)

    def render(self) -> Any:
        """Return the table: (320, 480, 3) uint8 with ``render_mode="rgb_array"``, text with ``"ansi"``, else None."""
        if self.render_mode == "ansi":
            return self.text_view()
        return self.view() if self.render_mode == "rgb_array" else None

    def text_view(self, columns: int = 80) -> str:
        """Return the table as plain text."""
        from pkmn_balatro.play.table import text_of  # noqa: PLC0415 - a training without viewers draws nothing

        return text_of(self.game, columns)

    def view(self) -> NDArray[np.uint8]:
        """Return the picture for people, (320, 480, 3) uint8."""
        from pkmn_balatro.picture import draw_table  # noqa: PLC0415 - as above

        note = ""
        if self.pending is not None:
            action, fewest, most = self.pending
            note = f"{self.actions.names[action]}: choose {words.span(fewest, most)} card{'s' * (most > 1)}"
        return draw_table(self.game, note)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks().copy(), "phase": PHASES[self.phase]}

    # Actions ---------------------------------------------------------------------------------------------------

    @property
    def visible_places(self) -> Sequence[int]:
        """Positions in the hand of the cards that can be chosen: the first ones, and forced ones."""
        if self._places is None:
            hand = self.game.run.hand
            count, most = len(hand), self.actions.hand_positions
            self._places = self._first_places[min(count, most)]
            if count > most:
                forced = [place for place in range(most, count) if hand[place] & FORCED]
                if forced:
                    self._places = [*range(most - len(forced)), *forced]
        return self._places

    def mask_bytes(self) -> bytes:
        """Return the mask, one byte for each action."""
        if self._mask is None:
            places, run = self.visible_places, self.game.run
            if self.pending is not None:
                action, fewest, most = self.pending
                kind = taking.consumable_of(run, action)
                self._mask = self._masks.choosing(run, places, kind, (fewest, most), self.free_actions)
            else:
                self._mask = self._masks.acting(self.game, places, self.free_actions)
        return self._mask

    def _refusal(self, action: int) -> str:
        """Return why an action is refused, in one line; an empty text if it is allowed."""
        if not 0 <= action < self.actions.count:
            return f"there is no action {action}: actions are numbered from 0 to {self.actions.count - 1}"
        if self.mask_bytes()[action]:
            return ""
        return f"the action {self.actions.names[action]} is not allowed now (phase {PHASES[self.phase]})"

    def _take(self, action: int) -> None:
        """Take an action that is allowed."""
        actions, game = self.actions, self.game
        if action >= actions.play:
            if action < actions.discard:
                chosen = actions.plays[action - actions.play]
            elif action < actions.choose:
                chosen = actions.plays[action - actions.discard]
            else:
                chosen = actions.choices[action - actions.choose]
            if len(game.run.hand) > actions.hand_positions:
                places = self.visible_places
                chosen = tuple([places[place] for place in chosen])
            if action < actions.discard:
                game.play(chosen)
            elif action < actions.choose:
                game.discard(chosen)
            else:
                assert self.pending is not None
                taking.use(game, self.pending[0], chosen)
                self.pending = None
            self.free_actions = 0
            return
        if action == at.CANCEL:
            self.pending = None
            self.free_actions += 1
        elif action in (at.SORT_BY_RANK, at.SORT_BY_SUIT):
            game.sort_hand(by_suit=action == at.SORT_BY_SUIT)
            self.free_actions += 1
        elif action >= at.JOKER_LEFT:
            place = action - at.JOKER_LEFT + 1
            game.move_joker(place, place - 1)
            self.free_actions += 1
        elif at.PICK <= action < at.SELL_JOKER:
            needed = game.can_use(action - at.USE) if action >= at.USE else game.can_pick(action - at.PICK)
            if needed is not None and needed[1]:
                self.pending = (action, *needed)
                return
            taking.use(game, action, ())
            self.free_actions = 0
        else:
            taking.act(game, action)
            self.free_actions = 0

    def _look(self, run: Run) -> None:
        """Note the milestones that are reached."""
        reached = self._reached
        for place in range(min(run.ante, _ANTES[-1]) - 1):
            if reached[place] < 0:
                reached[place] = self.steps
        if run.won and reached[-1] < 0:
            reached[-1] = self.steps
        self.milestones = sum([step >= 0 for step in reached])

    # For training ----------------------------------------------------------------------------------------------

    @property
    def phase(self) -> int:
        """Place of the phase in :data:`PHASES`."""
        return self.game.run.phase if self.pending is None else _TARGETS

    @property
    def names(self) -> Mapping[str, Any]:
        """Names for people, and for the records of steps."""
        return self._names

    @property
    def identity(self) -> dict[str, Any]:
        """Plain values that a recorded action depends on."""
        settings = self.settings
        return {
            "rules": RULES_VERSION,
            "deck": settings.deck,
            "stake": settings.stake,
            "win_ante": self.win_ante,
            "endless": settings.endless,
            "hand_positions": settings.hand_positions,
        }

    @property
    def succeeded(self) -> bool:
        """True if the run is won."""
        return self.game.run.won

    def metrics(self) -> dict[str, float]:
        """Return the figures of the episode: ante, blinds beaten, best hand, money and jokers at its end."""
        run = self.game.run
        return {
            "ante": float(run.ante),
            "round": float(run.rounds),
            "score": float(self._best),
            "money": float(run.money),
            "jokers": float(len(run.jokers)),
        }

    def progress(self) -> dict[str, float]:
        """Return the progress of the running episode."""
        return {"ante": float(self.game.run.ante), "round": float(self.game.run.rounds)}

    def milestone_steps(self) -> list[int]:
        """Return for each milestone the step that reached it, -1 if not yet."""
        return list(self._reached)

    def write_reward_parts(self, out: NDArray[np.float32]) -> None:
        """Write the parts of the latest step's reward."""
        out.fill(0)
        if self._parts != _NO_REWARD:
            out[: len(REWARDS)] = self._parts

    def reward_totals(self) -> dict[str, float]:
        """Return the total of each part of the reward in this episode."""
        return dict(zip(REWARDS, self._totals, strict=True))

    def facts(self) -> Facts:
        """Return the state as plain numbers, see :mod:`pkmn_balatro.step_facts`."""
        return facts_of(self)

    def memory_hash(self) -> int:
        """Return a hash of the whole state of the game.

        The generator is left out, which takes two thirds of the time and shows in the next cards.
        """
        return _hash(saves.readable_part(self.game.run))

    def earlier_memory_hashes(self) -> list[int]:
        """Return the hash that was recorded when it had the generator, too."""
        return [_hash(self.game.save())]

    def status(self) -> str:
        """Return the state of the game in one line."""
        return words.status(self.game)

    def context(self) -> Context:
        """Return the state in words, for language models and people."""
        return words.context(self)

    # State -----------------------------------------------------------------------------------------------------

    def save_state(self) -> bytes:
        """Return the whole state, of the game and the episode."""
        return states.to_bytes(
            {
                "game": self.game.save(),
                "steps": self.steps,
                "running": self._running,
                "win_ante": self.win_ante,
                "pending": self.pending,
                "free": self.free_actions,
                "best": self._best,
                "reached": self._reached,
                "parts": self._parts,
                "totals": self._totals,
                "random": self.np_random,
            }
        )

    def load_state(self, state: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Resume from a saved state. Return as :meth:`reset` does.

        Raises:
            EnvironmentSetupError: the state is damaged, or of another environment or version.
        """
        self._restore(state)
        return self.observation(), self._info()

    @classmethod
    def describe_state(cls, state: bytes) -> dict[str, Any] | None:
        """Return game, step and latest milestone of a saved state; None for another's state."""
        if not states.is_saved_state(state):
            return None
        try:
            found = states.from_bytes(state)
            reached = [name for name, step in zip(cls.milestone_names, found["reached"], strict=True) if step >= 0]
            return {"game": "balatro", "step": int(found["steps"]), "milestone": reached[-1] if reached else ""}
        except (EnvironmentSetupError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def _restore(self, state: bytes) -> None:
        try:
            found = states.from_bytes(state)
            game = Game.load(found["game"])
            kept = [found[name] for name in ("steps", "running", "win_ante", "pending", "free", "best")]
            reached = [int(step) for step in found["reached"]]
            parts, totals = ([float(part) for part in found[name]] for name in ("parts", "totals"))
            generator = found["random"]
        except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            raise EnvironmentSetupError(
                f"the state of balatro cannot be used: {' '.join(str(error).split())}"
            ) from None
        self.game = game
        self.steps, self._running, self.win_ante, self.pending, self.free_actions, self._best = kept
        self._reached, self._parts, self._totals = reached, parts, totals
        self.milestones = sum(step >= 0 for step in reached)
        self.np_random = generator
        self._mask = self._places = None


def _hash(state: bytes) -> int:
    """Return a 64-bit hash of a state."""
    return int.from_bytes(hashlib.blake2b(state, digest_size=8).digest(), "little")

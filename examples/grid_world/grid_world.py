"""A grid world in words, which a language model advises: find the key, then the door.

    PYTHONPATH=examples/grid_world pkmn train --env gym:grid_world:GridWorld-v0 --rl none \
        --llm scripted --set scripted.file=examples/grid_world/advice.toml --episodes 3

With a real model: ``--llm ollama`` or another backend. Without ``--rl none`` a learner plays where there is no advice.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from pkmncli.api import Context

SIZE = 5
MOVES = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}


class GridWorld(gymnasium.Env[NDArray[np.int64], int]):
    """Five by five cells. The player finds a key, which is needed for the door."""

    observation_space = spaces.MultiDiscrete([SIZE, SIZE, SIZE, SIZE, SIZE, SIZE, 2])
    action_space = spaces.Discrete(len(MOVES) + 1)
    action_names = (*MOVES, "take")
    """Actions as a language model names them."""
    names: ClassVar[dict[str, Any]] = {"game": "Grid World", "about": "a grid of rooms with a key and a door"}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int64], dict[str, Any]]:
        """Begin an episode: player, key and door are in different cells."""
        super().reset(seed=seed)
        cells = self.np_random.choice(SIZE * SIZE, 3, replace=False)
        self.player, self.key, self.door = ((int(cell % SIZE), int(cell // SIZE)) for cell in cells)
        self.has_key = False
        return self._observation(), {}

    def step(self, action: int) -> tuple[NDArray[np.int64], float, bool, bool, dict[str, Any]]:
        """Move, or take the key. The door ends the episode, with the key only."""
        reward = -0.01
        name = self.action_names[action]
        if name == "take":
            self.has_key = True  # the mask allows it at the key only
            reward += 0.5
        else:
            x, y = self._beside(name)
            self.player = (x, y)
        done = self.has_key and self.player == self.door
        return self._observation(), reward + done, done, False, {"success": done}

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the actions that are possible: no step leaves the grid, and the key is taken once."""
        inside = [all(0 <= place < SIZE for place in self._beside(name)) for name in MOVES]
        return np.array([*inside, self.player == self.key and not self.has_key])

    def context(self) -> Context:
        """Return the state for the prompt of a language model. The prompt has nothing else about the environment."""
        rows = ["".join(self._sign(x, y) for x in range(SIZE)) for y in range(SIZE)]
        wanted = "door" if self.has_key else "key"
        east, south = (there - here for here, there in zip(self.player, getattr(self, wanted), strict=True))
        ways = [f"{east} east" if east > 0 else f"{-east} west"] if east else []
        ways += [f"{south} south" if south > 0 else f"{-south} north"] if south else []
        return Context(
            current_goal="Take the key, then go to the door.",
            context_summary=f"The {wanted} is {' and '.join(ways) or 'here'}.",
            text_map="\n".join(rows),
        )

    def _beside(self, name: str) -> tuple[int, int]:
        return self.player[0] + MOVES[name][0], self.player[1] + MOVES[name][1]

    def _sign(self, x: int, y: int) -> str:
        signs = {self.door: "D", **({} if self.has_key else {self.key: "K"}), self.player: "@"}
        return signs.get((x, y), ".")

    def _observation(self) -> NDArray[np.int64]:
        return np.array([*self.player, *self.key, *self.door, self.has_key])


gymnasium.register("GridWorld-v0", GridWorld, max_episode_steps=60)  # type: ignore[arg-type]

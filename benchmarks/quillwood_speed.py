"""The speed of the bundled game against that of an image that only sleeps.

    python benchmarks/quillwood_speed.py --pairs 9 --actions 600

The yardstick is an image with the same header whose code switches the screen and its objects on and then only waits for
VBlank. Both get the same actions of 24 frames, a button held for the first 10. The pilot plays from power-on once; its
buttons are then replayed in the game and in the yardstick in turn, and the processor time of each action is counted by
what the game was doing. The figure is the yardstick's time divided by the game's: 1 would mean that the game costs
nothing. Median, least and greatest of the pairs; then, for a busy machine, the shortest times of all replays divided by
each other.
"""

from __future__ import annotations

import argparse
import io
import statistics
import time
from collections import Counter
from collections.abc import Sequence

from pyboy import PyBoy

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.settings import EnvironmentSettings
from pkmn_pyboy.state.game_state import GameState, Phase
from pkmncli.api import Action

ACTION_FRAMES, HOLD_FRAMES = 24, 10
KINDS = ("standing", "walking", "text and menus", "battle", "all")
TEXT = (Phase.DIALOGUE, Phase.CHOICE, Phase.MENU)

# di; LCDC = 0x93; IE = 1; IF = 0; then for ever: halt, nop, IF = 0
SLEEPING = bytes.fromhex("F3 3E93 E040 3E01 E0FF AF E00F 7600 AF E00F 18F9")
# the same, and the picture moves by one pixel per frame
SCROLLING = bytes.fromhex("F3 3E93 E040 3E01 E0FF AF E00F 7600 AF E00F F043 3C E043 18F4")

Taken = tuple[str | None, str]  # the button, and what the game is doing: one of KINDS, or "other"


def with_code(image: bytes, code: bytes) -> bytes:
    """Return the image with other code behind its header."""
    changed = bytearray(image)
    changed[0x100:0x104] = bytes([0x00, 0xC3, 0x50, 0x01])
    changed[0x150 : 0x150 + len(code)] = code
    return bytes(changed)


def boot(image: bytes, state: bytes | None = None) -> PyBoy:
    """Return an emulator without a picture, at the state or after the screen's start."""
    pyboy = PyBoy(io.BytesIO(image), window="null", sound_emulated=False, log_level="CRITICAL")
    pyboy.set_emulation_speed(0)
    if state is None:
        pyboy.tick(60, False)
    else:
        pyboy.load_state(io.BytesIO(state))
    return pyboy


def kind_of(before: GameState, after: GameState) -> str:
    """Return the kind of an action: what the game was doing."""
    if before.phase is Phase.FREE and after.phase is Phase.FREE and before.map_id == after.map_id:
        moved = (before.x, before.y) != (after.x, after.y)
        return "walking" if moved else "other"
    if before.phase.name.startswith("BATTLE"):
        return "battle"
    return "text and menus" if before.phase in TEXT else "other"


def record(actions: int) -> tuple[bytes, bytes, list[Taken]]:
    """Return the image, the state after power-on and the pilot's actions from there, after some idle ones."""
    environment = PokemonEnvironment(EnvironmentSettings(observation_type="state", max_steps_per_episode=actions + 100))
    environment.reset(seed=0)
    pilot = RulesPilot(environment)
    pilot.reset(0)
    state = environment.emulator.save_state()
    taken: list[Taken] = []
    for number in range(actions):
        before = environment.state
        action = Action.NONE if number < actions // 10 else Action(int(pilot.act(None).action))
        environment.advance(action)
        kind = "standing" if number < actions // 10 else kind_of(before, environment.state)
        taken.append((None if action is Action.NONE else action.name.lower(), kind))
    image = bytes(environment.rom.data)
    environment.close()
    return image, state, taken


def timed(pyboy: PyBoy, actions: Sequence[Taken]) -> Counter[str]:
    """Return processor seconds by kind of action."""
    seconds: Counter[str] = Counter()
    for button, kind in actions:
        start = time.process_time()
        if button is not None:
            pyboy.button(button, HOLD_FRAMES)
        pyboy.tick(ACTION_FRAMES, False)
        seconds[kind] += time.process_time() - start
    seconds["all"] = sum(seconds.values(), 0.0)
    pyboy.stop(save=False)
    return seconds


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=9, help="replays of each image")
    parser.add_argument("--actions", type=int, default=600, help="actions of 24 frames in a replay")
    options = parser.parse_args()
    image, state, actions = record(options.actions)
    still, scrolling = with_code(image, SLEEPING), with_code(image, SCROLLING)
    game: list[Counter[str]] = []
    sleep: list[Counter[str]] = []
    scroll: list[Counter[str]] = []
    for pair in range(options.pairs):
        runs = [
            lambda: game.append(timed(boot(image, state), actions)),
            lambda: sleep.append(timed(boot(still), actions)),
            lambda: scroll.append(timed(boot(scrolling), actions)),
        ]
        for run in runs if pair % 2 == 0 else reversed(runs):
            run()
    counts = Counter(kind for _, kind in actions)
    counts["all"] = len(actions)
    print(f"{'':18}{'actions':>8}{'median':>8}{'least':>8}{'most':>8}{'shortest':>10}   beside a screen that sleeps")
    for kind in KINDS:
        if counts[kind]:
            show(kind, counts[kind], [seconds[kind] for seconds in sleep], [seconds[kind] for seconds in game])
    show("only scrolling", len(actions), [seconds["all"] for seconds in sleep], [seconds["all"] for seconds in scroll])


def show(name: str, count: int, sleep: list[float], other: list[float]) -> None:
    """Print one row, from processor seconds of both."""
    ratios = [one / two for one, two in zip(sleep, other, strict=True)]
    shortest = min(sleep) / min(other)
    print(f"{name:18}{count:8}{statistics.median(ratios):8.2f}{min(ratios):8.2f}{max(ratios):8.2f}{shortest:10.2f}")


if __name__ == "__main__":
    main()

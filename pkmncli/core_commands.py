"""Names of the core's commands, known without importing any."""

from __future__ import annotations

CORE_COMMANDS = {
    "train": "Train an agent; without options, on the bundled game.",
    "init": "Write a commented settings file for a training.",
    "runs": "List the runs, tag and rename them, and delete what is no longer needed.",
    "eval": "Play episodes with a trained agent and report how well it does.",
    "watch": "Watch a trained agent play now, in the terminal or a window.",
    "replay": "Play a recorded episode again, check it and make a video of it.",
    "plot": "Draw curves, milestone splits and visited tiles of runs, as a page or a picture.",
    "compare": "Compare what runs reached, and how far chance may have decided.",
    "experiment": "Train every combination of settings and seed that a file asks for.",
    "tune": "Search settings for the best ones by trials, and keep them as a preset.",
    "export": "Take a run's tables and its learner's policy to other programs.",
    "import": "Make a run folder of a run that someone shared.",
    "play": "Play a game yourself and save states to train from.",
    "states": "List saved states to train from, and what they are.",
    "bench": "Measure the speed of the parts on this machine.",
    "llm": "Ask language models by hand, list them, name them, and read what runs asked.",
    "doctor": "Check this installation, or show where a run got nowhere.",
    "plugins": "Show what plugins are installed and what they bring.",
}
"""Line of each command in ``pkmn --help``. Module ``pkmncli.commands.NAME`` defines a function or command ``NAME``;
with ``_`` at its end where Python reserves the name."""

HEADINGS = {
    "Train": ("train", "init", "experiment", "tune"),
    "Look at runs": ("runs", "eval", "watch", "replay", "plot", "compare", "export", "import"),
    "Play": ("play", "states"),
    "This installation": ("llm", "bench", "doctor", "plugins"),
}
"""Commands under each heading of ``pkmn --help``."""

OTHER_HEADING = "From plugins"
"""Heading of all other commands."""

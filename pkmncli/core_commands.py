"""Names of the core's commands, known without importing any."""

from __future__ import annotations

CORE_COMMANDS = {
    "train": "Train an agent; without options, on the bundled game.",
    "eval": "Play episodes with a trained agent and report how well it does.",
    "replay": "Play a recorded episode again, check it and make a video of it.",
    "plot": "Draw curves, milestone splits and visited tiles of runs, as a page or a picture.",
    "compare": "Compare what runs reached, and how far chance may have decided.",
    "experiment": "Train every combination of settings and seed that a file asks for.",
    "tune": "Search settings for the best ones by trials, and keep them as a preset.",
    "export": "Take a run's tables and its learner's policy to other programs.",
    "bench": "Measure the speed of the parts on this machine.",
    "llm": "Ask a language model by hand, or list a backend's models.",
    "doctor": "Check this installation, or show where a run got nowhere.",
    "plugins": "Show what plugins are installed and what they bring.",
}
"""Line of each command in ``pkmn --help``. Module ``pkmncli.commands.NAME`` defines a function ``NAME``."""

HEADINGS = {
    "Train": ("train", "experiment", "tune"),
    "Look at runs": ("eval", "replay", "plot", "compare", "export"),
    "This installation": ("llm", "bench", "doctor", "plugins"),
}
"""Commands under each heading of ``pkmn --help``."""

OTHER_HEADING = "From plugins"
"""Heading of all other commands."""

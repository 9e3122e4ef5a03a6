"""Options of commands in which a trained agent plays: which agent, and from which starts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pkmncli.errors import ConfigurationError

AGENT, EPISODES = "Agent", "Episodes"
"""Headings of the options in a command's help."""

RunName = Annotated[str | None, typer.Argument(metavar="RUN", help="Run folder or name. [default: latest]")]
Pretrained = Annotated[
    str | None,
    typer.Option(
        metavar="GAME",
        help="The policy that comes with a game, such as quillwood, instead of a run's.",
        rich_help_panel=AGENT,
    ),
]
Checkpoint = Annotated[
    str, typer.Option(help="latest, best, a milestone, episode-N, or a number of steps.", rich_help_panel=AGENT)
]
Stochastic = Annotated[
    bool,
    typer.Option(
        "--stochastic",
        help="Sample the learner's actions from its policy, instead of the best ones.",
        rich_help_panel=AGENT,
    ),
]
Rom = Annotated[
    Path | None,
    typer.Option(
        help="Present path of the run's image; with --pretrained, the image of a game that has none.",
        rich_help_panel=AGENT,
    ),
]
GameFolder = Annotated[
    Path | None, typer.Option(help="Present folder of the run's game profile.", rich_help_panel=AGENT)
]
SaveDir = Annotated[Path | None, typer.Option(help="Folder of the run folders. [default: runs]", rich_help_panel=AGENT)]
Seed = Annotated[
    int | None,
    typer.Option(min=0, help="Seed of the held-out starts. [default: the run's]", rich_help_panel=EPISODES),
]
MaxSteps = Annotated[
    int | None,
    typer.Option(min=1, help="Steps after which an episode is cut off. [default: the run's]", rich_help_panel=EPISODES),
]


def check_sampling(*, stochastic: bool, alone: bool) -> None:
    """Raise ConfigurationError if actions are to be sampled, and not the learner alone plays."""
    if stochastic and not alone:
        raise ConfigurationError("--stochastic: only the learner alone samples its actions; use it with --mode rl-only")

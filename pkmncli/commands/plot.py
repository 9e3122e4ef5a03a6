"""Command `pkmn plot`: draw curves, milestone splits and visited tiles of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pkmncli.comparison.charts import check_drawing
from pkmncli.comparison.compared_runs import find_runs
from pkmncli.comparison.page import SUFFIXES, write_page, write_pictures
from pkmncli.comparison.run_charts import charts_of
from pkmncli.comparison.run_plots import read_plotted
from pkmncli.diagnostics import say
from pkmncli.plugins import get_registry
from pkmncli.runs import open_run


def plot(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN", help="Run folders or names, or folders of runs. [default: latest]"),
    ] = None,
    *,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="Output file: a page, .html, or a picture, .png, with more beside it if it is tall."
        ),
    ] = Path("plot.html"),
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Metric to draw a curve of. Repeatable. [default: the most informative ones]"
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="Setting that distinguishes groups. Repeatable. [default: all that differ]"),
    ] = None,
    save_dir: Annotated[Path | None, typer.Option(help="Folder of the run folders. [default: runs]")] = None,
) -> None:
    """Draw runs: curves with their spread over seeds, milestone splits, and visited tiles.

    Runs that differ only in the seed are one group. Also works while they train.
    """
    check_drawing("--out", out, SUFFIXES)
    registry = get_registry()
    named = runs or [str(open_run(None, save_dir).folder)]
    plotted = read_plotted(find_runs(named, save_dir, least=1), registry, metric or (), by or ())
    charts = list(charts_of(plotted))
    if out.suffix.lower() == ".html":
        write_page(plotted, charts, out)
        written = [out]
    else:
        written = write_pictures(charts, out)
    say(f"Wrote {', '.join(map(str, written))}.")

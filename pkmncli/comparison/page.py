"""Output of charts as one self-contained page, or as pictures of a bounded height."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pkmncli.atomic_files import write_atomic
from pkmncli.comparison.charts import colour
from pkmncli.comparison.run_charts import LEGEND, Chart
from pkmncli.comparison.run_plots import Plotted

SUFFIXES = (".html", ".png")

TALLEST_PIXELS = 4000
"""Maximum height of a picture; further charts go to further files."""

_STYLE = """
:root { color-scheme: light dark; --text: #1b1d21; --dim: #5b616b; --page: #ffffff; --line: #d9dce1; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e6ea; --dim: #9aa1ac; --page: #16181d; --line: #343841; } }
body { margin: 2rem auto; max-width: 64rem; padding: 0 1rem; background: var(--page); color: var(--text);
       font: 16px/1.5 system-ui, sans-serif; }
h1, h2 { font-weight: 600; line-height: 1.2; }
p, td, th { color: var(--dim); }
picture { display: block; overflow-x: auto; }
img { width: 100%; min-width: 46rem; height: auto; }
table { border-collapse: collapse; }
th, td { padding: .25rem 1rem .25rem 0; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
td:first-child { color: var(--text); }
"""


def write_page(plotted: Plotted, charts: Sequence[Chart], path: Path) -> None:
    """Write a page with the charts, each in a light and a dark version. Raise RunError if that fails."""
    rows = "".join(
        f'<tr><td><span style="color:{colour(number)}">&#9632;</span> {html.escape(group.label)}</td>'
        f"<td>{len(group.runs)}</td><td>{html.escape(', '.join(group.runs))}</td></tr>"
        for number, group in enumerate(plotted.groups)
    )
    sections = "".join(
        f"<h2>{html.escape(chart.title)}</h2><p>{html.escape(chart.note)}</p>"
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{_embedded(chart.png(True))}">'
        f'<img alt="{html.escape(chart.title)}" src="{_embedded(chart.png(False))}"></picture>'
        for chart in charts
        if chart.title != LEGEND  # the table has it
    )
    write_atomic(
        path,
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(_title(plotted))}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{html.escape(_title(plotted))}</h1>"
        f"<table><thead><tr><th>group</th><th>count</th><th>runs</th></tr></thead><tbody>{rows}</tbody></table>"
        f"{sections}</body></html>\n",
    )


def write_pictures(charts: Sequence[Chart], path: Path) -> list[Path]:
    """Write the charts below each other into PNG files of at most :data:`TALLEST_PIXELS`, and return these.

    The first file is ``path``, the others are ``name-2.png`` and so on beside it; each begins with the legend.

    Raises:
        RunError: a file cannot be written.
    """
    from PIL import Image  # noqa: PLC0415 - only a picture needs it

    drawn = [(chart, Image.open(io.BytesIO(chart.png(False))).convert("RGB")) for chart in charts]
    legend = [image for chart, image in drawn if chart.title == LEGEND]
    pages: list[list[Any]] = [list(legend)]
    for image in [image for chart, image in drawn if chart.title != LEGEND]:
        if len(pages[-1]) > len(legend) and sum(one.height for one in pages[-1]) + image.height > TALLEST_PIXELS:
            pages.append(list(legend))
        pages[-1].append(image)
    written = []
    for number, images in enumerate(pages, start=1):
        size = max(image.width for image in images), sum(image.height for image in images)
        whole, top = Image.new("RGB", size, "white"), 0
        for image in images:
            whole.paste(image, (0, top))
            top += image.height
        content = io.BytesIO()
        whole.save(content, "PNG")
        written.append(path if number == 1 else path.with_stem(f"{path.stem}-{number}"))
        write_atomic(written[-1], content.getvalue())
    return written


def _title(plotted: Plotted) -> str:
    runs = [name for group in plotted.groups for name in group.runs]
    return runs[0] if len(runs) == 1 else f"{len(runs)} runs"


def _embedded(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"

"""Report as one self-contained HTML page, light or dark by the reader's system."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from re import sub

from pkmn_decisions.report.section_table import MARK, SectionTable
from pkmncli.tables import is_figure

_STYLE = """
:root { color-scheme: light dark; --text: #1c2321; --paper: #fbfbf8; --line: #d5d8d2; --soft: #5c6763; --mark: #00694c;
  --band: #eef1ec; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e8e4; --paper: #161a19; --line: #37403d; --soft: #9aa6a1;
  --mark: #5fd3ab; --band: #1f2523; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .25rem; }
p { margin: .25rem 0 .75rem; max-width: 46rem; }
.note { color: var(--soft); font-size: .9rem; }
ol { background: var(--band); border-radius: .5rem; padding: 1rem 1rem 1rem 2.5rem; margin: 1rem 0; }
li { margin: .4rem 0; max-width: 46rem; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; font-size: .9rem; } nav a { color: var(--mark); }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
.figure { text-align: right; white-space: nowrap; }
code { font-size: .9em; }
li code { display: block; white-space: pre; overflow-x: auto; }
.marked td { font-weight: 600; } .marked .mark { color: var(--mark); }
"""


def html_page(
    title: str,
    introduction: str,
    findings: Sequence[Sequence[str]],
    seen: Sequence[str],
    sections: Sequence[SectionTable],
) -> str:
    """Return the page.

    Args:
        title: title of the page.
        introduction: a sentence about the data.
        findings: lines of each finding to act on, the most important first; commands between backticks.
        seen: observations that no setting changes.
        sections: in their order.
    """
    anchors = [section.title.lower().replace(" ", "-") for section in sections]
    links = "".join(
        f'<a href="#{anchor}">{escape(section.title)}</a>' for anchor, section in zip(anchors, sections, strict=True)
    )
    items = "".join(f"<li>{'<br>'.join(map(_text, lines))}</li>" for lines in findings)
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(introduction)}</p>",
        f"<ol>{items}</ol>" if items else "",
        *(f'<p class="note">{_text(text)}</p>' for text in seen),
        f"<nav>{links}</nav>",
        *(_section(anchor, section) for anchor, section in zip(anchors, sections, strict=True)),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in body if part)
        + "\n</body>\n</html>"
    )


def _text(text: str) -> str:
    """Return a line as HTML, with what is between backticks as code."""
    return sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def _section(anchor: str, section: SectionTable) -> str:
    note = "<br>".join(_text(line) for line in section.note.split("\n"))
    parts = [f'<section id="{anchor}">', f"<h2>{escape(section.title)}</h2>", f'<p class="note">{note}</p>']
    if section.rows:
        parts.append(_table(section))
    elif section.nothing:
        parts.append(f"<p>{escape(section.nothing)}</p>")
    return "\n".join([*parts, "</section>"])


def _table(section: SectionTable) -> str:
    figures = [all(is_figure(row[index]) for row in section.rows) for index in range(len(section.headings))]
    head = "".join(
        f"<th{_class(figure, '')}>{escape(heading)}</th>"
        for heading, figure in zip(section.headings, figures, strict=True)
    )
    rows = "".join(
        f"<tr{' class=marked' if MARK in row else ''}>"
        + "".join(f"<td{_class(figure, cell)}>{escape(cell)}</td>" for cell, figure in zip(row, figures, strict=True))
        + "</tr>\n"
        for row in section.rows
    )
    return f'<div class="table"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>'


def _class(figure: bool, cell: str) -> str:
    if cell == MARK:
        return ' class="mark"'
    return ' class="figure"' if figure else ""

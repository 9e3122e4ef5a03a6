"""Markup in the names of a game's profile, and in what a model said, is text on the page and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOSTILE = {
    "game": "</title><script>window.pwned = 'game'</script>",
    "map": "<img src=x onerror=\"window.pwned = 'map'\">",
    "title": "</td></table><svg onload=\"window.pwned = 'title'\"><a href=javascript:alert(1)>go</a>",
    "milestone": "<iframe srcdoc=\"<script>parent.pwned = 'milestone'</script>\"></iframe>",
    "phase": "\"><style>body{display:none}</style>{{constructor.constructor('alert(1)')()}}",
    "verdict": "<b onmouseover=alert(1)>\u202egnp.exe &lt;script&gt;\x1b]0;pwned\x07",
}


def hostile_copy(run: Path, folder: Path) -> Path:
    """Return a copy of a run whose names are markup."""
    copy = folder / "hostile"
    shutil.copytree(run, copy)
    names = json.loads((copy / "names.json").read_text())
    names["game"] = HOSTILE["game"]
    names["maps"] = {"257": HOSTILE["map"]}
    names["phases"] = [HOSTILE["phase"], "battle"]
    names["milestones"] = ["begun", "outside", HOSTILE["milestone"]]
    names["goal"] = HOSTILE["milestone"]
    names["milestone_titles"] = {"begun": "begun", "outside": HOSTILE["title"]}
    (copy / "names.json").write_text(json.dumps(names))
    summary = json.loads((copy / "summary.json").read_text())
    summary["verdict"] = HOSTILE["verdict"]
    summary["journey"] = {
        **{"environment": 0, "episode": 1, "ended": True, "steps": 20, "frames": 480, "play_time": "0:01"},
        **{"latest_milestone": HOSTILE["title"], "latest_title": HOSTILE["title"], "total_milestones": 3},
        **{"milestones": [{"name": "outside", "step": 7, "frame": 168, "elapsed_s": 1.0, "global_step": 27}]},
        **{"progress": {HOSTILE["phase"]: 1.0}, "steps_since_progress": 13},
    }
    (copy / "summary.json").write_text(json.dumps(summary))
    return copy


@pytest.mark.long
def test_markup_in_the_names_of_a_game_is_text(
    finished_run: Path, open_run: Callable[[Path], Page], tmp_path: Path
) -> None:
    run = hostile_copy(finished_run, tmp_path)
    page = open_run(run)
    dialogs: list[Any] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    for what in ("map", "title", "milestone", "verdict"):
        page.get_by_text(HOSTILE[what].split("\u202e")[0]).first.wait_for(state="attached")
    for part in page.locator("main section:visible, main h2:visible").all():
        part.scroll_into_view_if_needed()
    page.locator("#verdict").hover()

    assert page.evaluate("window.pwned") is None and dialogs == []
    ours = page.evaluate(
        "() => [...document.querySelectorAll('script, iframe, svg[onload], a[href^=javascript], body style')]"
        ".map(one => one.outerHTML)"
    )
    assert [one for one in ours if any(part in one for part in ("pwned", "alert", "display:none"))] == []
    handlers = "() => [...document.querySelectorAll('*')].flatMap(one => one.getAttributeNames())"
    assert [name for name in page.evaluate(handlers) if name.startswith("on")] == []
    assert page.locator("#steps").is_visible()

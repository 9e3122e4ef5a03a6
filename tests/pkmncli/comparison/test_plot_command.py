"""``pkmn plot``: a self-contained page, or a picture, of the recorded data."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support.variants import long_after

from pkmncli.comparison.charts import CURVE_POINTS, chart_style
from pkmncli.comparison.compared_runs import find_runs
from pkmncli.comparison.map_charts import maps_figure
from pkmncli.comparison.page import TALLEST_PIXELS
from pkmncli.comparison.run_charts import curves_figure, legend_figure, splits_figure
from pkmncli.comparison.run_plots import Plotted, PlottedGroup, read_plotted
from pkmncli.plugins import get_registry
from pkmncli.training.assembly import open_store

Pkmn = Callable[..., Any]


@pytest.fixture
def runs(shared_run: Callable[..., Path], tmp_path: Path) -> list[Path]:
    """Return three runs: two that differ in the seed, one with two environments."""
    made = []
    for name, original, seed in (("a", shared_run(), 0), ("b", shared_run(), 1), ("c", shared_run("adaptive", 2), 0)):
        run = Path(shutil.copytree(original, tmp_path / "runs" / name))
        config = run / "config.toml"
        config.write_text(re.sub(r"^seed = \d+", f"seed = {seed}", config.read_text(), flags=re.MULTILINE))
        made.append(run)
    return made


class Page(HTMLParser):
    """All that a page would load, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in {"script", "link", "iframe", "object", "embed"}
        self.sources += [value or "" for name, value in attrs if name in {"src", "srcset", "href"}]

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.mark.long
def test_a_page_needs_nothing_else(pkmn: Pkmn, runs: list[Path], tmp_path: Path) -> None:
    result = pkmn("plot", "a", "b", "c")
    assert (result.code, result.out, result.err) == (0, "", "Wrote plot.html.\n")
    text = (tmp_path / "plot.html").read_text(encoding="utf-8")
    page = Page(text)
    assert len(page.sources) == 2 * 5, "curves, splits, journeys and the tiles of two groups, each for light and dark"
    assert all(source.startswith("data:image/png;base64,") for source in page.sources)
    assert not re.search(r"https?://|url\(|@import", text)
    assert "prefers-color-scheme: dark" in text
    for words in ("3 runs", "Curves", "Journey", "Visited tiles of envs=1", "Visited tiles of envs=2", "a, b"):
        assert words in page.words
    dark, light = (shades(source) for source in page.sources[:2])
    assert dark < 80 and light > 200, "the one for dark pages is dark"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plot.html", "runs"]


def shades(source: str) -> float:
    """Return the middle shade of an embedded picture, 0 to 255: that of its background."""
    with Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))) as image:
        return float(np.median(np.asarray(image.convert("L"))))


@pytest.mark.long
def test_the_latest_run_is_drawn_as_a_picture(pkmn: Pkmn, runs: list[Path], tmp_path: Path) -> None:
    assert pkmn("plot", "--out", "it.png").code == 0
    with Image.open(tmp_path / "it.png") as image:
        assert image.width == 1500 and 800 < image.height <= TALLEST_PIXELS
        assert len(image.convert("RGB").getcolors(100_000) or ()) > 50
    metrics = [f"--metric=episode/{name}" for name in ("length", "reward", "milestones")]
    assert pkmn("plot", "--out", "three.png", *metrics).code == 0
    with Image.open(tmp_path / "three.png") as image, Image.open(tmp_path / "it.png") as whole:
        assert image.height > whole.height, "three curves take two rows"


@pytest.mark.long
def test_tiles_curves_and_splits_are_those_that_were_recorded(runs: list[Path], tmp_path: Path) -> None:
    plotted = read_plotted(find_runs([str(tmp_path / "runs")], None), get_registry(), (), ())
    alike, other = plotted.groups
    assert (alike.runs, other.runs) == (("a", "b"), ("c",))
    visits: Counter[tuple[int, int, int]] = Counter()
    for run in runs[:2]:
        store = open_store(get_registry(), run)
        visits.update((row["map_id"], row["x"], row["y"]) for row in store.read("decisions"))
        store.close()
    assert {(map_id, x, y): count for map_id, tiles in alike.tiles.items() for (x, y), count in tiles.items()} == visits
    assert sum(visits.values()) == 480
    assert {plotted.map_names[map_id] for map_id in alike.tiles} == {"Home 1F", "Home 2F", "Alderbrook"}
    assert len(alike.curves["episode/reward"]) == 2
    assert "episode/length" not in plotted.metrics, "it stands still"
    assert plotted.milestones == ("game_started", "downstairs", "outside")
    soonest = [min(step for group in plotted.groups for step in group.splits[name]) for name in plotted.milestones]
    assert soonest == sorted(soonest)
    assert len(alike.splits["outside"]) == 2 and max(alike.splits["outside"]) <= 30


def test_runs_of_very_different_length_are_all_in_each_panel() -> None:
    def curve(*steps: int, rises: bool = True) -> tuple[Any, Any]:
        return np.array(steps, float), np.array(steps if rises else [1] * len(steps), float)

    long, short = curve(100, 500, 900), curve(10, 20)
    groups = (
        PlottedGroup("long", ("a",), {"x": [long], "y": [long], "z": [long]}, {}, {}),
        PlottedGroup("short", ("b",), {"x": [curve(10, 20, rises=False)], "y": [curve(20)]}, {}, {}),
        PlottedGroup("both", ("c", "d"), {"z": [long, short]}, {}, {}),
    )
    with chart_style():
        panels = curves_figure(Plotted(groups, ("x", "y", "z"), (), {})).axes
    drawn = [[(line.get_xdata()[0], line.get_xdata()[-1]) for line in axes.lines] for axes in panels]
    assert drawn == [[(100, 900), (10, 20)], [(100, 900), (20, 20)], [(100, 900), (100, 900), (10, 20)]]


@pytest.mark.long
def test_a_panel_has_every_run_that_has_a_value_of_its_metric(runs: list[Path], tmp_path: Path) -> None:
    for run, steps, values in ((runs[0], [80, 240], [1.0, 2.0]), (runs[2], [80], [1.0])):
        store = open_store(get_registry(), run)
        rows = {"global_step": steps, "time": [1.0] * len(steps), "name": ["own/score"] * len(steps)}
        store.append("metrics", rows | {"value": values})
        store.flush()
        store.close()
    plotted = read_plotted(find_runs([str(tmp_path / "runs")], None), get_registry(), ("own/score",), ())
    assert [[len(steps) for steps, _ in group.curves["own/score"]] for group in plotted.groups] == [[2], [1]]


@pytest.mark.long
def test_the_learner_alone_stands_against_pilot_and_random_play(runs: list[Path], tmp_path: Path) -> None:
    for run, share in zip(runs[:2], (1.0, 0.5), strict=True):
        summary = json.loads((run / "summary.json").read_text())
        summary["pilot"] = {"goal_share": share, "avg_reward": 100 * share}
        (run / "summary.json").write_text(json.dumps(summary))
        store = open_store(get_registry(), run)
        rows = {"global_step": [80, 240], "time": [1.0, 2.0], "name": ["alone/goal_share"] * 2, "value": [0.0, share]}
        store.append("metrics", rows)
        store.flush()
        store.close()
    plotted = read_plotted(find_runs([str(tmp_path / "runs")], None), get_registry(), (), ())
    assert plotted.metrics[0] == "alone/goal_share"
    assert plotted.levels == {"alone/goal_share": {"pilot": 0.75}, "alone/reward": {"pilot": 75.0}}
    with chart_style():
        axes = curves_figure(plotted).axes[0]
    assert [text.get_text() for text in axes.texts] == ["pilot"]
    assert [0.75, 0.75] in [list(line.get_ydata()) for line in axes.lines]


def test_a_value_that_was_measured_once_is_a_point_beside_the_curves() -> None:
    curves = {"a": (np.array([0, 100]), np.array([0.0, 1.0])), "b": (np.array([40]), np.array([0.5]))}
    groups = tuple(PlottedGroup(run, (run,), {"episode/reward": [one]}, {}, {}) for run, one in curves.items())
    with chart_style():
        axes = curves_figure(Plotted(groups, ("episode/reward",), (), {})).axes[0]
    line, point = axes.lines[:2]
    assert (len(line.get_xdata()), line.get_marker()) == (CURVE_POINTS, "")
    assert (list(point.get_xdata()), list(point.get_ydata()), point.get_marker()) == ([40.0], [0.5], "o")


@pytest.mark.long
def test_a_run_whose_first_episode_still_runs_is_drawn_by_its_journey(pkmn: Pkmn, tmp_path: Path) -> None:
    options = ("--no-rl", "--max-steps-per-episode=5000", "--steps=120", "--run-name=long")
    assert pkmn("train", *options).code == 0
    plotted = read_plotted(find_runs(["long"], tmp_path / "runs", least=1), get_registry(), (), ())
    assert plotted.milestones == (), "no episode has ended"
    (journey,) = plotted.groups[0].journeys
    assert plotted.journey_milestones == tuple(one.name for one in journey.milestones)
    assert {"downstairs", "outside", "starter"} <= set(plotted.journey_milestones)
    assert pkmn("plot", "long", "--out=long.html").code == 0
    page = Page((tmp_path / "long.html").read_text(encoding="utf-8"))
    assert "Journey" in page.words
    assert "Milestone splits" not in page.words


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("options", "code", "said"),
    long_after(
        1,
        [
            (("--out=plot.svg",), 2, "ends in .html or .png"),
            (("--out=nowhere/plot.png",), 2, "there is no folder"),
            (("--metric=episode/rewards",), 2, "did you mean 'episode/reward'?"),
            (("a", "c", "--by=env"), 0, "Wrote plot.html."),
            (("a", "--by=sed"), 2, "did you mean 'seed'?"),
            (("none",), 5, "none"),
        ],
    ),
)
def test_what_is_wrong_is_told_in_a_line(options: tuple[str, ...], code: int, said: str, pkmn: Pkmn) -> None:
    result = pkmn("plot", *options)
    assert result.code == code
    assert said in result.err and len(result.err.splitlines()) == 1


@pytest.mark.usefixtures("runs")
def test_without_matplotlib_the_line_that_installs_it_is_told(pkmn: Pkmn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = pkmn("plot")
    assert (result.code, result.err) == (
        2,
        "a plot needs matplotlib, which is not installed; run: pip install 'pkmncli[plot]'\n",
    )


def test_a_run_without_anything_is_told(pkmn: Pkmn, runs: list[Path]) -> None:
    for table in ("decisions", "metrics", "episodes"):
        shutil.rmtree(runs[0] / table)
    (runs[0] / "summary.json").unlink()
    result = pkmn("plot", "a")
    assert result.code == 5 and "nothing to draw yet" in result.err


def test_long_labels_stay_within_the_picture() -> None:
    label = ", ".join(f"rules.a_setting_of_the_pilot_{number}=WONDERFULLY-{number}" for number in range(9))
    tiles = {257: {(x, y): 1 + x for x in range(4) for y in range(4)}}
    groups = tuple(
        PlottedGroup(
            label + end,
            (end,),
            {"episode/reward": [(np.array([0, 100]), np.array([0.0, 1.0]))]},
            {"badge": [30]},
            tiles,
        )
        for end in ("a", "b")
    )
    plotted = Plotted(
        groups, ("episode/reward",), ("badge",), {257: "the longest name that a map has ever had in a game"}
    )
    with chart_style():
        figures = [
            curves_figure(plotted),
            splits_figure(plotted),
            maps_figure(plotted, groups[0]),
            legend_figure(plotted),
        ]
        for figure in figures:
            figure.canvas.draw()
            texts = [text for legend in figure.legends for text in legend.get_texts()]
            texts += [axes.title for axes in figure.axes] + figure.texts
            assert len(figure.legends) == (figure is figures[-1]), "one legend for all charts"
            for text in texts:
                place = text.get_window_extent()
                assert place.x0 >= 0, text
                assert place.x1 <= figure.bbox.x1, text
            assert all(axes.get_window_extent().height > 0 for axes in figure.axes), "room is left to draw"


@pytest.mark.long
def test_many_groups_go_to_further_files_that_are_named(pkmn: Pkmn, runs: list[Path], tmp_path: Path) -> None:
    for number in range(3, 9):
        run = Path(shutil.copytree(runs[2], tmp_path / "runs" / f"m{number}"))
        config = run / "config.toml"
        config.write_text(re.sub(r"^gamma = .*", f"gamma = 0.9{number}", config.read_text(), flags=re.MULTILINE))
    result = pkmn("plot", "runs", "--out=all.png")
    files = sorted(tmp_path.glob("all*.png"))
    assert len(files) > 1
    assert result.err == "Wrote all.png, " + ", ".join(f"all-{n}.png" for n in range(2, len(files) + 1)) + ".\n"
    for file in files:
        with Image.open(file) as image:
            assert image.height <= TALLEST_PIXELS


@pytest.mark.long
def test_visits_are_drawn_over_the_games_own_maps_in_one_scale(runs: list[Path]) -> None:
    plotted = read_plotted(find_runs([str(runs[0])], None, least=1), get_registry(), (), ())
    (group,) = plotted.groups
    assert set(plotted.map_pictures) == set(group.tiles)
    with chart_style():
        figure = maps_figure(plotted, group)
    figure.canvas.draw()
    *maps, _ = figure.axes
    scales = set()
    for axes in maps:
        ground, visits = (image.get_array() for image in axes.images)
        assert ground.shape[:2] == visits.shape
        assert 20 < ground.mean() < 200, "dimmed, and there"
        scales.add(round(axes.get_window_extent().width / visits.shape[1], 3))
    assert len(scales) == 1, "a tile is as large on each map"


def test_visits_are_drawn_without_the_image_too(runs: list[Path]) -> None:
    config = runs[0] / "config.toml"
    config.write_text(re.sub(r"^# rom_path is.*", 'rom_path = "gone.gbc"', config.read_text(), flags=re.MULTILINE))
    plotted = read_plotted(find_runs([str(runs[0])], None, least=1), get_registry(), (), ())
    assert not plotted.map_pictures and plotted.groups[0].tiles

"""The page in a browser, beside a real training on the bundled game."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.dashboard_training import DEADLINE_S, PageTraining, page_training, wait_until

from pkmncli.api import runs

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route

OpenPage = Callable[..., "Page"]


def axe_findings(page: Page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - not where there is no browser

    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['html']} {node['failureSummary']}"
        for one in found
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]


def look_at(page: Page, part: str, content: str) -> None:
    """Scroll to a part of the page until it has its content: parts above it grow meanwhile, and move it away."""
    page.wait_for_function(
        "([part, content]) => { const found = document.querySelector(part);"
        " found?.scrollIntoView({ block: 'nearest' }); return found?.querySelector(content); }",
        arg=[part, content],
    )


@pytest.mark.long
def test_screens_move_and_say_what_was_decided_and_why(training: PageTraining, open_page: OpenPage) -> None:
    page = open_page(training.url)
    picture = page.locator("[data-environment='0'] img")
    picture.wait_for()
    page.wait_for_function("() => document.querySelector(\"[data-environment='0'] img\").naturalWidth === 160")
    first = picture.get_attribute("src")
    page.wait_for_function("first => document.querySelector(\"[data-environment='0'] img\").src !== first", arg=first)
    assert page.locator("#screen-list figure").count() == 2
    page.locator("figcaption .reason").filter(has_text="Reason: ").first.wait_for()
    assert "Screen of environment 0: " in (picture.get_attribute("alt") or "")


@pytest.mark.long
def test_how_far_it_has_got_is_told_at_the_top_and_for_each_environment(
    training: PageTraining, open_page: OpenPage
) -> None:
    page = open_page(training.url)
    line = page.locator("#journey")
    line.filter(
        has_text=re.compile(r"Furthest: \d+ of \d+ milestones, latest .+, badges \d, level \d+, step ")
    ).wait_for()
    page.locator("#steps").filter(has_text=re.compile(r"^[\d,]+ of 2,000,000$")).wait_for()
    page.locator("#done").filter(has_text=re.compile(r"^\d+ %$")).wait_for()
    page.locator("#left").filter(has_text=re.compile(r"^\d+:\d\d")).wait_for()
    page.locator("[data-environment='1'] figcaption").filter(
        has_text=re.compile(r"of \d+ milestones.+ played")
    ).wait_for()
    found = page.request.get(f"{training.url.rstrip('/')}/api/milestones").json()
    running = {one["name"]: one["running_step"] for one in found if one["running_step"] is not None}
    assert running["game_started"] == 0
    state = page.request.get(f"{training.url.rstrip('/')}/api/state").json()
    first = state["environments"][0]
    assert first["played_s"] == pytest.approx(first["step"] * 24 / 59.7275, abs=0.1)


@pytest.mark.long
def test_charts_grow_while_it_trains(training: PageTraining, open_page: OpenPage) -> None:
    page = open_page(training.url)
    place = "[data-chart='Reward in training, all sides']"
    chart = page.locator(place)
    look_at(page, place, "canvas")
    chart.get_by_text("As a table").click()
    latest = f'() => document.querySelector("{place} tbody tr:last-child").textContent'
    before = page.evaluate(latest)
    page.wait_for_function(f"before => ({latest})() !== before", arg=before)
    assert chart.locator("tbody tr").count() >= 2
    step = chart.locator("tbody tr:last-child td").first.inner_text()
    assert int(step.replace(",", "")) > 0


@pytest.mark.long
def test_the_ticks_of_an_axis_differ(training: PageTraining, open_page: OpenPage) -> None:
    page = open_page(training.url)
    texts = page.evaluate(
        "async () => { const main = document.querySelector('script[type=module]').src;"
        " const { tickTexts } = await import(main.replace(/main[.]js.*/, 'charts.js'));"
        " const whole = (value) => Math.round(value).toLocaleString('en');"
        " return [[1086.25, 1086.5, 1086.75], [900, 1000], [1e-7, 2e-7]].map((ticks) => tickTexts(ticks, whole)); }"
    )
    assert texts == [["1,086.25", "1,086.50", "1,086.75"], ["900", "1,000"], ["0.0000001", "0.0000002"]]
    cut = page.evaluate(
        "async (texts) => { const main = document.querySelector('script[type=module]').src;"
        " const { axisSize } = await import(main.replace(/main[.]js.*/, 'charts.js'));"
        " const pen = document.createElement('canvas').getContext('2d'); pen.font = '12px system-ui, sans-serif';"
        " return texts.filter((text) => axisSize([text]) < pen.measureText(text).width + 15); }",
        ["0", "1,086.25", "-1,234,567", "0.0000001"],
    )
    assert cut == [], "the axis has room for them, its ticks and a gap"


@pytest.mark.long
def test_decisions_can_be_told_apart_by_who_decided(training: PageTraining, open_page: OpenPage) -> None:
    page = open_page(training.url)
    rows = page.locator("#decision-rows tr")
    look_at(page, "#decisions", "tr:nth-child(5)")
    for source in ("rules", "language model"):  # both give a reason each time, a learner never does
        page.get_by_label("Decided by").select_option(label=source)
        page.wait_for_function(
            "source => { const all = [...document.querySelectorAll('#decision-rows tr td:nth-child(5)')];"
            " return all.length && all.every(cell => cell.textContent === source); }",
            arg=source,
        )
        assert all(text.strip() not in {"", "–"} for text in rows.locator("td.reason").all_inner_texts())
    page.get_by_label("Decided by").select_option(label="anyone")
    newest = step_of(rows.first)
    page.locator("#older-decisions").click()
    page.wait_for_function("() => !document.getElementById('newest-decisions').disabled")
    assert step_of(rows.first) < newest


def step_of(row: Locator) -> int:
    return int(row.locator("td").first.inner_text().replace(",", ""))


@pytest.mark.long
def test_an_answer_that_comes_late_does_not_replace_what_was_asked_for_since(
    finished_run: Path, open_run: Callable[[Path], Page]
) -> None:
    page = open_run(finished_run)
    page.wait_for_function("() => document.getElementById('state').textContent === 'ended'")
    look_at(page, "#decisions", "tr:nth-child(5)")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile(r"api/decisions\?.*source=0$"), hold)
    page.get_by_label("Decided by").select_option(label="learner")
    wait_until(lambda: (page.evaluate("1"), held)[1])
    page.get_by_label("Decided by").select_option(label="rules")
    rows = page.locator("#decision-rows tr")
    rows.filter(has_text="learner").first.wait_for(state="detached")
    with page.expect_response(lambda answer: answer.url == held[0].request.url) as late:
        held[0].continue_()
    late.value.finished()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert set(rows.locator("td:nth-child(5)").all_inner_texts()) == {"rules"}


@pytest.mark.long
def test_the_transcript_the_map_and_the_patterns_are_there(training: PageTraining, open_page: OpenPage) -> None:
    page = open_page(training.url)
    look_at(page, "#advice", "#advice-list li")
    assert "look around" in page.locator("#advice-list pre").first.inner_text()
    assert "tokens asked" in page.locator("#advice-totals").inner_text()
    page.locator("#advice-list summary").first.click()
    assert "Situation" in page.locator("#advice-list details pre").first.inner_text()

    look_at(page, "#map", "#map-canvas:not([hidden])")
    painted = (
        "() => document.getElementById('map-canvas').getContext('2d').getImageData(0, 0, 2000, 2000).data.some(Boolean)"
    )
    assert page.evaluate(painted)
    assert "tiles visited" in page.locator("#map-text").inner_text()

    page.get_by_label("At least").fill("2")
    page.get_by_role("button", name="Find").click()
    page.locator("#pattern-rows tr").first.wait_for()


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 360)])
def test_everyone_can_read_it(training: PageTraining, open_page: OpenPage, scheme: str, width: int) -> None:
    page = open_page(training.url, color_scheme=scheme, viewport={"width": width, "height": 800})
    page.locator("[data-environment='1'] img").wait_for()
    for part in ("charts", "map", "decisions", "advice"):
        look_at(page, f"#{part}", "canvas:not([hidden]), tbody tr, li")
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out"
    assert axe_findings(page) == []
    page.evaluate("window.scrollTo(0, 0)")
    page.locator("#run-name").click()
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid", "focus can be seen"


@pytest.mark.long
def test_a_pause_stands_still_and_is_left_again_by_keyboard(training: PageTraining, open_page: OpenPage) -> None:
    page = open_page(training.url)
    page.wait_for_function("() => !document.getElementById('pause').disabled")
    page.get_by_role("button", name="Pause").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Resume").wait_for()
    assert page.locator("#state").inner_text() == "paused"
    paused = training.get("state")
    page.get_by_role("button", name="Save start state").click()
    page.get_by_text("State of environment 0 saved").or_(page.get_by_text("no episode can begin")).wait_for()
    page.get_by_role("button", name="Save checkpoint").click()
    page.get_by_text("Checkpoint of step").wait_for()
    assert (training.folder / "checkpoints" / f"step-{paused['steps']:09}").is_dir()
    still = training.get("state")
    assert (still["run"], still["steps"]) == ("paused", paused["steps"])
    assert still["elapsed_s"] == paused["elapsed_s"], "time that it stands still is no time of training"

    assert page.evaluate("document.activeElement.id") == "save-checkpoint"
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Pause").wait_for()
    wait_until(lambda: training.get("state")["steps"] > paused["steps"])


@pytest.mark.long
def test_stop_saves_ends_the_training_and_says_so(tmp_path: Path, open_page: OpenPage) -> None:
    with page_training(tmp_path) as training:
        assert_it_can_be_stopped(training, open_page(training.url))


def assert_it_can_be_stopped(training: PageTraining, page: Page) -> None:
    page.get_by_role("button", name="Stop…").click()
    page.get_by_role("button", name="Train on").click()
    assert training.get("state")["run"] == "running"
    page.get_by_role("button", name="Stop…").click()
    page.get_by_role("button", name="Save and stop").click()
    assert training.process.wait(DEADLINE_S) == 130
    steps = json.loads((training.folder / "summary.json").read_text())["total_steps"]
    assert (training.folder / "checkpoints" / f"step-{steps:09}").is_dir()
    page.wait_for_function("() => document.getElementById('state').textContent === 'ended'")
    page.locator("#controls").wait_for(state="hidden")
    assert not (training.folder / "live.json").exists()


@pytest.mark.long
def test_a_run_that_is_over_is_shown_without_anything_to_press(
    finished_run: Path, open_run: Callable[[Path], Page]
) -> None:
    page = open_run(finished_run)
    page.wait_for_function("() => document.getElementById('state').textContent === 'ended'")
    for part in ("#controls", "#rate", "#progress", "#done", "#left", "#evaluations", "#evaluations-link"):
        assert page.locator(part).is_hidden()
    assert page.locator("#steps").inner_text() == "40"
    order = page.locator("main > section").evaluate_all("all => all.map(one => one.id)")
    assert order[0] == "learner", "how good it is alone comes first"
    assert page.locator("#advice-link").is_visible()
    verdict = page.locator("#verdict")
    verdict.filter(has_text="The learner alone reaches won in 8 of 10 starts (49% to 94%)").wait_for()
    assert page.locator("#learner-share").inner_text() == "82 %"
    rows = page.locator("#alone-rows tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [
        ["learner alone", "8 of 10", "49 % to 94 %", "612", "300.5"],
        ["random play", "0 of 10", "0 % to 28 %", "–", "71.8"],
    ]
    taken = page.locator("#taken-over-rows tr").all_inner_texts()
    assert taken[0].split("\t") == ["walking", "95 %", "88 %", "93 %"]
    place = "[data-chart='Learner alone: share of starts to the goal']"
    look_at(page, place, "canvas")
    page.locator(place).get_by_text("60 %").first.wait_for()
    look_at(page, "#decisions", "tbody tr")
    page.get_by_text("why 40 <b>").wait_for()  # what was recorded is text, not markup
    look_at(page, "#milestones", "tbody tr")
    page.get_by_text("Not reached yet: won.").wait_for()
    look_at(page, "#map", "canvas:not([hidden])")
    assert page.locator("#map-legend").inner_text().split() == ["Steps", "on", "a", "tile:", "1", "8"]
    page.set_viewport_size({"width": 390, "height": 800})
    for cell in ("td.reason", "td:nth-child(7)"):
        box = page.locator(f"#decision-rows {cell}").first.bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390, "a phone shows it"
    assert axe_findings(page) == []


@pytest.mark.long
def test_evaluations_are_shown_where_there_are_any(evaluated_run: Path, open_run: Callable[[Path], Page]) -> None:
    page = open_run(evaluated_run)
    section, rows = page.locator("#evaluations"), page.locator("#evaluation-rows tr")
    section.wait_for()
    assert page.locator("#evaluations-link").is_visible()
    low, high = (f"{one:.4g}" for one in runs.interval([10.0, 20.0, 30.0, 40.0], "mean")[1:] if one is not None)
    assert [one.split("\t") for one in rows.all_inner_texts()] == [
        ["2026-11-30 11:00", "learner alone, sampling", "20", "4", "3 of 4 to outside (30 % to 95 %)", "7.5"],
        ["2026-11-30 09:30", "learner alone", "40", "4", "3 of 4 (30 % to 95 %)", f"25 ({low} to {high})"],
    ]
    page.set_viewport_size({"width": 390, "height": 800})
    box = rows.first.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390, "a phone shows it whole"
    assert axe_findings(page) == []
    shutil.rmtree(evaluated_run / "evaluations")
    section.wait_for(state="hidden")  # the page of a run that is over looks again


@pytest.mark.long
def test_nothing_is_said_of_a_run_before_it_is_read(finished_run: Path, open_run: Callable[[Path], Page]) -> None:
    page = open_run(finished_run)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile(r"api/(metrics|milestones|maps|advice)\b"), hold)
    page.reload()
    page.wait_for_function("() => document.getElementById('state').textContent === 'ended'")
    for part, path in {"charts": "metrics", "milestones": "milestones", "map": "maps", "advice": "advice"}.items():
        page.locator(f"#{part}").scroll_into_view_if_needed()
        wait_until(lambda path=path: page.evaluate("1") and any(f"api/{path}" in one.request.url for one in held))
    texts = page.locator("#no-charts, #milestones-missing, #map-text, #advice-totals")
    assert texts.all_inner_texts() == ["Loading…"] * 4
    page.unroute_all()  # the held requests go on
    page.get_by_text("Not reached yet: won.").wait_for()
    texts.filter(has_text="Loading…").first.wait_for(state="detached")


@pytest.mark.long
def test_runs_of_one_folder_share_a_chart(finished_run: Path, open_run: Callable[[Path], Page], tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(finished_run, tmp_path / name)
    page = open_run(tmp_path / "one")
    legend = page.locator("#runs-chart li")
    legend.filter(has_text="one: 60 %").wait_for()
    assert legend.count() == 1
    page.get_by_role("checkbox", name="two").check()
    legend.filter(has_text="two: 60 %").wait_for()
    page.locator("#runs-metric").select_option(value="episode/reward")
    legend.filter(has_text="two: 21 (lowest 20, highest 21)").wait_for()
    page.get_by_role("checkbox", name="one").uncheck()
    legend.filter(has_text="one:").wait_for(state="detached")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, "nothing sticks out"
    assert axe_findings(page) == []


@pytest.mark.long
def test_a_run_without_milestones_and_language_model_has_no_sections_of_them(
    finished_run: Path, open_run: Callable[[Path], Page], tmp_path: Path
) -> None:
    run = tmp_path / "plain"
    shutil.copytree(finished_run, run)
    names = json.loads((run / "names.json").read_text(encoding="utf-8"))
    (run / "names.json").write_text(json.dumps(names | {"milestones": [], "goal": None}), encoding="utf-8")
    for table in ("episodes", "metrics"):
        shutil.rmtree(run / table)
    config = run / "config.toml"
    config.write_text(config.read_text().replace('llm = "scripted"', 'llm = "none"'))
    page = open_run(run)
    page.wait_for_function("() => document.getElementById('milestones').hidden")
    assert page.locator("#milestones-link").is_hidden()
    assert page.locator("#journey").is_hidden()
    assert page.locator("#advice").is_hidden()
    assert page.locator("#advice-link").is_hidden()
    assert page.locator("#charts").is_visible()
    page.locator("#no-charts").filter(has_text="Nothing was measured: the first").wait_for()

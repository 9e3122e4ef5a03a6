"""Take the guide's pictures of the live page: `python docs/dashboard_pictures.py`, with a Chromium installed.

They show a real training on the bundled game, started for them and stopped by the page itself.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
ADVICE = ROOT / "benchmarks" / "good_advice.toml"
VIEWS = {
    "dashboard_light": ("light", 1180, 1080, None),
    "dashboard_dark": ("dark", 1180, 1000, "map"),
    "dashboard_phone": ("light", 360, 900, None),
}
"""Picture -> the reader's theme, width and height, and the part of the page that it shows."""

EPISODES = 6
COLOURS = 128


def main() -> None:
    """Train until there is something to show, take the pictures, and stop."""
    path = next((found for name in ("chromium", "google-chrome") if (found := shutil.which(name))), None)
    if path is None:
        raise SystemExit("no Chromium is installed: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        command = [
            *(sys.executable, "-m", "pkmncli", "train", "--dashboard", "--envs=2", "--run-name=first-steps"),
            *("--llm=scripted", f"--set=scripted.file={ADVICE}", "--llm-price==0.5/1.5", "--steps=40000"),
        ]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            url = next(found[1] for line in process.stdout if (found := re.match(r"Live page: (\S+)", line)))
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            page = browser.new_page()
            page.set_default_timeout(900_000)
            page.goto(url)
            enough = "n => Number(document.getElementById('episodes').textContent) >= n"
            page.wait_for_function(enough, arg=EPISODES)
            for name in VIEWS:
                take(browser, url, name)
            page.get_by_role("button", name="Stop…").click()
            page.get_by_role("button", name="Save and stop").click()
            process.wait(60)
        finally:
            process.kill()


def take(browser: Browser, url: str, name: str) -> None:
    """Take one picture."""
    scheme, width, height, part = VIEWS[name]
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": height}, reduced_motion="reduce")  # type: ignore[arg-type]
    page.goto(url)
    page.locator("[data-environment='1'] img").wait_for()
    for one in ("charts", "milestones", "map", "decisions", "advice", "patterns"):
        page.locator(f"#{one}").scroll_into_view_if_needed()
        page.locator(f"#{one} canvas, #{one} tbody tr, #{one} li").first.wait_for(state="attached")
    page.evaluate("part => part ? document.getElementById(part).scrollIntoView() : window.scrollTo(0, 0)", part)
    page.locator("#run-name").evaluate("() => new Promise(done => setTimeout(done, 1500))")  # pictures arrive
    with Image.open(io.BytesIO(page.screenshot())) as picture:
        picture.convert("RGB").quantize(COLOURS).save(PICTURES / f"{name}.png", optimize=True)
    page.close()


if __name__ == "__main__":
    main()

"""A training whose answers all come too late: none is followed, and people are told once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pkmncli.advice.coordinator import AdviceCoordinator
from pkmncli.advice.policy import Objection
from pkmncli.api import LLMReply, LLMRequest, Source
from pkmncli.testing.scripted import ScriptedBackend

LAG_STEPS, EPISODE_STEPS, STEPS = 30, 25, 300
WALK = json.dumps(
    {"goal": "walk", "skill": "press", "presses": ["up"], "map": None, "x": None, "y": None, "confidence": 1.0}
    | {"reason": "a test"}
)


@pytest.mark.long
def test_an_answer_that_the_game_has_overtaken_is_not_followed(
    pkmn: Callable[..., Any], course: Callable[[Path], dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each answer takes longer than an episode, counted in steps, so that no clock decides."""
    moved, steps = threading.Condition(), [0]
    after_step = AdviceCoordinator.after_step

    def count(self: AdviceCoordinator, *arguments: Any) -> Any:
        with moved:
            steps[0] += 1
            moved.notify_all()
        return after_step(self, *arguments)

    def answer(self: ScriptedBackend, request: LLMRequest) -> LLMReply:
        with moved:
            until = steps[0] + LAG_STEPS
            moved.wait_for(lambda: steps[0] >= until, timeout=request.timeout_s)
        return LLMReply(WALK, "script")

    monkeypatch.setattr(AdviceCoordinator, "after_step", count)
    monkeypatch.setattr(ScriptedBackend, "complete", answer)
    script = tmp_path / "script.toml"
    script.write_text("[[reply]]\ntext = ''\n")
    result = pkmn(
        *("train", "--mode=llm-only", f"--steps={STEPS}", f"--max-steps-per-episode={EPISODE_STEPS}"),
        *("--llm=scripted", f"--set=scripted.file={script}", "--llm-interval=5", "--run-name=it"),
    )
    assert result.code == 0, result.err
    found = course(tmp_path / "runs" / "it")
    assert len(found["advice"]) > 5
    assert {row["problem"] for row in found["advice"]} == {Objection.OUTDATED}
    assert not any(row["followed"] or row["advice"] for row in found["advice"])
    assert all(row["source"] != Source.LLM for row in found["decisions"])
    assert found["summary"]["llm"]["outdated"] == len(found["advice"])
    said = result.out + result.err
    assert said.count("come too late") == 1
    assert "--llm-interval" in said

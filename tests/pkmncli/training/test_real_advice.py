"""A training advised by a real model: from a file in this process, and behind a server that speaks like Ollama."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.small_model import llama_cpp, ollama_proxy, smollm2

__all__ = ["llama_cpp", "ollama_proxy", "smollm2"]

ONE_QUESTION = ["--mode=llm-only", "--steps=4", "--llm-interval=1000", "--llm-wait", "--run-name=it"]
ONE_QUESTION += ["--no-llm-probe"]


def assert_was_advised(found: dict[str, Any]) -> None:
    assert len(found["decisions"]) == 4
    llm = found["summary"]["llm"]
    assert llm["faults"] == {}
    assert 1 <= llm["replies"] == llm["requests"] <= 2
    assert llm["prompt_tokens"] > 200
    assert llm["completion_tokens"] > 10
    assert llm["validity_rate"] is not None
    assert "SmolLM2" in found["advice"][0]["model"]
    assert found["advice"][0]["reply"]


@pytest.mark.long
def test_a_model_file_advises_a_training(
    smollm2: Path, pkmn: Callable[..., Any], course: Callable[[Path], dict[str, Any]], tmp_path: Path
) -> None:
    result = pkmn("train", *ONE_QUESTION, "--llm=local", f"--set=local.model_path={smollm2}")
    assert result.code == 0, result.err
    assert "SmolLM2" in result.out
    assert_was_advised(course(tmp_path / "runs" / "it"))


@pytest.mark.long
def test_an_ollama_of_others_advises_a_training(
    ollama_proxy: str, pkmn: Callable[..., Any], course: Callable[[Path], dict[str, Any]], tmp_path: Path
) -> None:
    model = ["--llm=ollama", "--llm-model=llama/SmolLM2", f"--set=ollama.host={ollama_proxy}"]
    result = pkmn("train", *ONE_QUESTION, *model)
    assert result.code == 0, result.err
    assert_was_advised(course(tmp_path / "runs" / "it"))

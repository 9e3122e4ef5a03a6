"""Benchmark of two policies, and the graph of a monitor's log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pkmn_multimodel import CoopCompeteEnv, GraphVisualizer, OurMethodPolicy, SimplePG, run_benchmark
from pkmn_multimodel.command import app


@pytest.mark.long
def test_a_policy_that_models_its_opponent_wins_where_the_opponent_can_be_predicted() -> None:
    found = run_benchmark(runs=5, episodes=100, coop_level=0.5, difficulty=0.25)
    assert found["our_method"]["low"] > 0.8
    assert found["difference"]["low"] > 0.2
    assert len(found["simple_pg"]["scores"]) == 5
    assert found == run_benchmark(5, 100, 0.5, 0.25)


def test_both_policies_find_the_one_action_that_pays_against_a_random_opponent() -> None:
    found = run_benchmark(runs=5, episodes=100, coop_level=1.0, difficulty=1.0)
    assert all(found[name]["score"] > 0.85 for name in ("simple_pg", "our_method"))


def test_an_optimum_is_never_below_chance_and_levels_have_bounds() -> None:
    for level in (0.0, 1 / 3, 1.0):
        for difficulty in (0.0, 0.5, 1.0):
            env = CoopCompeteEnv(level, difficulty)
            assert env.best >= env.chance
    with pytest.raises(ValueError, match="difficulty must be from 0 to 1: 2"):
        CoopCompeteEnv(0.5, 2)
    with pytest.raises(ValueError, match="runs and episodes must be 1 or more: 0, 5"):
        run_benchmark(0, 5, 0.5, 0.5)


def test_policies_act_with_their_probability_and_need_what_they_observe() -> None:
    policy = SimplePG()
    action, likely = policy.act()
    assert (action in (0, 1), likely) == (True, 0.5)
    policy.update([(1, 0.5, 1.0), (0, 0.5, 0.0)])
    assert policy.logit > 0
    ours = OurMethodPolicy()
    ours.act()
    with pytest.raises(ValueError, match="1 steps, but the opponent was observed in 0"):
        ours.update([(1, 0.5, 1.0)], CoopCompeteEnv())
    ours.observe_opponent(1)
    ours.update([(1, 0.5, 1.0)], CoopCompeteEnv())
    assert ours.logits[0] > 0


def test_the_command_prints_scores_with_their_intervals() -> None:
    made = CliRunner().invoke(app, ["bench", "--runs", "3", "--episodes", "20", "--json"])
    assert json.loads(made.output)["runs"] == 3
    made = CliRunner().invoke(app, ["bench", "--runs", "1", "--episodes", "20"])
    assert made.output.startswith("simple pg: ")
    assert "Mean of 1 runs" in made.output


def write_log(path: Path, *lines: object) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_a_graph_has_who_met_and_who_gained(tmp_path: Path) -> None:
    log = write_log(
        tmp_path / "<log>.json",
        {"event": "start", "metrics": {}},
        {"event": "batch", "games": [{"count": 3, "gains": {"a": 1.0, "b": 2.0, "c": 4.0}}]},
        {"event": "batch", "games": [{"count": 1, "gains": {"a": 5.0, "b": 0.0}}]},
    )
    graph = GraphVisualizer(log)
    assert [(node.name, node.games, node.gain) for node in graph.nodes] == [("a", 4, 2.0), ("b", 4, 1.5), ("c", 3, 4.0)]
    assert [(edge.first, edge.second, edge.games, edge.lead) for edge in graph.edges] == [
        ("a", "b", 4, 0.5),
        ("a", "c", 3, -3.0),
        ("b", "c", 3, -2.0),
    ]
    assert graph.save_png(tmp_path / "graph.png").read_bytes().startswith(b"\x89PNG")
    page = graph.save_html(tmp_path / "graph.html").read_text()
    assert "<td>a</td><td>b</td><td>4</td><td>2.000</td><td>1.500</td>" in page
    assert "&lt;log&gt;.json" in page
    assert "<log>" not in page


def test_a_log_without_games_or_with_a_damaged_line_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no games are in .*: start a monitor with enable_file_logging"):
        GraphVisualizer(write_log(tmp_path / "log", {"event": "start"}))
    with pytest.raises(ValueError, match="line 1 is none of a monitor's log"):
        GraphVisualizer(write_log(tmp_path / "log", 5))
    with pytest.raises(FileNotFoundError):
        GraphVisualizer(tmp_path / "nothing")

"""Managers of shared models, adapters by number, schedulers, and players of services."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

import anthropic
import numpy as np
import openai
import pytest
from support.fault_server import Behaviour, FaultServer
from support.variants import long_after

import pkmn_multimodel
from pkmn_multimodel import LLMConfig, LLMResponse, LoRAConfig, LoRAManager, SharedLLMManager
from pkmn_multimodel.games.catalog import game_maker
from pkmn_multimodel.players import RandomPlayer
from pkmn_multimodel.population import bases
from pkmn_multimodel.population.tiny import tiny_model
from pkmn_multimodel.services import ServicePlayer, outside_players
from pkmn_multimodel.settings import MultiModelConfig
from pkmn_multimodel.training import Training

PROMPT = "Coins. keep or share? Answer:"


@pytest.fixture(scope="module")
def manager() -> SharedLLMManager:
    made = SharedLLMManager(LLMConfig(model_name="nobody/has-this", temperature=1.0, device="cpu"), tell=lambda _: None)
    for node in ("left", "right"):
        made.register_node(node, {"max_new_tokens": 4})
    return made


@pytest.fixture(scope="module")
def adapters() -> LoRAManager:
    configs = {0: LoRAConfig(lora_id=0, rank=4), 1: LoRAConfig(lora_id=1, rank=2, port=8002, gpu_id=1)}
    return LoRAManager(configs, LLMConfig(model_name="nobody/has-this", device="cpu"), tell=lambda _: None)


@pytest.mark.long
def test_a_model_that_is_not_here_is_replaced_by_a_small_one_in_one_line() -> None:
    told: list[str] = []
    manager = SharedLLMManager(LLMConfig(model_name="nobody/has-this", device="cpu"), tell=told.append)
    manager.register_node("left")
    assert manager.generate_for_node("left", PROMPT).text in ("keep", "share")
    assert told == ["base = auto: nobody/has-this is not in the local cache, so a tiny model is made."]


def test_rewarded_replies_become_likelier_for_all_nodes(manager: SharedLLMManager) -> None:
    replies = [manager.generate_for_node("right", PROMPT) for _ in range(16)]
    gradients = manager.policy_gradients(replies, [float(reply.text == "share") for reply in replies])
    told = manager.update_shared_parameters(gradients, learning_rate=1.0)
    assert (told["updated"], told["version"]) == (len(manager.shared_parameters()), 1)
    before = {reply.text: sum(reply.log_probs) for reply in replies}
    after = {
        reply.text: sum(reply.log_probs) for reply in (manager.generate_for_node("left", PROMPT) for _ in range(16))
    }
    assert after["share"] > before["share"]
    assert after["keep"] < before["keep"]


def test_what_nodes_asked_is_counted(manager: SharedLLMManager) -> None:
    before = manager.get_global_stats()
    reply = manager.generate_for_node("left", PROMPT, temperature=0.5)
    after = manager.get_global_stats()
    assert after["requests"] == before["requests"] + 1
    assert after["nodes"]["left"]["prompt_tokens"] - before["nodes"]["left"]["prompt_tokens"] == reply.prompt_tokens > 0
    assert after["nodes"]["right"] == before["nodes"]["right"]


@pytest.mark.parametrize(
    ("gradients", "rate", "message"),
    [
        ({"no.such": np.zeros(1)}, 0.1, "no shared parameter 'no.such'"),
        ({"": np.zeros(3)}, 0.1, "must be finite, of the shape"),
        ({"": np.inf}, 0.1, "must be finite, of the shape"),
        ({}, 0.0, "learning_rate must be above 0"),
    ],
)
def test_a_wrong_gradient_changes_nothing(
    manager: SharedLLMManager, gradients: dict[str, object], rate: float, message: str
) -> None:
    first, *_ = before = manager.shared_parameters()
    named = {
        name or first: np.full_like(before[first], np.inf) if value is np.inf else value
        for name, value in gradients.items()
    }
    with pytest.raises(ValueError, match=message):
        manager.update_shared_parameters(named, rate)
    after = manager.shared_parameters()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_wrong_nodes_and_settings_are_one_clear_line(manager: SharedLLMManager) -> None:
    with pytest.raises(ValueError, match="there is no node 'up'; registered: left, right"):
        manager.generate_for_node("up", PROMPT)
    with pytest.raises(ValueError, match="heat"):
        manager.register_node("left", {"heat": 1})
    with pytest.raises(ValueError, match="tokens; with 32768 of the reply at most 32,768 are allowed"):
        manager.generate_for_node("left", PROMPT, max_new_tokens=32768)
    with pytest.raises(ValueError, match="give replies of this model"):
        manager.policy_gradients([LLMResponse("keep", "m", "left")], [1.0])
    with pytest.raises(ValueError, match="Unsupported LLM backend: 'mystery'"):
        LLMConfig(backend="mystery")


@pytest.mark.parametrize(
    ("make", "section", "error"),
    long_after(
        1,
        [
            (pkmn_multimodel.create_openai_manager, "OPENAI", openai.APIError),
            (pkmn_multimodel.create_claude_manager, "ANTHROPIC", anthropic.APIError),
        ],
    ),
)
def test_a_model_of_a_service_answers_and_is_frozen(
    make: object, section: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(make)
    with FaultServer(Behaviour(text="share")) as server:
        path = "/v1" if section == "OPENAI" else ""
        monkeypatch.setenv(f"PKMN_{section}__BASE_URL", server.url + path)
        monkeypatch.setenv(f"PKMN_{section}__USE_SCHEMA", "false")
        monkeypatch.setenv(f"{section}_API_KEY", "another")
        manager = make("tiny", api_key="sk-of-a-test")
        manager.register_node("left", {"system": "Reply in one word."})
        assert manager.generate_for_node("left", PROMPT).text == "share"
        assert "sk-of-a-test" in str(server.asked[0].headers)
        with pytest.raises(ValueError, match="tiny is frozen and cannot learn"):
            manager.update_shared_parameters({}, 0.1)
        server.answer(Behaviour(status=401, message="wrong key"))
        with pytest.raises(error, match="API error"):
            manager.generate_for_node("left", PROMPT)
        manager.close()


def test_local_models_have_a_manager_each() -> None:
    for make in (
        pkmn_multimodel.create_qwen3_manager,
        pkmn_multimodel.create_qwen_coder_manager,
        pkmn_multimodel.create_qwen_math_manager,
        pkmn_multimodel.create_llama3_manager,
    ):
        manager = make("some/name", device="cpu")
        assert (manager.config.model_name, manager.config.device, manager.learns) == ("some/name", "cpu", True)


# Adapters and schedulers ---------------------------------------------------------------------------------------------


def test_adapters_of_different_ranks_share_a_base_and_go_through_files(adapters: LoRAManager, tmp_path: Path) -> None:
    assert adapters.generate(0, PROMPT, greedy=True).text == adapters.generate(1, PROMPT, greedy=True).text
    down = next(name for name in adapters.population.parameters_of("lora_0") if "lora_A" in name)
    for number, rank in ((0, 4), (1, 2)):
        assert adapters.population.parameters_of(f"lora_{number}")[down].shape[0] == rank
    for name, weights in adapters.population.parameters_of("lora_0").items():
        weights.data += 0.5 * ("lora_B" in name)
    saved = adapters.save(0, tmp_path)
    changed = {name: weights.detach().clone() for name, weights in adapters.population.parameters_of("lora_0").items()}
    for weights in adapters.population.parameters_of("lora_0").values():
        weights.data.zero_()
    adapters.load(0, saved)
    assert all(bool((changed[name] == w).all()) for name, w in adapters.population.parameters_of("lora_0").items())
    assert adapters.stats()[0]["updates"] == 1
    with pytest.raises(ValueError, match="does not fit adapter 1: other rank"):
        adapters.load(1, saved)
    with pytest.raises(FileNotFoundError, match="no adapter is in"):
        adapters.load(0, tmp_path / "nothing")
    with pytest.raises(ValueError, match="there is no adapter 7; known: 0, 1"):
        adapters.generate(7, PROMPT)


def test_adapters_get_ports_and_cards_in_turn() -> None:
    scheduler = pkmn_multimodel.create_distributed_lora_scheduler(base_port=9000, num_gpus=2)
    for _ in range(3):
        scheduler.add(rank=2)
    assert [scheduler.place(number) for number in range(3)] == [(9000, 0), (9001, 1), (9002, 0)]
    replies = scheduler.generate([(2, PROMPT), (0, PROMPT), (2, PROMPT)])
    assert [reply.node_id for reply in replies] == ["lora_2", "lora_0", "lora_2"]
    assert [scheduler.get_status()["adapters"][number]["requests"] for number in range(3)] == [1, 0, 2]
    with pytest.raises(ValueError, match="the models are loaded"):
        scheduler.add()
    with pytest.raises(ValueError, match="there is no adapter 3; known: 0, 1, 2"):
        scheduler.place(3)


def test_schedulers_place_models_and_make_their_trainer() -> None:
    scheduler = pkmn_multimodel.create_cooperative_scheduler(base_port=8100, num_gpus=2)
    for kind in ("qwen3", "openai", "llama3"):
        scheduler.add_model(kind)
    nodes = scheduler.get_status()["models"]
    assert [(node["port"], node["gpu_id"], node["learns"]) for node in nodes.values()] == [
        (8100, 0, True),
        (8101, 1, False),
        (8102, 0, True),
    ]
    config = scheduler.trainer(max_episodes=5).config
    assert (config.num_models, config.training_mode, config.base_port, config.max_episodes) == (
        3,
        "cooperative",
        8100,
        5,
    )
    assert config.learners() == [0, 2]
    assert pkmn_multimodel.create_competitive_scheduler(8001, 1).trainer().config.training_mode == "competitive"
    assert pkmn_multimodel.create_unified_scheduler(8001, 1).trainer().config.training_mode == "mixed"
    with pytest.raises(ValueError, match="Unsupported LLM backend: 'gpt'"):
        scheduler.add_model("gpt")
    with pytest.raises(ValueError, match="models of the kind qwen3 share one name"):
        scheduler.add_model("qwen3", "other/model")
    with pytest.raises(ValueError, match="above 65535"):
        pkmn_multimodel.create_unified_scheduler(base_port=65536, num_gpus=1)


# Players of services -------------------------------------------------------------------------------------------------


def players_of(told: list[str], **settings: object) -> dict[str, RandomPlayer]:
    config = MultiModelConfig(num_models=2, model_types=["qwen3", "openai"], model_names={"openai": "tiny"}, **settings)
    return dict(outside_players(config, 0, told.append))


def test_a_service_without_a_key_plays_at_random_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    told: list[str] = []
    player = players_of(told)["model_1"]
    assert told == [
        "model_1 (openai) plays at random and does not learn: No key for OpenAI: set the environment variable "
        "OPENAI_API_KEY, or: pkmn llm keys set openai"
    ]
    assert set(player.replies(["?"] * 30, [("keep", "share")] * 30)) == {"keep", "share"}


def test_a_service_plays_until_its_calls_are_spent_or_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    with FaultServer(Behaviour(text="I share")) as server:
        monkeypatch.setenv("PKMN_OPENAI__BASE_URL", f"{server.url}/v1")
        told: list[str] = []
        player = players_of(told, service_calls=6)["model_1"]
        assert isinstance(player, ServicePlayer)
        assert player.name == "model_1"
        assert told[0].startswith("model_1 plays and does not learn: tiny at")
        assert player.replies(["Coins?"] * 4, [("keep", "share")] * 4) == ["I share"] * 4
        assert "keep, share" in str(server.asked[0].body)
        replies = player.replies(["Coins?"] * 4, [("keep", "share")] * 4)
        assert replies[:2] == ["I share"] * 2
        assert set(replies[2:]) <= {"keep", "share"}
        assert told[1:] == ["model_1 plays at random from now on: 6 questions were asked (multimodel.service_calls)."]
        assert len(server.asked) == 6
        player.close()

        told.clear()
        player = players_of(told)["model_1"]
        assert isinstance(player, ServicePlayer)
        server.answer(Behaviour(status=401, message="wrong key"))
        for _ in range(5):
            assert set(player.replies(["Coins?"], [("keep", "share")])) <= {"keep", "share"}
        assert len(server.asked) == 3
        assert len(told) == 2
        assert told[1].startswith("model_1 plays at random from now on: ")
        player.close()


@pytest.mark.long
def test_a_service_plays_in_a_training_beside_models_that_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-a-test")
    monkeypatch.setattr(bases, "tiny_model", partial(tiny_model, steps=3))
    with FaultServer(Behaviour(text="Share, of course.")) as server:
        monkeypatch.setenv("PKMN_ANTHROPIC__BASE_URL", server.url)
        config = MultiModelConfig(
            num_models=2,
            model_types=["qwen3", "claude"],
            model_names={"claude": "tiny"},
            base="tiny",
            batch_size=3,
            weight_update_strategy="synchronized",
        )
        with closing(Training(config, game_maker("coop-compete", 2, {}), 0)) as training:
            batch = training.batch()
    assert {choice["model_1"] for episode in batch.episodes for choice in episode.choices} == {"share"}
    assert {turn.agent for episode in batch.episodes for turn in episode.turns} == {"model_0"}
    assert training.population.version_of("model_0").number == 1

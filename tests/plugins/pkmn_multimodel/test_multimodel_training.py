"""Training of adapters on a model that is made at the start, in the game of shared coins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from pkmn_multimodel.games.catalog import game_maker
from pkmn_multimodel.games.text_game import TextGame
from pkmn_multimodel.population.population import Population
from pkmn_multimodel.population.replies import Version
from pkmn_multimodel.recording import flat, nested
from pkmn_multimodel.settings import MultiModelConfig, TrainingMode, WeightUpdateStrategy
from pkmn_multimodel.training import Training
from pkmncli.errors import CheckpointError, TrainingError

SMALL = {
    "num_models": 2,
    "model_types": ["qwen3"],
    "base": "tiny",
    "batch_size": 8,
    "learning_rate": 3e-3,
    "gamma": 0.5,
    "max_episodes": 100_000,
}


def make_training(seed: int = 0, **settings: Any) -> Training:
    return Training(MultiModelConfig(**SMALL | settings), game_maker("coop-compete", 2, {}), seed)


def weights_of(population: Population) -> dict[str, Any]:
    return {name: array.copy() for name, array in flat(population.state_dict()["adapters"]).items()}


def shared_weights(population: Population, layers: Iterable[str]) -> dict[str, torch.Tensor]:
    modules: dict[str, Any] = dict(population.model.named_modules())
    return {layer: modules[layer].base_layer.weight.detach().clone() for layer in layers}


@pytest.mark.long
@pytest.mark.parametrize("mode", [TrainingMode.COOPERATIVE, TrainingMode.COMPETITIVE])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_models_learn_what_pays_in_their_mode(mode: TrainingMode, seed: int) -> None:
    training = make_training(seed, training_mode=mode, weight_update_strategy="synchronized", batch_size=32)
    at_first = training.batch().metrics["score"]
    for _ in range(25):
        training.batch()
        if np.mean([episode.score for episode in training.evaluate(8)]) >= 0.95:
            break
    assert 0.3 < at_first < 0.7
    assert np.mean([episode.score for episode in training.evaluate(20)]) >= 0.9


@pytest.mark.long
def test_a_resumed_training_goes_on_exactly_with_samples_that_wait() -> None:
    first, second = make_training(), make_training()
    for training in (first, first, second):
        training.batch()
    second.load_state_dict(nested(flat(first.state_dict())))
    for training in (first, second):
        training.batch()
    with pytest.raises(CheckpointError, match="of another base model"):
        make_training(seed=5).load_state_dict(first.state_dict())
    ours, theirs = weights_of(first.population), weights_of(second.population)
    assert ours.keys() == theirs.keys()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.long
def test_a_resumed_federated_training_has_exactly_the_shared_weights() -> None:
    first, second = (make_training(weight_update_strategy="federated", batch_size=4) for _ in range(2))
    for _ in range(3):
        first.batch()
    second.load_state_dict(nested(flat(first.state_dict())))
    layers = first.population.change_of("model_0")
    ours, theirs = (shared_weights(one.population, layers) for one in (first, second))
    assert all(torch.equal(ours[layer], theirs[layer]) for layer in layers)


def test_an_update_leaves_the_other_adapters_and_the_base_as_they_are() -> None:
    training = make_training(weight_update_strategy="selective", selected_share=0.5)
    before = weights_of(training.population)
    base = {
        name: weights.clone() for name, weights in training.population.base.named_parameters() if "lora" not in name
    }
    learned = {name.split("/")[0] for name in training.batch().metrics if name.endswith("/samples")}
    after = weights_of(training.population)
    changed = {name.split("/")[0] for name in before if not np.array_equal(before[name], after[name])}
    assert len(learned) == 1
    assert changed == learned
    assert all(
        torch.equal(base[name], weights)
        for name, weights in training.population.base.named_parameters()
        if name in base
    )


def test_a_federated_round_gives_all_models_the_mean_of_the_changes() -> None:
    training = make_training(weight_update_strategy=WeightUpdateStrategy.FEDERATED, federated_every=3)
    training.batch()
    population = training.population
    changes = [population.change_of(name) for name in training.names]
    before = shared_weights(population, changes[0])
    training.updates.average()
    for name, weights in shared_weights(population, before).items():
        mean = sum(change[name] for change in changes) / len(changes)
        assert torch.allclose(weights - before[name], mean, atol=1e-6)
        assert float(mean.abs().max()) > 0
    assert all(
        float(change.abs().max()) == 0 for name in training.names for change in population.change_of(name).values()
    )


@pytest.mark.long
def test_asynchronous_updates_use_samples_that_are_as_old_as_allowed() -> None:
    training = make_training(weight_update_strategy=WeightUpdateStrategy.ASYNCHRONOUS, max_staleness=2)
    ages = [training.batch().metrics.get("model_0/staleness") for _ in range(5)]
    assert ages[:2] == [None, None]
    assert ages[2:] == [0.0, 1.0, 2.0]


def test_a_game_that_was_made_with_a_level_keeps_it_in_mixed_mode_alone() -> None:
    training = Training(MultiModelConfig(**SMALL), game_maker("coop-compete", 2, {"cooperation_level": 0.7}), 0)
    assert training.game().cooperation_level == 0.7
    training.settings.training_mode = TrainingMode.COMPETITIVE
    assert training.game().cooperation_level == 0


def test_a_sample_of_other_weights_is_refused() -> None:
    training = make_training()
    turn = training.play([1])[0].turns[0]
    turn.reply.version = Version(0, "0" * 16)
    with pytest.raises(TrainingError, match="it was sampled by other weights"):
        training.learners[turn.reply.adapter].learn([turn], 0)


def test_a_sample_whose_log_probabilities_are_not_those_of_its_weights_is_refused_before_the_update() -> None:
    training = make_training(kl_coef=0.0)
    turns = [turn for episode in training.play([1, 2]) for turn in episode.turns if turn.agent == "model_0"]
    before = weights_of(training.population)
    turns[-1].reply.log_probs[-1] -= 0.5
    with pytest.raises(TrainingError, match=r"differs by 0\.5 between sampling and learning at the same weights"):
        training.learners["model_0"].learn(turns, 0)
    after = weights_of(training.population)
    assert all(np.array_equal(array, after[name]) for name, array in before.items())
    turns[-1].reply.log_probs[-1] += 0.5
    assert training.learners["model_0"].learn(turns, 0)["sampler_gap"] < 1e-4


def test_the_hash_of_a_version_is_of_the_weights_when_it_was_noted() -> None:
    population = make_training().population
    weights = next(iter(population.parameters_of("model_0").values())).data
    first, kept = population.version_of("model_0"), weights.clone()
    population.note_change("model_0")
    weights.add_(1.0)
    noted = population.version_of("model_0")
    population.note_change("model_0")
    weights.copy_(kept)
    changed = population.version_of("model_0")
    assert (noted.number, changed.number) == (first.number + 1, first.number + 2)
    assert noted.digest == first.digest != changed.digest


def test_a_version_is_not_lost_where_waiting_for_its_hash_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    population = make_training().population
    first = population.version_of("model_0")
    next(iter(population.parameters_of("model_0").values())).data.add_(1.0)
    population.note_change("model_0")
    with monkeypatch.context() as patch:
        patch.setattr(Future, "result", interrupted)
        with pytest.raises(KeyboardInterrupt):
            population.version_of("model_0")
    assert population.version_of("model_0").number == first.number + 1
    assert population.version_of("model_0").digest != first.digest


@pytest.mark.long
def test_replies_are_sampled_with_the_log_probabilities_that_learning_finds() -> None:
    training = make_training()
    for _ in range(3):
        training.batch()
    replies = [turn.reply for episode in training.play([3, 4]) for turn in episode.turns if turn.agent == "model_1"]
    found = training.population.log_probs(replies, "model_1").of_reply().detach().cpu().numpy()
    assert np.allclose(found, [sum(reply.log_probs) for reply in replies], atol=1e-4)


@pytest.mark.long
def test_adapters_in_one_batch_reply_as_they_do_apart() -> None:
    training = make_training()
    for _ in range(3):
        training.batch()
    sample = partial(training.population.sample, max_new_tokens=4, greedy=True)
    prompts = [training.game().reset(seed=1)[0]["model_0"]] * 2
    together = sample(prompts, ["model_0", "model_1"], torch.Generator())
    apart = [sample(prompts[:1], [name], torch.Generator())[0] for name in ("model_0", "model_1")]
    assert [reply.tokens for reply in together] == [reply.tokens for reply in apart]
    assert np.allclose([reply.log_probs[0] for reply in together], [reply.log_probs[0] for reply in apart], atol=1e-5)


def test_a_small_cache_samples_in_smaller_batches_with_the_same_likeliest_replies() -> None:
    training = make_training()
    prompts = [training.game().reset(seed=seed)[0]["model_0"] for seed in range(5)]
    sample = partial(training.population.sample, max_new_tokens=4, greedy=True)
    together = sample(prompts, ["model_0"] * 5, torch.Generator())
    sizes: list[int] = []
    forward = training.population.model.register_forward_pre_hook(
        lambda module, args, kwargs: sizes.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    training.population.kv_tokens = 2 * (len(together[0].prompt_ids) + 4)
    apart = sample(prompts, ["model_0"] * 5, torch.Generator())
    forward.remove()
    assert [reply.tokens for reply in together] == [reply.tokens for reply in apart]
    assert max(sizes) == 2


@pytest.mark.long
def test_an_update_learns_from_as_many_batches_as_asked() -> None:
    training = make_training(weight_update_strategy="synchronized", batch_size=2, update_frequency=3, max_episodes=10)
    batch = training.batch()
    assert len(batch.episodes) == training.episodes == 6
    assert batch.metrics["model_0/samples"] == 18
    assert len(training.batch().episodes) == 4, "the budget ends before the batches"


def test_an_unknown_count_or_kind_of_models_is_one_clear_error() -> None:
    with pytest.raises(ValueError, match="Invalid number of models: 0"):
        MultiModelConfig(num_models=0)
    with pytest.raises(ValueError, match="Unsupported LLM backend: 'gpt'"):
        MultiModelConfig(model_types=["gpt"])


@pytest.mark.long
def test_first_games_of_a_script_are_imitated_and_a_resumed_training_goes_on_the_same() -> None:
    imitated = {"imitation_games": 44, "imitation_strength": 1.0, "learning_rate": 0.01}
    made = partial(make_training, training_mode="cooperative", weight_update_strategy="synchronized", **imitated)
    first, second = made(), made()
    losses = [first.batch().metrics["model_0/imitation_loss"] for _ in range(6)]
    assert first.episodes == 44, "the last batch ends with the script's games"
    assert losses[-1] < losses[0]
    assert {turn.choice for episode in first.play([1], greedy=True) for turn in episode.turns} == {"share"}
    second.load_state_dict(nested(flat(first.state_dict())))
    batches = [training.batch() for training in (first, second)]
    assert "model_0/imitation_loss" not in batches[0].metrics
    assert batches[0].metrics == batches[1].metrics


def test_a_script_that_knows_nothing_teaches_the_form_alone() -> None:
    training = make_training(imitation_games=8, imitation_strength=0.0, weight_update_strategy="synchronized")
    shown = training.batch()
    assert {reply for episode in shown.episodes for reply in (episode.valid / episode.replies,)} == {1.0}
    assert {turn.choice for episode in shown.episodes for turn in episode.turns} == {"share", "keep"}
    assert training.population.version_of("model_1").number == 1


def test_a_base_with_a_form_of_conversation_can_be_asked_without_it() -> None:
    training = make_training()
    population = training.population
    population.tokenizer.chat_template = "{% for it in messages %}<user>{{ it.content }}<reply>{% endfor %}"
    asked = population.written("Where?", "east", "model_0")
    population.chat = False
    plain = population.written("Where?", "east", "model_0")
    decode = population.tokenizer.decode
    assert [decode(asked.prompt_ids), decode(asked.tokens)] == ["<user>Where?<reply>", "east<end>"]
    assert [decode(plain.prompt_ids), decode(plain.tokens)] == ["Where?", " east<end>"]


class Places(TextGame):
    """A choice of two, in two places of which the second one earns more whatever is chosen."""

    vocabulary = ("left", "right")
    luck = 4.0
    named = True

    def __init__(self) -> None:
        super().__init__(2, 1)
        self._right = 0.0

    def prompt(self, agent: str) -> str:
        return f"You are {agent}. left or right? Answer:"

    def options(self, agent: str) -> Sequence[str]:
        return self.vocabulary

    def best(self, agent: str) -> str:
        return "right"

    def play(self, choices: Mapping[str, str]) -> Mapping[str, float]:
        right = {agent: choice == "right" for agent, choice in choices.items()}
        self._right = sum(right.values()) / len(right)
        return {agent: it + (self.luck if agent == "model_1" else 0.0) for agent, it in right.items()}

    def score(self) -> float:
        return self._right

    def roles(self) -> Mapping[str, str]:
        return dict(zip(self.possible_agents, ("first", "second"), strict=True)) if self.named else super().roles()


def self_playing(seed: int = 0, luck: float = 4.0, named: bool = True) -> Training:
    class Game(Places):
        pass

    Game.luck, Game.named = luck, named
    settings = SMALL | {"self_play": True, "weight_update_strategy": "synchronized", "batch_size": 16, "kl_coef": 0.0}
    return Training(MultiModelConfig.model_validate(settings), Game, seed)


@pytest.mark.long
def test_in_self_play_one_adapter_plays_all_places_and_is_not_rewarded_for_the_luckier_one() -> None:
    changes = []
    for luck, named in ((0.0, True), (4.0, True), (0.0, False), (4.0, False)):
        training = self_playing(luck=luck, named=named)
        episodes = training.batch().episodes
        assert training.names == ["model_0"]
        assert {turn.reply.adapter for it in episodes for turn in it.turns if turn.agent == "model_1"} == {"model_0"}
        changes.append(
            np.concatenate([it.cpu().numpy().ravel() for it in training.population.change_of("model_0").values()])
        )
    assert np.abs(changes[0]).max() > 1e-4
    assert np.allclose(changes[0], changes[1], atol=1e-7)
    assert not np.allclose(changes[2], changes[3], atol=1e-5)


@pytest.mark.long
def test_an_advantage_for_each_role_learns_faster_in_self_play_than_one_for_all() -> None:
    scores: dict[bool, list[float]] = {True: [], False: []}
    for seed in range(6):
        for named, found in scores.items():
            training = self_playing(seed, named=named)
            for _ in range(15):
                training.batch()
            played = training.play(range(9000, 9064), generator=torch.Generator().manual_seed(0))
            found.append(float(np.mean([episode.score for episode in played])))
    assert np.mean(scores[True]) > np.mean(scores[False]) + 0.05


def test_a_prompt_that_many_replies_share_is_read_once_with_the_same_scores_and_gradients() -> None:
    training = make_training(device="cpu")  # a graphics card reads short prompts again
    for _ in range(2):
        training.batch()
    population, prompts = training.population, list(training.game().reset(seed=1)[0].values())
    longer = prompts[0].replace("none", "2 of 2 shared")
    lengths: list[int] = []
    forward = population.model.register_forward_pre_hook(
        lambda module, args, kwargs: lengths.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    asked, names = [prompts[0], longer, prompts[0], prompts[0]], ["model_0", "model_0", "model_1", "model_0"]
    replies = population.sample(asked, names, torch.Generator().manual_seed(0), max_new_tokens=4)
    assert lengths[:2] == [3, 4]
    replies = [reply for reply in replies if reply.adapter == "model_0"]
    replies[0].tokens, replies[0].log_probs = replies[0].tokens[:1], replies[0].log_probs[:1]
    weights, found = list(population.parameters_of("model_0").values()), []
    for parts in ([replies], [[reply] for reply in replies]):
        population.model.zero_grad()
        scores = [population.log_probs(part, "model_0") for part in parts]
        torch.cat([it.of_reply() for it in scores]).sum().backward()
        gradients = torch.cat([it.grad.ravel() for it in weights if it.grad is not None])
        found.append((torch.cat([it.of_reply() for it in scores]), torch.cat([it.hidden for it in scores]), gradients))
    forward.remove()
    for together, apart in zip(*found, strict=True):
        assert torch.allclose(together, apart, atol=1e-5)
    assert torch.allclose(found[0][0], torch.tensor([sum(reply.log_probs) for reply in replies]), atol=1e-5)

"""Wrong inputs of ``pkmn train``: the documented exit code, and a line that says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.wrong_inputs import assert_refused, wrong_inputs

from pkmncli.training import session

CASES = [
    ("train --colour", 2, "No such option: --colour"),
    ("train run", 2, "to resume a run, write: pkmn train --resume run"),
    ("train --steps 0", 2, "setting 'steps' = 0 (option --steps): must be at least 1"),
    ("train --steps -1", 2, "setting 'steps' = -1 (option --steps): must be at least 1"),
    ("train --steps ten", 2, "Invalid value for '--steps' / '--actions': 'ten': must be a whole number"),
    (
        "train --steps 20k",
        2,
        "Invalid value for '--steps' / '--actions': '20k': must be a whole number; did you mean 20000?",
    ),
    (
        "train --set envs=1,000",
        2,
        "setting 'envs' = '1,000' (option --set envs): must be a whole number; did you mean 1000?",
    ),
    ("train --set learning_rate=0.1", 2, "did you mean 'dqn.learning_rate'?"),
    ("train --rl ppo --set learning_rate=0.1", 2, "did you mean 'ppo.learning_rate'?"),
    ("train --env cartpole", 2, "there is no environment 'cartpole'; did you mean 'gym:CartPole-v1'?"),
    (
        "train --llm gpt-4",
        2,
        "there is no llm backend 'gpt-4'; a model is named after its backend, as BACKEND:gpt-4. Known:",
    ),
    ("train --steps 5 --rl", 2, "Option '--rl' requires an argument. See: pkmn train --help"),
    ("train --steps 1.5", 2, "Invalid value for '--steps' / '--actions': '1.5': must be a whole number"),
    ("train --episodes 0", 2, "setting 'episodes' = 0 (option --episodes): must be at least 1"),
    ("train --envs 0", 2, "setting 'envs' = 0 (option --envs): must be at least 1"),
    ("train --envs 257", 2, "setting 'envs' = 257 (option --envs): must be at most 256"),
    ("train --seed -1", 2, "setting 'seed' = -1 (option --seed): must be at least 0"),
    ("train --seed 9223372036854775808", 2, "setting 'seed' = 9223372036854775808 (option --seed): must be less than"),
    ("train --game gold", 2, "there is no game 'gold'"),
    (
        "train --game crystall",
        2,
        "there is no game 'crystall'; did you mean 'crystal'? Known: crystal, quillwood. See: pkmn",
    ),
    ("train --game-folder nowhere", 3, "name a folder with a game.toml"),
    ("train --game-folder file.txt", 3, "name a folder with a game.toml"),
    ("train --rom nowhere.gbc", 3, "check the path, or leave it out for the bundled game"),
    ("train --rom .", 3, "is a folder, not a cartridge image: name the .gbc file in it"),
    (
        "train --rom file.txt",
        3,
        "has 6 bytes, no multiple of 16 KiB, so it is cut off or no Game Boy image: copy it again",
    ),
    ("train --rom empty", 3, "is empty: copy the image again"),
    ("train --rom /dev/null", 3, "/dev/null is no regular file: name a cartridge image"),
    ("train --rl dqnn", 2, "setting 'rl' (option --rl): there is no algorithm 'dqnn'; did you mean 'dqn'? Known: a2c,"),
    ("train --preset nope", 2, "setting 'preset' = 'nope' (option --preset): there is no such preset; dqn has"),
    ("train --preset nowhere.toml", 2, "setting 'preset' = 'nowhere.toml' (option --preset): there is no such file"),
    (
        "train --preset file.txt --rl ppo",
        2,
        "setting 'preset' = 'file.txt' (option --preset): there is no such preset; ppo has",
    ),
    ("train --llm olama", 2, "setting 'llm' (option --llm): there is no llm backend 'olama'; did you mean 'ollama'?"),
    (
        "train --llm scripted --llm-interval 0",
        2,
        "setting 'llm_interval' = 0 (option --llm-interval): must be at least 1",
    ),
    (
        "train --llm-model never-heard-of",
        2,
        "llm_model = never-heard-of (option --llm-model) does not say which backend to ask: it is",
    ),
    (
        "train --llm scripted --llm-timeout-s 0",
        2,
        "setting 'llm_timeout_s' = 0.0 (option --llm-timeout-s): must be greater than 0.0",
    ),
    (
        "train --llm scripted --llm-timeout-s inf",
        2,
        "setting 'llm_timeout_s' = inf (option --llm-timeout-s): must be a finite number",
    ),
    (
        "train --llm scripted --llm-temperature 3",
        2,
        "setting 'llm_temperature' = 3.0 (option --llm-temperature): must be at most 2.0",
    ),
    (
        "train --llm scripted --llm-temperature nan",
        2,
        "setting 'llm_temperature' = nan (option --llm-temperature): must be a finite number",
    ),
    (
        "train --llm scripted --llm-reply-tokens 1",
        2,
        "setting 'llm_reply_tokens' = 1 (option --llm-reply-tokens): must be at least 32",
    ),
    (
        "train --llm scripted --llm-max-open 65",
        2,
        "setting 'llm_max_open' = 65 (option --llm-max-open): must be at most 64",
    ),
    (
        "train --llm scripted --llm-cache maybe",
        2,
        "setting 'llm_cache' = 'maybe' (option --llm-cache): must be 'off', 'read', 'readwrite' or",
    ),
    ("train --llm scripted --llm-cache only --llm-cache-path .", 5, "can't be used"),
    ("train --llm scripted --llm-prompt nowhere.toml", 2, "can't be read: No such file or directory"),
    (
        "train --llm scripted --llm-prompt file.txt",
        2,
        "is no TOML file: Expected '=' after a key in a key/value pair (at line 1, column 6)",
    ),
    ("train --llm scripted --lessons-file nowhere.json", 2, "can't be read: No such file or directory"),
    (
        "train --llm scripted --lessons-file file.txt",
        2,
        "JSON: Expecting value: line 1 column 1 (char 0). Write them with: pkmn",
    ),
    (
        "train --llm scripted --llm-price cheap",
        2,
        "setting 'llm_prices[0]' = 'cheap' (option --llm-price): 'cheap' is no price: write",
    ),
    (
        "train --llm scripted --llm-price a=1/-2",
        2,
        "setting 'llm_prices[0]' = 'a=1/-2' (option --llm-price): 'a=1/-2' is no price: write",
    ),
    (
        "train --llm scripted --llm-price a=1/nan",
        2,
        "setting 'llm_prices[0]' = 'a=1/nan' (option --llm-price): 'a=1/nan' is no price: write",
    ),
    (
        "train --llm scripted --llm-budget-usd -1",
        2,
        "setting 'llm_budget_usd' = -1.0 (option --llm-budget-usd): must be greater than 0.0",
    ),
    (
        "train --llm scripted --llm-budget-tokens 0",
        2,
        "setting 'llm_budget_tokens' = 0 (option --llm-budget-tokens): must be at least 1",
    ),
    ("train --llm scripted --set scripted.file=nowhere.toml", 4, "can't be read: No such file or directory"),
    (
        "train --llm openai --set openai.base_url=http://me:pw@host/v1",
        2,
        "setting 'openai.base_url' (option --set openai.base_url): must be an address without",
    ),
    (
        "train --llm openai --set openai.base_url=http://host/v1?key=1",
        2,
        "setting 'openai.base_url' (option --set openai.base_url): must be an address without",
    ),
    (
        "train --strategy loud",
        2,
        "setting 'strategy' (option --strategy): there is no strategy 'loud'. Known: adaptive,",
    ),
    ("train --mode solo", 2, "setting 'mode' = 'solo' (option --mode): must be 'adaptive', 'llm-only' or 'rl-only'"),
    (
        "train --pilot autopilot",
        2,
        "setting 'pilot' (option --pilot): there is no pilot 'autopilot'. Known: greedy, planning, random, rules.",
    ),
    (
        "train --env atari",
        2,
        "setting 'env' (option --env): there is no environment 'atari'. Known: balatro, gameboy, gym, pyboy.",
    ),
    (
        "train --env gymn:CartPole-v1",
        2,
        "setting 'env' (option --env): there is no environment 'gymn'; did you mean 'gym'? Known: balatro,",
    ),
    (
        "train --goal champion_of_all",
        2,
        "setting 'goal' = 'champion_of_all': quillwood has no such milestone; it has game_started,",
    ),
    ("train --demonstrations nowhere", 5, "no run 'nowhere'"),
    ("train --demonstrations {r} --rl none", 2, "demonstrations: there is no learner to show them to: leave them out"),
    ("train --pretrain-steps -1", 2, "setting 'pretrain_steps' = -1 (option --pretrain-steps): must be at least 0"),
    ("train --start-from nowhere", 5, "no run 'nowhere'"),
    ("train --start-from {r}:nothing", 5, "there are step-000000080, step-000000160, step-000000240"),
    ("train --start-from pretrained:gold", 2, "there is no game 'gold'. Known: crystal, quillwood. See: pkmn plugins"),
    ("train --start-from {r} --set dqn.head_features=64", 2, "its network has other layers"),
    ("train --init-state nowhere.state", 3, "cannot be read: No such file or directory; check the path"),
    ("train --init-state file.txt", 3, "file.txt"),
    ("train --init-state .", 3, "cannot be read: Is a directory; check the path"),
    ("train --cartridge nowhere.sav", 3, "can't be read: No such file or directory; check the path"),
    ("train --cartridge file.txt", 3, "file.txt"),
    ("train --cartridge empty", 3, "empty"),
    (
        "train --reward money=",
        2,
        "setting 'reward[0]' = 'money=' (option --reward): 'money=' is no reward: write a name, or",
    ),
    (
        "train --reward money=many",
        2,
        "setting 'reward[0]' = 'money=many' (option --reward): 'money=many' is no reward: write a",
    ),
    (
        "train --reward money=1e400",
        2,
        "setting 'reward[0]' = 'money=1e400' (option --reward): 'money=1e400' is no reward: write",
    ),
    (
        "train --reward moneyy",
        2,
        "setting 'reward' (option --reward): there is no reward 'moneyy'; did you mean 'money'?",
    ),
    (
        "train --reward money --reward money=2",
        2,
        "setting 'reward' = ['money', 'money=2'] (option --reward): 'money' is named twice: give",
    ),
    (
        "train --observation-type eyes",
        2,
        "setting 'observation_type' = 'eyes' (option --observation-type): must be 'goal',",
    ),
    ("train --goals mine", 2, "setting 'goals' = 'mine' (option --goals): must be 'rules' or 'none'"),
    ("train --knowledge all", 2, "setting 'knowledge' = 'all' (option --knowledge): must be 'cartridge' or 'seen'"),
    (
        "train --device tpu",
        2,
        "setting 'device' = 'tpu' (option --device): must be 'auto', 'cpu', 'cuda' or 'mps'; did",
    ),
    ("train --torch-threads 0", 2, "setting 'torch_threads' = 0 (option --torch-threads): must be at least 1"),
    ("train --save-dir file.txt", 5, "cannot be made"),
    ("train --save-dir /proc", 5, "cannot be made"),
    ("train --run-name a/b", 2, "run name 'a/b': use letters, digits, '.', '_', '+' and '-', without a folder"),
    ("train --run-name ..", 2, "run name '..': use letters, digits, '.', '_', '+' and '-', without a folder"),
    ("train --run-name latest", 2, "run name 'latest': is the word for the newest run; choose another name"),
    ('train --run-name ""', 2, "setting 'run_name' = '' (option --run-name): must be of a length of at least 1"),
    ("train --run-name {name} --save-dir {runs}", 5, "exists already: choose another name"),
    ("train --save-interval 0", 2, "setting 'save_interval' = 0 (option --save-interval): must be at least 1"),
    ("train --eval-interval 0", 2, "setting 'eval_interval' = 0 (option --eval-interval): must be at least 1"),
    ("train --eval-episodes 0", 2, "setting 'eval_episodes' = 0 (option --eval-episodes): must be at least 1"),
    ("train --keep-checkpoints 0", 2, "setting 'keep_checkpoints' = 0 (option --keep-checkpoints): must be at least 1"),
    ("train --disk-limit-gb 0", 2, "setting 'disk_limit_gb' = 0.0 (option --disk-limit-gb): must be greater than 0.0"),
    ("train --disk-limit-gb nan", 2, "setting 'disk_limit_gb' = nan (option --disk-limit-gb): must be a finite number"),
    ("train --track mlflow", 2, "setting 'track' (option --track): there is no tracker 'mlflow'. Known: tensorboard,"),
    (
        "train --track none --track wandb",
        2,
        "setting 'track' = ['none', 'wandb'] (option --track): 'none' goes alone: no other tracker",
    ),
    (
        "train --log-level LOUD",
        2,
        "setting 'log_level' = 'LOUD' (option --log-level): must be 'DEBUG', 'INFO', 'WARNING' or",
    ),
    ("train --dashboard --web-port 0", 2, "setting 'web_port' = 0 (option --web-port): must be at least 1"),
    ("train --dashboard --web-port 65536", 2, "setting 'web_port' = 65536 (option --web-port): must be at most 65535"),
    (
        "train --dashboard --web-host-name http://a",
        2,
        "setting 'web_host_name[0]' = 'http://a' (option --web-host-name): 'http://a' is no host",
    ),
    (
        "train --dashboard --web-root-path /a/../b",
        2,
        "setting 'web_root_path' = '/a/../b' (option --web-root-path): '/a/../b' is no folder of an address",
    ),
    ("train --config nowhere.toml", 2, "there is no configuration file nowhere.toml"),
    ("train --config .", 2, "the configuration file . cannot be read: Is a directory"),
    (
        "train --config file.txt",
        2,
        "file.txt:1: not valid TOML: Expected '=' after a key in a key/value pair (column 6)",
    ),
    ("train --config bad.toml", 2, "bad.toml:1: not valid TOML: Invalid value (column 5)"),
    (
        "train --config bad.json",
        2,
        "bad.json:1: not valid JSON: Expecting property name enclosed in double quotes (column 9)",
    ),
    ("train --config twice.json", 2, "twice.json:1: not valid JSON: 'steps' is there twice"),
    ("train --config list.json", 2, "list.json:1: a configuration is keys with values, not a list"),
    ("train --config unknown.toml", 2, "unknown setting 'sede' (unknown.toml:1): did you mean 'seed'?"),
    ("train --config bytes.toml", 2, "bytes.toml is no configuration file: it is not UTF-8 text"),
    ("train --set dqn", 2, "option --set dqn: write it as --set section.key=value"),
    ("train --set =1", 2, "option --set =1: write it as --set section.key=value"),
    (
        "train --set dqn.learning_rat=1",
        2,
        "unknown setting 'dqn.learning_rat' (option --set dqn.learning_rat): did you mean",
    ),
    (
        "train --set dqm.learning_rate=1",
        2,
        "no plugin has settings under [dqm] (option --set dqm.learning_rate): did you mean [dqn]?",
    ),
    ("train --set learning_rate=1", 2, "unknown setting 'learning_rate' (option --set learning_rate): did you mean"),
    ("train --set dqn.gamma=2", 2, "setting 'dqn.gamma' = 2 (option --set dqn.gamma): must be at most 1.0"),
    (
        "train --set dqn.double=maybe",
        2,
        "setting 'dqn.double' = 'maybe' (option --set dqn.double): must be true or false",
    ),
    (
        "train --set dqn.screen_channels=3",
        2,
        "setting 'dqn.screen_channels' = 3 (option --set dqn.screen_channels): must be a list in brackets",
    ),
    (
        "train --rl ppo --set ppo.net_arch=64,64",
        2,
        "setting 'ppo.net_arch' = '64,64' (option --set ppo.net_arch): must be a list in brackets, such as [64, 64]",
    ),
    (
        "train --set dqn.screen_channels=[1,2,3]",
        2,
        "setting 'dqn.screen_channels' = [1, 2, 3] (option --set dqn.screen_channels): must be of",
    ),
    (
        "train --set dqn.encoder=eye",
        2,
        "setting 'dqn.encoder' (option --set dqn.encoder): there is no encoder 'eye'. Known:",
    ),
    (
        "train --set dqn.exploration_final=0.9 --set dqn.exploration_initial=0.1",
        2,
        "settings [dqn] (option --set dqn.exploration_final, option --set",
    ),
    ("train --set reward=3", 2, "setting 'reward' = 3 (option --set reward): must be a list in brackets"),
    ("train --set dqn={}", 2, "unknown setting 'dqn' (option --set dqn): pkmn train --help lists the settings"),
    ("train --set seed=[1]", 2, "setting 'seed' = [1] (option --set seed): must be a whole number"),
    ("train --resume nowhere", 5, "nowhere"),
    (
        "train --resume {r} --seed 3",
        2,
        "setting 'seed' (option --seed) cannot change when a run is resumed: it has seed = 0;",
    ),
    ("train --resume file.txt", 5, "file.txt"),
    ("train --resume .", 5, "is no run folder: it has no versions.json"),
]


@wrong_inputs(CASES)
def test_a_training_with_a_wrong_input_does_not_begin(
    line: str, code: int, said: str, pkmn: Callable[..., Any], shared_run: Callable[..., Path], tmp_path: Path
) -> None:
    assert_refused((line, code, said), pkmn, shared_run, tmp_path)


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--rom=nowhere.gbc"], 3, "No cartridge image at"),
        (["--game=crystal"], 3, "needs your own cartridge image"),
        (["--env=gameboy", "--rom=nowhere.gbc"], 3, "No cartridge image at"),
        (["--llm=ollama", "--set=ollama.host=127.0.0.1:1"], 4, "Ollama at 127.0.0.1:1 can't be reached"),
        (
            ["--llm-ensemble=ollama:a", "--llm-ensemble=ollama:b", "--set=ollama.host=127.0.0.1:1"],
            4,
            "Ollama at 127.0.0.1:1 can't be reached",
        ),
    ],
)
def test_a_missing_image_or_server_is_said_before_anything_starts(
    options: list[str], code: int, said: str, pkmn: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    for slow in ("chosen_trackers", "WorkerPool"):
        monkeypatch.setattr(session, slow, lambda *given, slow=slow, **named: begun.append(slow))
    result = pkmn("train", *options)
    assert (result.code, begun) == (code, [])
    assert said in result.err

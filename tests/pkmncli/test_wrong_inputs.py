"""Wrong inputs of every command: each ends with the documented exit code, and a line that says what is wrong."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Pkmn = Callable[..., Any]

FILES = {
    "file.txt": b"hello\n",
    "empty": b"",
    "bad.toml": b"a = \n",
    "bad.json": b'{"a": 1,}',
    "list.json": b"[1]",
    "twice.json": b'{"steps": 300, "steps": 400}',
    "unknown.toml": b"sede = 1\n",
    "bytes.toml": b"\xff\xfe\x00",
    "other.gbc": bytes(32768),
    "experiment.toml": b"[experiment]\nnam = 'x'\n",
    "tune.toml": b"[tune]\nname='x'\n",
    "tune2.toml": b"[tune]\nname='x'\n[space]\n'dqn.gama' = [0.1,0.2]\n",
    "tune3.toml": b"[tune]\nname='x'\ntrials=0\n[space]\n'dqn.gamma' = [0.1,0.2]\n",
}
"""Files that are there."""

# The command line as it is typed, the exit code, and a part of the line that is said. {r} is the folder of a finished
# run, {runs} the folder that it is in, and {name} its name.
CASES = [
    ("trian", 2, "No such command 'trian'. Did you mean 'train'?"),
    ("--colour", 2, "No such option: --colour"),
    ("train --colour", 2, "No such option: --colour"),
    ("train run", 2, "to resume a run, write: pkmn train --resume run"),
    ("train --steps 0", 2, "setting 'steps' = 0 (option --steps): must be at least 1"),
    ("train --steps -1", 2, "setting 'steps' = -1 (option --steps): must be at least 1"),
    ("train --steps ten", 2, "Invalid value for '--steps' / '--actions': Input should be a valid integer, unable to"),
    ("train --steps 1.5", 2, "Invalid value for '--steps' / '--actions': Input should be a valid integer, unable to"),
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
        "setting 'pilot' (option --pilot): there is no pilot 'autopilot'. Known: rules. See: pkmn",
    ),
    ("train --env atari", 2, "setting 'env' (option --env): there is no environment 'atari'. Known: gameboy, pyboy."),
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
    ("train --run-name a/b", 5, "run name 'a/b': use letters, digits, '.', '_', '+' and '-', without a folder"),
    ("train --run-name ..", 5, "run name '..': use letters, digits, '.', '_', '+' and '-', without a folder"),
    ("train --run-name latest", 5, "run name 'latest': is the word for the newest run; choose another name"),
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
        "setting 'dqn.screen_channels' = 3 (option --set dqn.screen_channels): must be a list",
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
    ("train --set reward=3", 2, "setting 'reward' = 3 (option --set reward): must be a list"),
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
    ("eval nowhere", 5, "nowhere"),
    ("eval {r} --episodes 0", 2, "Invalid value for '--episodes': Input should be greater than or equal to 1"),
    (
        "eval {r} --mode everyone",
        2,
        "Invalid value for '--mode': Value error, 'everyone' is not one of 'rl-only', 'adaptive',",
    ),
    ("eval {r} --checkpoint nothing", 5, "there are step-000000080, step-000000160, step-000000240"),
    (
        "eval {r} --checkpoint 7",
        5,
        "there are step-000000080, step-000000160, step-000000240",
    ),
    (
        "eval {r} --goal nothing_such",
        2,
        "setting 'goal' = 'nothing_such': quillwood has no such milestone; it has game_started,",
    ),
    (
        "eval {r} --video out.txt",
        2,
        "out.txt: a video's name ends in .mp4 or .gif",
    ),
    ("eval {r} --videos file.txt", 2, "--videos file.txt: it is a file, and should be a folder"),
    ("eval {r} --envs 0", 2, "Invalid value for '--envs': Input should be greater than or equal to 1"),
    ("eval --pretrained gold", 2, "there is no game 'gold'. Known: crystal, quillwood. See: pkmn plugins"),
    (
        "replay {r} --episode 999",
        5,
        "there is no episode '999': give best, last, a number from 0 to 7, or 0.3 for episode 3 of",
    ),
    (
        "replay {r} --episode first",
        5,
        "there is no episode 'first': give best, last, a number from 0 to 7, or 0.3 for episode 3",
    ),
    ("replay {r} --episode 0.99", 5, "environment 0 has no finished episode 99"),
    (
        "replay {r} --video out.txt",
        2,
        "out.txt: a video's name ends in .mp4 or .gif",
    ),
    ("replay {r} --speed 0", 2, "Invalid value for '--speed': Input should be greater than or equal to 0.1"),
    ("replay {r} --speed nan", 2, "Invalid value for '--speed': Input should be less than or equal to 100"),
    ("replay {r} --from nothing_such", 2, "--from: choose how to show it: --video FILE, --terminal or --window"),
    ("replay {r} --beside nowhere", 2, "--beside: choose how to show it: --video FILE, --terminal or --window"),
    ("replay nowhere", 5, "nowhere"),
    ("plot nowhere", 5, "nowhere"),
    ("plot {r} --out out.txt", 2, "--out out.txt: write it to a file that ends in .html or .png"),
    ("plot {r} --metric nothing", 2, "no run has two values of the metric 'nothing'"),
    ("plot {r} --by nothing", 2, "no run has the setting 'nothing': see config.toml in a run's folder"),
    ("compare nowhere", 5, "nowhere"),
    ("compare {r} --last 0", 2, "Invalid value for '--last': Input should be greater than or equal to 1"),
    (
        "compare {r} --target much",
        2,
        "Invalid value for '--target': Input should be a valid number, unable to parse string as a",
    ),
    (
        "compare {r} --format xml",
        2,
        "Invalid value for '--format': Value error, 'xml' is not one of 'table', 'json', 'csv',",
    ),
    ("compare {r} --plot out.txt", 2, "--plot out.txt: write it to a file that ends in .svg or .png"),
    ("experiment nowhere.toml", 2, "there is no experiment file nowhere.toml"),
    (
        "experiment file.txt",
        2,
        "file.txt: not valid TOML: Expected '=' after a key in a key/value pair (at line 1, column",
    ),
    ("experiment empty", 2, "empty: [experiment] needs a name of letters, digits, '.', '_', '+' and '-'"),
    ("experiment experiment.toml", 2, "experiment.toml: 'nam' is no key of [experiment]: did you mean 'name'?"),
    (
        "experiment file.txt --processes 0",
        2,
        "Invalid value for '--processes': Input should be greater than or equal to 1",
    ),
    ("tune nowhere.toml", 2, "there is no tuning file nowhere.toml"),
    ("tune file.txt", 2, "file.txt: not valid TOML: Expected '=' after a key in a key/value pair (at line 1, column"),
    ("tune empty", 2, 'empty: [space] is empty: name settings to search, as "dqn.n_step" = { low = 1, high = 8 }'),
    ("tune tune.toml", 2, 'tune.toml: [space] is empty: name settings to search, as "dqn.n_step" = { low = 1, high ='),
    ("tune tune2.toml", 2, "tune2.toml: [settings] and [space]: unknown setting 'dqn.gama' (option --set dqn.gama):"),
    ("tune tune3.toml", 2, "tune3.toml: trials = 0: give a whole number from 1"),
    ("export nowhere", 5, "nowhere"),
    ("export {r} --to file.txt", 5, "file.txt could not be written: File exists"),
    (
        "export {r} --format xlsx",
        2,
        "Invalid value for '--format': Value error, 'xlsx' is not one of 'csv', 'parquet'.",
    ),
    ("export {r} --no-tables", 2, "nothing to export: leave out --no-tables, or add --policy"),
    ("export {r} --policy --checkpoint nothing", 5, "there are step-000000080, step-000000160, step-000000240"),
    (
        "export {r} --pretrained out --episodes 0",
        2,
        "Invalid value for '--episodes': Input should be greater than or equal to 1",
    ),
    ("bench nothing", 2, "Invalid value for 'parts': Value error, 'nothing' is not one of 'env', 'workers',"),
    (
        "bench env --env atari",
        2,
        "setting 'env' (option --env): there is no environment 'atari'. Known: gameboy, pyboy.",
    ),
    ("bench env --rom nowhere.gbc", 3, "check the path, or leave it out for the bundled game"),
    ("llm sak", 2, "No such command 'sak'. Did you mean 'ask'?"),
    ("llm ask", 2, "no language model is chosen: give --llm with one of anthropic, local, ollama, openai,"),
    (
        "llm ask --llm nothing",
        2,
        "setting 'llm' (option --llm): there is no llm backend 'nothing'. Known: anthropic, local,",
    ),
    ("llm ask --llm scripted --set scripted.file=nowhere.toml", 4, "can't be read: No such file or directory"),
    (
        "llm models --llm nothing",
        2,
        "setting 'llm' (option --llm): there is no llm backend 'nothing'. Known: anthropic, local,",
    ),
    (
        "doctor --llm nothing",
        2,
        "setting 'llm' (option --llm): there is no llm backend 'nothing'. Known: anthropic, local,",
    ),
    ("doctor --run nowhere", 5, "nowhere"),
    ("doctor --limit -1", 2, "Invalid value for '--limit': Input should be greater than or equal to 0"),
    ("plugins show nothing", 2, "no plugin brings 'nothing'. See: pkmn plugins"),
    ("plugins check nothing", 2, "no plugin brings 'nothing'. See: pkmn plugins"),
    ("plugins shwo", 2, "No such command 'shwo'. Did you mean 'show'?"),
    ("analyze-patterns nowhere", 5, "nowhere"),
    ("analyze-patterns file.txt", 5, "file.txt"),
    (
        "analyze-patterns {r} --show nothing",
        2,
        "Invalid value for '--show': Value error, 'nothing' is not one of 'patterns', 'sources',",
    ),
    ("analyze-patterns {r} --limit 99999999999999999999", 2, "--limit"),
    (
        "analyze-patterns {r} --min-frequency 0",
        2,
        "Invalid value for '--min-frequency': Input should be greater than or equal to 1",
    ),
    (
        "analyze-patterns {r} --context map",
        2,
        "Condition 'map' is not of the form key=value; operators are <= >= != = < > ~.",
    ),
    (
        "analyze-patterns {r} --context planet=3",
        2,
        "Unknown context 'planet': known are map, x, y, phase, battle, opponent, health,",
    ),
    ("analyze-patterns {r} --context map=here", 2, "Context map: 'here' is unknown."),
    (
        "analyze-patterns {r} --source me",
        2,
        "Invalid value for '--source': Value error, 'me' is not one of 'rl', 'explore', 'rule',",
    ),
    (
        "analyze-patterns {r} --by planet",
        2,
        "Invalid value for '--by': Value error, 'planet' is not one of 'map', 'tile', 'phase',",
    ),
    (
        "analyze-patterns {r} --sort luck",
        2,
        "Invalid value for '--sort': Value error, 'luck' is not one of 'success', 'frequency',",
    ),
    ("analyze-patterns {r} --limit 0", 2, "Invalid value for '--limit': Input should be greater than or equal to 1"),
    ("analyze-patterns {r} --length 9", 2, "--length 9: write a number from 2 to 6, or two as 2-4"),
    ("analyze-patterns {r} --length 4-2", 2, "--length 4-2: write a number from 2 to 6, or two as 2-4"),
    ("analyze-patterns {r} --length x", 2, "--length x: write a number from 2 to 6, or two as 2-4"),
    (
        "analyze-patterns {r} --format xml",
        2,
        "Invalid value for '--format': Value error, 'xml' is not one of 'table', 'json', 'csv',",
    ),
    ('analyze-patterns {r} --sql "SELECT"', 2, "The query is not valid SQL: SELECT clause without selection list"),
    (
        'analyze-patterns {r} --sql "DROP TABLE decisions"',
        2,
        "Only a query that reads is allowed: one SELECT, WITH, FROM or SUMMARIZE.",
    ),
    (
        'analyze-patterns {r} --sql "SELECT * FROM nothing"',
        2,
        "The query failed: Catalog Error: Table with name nothing does not exist!",
    ),
    ('analyze-patterns {r} --sql ""', 2, "Give one query at a time."),
    ("analyze-patterns {r} --plot out.txt", 2, "--plot out.txt: write it to a file that ends in .svg or .png"),
    ("analyze-patterns {r} {r}", 2, "The same decisions were named twice: name each run once."),
    ("dashboard nowhere", 5, "nowhere"),
    ("dashboard {r} --web-port 0", 2, "Invalid value for '--web-port': Input should be greater than or equal to 1"),
    (
        "dashboard {r} --host 203.0.113.7",
        2,
        "--host 203.0.113.7: this machine has no such address (Cannot assign requested address)",
    ),
    (
        "dashboard {r} --host nothing.invalid",
        2,
        "--host nothing.invalid: this machine has no such address (Name or service not known)",
    ),
    (
        "dashboard {r} --web-host-name *",
        2,
        "--web-host-name *: is no host name: write the name alone, as page.example.org",
    ),
    ("models pull nothing", 2, "there is no model 'nothing' to fetch; there is smollm2"),
    ("models lst", 2, "No such command 'lst'. Did you mean 'list'?"),
    ("play --rom nowhere.gbc", 3, "check the path, or leave it out for the bundled game"),
    (
        "play --state nowhere.state",
        3,
        "--state: nowhere.state can't be read: No such file or directory; check the path",
    ),
    ("play --game nothing", 3, "No game 'nothing' is built in; there are crystal, quillwood. For another one name the"),
    ("world 1.2.3", 2, "no map is called '1.2.3'; see: pkmn world"),
    ("world nothing_such_place", 2, "no map is called 'nothing_such_place'; see: pkmn world"),
    ("world Alderbrook nothing_such", 2, "no map is called 'nothing_such'; see: pkmn world"),
    (
        "world --with fly_high",
        2,
        "--with 'fly_high': 'fly_high' is not a field move; choose from cut, surf, strength, whirlpool,",
    ),
    (
        "world --badges much",
        2,
        "--badges 'much': no badge is called 'much'; choose from Thorn, Tide, Cairn, or give a number",
    ),
    (
        "world --events nothing",
        2,
        "--events 'nothing': there is no flag 'nothing'; use a name of the profile, or 0 to",
    ),
    ("world --rom nowhere.gbc", 3, "check the path, or leave it out for the bundled game"),
    ("world --picture out.txt", 2, "--picture out.txt: a picture's name ends in .png, .gif, .jpg, .jpeg, .webp, .bmp"),
    ("world --with fly_high", 2, "fly_high"),
    ("world --badges much", 2, "much"),
]


def test_there_are_enough_of_every_command() -> None:
    commands = {line.split()[0] for line, _, _ in CASES}
    assert len(CASES) >= 150
    assert commands >= {"train", "eval", "replay", "plot", "compare", "experiment", "tune", "export", "bench", "llm"}
    assert commands >= {"doctor", "plugins", "analyze-patterns", "dashboard", "models", "play", "world"}


@pytest.mark.parametrize(("line", "code", "said"), CASES, ids=[line for line, _, _ in CASES])
def test_a_wrong_input(
    line: str, code: int, said: str, pkmn: Pkmn, shared_run: Callable[..., Path], tmp_path: Path
) -> None:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    run = shared_run() if "{r" in line else tmp_path
    words = {"{r}": str(run), "{runs}": str(run.parent), "{name}": run.name}
    arguments = [words.get(word, word.replace("{r}", str(run))) for word in shlex.split(line)]
    if arguments[0] == "train" and not {"--steps", "--resume"} & set(arguments):
        arguments.append("--steps=5")  # should a case be let through after all

    result = pkmn(*arguments)

    assert result.code == code, result
    *before, last = result.err.strip().splitlines()
    assert said in last, result.err
    assert len(last) < 3000
    assert "unexpected" not in result.err and "Traceback" not in result.err
    assert not before or before[0].startswith("Usage: "), "one line, or how the command is used and one line"
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").rglob("checkpoints")), "nothing has begun"

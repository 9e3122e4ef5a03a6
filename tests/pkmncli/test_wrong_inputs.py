"""Wrong inputs of the commands other than ``train``: the documented exit code, and a line that says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.wrong_inputs import assert_refused, wrong_inputs

CASES = [
    ("trian", 2, "No such command 'trian'. Did you mean 'train'?"),
    ("--colour", 2, "No such option: --colour"),
    ("--version=3", 2, "Option '--version' does not take a value. See: pkmn --help"),
    ("llm chat --llm", 2, "Option '--llm' requires an argument. See: pkmn llm chat --help"),
    ("llm --help=3", 2, "Option '--help' does not take a value. See: pkmn llm --help"),
    ("play --env balatro --seed", 2, "Option '--seed' requires an argument. See: pkmn play --help"),
    ("analyze-patterns --show", 2, "Option '--show' requires an argument. See: pkmn analyze-patterns --help"),
    ("eval nowhere", 5, "nowhere"),
    ("eval {r} --episodes 0", 2, "Invalid value for '--episodes': '0': must be at least 1"),
    (
        "eval {r} --mode everyone",
        2,
        "Invalid value for '--mode': 'everyone' is not one of 'rl-only', 'adaptive',",
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
    ("eval {r} --envs 0", 2, "Invalid value for '--envs': '0': must be at least 1"),
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
    ("replay {r} --speed 0", 2, "Invalid value for '--speed': '0': must be at least 0.1"),
    ("replay {r} --speed nan", 2, "Invalid value for '--speed': 'nan': must be at most 100"),
    ("replay {r} --from nothing_such", 2, "--from: choose how to show it: --video FILE, --terminal or --window"),
    ("replay {r} --beside nowhere", 2, "--beside: choose how to show it: --video FILE, --terminal or --window"),
    ("replay nowhere", 5, "nowhere"),
    ("plot nowhere", 5, "nowhere"),
    ("plot {r} --out out.txt", 2, "--out out.txt: write it to a file that ends in .html or .png"),
    ("plot {r} --metric nothing", 2, "no run has two values of the metric 'nothing'"),
    ("plot {r} --by nothing", 2, "no run has the setting 'nothing': see config.toml in a run's folder"),
    ("compare nowhere", 5, "nowhere"),
    ("compare {r} --last 0", 2, "Invalid value for '--last': '0': must be at least 1"),
    (
        "compare {r} --target much",
        2,
        "Invalid value for '--target': 'much': must be a number",
    ),
    (
        "compare {r} --format xml",
        2,
        "Invalid value for '--format': 'xml' is not one of 'table', 'json', 'csv',",
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
        "Invalid value for '--processes': '0': must be at least 1",
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
        "Invalid value for '--format': 'xlsx' is not one of 'csv', 'parquet', 'sqlite'.",
    ),
    ("export {r} --no-tables", 2, "nothing to export: leave out --no-tables, or add --policy"),
    ("export {r} --policy --checkpoint nothing", 5, "there are step-000000080, step-000000160, step-000000240"),
    (
        "export {r} --pretrained out --episodes 0",
        2,
        "Invalid value for '--episodes': '0': must be at least 1",
    ),
    ("bench nothing", 2, "Invalid value for 'parts': 'nothing' is not one of 'env', 'workers',"),
    (
        "bench env --env atari",
        2,
        "setting 'env' (option --env): there is no environment 'atari'. Known: balatro, gameboy, gym, pyboy.",
    ),
    ("bench env --rom nowhere.gbc", 3, "check the path, or leave it out for the bundled game"),
    ("llm sak", 2, "No such command 'sak'. Did you mean 'ask'?"),
    ("llm ask", 2, "no language model is chosen: give --llm with one of anthropic, huggingface, local,"),
    (
        "llm ask --llm nothing",
        2,
        "setting 'llm' (option --llm): there is no llm backend 'nothing'; a model is named after its backend",
    ),
    ("llm ask --llm scripted --set scripted.file=nowhere.toml", 4, "can't be read: No such file or directory"),
    (
        "llm models --llm nothing",
        2,
        "setting 'llm' (option --llm): there is no llm backend 'nothing'; a model is named after its backend",
    ),
    (
        "doctor --llm nothing",
        2,
        "setting 'llm' (option --llm): there is no llm backend 'nothing'; a model is named after its backend",
    ),
    ("doctor --run nowhere", 5, "nowhere"),
    ("doctor --llm [/x]", 2, "setting 'llm' (option --llm): there is no llm backend '[/x]'"),
    ("doctor --limit -1", 2, "Invalid value for '--limit': '-1': must be at least 0"),
    ("plugins show nothing", 2, "no plugin brings 'nothing'. See: pkmn plugins"),
    ("plugins check nothing", 2, "no plugin brings 'nothing'. See: pkmn plugins"),
    ("plugins shwo", 2, "No such command 'shwo'. Did you mean 'show'?"),
    ("analyze-patterns nowhere", 5, "nowhere"),
    ("analyze-patterns file.txt", 5, "file.txt"),
    (
        "analyze-patterns {r} --show nothing",
        2,
        "Invalid value for '--show': 'nothing' is not one of 'patterns', 'sources',",
    ),
    ("analyze-patterns {r} --limit 99999999999999999999", 2, "--limit"),
    (
        "analyze-patterns {r} --min-frequency 0",
        2,
        "Invalid value for '--min-frequency': '0': must be at least 1",
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
        "Invalid value for '--source': 'me' is not one of 'rl', 'explore', 'rule',",
    ),
    (
        "analyze-patterns {r} --by planet",
        2,
        "Invalid value for '--by': 'planet' is not one of 'map', 'tile', 'phase',",
    ),
    (
        "analyze-patterns {r} --sort luck",
        2,
        "Invalid value for '--sort': 'luck' is not one of 'success', 'frequency',",
    ),
    ("analyze-patterns {r} --limit 0", 2, "Invalid value for '--limit': '0': must be at least 1"),
    ("analyze-patterns {r} --length 9", 2, "--length 9: write a number from 2 to 6, or two as 2-4"),
    ("analyze-patterns {r} --length 4-2", 2, "--length 4-2: write a number from 2 to 6, or two as 2-4"),
    ("analyze-patterns {r} --length x", 2, "--length x: write a number from 2 to 6, or two as 2-4"),
    (
        "analyze-patterns {r} --format xml",
        2,
        "Invalid value for '--format': 'xml' is not one of 'table', 'json', 'csv',",
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
    ("dashboard {r} --web-port 0", 2, "Invalid value for '--web-port': '0': must be at least 1"),
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
    (
        "dashboard {r} --web-root-path page",
        2,
        "--web-root-path page: is no folder of an address: write it as /user/me/page",
    ),
    ("models pull nothing", 2, "there is no model 'nothing' to fetch; there is smollm2"),
    ("models lst", 2, "No such command 'lst'. Did you mean 'list'?"),
    ("play --env balatro --seed -1", 2, "Invalid value for '--seed': '-1': must be at least 0. See: pkmn play --help"),
    ("play --rom nowhere.gbc", 3, "check the path, or leave it out for the bundled game"),
    ("runs prun", 2, "No such command 'prun'. Did you mean 'prune'?"),
    ("runs --format xml", 2, "Invalid value for '--format': 'xml' is not one of 'table', 'json', 'csv', 'markdown'."),
    ("runs size nowhere", 5, "no run 'nowhere'"),
    ("runs tag {r} 'two words'", 2, "tag 'two words': use letters, digits, '.', '_', '+' and '-'"),
    ("runs rename {r} ../elsewhere", 2, "run name '../elsewhere': use letters, digits, '.', '_', '+' and '-', without"),
    ("runs prune {r} --keep -1", 2, "Invalid value for '--keep': '-1': must be at least 0"),
    ("runs prune {r} --older-than soon", 2, "--older-than 'soon': give hours, days or weeks, as 12h, 30d or 8w"),
    ("init file.txt", 2, "file.txt exists already and is not overwritten: name another file"),
    ("init new.toml --rl dqnn", 2, "there is no algorithm 'dqnn'; did you mean 'dqn'?"),
    ("init nowhere/new.toml", 2, "new.toml can't be written: No such file or directory; name another file"),
    ("states nowhere", 2, "there is no file or folder nowhere"),
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
]


def test_every_command_has_some() -> None:
    commands = {line.split()[0] for line, _, _ in CASES}
    assert commands >= {"eval", "replay", "plot", "compare", "experiment", "tune", "export", "bench", "llm", "doctor"}
    assert commands >= {"plugins", "analyze-patterns", "dashboard", "models", "play", "world"}
    assert commands >= {"runs", "init", "states"}


@wrong_inputs(CASES)
def test_a_wrong_input(
    line: str, code: int, said: str, pkmn: Callable[..., Any], shared_run: Callable[..., Path], tmp_path: Path
) -> None:
    assert_refused((line, code, said), pkmn, shared_run, tmp_path)

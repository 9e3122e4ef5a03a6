"""Model card of a shared run: the page of its repository on the Hugging Face hub, made of what is in the bundle."""

from __future__ import annotations

import json
import math
import re
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pkmncli.comparison.compared_runs import ComparedRun, evaluations_of
from pkmncli.config import CONFIG_FILE, NONE
from pkmncli.config.run_file import read_run_file
from pkmncli.config.sources import CORE, DEFAULT
from pkmncli.errors import RunError
from pkmncli.outgoing_text import redact
from pkmncli.run_upkeep.bundle import DESCRIPTION
from pkmncli.runs import Run
from pkmncli.tables import markdown
from pkmncli.training.display.verdict import rows_of

_VERSIONS = ("pkmncli", "python", "torch", "gymnasium", "pyboy")
_OF_THE_TASK = ("gym.id", "max_steps_per_episode", "reward", "mode")
_OF_THE_PLACE = frozenset({"run_name", "save_dir", "quiet"})
"""Settings that say nothing about what was learned."""
_NO_NAMES: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class SharedRun:
    """Facts of a bundle that its card tells."""

    name: str
    checkpoint: str
    reward: float | None
    """Mean reward of its best evaluation while it trained; None if there was none."""
    versions: Mapping[str, Any]
    settings: Mapping[str, Any]
    """Values by ``key`` or ``section.key``, as they are in the bundle, without those that are not set."""
    given: frozenset[str]
    """Names of the settings that are not defaults."""
    names: Mapping[str, Any]
    result: Mapping[str, Any] | None
    """Latest evaluation of the trained side with this checkpoint, else with another; None if there is none."""
    film: str | None
    """Name of its film in the bundle: of the learner alone, else the last one by name."""

    @property
    def learner(self) -> str:
        """Name of what was trained, or of the rules if nothing was."""
        return str(self.settings["pilot"] if self.settings["rl"] == NONE else self.settings["rl"])

    @property
    def game(self) -> str:
        """Name of the game or environment."""
        return str(self.names.get("game") or self.settings["env"])


def shared_run(run: Run, bundle: Path) -> SharedRun:
    """Return what a card tells of a run whose bundle was just written.

    Raises:
        RunError: an evaluation is damaged.
    """
    with zipfile.ZipFile(bundle) as archive, tempfile.TemporaryDirectory(prefix="pkmn-") as scratch:
        archive.extract(CONFIG_FILE, scratch)
        values = [one for one in read_run_file(Path(scratch)).given if one.value is not None]
        files = archive.namelist()
        about = json.loads(archive.read(DESCRIPTION))
        names = json.loads(archive.read(run.names_file.name)) if run.names_file.name in files else _NO_NAMES
    by_name = {one.key if one.section == CORE else f"{one.section}.{one.key}": one for one in values}
    settings = {name: one.value for name, one in by_name.items()}
    results = list(evaluations_of(ComparedRun(run, settings)))
    of_it = [one for one in results if one.get("checkpoint") == about["checkpoint"]]
    films = sorted(name for name in files if "/" not in name and name.endswith((".mp4", ".gif")))
    alone = [name for name in films if name.startswith("learner_alone")]
    return SharedRun(
        name=about["run"],
        checkpoint=about["checkpoint"],
        reward=(about["score"] or {}).get("reward"),
        versions=about["versions"],
        settings=settings,
        given=frozenset(name for name, one in by_name.items() if one.origin != DEFAULT),
        names=names,
        result=next(iter(of_it or results), None),
        film=next(iter(alone or films[::-1]), None),
    )


def model_card(shared: SharedRun, repository: str, film: str | None) -> str:
    """Return the card in Markdown.

    Args:
        shared: facts of the bundle.
        repository: ``USER/NAME``.
        film: name of the film in the repository; None if there is none.

    Raises:
        RunError: it would tell a secret.
    """
    parts = [
        f"---\n{_metadata(shared)}\n---",
        f"# {_plain(shared.learner)} on {_plain(shared.game)}",
        f"A run of pkmncli, shared by `pkmn export --bundle hf:{repository}`.",
    ]
    if film is not None:
        parts.append(f"![An episode]({film})" if film.endswith(".gif") else f"[A film of an episode]({film})")
    parts += [
        "## Score\n\n" + _score(shared),
        "## Play it\n\n" + _how_to_play(shared, repository),
        "## Environment\n\n" + _environment(shared),
        "## Settings\n\n" + _settings(shared),
    ]
    text = "\n\n".join(parts) + "\n"
    if redact(text) != text:
        raise RunError("the model card would tell a secret, which is in a setting or a name: take it out of the run")
    return text


def _metadata(shared: SharedRun) -> str:
    """Return the card's head in YAML, with the mean reward as the hub's pages show it."""
    library: Any = import_module("huggingface_hub")
    results = []
    if shared.result is not None:
        reward = f"{shared.result['avg_reward']:.2f} +/- {shared.result['std_reward']:.2f}"
        results = [
            library.EvalResult(
                task_type="reinforcement-learning",
                dataset_type=shared.game,
                dataset_name=shared.game,
                metric_type="mean_reward",
                metric_value=reward,
            )
        ]
    data = library.ModelCardData(
        library_name="pkmncli",
        pipeline_tag="reinforcement-learning",
        tags=["reinforcement-learning", "pkmncli", shared.learner, str(shared.settings["env"])],
        model_name=shared.learner,
        eval_results=results or None,
    )
    return str(data.to_yaml())


def _score(shared: SharedRun) -> str:
    result = shared.result
    if result is None:
        while_training = "" if shared.reward is None else f" While it trained, it earned {shared.reward:,.1f} at best."
        return f"The run was not evaluated.{while_training} `pkmn eval {shared.name}` does."
    pilot_alone = shared.settings["rl"] == NONE
    players = {"pilot" if pilot_alone else "learner_alone": result}
    players |= {name: result[name] for name in ("pilot", "random") if name in result and name not in players}
    headings, *rows = rows_of(players)
    episodes, deviation = int(result["episodes"]), float(result["std_reward"])
    half = 1.96 * deviation / math.sqrt(episodes)
    mean = float(result["avg_reward"])
    lines = [
        f"Of {result['checkpoint']}, in {episodes} episodes from start states that it was not trained on:",
        markdown([headings[0] or "player", *headings[1:]], rows),
        f"Its mean reward is {mean:,.1f}, with 1.96 standard errors {mean - half:,.1f} to {mean + half:,.1f}.",
    ]
    if result["checkpoint"] != shared.checkpoint:
        lines.append(f"The bundle holds {shared.checkpoint}, which was not evaluated.")
    return "\n\n".join(lines)


def _how_to_play(shared: SharedRun, repository: str) -> str:
    return f"""```
pip install 'pkmncli[hub]'
pkmn import hf:{repository}
pkmn watch {shared.name}
pkmn replay {shared.name}
pkmn eval {shared.name}
pkmn train --start-from {shared.name}
```

The last four play it now, check its best episode step by step, measure it, and train on from its weights."""


def _environment(shared: SharedRun) -> str:
    settings, names = shared.settings, shared.names
    rows = [["environment", _code(settings["env"])], ["game", _plain(shared.game)]]
    if names.get("goal"):
        rows.append(["goal", _code(names["goal"])])
    rows += [[key, _code(settings[key])] for key in _OF_THE_TASK if key in settings]
    rows += [[name, _code(shared.versions[name])] for name in _VERSIONS if name in shared.versions]
    text = markdown(["", "value"], rows)
    image = (names.get("identity") or {}).get("image")
    if "rom_path" in settings and image:
        text += (
            f"\n\nThe game's image is not in here. The run needs your own image with SHA-1 {_code(image)}: "
            "`pkmn eval --rom FILE`."
        )
    elif "env_class" in settings:
        text += f"\n\nThe class {_code(settings['env_class'])} is not in here: it has to be importable."
    return text


def _settings(shared: SharedRun) -> str:
    rows = [
        [_code(name), _code(value)] for name, value in shared.settings.items() if name in shared.given - _OF_THE_PLACE
    ]
    table = markdown(["setting", "value"], rows) if rows else ""
    ending = "All others are the defaults of that version. The bundle's `config.toml` has them all."
    return f"{table}\n\n{ending}".strip()


def _plain(text: object) -> str:
    """Return a text in which Markdown finds nothing."""
    return re.sub(r"([\\`*_\[\]<>#|!])", r"\\\1", " ".join(str(text).split()))


def _code(value: object) -> str:
    """Return a value as code, in which nothing is read as Markdown."""
    text = " ".join((value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)).split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}" if text else '""'

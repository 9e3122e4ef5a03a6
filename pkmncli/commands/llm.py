"""Command `pkmn llm`: ask a language model by hand, list models, and what else concerns models."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from pkmncli.advice.build import build_asked, build_backend, build_choice, build_client
from pkmncli.advice.journal import member_values
from pkmncli.api import ActionNames
from pkmncli.command_forms import command_group, with_options
from pkmncli.commands.llm_chat import Conversation, converse
from pkmncli.commands.llm_logs import advice_in_words, logs
from pkmncli.commands.llm_names import aliases, keys
from pkmncli.commands.llm_scene import opened_scene
from pkmncli.config import NONE, ResolvedSettings, resolve_settings
from pkmncli.core_commands import CORE_COMMANDS
from pkmncli.diagnostics import say
from pkmncli.errors import ConfigurationError, LLMConnectionError
from pkmncli.llm.client import Answer
from pkmncli.llm.prompts import Prompt
from pkmncli.plugins import Registry, get_registry
from pkmncli.training.compatibility import fit_pilot
from pkmncli.training.display.progress import waiting

_MODEL, _SITUATION, _OUTPUT, _SETTINGS = "Language model", "Situation", "Output", "Settings"


llm = command_group("llm", CORE_COMMANDS["llm"])

_QUESTION: Mapping[str, Any] = {
    "llm": Annotated[str | None, typer.Option(help="Language model backend.", rich_help_panel=_MODEL)],
    "llm_model": Annotated[
        str | None, typer.Option(help="Language model. [default: the backend's choice]", rich_help_panel=_MODEL)
    ],
    "llm_extra": Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="Further field of the request, as top_k=20; repeatable.", rich_help_panel=_MODEL
        ),
    ],
    "state": Annotated[
        Path | None,
        typer.Option(
            readable=False, help="Saved state to ask about. [default: the game's start]", rich_help_panel=_SITUATION
        ),
    ],
    "env": Annotated[
        str | None, typer.Option(help="Environment to ask about. [default: pyboy]", rich_help_panel=_SITUATION)
    ],
    "rom": Annotated[
        Path | None,
        typer.Option(readable=False, help="Cartridge image. [default: the bundled game]", rich_help_panel=_SITUATION),
    ],
    "game": Annotated[
        str | None, typer.Option(help="Game profile. [default: the game of the image]", rich_help_panel=_SITUATION)
    ],
    "llm_prompt": Annotated[
        Path | None, typer.Option(help="Your own prompt template, a TOML file.", rich_help_panel=_MODEL)
    ],
    "llm_vision": Annotated[
        bool | None, typer.Option("--llm-vision", help="Send the screen to a model that sees.", rich_help_panel=_MODEL)
    ],
    "llm_timeout_s": Annotated[
        float | None, typer.Option(help="Seconds to wait for the answer. [default: 30]", rich_help_panel=_MODEL)
    ],
    "llm_load_timeout_s": Annotated[
        float | None,
        typer.Option(
            help="Seconds to wait while the model loads. [default: ten times --llm-timeout-s]", rich_help_panel=_MODEL
        ),
    ],
    "llm_temperature": Annotated[
        float | None, typer.Option(help="Randomness of the answer. [default: 0]", rich_help_panel=_MODEL)
    ],
    "llm_reply_tokens": Annotated[
        int | None, typer.Option(help="Longest reply, in tokens. [default: 300]", rich_help_panel=_MODEL)
    ],
    "seed": Annotated[
        int | None, typer.Option(help="Seed, as in a training. [default: 0]", rich_help_panel=_SITUATION)
    ],
}
"""Options of a question, by parameter."""

_SETTINGS_OF = {"state": "init_state", "rom": "rom_path"}
"""Settings of the options that have other names."""

_Config = Annotated[Path | None, typer.Option(help="Settings file, TOML or JSON.", rich_help_panel=_SETTINGS)]
_Sets = Annotated[
    list[str] | None, typer.Option("--set", help="A plugin's setting; repeatable.", rich_help_panel=_SETTINGS)
]


def _of_a_question(command: Callable[..., None]) -> Callable[..., None]:
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _QUESTION.items()
    ]
    return with_options(command, added, (_MODEL, _SITUATION, _OUTPUT, _SETTINGS))


@llm.command()
@_of_a_question
def ask(
    *,
    llm_ensemble: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODELS",
            help="Models to ask together, instead of --llm: BACKEND:MODEL,BACKEND:MODEL.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    prompt_only: Annotated[
        bool, typer.Option("--prompt-only", help="Show the prompt without sending it.", rich_help_panel=_OUTPUT)
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print prompt, reply and advice as JSON.", rich_help_panel=_OUTPUT)
    ] = False,
    config: _Config = None,
    set_: _Sets = None,
    **question: Any,
) -> None:
    """Send one question about a state of the game, and show prompt, reply and the advice read from it."""
    registry = get_registry()
    question["llm_ensemble"] = llm_ensemble or None
    settings = _settings(question, config, set_, registry, model_needed=not prompt_only)
    with waiting("starting the environment"), opened_scene(settings, registry) as scene:
        view, form = scene.look(), scene.form
    prompt = view.prompt
    if prompt_only:
        typer.echo(json.dumps(asdict(prompt)) if as_json else f"{prompt.system}\n\n{prompt.text}")
        return
    with waiting("waiting for the language model"):
        client = build_asked(settings, registry, waits=True, report=say, tell=say, form=form)
        try:
            answer = client.ask(view.request)
        finally:
            client.close()
    choice = build_choice(settings, form)
    if choice is not None:
        answer = choice.choose(answer, None)
    typer.echo(_as_json(prompt, answer) if as_json else _as_text(prompt, answer, form.actions))
    if answer.fault is not None:
        raise LLMConnectionError(f"No answer: {answer.problem}")


@llm.command()
@_of_a_question
def chat(*, config: _Config = None, set_: _Sets = None, **question: Any) -> None:
    """Talk with a model about a state of an environment and the skills there: a line of the standard input each."""
    registry = get_registry()
    settings = _settings(question, config, set_, registry)
    with ExitStack() as stack:
        with waiting("starting the environment"):
            scene = stack.enter_context(opened_scene(settings, registry))
        client = stack.enter_context(closing(build_client(settings, registry, report=say, tell=say, form=scene.form)))
        converse(Conversation(client, scene, settings.train.max_context_length))


@llm.command()
def models(
    llm: Annotated[str, typer.Option(help="Language model backend.")],
    *,
    config: Annotated[Path | None, typer.Option(help="Settings file, TOML or JSON.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="A plugin's setting; repeatable.")] = None,
) -> None:
    """List the models that a backend could ask."""
    registry = get_registry()
    settings = resolve_settings({"llm": llm}, registry=registry, config_path=config, sets=set_ or ())
    if settings.train.llm == NONE:
        raise ConfigurationError(f"no language model is chosen: give --llm with one of {_backends(registry)}")
    backend = build_backend(settings, registry, say)
    try:
        names = backend.models()
    finally:
        backend.close()
    typer.echo("\n".join(names) if names else f"{llm} names no models")


llm.command("logs")(logs)
llm.add_typer(aliases)
llm.add_typer(keys)


def _settings(
    question: Mapping[str, Any],
    config: Path | None,
    sets: Sequence[str] | None,
    registry: Registry,
    *,
    model_needed: bool = True,
) -> ResolvedSettings:
    options = {_SETTINGS_OF.get(name, name): value for name, value in question.items()}
    options["llm_extra"] = options["llm_extra"] or None
    given = {**options, "mode": "llm-only", "rl": NONE}
    settings = resolve_settings(given, registry=registry, config_path=config, sets=sets or ())
    settings = fit_pilot(settings, registry)
    if settings.train.llm == NONE and model_needed:
        raise ConfigurationError(f"no language model is chosen: give --llm with one of {_backends(registry)}")
    return settings


def _backends(registry: Registry) -> str:
    return ", ".join(sorted(entry.name for entry in registry.registrations("llm_backends")))


def _as_json(prompt: Prompt, answer: Answer) -> str:
    values: dict[str, Any] = {
        "system": prompt.system,
        "prompt": prompt.text,
        "dropped": prompt.dropped,
        "replies": [asdict(reply) for reply in answer.replies],
        "reading": answer.reading,
        "problem": answer.problem,
        "advice": None if answer.advice is None else asdict(answer.advice),
        "cached": answer.cached,
        "latency_s": round(answer.latency_s, 3),
    }
    if answer.members:
        values["members"] = [member_values(name, one, agreed=name in answer.backers) for name, one in answer.members]
    return json.dumps(values, indent=2, default=str)


def _as_text(prompt: Prompt, answer: Answer, names: ActionNames) -> str:
    lines = ["--- asked ---", prompt.system, "", prompt.text]
    for name, one in answer.members or (("", answer),):
        for reply in one.replies:
            tokens = f"{reply.prompt_tokens} + {reply.completion_tokens} tokens, {reply.latency_s:.2f} s"
            lines += ["", f"--- answered by {name or reply.model}, {tokens} ---", reply.text]
        if name and one.advice is None:
            lines += ["", f"--- no advice from {name}: {one.problem} ---"]
    whose = f", as {' and '.join(answer.backers)} said" if answer.backers else ""
    lines += ["", f"--- understood{whose} ---"]
    if answer.advice is None:
        lines.append(f"nothing: {answer.problem}")
    else:
        lines += [advice_in_words(answer.advice, names), f"(read by {answer.reading})"]
    return "\n".join(lines)

"""Command `pkmn llm`: ask a language model by hand, or list the models of a backend."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from pkmncli.advice.build import advice_seed, build_backend, build_client
from pkmncli.api import ActionNames, Advice, LLMRequest
from pkmncli.config import NONE, ResolvedSettings, resolve_settings
from pkmncli.diagnostics import say
from pkmncli.errors import ConfigurationError, LLMConnectionError
from pkmncli.llm.client import Answer
from pkmncli.llm.prompts import Prompt, PromptTemplate, Question, game_in_words
from pkmncli.llm.replies import ReplyForm
from pkmncli.plugins import Registry, get_registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import worker_spec
from pkmncli.training.workers.pool import WorkerPool

_MODEL, _SITUATION, _OUTPUT, _SETTINGS = "Language model", "Situation", "Output", "Settings"


llm = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help="Ask a language model by hand, or list a backend's models.",
)


@llm.command()
def ask(
    llm: Annotated[str | None, typer.Option(help="Language model backend.", rich_help_panel=_MODEL)] = None,
    *,
    llm_model: Annotated[
        str | None, typer.Option(help="Language model. [default: the backend's choice]", rich_help_panel=_MODEL)
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            readable=False, help="Saved state to ask about. [default: the game's start]", rich_help_panel=_SITUATION
        ),
    ] = None,
    rom: Annotated[
        Path | None,
        typer.Option(readable=False, help="Cartridge image. [default: the bundled game]", rich_help_panel=_SITUATION),
    ] = None,
    game: Annotated[
        str | None, typer.Option(help="Game profile. [default: the game of the image]", rich_help_panel=_SITUATION)
    ] = None,
    llm_prompt: Annotated[
        Path | None, typer.Option(help="Your own prompt template, a TOML file.", rich_help_panel=_MODEL)
    ] = None,
    llm_vision: Annotated[
        bool, typer.Option("--llm-vision", help="Send the screen to a model that sees.", rich_help_panel=_MODEL)
    ] = False,
    llm_timeout_s: Annotated[
        float | None, typer.Option(help="Seconds to wait for the answer. [default: 30]", rich_help_panel=_MODEL)
    ] = None,
    llm_load_timeout_s: Annotated[
        float | None,
        typer.Option(
            help="Seconds to wait while the model loads. [default: ten times --llm-timeout-s]", rich_help_panel=_MODEL
        ),
    ] = None,
    llm_temperature: Annotated[
        float | None, typer.Option(help="Randomness of the answer. [default: 0]", rich_help_panel=_MODEL)
    ] = None,
    llm_reply_tokens: Annotated[
        int | None, typer.Option(help="Longest reply, in tokens. [default: 300]", rich_help_panel=_MODEL)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed, as in a training. [default: 0]", rich_help_panel=_SITUATION)
    ] = None,
    prompt_only: Annotated[
        bool, typer.Option("--prompt-only", help="Show the prompt without sending it.", rich_help_panel=_OUTPUT)
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print prompt, reply and advice as JSON.", rich_help_panel=_OUTPUT)
    ] = False,
    config: Annotated[Path | None, typer.Option(help="Settings file, TOML or JSON.", rich_help_panel=_SETTINGS)] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A plugin's setting; repeatable.", rich_help_panel=_SETTINGS)
    ] = None,
) -> None:
    """Send one question about a state of the game, and show prompt, reply and the advice read from it."""
    registry = get_registry()
    options = {
        "llm": llm,
        "llm_model": llm_model,
        "init_state": state,
        "rom_path": rom,
        "game": game,
        "llm_prompt": llm_prompt,
        "llm_vision": llm_vision or None,
        "llm_timeout_s": llm_timeout_s,
        "llm_load_timeout_s": llm_load_timeout_s,
        "llm_temperature": llm_temperature,
        "llm_reply_tokens": llm_reply_tokens,
        "seed": seed,
        "mode": "llm-only",
        "rl": NONE,
    }
    settings = resolve_settings(options, registry=registry, config_path=config, sets=set_ or ())
    if settings.train.llm == NONE and not prompt_only:
        raise ConfigurationError(f"no language model is chosen: give --llm with one of {_backends(registry)}")
    prompt, images, form = _prompt(settings, registry)
    if prompt_only:
        typer.echo(json.dumps(asdict(prompt)) if as_json else f"{prompt.system}\n\n{prompt.text}")
        return
    client = build_client(settings, registry, report=say, tell=say, form=form)
    try:
        answer = client.ask(
            LLMRequest(
                system=prompt.system,
                prompt=prompt.text,
                schema=form.schema,
                images=images,
                max_tokens=settings.train.llm_reply_tokens,
                temperature=settings.train.llm_temperature,
                seed=advice_seed(settings),
                timeout_s=settings.train.llm_timeout_s,
            )
        )
    finally:
        client.close()
    typer.echo(_as_json(prompt, answer) if as_json else _as_text(prompt, answer, form.actions))
    if answer.fault is not None:
        raise LLMConnectionError(f"No answer: {answer.problem}")


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


def _backends(registry: Registry) -> str:
    return ", ".join(sorted(entry.name for entry in registry.registrations("llm_backends")))


def _prompt(settings: ResolvedSettings, registry: Registry) -> tuple[Prompt, tuple[bytes, ...], ReplyForm]:
    most = settings.train.max_context_length
    with WorkerPool(worker_spec(settings, registry, Purpose.ADVICE, num_envs=1)) as pool:
        pool.reset()
        images = (pool.picture(0),) if settings.train.llm_vision else ()
        form = ReplyForm(pool.skills, pool.action_names)
        question = Question(pool.context(0), form=form, game=game_in_words(pool.names))
        return PromptTemplate.load(settings.train.llm_prompt, most, form).fill(question, most), images, form


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
    return json.dumps(values, indent=2, default=str)


def _as_text(prompt: Prompt, answer: Answer, names: ActionNames) -> str:
    lines = ["--- asked ---", prompt.system, "", prompt.text]
    for reply in answer.replies:
        tokens = f"{reply.prompt_tokens} + {reply.completion_tokens} tokens, {reply.latency_s:.2f} s"
        lines += ["", f"--- answered by {reply.model}, {tokens} ---", reply.text]
    lines += ["", "--- understood ---"]
    if answer.advice is None:
        lines.append(f"nothing: {answer.problem}")
    else:
        lines += [_in_words(answer.advice, names), f"(read by {answer.reading})"]
    return "\n".join(lines)


def _in_words(advice: Advice, names: ActionNames) -> str:
    arguments = ", ".join(f"{name} {value}" for name, value in advice.arguments.items())
    what = " ".join(part for part in (advice.skill or "press", arguments, names.in_words(advice.presses)) if part)
    return f"{what}: {advice.goal} (confidence {advice.confidence:.2f})\n{advice.reason}"

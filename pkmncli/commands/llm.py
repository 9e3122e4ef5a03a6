"""`pkmn llm`: asks a language model by hand, and lists the models of a backend."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from pkmncli.advice.build import advice_seed, build_backend, build_client
from pkmncli.api import Action, Advice, LLMRequest
from pkmncli.config import NONE, ResolvedSettings, resolve_settings
from pkmncli.diagnostics import say
from pkmncli.errors import ConfigurationError, LLMConnectionError
from pkmncli.llm.client import Answer
from pkmncli.llm.prompts import Prompt, PromptTemplate, Question
from pkmncli.llm.replies import ADVICE_SCHEMA
from pkmncli.plugins import Registry, get_registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import worker_spec
from pkmncli.training.workers.pool import WorkerPool

llm = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help="Ask a language model by hand, or list a backend's models.",
)


@llm.command()
def ask(
    llm: Annotated[str | None, typer.Option(help="Language model backend.")] = None,
    *,
    llm_model: Annotated[str | None, typer.Option(help="Language model. [default: the backend's choice]")] = None,
    state: Annotated[
        Path | None, typer.Option(readable=False, help="Saved state to ask about. [default: the game's start]")
    ] = None,
    rom: Annotated[
        Path | None, typer.Option(readable=False, help="Cartridge image. [default: the bundled game]")
    ] = None,
    game: Annotated[str | None, typer.Option(help="Game profile. [default: told by the image]")] = None,
    llm_prompt: Annotated[Path | None, typer.Option(help="Prompt template of your own.")] = None,
    llm_vision: Annotated[bool, typer.Option("--llm-vision", help="Send the screen to a model that sees.")] = False,
    llm_timeout_s: Annotated[float | None, typer.Option(help="Seconds to wait for the answer. [default: 30]")] = None,
    llm_load_timeout_s: Annotated[
        float | None, typer.Option(help="Seconds to wait while the model loads. [default: ten times --llm-timeout-s]")
    ] = None,
    llm_temperature: Annotated[float | None, typer.Option(help="How freely it answers. [default: 0]")] = None,
    llm_reply_tokens: Annotated[int | None, typer.Option(help="Longest reply, in tokens. [default: 300]")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed, as that of a training. [default: 0]")] = None,
    prompt_only: Annotated[
        bool, typer.Option("--prompt-only", help="Show what would be asked, and ask nobody.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print prompt, reply and advice as JSON.")] = False,
    config: Annotated[Path | None, typer.Option(help="Settings file, TOML or JSON.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="A plugin's setting; repeatable.")] = None,
) -> None:
    """Send one question about a state of the game, and show prompt, reply and what is made of it."""
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
    prompt, images = _prompt(settings, registry)
    if prompt_only:
        typer.echo(json.dumps(asdict(prompt)) if as_json else f"{prompt.system}\n\n{prompt.text}")
        return
    client = build_client(settings, registry, report=say, tell=say)
    try:
        answer = client.ask(
            LLMRequest(
                system=prompt.system,
                prompt=prompt.text,
                schema=ADVICE_SCHEMA,
                images=images,
                max_tokens=settings.train.llm_reply_tokens,
                temperature=settings.train.llm_temperature,
                seed=advice_seed(settings),
                timeout_s=settings.train.llm_timeout_s,
            )
        )
    finally:
        client.close()
    typer.echo(_as_json(prompt, answer) if as_json else _as_text(prompt, answer))
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


def _prompt(settings: ResolvedSettings, registry: Registry) -> tuple[Prompt, tuple[bytes, ...]]:
    template = PromptTemplate.load(settings.train.llm_prompt, settings.train.max_context_length)
    with WorkerPool(worker_spec(settings, registry, Purpose.ADVICE, num_envs=1)) as pool:
        pool.reset()
        images = (pool.picture(0),) if settings.train.llm_vision else ()
        return template.fill(Question(pool.context(0)), settings.train.max_context_length), images


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


def _as_text(prompt: Prompt, answer: Answer) -> str:
    lines = ["--- asked ---", prompt.system, "", prompt.text]
    for reply in answer.replies:
        tokens = f"{reply.prompt_tokens} + {reply.completion_tokens} tokens, {reply.latency_s:.2f} s"
        lines += ["", f"--- answered by {reply.model}, {tokens} ---", reply.text]
    lines += ["", "--- understood ---"]
    if answer.advice is None:
        lines.append(f"nothing: {answer.problem}")
    else:
        lines += [_in_words(answer.advice), f"(read by {answer.reading})"]
    return "\n".join(lines)


def _in_words(advice: Advice) -> str:
    presses = ", ".join(Action(press).name.lower() for press in advice.presses)
    arguments = ", ".join(f"{name} {value}" for name, value in advice.arguments.items())
    what = " ".join(part for part in (advice.skill or "press", arguments, presses) if part)
    return f"{what}: {advice.goal} (confidence {advice.confidence:.2f})\n{advice.reason}"

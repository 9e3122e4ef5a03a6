"""Command ``pkmn plugins``: list, show, check and write plugins, with their settings and problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from pkmncli import plugins as plugin_system
from pkmncli.command_forms import AsJson, command_group
from pkmncli.diagnostics import debug_enabled, one_line
from pkmncli.errors import EXIT_USAGE, ConfigurationError, PkmnError, PluginError, did_you_mean
from pkmncli.plugins import DISABLE_VARIABLE, SINGULAR, Plugin, Registration, Registry
from pkmncli.tables import table, terminal_columns
from pkmncli.version import API_VERSION

plugins = command_group("plugins", "Show what plugins are installed and what they bring.", needs_command=False)


@plugins.callback(invoke_without_command=True)
def list_plugins(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Show what plugins are installed and what they bring."""
    if ctx.invoked_subcommand is not None:
        return
    registry = plugin_system.get_registry(strict=False)
    if as_json:
        print(json.dumps(_listing(registry), indent=2))
    else:
        _print_listing(registry)
    if plugin_system.strict_plugins() and registry.problems:
        raise typer.Exit(EXIT_USAGE)


@plugins.command("show")
def show_plugin(
    name: Annotated[str, typer.Argument(help="Name that a plugin registered, such as dqn; or a plugin's name.")],
    as_json: AsJson = False,
) -> None:
    """Show one name: its origin, whether it can be used, and its settings."""
    registry = plugin_system.get_registry(strict=False)
    entries = [entry for entry in registry.registrations() if entry.name == name]
    owners = [plugin for plugin in registry.plugins if plugin.name == name] if not entries else []
    if not entries and not owners:
        raise PluginError(_unknown(registry, name))
    if as_json:
        found = [_details(registry, entry) for entry in entries] + [_plugin(plugin) for plugin in owners]
        print(json.dumps(found, indent=2))
        return
    console = Console(highlight=False, soft_wrap=terminal_columns() is None)
    for number, entry in enumerate(entries):
        if number:
            console.print()
        _print_details(_details(registry, entry), console)
    for plugin in owners:
        _print_plugin(registry, plugin, console)


@plugins.command("check")
def check_plugins(
    name: Annotated[
        str | None, typer.Argument(help="A plugin's name, or a name that it registered, such as dqn. [default: all]")
    ] = None,
) -> None:
    """Try everything that plugins bring: targets, contracts, settings and presets, and parts on a few real steps.

    A language model is asked a question of one word if its plugin is named.
    """
    registry = plugin_system.get_registry(strict=False)
    owners = [plugin for plugin in registry.plugins if name in (None, plugin.name)]
    owners = owners or [entry.plugin for entry in registry.registrations() if entry.name == name]
    if not owners:
        raise PluginError(_unknown(registry, name or ""))
    verdicts = [_check(registry, plugin, ask=name is not None) for plugin in dict.fromkeys(owners)]
    if not all(verdicts):
        raise typer.Exit(EXIT_USAGE)


@plugins.command("new")
def new_plugin(
    name: Annotated[str, typer.Argument(help="Name of the plugin, such as coin-hunt.")],
    kind: Annotated[
        str,
        typer.Option(
            help="Kinds of parts, with commas between them: reward, strategy, llm, learner, environment, analyzer, "
            "command, pilot, encoder."
        ),
    ],
    dir_: Annotated[Path, typer.Option("--dir", help="Folder in which the package's folder is made.")] = Path(),
) -> None:
    """Write the package of a new plugin, with a part of each kind and tests that pass.

    A folder that exists is not overwritten.
    """
    from pkmncli.new_plugin.writer import kinds_in, write_plugin  # noqa: PLC0415 - only for who writes plugins

    root = write_plugin(name, kinds_in(kind), dir_, plugin_system.get_registry(strict=False))
    typer.echo(f"Wrote {root}. Next: cd {root} && pip install -e . pytest && pytest")


def _check(registry: Registry, plugin: Plugin, *, ask: bool) -> bool:
    """Return True if a plugin keeps the contracts or only lacks its extra. Print what it breaks."""
    from pkmncli.testing import check_plugin, exercise_plugin  # noqa: PLC0415 - only for who writes plugins

    title = f"plugin '{plugin.name}' of {plugin.label}"
    if plugin.state != "loaded":
        typer.echo(f"{title} is {plugin.state}. {plugin.problem}".rstrip(), err=True)
        return plugin.state == "disabled"
    try:
        implementation = registry.implementation(plugin)
        entries = check_plugin(implementation)
        left_out = exercise_plugin(implementation, ask=ask)
    except Exception as error:
        told = isinstance(error, (AssertionError, PkmnError))
        reason = str(error).partition("\n")[0] if told else one_line(error)  # pytest adds lines to an assertion
        extras = any(entry.extra for entry in registry.registrations() if entry.plugin is plugin)
        missing = extras and isinstance(error, PluginError) and "pip install" in reason
        typer.echo(f"{title}: {reason}", err=True)
        return missing
    typer.echo(f"{title} keeps the contracts:")
    for entry in entries:
        typer.echo(f"  {SINGULAR[entry.kind]} {entry.name}")
    for line in left_out:
        typer.echo(line)
    return True


def _listing(registry: Registry) -> dict[str, Any]:
    return {
        "api": API_VERSION,
        "names": [_entry(registry, entry) for entry in registry.registrations()],
        "plugins": [_plugin(plugin) for plugin in registry.plugins],
        "problems": registry.problems,
    }


def _entry(registry: Registry, entry: Registration) -> dict[str, Any]:
    return {
        "kind": SINGULAR[entry.kind],
        "name": entry.name,
        "state": "contested" if _is_contested(registry, entry) else "registered",
        "distribution": entry.distribution,
        "version": entry.version,
        "plugin": entry.plugin.name,
        "target": str(entry.target),
        "help": entry.help,
        "extra": entry.extra,
    }


def _plugin(plugin: Plugin) -> dict[str, Any]:
    details = {
        "plugin": plugin.name,
        "module": plugin.module,
        "state": plugin.state,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "problem": plugin.problem,
    }
    return {**details, "traceback": plugin.traceback} if debug_enabled() else details


def _details(registry: Registry, entry: Registration) -> dict[str, Any]:
    """Return an entry with its settings model, after trying to import it."""
    details = _entry(registry, entry)
    settings: list[dict[str, str]] = []
    presets: list[dict[str, Any]] = []
    if details["state"] != "contested":
        details["state"] = "ready"
    try:
        entry.load()
        model = entry.load_config()
        if model is not None:
            from pkmncli.config.description import describe_settings  # noqa: PLC0415 - imports pydantic

            settings = [setting._asdict() for setting in describe_settings(model)]
            presets = _presets(entry, model)
    except PluginError as error:
        details["state"] = str(error)
    return {**details, "settings": settings, "presets": presets}


def _presets(entry: Registration, model: Any) -> list[dict[str, Any]]:
    """Return each preset with the settings that differ from the defaults."""
    from pkmncli.config.presets import read_preset  # noqa: PLC0415 - imports pydantic

    found = []
    for name, path in entry.preset_files().items():
        try:
            preset = read_preset(path, name)
            changes = {
                key: {"value": value, "default": default}
                for key, (value, default) in preset.changes(entry.name, model).items()
            }
            of_core = [one for one in preset.given if one.section != entry.name]
            others = {".".join(filter(None, (one.section, one.key))): {"value": one.value} for one in of_core}
            found.append({"name": name, "description": preset.description, "changes": changes | others})
        except ConfigurationError as error:
            found.append({"name": name, "description": str(error), "changes": {}})
    return found


def _is_contested(registry: Registry, entry: Registration) -> bool:
    return sum(other.name == entry.name for other in registry.registrations(entry.kind)) > 1


def _unknown(registry: Registry, name: str) -> str:
    names = {entry.name for entry in registry.registrations()} | {plugin.name for plugin in registry.plugins}
    return f"no plugin brings '{name}'{did_you_mean(name, sorted(names), '.', lead='; ')} See: pkmn plugins"


def _print_listing(registry: Registry) -> None:
    rows = []
    for entry in registry.registrations():
        what = f"contested: {entry.help}" if _is_contested(registry, entry) else entry.help
        rows.append((SINGULAR[entry.kind], entry.name, entry.plugin.label, what))
    headings = ["kind", "name", "from", "what it is"]
    typer.echo(table(headings, rows, text=headings, drop=["from"]) if rows else "No plugin is installed.")
    for plugin in registry.plugins:
        if plugin.state == "disabled":
            typer.echo(f"plugin '{plugin.name}' of {plugin.label} is off: {DISABLE_VARIABLE} lists it")


def _print_details(details: dict[str, Any], console: Console) -> None:
    console.print(Text(f"{details['kind']} {details['name']}", style="bold"))
    source = f"{details['distribution']} {details['version']}".strip()
    lines = {
        "what": details["help"],
        "state": details["state"],
        "from": f"{source}, plugin '{details['plugin']}'",
        "target": details["target"],
        "extra": details["extra"],
    }
    for title, text in lines.items():
        if text:
            console.print(Text(f"  {title + ':':8}{text}"))
    if not details["settings"]:
        return
    _print_settings(details, console)
    if details["presets"]:
        _print_presets(details, console)


def _print_settings(details: dict[str, Any], console: Console) -> None:
    section = details["name"]
    variable = f"PKMN_{section.upper().replace('-', '_')}__NAME"
    console.print(Text(f"\nSettings, under [{section}] in a file, as --set {section}.name=value, or as {variable}:"))
    for setting in details["settings"]:
        unit = f" {setting['unit']}" if setting["unit"] else ""
        console.print(Text(f"  {setting['name']} = {setting['default']}{unit}   ({setting['allowed']})"))
        if setting["description"]:
            console.print(Text(f"      {setting['description']}"))


def _print_presets(details: dict[str, Any], console: Console) -> None:
    from pkmncli.config.run_file import toml_item  # noqa: PLC0415 - imports pydantic

    console.print(Text("\nPresets, for pkmn train --preset NAME, with what each changes:"))
    for preset in details["presets"]:
        console.print(Text(f"  {preset['name']}: {preset['description']}"))
        for key, change in preset["changes"].items():
            value, default = toml_item(change["value"]).as_string(), change.get("default")
            usual = "" if "default" not in change else f"   (default {toml_item(default).as_string()})"
            console.print(Text(f"      {key} = {value}{usual}"))
        if not preset["changes"]:
            console.print(Text("      nothing: all defaults are these"))


def _print_plugin(registry: Registry, plugin: Plugin, console: Console) -> None:
    console.print(Text(f"plugin {plugin.name}", style="bold"))
    state = f"left out: {plugin.problem}" if plugin.state == "failed" else plugin.state
    for title, text in (("state", state), ("from", plugin.label), ("module", plugin.module)):
        console.print(Text(f"  {title + ':':8}{text}"))
    for entry in registry.registrations():
        if entry.plugin is plugin:
            console.print(Text(f"  brings:  {SINGULAR[entry.kind]} {entry.name}"))
    if plugin.traceback:
        console.print(Text(plugin.traceback if debug_enabled() else "  the traceback: add --debug"))

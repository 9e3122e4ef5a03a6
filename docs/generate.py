"""Write the generated parts of the guides: run `make docs` after changing a setting, option or hook.

A page marks such a part with two comments, and the text between them is replaced:

    <!-- begin: settings core -->        the core's settings
    <!-- begin: settings dqn -->         settings of a built-in plugin
    <!-- begin: sections -->             the sections of all built-in plugins
    <!-- begin: hooks -->                the hooks, with arguments
    <!-- begin: commands -->             the help of every command
    <!-- begin: fields module:Class -->  the fields and properties of a class
    <!-- begin: file examples/... -->    a file of the project
    <!-- begin: output pkmn world -->    output of a command
    <!-- end -->
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import os
import pkgutil
import re
import shlex
import sys
import textwrap
from pathlib import Path

from pydantic import BaseModel

from pkmncli import cli, hookspecs
from pkmncli.command_table import load_command
from pkmncli.config import TrainSettings
from pkmncli.config.core_sections import CORE_SECTIONS
from pkmncli.config.description import describe_settings
from pkmncli.core_commands import CORE_COMMANDS
from pkmncli.plugins import SINGULAR, Registration, get_registry

DOCS = Path(__file__).parent
PART = re.compile(r"(<!-- begin: (?P<what>[^>]*) -->\n).*?(?=<!-- end -->)", re.DOTALL)
LANGUAGES = {".py": "python", ".toml": "toml", ".sh": "bash"}


def refreshed(text: str) -> str:
    """Return a page with its marked parts generated from the present code."""
    return PART.sub(lambda found: f"{found[1]}{part(found['what'].strip())}\n", text)


def part(what: str) -> str:
    """Return the text of a part, such as ``settings dqn``."""
    kind, _, name = what.partition(" ")
    if kind == "settings":
        return settings_table(TrainSettings if name == "core" else settings_model(name))
    makers = {"sections": sections, "hooks": hooks_table, "commands": commands}
    if kind in makers:
        return makers[kind]()
    if kind == "output":
        return f"```\n{name}\n\n{help_text(shlex.split(name)[1:]).rstrip()}\n```"
    if kind == "fields":
        return fields_table(name)
    if kind == "file":
        path = DOCS.parent / name
        return f"```{LANGUAGES.get(path.suffix, '')}\n{path.read_text(encoding='utf-8').rstrip()}\n```"
    raise SystemExit(f"docs: there is no part '{what}'")


def settings_table(model: type[BaseModel]) -> str:
    """Return a table of a model's settings."""
    rows = ["| setting | default | allowed | what it does |", "| --- | --- | --- | --- |"]
    for setting in describe_settings(model):
        default = f"{setting.default} {setting.unit}".strip()
        cells = (f"`{setting.name}`", default, setting.allowed, setting.description)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def fields_table(target: str) -> str:
    """Return a table of a class's fields and properties, each with its type and its docstring."""
    kind = pkgutil.resolve_name(target)
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0].body
    rows = ["| field | type | what it is |", "| --- | --- | --- |"]
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign):
            name, annotation, doc = ast.unparse(node.target), node.annotation, ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                doc = str(after.value.value)
        elif isinstance(node, ast.FunctionDef) and any(ast.unparse(one) == "property" for one in node.decorator_list):
            name, annotation, doc = node.name, node.returns, ast.get_docstring(node) or ""
        else:
            continue
        if not doc:
            raise SystemExit(f"docs: {target}.{name} has no docstring")
        cells = (f"`{name}`", f"`{ast.unparse(annotation)}`", " ".join(doc.split()).replace("``", "`"))
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def settings_model(name: str) -> type[BaseModel]:
    """Return the settings of a section: one of the core's, or of the plugin that registered the name."""
    if name in CORE_SECTIONS:
        return CORE_SECTIONS[name]
    model = get_registry().settings_section(name).load_config()
    assert model is not None
    return model


def sections() -> str:
    """Return the settings of every built-in plugin, each under a heading."""
    blocks, shown = [], set()
    for entry in built_in():
        if entry.config is not None and entry.name not in shown:  # an environment and its encoder may share one
            shown.add(entry.name)
            model = settings_model(entry.name)
            blocks.append(
                f"### [{entry.name}]\n\nThe {SINGULAR[entry.kind]}: {entry.help}\n\n{settings_table(model)}\n"
            )
    return "\n".join(blocks)


def hooks_table() -> str:
    """Return every hook with its arguments and its purpose."""
    rows = ["| hook | what it is for |", "| --- | --- |"]
    for name, function in vars(hookspecs).items():
        if name.startswith("pkmn_"):
            text = " ".join(inspect.getdoc(function).split()).replace("``", "`").replace(":class:`", "`")
            rows.append(f"| `{name}({', '.join(inspect.signature(function).parameters)})` | {text} |")
    return "\n".join(rows)


def commands() -> str:
    """Return the help of each command."""
    names = [*CORE_COMMANDS, *(entry.name for entry in built_in() if entry.kind == "commands")]
    lines = [
        ["--help"],
        *([name, "--help"] for name in names),
        *(["play", "--env", entry.name, "--help"] for entry in built_in() if entry.play and entry.name != "pyboy"),
        *([name, inner, "--help"] for name in names for inner in getattr(load_command(name), "commands", ())),
    ]
    return "\n\n".join(
        f"## pkmn {' '.join(line[:-1])}".rstrip() + f"\n\n```\n{help_text(line).rstrip()}\n```" for line in lines
    )


def help_text(arguments: list[str]) -> str:
    """Return the output of `pkmn`, on a terminal of 100 columns."""
    os.environ["COLUMNS"] = "100"
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = cli.run(arguments)
    if code:
        raise SystemExit(f"docs: pkmn {' '.join(arguments)} ended with {code}")
    return printed.getvalue()


def built_in() -> list[Registration]:
    """Return the registrations of this distribution's plugins."""
    return [entry for entry in get_registry().registrations() if entry.distribution == "pkmncli"]


def main() -> int:
    """Rewrite every page whose parts have changed."""
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        new = refreshed(text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"{page.name} is new")
    return 0


if __name__ == "__main__":
    sys.exit(main())

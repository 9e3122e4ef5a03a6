"""Write docs/licences.md: the licences of pkmncli's dependencies, from the metadata of the installed packages.

Run it in the development environment: make licences
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

HOME = Path(__file__).parent.parent
PAGE = HOME / "docs" / "licences.md"
NOT_SHIPPED = ("dev", "examples")
"""Extras that only development needs."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_CLASSIFIER = "License :: "

HEAD = """# Licences

pkmncli is under the [MIT licence](../LICENSE). The live page includes [uPlot](https://github.com/leeoniya/uPlot), under
the MIT licence. The bundled game, Quillwood, is part of this project. The package contains nothing else: pip installs
its dependencies, under these licences. `make licences` writes this page from the installed packages.

"""


def wanted() -> dict[str, list[str]]:
    """Return the packages that are needed directly, by name, with the extras that need them; none for all."""
    project = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: dict[str, list[str]] = {name_of(text): [] for text in project["dependencies"]}
    for extra, requirements in project["optional-dependencies"].items():
        for text in requirements if extra not in NOT_SHIPPED else ():
            if name_of(text) != "pkmncli":
                found.setdefault(name_of(text), []).append(extra)
    return found


def needed(direct: dict[str, list[str]]) -> dict[str, Distribution]:
    """Return the installed packages among those, and all their dependencies."""
    found: dict[str, Distribution] = {}
    waiting = list(direct)
    while waiting:
        name = waiting.pop()
        try:
            one = distribution(name)
        except PackageNotFoundError:
            continue  # for example of another system
        if normal(name) in found:
            continue
        found[normal(name)] = one
        waiting += [name_of(text) for text in one.requires or () if "extra ==" not in text]
    return found


def licence_of(one: Distribution) -> str:
    """Return the licence in a few words, from the package's metadata."""
    metadata = one.metadata
    named = metadata.get("License-Expression") or ""
    classified = [
        text.rpartition(" :: ")[2] for text in metadata.get_all("Classifier") or () if text.startswith(_CLASSIFIER)
    ]
    text = (metadata.get("License") or "").strip()
    short = text if text and "\n" not in text and len(text) < 60 else ""
    return named or ", ".join(classified) or short or "see its package"


def name_of(requirement: str) -> str:
    """Return the package's name in a requirement."""
    found = _NAME.match(requirement)
    assert found is not None
    return found[0]


def normal(name: str) -> str:
    """Return a package's normalised name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def page() -> str:
    """Return the text of the page."""
    direct = {normal(name): extras for name, extras in wanted().items()}
    rows = ["| package | licence | needed by |", "| --- | --- | --- |"]
    for name, one in sorted(needed(direct).items()):
        extras = direct.get(name)
        by = "another package" if extras is None else ", ".join(extras) or "all"
        rows.append(f"| [{one.metadata['Name']}](https://pypi.org/project/{name}/) | {licence_of(one)} | {by} |")
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")

"""Plugins of a few lines, put into a folder as pip would, for commands in processes of their own."""

from __future__ import annotations

import os
from pathlib import Path

REWARD = """
import os, time
from pathlib import Path
from pkmncli import hookimpl

@hookimpl
def pkmn_register_rewards(register):
    register("strange", "{module}:Strange")

class Strange:
    PARTS = ("strange",)
    steps = 0
    def __init__(self, settings=None):
        pass
    def reset(self, state):
        pass
    def score(self, previous, action, state):
        self.steps += 1
        return {{"strange": self.worth()}}
    def save_state(self):
        return {{}}
    def load_state(self, state):
        pass
    def worth(self):
{body}
"""


def install(folder: Path, module: str, source: str) -> None:
    """Puts a distribution with one plugin, a module of this text, into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / f"{module}.py").write_text(source)
    metadata = folder / f"{module}-1.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.2\n")
    (metadata / "entry_points.txt").write_text(f"[pkmn]\n{module} = {module}\n")


def install_reward(folder: Path, body: str, module: str = "strange_reward", top: str = "") -> None:
    """Puts a plugin into a folder whose reward ``strange`` is worth what some lines say.

    They may use ``self.steps``, from 1 on. ``top`` is put before all.
    """
    indented = "\n".join(f"        {line}" for line in body.splitlines())
    install(folder, module, f"{top}\n" + REWARD.format(module=module, body=indented))


def environment_with(folder: Path, **more: str) -> dict[str, str]:
    """The variables of a process that finds the plugins of a folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PKMN_")}
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
    return kept | {"PYTHONPATH": path, "COLUMNS": "100"} | more

"""Names of a package that are imported on first use, listed once: in the package's ``__init__.pyi``.

Type checkers read that file too. `lazy_loader` does the same with the module ``ast``, which doubles the start-up time
of ``pkmn --version``, and it refuses names of other packages.
"""

from collections.abc import Callable
from importlib import import_module

Imports = Callable[[str], object]


def attach(package: str, file: str) -> tuple[Imports, Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Args:
        package: Its ``__name__``.
        file: Its ``__file__``; each line ``from MODULE import NAME as NAME`` of the stub beside it is a name.
    """
    with open(f"{file.removesuffix('c')}i", encoding="utf-8") as stub:  # noqa: PTH123 - pathlib takes milliseconds
        modules = {line.split()[3]: line.split()[1] for line in stub if line.startswith("from ")}

    def find(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name]), name)

    return find, lambda: sorted(modules), sorted(modules)

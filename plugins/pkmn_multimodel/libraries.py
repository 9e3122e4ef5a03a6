"""Libraries of the extra ``multimodel``, and the models in the local cache of Hugging Face."""

from __future__ import annotations

from importlib.util import find_spec

from pkmncli.errors import PluginError

_NEEDED = ("gguf", "peft", "pettingzoo", "transformers")


def require_libraries() -> None:
    """Raise PluginError if a library is missing that training needs. Nothing is imported."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise PluginError(
            f"pkmn multimodel needs {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed; "
            "run: pip install 'pkmncli[multimodel]'"
        )


def cached_models() -> list[str]:
    """Return the names of the models in the local cache."""
    from huggingface_hub import scan_cache_dir  # noqa: PLC0415 - takes a while
    from huggingface_hub.errors import CacheNotFound  # noqa: PLC0415

    try:
        return sorted(repo.repo_id for repo in scan_cache_dir().repos if repo.repo_type == "model")
    except CacheNotFound:
        return []

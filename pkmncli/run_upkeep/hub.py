"""Runs on the Hugging Face hub: a bundle, its film and a model card in a model repository, through huggingface_hub."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkmncli.diagnostics import say
from pkmncli.errors import ConfigurationError, LLMConnectionError, PluginError, RunError
from pkmncli.llm.keys import key_from
from pkmncli.run_upkeep.bundle import LARGEST_BYTES
from pkmncli.run_upkeep.facts import size_in_words
from pkmncli.run_upkeep.hub_faults import explained
from pkmncli.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import ModelInfo

HUB = "hf:"
"""Beginning of the address of a run on the hub."""

BUNDLE_NAME = "pkmn-bundle.zip"
CARD_NAME = "README.md"
FILM_NAMES = ("replay.mp4", "replay.gif")
"""Names of the film in a repository; the hub's page of a model shows ``replay.mp4``."""

TOKEN_VARIABLE = "HF_TOKEN"

_MISSING = "hf: addresses need huggingface_hub, which is not installed; run: pip install 'pkmncli[hub]'"
_NO_TOKEN = (
    "no token of the Hugging Face hub is known: make one with write access at huggingface.co/settings/tokens, then "
    "store it with 'pkmn llm keys set huggingface' or 'hf auth login', or set HF_TOKEN"
)
_FIRST_ANSWER_S = 30.0
_OF_EVERY_REPOSITORY = frozenset({".gitattributes", CARD_NAME, "LICENSE"})
_ADDRESS = re.compile(r"(?://)?(?P<repository>\w[\w.-]*/\w[\w.-]*)(?:@(?P<revision>[^\s@]+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class HubAddress:
    """A model repository on the hub, and a branch, tag or commit of it; None for the newest."""

    repository: str
    revision: str | None = None

    @property
    def run_source(self) -> str:
        """The address as ``pkmn import`` takes it."""
        return HUB + self.repository + (f"@{self.revision}" if self.revision else "")


def hub_address(text: str) -> HubAddress | None:
    """Return the address that ``hf:USER/NAME`` or ``hf:USER/NAME@REVISION`` is; None for the path of a file.

    Raises:
        ConfigurationError: it begins with ``hf:`` and is no address.
    """
    if not text.startswith(HUB):
        return None
    found = _ADDRESS.fullmatch(text.removeprefix(HUB))
    if found is None:
        raise ConfigurationError(
            f"{text} is no address on the Hugging Face hub: write hf:USER/NAME or hf:USER/NAME@REVISION"
        )
    return HubAddress(found["repository"], found["revision"])


@dataclass(frozen=True, slots=True)
class Found:
    """State of a repository before a run is shared in it."""

    exists: bool
    files: frozenset[str] = frozenset()


class Hub:
    """Connection to the hub, or to the one that ``HF_ENDPOINT`` names.

    Args:
        writes: True to need a token.

    Raises:
        PluginError: huggingface_hub is not installed.
        ConfigurationError: no token is known, or it has characters that no token has.
    """

    def __init__(self, *, writes: bool) -> None:
        if find_spec("huggingface_hub") is None:
            raise PluginError(_MISSING)
        with _quiet():
            library: Any = import_module("huggingface_hub")
            import_module("huggingface_hub.utils.logging").set_verbosity_error()
            library.utils.disable_progress_bars()
            try:
                token = key_from(TOKEN_VARIABLE) or library.get_token()
            except LLMConnectionError as error:
                raise ConfigurationError(str(error)) from error
            if writes and not token:
                raise ConfigurationError(_NO_TOKEN)
            # The library reads the variable only once, and a program may change it.
            endpoint = os.environ.get("HF_ENDPOINT") or None
            self._api: HfApi = library.HfApi(
                endpoint, token or None, library_name="pkmncli", library_version=__version__
            )

    def look(self, address: HubAddress, *, private: bool, overwrite: bool) -> Found:
        """Return what is in a repository before a run is shared in it.

        Raises:
            ConfigurationError: it holds something else, or a run that is not to be overwritten, or it is public and is
                to be private.
            RunError: the hub does not answer, or refuses.
        """
        name = address.repository
        info = self._info(address, must_exist=False)
        if info is None:
            return Found(exists=False)
        files = frozenset(one.rfilename for one in info.siblings or ())
        if BUNDLE_NAME not in files and files - _OF_EVERY_REPOSITORY:
            raise ConfigurationError(f"{name} on the hub holds something else than a run: choose another name")
        if BUNDLE_NAME in files and not overwrite:
            raise ConfigurationError(
                f"{name} on the hub holds a run already: choose another name, or add this one as its newest revision "
                "with --overwrite"
            )
        if private and not info.private:
            raise ConfigurationError(
                f"{name} on the hub is public: make it private on its page first, or choose another name"
            )
        return Found(exists=True, files=files)

    def share(
        self, address: HubAddress, found: Found, files: dict[str, bytes | Path], *, message: str, private: bool
    ) -> str:
        """Make the repository if it is missing, add the files as one revision of it, and return its page's address.

        Args:
            address: the repository.
            found: what :meth:`look` found in it.
            files: by their names in the repository.
            message: line about the revision.
            private: True to let only its owner read a new repository.

        Raises:
            RunError: the hub refuses, or the connection broke off; then nothing of the revision is published.
        """
        library: Any = import_module("huggingface_hub")
        name = address.repository
        operations = [library.CommitOperationAdd(name, content) for name, content in files.items()]
        old_films = found.files & set(FILM_NAMES) - files.keys()
        operations += [library.CommitOperationDelete(film) for film in sorted(old_films)]
        if not found.exists:
            with _quiet(), explained(name, self._api.endpoint, "making the repository"):
                self._api.create_repo(name, private=private or None)
        sizes = [len(content) if isinstance(content, bytes) else content.stat().st_size for content in files.values()]
        say(f"Uploading {size_in_words(sum(sizes))} to {self._api.endpoint}/{name}")
        with _quiet(), explained(name, self._api.endpoint, "the upload", publishes=True):
            self._api.create_commit(name, operations, commit_message=message)
        return f"{self._api.endpoint}/{name}"

    def fetch(self, address: HubAddress, folder: Path) -> tuple[Path, str]:
        """Download the bundle of a repository into a folder. Return the file, and the commit that it is of.

        Raises:
            RunError: there is no such repository, revision or bundle, it is too large, or the hub does not answer.
        """
        info = self._info(address)
        assert info is not None
        size = next((one.size or 0 for one in info.siblings or () if one.rfilename == BUNDLE_NAME), None)
        if size is None:
            raise RunError(f"{address.repository} on the hub holds no run of pkmn: it has no {BUNDLE_NAME}")
        if size > LARGEST_BYTES:
            limit = f"{LARGEST_BYTES / 1024**3:.0f} GiB"
            raise RunError(f"{address.run_source} is larger than {limit}: it is not downloaded")
        say(f"Downloading {size_in_words(size)} from {self._api.endpoint}/{address.repository}")
        with _quiet(), explained(address.repository, self._api.endpoint, "the download"):
            file = self._api.hf_hub_download(address.repository, BUNDLE_NAME, revision=info.sha, local_dir=folder)
        return Path(file), str(info.sha)

    def _info(self, address: HubAddress, *, must_exist: bool = True) -> ModelInfo | None:
        missing: Any = import_module("huggingface_hub.errors").RepositoryNotFoundError
        gated: Any = import_module("huggingface_hub.errors").GatedRepoError
        with _quiet(), explained(address.repository, self._api.endpoint, "the question", revision=address.revision):
            try:
                return self._api.model_info(
                    address.repository, revision=address.revision, timeout=_FIRST_ANSWER_S, files_metadata=True
                )
            except missing as error:
                if must_exist or isinstance(error, gated):
                    raise
                return None


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the library's warnings, such as one that a card names no licence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield

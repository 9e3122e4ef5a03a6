"""Sharing of a run on the Hugging Face hub, and making a run of one that is shared there."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

from pkmncli.config import ResolvedSettings
from pkmncli.errors import ConfigurationError
from pkmncli.run_upkeep.bundle_reading import import_bundle
from pkmncli.run_upkeep.bundle_writing import WrittenBundle, write_bundle
from pkmncli.run_upkeep.hub import BUNDLE_NAME, CARD_NAME, FILM_NAMES, Hub, HubAddress
from pkmncli.run_upkeep.model_card import model_card, shared_run
from pkmncli.runs import Run


def share_on_hub(
    run: Run, settings: ResolvedSettings, checkpoint: Path, address: HubAddress, *, private: bool, overwrite: bool
) -> tuple[str, WrittenBundle]:
    """Upload a run's bundle, its film and a card about it as one revision of a repository.

    Args:
        run: the run.
        settings: its settings.
        checkpoint: the checkpoint to take.
        address: the repository; it is made if it is missing.
        private: True to let only its owner read a new repository.
        overwrite: True to add a revision to a repository that holds a run.

    Returns:
        The address of the repository's page, and facts of the bundle.

    Raises:
        RunError: the hub refuses or can't be reached, or the run can't be shared, as :func:`write_bundle` says.
        ConfigurationError: the name is taken, or no token is known.
        PluginError: huggingface_hub is not installed.
    """
    if address.revision is not None:
        raise ConfigurationError(f"a run is shared as the newest revision: write hf:{address.repository}")
    hub = Hub(writes=True)
    found = hub.look(address, private=private, overwrite=overwrite)
    with tempfile.TemporaryDirectory(prefix="pkmn-") as scratch:
        bundle = Path(scratch) / BUNDLE_NAME
        written = write_bundle(run, settings, checkpoint, bundle)
        shared = shared_run(run, bundle)
        files: dict[str, bytes | Path] = {BUNDLE_NAME: bundle}
        film = None
        if shared.film is not None:
            film = next(name for name in FILM_NAMES if Path(name).suffix == Path(shared.film).suffix)
            with zipfile.ZipFile(bundle) as archive:
                files[film] = archive.read(shared.film)
        files[CARD_NAME] = model_card(shared, address.repository, film).encode()
        message = f"Run {run.name}, {checkpoint.name}"
        return hub.share(address, found, files, message=message, private=private), written


def import_from_hub(address: HubAddress, save_dir: Path, name: str | None) -> tuple[Run, str]:
    """Make a run folder of a run on the hub, checked as a bundle in a file is. Return it, and the revision's commit.

    Raises:
        RunError: the repository, the revision or the bundle is missing, the hub can't be reached, or as
            :func:`import_bundle` says.
        CheckpointError: its checkpoint is damaged, or of another version.
        PluginError: huggingface_hub is not installed.
    """
    with tempfile.TemporaryDirectory(prefix="pkmn-") as scratch:
        file, commit = Hub(writes=False).fetch(address, Path(scratch))
        return import_bundle(file, save_dir, name, source=address.run_source), commit

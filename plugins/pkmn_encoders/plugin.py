"""The plugin that registers the encoders of pkmncli."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_encoders(register: Register) -> None:
    """Register ``convolution`` and ``embedding``."""
    register(
        "convolution",
        "pkmncli.learners.networks:ConvolutionEncoder",
        help="Two convolutions and a normalised layer, of the sizes that the learner's settings say; the default",
    )
    register(
        "embedding",
        "pkmn_encoders.embedding:EmbeddingEncoder",
        config="pkmn_encoders.settings:EmbeddingSettings",
        help="As convolution, and a table of learned numbers for each state variable that is a category, like maps",
    )

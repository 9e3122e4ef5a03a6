"""The export of the acting Q-network."""

from __future__ import annotations

from pkmn_dqn.network import QNetwork
from pkmn_dqn.settings import DQNSettings
from pkmncli.api import ExportedPolicy
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.learners.exported_policy import exported_policy
from pkmncli.learners.observations import ObservationLayout

_SCORES = '''def scores(x):
    """Return the estimated discounted return of each action."""
    values = F.linear(F.relu(F.linear(x, *of("advantage.0"))), *of("advantage.2"))
    values = values.reshape(1, ABOUT["num_actions"], -1).mean(dim=2)  # over quantiles, if there are several
    if ABOUT["network"]["dueling"]:
        value = F.linear(F.relu(F.linear(x, *of("value.0"))), *of("value.2")).mean(dim=1, keepdim=True)
        values = value + values - values.mean(dim=1, keepdim=True)
    return values
'''


def exported_q_network(
    network: QNetwork, layout: ObservationLayout, settings: DQNSettings, encoder: EncoderFactory | None
) -> ExportedPolicy:
    """Return a Q-network and the layout of its observations, for use outside this program."""
    return exported_policy(
        network,
        layout,
        settings,
        encoder,
        scores=_SCORES,
        gives="the estimated discounted return of each action; the greedy action is the best that is allowed",
        about_network={"dueling": settings.dueling},
    )

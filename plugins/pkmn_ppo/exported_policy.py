"""The export of the acting network of policy and value."""

from __future__ import annotations

from pkmn_ppo.policy import ActorCritic
from pkmn_ppo.settings import OnPolicySettings
from pkmncli.api import ExportedPolicy
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.learners.exported_policy import exported_policy
from pkmncli.learners.observations import ObservationLayout

_SCORES = '''def scores(x):
    """Return the logits of the actions: a softmax over the allowed ones gives their probabilities."""
    return F.linear(F.relu(F.linear(x, *of("policy.0"))), *of("policy.2"))
'''


def exported_actor_critic(
    network: ActorCritic, layout: ObservationLayout, settings: OnPolicySettings, encoder: EncoderFactory | None
) -> ExportedPolicy:
    """Return a network of policy and value and the layout of its observations, for use outside this program."""
    return exported_policy(
        network,
        layout,
        settings,
        encoder,
        scores=_SCORES,
        gives="a logit of each action, whose softmax over the allowed ones is the policy; the greedy action is the "
        "likeliest. The value layers estimate the worth of a situation",
        about_network={},
    )

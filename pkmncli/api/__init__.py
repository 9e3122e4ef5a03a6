"""What a plugin author sees: the contracts between the core and its plugins, and the data that crosses them.

Nothing heavy is imported here, so that a plugin's registration module may import it freely.
A contract is a :class:`typing.Protocol`: a class satisfies it by having the methods, without inheriting.
"""

from pkmncli.api.decisions import (
    MEMORY_HASH_INTERVAL,
    PILOT_ACTS,
    REASON_BYTES,
    STEP_RECORD,
    Action,
    Advice,
    Decision,
    Facts,
    Source,
)
from pkmncli.api.environments import Context, Environment, MilestoneSplit, Pilot, Reward, Start
from pkmncli.api.language_models import LLMBackend, LLMFailure, LLMFault, LLMReply, LLMRequest
from pkmncli.api.learning import Algorithm, Segment, Transitions
from pkmncli.api.registration import API_VERSION, PROVIDED, Register
from pkmncli.api.runs import EpisodeSummary, RunInfo, Store, find_run

__all__ = [
    "API_VERSION",
    "MEMORY_HASH_INTERVAL",
    "PILOT_ACTS",
    "PROVIDED",
    "REASON_BYTES",
    "STEP_RECORD",
    "Action",
    "Advice",
    "Algorithm",
    "Context",
    "Decision",
    "Environment",
    "EpisodeSummary",
    "Facts",
    "LLMBackend",
    "LLMFailure",
    "LLMFault",
    "LLMReply",
    "LLMRequest",
    "MilestoneSplit",
    "Pilot",
    "Register",
    "Reward",
    "RunInfo",
    "Segment",
    "Source",
    "Start",
    "Store",
    "Transitions",
    "find_run",
]

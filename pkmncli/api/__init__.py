"""What a plugin author sees: the contracts between the core and its plugins, and the data that crosses them.

Nothing is imported before it is asked for, so that a plugin's registration module may import it freely.
A contract is a :class:`typing.Protocol`: a class satisfies it by having the methods, without inheriting.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pkmncli.api.data_text import parse_json, parse_toml, read_given, read_given_text
    from pkmncli.api.decisions import (
        MEMORY_HASH_INTERVAL,
        PILOT_ACTS,
        REASON_BYTES,
        REWARD_PARTS,
        STEP_RECORD,
        Action,
        Advice,
        Consequence,
        Decision,
        Facts,
        Source,
    )
    from pkmncli.api.environments import Context, Environment, MilestoneSplit, Pilot, Reward, Start
    from pkmncli.api.language_models import (
        LLMBackend,
        LLMFailure,
        LLMFault,
        LLMReply,
        LLMRequest,
        Price,
        PricedLLMBackend,
        TellingLLMBackend,
    )
    from pkmncli.api.learning import (
        Algorithm,
        ExportedPolicy,
        ExportingAlgorithm,
        RemarkingAlgorithm,
        SamplingAlgorithm,
        Segment,
        ShownAlgorithm,
        StartableAlgorithm,
        Transitions,
        ValuingAlgorithm,
    )
    from pkmncli.api.registration import API_VERSION, NAMES_ENCODER, PROVIDED, Register
    from pkmncli.api.runs import (
        Analyzer,
        CheckedStore,
        Coded,
        CountingStore,
        EpisodeSummary,
        ExportingStore,
        RunInfo,
        SourceStore,
        Store,
        find_run,
        open_analyzer,
        open_tables,
        tell_once,
    )
    from pkmncli.api.spaces import BitPlanes, ScaledBox
    from pkmncli.api.strategies import Strategy, StrategyType
    from pkmncli.api.tracking import Tracker
    from pkmncli.api.vocabulary import ActionNames, Argument, PhaseRole, Skill

_HOMES = {
    "Action": "decisions",
    "ActionNames": "vocabulary",
    "Advice": "decisions",
    "Algorithm": "learning",
    "Analyzer": "runs",
    "API_VERSION": "registration",
    "Argument": "vocabulary",
    "BitPlanes": "spaces",
    "CheckedStore": "runs",
    "Coded": "runs",
    "Consequence": "decisions",
    "Context": "environments",
    "CountingStore": "runs",
    "Decision": "decisions",
    "Environment": "environments",
    "EpisodeSummary": "runs",
    "ExportedPolicy": "learning",
    "ExportingAlgorithm": "learning",
    "ExportingStore": "runs",
    "Facts": "decisions",
    "find_run": "runs",
    "LLMBackend": "language_models",
    "LLMFailure": "language_models",
    "LLMFault": "language_models",
    "LLMReply": "language_models",
    "LLMRequest": "language_models",
    "MEMORY_HASH_INTERVAL": "decisions",
    "MilestoneSplit": "environments",
    "NAMES_ENCODER": "registration",
    "open_analyzer": "runs",
    "open_tables": "runs",
    "parse_json": "data_text",
    "parse_toml": "data_text",
    "PhaseRole": "vocabulary",
    "Pilot": "environments",
    "PILOT_ACTS": "decisions",
    "Price": "language_models",
    "PricedLLMBackend": "language_models",
    "PROVIDED": "registration",
    "read_given": "data_text",
    "read_given_text": "data_text",
    "REASON_BYTES": "decisions",
    "Register": "registration",
    "RemarkingAlgorithm": "learning",
    "Reward": "environments",
    "REWARD_PARTS": "decisions",
    "RunInfo": "runs",
    "SamplingAlgorithm": "learning",
    "ScaledBox": "spaces",
    "Segment": "learning",
    "ShownAlgorithm": "learning",
    "Skill": "vocabulary",
    "Source": "decisions",
    "SourceStore": "runs",
    "Start": "environments",
    "StartableAlgorithm": "learning",
    "STEP_RECORD": "decisions",
    "Store": "runs",
    "Strategy": "strategies",
    "StrategyType": "strategies",
    "tell_once": "runs",
    "TellingLLMBackend": "language_models",
    "Tracker": "tracking",
    "Transitions": "learning",
    "ValuingAlgorithm": "learning",
}
"""The module of each name."""

__all__ = [
    "API_VERSION",
    "MEMORY_HASH_INTERVAL",
    "NAMES_ENCODER",
    "PILOT_ACTS",
    "PROVIDED",
    "REASON_BYTES",
    "REWARD_PARTS",
    "STEP_RECORD",
    "Action",
    "ActionNames",
    "Advice",
    "Algorithm",
    "Analyzer",
    "Argument",
    "BitPlanes",
    "CheckedStore",
    "Coded",
    "Consequence",
    "Context",
    "CountingStore",
    "Decision",
    "Environment",
    "EpisodeSummary",
    "ExportedPolicy",
    "ExportingAlgorithm",
    "ExportingStore",
    "Facts",
    "LLMBackend",
    "LLMFailure",
    "LLMFault",
    "LLMReply",
    "LLMRequest",
    "MilestoneSplit",
    "PhaseRole",
    "Pilot",
    "Price",
    "PricedLLMBackend",
    "Register",
    "RemarkingAlgorithm",
    "Reward",
    "RunInfo",
    "SamplingAlgorithm",
    "ScaledBox",
    "Segment",
    "ShownAlgorithm",
    "Skill",
    "Source",
    "SourceStore",
    "Start",
    "StartableAlgorithm",
    "Store",
    "Strategy",
    "StrategyType",
    "TellingLLMBackend",
    "Tracker",
    "Transitions",
    "ValuingAlgorithm",
    "find_run",
    "open_analyzer",
    "open_tables",
    "parse_json",
    "parse_toml",
    "read_given",
    "read_given_text",
    "tell_once",
]


def __getattr__(name: str) -> Any:
    """Finds a name in its module on first use. Raises AttributeError for what there is not."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return value

"""The plugin that registers the strategies."""

from __future__ import annotations

from pkmncli import hookimpl
from pkmncli.api import Register


@hookimpl
def pkmn_register_strategies(register: Register) -> None:
    """Register one adaptive strategy, and the three that it chooses from."""
    register(
        "adaptive",
        "pkmn_strategies.adaptive:AdaptiveStrategySystem",
        config="pkmn_strategies.settings:AdaptiveSettings",
        help="more of the language model if its advice brings more than the rules, less if it brings less",
    )
    register("llm-heavy", "pkmn_strategies.fixed:LLMHeavy", help="80% language model, 20% rules")
    register("balanced", "pkmn_strategies.fixed:Balanced", help="50% language model, 50% rules")
    register("rule-heavy", "pkmn_strategies.fixed:RuleHeavy", help="20% language model, 80% rules")

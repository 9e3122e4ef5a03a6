"""Decision store and its analyzer, over DuckDB."""


def __getattr__(name: str) -> object:
    if name == "DecisionHistoryAnalyzer":
        from pkmn_decisions.analyzer import DecisionHistoryAnalyzer  # noqa: PLC0415 - imports DuckDB

        return DecisionHistoryAnalyzer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

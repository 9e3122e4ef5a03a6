"""Check that a user's query only reads. DuckDB has no such mode for queries on files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pkmn_decisions.store.view import RunViews
from pkmncli.errors import DecisionValidationError

_READING_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
"""Kinds of query in DuckDB's syntax tree that only read. Others, such as a COPY inside WITH, may write."""

_QUERIES_IN_TEXTS = {"query", "json_execute_serialized_sql"}
"""Functions that run a query given as text, which the syntax tree does not show."""


def check_read_only(views: RunViews, sql: str) -> None:
    """Check that ``sql`` is one query that writes nothing.

    Raises:
        DecisionValidationError: it is not.
    """
    _, rows = views.query("SELECT json_serialize_sql(?)", [sql])
    tree = json.loads(rows[0][0])
    if tree["error"]:
        if tree.get("error_type") == "parser":
            raise DecisionValidationError(f"The query is not valid SQL: {tree['error_message']}")
        raise DecisionValidationError("Only a query that reads is allowed: one SELECT, WITH, FROM or SUMMARIZE.")
    if len(tree["statements"]) != 1:
        raise DecisionValidationError("Give one query at a time.")
    for item in _objects(tree):
        kind = str(item.get("type", ""))
        if kind.endswith("_NODE") and kind not in _READING_NODES:
            raise DecisionValidationError("Only a query that reads is allowed, also inside WITH.")
        if str(item.get("function_name", "")).lower() in _QUERIES_IN_TEXTS:
            raise DecisionValidationError(f"The function {item['function_name']} is not allowed: write the query out.")


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _objects(item)

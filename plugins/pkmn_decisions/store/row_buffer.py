"""Rows of one table that are not on disk yet, stored as columns.

Appending copies each batch into arrays allocated once; no Python code runs per row for numbers. Texts and amounts have
few distinct values: each is stored once, and the rows hold its number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmn_decisions.store.schema import AMOUNTS, REQUIRED, Column, Table
from pkmncli.api import Coded
from pkmncli.errors import DecisionValidationError


class RowBuffer:
    """Buffer of a table's rows that checks them against its columns."""

    def __init__(self, table: Table, last_step: int = -1) -> None:
        """Start empty; ``last_step`` is the step of the latest row that the table already has, -1 if none."""
        self.table = table
        self.count = 0
        self._last_step = last_step
        self._capacity = table.rows_per_file
        self._numbers: dict[str, NDArray[Any]] = {
            column.name: np.empty(self._capacity, column.numpy) for column in table.columns if column.numpy
        }
        self._bytes: dict[str, list[bytes]] = {column.name: [] for column in table.columns if column.sql == "BLOB"}
        self._codes: dict[str, NDArray[np.uint32]] = {
            column.name: np.empty(self._capacity, np.uint32) for column in table.columns if column.coded
        }
        self._values: dict[str, dict[Any, int]] = {name: {} for name in self._codes}

    def append(self, columns: Mapping[str, Any]) -> None:
        """Copy a batch of rows.

        Args:
            columns: for each column of the table an array or list of the batch's length; columns with a default
                may be left out.

        Raises:
            DecisionValidationError: a column is unknown, missing, of another length or type than the others, or
                steps go backwards in a table that has one row for each step. Nothing was appended.
        """
        table = self.table
        if len(columns) != len(table.columns) or any(column.name not in columns for column in table.columns):
            _check_names(table, columns)
        length = _common_length(table, columns)
        if length == 0:
            return
        if self.count + length > self._capacity:
            self._grow(self.count + length)
        start, end = self.count, self.count + length
        texts: dict[str, Sequence[bytes]] = {}
        for column in table.columns:
            values = columns.get(column.name, REQUIRED)
            if column.sql == "BLOB":
                texts[column.name] = _blobs(table, column, values, length)
            elif column.coded:
                known = self._values[column.name]
                self._codes[column.name][start:end] = _codes(table, column, values, known)
            elif values is REQUIRED:
                self._numbers[column.name][start:end] = column.default
            else:
                self._numbers[column.name][start:end] = _numbers(table, column, values)
        if "done" in self._numbers and "done" not in columns:
            terminated, truncated = self._numbers["terminated"], self._numbers["truncated"]
            np.logical_or(terminated[start:end], truncated[start:end], out=self._numbers["done"][start:end])
        self._check_steps(self._numbers[table.step][start:end])
        for name, items in texts.items():
            self._bytes[name].extend(items)
        self.count = end

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the collected rows, as arrays that share the buffer's memory; texts and amounts as their numbers."""
        arrays: dict[str, NDArray[Any]] = {}
        for column in self.table.columns:
            if column.numpy:
                arrays[column.name] = self._numbers[column.name][: self.count]
            elif column.coded:
                arrays[column.name] = self._codes[column.name][: self.count]
            else:
                items = np.empty(self.count, dtype=object)
                items[:] = self._bytes[column.name]
                arrays[column.name] = items
        return arrays

    def values(self, name: str) -> list[str]:
        """Return the values behind the numbers of a column of texts or amounts, in order; amounts as JSON objects."""
        return [_text(key) for key in self._values[name]]

    def clear(self) -> None:
        """Remove the rows, but keep the memory for the next ones."""
        self.count = 0
        for items in self._bytes.values():
            items.clear()
        for known in self._values.values():
            known.clear()

    def _grow(self, rows: int) -> None:
        self._capacity = max(rows, 2 * self._capacity)
        for arrays in (self._numbers, self._codes):
            for name, old in arrays.items():
                grown: NDArray[Any] = np.empty(self._capacity, old.dtype)
                grown[: self.count] = old[: self.count]
                arrays[name] = grown

    def _check_steps(self, steps: NDArray[Any]) -> None:
        if steps.min() < 0:
            raise DecisionValidationError(f"Table {self.table.name}: {self.table.step} must not be negative.")
        if self.table.one_row_per_step:
            if steps[0] <= self._last_step or (steps[1:] <= steps[:-1]).any():
                raise DecisionValidationError(
                    f"Table {self.table.name}: {self.table.step} must rise from row to row, and step {steps[0]} does "
                    f"not follow step {self._last_step}. A run that resumes from a checkpoint must first set aside "
                    "what it recorded after it."
                )
            self._last_step = int(steps[-1])


def _check_names(table: Table, columns: Mapping[str, Any]) -> None:
    known = {column.name for column in table.columns}
    unknown = [name for name in columns if name not in known]
    if unknown:
        raise DecisionValidationError(f"Table {table.name} has no column {', '.join(unknown)}.")
    missing = [column.name for column in table.columns if column.default is REQUIRED and column.name not in columns]
    if missing:
        raise DecisionValidationError(f"Table {table.name}: column {', '.join(missing)} is missing.")


def _common_length(table: Table, columns: Mapping[str, Any]) -> int:
    lengths: dict[int, str] = {}
    for name, values in columns.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
            raise DecisionValidationError(f"Table {table.name}: column {name} must be an array or a list.")
        lengths.setdefault(len(values), name)
    if len(lengths) > 1:
        shown = ", ".join(f"{name} has {length}" for length, name in lengths.items())
        raise DecisionValidationError(f"Table {table.name}: columns differ in length ({shown}).")
    return next(iter(lengths), 0)


def _numbers(table: Table, column: Column, values: Any) -> NDArray[Any]:
    array = np.asarray(values)
    if array.dtype == column.numpy:
        return array
    target = np.dtype(column.numpy)
    if array.ndim != 1 or array.dtype.kind not in "biuf" or (array.dtype.kind == "f" and target.kind != "f"):
        raise DecisionValidationError(
            f"Table {table.name}: column {column.name} holds {column.sql} and cannot take {array.dtype}{array.shape}."
        )
    if target.kind in "iu":
        limits = np.iinfo(target)
        if int(array.min()) < limits.min or int(array.max()) > limits.max:
            raise DecisionValidationError(
                f"Table {table.name}: column {column.name} holds {limits.min} to {limits.max}, "
                f"and was given {array.min()} to {array.max()}."
            )
    return array


def _blobs(table: Table, column: Column, values: Any, length: int) -> Sequence[bytes]:
    if values is REQUIRED:
        return [column.default] * length
    items = _items(values)
    _check_kinds(table, column, items, (bytes,))
    return items


def _codes(table: Table, column: Column, values: Any, known: dict[Any, int]) -> Any:
    """Return the numbers of a column's values; new values are added to ``known``."""
    if values is REQUIRED:
        values = Coded(np.zeros(1, np.uint8), [column.default])
        return _codes(table, column, values, known)[0]
    kinds = (Mapping,) if column.sql == AMOUNTS else (str, bytes)
    if isinstance(values, Coded):
        _check_kinds(table, column, values.values, kinds)
        places = [known.setdefault(_key(value), len(known)) for value in values.values]
        return np.asarray(places, np.uint32)[values.codes] if places else np.zeros(0, np.uint32)
    items = _items(values)
    _check_kinds(table, column, items, kinds)
    if column.sql == AMOUNTS:
        return [known.setdefault(_key(value), len(known)) for value in items]
    numbers = {item: known.setdefault(_key(item), len(known)) for item in dict.fromkeys(items)}  # each only once
    return list(map(numbers.__getitem__, items))


def _items(values: Any) -> Sequence[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _check_kinds(table: Table, column: Column, items: Sequence[Any], allowed: tuple[type, ...]) -> None:
    strange = sorted(kind.__name__ for kind in set(map(type, items)) if not issubclass(kind, allowed))
    if strange:
        raise DecisionValidationError(
            f"Table {table.name}: column {column.name} holds {column.sql} and cannot take {', '.join(strange)}."
        )


def _key(value: Any) -> Any:
    """Return the identity of a value: a text, or the names and amounts of a mapping."""
    if isinstance(value, Mapping):
        return tuple(value.items())
    # A text that was cut to a width may end inside a character.
    return value.decode("utf-8", "ignore") if isinstance(value, bytes) else value


def _text(key: Any) -> str:
    text: str = key if isinstance(key, str) else json.dumps({name: float(amount) for name, amount in key})
    return text

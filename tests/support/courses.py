"""The parts of a training that two runs of one course share."""

from __future__ import annotations

import json
from typing import Any

MEASURED = {
    "time", "times", "elapsed_s", "steps_per_second", "episodes_per_hour",
    "latency_s", "latencies_s", "latency_p50_s", "latency_p95_s",
}  # fmt: skip
"""Names of what the clock decides: two runs of one course do not share it."""


def without_times(value: Any) -> Any:
    """Return plain values without what the clock decides, however deep."""
    if isinstance(value, dict):
        if value.get("members"):  # a JSON text in a row of advice
            value = {**value, "members": json.loads(value["members"])}
        return {name: without_times(part) for name, part in value.items() if name not in MEASURED}
    return [without_times(part) for part in value] if isinstance(value, list) else value

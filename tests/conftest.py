"""Set-up of all tests."""

import gc
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# A run that a shell or `nohup` started in the background ignores these signals, and so would every process that a test
# starts and then interrupts.
for _number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number is signal.SIGINT else signal.SIG_DFL)

# Time decides no test.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

gc.disable()


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over tests and modules: looking at them took a tenth of the processor's time."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Ray, on this machine, with room for three actors."""
    if find_spec("ray") is None:
        pytest.skip("the extra 'ray' is not installed")
    from pkmncli.api.ray_cluster import ray_cluster  # noqa: PLC0415 - only some tests need it

    with ray_cluster(None, 3) as found:
        yield found

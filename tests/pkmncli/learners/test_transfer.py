"""Tensors on the device are copies; numbers come back as they are."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pkmncli.learners.transfer import numbers_of, on_device

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no card"))]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("writable", [True, False])
def test_a_tensor_is_a_copy(device: str, writable: bool) -> None:
    array = np.arange(6, dtype=np.uint8).reshape(2, 3)
    view = array.view()
    view.flags.writeable = writable
    tensor = on_device(view, torch.device(device))
    if device == "cuda":
        torch.cuda.synchronize()
    array[:] = 9
    assert tensor.device.type == device
    assert tensor.dtype == torch.uint8
    assert tensor.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("device", DEVICES)
def test_numbers_are_those_of_the_tensors(device: str) -> None:
    weight = torch.tensor(0.1, device=device, requires_grad=True)
    metrics = {"loss": weight * 3, "norm": torch.tensor(7.0, device=device)}
    assert numbers_of(metrics) == {"loss": (weight * 3).item(), "norm": 7.0}

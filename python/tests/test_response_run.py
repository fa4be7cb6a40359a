# SPDX-License-Identifier: Apache-2.0
"""What an application was asked before a measurement of a response, it is asked again behind it."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ringmaster.errors import RequestRefused
from ringmaster.response import run as of_runs

FASTEST = 10.0
"""Amplitude times frequency."""
BEFORE = {"amplitude": [5.0, 0.0], "hz": [1.0, 1.0], "phase": [0.5, 0.0], "ramp_s": [0.1], "seconds": [10.0]}


class Excite:
    """Its parameters, and the check of a sine's slope against the slew."""

    def __init__(self) -> None:
        self.values = {name: np.array(value) for name, value in BEFORE.items()} | {"run": np.zeros(1)}

    @property
    def parameters(self) -> dict[str, Any]:
        """As a workspace has them."""
        told = {f"excite/{name}": SimpleNamespace(value=value.copy()) for name, value in self.values.items()}
        return told | {"excite/state": SimpleNamespace(number=0)}

    @property
    def streams(self) -> dict[str, Any]:
        """As a workspace has them."""
        return {"excite/state": SimpleNamespace(head=0)}

    def put(self, name: str, value: Any, first: int = 0) -> None:
        """Raises RequestRefused."""
        key = name.removeprefix("excite/")
        wanted = self.values[key].copy()
        given = np.atleast_1d(value)
        wanted[first : first + len(given)] = given
        after = self.values | {key: wanted}
        if (after["amplitude"] * after["hz"] > FASTEST).any():
            raise RequestRefused(f"{name}: faster than its slew")
        self.values = after


def test_a_slow_large_sine_is_set_again_behind_fast_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_runs, "_GO_S", 0.0)
    excite: Any = Excite()
    with of_runs._kept(excite, "excite"):
        for name, values in (("amplitude", [0.0, 0.0]), ("hz", [200.0, 300.0]), ("amplitude", [0.04, 0.03])):
            excite.put(f"excite/{name}", values)
    assert {name: excite.values[name].tolist() for name in BEFORE} == BEFORE

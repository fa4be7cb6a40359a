# SPDX-License-Identifier: Apache-2.0
"""Scans a corrector against the orbit, by Bluesky and ophyd-async, through `ringmaster gateway epics`.

It needs nothing of ours: `pip install bluesky 'ophyd-async[ca,pva]'`. docs/epics.md has a run of it.
"""

import argparse
import json
from typing import Any

import numpy as np
from bluesky import RunEngine
from bluesky.plans import list_scan
from ophyd_async.core import Array1D, AsyncStatus, StandardReadable, init_devices, observe_value
from ophyd_async.core import StandardReadableFormat as Format
from ophyd_async.epics.core import epics_signal_r, epics_signal_rw

TIMEOUT_S = 60.0


class Setting(StandardReadable):  # type: ignore[misc]
    """A parameter that can be put. It is there when its owner has answered; a refusal ends the plan, with its words."""

    def __init__(self, pv: str, name: str = "") -> None:
        with self.add_children_as_readables(Format.HINTED_SIGNAL):
            self.value = epics_signal_rw(float, f"pva://{pv}")
        super().__init__(name)

    def set(self, value: float) -> AsyncStatus:
        """As Bluesky moves it."""
        return self.value.set(value, timeout=TIMEOUT_S)


class Orbit(StandardReadable):  # type: ignore[misc]
    """Positions of all BPMs, x and y."""

    def __init__(self, prefix: str, name: str = "") -> None:
        with self.add_children_as_readables():
            self.x = epics_signal_r(Array1D[np.float64], f"pva://{prefix}:orbit:x")
            self.y = epics_signal_r(Array1D[np.float64], f"pva://{prefix}:orbit:y")
        super().__init__(name)

    @AsyncStatus.wrap  # type: ignore[untyped-decorator]
    async def trigger(self) -> None:
        """Waits for an orbit that began after this: the next one may have been on its way, the second was not."""
        updates = 0
        async for _ in observe_value(self.y, timeout=TIMEOUT_S):
            updates += 1
            if updates == 3:  # the first is what there was
                return


def main() -> None:
    """Prints a line of JSON for each point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corrector", help="PV of a setpoint: demo:bump:current")
    parser.add_argument("prefix", help="what stands before :orbit:x in the orbit's PV: demo")
    parser.add_argument("points", nargs="+", type=float)
    given = parser.parse_args()
    engine = RunEngine({})
    with init_devices(timeout=TIMEOUT_S):
        corrector = Setting(given.corrector, "corrector")
        orbit = Orbit(given.prefix, "orbit")

    def show(name: str, document: dict[str, Any]) -> None:
        if name == "event":
            data = document["data"]
            print(json.dumps({"corrector": data["corrector-value"], "x": data["orbit-x"].tolist()}), flush=True)

    engine(list_scan([orbit], corrector, given.points), show)


if __name__ == "__main__":
    main()

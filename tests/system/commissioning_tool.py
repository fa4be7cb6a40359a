# SPDX-License-Identifier: Apache-2.0
"""A commissioning program as people write them against Elettra 2.0's digital twin: it has nothing of ours.

    commissioning_tool.py PATTERN CORRECTOR

PATTERN is what a device's name is put into: "%s" with a database, else "tango://HOST:PORT/%s#dbase=no". It measures a
column of the response matrix, looks at the turns after an injection, and prints all that it found as JSON.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import tango

TIMEOUT_S = 240.0
PATTERN, CORRECTOR = sys.argv[1:]
KICK_RAD = 20e-6


def device(name: str) -> Any:
    """Patient with a busy host."""
    proxy = tango.DeviceProxy(PATTERN % name)
    proxy.set_timeout_millis(60_000)
    return proxy


def wait_for(there: Callable[[], Any], what: str) -> Any:
    """What it returns when that is true."""
    give_up = time.monotonic() + TIMEOUT_S
    while not (found := there()):
        assert time.monotonic() < give_up, f"waited in vain for {what}"
        time.sleep(0.1)
    return found


BPM, RING = device("sr/diagnostics/bpm_s"), device("simulator/elettra2/sr")


def turn() -> int:
    """The last one of the orbit, -1 before there is one."""
    position, last = BPM.read_attributes(["HorPos", "Turn"])
    return -1 if position.value is None else int(last.value)


def orbit() -> Any:
    """Of turns that came from now on: mm, x and y of each BPM."""
    begin = turn()
    wait_for(lambda: turn() > begin + 2048, "a new orbit")
    return np.array([value.value for value in BPM.read_attributes(["HorPos", "VerPos"])])


def reads(magnet: Any, wanted: float) -> bool:
    """Whether it has come there."""
    return bool(abs(magnet.Strength - wanted) < 1e-9)


def column(name: str) -> Any:
    """mm/rad: what a corrector does to the orbit."""
    magnet = device(f"sr/magnet/{name}")
    before = magnet.Strength
    found = []
    for sign in (1, -1):
        wanted = before + sign * KICK_RAD
        magnet.write_attribute("Strength", wanted)
        wait_for(partial(reads, magnet, wanted), "the corrector")
        found.append(orbit())
    magnet.Strength = before
    return (found[0] - found[1]) / (2 * KICK_RAD)


def injection() -> dict[str, Any]:
    """The turns after one."""
    RING.write_attribute("Mode", 1)
    wait_for(lambda: RING.read_attribute("HPositionsTbT").value is not None, "the turns")
    turns = RING.read_attribute("HPositionsTbT").value
    RING.write_attribute("Mode", 3)
    return {"shape": list(turns.shape), "first_rms": float(np.nanstd(turns[:, :20])), "mode": int(RING.Mode)}


def refusal(name: str, attribute: str, value: float) -> str:
    """Why it cannot be written."""
    try:
        device(name).write_attribute(attribute, value)
    except tango.DevFailed as failure:
        return str(failure.args[0].desc)
    return ""


def magnets() -> list[str]:
    """What the database has of them; where there is none a program must know their names."""
    if PATTERN != "%s":
        return []
    return sorted(tango.Database().get_device_exported("sr/magnet/*").value_string)


def main() -> None:
    """All of it."""
    wait_for(lambda: BPM.read_attribute("HorPos").value is not None, "an orbit")
    quadrupole = device("sr/magnet/qf_s01.01")
    quadrupole.CorrectionStrength = 0.001 * quadrupole.DesignStrength
    frequency = RING.RfFrequency
    RING.RfFrequency = frequency + 1e-5
    wait_for(lambda: abs(RING.RfFrequency - frequency - 1e-5) < 1e-9, "the RF")
    print(
        json.dumps(
            {
                "magnets": magnets(),
                "column": column(CORRECTOR).tolist(),
                "quadrupole": quadrupole.Strength / quadrupole.DesignStrength,
                "frequency": frequency,
                "voltage": RING.RfVoltage,
                "injection": injection(),
                "sextupole": refusal("sr/magnet/sf_s01.01", "Strength", 1.0),
                "mode": refusal("simulator/elettra2/sr", "Mode", 2),
                "too_much": refusal(f"sr/magnet/{CORRECTOR}", "Strength", 1.0),
                "states": [str(it.state()) for it in (BPM, RING, quadrupole)],
                "unit": BPM.get_attribute_config("HorPos").unit,
            }
        ),
        flush=True,
    )
    os._exit(0)


if __name__ == "__main__":
    main()

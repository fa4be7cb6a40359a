# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench power` as a person runs it, with or without a machine that counts its energy."""

import pytest
from bench_runs import interrupted, windows
from harness import ringmaster_json

from ringmaster.programs.cores import cores

pytestmark = [
    pytest.mark.usefixtures("root", "nothing_left"),
    pytest.mark.skipif(cores()[0] == cores()[1], reason="needs a core to send and one to receive"),
]


def test_power_is_reported_as_far_as_there_is_any() -> None:
    section = ringmaster_json("bench", "power", "--rounds", "1", "--seconds", "0.2", "--json")
    states = {one["state"]: one for one in windows(section)}
    assert len(states) == 5
    on, off = (states[f"waiting, governor {word}"] for word in ("on", "off"))
    assert on["waited_share"] > 0.5
    assert off["waited_share"] == 0
    assert on["polls_per_s"] < off["polls_per_s"] / 2
    assert states["loaded, governor on"]["rate_pps"] > 0
    has_energy = all(one["taken"]["package_w"] is not None for one in states.values())
    assert has_energy != any("package energy" in note for note in section["notes"])


def test_ctrl_c_ends_power_as_well() -> None:
    section = interrupted("power", "--rounds", "500", "--seconds", "0.1", after="waiting, governor on")
    assert len(windows(section)) >= 2

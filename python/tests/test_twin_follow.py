# SPDX-License-Identifier: Apache-2.0
"""The following twin beside a machine that a test plays: what the lattice explains goes, what it does not is told."""

from pathlib import Path

import fabric
import numpy as np
import pytest
from command import ringmaster
from conftest import MakeOwner
from numpy.typing import NDArray

from ringmaster.errors import TwinArgument
from ringmaster.fabric.layout import ElementType, LaneType
from ringmaster.fabric.workspace import Workspace, attach
from ringmaster.feedback.following_twin import Follower, change, follow
from ringmaster.machine.mapping import resolve
from ringmaster.twin import Twin, load_lattice

LANES = ("x1", "y1", "x2", "y2")
MAPPING = {
    "bpms": "BPM_S01_0[1-4]",
    "rows": "bpm[01-02]/{x1,y1,x2,y2}",
    "correctors": [
        {"elements": "CF_S01_01", "plane": "x", "actuators": "ps/h", "urad_per_unit": 10},
        {"elements": "CF_S01_02", "plane": "y", "actuators": "ps/v", "urad_per_unit": 10},
    ],
}
CURRENTS = {"ps/h": 1.5, "ps/v": -2.0}


def machine_orbit(gradient: float) -> NDArray[np.float64]:
    """Of the machine that is played, nm, (BPM, plane)."""
    twin = Twin(load_lattice("elettra2_like"))
    twin.enable_6d()
    if gradient:
        change(twin, f"QF1_S01_01={gradient}")
    twin.set_kick("CF_S01_01", horizontal=CURRENTS["ps/h"] * 1e-5)
    twin.set_kick("CF_S01_02", vertical=CURRENTS["ps/v"] * 1e-5)
    bpms = [i for i, name in enumerate(twin.lattice.names) if name in {f"BPM_S01_0{n}" for n in range(1, 5)}]
    _, orbit = twin.find_orbit(bpms)
    return np.asarray(orbit[:, [0, 2]] * 1e9, np.float64)


def play(make_owner: MakeOwner, gradient: float = 0.0) -> None:
    """A workspace with this orbit in its streams, and these currents."""
    lanes = [(lane, "nm", LaneType.I32) for lane in LANES]
    numbers = {"server/turn_rate_hz": 1157000.0} | {f"{name}/setpoint": value for name, value in CURRENTS.items()}
    owner = make_owner(
        [
            *(fabric.stream(f"bpm0{i}/fast", period=12, lanes=lanes) for i in (1, 2)),
            *(fabric.parameter(name, np.array([value]), "", ElementType.F64) for name, value in numbers.items()),
        ]
    )
    orbit = machine_orbit(gradient)
    for i in (1, 2):
        values = np.round(orbit[2 * i - 2 : 2 * i].ravel()).astype(int)
        fill(owner, f"bpm0{i}/fast", values)


def fill(owner: fabric.Owner, stream: str, values: NDArray[np.int_]) -> None:
    """The same reading in a few records."""
    for record in range(1, 6):
        owner.store(stream, 12 * record, values.astype("<i4").tobytes())
    owner.publish(stream, 60, first=12)


def follower(ws: Workspace, gradient: str = "") -> Follower:
    twin = Twin(load_lattice("elettra2_like"))
    twin.enable_6d()
    if gradient:
        change(twin, gradient)
    return Follower(ws, twin, resolve(twin.lattice, MAPPING))


def test_what_the_lattice_explains_is_gone(make_owner: MakeOwner) -> None:
    play(make_owner)
    with attach("demo") as ws:
        it = follower(ws)
        look = it.look(0.1)
        assert np.abs(look.machine_um).max() > 10.0
        assert np.abs(it.residual(look)).max() < 0.002  # readings are whole nm
        assert (look.turn, look.unknown) == (60, 0)


def test_what_it_does_not_is_reported_and_whose_gradient_it_is(make_owner: MakeOwner) -> None:
    """Two models follow at once: the one whose quadrupole is as the machine's has nothing left."""
    play(make_owner, gradient=0.02)
    with attach("demo") as ws:
        design, changed = follower(ws), follower(ws, "QF1_S01_01=+0.02")
        assert np.abs(design.residual(design.look(0.1))).max() > 0.1
        assert np.abs(changed.residual(changed.look(0.1))).max() < 0.002
        design.take_reference(design.look(0.1))
        assert np.abs(design.residual(design.look(0.1))).max() < 1e-9


def test_it_publishes_and_nothing_else(make_owner: MakeOwner, root: Path) -> None:
    play(make_owner)
    before = {path.name for path in (root / "demo").rglob("*.segment")}
    with attach("demo") as ws:
        follow(follower(ws), "model", ["as designed"], hz=20.0, seconds=0.3)
    with attach("demo", dead=True) as ws:
        assert {path.name for path in (root / "demo").rglob("*.segment")} - before == {"model.segment"}
        assert np.asarray(ws.parameters["model/residual_x"].value).shape == (4,)
        assert ws.parameters["model/rms_x"].number < 0.002
        assert ws.parameters["model/looks"].number >= 1
        assert ws.parameters["model/used"].value == "as designed"
        assert "model" not in ws.setpoints  # it has no way to the guard
        assert not [
            name for name, it in ws.parameters.items() if it.owner == "model" and it.writable and "zero" not in name
        ]


def test_the_command_follows(make_owner: MakeOwner, tmp_path: Path) -> None:
    play(make_owner, gradient=0.02)
    (tmp_path / "map.yaml").write_text(
        "bpms: 'BPM_S01_0[1-4]'\nrows: 'bpm[01-02]/{x1,y1,x2,y2}'\ncorrectors:\n"
        "  - {elements: CF_S01_01, plane: x, actuators: ps/h, urad_per_unit: 10}\n"
        "  - {elements: CF_S01_02, plane: y, actuators: ps/v, urad_per_unit: 10}\n"
    )
    common = ("twin", "follow", "elettra2_like", "--map", str(tmp_path / "map.yaml"), "--seconds", "0.3")
    said = ringmaster(*common, "--as", "model", "--set", "QF1_S01_01=+0.02").stdout
    assert "model follows demo: 4 BPMs, 2 actuators, lattice elettra2_like; QF1_S01_01: gradient × 1.02" in said
    with attach("demo", dead=True) as ws:
        assert ws.parameters["model/rms_x"].number < 0.002
    assert "another owner's name" in ringmaster(*common, "--as", "server", expect=7).stderr
    assert (
        "no element of elettra2_like is named NOBODY"
        in ringmaster(*common, "--as", "model", "--set", "NOBODY=1", expect=1).stderr
    )


@pytest.mark.parametrize("text", ["QF1_S01_01", "QF1_S01_01=much", "QF1_S01_01.dz=1"])
def test_a_change_that_is_none_is_reported(text: str) -> None:
    with pytest.raises(TwinArgument, match="expected"):
        change(Twin(load_lattice("elettra2_like")), text)

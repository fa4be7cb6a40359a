# SPDX-License-Identifier: Apache-2.0
"""Physical units: in windows, on the command line, and in files."""

import json
import struct
from pathlib import Path

import fabric
import numpy as np
import numpy.typing as npt
import pytest
from command import in_a_process, ringmaster
from conftest import MakeOwner

from ringmaster import Workspace, attach
from ringmaster.errors import ObjectNotFound, WorkspaceVersion
from ringmaster.fabric.calibration import LAYOUT, VALUES, Calibration, Units
from ringmaster.fabric.layout import Calibrated, ElementType, LaneType
from ringmaster.recordings import recording

LANES = [("x1", "nm", LaneType.I32), ("y1", "nm", LaneType.I32), ("sum1", "counts", LaneType.I32)]
UNITS = "x1\tnm\tmm\ny1\tnm\tmm\nsum1\tcounts\tcounts\n"


def values(**members: object) -> npt.NDArray[np.float64]:
    """x1 and y1 in mm, rolled by a right angle, 2 mm beside the axis."""
    calibration = np.zeros(1, LAYOUT)
    head = calibration[0]
    head["version"], head["bpm_count"], head["calibrated_lanes"] = 1, 1, 3
    head["lane"][:, 1] = 1
    head["lane"][:2, 1] = 1e-6
    bpm = head["bpm"][0]
    bpm["y_lane"], bpm["roll_rad"] = 1, np.pi / 2
    bpm["x"]["k"][0] = bpm["y"]["k"][0] = 1
    bpm["x"]["mechanical_offset"] = 2
    for member, value in members.items():
        head[member] = value
    return calibration.view("<f8")


def make(make_owner: MakeOwner, calibrated: Calibrated, **members: object) -> fabric.Owner:
    owner = make_owner(
        [
            fabric.stream("bpm01/turn", lanes=LANES, calibrated=calibrated),
            fabric.stream("bpm02/turn", lanes=LANES),
            fabric.parameter("calibration/bpm01", values(**members), "", ElementType.F64),
            fabric.text("calibration/bpm01/units", UNITS),
            fabric.clock(anchored=1, ticks_per_turn_bits=2000.0, tsc_hz_bits=2e9),
        ]
    )
    for name in ("bpm01/turn", "bpm02/turn"):
        for turn in (10, 12):
            owner.store(name, turn, struct.pack("<iii", 1000000 * turn, -500000, 7))
        owner.publish(name, 12, first=10)
    return owner


@pytest.fixture
def ws(make_owner: MakeOwner) -> Workspace:
    make(make_owner, Calibrated.IN_READING)
    return attach()


def test_windows_are_physical_when_asked_for(ws: Workspace) -> None:
    stream = ws.streams["bpm01/turn"]
    assert stream.read(10, 1)["x1"][0] == 10_000_000
    window = stream.read(10, 3, physical=True)
    assert window.values("x1") == pytest.approx([0.5 - 2, np.nan, 0.5 - 2], nan_ok=True)
    assert window.values("y1") == pytest.approx([10, np.nan, 12], nan_ok=True)
    assert window["x1"][1] == 0
    assert window["sum1"].dtype == np.int32
    assert window["sum1"].tolist() == [7, 0, 7]
    assert stream.physical_units == {"x1": "mm", "y1": "mm", "sum1": "counts"}
    assert stream.latest(1, physical=True)["y1"][0] == pytest.approx(12)


def test_a_stream_without_calibration_stays_raw(ws: Workspace) -> None:
    stream = ws.streams["bpm02/turn"]
    assert stream.calibrated == Calibrated.NOT
    assert stream.read(10, 1, physical=True)["x1"].tolist() == [10_000_000]
    assert stream.physical_units["x1"] == "nm"


def test_a_stream_that_is_physical_is_not_converted_again(make_owner: MakeOwner) -> None:
    make(make_owner, Calibrated.IN_STREAM)
    with attach() as ws:
        stream = ws.streams["bpm01/turn"]
        assert stream.calibration is not None
        assert stream.read(10, 1, physical=True)["x1"].tolist() == [10_000_000]


def test_a_calibration_that_is_missing_is_reported(make_owner: MakeOwner) -> None:
    make_owner([fabric.stream("bpm01/turn", lanes=LANES, calibrated=Calibrated.IN_READING)])
    with attach() as ws, pytest.raises(ObjectNotFound, match="no parameter 'calibration/bpm01'"):
        ws.streams["bpm01/turn"].read(0, 0, physical=True)


@pytest.mark.parametrize(
    "members",
    [{"version": 2}, {"bpm_count": 7}, {"bpm_count": 0.5}, {"calibrated_lanes": 8}, {"reserved": np.nan}],
)
def test_values_that_cannot_be_used_are_refused(members: dict[str, object]) -> None:
    units = dict.fromkeys(("x1", "y1", "sum1"), Units("nm", "mm"))
    Calibration(values(), units)
    with pytest.raises(WorkspaceVersion, match="no calibration of version 1"):
        Calibration(values(**members), units)
    with pytest.raises(WorkspaceVersion):
        Calibration(values()[: VALUES - 1], units)


def test_one_plane_alone_cannot_be_converted() -> None:
    calibration = Calibration(values(), dict.fromkeys(("x1", "y1"), Units("nm", "mm")))
    with pytest.raises(ValueError, match="x1 and y1 are one BPM"):
        calibration.apply({"x1": np.zeros(3)})


@pytest.mark.usefixtures("ws")
def test_show_prints_what_differs_from_the_identity() -> None:
    shown = ringmaster("calibration", "show").stdout
    assert "bpm01: applied in reading\n  x1: nm → mm  gain 1e-06, mechanical_offset 2, roll_rad 1.5708\n" in shown
    plain = json.loads(ringmaster("calibration", "show", "bpm01", "--json").stdout)
    assert plain["bpm01"]["lanes"]["y1"]["k10"] == 1
    assert "did you mean 'bpm01'" in ringmaster("calibration", "show", "bpm1", expect=7).stderr


@pytest.mark.usefixtures("ws")
def test_get_shows_raw_and_physical() -> None:
    newest = json.loads(ringmaster("get", "bpm01/turn", "--json").stdout)["stream/bpm01/turn"]
    assert newest["lanes"]["x1"] == 12_000_000
    assert newest["physical"]["y1"] == {"value": pytest.approx(12), "unit": "mm"}
    assert "y1 (calibrated)  12.0 mm" in ringmaster("get", "bpm01/turn").stdout


@pytest.mark.usefixtures("ws")
def test_what_get_writes_can_be_read_and_converted(tmp_path: Path) -> None:
    path = tmp_path / "beam.h5"
    assert "2 streams" in ringmaster("get", "bpm*/turn", "clock", "--records", "3", "--output", str(path)).stdout
    bpm01, bpm02 = recording.read_recording(path)
    assert [(lane.name, lane.unit, lane.type) for lane in bpm01.lanes] == LANES
    assert bpm01.lane("x1").tolist() == [10_000_000, 0, 12_000_000]
    assert bpm01.physical()["y1"] == pytest.approx([10, np.nan, 12], nan_ok=True)
    assert bpm01.physical_units == {"x1": "mm", "y1": "mm", "sum1": "counts"}
    assert bpm02.physical()["x1"] == pytest.approx([10_000_000, np.nan, 12_000_000], nan_ok=True)
    assert "name: bpm01" in ringmaster("replay", str(path), "--describe").stdout
    assert "exists" in ringmaster("get", "bpm01/turn", "--output", str(path), expect=1).stderr
    assert "no stream" in ringmaster("get", "clock", "--output", str(tmp_path / "b.h5"), expect=2).stderr


@pytest.mark.parametrize(
    ("arguments", "program"),
    [
        (["check", "a.csv", "--config", "b.yaml"], "check a.csv b.yaml"),
        (["template", "b.yaml"], "template b.yaml"),
    ],
)
def test_tables_are_the_c_programs_business(tmp_path: Path, arguments: list[str], program: str) -> None:
    script = tmp_path / "ringmaster-calibration"
    script.write_text('#!/bin/sh\necho "$@"\nexit 5\n')
    script.chmod(0o755)
    done = in_a_process("calibration", *arguments, RINGMASTER_LIBEXEC=str(tmp_path), expect=5)
    assert done.stdout == f"{program}\n"

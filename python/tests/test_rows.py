# SPDX-License-Identifier: Apache-2.0
"""Row rings as Python writes, reads and lists them."""

import json
from collections.abc import Iterator
from pathlib import Path

import fabric
import h5py
import numpy as np
import numpy.typing as npt
import pytest
from command import ringmaster as command
from conftest import MakeOwner

import ringmaster
from ringmaster.errors import WorkspaceDamaged
from ringmaster.fabric import layout
from ringmaster.fabric.owned import Axis, OwnedRows
from ringmaster.fabric.owner import Owner
from ringmaster.fabric.window import ReadResult
from ringmaster.recordings import export

WIDTH, PERIOD = 5, 100
AXIS = Axis(WIDTH, 0.1, 0.05, "tune", "1/turn")

Setup = tuple[OwnedRows, ringmaster.Workspace]


@pytest.fixture
def ring(make_owner: MakeOwner) -> Iterator[Setup]:
    """The ring "tune/spectrum_x" of an owner, which keeps seven rows, and a reader."""
    make_owner([fabric.clock()])
    owner = Owner("tune", "demo")
    rows = owner.rows("tune/spectrum_x", "nm", AXIS, PERIOD, "spectra", depth=7)
    with owner, ringmaster.attach("demo") as ws:
        yield rows, ws


def row(turn: int) -> npt.NDArray[np.float32]:
    """The row of a turn."""
    return np.arange(WIDTH, dtype=np.float32) * np.float32(0.25) + np.float32(turn)


def test_a_ring_says_what_its_rows_are(ring: Setup) -> None:
    rows = ring[1].rows["tune/spectrum_x"]
    assert (rows.unit, rows.width, rows.period, rows.capacity) == ("nm", WIDTH, PERIOD, 8)
    assert (rows.axis_name, rows.axis_unit) == ("tune", "1/turn")
    np.testing.assert_allclose(rows.axis, [0.1, 0.15, 0.2, 0.25, 0.3])
    assert rows.head is None
    assert len(rows.latest(3)) == 0


def test_the_newest_rows_with_what_is_missing(ring: Setup) -> None:
    owned, ws = ring
    rows = ws.rows["tune/spectrum_x"]
    for turn in (1000, 1100, 1300):
        owned.put(turn, row(turn), quality=turn == 1100)
    window = rows.latest(10)
    assert window.turn.tolist() == [1000, 1100, 1200, 1300]
    assert window.result.tolist() == [ReadResult.OK, ReadResult.OK, ReadResult.MISSING, ReadResult.OK]
    assert window.quality.tolist() == [0, 1, 0, 0]
    assert window.good.tolist() == [True, False, False, True]
    assert window.values.shape == (4, WIDTH)
    assert np.isnan(window.values[2]).all()
    np.testing.assert_array_equal(window.values[3], row(1300))
    assert rows.latest(2).turn.tolist() == [1200, 1300]


def test_old_rows_are_lapped_and_a_restart_hides_them(ring: Setup) -> None:
    owned, ws = ring
    rows = ws.rows["tune/spectrum_x"]
    for turn in range(0, 2000, PERIOD):
        owned.put(turn, row(turn))
    assert rows.latest(100).turn.tolist() == list(range(1300, 2000, PERIOD))
    assert rows.latest(100).ok.all()
    assert rows.read(1200, 1).result.tolist() == [ReadResult.LAPPED]
    owned.put(1500, row(7))
    window = rows.read(1400, 3)
    assert window.result.tolist() == [ReadResult.BEFORE, ReadResult.OK, ReadResult.NOT_YET]
    assert window.turn_epoch == rows.stream.turn_epoch == 1
    np.testing.assert_array_equal(window.values[1], row(7))


def test_rows_of_another_width_are_refused(ring: Setup) -> None:
    owned, ws = ring
    with pytest.raises(ValueError, match="a row has 5 values, not 4"):
        owned.put(0, [1, 2, 3, 4])
    with pytest.raises(ValueError, match="no multiple of the stream's period of 100 turns"):
        ws.rows["tune/spectrum_x"].read(50, 1)


def test_ls_and_get_show_them(ring: Setup) -> None:
    owned, ws = ring
    owned.put(300, [1, 2, 3, float("nan"), 5], quality=2)
    listed = json.loads(command("ls", "-w", "demo", "--json", "tune/spectrum_x").stdout)
    found = listed["objects"][0] if isinstance(listed, dict) else listed[0]
    assert (found["kind"], found["unit"], found["width"], found["head_turn"]) == ("rows", "nm", WIDTH, 300)
    assert found["axis"] == {"name": "tune", "unit": "1/turn", "first": 0.1, "last": pytest.approx(0.3)}
    shown = command("ls", "-w", "demo").stdout
    assert "tune/spectrum_x" in shown
    assert "tune 0.1 … 0.3 1/turn" in shown
    got = json.loads(command("get", "-w", "demo", "--json", "tune/spectrum_x").stdout)["rows/tune/spectrum_x"]
    assert (got["turn"], got["quality"], got["values"][:3]) == (300, 2, [1.0, 2.0, 3.0])
    assert "quality" in command("get", "-w", "demo", "tune/spectrum_x").stdout
    assert ws.rows["tune/spectrum_x"].head == 300


def test_rows_go_to_a_file(ring: Setup, tmp_path: Path) -> None:
    for turn in (300, 500):
        ring[0].put(turn, row(turn), quality=turn == 500)
    path = tmp_path / "rows.h5"
    assert "1 row ring" in command("get", "-w", "demo", "tune/spectrum_x", "--output", str(path)).stdout
    with h5py.File(path) as file:
        group = file["tune/spectrum_x"]
        assert group["turn"][:].tolist() == [300, 400, 500]
        assert group["ok"][:].tolist() == [True, False, True]
        assert group["quality"][:].tolist() == [0, 0, 1]
        assert (group["values"].attrs["units"], group["axis"].attrs["units"]) == ("nm", "1/turn")
        np.testing.assert_array_equal(group["values"][2], row(500))
    assert export.read(path) == []  # rows are no recording of instruments


def test_a_damaged_ring_is_told(make_owner: MakeOwner, tmp_path: Path) -> None:
    header = np.zeros(1, layout.ROWS)
    header[0]["values_offset"], header[0]["row_bytes"], header[0]["width"] = 4096, 64, 17
    stream = fabric.stream("unused", capacity=4, margin=1)
    header[0]["stream"] = np.frombuffer(stream.content, layout.STREAM, 1)[0]
    content = header.tobytes().ljust(4096, b"\0") + bytes(4096 + 4 * 64)
    make_owner([fabric.Spec("rows/broken", layout.ObjectKind.ROWS, content, "nm", layout.ElementType.F32, (4, 17))])
    with ringmaster.attach("demo") as ws, pytest.raises(WorkspaceDamaged, match="rows 'broken' contradict themselves"):
        ws.rows["broken"]

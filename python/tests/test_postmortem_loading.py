# SPDX-License-Identifier: Apache-2.0
"""Evidence from a server that was killed, and from a window that was exported: the same numbers."""

from pathlib import Path

import numpy as np
from conftest import MakeOwner
from fabric import parameter, stream

from ringmaster.fabric.layout import ElementType
from ringmaster.fabric.workspace import attach
from ringmaster.postmortem.loading import from_exports, from_workspace, newest_turn
from ringmaster.recordings.export import write


def test_killed_server_and_export_give_the_same(make_owner: MakeOwner, tmp_path: Path) -> None:
    rate = parameter("server/turn_rate_hz", np.array([1157000.0]), "Hz", ElementType.F64)
    owner = make_owner([stream("bpm01/turn"), stream("bpm02/turn"), rate])
    owner.fill("bpm01/turn", 100, 160)
    owner.die()
    with attach("demo", dead=True) as ws:
        assert newest_turn(ws) == 160
        evidence = from_workspace(ws, 160, 30, 0)
        write(tmp_path / "window.h5", "demo", {ws.streams["bpm01/turn"]: ws.streams["bpm01/turn"].read(130, 31)})
    (series,) = evidence.series  # nothing came of the other
    assert "ended" in evidence.source
    assert evidence.turn_rate_hz == 1157000.0
    assert series.name == "bpm01/turn"
    assert series.turn[0] == 130
    assert series.units == ("nm", "nm")
    (exported,) = from_exports([tmp_path / "window.h5"], 160, 1157000.0).series
    assert exported.name == series.name
    assert np.array_equal(exported.turn, series.turn)
    assert np.array_equal(exported.values, series.values, equal_nan=True)
    assert series.lane("y1")[0] == -130.0

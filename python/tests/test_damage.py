# SPDX-License-Identifier: Apache-2.0
"""What other users do to their segments harms no reader: it is named and left out, and the rest works."""

import os
import random
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import fabric
import numpy as np
import pytest
from click.testing import CliRunner
from conftest import MakeOwner

import ringmaster
from ringmaster.cli.main import cli
from ringmaster.errors import WorkspaceError, WorkspaceWarning
from ringmaster.fabric.layout import ElementType
from ringmaster.values.inventory import describe, read

LIMIT_S = 120
"""A reader that hangs; one that waits for a core does not take that long."""
SPOILT = 400
"""Segments with random damage."""


def good_objects() -> list[fabric.Spec]:
    """One of each kind that has something to spoil."""
    return [
        fabric.stream("bpm01/turn"),
        fabric.parameter("ramp/gain", np.array([1.5]), "", ElementType.F64),
        fabric.parameter("ramp/mask", np.arange(12, dtype="<i4"), "", ElementType.I32, group=b"ramp/settings"),
        fabric.group("ramp/settings"),
        fabric.setpoints("ramp", [[1.0, 2.0, 3.0, 4.0, 5.0]]),
        fabric.grant("ramp"),
        fabric.standby_state(server=1, role=3),
        fabric.standby_orders(beat=1),
        fabric.state("state/ramp", b"something"),
        fabric.counters("stream/bpm01", "stream", accepted=3),
        fabric.clock(anchored=1, tsc_hz_bits=1e9, ticks_per_turn_bits=2000.0),
        fabric.histogram("ramp/step", {3: 1}, 3),
        fabric.text("ramp/version", "0.1"),
    ]


def look_at_everything(workspace: str) -> None:
    """As `ls` and `get` do. A damaged object is a WorkspaceError, and nothing else."""
    with ringmaster.attach(workspace, dead=True) as ws:
        for info in ws.objects.values():
            for look in (describe, read):
                try:
                    look(ws, info)
                except WorkspaceError:
                    continue


READER = """
import os, sys, warnings, ringmaster
from ringmaster.errors import WorkspaceError
warnings.simplefilter("ignore")
with ringmaster.attach("demo") as ws:
    stream, rows, gain = ws.streams["bpm01/turn"], ws.setpoints["ramp"], ws.parameters["ramp/gain"]
    assert stream.latest(5)["x1"].tolist() == [1, 2, 3, 4, 5]
    assert not ws.segments["ramp"].cut
    os.truncate(ws.segments["ramp"].path, int(sys.argv[1]))
    for look in (lambda: stream.latest(5), lambda: stream.read(1, 5), rows.read, gain.read):
        try:
            look()
        except (WorkspaceError, ValueError):
            pass
    assert not stream.read(1, 5).ok.any()
    assert ws.segments["ramp"].cut
    assert ws.texts["server/version"] == "1"
"""


@pytest.mark.parametrize("size", [0, fabric.PAGE])
def test_a_reader_survives_that_an_owner_cuts_its_file(make_owner: MakeOwner, size: int) -> None:
    make_owner([fabric.text("server/version", "1")])
    make_owner(good_objects(), name="ramp").fill("bpm01/turn", 1, 5)
    done = subprocess.run(
        [sys.executable, "-c", READER, str(size)], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.mkdir()


def make_link(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [make_fifo, make_folder, make_link, make_loop])
def test_what_is_no_file_is_named_and_left_out(make_owner: MakeOwner, root: Path, make: Callable[[Path], None]) -> None:
    make_owner([fabric.text("server/version", "1")])
    make(root / "demo" / "ramp.segment")
    make(root / "demo" / "ramp.lock")
    done = subprocess.run(
        [sys.executable, "-m", "ringmaster", "ls", "--json"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "server/version" in done.stdout
    assert "ramp.segment" in done.stderr
    assert "ramp.segment" in done.stdout


def test_a_garbled_segment_of_another_owner_is_named_and_left_out(make_owner: MakeOwner) -> None:
    make_owner([fabric.text("server/version", "1")])
    make_owner(good_objects(), name="ramp").set_directory(0, "kind", 77)
    with pytest.warns(WorkspaceWarning, match="ramp is left out.*77"):
        ws = ringmaster.attach("demo")
    with ws:
        assert list(ws.segments) == ["server"]
        assert "77" in next(iter(ws.left_out.values()))


def test_a_damaged_object_is_named_and_the_others_are_listed(make_owner: MakeOwner) -> None:
    make_owner([*good_objects(), fabric.stream("bpm02/turn", calibrated=99)])
    with pytest.warns(WorkspaceWarning, match="bpm02/turn"):
        done = CliRunner().invoke(cli, ["ls"])
    assert done.exit_code == 0, done.output
    assert "bpm01/turn" in done.output


def test_random_damage_neither_ends_nor_hangs_a_reader(make_owner: MakeOwner) -> None:
    chance = random.Random(15)
    owner = make_owner([fabric.text("server/version", "1")])
    spoilt = make_owner(good_objects(), name="ramp")
    good = bytes(spoilt.memory)
    used = [place for place in range(len(good)) if good[place]]
    for _ in range(SPOILT):
        for _ in range(chance.randint(1, 12)):
            place = chance.choice(used) if chance.random() < 0.7 else chance.randrange(len(good))
            spoilt.memory[place] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            look_at_everything("demo")
        spoilt.memory[:] = good
    assert owner.objects

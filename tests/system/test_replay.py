# SPDX-License-Identifier: Apache-2.0
"""The orbit feedback in a real server, while its thread `work` solves matrices: recorded, and replayed."""

import json
from contextlib import ExitStack
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic

import numpy as np
import pytest
from harness import again_if_starved, terminate, wait_for

from ringmaster import Archive, attach
from ringmaster.fabric.workspace import Workspace
from ringmaster.programs.program import Program
from ringmaster.simulation import replay
from ringmaster.virtual import loop as virtual_loop
from ringmaster.virtual.ring import FULL_TURN_RATE_HZ

RECORDED = ("feedback/decision", "feedback/settings_adopted", "feedback/missing*", "feedback/sent*", "bpm*/raw")
STEPS = 5000
TIMEOUT_S = 120.0


def pass_steps(loop: virtual_loop.Loop, steps: int) -> None:
    """Waits until the feedback has made so many more."""
    host = loop.ws.counter_blocks["application/feedback"]
    end, give_up = host["steps"] + steps, monotonic() + TIMEOUT_S
    while host["steps"] < end:
        assert monotonic() < give_up
        loop.pass_time(0.05, 0.001)


def work_a_while(loop: virtual_loop.Loop) -> None:
    """Closes the loop, and makes its thread `work` solve some matrices."""
    loop.put("loop", 1.0)
    pass_steps(loop, STEPS // 5)
    mask = np.array(loop.ws.parameters["feedback/bpm_mask"].read().value)
    mask[3] = 0.0
    loop.ws.put("feedback/bpm_mask", mask, timeout=virtual_loop.TIMEOUT_S)
    for name, value in (("gain", 0.7), ("modes", 60.0), ("tikhonov", 0.001), ("resonators", 0.0)):
        loop.put(name, value)
        pass_steps(loop, STEPS // 5)


def start_recorder(stack: ExitStack, ws: Workspace, folder: Path) -> Program:
    """Starts a real recorder of all that a replay needs, while no stream of the server has a record yet."""

    def has_streams() -> bool:
        with attach(ws.name) as now:
            return "feedback/decision" in now.streams

    def records() -> bool:
        with attach(ws.name) as now:
            return "recorder/state" in now.parameters and now.parameters["recorder/state"].number == 1

    wait_for(has_streams, "the feedback's streams")
    file = folder / "record.yaml"
    log = {"name": "feedback", "streams": RECORDED}
    file.write_text(
        json.dumps({"workspace": ws.name, "directory": str(folder / "archive"), "quota": "2 GB", "logs": [log]})
    )
    recorder = stack.enter_context(Program("ringmaster-record", "run", file, "--json"))
    wait_for(records, lambda: recorder.words)
    return recorder


@pytest.mark.usefixtures("root")
@again_if_starved
def test_a_recorders_archive_is_replayed_to_the_bit(tmp_path: Path) -> None:
    folder = Path(mkdtemp(dir=tmp_path))  # a try of its own
    recorders: list[Program] = []

    def beside(stack: ExitStack, ws: Workspace) -> None:
        recorders.append(start_recorder(stack, ws, folder))

    with virtual_loop.prepare() as directory:
        with virtual_loop.start(directory, FULL_TURN_RATE_HZ, simulated=True, beside=beside) as loop:
            loop.figures()
            work_a_while(loop)
            pass_steps(loop, 2000)  # what was set last is told whole
            loop.ring.stop()
            assert terminate(recorders[0]) == 0, recorders[0].words
            told_at_end = json.loads(recorders[0].words.splitlines()[-1])
        told = replay(directory / virtual_loop.ELETTRA2.server, "feedback", folder / "archive")
    with Archive(folder / "archive") as archive:
        decisions = archive["feedback/decision"].read()
    assert told_at_end["logs"]["feedback"]["lost"] == 0
    assert told.differs is None
    assert told.steps_same == len(decisions.turn) > STEPS
    assert decisions.records["adopted"][-1] >= 4

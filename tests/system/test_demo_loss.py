# SPDX-License-Identifier: Apache-2.0
"""The demo's own recording: the loop is closed, the key `b` loses the beam, and all of it is kept and opens.

In lock-step: a core that is taken away costs time and no cycle.
"""

import re
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness import RING_CORE, SERVER_CORE, ringmaster, wait_for
from slow_loop import slow_loop

from ringmaster.archive.archive import Archive
from ringmaster.demo.recording import ARCHIVE, recorded
from ringmaster.fabric.layout import TURN_NONE
from ringmaster.feedback.names import State
from ringmaster.monitor.feedback import LOST_MA, presses
from ringmaster.postmortem.catalogue import Catalogue
from ringmaster.postmortem.event import COMPLETE, Event
from ringmaster.virtual import loop as virtual_loop

AFTER_TURNS = 20000
"""Of the demo's triggers."""

pytestmark = pytest.mark.skipif(
    RING_CORE == SERVER_CORE, reason="ONE CORE HERE: the ring needs one, the server another"
)


def press_b(loop: virtual_loop.Loop) -> None:
    """What the page of the feedback does with it."""
    ((name, event),) = presses(loop.figures(), "b")
    loop.ws.put(name, event, timeout=virtual_loop.TIMEOUT_S)


@pytest.fixture(scope="module")
def lost(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Event:
    """A loss of the demo, with the loop closed; its archive."""
    archive = tmp_path_factory.mktemp("demo") / ARCHIVE
    catalogue = Catalogue(archive)
    with (
        slow_loop() as (loop, folder),
        recorded(folder, virtual_loop.ELETTRA2, archive) as recording,
    ):
        wait_for(lambda: "triggers; events go to" in recording.watch.words, lambda: recording.watch.words)
        loop.take_golden()
        loop.put("loop", 1.0)
        wait_for(lambda: loop.figures().state == State.ON, lambda: f"on: {loop.figures()}")
        loop.pass_time(1.0, 0.3)
        press_b(loop)
        wait_for(lambda: loop.figures().current_ma < LOST_MA, lambda: f"the loss: {loop.figures()}")
        wait_for(catalogue.events, lambda: recording.watch.words)
        wait_for(lambda: catalogue.events()[0].done_tai_ns, lambda: f"its end: {catalogue.events()[0]}")
        assert recording.troubles == []
    return catalogue.events()[0]


def test_a_loss_with_the_loop_closed_is_complete(lost: Event) -> None:
    assert lost.state == COMPLETE, lost.why
    on_change = [name for name in lost.streams if re.search(r"/(sent|missing)\d|settings_adopted", name)]
    assert len(on_change) > 44
    with h5py.File(lost.folder / "memory/1.h5") as file:
        assert {str(file[name].attrs["filter"]) for name in on_change if name in file} == {"on-change"}
    assert lost.last_turn - lost.zero.turn == AFTER_TURNS


def test_its_report_opens(lost: Event) -> None:
    directory = lost.folder.parent.parent
    said = ringmaster("postmortem", "open", "--no-browser", "--directory", directory).stdout
    assert "first cause: RF" in said
    page = Path(said.rpartition("report: ")[2].strip()).read_text()
    assert "The beam was lost at turn" in page


def test_its_recording_opens_in_h5py_and_in_dask(lost: Event, tmp_path: Path) -> None:
    directory = lost.folder.parent.parent
    ringmaster("archive", "export", directory, "bpm0[12]/raw", "--live", "-o", tmp_path / "live.h5")
    with Archive(directory) as archive:
        stream = archive["bpm01/raw"]
        window = stream.read()
        with h5py.File(tmp_path / "live.h5") as file:
            records = file["bpm01/raw/records"][:]
        had = records["turn"] != TURN_NONE
        assert had.any()
        assert np.array_equal(records["x1"][had], window.records["x1"][window.ok])
        lazy = archive.dask("bpm01/raw")
        assert lazy.shape == (len(window), len(stream.lanes))
        assert np.nanmean(lazy[:, 0].compute()) == pytest.approx(np.nanmean(window.values("x1")))

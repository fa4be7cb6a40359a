# SPDX-License-Identifier: Apache-2.0
"""Files of the archive are pinned by a second name, as far as their quota goes; what no recorder writes is copied."""

from pathlib import Path

import pytest
from archive_writer import I32, IMAGE, REDUCED, ArchiveWriter, Description, Image, LogWriter
from archives import records, steps
from postmortem_memory import INTERLOCK, START, Machine, finish, lose_beam, settings

import ringmaster
from ringmaster.postmortem.event import COMPLETE, INCOMPLETE, load
from ringmaster.postmortem.watch import Watch
from ringmaster.values import time_format

LANES = (("x1", "nm", I32), ("sum", "", I32))
STEP = 100


class Recorder:
    """An archive that holds bpm01/turn, what an application sent where that changed, and a reduction."""

    def __init__(self, root: Path, machine: Machine) -> None:
        self._machine = machine
        self.path = root / "archive"
        self._archive = ArchiveWriter(self.path)
        self._files: list[LogWriter] = []

    def _tai_ns(self, turn: int) -> int:
        return self._machine.turn_tai_ns + (turn - START) * 1000

    def record(self, number: int, first: int, turns: int) -> None:
        """Writes a file of each log."""
        times = self._tai_ns(first), self._tai_ns(first + turns - 1)
        file = self._archive.file("turns", number, tai_ns=times[0], tai_minus_utc_s=0)
        described = file.describe(Description("bpm01/turn", lanes=LANES))
        file.records(described, records(first, turns), 64, first, times)
        sent = file.describe(Description("feedback/sent0", lanes=LANES, filter="on-change"))
        silent = tuple(range(first + 1, first + turns))
        file.records(sent, records(first, turns, lost=silent), 64, first, times)
        file.save()
        reduced = self._archive.file("reduced", number, tai_ns=times[0], tai_minus_utc_s=0)
        described = reduced.describe(Description("bpm01/turn", kind=REDUCED, period=STEP, lanes=LANES))
        reduced.records(described, steps(first, turns // STEP, STEP), 48, first, times, kind=REDUCED)
        reduced.save()

    def film(self, number: int, turn: int) -> None:
        """Writes a file with a frame of 200 kB."""
        file = self._archive.file("frames", number, tai_ns=self._tai_ns(turn), tai_minus_utc_s=0)
        camera = file.describe(Description("cam01", kind=IMAGE, period=0, lanes=()))
        file.image(camera, Image(1, turn=turn, tai_ns=self._tai_ns(turn), width=500, height=400), bytes(200_000))
        file.save()


pytestmark = pytest.mark.usefixtures("patient")


def inodes(folder: Path) -> list[int]:
    return sorted(path.stat().st_ino for path in folder.glob("*.rmlog"))


def test_what_a_recorder_writes_is_linked_and_the_rest_is_copied(machine: Machine, root: Path) -> None:
    recorder = Recorder(root, machine)
    recorder.record(1, START, 2000)
    recorder.record(2, START + 2000, 4000)
    watch = Watch(settings(root, INTERLOCK))
    event = lose_beam(watch, machine)
    watch.close()
    assert event.state == COMPLETE, event.why
    assert (event.streams["bpm01/turn"].where, event.streams["bpm02/turn"].where) == ("archive", "memory")
    assert event.streams["bpm01/turn"].records == 2001
    sent = event.streams["feedback/sent0"]
    assert (sent.where, sent.records, sent.missing, sent.why) == ("archive", 0, 0, "")
    for log in ("turns", "reduced"):
        assert inodes(event.folder / log) == inodes(recorder.path / log)
    for path in (recorder.path / "turns").glob("*.rmlog"):
        path.unlink()  # the recorder's retention
    with ringmaster.Archive(event.folder) as kept:
        window = kept["bpm01/turn"].read(event.first_turn, event.last_turn + 1)
    assert window.ok.all()
    assert len(window) == 2001


def test_what_was_recorded_since_the_last_look_counts_when_time_is_up(
    machine: Machine, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ringmaster.postmortem.capture.ARCHIVE_GRACE_NS", 0)
    recorder = Recorder(root, machine)
    recorder.record(1, START, 3000)
    watch = Watch(settings(root, INTERLOCK))
    watch.look()
    machine.run(10)
    machine.lose_beam()
    machine.run(10)
    (event,) = watch.look()
    recorder.record(2, START + 3000, 3000)
    finish(watch, machine)
    watch.close()
    event = load(event.folder)
    assert event.state == COMPLETE, event.why
    assert event.streams["bpm01/turn"].records == 2001


def test_files_that_only_others_need_are_not_pinned(machine: Machine, root: Path) -> None:
    recorder = Recorder(root, machine)
    for number in (1, 2):
        machine.turn_tai_ns -= 60 * 10**9  # a minute ago, and before
        recorder.record(3 - number, START, 2000)
    machine.turn_tai_ns += 120 * 10**9
    recorder.record(3, START, 6000)
    watch = Watch(settings(root, INTERLOCK))
    event = lose_beam(watch, machine)
    watch.close()
    names = sorted(path.name for path in (event.folder / "turns").iterdir())
    assert names == [f"{number:016d}.rmlog" for number in (2, 3)]  # the second may reach to where the third begins


def test_over_the_quota_reductions_are_kept_and_turns_and_frames_are_refused(machine: Machine, root: Path) -> None:
    recorder = Recorder(root, machine)
    recorder.record(1, START, 6000)
    recorder.film(1, START)
    watch = Watch(settings(root, INTERLOCK, quota="100 kB"))
    event = lose_beam(watch, machine)
    watch.close()
    assert event.state == INCOMPLETE
    assert event.refused["log turns"] == "the quota is full of events that are not reviewed"
    assert event.refused["log frames"] == "the quota is full of events that are not reviewed"
    assert list(event.logs) == ["reduced"]
    assert not (event.folder / "turns").exists()


def test_without_a_living_recorder_everything_is_copied(machine: Machine, root: Path) -> None:
    recorder = Recorder(root, machine)
    machine.turn_tai_ns -= 60 * 10**9
    recorder.record(1, START, 2000)
    machine.turn_tai_ns += 60 * 10**9
    watch = Watch(settings(root, INTERLOCK))
    event = lose_beam(watch, machine)
    watch.close()
    assert event.state == COMPLETE, event.why
    assert {kept.where for kept in event.streams.values()} == {"memory"}


def test_a_recorder_that_goes_within_the_windows_is_taken_over_from(
    machine: Machine, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(root, machine)
    recorder.record(1, START, 3100)  # and no more
    watch = Watch(settings(root, INTERLOCK))
    watch.look()
    machine.run(10)
    machine.lose_beam()
    machine.run(10)
    (event,) = watch.look()
    machine.run(1500)
    later = time_format.now_tai_ns
    monkeypatch.setattr(time_format, "now_tai_ns", lambda: later() + 4 * 10**9)
    finish(watch, machine)
    watch.close()
    event = load(event.folder)
    assert event.notes == ("the recorder went within the windows: 2 streams from memory",)
    assert event.streams["bpm01/turn"].where == "memory"
    assert event.streams["bpm01/turn"].last_turn == event.last_turn

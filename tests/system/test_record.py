# SPDX-License-Identifier: Apache-2.0
"""The recorder beside a server that runs: nothing is lost, whatever ends it, and whichever clients come and go."""

import json
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import CLOCK_TAI, clock_gettime_ns

import h5py
import numpy as np
import pytest
from harness import (
    RING_CORE,
    SERVER_CORE,
    TIMEOUT_S,
    free_udp_port,
    kill_at_once,
    ringmaster,
    server,
    terminate,
    unique_name,
    wait_for,
)
from recorded import NONE, Recorded, recorded

from ringmaster import Archive, Workspace, attach
from ringmaster.programs.program import Program, attach_to

INSTRUMENTS = ("bpm01", "bpm02")
TURN_RATE_HZ = 4000
KILLS = 12


@dataclass
class Site:
    """A server that receives from a ring, and the file of a recorder."""

    name: str
    config: Path
    record: Path
    archive: Path
    running: Program
    ring: Program

    def log(self, name: str) -> Recorded:
        """What is in the archive."""
        return recorded(self.archive / name)

    def recorder(self) -> Program:
        """A recorder that runs by the file."""
        return Program("ringmaster-record", "run", self.record, "--json")


@pytest.fixture
def site(root: Path, tmp_path: Path) -> Iterator[Site]:
    name, port = unique_name("record"), free_udp_port()
    config, record, archive = tmp_path / "server.yaml", tmp_path / "record.yaml", tmp_path / "archive"
    config.write_text(
        f"workspace: {name}\nkeep_after_stop: true\nturn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\n"
        f"ports: [{{name: local, kind: udp, address: '127.0.0.1:{port}'}}]\n"
        "buffers: {turn_records: 262144, fast_records: 16384}\n"
        f"roles: [{{role: receive, core: {SERVER_CORE}, ports: [local]}}]\ninstruments:\n"
        + "".join(
            f"  - {{name: {instrument}, kind: bpm, id: {i}, port: local, source: 127.0.0.{i}}}\n"
            for i, instrument in enumerate(INSTRUMENTS, 1)
        )
    )
    overlay = tmp_path / "ring.yaml"
    overlay.write_text(f"core: {RING_CORE}\n")
    record.write_text(
        f"workspace: {name}\ndirectory: {archive}\nquota: 2 GB\nlogs:\n"
        "  - {name: turn, streams: ['*/turn']}\n"
        "  - {name: fast, streams: ['*/fast'], compress: zstd, reduce: [{step: 1200 turns}]}\n"
        "  - {name: loop, streams: ['bpm01/loop'], reduce: [{step: 100 ms}, {step: 300 ms}]}\n"
    )
    with (
        server(config) as running,
        Program("ringmaster-instruments", "run", config, overlay) as ring,
        attach_to(name, running, ("server", "ring")) as ws,
    ):
        wait_for(lambda: all(ws.streams[f"{one}/turn"].head for one in INSTRUMENTS), "the ring")
        yield Site(name, config, record, archive, running, ring)
    shutil.rmtree(root / name, ignore_errors=True)


def durable_tai_ns(ws: Workspace, log: str) -> int:
    """Of the newest record that the recorder says is on the disk; 0 while it says none."""
    try:
        parameter = ws.parameters[f"recorder/{log}/durable_age"]
    except KeyError:
        return 0
    reading = parameter.read()
    age_s = float(np.asarray(reading.value).item())
    return 0 if np.isnan(age_s) else reading.timestamp_tai_ns - round(age_s * 1e9)


def wait_until_durable(site: Site, seconds: float = 1.0) -> None:
    """Waits until the recorder has had so much of the ring's time on the disk since now."""
    begin = clock_gettime_ns(CLOCK_TAI)

    def there() -> bool:
        with attach(site.name) as now:
            return durable_tai_ns(now, "turn") > begin + seconds * 1e9

    wait_for(there, "records on the disk")


def assert_gapless(log: Recorded, least: int) -> None:
    """Every stream has every turn once, from its first to its last."""
    assert len(log.turns) == len(INSTRUMENTS)
    for turns in log.turns.values():
        assert len(turns) >= least
        assert (turns != NONE).all()
        assert (np.diff(turns.astype(np.int64)) == turns[1] - turns[0]).all()


def test_nothing_is_lost_while_it_records(site: Site) -> None:
    with site.recorder() as recorder:
        wait_until_durable(site, 2.0)
        with attach(site.name) as ws:
            counters = dict(ws.counters("recorder/turn"))
            assert ws.parameters["recorder/state"].number == 1
        assert terminate(recorder) == 0, recorder.words
        summary = json.loads(recorder.words.splitlines()[-1])["logs"]["turn"]
    assert (summary["lost"], summary["missing"]) == (0, 0)
    log = site.log("turn")
    assert_gapless(log, TURN_RATE_HZ)
    assert summary["records"] == sum(map(len, log.turns.values()))
    assert {mark[1] for mark in log.marks} == {"began"}
    assert all(log.sealed)
    assert counters["records"] > 0
    assert [counters[name] for name in ("lapped", "disk_full", "disk_slow", "disk_failed", "errors")] == [0] * 5
    assert set(site.log("fast-1200turns").reduced) == {f"{one}/fast" for one in INSTRUMENTS}
    events = site.log("events").events
    assert {"recorder", "clock", "parameter"} <= {event["event"] for event in events}
    assert [event["what"] for event in events if event["event"] == "recorder"] == ["began", "ended"]


def test_what_was_durable_outlives_a_kill(site: Site) -> None:
    for kill in range(KILLS):
        with site.recorder() as recorder:
            wait_until_durable(site, 0.2 + 0.05 * kill)
            with attach(site.name) as ws:
                durable = durable_tai_ns(ws, "turn")
            kill_at_once(recorder.pid)
            assert recorder.wait(TIMEOUT_S) == -signal.SIGKILL
        assert site.log("turn").newest_tai_ns >= durable - 1000  # a µs for rounding
    with site.recorder() as recorder:
        wait_until_durable(site, 0.2)
        assert terminate(recorder) == 0, recorder.words
    log = site.log("turn")
    assert len(log.sealed) == KILLS + 1
    assert all(log.sealed)
    assert [mark[1] for mark in log.marks].count("reopened") == KILLS
    for turns in log.turns.values():
        assert (turns != NONE).all()
        assert (np.diff(turns.astype(np.int64)) > 0).all()  # nothing twice, nothing out of its order


def test_a_second_recorder_is_refused(site: Site) -> None:
    with site.recorder() as recorder:
        wait_until_durable(site, 0.1)
        refused = ringmaster("record", site.record, expect=1)
        assert f"process {recorder.pid} records there" in refused.stderr
        assert terminate(recorder) == 0


def test_a_server_that_comes_back_is_recorded_again(site: Site) -> None:
    with site.recorder() as recorder:
        wait_until_durable(site, 0.2)
        assert site.running.stop() == 0
        wait_for(lambda: any(mark[1] == "owner_gone" for mark in site.log("turn").marks), "the end of the session")
        with server(site.config) as again, attach_to(site.name, again):
            wait_until_durable(site, 0.5)
        assert terminate(recorder) == 0, recorder.words
    events = [event.get("what") for event in site.log("events").events if event["event"] == "recorder"]
    assert events == ["began", "server_gone", "attached", "server_gone"]
    for turns in site.log("turn").turns.values():
        assert (np.diff(turns[turns != NONE].astype(np.int64)) > 0).all()


def test_a_file_of_someone_else_is_named_and_left(site: Site) -> None:
    foreign = site.archive / "turn" / "holiday.jpg"
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"sun")
    (site.archive / "old").mkdir()
    with site.recorder() as recorder:
        wait_until_durable(site, 0.1)
        assert terminate(recorder) == 0
        assert "holiday.jpg: is no file of this log; it is left as it is" in recorder.words
        assert "old: is no log of this recorder; it is left as it is" in recorder.words
    assert foreign.read_bytes() == b"sun"


def test_our_library_reads_what_is_recorded(site: Site, tmp_path: Path) -> None:
    with site.recorder() as recorder:
        wait_until_durable(site, 1.0)
        archive = Archive(site.archive)
        growing = archive["bpm01/turn"][:]
        assert growing.ok.sum() > TURN_RATE_HZ / 2
        assert terminate(recorder) == 0, recorder.words
    archive.refresh()
    assert not archive.damages
    assert not archive.foreign
    whole = archive["bpm01/turn"][:]
    ((_, turns),) = [one for one in site.log("turn").turns.items() if one[0][0] == "bpm01/turn"]
    np.testing.assert_array_equal(whole.turn, turns)
    np.testing.assert_array_equal(growing["x1"], whole["x1"][: len(growing)])
    fast = archive["bpm01/fast"]  # compressed since
    assert fast.stored_bytes < fast.plain_bytes
    # 100 ms are 3.3 records, and 300 ms are three of the steps before
    assert list(archive.reductions("bpm01/loop")) == [360, 1080]
    reduced = archive["bpm01/fast"].reduced(1200)[:]
    step = reduced.turn[1]
    of_step = fast[int(step) : int(step) + 1200].values("x1")
    assert (reduced.min("x1")[1], reduced.max("x1")[1]) == (np.float32(of_step.min()), np.float32(of_step.max()))
    assert archive.configuration() == site.config.read_text()
    ringmaster("archive", "export", str(site.archive), "bpm01/turn", "--live", "-o", str(tmp_path / "live.h5"))
    with h5py.File(tmp_path / "live.h5") as file:
        np.testing.assert_array_equal(file["bpm01/turn/records"]["x1"], whole["x1"])

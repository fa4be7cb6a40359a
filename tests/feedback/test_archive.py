# SPDX-License-Identifier: Apache-2.0
"""Replays from recorded streams that obey the decision record, of applications in simulated time."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rigs import Rig

from ringmaster.archive.write import Described, LogFile
from ringmaster.errors import SimulationError
from ringmaster.fabric.layout import STREAM, TURN_NONE, DecisionFlag, DecisionLane, LaneType
from ringmaster.fabric.stream import Lane
from ringmaster.recordings.streams import HEAD
from ringmaster.simulation import Simulation, replay

HEAD_BYTES, RECORD = 4096, np.dtype([("turn", "<u8"), ("tag", "<u8"), ("lane", "<i4", 12)])
EVENTS = (
    "0.05:feedback/loop=1",
    "0.1:drop=bpm03",
    "0.15:back=bpm03",
    "0.2:feedback/gain=0.7",
    "0.22:feedback/bpm_mask[5]=0",
    "0.25:feedback/golden[3]=2000",
    "0.3:trip=fastxa_01",
    "0.35:drop=bpm05",
    "0.35:drop=bpm06",
    "0.4:feedback/golden=0",
    "0.42:feedback/modes=6",
    "0.45:feedback/shadow=1",
    "0.5:feedback/shadow=0",
)


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Rig:
    """The small ring, that the mains move."""
    return Rig(tmp_path_factory.mktemp("rig"), disturbances="{mains: [{hz: 50, orbit_um: 20}]}").write()


@pytest.fixture(scope="module")
def recorded(rig: Rig) -> Simulation:
    """A loop to which everything happens that a step depends on."""
    return rig.run("run", seconds=0.6, at=EVENTS, record="all,decisions")


def stream(run: Simulation, name: str) -> np.ndarray:
    """Its records, as a map that can be written."""
    path = run.recorded / f"{name.replace('/', '.')}.records"
    return np.memmap(path, RECORD, "r+", offset=HEAD_BYTES)


def decisions(run: Simulation, lane: DecisionLane) -> np.ndarray:
    """A lane of all decision records."""
    return np.array(stream(run, "feedback/decision")["lane"][:, lane])


def test_all_is_on_record(recorded: Simulation) -> None:
    missing = recorded.missing.sum(axis=1)
    assert (decisions(recorded, DecisionLane.MISSING) == missing).all()
    assert set(missing) == {0, 1, 2}
    assert len(stream(recorded, "feedback/missing0")) == np.count_nonzero(missing)
    assert decisions(recorded, DecisionLane.ADOPTED)[-1] == 3  # at first, without a row, with fewer modes
    assert (np.diff(decisions(recorded, DecisionLane.ADOPTED)) >= 0).all()
    assert decisions(recorded, DecisionLane.SETTINGS)[-1] == 1 + sum("feedback/" in event for event in EVENTS)
    flags = decisions(recorded, DecisionLane.FLAGS)
    assert not (flags & DecisionFlag.COMMITTED).all()  # in shadow
    sent = np.concatenate([stream(recorded, f"feedback/sent{i}")["lane"][-1].view("<f4") for i in range(6)])
    known = np.isfinite(recorded.sent[-1])
    assert (sent[:64][known] == recorded.sent[-1][known]).all()


def described(path: Path) -> Described:
    """What the head of a recorded file says."""
    head = np.fromfile(path, HEAD, 1)[0]
    told = np.frombuffer(head["stream"].tobytes(), STREAM)[0]
    lanes = [
        Lane(lane["name"].decode(), lane["unit"].decode(), LaneType(int(lane["type"])))
        for lane in told["lane"][: told["lane_count"]]
    ]
    return Described(head["name"].decode(), lanes, period=int(told["period"]))


def dense(path: Path, period: int) -> np.ndarray:
    """Its records with those that are missing, as an archive has them."""
    there = np.fromfile(path, RECORD, offset=HEAD_BYTES)
    at = (there["turn"] - there["turn"][0]) // period
    records = np.zeros(int(at[-1]) + 1, RECORD)
    records["turn"] = TURN_NONE
    records[at] = there
    return records


def write_archive(run: Simulation, archive: Path, old_only: str = "") -> None:
    """An archive of two turn-counter epochs of the same turns: in the older one, each lane is another."""
    rate_hz = 1157e3
    with LogFile(archive, "feedback", rate_hz) as file:
        for path in sorted(run.recorded.glob("*.records")):
            what = described(path)
            records, number = dense(path, what.period), file.describe(what)
            old = records.copy()
            old["lane"] ^= 1
            for begin_s, each in ((1000, old), (2000, records))[: 1 if what.name == old_only else 2]:
                first = int(records["turn"][0])
                times = [round((begin_s + turn / rate_hz) * 1e9) for turn in (first, first + len(each) * what.period)]
                file.append(number, what, each, first, (times[0], times[1]))


def test_the_newest_epoch_of_a_recorders_archive_is_replayed(rig: Rig, recorded: Simulation, tmp_path: Path) -> None:
    write_archive(recorded, tmp_path / "both")
    told = replay(rig.folder / "server.yaml", "feedback", tmp_path / "both")
    assert told.differs is None
    assert told.steps_same == recorded.cycles
    write_archive(recorded, tmp_path / "mixed", old_only="bpm03/raw")
    told = replay(rig.folder / "server.yaml", "feedback", tmp_path / "mixed")
    assert told.differs is not None
    assert (told.differs.what, told.differs.step) == ("inputs", 0)
    assert "bpm03/raw" in told.differs.text


def test_a_replay_is_the_same_to_the_bit(rig: Rig, recorded: Simulation) -> None:
    told = replay(rig.folder / "server.yaml", "feedback", recorded.recorded)
    assert told.differs is None
    assert told.steps_same == recorded.cycles == 5785
    assert told.grants == 1
    print(f"{told.steps_same} steps, {told.times_real_time:.1f} times as fast as real time")
    again = replay(rig.folder / "server.yaml", "feedback", recorded.recorded, cycles=1000)
    assert again.steps_same == 1000


@pytest.mark.parametrize(
    ("name", "record", "lane", "what"),
    [
        ("bpm03/raw", 3000, 0, "inputs"),
        ("bpm16/raw", 1, 3, "inputs"),
        ("feedback/sent2", 700, 5, "inputs"),
        ("feedback/missing0", 100, 0, "inputs"),
        ("feedback/decision", 4000, DecisionLane.ADOPTED, "result"),
        ("feedback/decision", 4000, DecisionLane.SETPOINTS, "setpoints"),
        ("feedback/decision", 4000, DecisionLane.VISIBLE, "visible"),
        ("feedback/settings_adopted", 2, 4, "settings"),
    ],
)
def test_one_changed_bit_is_found_at_its_turn(
    rig: Rig, recorded: Simulation, name: str, record: int, lane: int, what: str
) -> None:
    records = stream(recorded, name)
    turn = int(records["turn"][record])
    records["lane"][record, lane] ^= 1
    try:
        told = replay(rig.folder / "server.yaml", "feedback", recorded.recorded)
    finally:
        records["lane"][record, lane] ^= 1
    assert told.differs is not None
    assert told.differs.what == what
    first = int(stream(recorded, "feedback/decision")["turn"][0])
    assert told.differs.turn == (first if what == "settings" else turn)
    assert told.steps_same == (told.differs.turn - first) // rig.period_turns


def test_another_matrix_is_found(rig: Rig, recorded: Simulation) -> None:
    """An input of the application that is no stream: its own files must be those that it had."""
    kept = (rig.folder / "response.csv").read_bytes()
    rig.write_matrix(rig.response() * 1.001)
    try:
        told = replay(rig.folder / "server.yaml", "feedback", recorded.recorded)
    finally:
        (rig.folder / "response.csv").write_bytes(kept)
    assert told.differs is not None
    assert told.differs.what in ("setpoints", "visible")


def command(rig: Rig, archive: Path) -> subprocess.CompletedProcess[str]:
    """`ringmaster simulate --archive`."""
    words = [sys.executable, "-m", "ringmaster", "simulate", str(rig.folder / "server.yaml"), "feedback"]
    return subprocess.run([*words, "--archive", str(archive)], capture_output=True, text=True, timeout=120, check=False)


def test_the_command_says_what_came_of_it(rig: Rig, recorded: Simulation, tmp_path: Path) -> None:
    done = command(rig, recorded.recorded)
    assert done.returncode == 0, done.stderr
    assert re.match(
        r"5785 steps of feedback were the same to the bit, 0\.59\d* s of turns 120000 to 814080", done.stdout
    )
    other = shutil.copytree(recorded.recorded, tmp_path / "other")
    np.memmap(other / "bpm01.raw.records", RECORD, "r+", offset=HEAD_BYTES)["lane"][50, 0] += 1
    done = command(rig, other)
    assert done.returncode == 1
    assert re.search(r"turn 126000, step 50: inputs: the inputs, or what had been sent, are not those", done.stderr)


@pytest.mark.parametrize(
    ("file", "size", "said"),
    [
        ("bpm01.raw", HEAD_BYTES + 64 * 10 + 8, "it ends inside record 10"),
        ("bpm01.raw", 100, "it does not begin as a recorded stream"),
        ("bpm01.raw", 0, "it is empty"),
        ("bpm01.raw", HEAD_BYTES, "bpm01/raw has no record of this turn or a later one, and the step had one"),
        ("feedback.decision", HEAD_BYTES, "feedback/decision has no step 0"),
        ("feedback.sent1", None, "no stream feedback/sent1 in it; did you mean feedback/sent0?"),
    ],
)
def test_streams_that_are_not_whole(
    rig: Rig, recorded: Simulation, tmp_path: Path, file: str, size: int | None, said: str
) -> None:
    other = shutil.copytree(recorded.recorded, tmp_path / "other")
    path = other / f"{file}.records"
    if size is None:
        path.unlink()
    else:
        with path.open("r+b") as opened:
            opened.truncate(size)
    done = command(rig, other)
    assert done.returncode == 1
    assert said in done.stderr


def test_turns_that_do_not_grow(rig: Rig, recorded: Simulation, tmp_path: Path) -> None:
    other = shutil.copytree(recorded.recorded, tmp_path / "other")
    np.memmap(other / "bpm01.raw.records", RECORD, "r+", offset=HEAD_BYTES)["turn"][7] = 120000
    done = command(rig, other)
    assert done.returncode == 1
    assert "bpm01.raw.records: record 7 has turn 120000, expected a multiple of 120 above that" in done.stderr


def test_a_recording_begins_at_a_grant(rig: Rig, recorded: Simulation, tmp_path: Path) -> None:
    other = shutil.copytree(recorded.recorded, tmp_path / "other")
    path = other / "feedback.decision.records"
    data = path.read_bytes()
    path.write_bytes(data[:HEAD_BYTES] + data[HEAD_BYTES + 64 :])
    with pytest.raises(SimulationError, match="has no step 0: a replay begins where the application was granted"):
        replay(rig.folder / "server.yaml", "feedback", other)


@pytest.mark.parametrize("seed", range(4))
def test_damage_anywhere_is_told(rig: Rig, recorded: Simulation, tmp_path: Path, seed: int) -> None:
    """Whole words of heads and records become others: there is an answer, and it names a turn or a file."""
    random = np.random.default_rng(seed)
    other = shutil.copytree(recorded.recorded, tmp_path / "other")
    paths = sorted(other.glob("*.records"))
    for path in random.choice(np.array(paths), 3, replace=False):
        words = np.memmap(path, "<u4", "r+")
        for place in random.integers(0, 1200, 3) if random.random() < 0.5 else random.integers(1024, len(words), 3):
            words[place] = random.integers(0, 2**32)
    done = command(rig, other)
    assert done.returncode in (0, 1), done.stderr  # 0: what nothing reads
    if done.returncode == 1:
        assert re.search(r"turn \d+, step \d+|\.records: |no stream|decision|record(ed)? every", done.stderr)

# SPDX-License-Identifier: Apache-2.0
"""Finding each instrument's offset from a kick of the beam."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Timer
from typing import Any

import fabric
import numpy as np
import numpy.typing as npt
import pytest
from command import PACKAGE, ringmaster
from conftest import MakeOwner

from ringmaster import attach
from ringmaster.beam.align import Aligner, Alignment
from ringmaster.beam.kick import find_onset, probability
from ringmaster.beam.kick_watch import KickWatch
from ringmaster.fabric import layout
from ringmaster.fabric.layout import InstrumentKind, LaneType
from ringmaster.recordings import doros

DOROS = Path(__file__).parents[2] / "../shared/data/tbt/lhc_doros_50000turns.h5"
TUNES = (0.2994, 0.1612)
CAPACITY = 1 << 16
FIRST = 1_000_000
TURNS = 60_000
KICKS = (FIRST + 20_011, FIRST + 40_102)
OPTIONS = ["--range", "2048", "--timeout", "0"]

BPM_LANES = [(name, "nm", LaneType.I32) for name in ("x1", "y1", "x2", "y2")]
BLM_LANES = [("loss1", "counts", LaneType.I32), ("loss2", "counts", LaneType.I32)]
LLRF_LANES = [("beam_phase", "urad", LaneType.I32)]
Signals = npt.NDArray[np.float64]


def bpm(seed: int, kicks: Sequence[int] = KICKS, noise_nm: float = 500, lanes: int = 4) -> Signals:
    """Positions over TURNS turns: orbit, mains, a steady oscillation, and decaying kicks, each lane at its phase."""
    random = np.random.default_rng(seed)
    turn = FIRST + np.arange(TURNS)
    signals = []
    for i in range(lanes):
        angle = 2 * np.pi * TUNES[i % 2] * turn
        signal = 5e3 * np.cos(angle + random.uniform(0, 6.28)) + random.normal(0, 1e5)
        signal += 2e4 * np.sin(turn / 3700) + random.normal(0, noise_nm, turn.size)
        for kick in kicks:
            after = turn >= kick
            size = 5e4 * np.exp(-np.maximum(turn - kick, 0) / 900) * after
            signal += size * np.cos(2 * np.pi * TUNES[i % 2] * (turn - kick) + i + seed)
        signals.append(signal)
    return np.array(signals)


def blm() -> Signals:
    """Counts that jump when the beam is kicked."""
    random = np.random.default_rng(7)
    turn = FIRST + np.arange(TURNS)
    mean = 2.0 + sum(100 * np.exp(-np.maximum(turn - kick, 0) / 450) * (turn >= kick) for kick in KICKS)
    return random.poisson(np.array([mean, 1.3 * mean])).astype(np.float64)


def llrf() -> Signals:
    """A synchrotron oscillation that the kick does not change."""
    turn = FIRST + np.arange(TURNS)
    return np.array([2500 * np.sin(0.04 * turn) + np.random.default_rng(8).normal(0, 200, TURNS)])


def store(
    owner: fabric.Owner, name: str, signals: Signals, offset: int = 0, keep: slice = slice(None), period: int = 1
) -> None:
    """Publishes signals whose labels are ``offset`` turns too large; of them only ``keep``."""
    records = np.zeros((TURNS, 16), "<i4")
    records[:, 4 : 4 + len(signals)] = np.round(signals).T
    turns = FIRST + offset + np.arange(TURNS)
    records[:, :2] = turns.astype("<u8")[:, np.newaxis].view("<i4")
    chosen = np.arange(TURNS)[keep]
    base = owner._place[f"stream/{name}"] + fabric.PAGE
    slots = np.frombuffer(owner.memory, "<i4", CAPACITY * 16, base).reshape(CAPACITY, 16)
    slots[:, :2] = -1
    slots[turns[chosen] // period & (CAPACITY - 1)] = records[chosen]
    del slots
    owner.publish(name, int(turns[chosen[-1]]), int(turns[chosen[0]]))


def configuration(names: Mapping[str, int]) -> str:
    lines = [f"  - {{name: {name}, kind: bpm, turn_offset: {value}}} # {name}" for name, value in names.items()]
    return "workspace: demo # the test's\ninstruments:\n" + "\n".join(lines) + "\n"


MakeRing = Callable[..., fabric.Owner]


@pytest.fixture
def make_ring(make_owner: MakeOwner) -> MakeRing:
    """Makes a workspace of BPMs with these offsets, a BLM 3 turns late, and an LLRF."""

    def make(offsets: Mapping[str, int], **more: Any) -> fabric.Owner:
        names = {name: 10 * i for i, name in enumerate(offsets)} | {"blm01": 0, "llrf01": 0}
        objects = [fabric.stream(f"{name}/turn", capacity=CAPACITY, lanes=BPM_LANES) for name in offsets]
        objects += [
            fabric.stream("blm01/turn", capacity=CAPACITY, lanes=BLM_LANES, kind=InstrumentKind.BLM),
            fabric.stream("llrf01/turn", capacity=CAPACITY, lanes=LLRF_LANES, kind=InstrumentKind.LLRF),
            fabric.stream("ramp/decision", capacity=CAPACITY, lanes=LLRF_LANES, kind=InstrumentKind.APPLICATION),
            fabric.stream("bpm90/turn", capacity=CAPACITY, lanes=BPM_LANES),
            fabric.stream("bpm91/turn", capacity=CAPACITY, lanes=BPM_LANES),
            fabric.counters("stream/bpm90", "stream", turn_ahead=5000),
            fabric.counters("stream/bpm91", "stream", turn_out_of_range=7),
            fabric.text("server/config", configuration(names | {"bpm90": 0, "bpm91": 0})),
        ]
        owner = make_owner(objects)
        for i, (name, offset) in enumerate(offsets.items()):
            store(owner, f"{name}/turn", bpm(i, **more), offset)
        store(owner, "blm01/turn", blm(), 3)
        store(owner, "llrf01/turn", llrf())
        return owner

    return make


OFFSETS = {"bpm01": 0, "bpm02": 1, "bpm03": 0, "bpm04": -1, "bpm05": 1000, "bpm06": 0, "bpm07": -1000, "bpm08": 0}


def find(kicks: int = 1, reference: str | None = None) -> dict[str, Alignment]:
    with attach() as ws:
        aligner = Aligner(ws, 2048, reference)
        for turn in KickWatch(aligner.bpms).kicks(timeout_s=0):
            if aligner.add(turn) and len(aligner.kick_turns) == kicks:
                break
        assert aligner.kick_turns == [kick + (OFFSETS[reference] if reference else 0) for kick in KICKS[:kicks]]
        return {alignment.name: alignment for alignment in aligner.alignments()}


def test_known_offsets_are_found_to_the_turn(make_ring: MakeRing) -> None:
    make_ring(OFFSETS)
    found = find()
    assert {name: found[name].offset for name in OFFSETS} == OFFSETS
    assert all(found[name].sure for name in OFFSETS)
    assert (found["blm01"].offset, found["blm01"].sure) == (3, True)
    assert (found["llrf01"].offset, found["llrf01"].note) == (None, "shows no kick")
    assert "all its turns are refused (5000 too far ahead" in found["bpm90"].note
    assert "all its turns are out of range" in found["bpm91"].note
    assert "ramp" not in found  # an application, which hears no beam


def test_a_reference_takes_the_place_of_the_majority(make_ring: MakeRing) -> None:
    make_ring(OFFSETS)
    found = find(reference="bpm05")
    assert {name: found[name].offset for name in OFFSETS} == {name: offset - 1000 for name, offset in OFFSETS.items()}


def test_offsets_are_found_in_noise_and_with_missing_turns(make_ring: MakeRing) -> None:
    owner = make_ring(OFFSETS, noise_nm=5000)
    random = np.random.default_rng(1)
    for i, (name, offset) in enumerate(OFFSETS.items()):
        for turn in random.choice(FIRST + offset + np.arange(TURNS), 1200, replace=False):
            owner.store(f"{name}/turn", layout.TURN_NONE, at_turn=int(turn))
        assert i < len(OFFSETS)
    found = find(kicks=2)
    wrong = [name for name in OFFSETS if found[name].sure and found[name].offset != OFFSETS[name]]
    assert wrong == []
    assert sum(found[name].sure for name in OFFSETS) >= len(OFFSETS) - 1


def test_a_bpm_that_shows_nothing_at_the_first_turn_is_not_sure_of_it() -> None:
    """One lane, at a zero crossing when the kick comes: the turns on either side are equally probable."""
    turn = np.arange(4000)
    random = np.random.default_rng(3)
    signal = 50 * np.sin(2 * np.pi * 0.2994 * (turn - 2000)) * (turn >= 2000) + random.normal(0, 1, turn.size)
    onset = find_onset(signal[np.newaxis], [0.2994], oscillates=True)
    assert onset is not None
    shares = probability(onset.likelihood)
    assert shares[2000 - onset.first] + shares[2001 - onset.first] > 0.99
    assert 0.2 < shares[2000 - onset.first] < 0.8
    other = 50 * np.cos(2 * np.pi * 0.1612 * (turn - 2000)) * (turn >= 2000) + random.normal(0, 1, turn.size)
    both = find_onset(np.stack([signal, other]), [0.2994, 0.1612], oscillates=True)
    assert both is not None
    assert both.index == 2000
    assert both.confidence > 0.99


def test_noise_is_no_kick() -> None:
    random = np.random.default_rng(4)
    for _ in range(20):
        assert find_onset(random.normal(size=(4, 8000)), [0.3], oscillates=True) is None
        assert find_onset(random.poisson(2, (4, 8000)).astype(float), [0.3], oscillates=False) is None
    assert find_onset(np.zeros((2, 8000)), [0.3], oscillates=True) is None
    assert find_onset(np.full((2, 8000), np.nan), [0.3], oscillates=True) is None


def test_one_bpm_alone_kicks_nothing(make_ring: MakeRing) -> None:
    owner = make_ring({f"bpm0{i}": 0 for i in range(4)}, kicks=())
    store(owner, "bpm00/turn", bpm(0))
    with attach() as ws:
        aligner = Aligner(ws, 2048)
        assert not aligner.add(KICKS[0])
        assert aligner.alignments()[0].note == "shows no kick"


def test_a_counter_of_another_period_is_reported(make_ring: MakeRing) -> None:
    owner = make_ring(dict.fromkeys(OFFSETS, 0))
    store(owner, "bpm02/turn", bpm(1), keep=slice(None, None, 2))  # sends every second turn
    store(owner, "bpm03/turn", bpm(2, kicks=(KICKS[0], KICKS[1] - 300)))  # is 300 turns behind after 20 000
    half = bpm(3)[:, ::2]  # counts one for every two turns, from the first kick on
    start = (KICKS[0] - FIRST) // 2
    store(owner, "bpm04/turn", np.roll(np.tile(half, 2), start, axis=1))
    found = find(kicks=2)
    assert "one of 2 turns only" in found["bpm02"].note
    assert "changes from kick to kick (+0, -300)" in found["bpm03"].note
    assert "oscillates at" in found["bpm04"].note
    assert [found[name].offset for name in ("bpm02", "bpm03", "bpm04")] == [None, None, None]
    assert found["bpm05"].sure


def test_an_instrument_of_a_longer_period_is_aligned_by_its_records(make_owner: MakeOwner) -> None:
    objects = [fabric.stream(f"bpm0{i}/turn", capacity=CAPACITY, lanes=BPM_LANES) for i in range(3)]
    objects.append(fabric.stream("slow/raw", capacity=CAPACITY, lanes=BPM_LANES, period=4, filter=b"none"))
    owner = make_owner(objects)
    for i in range(3):
        store(owner, f"bpm0{i}/turn", bpm(i))
    store(owner, "slow/raw", bpm(3), offset=-8, keep=slice(None, None, 4), period=4)
    assert (find()["slow"].offset, find()["slow"].sure) == (-8, True)


def test_a_ring_that_is_too_short_is_refused(make_ring: MakeRing) -> None:
    make_ring({"bpm01": 0})
    with attach() as ws, pytest.raises(ValueError, match="too few for a range of 100000"):
        Aligner(ws, 100_000)
    with attach() as ws, pytest.raises(ValueError, match="no instrument 'bpm77'"):
        Aligner(ws, 2048, "bpm77")


def test_the_command_prints_a_table_and_writes_the_configuration(make_ring: MakeRing, tmp_path: Path) -> None:
    make_ring(OFFSETS)
    names = {name: 10 * i for i, name in enumerate(OFFSETS)} | {"blm01": 0, "llrf01": 0, "bpm90": 0, "bpm91": 0}
    config = tmp_path / "server.yaml"
    config.write_text(configuration(names))
    done = ringmaster("align", *OPTIONS, "--write", str(config))
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines()[1:]}
    assert rows["bpm05"] == ["bpm05", str(KICKS[0] + 1000), "+1000", "40", "-960", "100", "%"]
    assert rows["llrf01"][1:] == ["–", "–", "0", "–", "–", "shows", "no", "kick"]
    new = {name: value - OFFSETS.get(name, 3 if name == "blm01" else 0) for name, value in names.items()}
    assert re.sub(" +#", " #", config.read_text()) == configuration(new)  # comments keep their column
    assert "5 turn_offset written" in done.stderr


def test_another_configuration_than_the_servers_is_not_written(make_ring: MakeRing, tmp_path: Path) -> None:
    make_ring(OFFSETS)
    config = tmp_path / "server.yaml"
    config.write_text(configuration(dict.fromkeys(OFFSETS, 5)))
    done = ringmaster("align", *OPTIONS, "--write", str(config), expect=1)
    assert "turn_offset of bpm02 is 5, but the server runs with 10" in done.stderr
    assert config.read_text() == configuration(dict.fromkeys(OFFSETS, 5))


def test_output_leaves_the_configuration_alone(make_ring: MakeRing, tmp_path: Path) -> None:
    make_ring({"bpm01": 0, "bpm02": 0, "bpm03": -1})
    config, output = tmp_path / "server.yaml", tmp_path / "new.yaml"
    text = configuration({"bpm01": 0, "bpm02": 10, "bpm03": 20, "blm01": 0})
    config.write_text(text)
    ringmaster("align", *OPTIONS, "--write", str(config), "--output", str(output))
    assert config.read_text() == text
    assert "{name: bpm03, kind: bpm, turn_offset: 21} # bpm03" in output.read_text()
    assert "say --write" in ringmaster("align", "--output", str(output), expect=2).stderr


def test_json_and_several_kicks_for_scripts(make_ring: MakeRing) -> None:
    make_ring(OFFSETS)
    found = json.loads(ringmaster("align", *OPTIONS, "--kicks", "2", "--json").stdout)
    assert found["kicks"] == list(KICKS)
    assert found["instruments"][1]["new_turn_offset"] == 9


def test_waiting_has_an_end(make_ring: MakeRing, tmp_path: Path) -> None:
    make_ring(OFFSETS, kicks=())
    said = ringmaster("align", *OPTIONS, expect=1).stderr
    assert "looking for kick 1 of 1 in the turns of bpm01/turn" in said
    assert "no kick of the beam was seen" in said
    ran = tmp_path / "ran"
    ringmaster("align", *OPTIONS, "--kick", f"touch {ran}", expect=1)
    assert ran.exists()
    assert "ended with status 3" in ringmaster("align", *OPTIONS, "--kick", "exit 3", expect=1).stderr


def test_ctrl_c_keeps_what_was_found(make_ring: MakeRing) -> None:
    make_ring(OFFSETS)
    command = [sys.executable, "-u", "-m", "ringmaster", "align", "--range", "2048", "--kicks", "99", "--json"]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as running:
        assert running.stderr is not None
        too_long = Timer(120, running.kill)
        too_long.start()
        for line in running.stderr:
            if line.startswith("kick 2 of 99"):
                running.send_signal(signal.SIGINT)
                break
        out, err = running.communicate()
        too_long.cancel()
    stopped = re.search(r"stopped after (\d+) of 99 kicks", err)
    assert stopped is not None, err
    assert len(json.loads(out)["kicks"]) == int(stopped[1]) >= 2  # a starved test interrupts it later


@pytest.mark.skipif(not DOROS.exists(), reason=f"NO MEASURED BEAM AT {DOROS}")
def test_measured_beams_are_aligned(make_owner: MakeOwner) -> None:
    """Three BPMs of the LHC: measured quiet turns, then measured oscillation, of one of them 7 turns later."""
    quiet, driven = 30_000, {"1l1_b1": 1000, "1l1_b2": 15_000, "1l2_b1": 1000}
    kick, late = 20_000, {"1l1_b1": 0, "1l1_b2": 0, "1l2_b1": 7}
    lanes = [("x", "counts", LaneType.I32), ("y", "counts", LaneType.I32)]
    instruments = {instrument.name.removeprefix("lhc_bpm_"): instrument for instrument in doros.read(DOROS)}
    owner = make_owner([fabric.stream(f"{name}/turn", capacity=CAPACITY, lanes=lanes) for name in late])
    for name, instrument in instruments.items():
        signals = np.zeros((2, TURNS))
        for i, lane in enumerate(("x_oscillation", "y_oscillation")):
            measured = instrument.lane(lane).astype(np.float64) / 1000
            before, after = measured[quiet : quiet + kick], measured[driven[name] : driven[name] + 5000]
            signals[i, :kick] = before - before.mean()
            signals[i, kick : kick + 5000] = after - after.mean()
        store(owner, f"{name}/turn", signals, late[name])
    with attach() as ws:
        aligner = Aligner(ws, 2048)
        near = next(KickWatch(aligner.bpms).kicks(timeout_s=0))
        assert aligner.add(near)
        found = {alignment.name: alignment for alignment in aligner.alignments()}
    assert aligner.kick_turns == [FIRST + kick]
    assert {name: found[name].offset for name in late} == late
    assert all(found[name].sure for name in late)

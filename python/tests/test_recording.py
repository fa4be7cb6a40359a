# SPDX-License-Identifier: Apache-2.0
"""Recorded data: read, and written as a replay file that carries every bit."""

import io
import struct
from pathlib import Path

import h5py
import numpy as np
import pytest
from command import in_a_process, ringmaster

from ringmaster.recordings import recording

DATASETS = {"horPositions": "f4", "verPositions": "f4", "horOscillationData": "i4", "verOscillationData": "i4"}


@pytest.fixture
def doros(tmp_path: Path) -> Path:
    """A recording of two BPMs over 100 turns, with things beside that are no BPMs."""
    path = tmp_path / "beam.h5"
    random = np.random.default_rng(2)
    with h5py.File(path, "w") as file:
        file.create_group("METADATA")
        for name in ("LHC.BPM.1L1.B1_DOROS", "LHC.BPM.1L2.B1_DOROS"):
            for dataset, dtype in DATASETS.items():
                file[f"{name}/{dataset}"] = (random.normal(size=100) * 1e6).astype(dtype)
    return path


def test_a_recording_has_its_bpms_lanes_and_types(doros: Path) -> None:
    bpms = recording.read_recording(doros)
    assert [bpm.name for bpm in bpms] == ["lhc_bpm_1l1_b1", "lhc_bpm_1l2_b1"]
    assert [(lane.name, lane.unit, lane.type.name) for lane in bpms[0].lanes] == [
        ("x", "mm", "F32"),
        ("y", "mm", "F32"),
        ("x_oscillation", "count", "I32"),
        ("y_oscillation", "count", "I32"),
    ]
    with h5py.File(doros) as file:
        assert np.array_equal(bpms[1].lane("y"), file["LHC.BPM.1L2.B1_DOROS/verPositions"][:])
    assert bpms[0].turns == 100


def test_a_replay_file_holds_the_recording_to_the_bit(doros: Path) -> None:
    bpms = recording.read_recording(doros)
    file = io.BytesIO()
    assert recording.write_replay(file, bpms, source="10.0.0.2", first_turn=1000) == 100
    raw = file.getvalue()
    assert raw[:16] == b"RMREPLAY1\n".ljust(16, b"\0")
    assert struct.unpack_from("<IIQQ", raw, 16) == (2, 0, 100, 1000)
    assert len(raw) == 64 + 2 * 64 + 100 * 2 * 48
    assert struct.unpack_from("<IHBB24s", raw, 128) == (0x0A000002, 2, 1, 4, b"lhc_bpm_1l2_b1".ljust(24, b"\0"))
    frames = np.frombuffer(raw, "<u4", offset=64 + 2 * 64).reshape(100, 2, 12)
    for i, bpm in enumerate(bpms):
        for j, lane in enumerate(bpm.lanes):
            assert np.array_equal(frames[:, i, j], lane.values.view("<u4"))
    assert not frames[:, :, 4:].any()


def test_a_replay_may_be_cut_short(doros: Path) -> None:
    file = io.BytesIO()
    assert recording.write_replay(file, recording.read_recording(doros), "127.0.0.1", turns=7) == 7
    assert len(file.getvalue()) == 64 + 2 * 64 + 7 * 2 * 48


@pytest.mark.parametrize("dataset", DATASETS)
def test_a_bpm_with_other_lanes_is_refused(doros: Path, dataset: str) -> None:
    with h5py.File(doros, "r+") as file:
        group = file["LHC.BPM.1L2.B1_DOROS"]
        del group[dataset]
        group[dataset] = np.zeros(100)
    with pytest.raises(ValueError, match=rf"1L2.*expected a dataset {dataset}"):
        recording.read_recording(doros)


def test_a_bpm_with_lanes_of_unequal_length_is_refused(doros: Path) -> None:
    with h5py.File(doros, "r+") as file:
        group = file["LHC.BPM.1L2.B1_DOROS"]
        del group["verPositions"]
        group["verPositions"] = np.zeros(99, "f4")
    with pytest.raises(ValueError, match="unequal length"):
        recording.read_recording(doros)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("turns")
    with pytest.raises(ValueError, match="format that is not known; expected"):
        recording.read_recording(tmp_path / "a.txt")
    h5py.File(tmp_path / "b.h5", "w").close()
    with pytest.raises(ValueError, match="no DOROS BPM"):
        recording.read_recording(tmp_path / "b.h5")


def test_replay_describes_the_matching_configuration(doros: Path) -> None:
    shown = ringmaster("replay", str(doros), "--describe", "--source", "10.0.0.2", "--port-name", "veth").stdout
    assert "  - name: lhc_bpm_1l2_b1\n    kind: bpm\n    id: 2\n    port: veth\n    source: 10.0.0.2\n" in shown
    assert "      - {name: x_oscillation, unit: count, type: i32}\n" in shown


def test_replay_hands_the_file_to_the_sender(doros: Path, tmp_path: Path) -> None:
    script = tmp_path / "ringmaster-instruments"
    script.write_text('#!/bin/sh\necho "$@"\ncat "$2" > "$OUT"\n')
    script.chmod(0o755)
    out = tmp_path / "sent"
    words = ["replay", str(doros), "--rate", "11245.5", "--to", "127.0.0.1:4660", "--turns", "9", "--loop"]
    shown = in_a_process(*words, RINGMASTER_LIBEXEC=str(tmp_path), OUT=str(out)).stdout
    assert shown.startswith("replay /proc/self/fd/")
    assert shown.endswith(" --rate 11245.5 --port-kind udp --to 127.0.0.1:4660 --loop\n")
    expected = io.BytesIO()
    recording.write_replay(expected, recording.read_recording(doros), "127.0.0.1", turns=9)
    assert out.read_bytes() == expected.getvalue()


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ([], "--rate is missing"),
        (["--rate", "1"], "--to is missing"),
        (["--rate", "1", "--port-kind", "af_packet"], "--interface is missing"),
        (["--rate", "1", "--port-kind", "memif"], "--socket is missing"),
    ],
)
def test_replay_says_what_is_missing(doros: Path, words: list[str], missing: str) -> None:
    assert missing in ringmaster("replay", str(doros), *words, expect=2).stderr

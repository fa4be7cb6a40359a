# SPDX-License-Identifier: Apache-2.0
"""Turn-by-turn positions of other machines in SDDS and NumPy files: what they say is believed when it fits."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sdds
from command import ringmaster
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sdds.classes import Array, Parameter, SddsFile

from ringmaster.recordings.recording import read_recording

MEASURED = Path(__file__).parents[2] / "../shared/data/tbt/lhc_b1_250turns.sdds"
LIES = [b"", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"9999", b"-1\n "]
NAMES = ["BPM.1L1.B1", "BPM.2L1.B1"]


def lhc(path: Path, turns: int = 5, names: list[str] = NAMES, x: Any = None, y: Any = None, **said: Any) -> Path:
    """A file as the LHC writes them, which may say other counts than it has."""
    count = turns * len(names)
    values = {
        "acqStamp": 1709919708045533952,
        "nbOfCapBunches": said.get("bunches", 1),
        "nbOfCapTurns": said.get("turns_said", turns),
        "bpmNames": names,
        "horPositionsConcentratedAndSorted": np.arange(count, dtype="f4") if x is None else np.asarray(x, "f4"),
        "verPositionsConcentratedAndSorted": -np.arange(count, dtype="f4") if y is None else np.asarray(y, "f4"),
    }
    kinds = {"acqStamp": "llong", "nbOfCapBunches": "long", "nbOfCapTurns": "long"}
    definitions = [Parameter(name, kind) for name, kind in kinds.items()]
    arrays = [Array(name, "string" if name == "bpmNames" else "float") for name in list(values)[3:]]
    sdds.write(SddsFile("SDDS1", None, [*definitions, *arrays], list(values.values())), path)
    return path


def sps(path: Path, names: list[str], planes: list[int]) -> Path:
    """A file as the SPS writes them: turn i of monitor k is 10 k + i."""
    definitions = [Parameter("timestamp", "llong"), Parameter("nbOfTurns", "long"), Array("MonNames", "string")]
    definitions += [Array("MonPlanes", "long"), *(Array(name, "double") for name in names)]
    positions = [10.0 * k + np.arange(4) for k in range(len(names))]
    sdds.write(SddsFile("SDDS1", None, definitions, [1, 4, names, planes, *positions]), path)
    return path


ASCII = """SDDS1
&parameter name=nbOfCapTurns, type=long &end
&parameter name=nbOfCapBunches, type=long &end
&array name=bpmNames, type=string, dimensions=1 &end
&array name=horPositionsConcentratedAndSorted, type=float, dimensions=1 &end
&array name=verPositionsConcentratedAndSorted, type=float, dimensions=1 &end
&data mode=ascii &end
3
1
2
BPM.A BPM.B
6
1 2 nan 4 5 6
6
-1 -2 -3 -4 -5 -6
"""


@pytest.mark.skipif(not MEASURED.exists(), reason="measured data lie beside the repository")
def test_a_measured_file_of_the_lhc_has_its_tunes() -> None:
    bpms = read_recording(MEASURED)
    assert len(bpms) == 536
    x, y = (np.mean([np.abs(np.fft.rfft(b.lane(p) - b.lane(p).mean())) for b in bpms], 0) for p in ("x", "y"))
    assert abs(np.argmax(x) / 250 - 0.27) < 0.005
    assert abs(np.argmax(y) / 250 - 0.322) < 0.005


def test_positions_of_each_bpm_are_its_own(tmp_path: Path) -> None:
    one, other = read_recording(lhc(tmp_path / "a.sdds"))
    assert (one.name, other.name) == ("bpm_1l1_b1", "bpm_2l1_b1")
    assert [lane.unit for lane in one.lanes] == ["mm", "mm"]
    assert list(other.lane("x")) == [5, 6, 7, 8, 9]
    assert list(other.lane("y")) == [-5, -6, -7, -8, -9]
    assert one.ok is None


def test_nan_is_missing(tmp_path: Path) -> None:
    x = np.arange(10.0)
    x[3] = np.nan
    one, other = read_recording(lhc(tmp_path / "a.sdds", x=x, y=[*range(5), *[np.nan] * 5]))
    assert one.ok is not None
    assert list(one.ok) == [True, True, True, False, True]
    assert list(one.lane("x")) == [0, 1, 2, 0, 4]
    assert [lane.name for lane in other.lanes] == ["x"]


def test_ascii_is_read_as_binary_is(tmp_path: Path) -> None:
    (tmp_path / "a.sdds").write_text(ASCII)
    one, other = read_recording(tmp_path / "a.sdds")
    assert list(other.lane("x")) == [4, 5, 6]
    assert one.ok is not None
    assert list(one.ok) == [True, True, False]


@pytest.mark.parametrize(
    ("names", "planes"),
    [
        (["BPH.1.H", "BPV.1.V", "BPH.2.H"], [9, 9, 9]),
        (["BPH.1", "BPV.1", "BPH.2"], [0, 1, 0]),
        (["BPH.1", "BPV.1", "BPH.2"], [1, 3, 1]),
    ],
)
def test_planes_of_the_sps_in_its_three_ways(tmp_path: Path, names: list[str], planes: list[int]) -> None:
    bpms = read_recording(sps(tmp_path / "a.sdds", names, planes))
    assert [(b.name, b.lanes[0].name) for b in bpms] == [("bph_1", "x"), ("bpv_1", "y"), ("bph_2", "x")]
    assert list(bpms[2].lane("x")) == [20, 21, 22, 23]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"turns_said": 6}, "has 10 values, expected 12"),
        ({"turns_said": -5}, "nbOfCapTurns is -5"),
        ({"turns_said": 2**31 - 1}, "has 10 values, expected 4294967294"),
        ({"bunches": 0}, "nbOfCapBunches is 0"),
        ({"names": ["A", "A"]}, "a name twice"),
    ],
)
def test_a_file_that_lies_about_its_counts_is_refused(tmp_path: Path, said: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_recording(lhc(tmp_path / "a.sdds", **said))


def test_planes_that_are_not_said_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="MonPlanes does not say"):
        read_recording(sps(tmp_path / "a.sdds", ["A", "B"], [5, 7]))


@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_file_is_read_or_refused_with_words(tmp_path: Path, data: st.DataObject) -> None:
    whole = ASCII.encode() if data.draw(st.booleans()) else lhc(tmp_path / "whole.sdds").read_bytes()
    bad = bytearray(whole[: data.draw(st.integers(5, len(whole)))])
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(5, max(5, len(bad) - 1)))
        bad[at : at + 4] = data.draw(st.sampled_from(LIES))
    path = tmp_path / "bad.sdds"
    path.write_bytes(bad)
    try:
        bpms, words = read_recording(path), ""
    except ValueError as error:
        bpms, words = [], str(error)
    assert bpms or words.startswith(str(path))
    assert all(len({len(lane.values) for lane in bpm.lanes}) == 1 for bpm in bpms)


def test_numpy_files(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"bpm01/x1": np.array([1.0, np.nan, 3.0]), "bpm01/y1": np.array([1, 2, 3])}
    np.savez(tmp_path / "a.npz", **arrays)
    (bpm,) = read_recording(tmp_path / "a.npz")
    assert [(lane.name, lane.type.name) for lane in bpm.lanes] == [("x1", "F32"), ("y1", "I32")]
    assert bpm.ok is not None
    assert list(bpm.ok) == [True, False, True]
    np.save(tmp_path / "b.npy", np.arange(4))
    assert list(read_recording(tmp_path / "b.npy")[0].lane("x1")) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"a/x": np.zeros((2, 2))}, "expected numbers, one per turn"),
        ({"a/x": np.array(["one"])}, "expected numbers, one per turn"),
        ({"a/x": np.zeros(3), "a/y": np.zeros(4)}, "of equal length"),
        ({"a/x": np.array([2**40])}, "beyond 32 bits"),
        ({"a/x": np.array([None])}, "cannot be read"),
    ],
)
def test_numpy_files_that_cannot_be_lanes_are_refused(tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=words):
        read_recording(tmp_path / "a.npz")


def test_replay_describes_a_file_of_sdds(tmp_path: Path) -> None:
    shown = ringmaster("replay", str(lhc(tmp_path / "a.sdds")), "--describe").stdout
    assert "name: bpm_1l1_b1" in shown
    assert "{name: x, unit: mm, type: f32}" in shown

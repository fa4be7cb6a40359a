# SPDX-License-Identifier: Apache-2.0
"""Reads turn-by-turn positions in SDDS files, as the LHC and the SPS write them, binary or ASCII; and our own exports.

The LHC's have bpmNames and the positions of all BPMs behind one another; the SPS's have an array for each of MonNames,
which end in .H or .V. What such a file says of its lengths is compared with what it has.
"""

import struct
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ringmaster.fabric.layout import InstrumentKind
from ringmaster.recordings.recording import RecordedInstrument, RecordedLane, instrument_name, stream_name

MAGIC = b"SDDS1"
_KIND, _BESIDE = "/kind", ("kind", "turn", "utc", "ok", "status")
"""Of a stream of our own export, beside its lanes."""
_LHC = {"x": "horPositionsConcentratedAndSorted", "y": "verPositionsConcentratedAndSorted"}
_ENDS = {".h": "x", ".v": "y"}
_PLANES = {0: "x", 1: "y"}
_PLANES_OF_2025 = {1: "x", 3: "y"}
_BAD = (ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, MemoryError, NotImplementedError)
_BAD += (RuntimeError, StopIteration, TypeError, ValueError, struct.error)  # type: ignore[assignment]
"""What the package raises for a file that is not as it says."""

Floats = npt.NDArray[np.float32]


def is_sdds(path: Path) -> bool:
    """Whether the file begins as one."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read(path: Path) -> list[RecordedInstrument]:
    """All BPMs of the file, each with the lanes x and y, in mm. NaN are missing: see RecordedInstrument.ok.

    Of our own exports all streams, as they were. Raises ValueError for a file that is cut, lies about its counts, or
    has no positions.
    """
    values, units = _values(path)
    ours = [name.removesuffix(_KIND) for name in values if name.endswith(_KIND)]
    if ours:
        return [_stream(path, values, units, stream) for stream in ours]
    if "bpmNames" in values:
        lanes = _lhc(path, values)
    elif "MonNames" in values:
        lanes = _sps(path, values)
    else:
        raise ValueError(f"{path}: no turn-by-turn positions in it; expected bpmNames (LHC) or MonNames (SPS)")
    return [_bpm(name, planes) for name, planes in lanes.items()]


def _values(path: Path) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """Values and units by their names."""
    try:
        import sdds
    except ImportError:
        raise ValueError(f"{path}: SDDS needs the package sdds: install `ringmaster[archive]`") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read = sdds.read(str(path))
            units = {name: str(getattr(found, "units", None) or "") for name, found in read.definitions.items()}
    except _BAD as error:
        raise ValueError(f"{path}: is cut, or is not what its header says ({type(error).__name__}: {error})") from None
    return read.values, units


def _stream(path: Path, values: Mapping[str, Any], units: Mapping[str, str], stream: str) -> RecordedInstrument:
    """A stream of our own export: archive/sdds_file.py writes it."""
    try:
        kind = InstrumentKind[str(values[f"{stream}{_KIND}"]).upper()]
        ok = np.ravel(np.asarray(values[f"{stream}/ok"], np.int64)) != 0
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: {stream} is not whole: {error}; export it anew") from None
    names = [name for name in values if name.rpartition("/")[0] == stream and name.rpartition("/")[2] not in _BESIDE]
    lanes = []
    for name in names:
        found = np.ravel(np.asarray(values[name]))
        if len(found) != len(ok) or found.dtype.kind not in "if":
            raise ValueError(f"{path}: {name} has {len(found)} values of {found.dtype}, expected {len(ok)} numbers")
        plain = found.astype(np.int32) if found.dtype.kind == "i" else np.where(ok, found, 0).astype(np.float32)
        lanes.append(RecordedLane(name.rpartition("/")[2], units.get(name, ""), plain))
    if not lanes:
        raise ValueError(f"{path}: {stream} has no lanes; export it anew")
    return RecordedInstrument(stream_name(stream), kind, tuple(lanes), ok=None if ok.all() else ok)


def _count(path: Path, values: Mapping[str, Any], name: str) -> int:
    count = values.get(name)
    if not isinstance(count, int | np.integer) or count < 1:
        raise ValueError(f"{path}: {name} is {count!r}, expected a number from 1 on")
    return int(count)


def _names(path: Path, values: Mapping[str, Any], name: str) -> list[str]:
    names = np.ravel(np.asarray(values[name], object)).tolist()
    if not names or not all(isinstance(word, str) and word for word in names):
        raise ValueError(f"{path}: {name} are not the names of BPMs")
    if len(set(names)) < len(names):
        raise ValueError(f"{path}: {name} has a name twice")
    return names


def _positions(path: Path, values: Mapping[str, Any], name: str, count: int) -> Floats:
    try:
        found = np.ravel(np.asarray(values[name], np.float64))
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{path}: {name}, positions in mm, is missing, or has other things than numbers") from None
    if len(found) != count:
        raise ValueError(f"{path}: {name} has {len(found)} values, expected {count} by the file's own counts")
    with np.errstate(over="ignore"):
        return found.astype(np.float32)


def _lhc(path: Path, values: Mapping[str, Any]) -> dict[str, dict[str, Floats]]:
    """Of each BPM all bunches, one behind the other; the first bunch is taken."""
    names = _names(path, values, "bpmNames")
    turns, bunches = _count(path, values, "nbOfCapTurns"), _count(path, values, "nbOfCapBunches")
    lanes: dict[str, dict[str, Floats]] = {name: {} for name in names}
    for plane, array in _LHC.items():
        flat = _positions(path, values, array, turns * bunches * len(names))
        for name, positions in zip(names, flat.reshape(len(names), bunches, turns)[:, 0], strict=True):
            lanes[name][plane] = positions
    return lanes


def _sps(path: Path, values: Mapping[str, Any]) -> dict[str, dict[str, Floats]]:
    names = _names(path, values, "MonNames")
    turns = _count(path, values, "nbOfTurns")
    lanes: dict[str, dict[str, Floats]] = {}
    for name, plane in zip(names, _sps_planes(path, values, names), strict=True):
        bpm = name[:-2] if name[-2:].lower() in _ENDS else name
        lanes.setdefault(bpm, {})[plane] = _positions(path, values, name, turns)
    return lanes


def _sps_planes(path: Path, values: Mapping[str, Any], names: list[str]) -> list[str]:
    """By the ends of the names; else by numbers, whose meaning changed in 2025."""
    if all(name[-2:].lower() in _ENDS for name in names):
        return [_ENDS[name[-2:].lower()] for name in names]
    numbers = np.ravel(np.asarray(values.get("MonPlanes", []), object)).tolist()
    meaning = _PLANES_OF_2025 if 3 in numbers else _PLANES
    if len(numbers) != len(names) or not all(number in meaning for number in numbers):
        raise ValueError(f"{path}: MonPlanes does not say the plane of each of the {len(names)} MonNames")
    return [meaning[number] for number in numbers]


def _bpm(name: str, planes: dict[str, Floats]) -> RecordedInstrument:
    """A plane that has no number at all is left out, unless both are so."""
    measured = {plane: lane for plane, lane in planes.items() if not np.isnan(lane).all()} or planes
    ok = np.all([np.isfinite(lane) for lane in measured.values()], axis=0)
    lanes = tuple(RecordedLane(plane, "mm", np.where(ok, measured[plane], np.float32(0))) for plane in sorted(measured))
    return RecordedInstrument(instrument_name(name), InstrumentKind.BPM, lanes, ok=None if ok.all() else ok)

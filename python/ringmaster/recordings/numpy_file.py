# SPDX-License-Identifier: Apache-2.0
"""Reads NumPy files: .npz with an array for each lane, named "INSTRUMENT/LANE" (bpm01/x1), or .npy with one lane."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ringmaster.fabric.layout import InstrumentKind
from ringmaster.recordings.recording import FRAME_LANES, RecordedInstrument, RecordedLane, instrument_name

MAGIC = (b"\x93NUMPY", b"PK\x03\x04")


def is_numpy(path: Path) -> bool:
    """Whether the file begins as one."""
    with path.open("rb") as file:
        return file.read(6).startswith(MAGIC)


def read(path: Path) -> list[RecordedInstrument]:
    """All instruments of the file, as BPMs; units are not known. NaN are missing: see RecordedInstrument.ok.

    Raises ValueError for a file that is cut, has objects instead of numbers, or lanes of unequal length.
    """
    instruments: dict[str, dict[str, npt.NDArray[Any]]] = {}
    for name, values in _arrays(path).items():
        if values.ndim != 1 or values.dtype.kind not in "iuf" or not len(values):
            found = f"shape {values.shape} of {values.dtype}"
            raise ValueError(f"{path}: {name} has {found}, expected numbers, one per turn")
        instrument, slash, lane = name.rpartition("/")
        instruments.setdefault(instrument if slash else path.stem, {})[lane if slash else "x1"] = values
    if not instruments:
        raise ValueError(f"{path}: has no array; expected one for each lane, named bpm01/x1")
    return [_instrument(path, name, lanes) for name, lanes in instruments.items()]


def _arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"x1": loaded}
        with loaded:
            return {name: loaded[name] for name in loaded.files}
    except (ValueError, EOFError, OSError, KeyError, zipfile.BadZipFile, MemoryError, NotImplementedError) as error:
        raise ValueError(f"{path}: cannot be read as NumPy's: {error}") from None


def _instrument(path: Path, name: str, arrays: dict[str, npt.NDArray[Any]]) -> RecordedInstrument:
    lengths = {len(values) for values in arrays.values()}
    if len(lengths) > 1 or len(arrays) > FRAME_LANES:
        raise ValueError(f"{path}: {name}: expected at most {FRAME_LANES} lanes, of equal length")
    ok = np.all([np.isfinite(values) for values in arrays.values()], axis=0)
    lanes = tuple(RecordedLane(lane, "", _narrowed(path, values, ok)) for lane, values in arrays.items())
    return RecordedInstrument(instrument_name(name), InstrumentKind.BPM, lanes, ok=None if ok.all() else ok)


def _narrowed(
    path: Path, values: npt.NDArray[Any], ok: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float32] | npt.NDArray[np.int32]:
    """As a lane of 32 bits."""
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.where(ok, values, 0).astype(np.float32)
    if values.min() < -(2**31) or values.max() >= 2**31:
        raise ValueError(f"{path}: has integers beyond 32 bits; give them as floating-point numbers")
    return values.astype(np.int32)

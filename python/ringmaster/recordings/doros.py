# SPDX-License-Identifier: Apache-2.0
"""Reads LHC DOROS recordings: HDF5 with one group per BPM, positions at turn rate and raw oscillations."""

from pathlib import Path

import h5py
import numpy as np

from ringmaster.fabric.layout import InstrumentKind
from ringmaster.recordings.recording import RecordedInstrument, RecordedLane, instrument_name

_LANES = (
    ("x", "mm", "horPositions", np.dtype(np.float32)),
    ("y", "mm", "verPositions", np.dtype(np.float32)),
    ("x_oscillation", "count", "horOscillationData", np.dtype(np.int32)),
    ("y_oscillation", "count", "verOscillationData", np.dtype(np.int32)),
)


def read(path: Path) -> list[RecordedInstrument]:
    """All BPMs of the file in its order, each with the lanes x, y, x_oscillation and y_oscillation.

    ``x`` and ``y`` (f4, mm) show the slow orbit, the oscillations (i4, counts of the detector) the betatron motion.
    Raises ValueError when the file holds no such BPM, or one with lanes of unequal length or other types.
    """
    with h5py.File(path, "r") as file:
        groups = [name for name, group in file.items() if isinstance(group, h5py.Group) and _LANES[0][2] in group]
        bpms = [_bpm(path, file[name], name) for name in groups]
    if not bpms:
        raise ValueError(f"{path}: no DOROS BPM in it; expected groups with the dataset {_LANES[0][2]}")
    return bpms


def _bpm(path: Path, group: h5py.Group, name: str) -> RecordedInstrument:
    lanes = []
    for lane, unit, dataset, dtype in _LANES:
        if dataset not in group or group[dataset].dtype != dtype or group[dataset].ndim != 1:
            raise ValueError(f"{path}: {name}: expected a dataset {dataset} of {dtype.name}, one value per turn")
        lanes.append(RecordedLane(lane, unit, group[dataset][:]))
    if len({len(lane.values) for lane in lanes}) > 1:
        raise ValueError(f"{path}: {name}: its datasets are of unequal length")
    return RecordedInstrument(instrument_name(name.removesuffix("_DOROS")), InstrumentKind.BPM, tuple(lanes))

# SPDX-License-Identifier: Apache-2.0
r"""Windows of streams in an HDF5 file, with all that is needed to understand them later: units, and the calibration.

::

    /                    attributes: format "ringmaster window", version 1, workspace
    /bpm01/turn          one group per stream; attributes: kind, period_turns, turn_epoch, filter, calibrated
        turn             u8, shape (n,)
        ok               bool: whether the record was had; the others' lanes are 0
        status           u2
        lanes/x1 …       one dataset per lane as it was stored, i4 or f4, in the record's order; attribute unit
        calibration      f8, shape (172,), where there is one; attribute units: "LANE\tRAW\tPHYSICAL\n" for each lane

``recording.read_recording`` reads such a file, and ``ringmaster replay`` sends it.
"""

from collections.abc import Mapping
from pathlib import Path

import h5py
import numpy as np

from ringmaster.fabric.calibration import Calibration, read_units, write_units
from ringmaster.fabric.layout import Calibrated, InstrumentKind
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.window import Window
from ringmaster.recordings.recording import RecordedInstrument, RecordedLane, instrument_name

FORMAT = "ringmaster window"
VERSION = 1


def write(path: Path, workspace: str, windows: Mapping[Stream, Window]) -> None:
    """Writes windows as they were stored, not physical ones. Raises OSError; an existing file is not overwritten."""
    with h5py.File(path, "x") as file:
        file.attrs.update(format=FORMAT, version=VERSION, workspace=workspace)
        for stream, window in windows.items():
            _write_stream(file.create_group(stream.name), stream, window)


def _write_stream(group: h5py.Group, stream: Stream, window: Window) -> None:
    group.attrs.update(
        kind=stream.instrument_kind.name.lower(),
        period_turns=stream.period,
        turn_epoch=window.turn_epoch,
        filter=stream.filter,
        calibrated=stream.calibrated.name.lower(),
    )
    for name, values in (("turn", window.turn), ("ok", window.ok), ("status", window.status)):
        group.create_dataset(name, data=values)
    lanes = group.create_group("lanes", track_order=True)
    for lane in stream.lanes:
        lanes.create_dataset(lane.name, data=window[lane.name]).attrs["unit"] = lane.unit
    if stream.calibration is not None:
        calibration = group.create_dataset("calibration", data=stream.calibration.values)
        calibration.attrs["units"] = write_units(stream.calibration.units)


def is_export(file: h5py.File) -> bool:
    """Whether this module wrote it."""
    return bool(file.attrs.get("format") == FORMAT)


def read(path: Path) -> list[RecordedInstrument]:
    """All streams of the file. Raises ValueError when the file is not whole, or of another version."""
    with h5py.File(path, "r") as file:
        if file.attrs.get("version") != VERSION:
            raise ValueError(f"{path}: of version {file.attrs.get('version')}, expected {VERSION}")
        streams = [group for parent in file.values() for group in parent.values()]
        try:
            return [_read_stream(group) for group in streams]
        except KeyError as error:
            raise ValueError(f"{path}: not whole: {error}") from error


def _read_stream(group: h5py.Group) -> RecordedInstrument:
    instrument, _, rate = group.name.lstrip("/").rpartition("/")
    lanes = tuple(RecordedLane(name, data.attrs["unit"], data[:]) for name, data in group["lanes"].items())
    return RecordedInstrument(
        name=instrument_name(instrument if rate in ("turn", "raw") else f"{instrument}_{rate}"),
        kind=InstrumentKind[group.attrs["kind"].upper()],
        lanes=lanes,
        calibration=_read_calibration(group),
        calibrated=Calibrated[group.attrs["calibrated"].upper()],
        ok=group["ok"][:],
    )


def _read_calibration(group: h5py.Group) -> Calibration | None:
    if "calibration" not in group:
        return None
    data = group["calibration"]
    return Calibration(np.asarray(data[:], np.float64), read_units(data.attrs["units"]))

# SPDX-License-Identifier: Apache-2.0
r"""Windows of streams in an HDF5 file, with all that is needed to understand them later: units, and the calibration.

::

    /                    NXroot; attributes: format "ringmaster window", version 1, workspace
    /bpm01               NXentry: the instrument
    /bpm01/turn          NXdata, one group per stream; attributes: kind, period_turns, turn_epoch, filter, calibrated
        turn             u8, shape (n,)
        ok               bool: whether the record was had; the others' lanes are 0
        status           u2
        utc              i8, nanoseconds since 1970, of what comes from an archive; attribute units
        turn_epoch       u2, likewise: the low bits of the turn-counter epoch of each turn
        lanes/x1 …       one dataset per lane as it was stored, i4 or f4, in the record's order; attribute unit
        x1 …             the same datasets, where NeXus looks for them
        calibration      f8, shape (172,), where there is one; attribute units: "LANE\tRAW\tPHYSICAL\n" for each lane
    /tune/spectrum_x     NXdata, one group per row ring; attributes: kind "rows", period_turns, turn_epoch, delay_turns
        turn, ok         as above, shape (n,)
        quality          i4: 0 where the row is to be trusted
        values           f4, shape (n, width), NaN where the row was not had; attribute units
        axis             f8, shape (width,): what each value is at; attributes name, units
    /configuration       text, where there is one: what was recorded of the server's settings

``recording.read_recording`` reads such a file, and ``ringmaster replay`` sends it.
"""

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import h5py
import numpy as np

from ringmaster.fabric.calibration import Calibration, read_units, write_units
from ringmaster.fabric.layout import Calibrated, InstrumentKind
from ringmaster.fabric.rows import Rows, RowWindow
from ringmaster.fabric.stream import Lane, Stream
from ringmaster.fabric.window import Window
from ringmaster.recordings.recording import RecordedInstrument, RecordedLane, stream_name

FORMAT = "ringmaster window"
VERSION = 1
ROWS = "rows"
"""The kind of a row ring, which is no stream."""
IMAGES = "images"
"""The kind of frames of a camera, as archives are exported."""
CHUNK_RECORDS = 16384
"""Of a compressed dataset, or one that grows."""
UTC_UNITS = "nanoseconds since 1970-01-01T00:00:00Z"


class Exported(Protocol):
    """What is written of a stream: one in memory, or one of an archive."""

    @property
    def name(self) -> str:
        """As "bpm01/turn"."""

    @property
    def period(self) -> int:
        """Turns from one record to the next."""

    @property
    def instrument_kind(self) -> InstrumentKind:
        """What it is."""

    @property
    def filter(self) -> str:
        """Of the decimation."""

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """In the order of the record."""

    @property
    def calibrated(self) -> Calibrated:
        """Whether the lanes are in physical units."""

    @property
    def calibration(self) -> Calibration | None:
        """What converts them."""


def write(
    path: Path, workspace: str, windows: Mapping[Stream, Window], rows: Mapping[Rows, RowWindow] | None = None
) -> None:
    """Writes windows as they were stored, not physical ones. Raises OSError; an existing file is not overwritten."""
    with Hdf5Writer(path, workspace) as writer:
        for stream, window in windows.items():
            writer.begin(stream)
            writer.append(window)
        for ring, newest in (rows or {}).items():
            writer.rows(ring, newest)


class Hdf5Writer:
    """Writes streams one behind the other, each piece by piece; what was appended stays, whatever comes then."""

    def __init__(self, path: Path, workspace: str, configuration: str = "", compression: Any = None) -> None:
        """``compression``: keywords of h5py's create_dataset, as hdf5plugin gives them."""
        self._file = h5py.File(path, "x")
        self._file.attrs.update(format=FORMAT, version=VERSION, workspace=workspace, NX_class="NXroot")
        self._compression = dict(compression or {})
        self._group: h5py.Group | None = None
        if configuration:
            self._file.create_dataset("configuration", data=configuration)

    def __enter__(self) -> "Hdf5Writer":
        return self

    def __exit__(self, kind: type[BaseException] | None, it: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Finishes the file."""
        self._file.close()

    def begin(self, stream: Exported) -> None:
        """What is appended from here on is of this stream."""
        group = self._file.create_group(stream.name)
        group.attrs.update(
            kind=stream.instrument_kind.name.lower(),
            period_turns=stream.period,
            filter=stream.filter,
            calibrated=stream.calibrated.name.lower(),
        )
        group.create_group("lanes", track_order=True).attrs["NX_class"] = "NXcollection"
        _mark_nexus(group, stream)
        if stream.calibration is not None:
            calibration = group.create_dataset("calibration", data=stream.calibration.values)
            calibration.attrs["units"] = write_units(stream.calibration.units)
        self._group, self._units = group, {lane.name: lane.unit for lane in stream.lanes}

    def append(self, window: Window) -> None:
        """More records of the stream that was begun, as they were stored."""
        group = self._group
        assert group is not None, "begin() a stream first"
        group.attrs["turn_epoch"] = window.turn_epoch
        self._extend(group, "turn", window.turn)
        self._extend(group, "ok", window.ok)
        self._extend(group, "status", window.status)
        for name, its in (("utc", "utc_ns"), ("turn_epoch", "epochs")):  # an archive has them
            values = getattr(window, its, None)
            if values is not None:
                self._extend(group, name, values.astype(np.int64) if name == "utc" else values)
        for lane, unit in self._units.items():
            if lane in window.lanes:
                data = self._extend(group["lanes"], lane, window[lane])
                data.attrs.update(unit=unit, units=unit)
                if lane not in group:
                    group[lane] = data
        if "utc" in group:
            group["utc"].attrs["units"] = UTC_UNITS

    def rows(self, rows: Rows, window: RowWindow) -> None:
        """All that is written of a row ring."""
        group = self._file.create_group(rows.name)
        group.attrs.update(
            kind=ROWS,
            period_turns=rows.period,
            turn_epoch=window.turn_epoch,
            delay_turns=rows.stream.group_delay_turns,
            NX_class="NXdata",
            signal="values",
            axes=["turn", "axis"],
        )
        for name in ("turn", "ok", "quality"):
            group.create_dataset(name, data=getattr(window, name))
        group.create_dataset("values", data=window.values, **self._compression).attrs["units"] = rows.unit
        group.create_dataset("axis", data=rows.axis).attrs.update(name=rows.axis_name, units=rows.axis_unit)

    def _extend(self, group: h5py.Group, name: str, values: Any) -> h5py.Dataset:
        if name not in group:
            chunk = min(CHUNK_RECORDS, max(1, len(values)))  # one that is not full takes its whole room, too
            return group.create_dataset(name, data=values, maxshape=(None,), chunks=(chunk,), **self._compression)
        data = group[name]
        before = len(data)
        data.resize(before + len(values), axis=0)
        data[before:] = values
        return data


def _mark_nexus(group: h5py.Group, stream: Exported) -> None:
    """Says to a reader of NeXus what the groups are, and what to plot first."""
    entry = group.parent
    group.attrs.update(NX_class="NXdata", axes=["turn"], turn_indices=[0])
    if stream.lanes:
        group.attrs["signal"] = stream.lanes[0].name
    if entry != group.file["/"]:
        entry.attrs["NX_class"] = "NXentry"
        entry.attrs.setdefault("default", group.name.rpartition("/")[2])
        group.file.attrs.setdefault("default", entry.name.lstrip("/"))


def is_export(file: h5py.File) -> bool:
    """Whether this module wrote it."""
    return bool(file.attrs.get("format") == FORMAT)


def read(path: Path) -> list[RecordedInstrument]:
    """All streams of the file. Raises ValueError when the file is not whole, or of another version."""
    with h5py.File(path, "r") as file:
        if file.attrs.get("version") != VERSION:
            raise ValueError(f"{path}: of version {file.attrs.get('version')}, expected {VERSION}")
        _load_filters()
        instruments = [parent for parent in file.values() if isinstance(parent, h5py.Group)]
        groups = [group for parent in instruments for group in parent.values()]
        streams = [group for group in groups if group.attrs.get("kind") not in (ROWS, IMAGES)]
        try:
            return [_read_stream(group) for group in streams]
        except KeyError as error:
            raise ValueError(f"{path}: not whole: {error}") from error


def _read_stream(group: h5py.Group) -> RecordedInstrument:
    lanes = tuple(RecordedLane(name, data.attrs["unit"], data[:]) for name, data in group["lanes"].items())
    return RecordedInstrument(
        name=stream_name(group.name.lstrip("/")),
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


def _load_filters() -> None:
    """Makes HDF5 know the filter of a file that was compressed by Blosc, where the package is there."""
    if importlib.util.find_spec("hdf5plugin") is not None:
        importlib.import_module("hdf5plugin")

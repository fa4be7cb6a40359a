# SPDX-License-Identifier: Apache-2.0
r"""Recorded turn-by-turn data, and the file that ``ringmaster-instruments replay`` sends it from.

The replay file is little-endian and made to be mapped::

    offset  0   10 bytes  "RMREPLAY1\n", padded with zeros to 16
           16   u32       instrument count
           20   u32       0
           24   u64       turn count
           32   u64       turn number of the first frame
           64   instrument count × 64 bytes:
                    u32 source IPv4 (10.0.0.1 is 0x0A000001), u16 id, u8 kind, u8 lane count, 24 bytes name, zeros
          then  turn count × instrument count × 48 bytes: twelve lanes of 4 bytes, unused ones zero
"""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from ringmaster.fabric.calibration import Calibration
from ringmaster.fabric.layout import Calibrated, InstrumentKind, LaneType

MAGIC = b"RMREPLAY1\n"
NAME_BYTES = 24
FRAME_LANES = 12

HEADER = np.dtype(
    {
        "names": ["magic", "instrument_count", "reserved", "turn_count", "first_turn"],
        "formats": ["S16", "<u4", "<u4", "<u8", "<u8"],
        "offsets": [0, 16, 20, 24, 32],
        "itemsize": 64,
    }
)
INSTRUMENT = np.dtype(
    {
        "names": ["source_ipv4", "id", "kind", "lane_count", "name"],
        "formats": ["<u4", "<u2", "u1", "u1", f"S{NAME_BYTES}"],
        "offsets": [0, 4, 6, 7, 8],
        "itemsize": 64,
    }
)


@dataclass(frozen=True)
class RecordedLane:
    """One lane of a recorded instrument."""

    name: str
    unit: str
    values: npt.NDArray[np.float32] | npt.NDArray[np.int32]
    """Shape (turns,), f4 or i4."""

    @property
    def type(self) -> LaneType:
        """As the server's configuration has to say."""
        return LaneType.F32 if self.values.dtype == np.float32 else LaneType.I32


@dataclass(frozen=True)
class RecordedInstrument:
    """What one instrument recorded: all lanes over the same turns."""

    name: str
    """As an instrument may be called in a server's configuration: lower-case letters, digits, _ and -."""
    kind: InstrumentKind
    lanes: tuple[RecordedLane, ...]
    calibration: Calibration | None = None
    """What was recorded beside the data."""
    calibrated: Calibrated = Calibrated.NOT
    """Whether the lanes are physical units already."""
    ok: npt.NDArray[np.bool_] | None = None
    """Shape (turns,): which records were had; None: all. The lanes of the others are 0."""

    def physical(self) -> dict[str, npt.NDArray[np.float64]]:
        """All lanes as f8, shape (turns,), in ``physical_units``; NaN for turns that were not had."""
        lanes = {lane.name: np.asarray(lane.values, np.float64) for lane in self.lanes}
        if self.calibration is not None and self.calibrated == Calibrated.IN_READING:
            lanes |= self.calibration.apply(lanes)
        return lanes if self.ok is None else {name: np.where(self.ok, lane, np.nan) for name, lane in lanes.items()}

    @property
    def physical_units(self) -> dict[str, str]:
        """The unit of each lane as ``physical()`` gives it."""
        units = {lane.name: lane.unit for lane in self.lanes}
        if self.calibration is None or self.calibrated != Calibrated.IN_READING:
            return units
        return units | {lane: self.calibration.unit(lane) for lane in self.calibration.lanes}

    def lane(self, name: str) -> npt.NDArray[np.float32] | npt.NDArray[np.int32]:
        """The values of one lane, shape (turns,)."""
        return next(lane.values for lane in self.lanes if lane.name == name)

    @property
    def turns(self) -> int:
        """How many turns were recorded."""
        return len(self.lanes[0].values)


def instrument_name(name: str) -> str:
    """A device's name turned into one that a configuration takes."""
    return re.sub(r"[^a-z0-9_-]", "_", name.lower())[: NAME_BYTES - 1]


def stream_name(stream: str) -> str:
    """The same of a stream of ours: the instrument's, and its rate where that is not its own."""
    instrument, _, rate = stream.rpartition("/")
    return instrument_name(instrument if rate in ("turn", "raw") else f"{instrument}_{rate}")


def write_replay(
    file: BinaryIO,
    instruments: Sequence[RecordedInstrument],
    source: str,
    first_turn: int = 0,
    turns: int | None = None,
) -> int:
    """Writes the first ``turns`` turns that all instruments have as a replay file; returns how many there are.

    Instruments get the ids 1, 2, … in their order and the address ``source``, "10.0.0.1".
    """
    common = min(instrument.turns for instrument in instruments)
    count = common if turns is None else min(turns, common)
    header = np.zeros(1, HEADER)
    header[0] = (MAGIC, len(instruments), 0, count, first_turn)
    table = np.zeros(len(instruments), INSTRUMENT)
    frames = np.zeros((count, len(instruments), FRAME_LANES), "<u4")
    for i, instrument in enumerate(instruments):
        address = int(ipaddress.IPv4Address(source))
        table[i] = (address, i + 1, instrument.kind, len(instrument.lanes), instrument.name.encode())
        for j, lane in enumerate(instrument.lanes):
            frames[:, i, j] = lane.values[:count].astype(lane.values.dtype.newbyteorder("<"), copy=False).view("<u4")
    for part in (header, table, frames):
        file.write(part.tobytes())
    return count


def configuration(instruments: Sequence[RecordedInstrument], source: str, port: str) -> str:
    """The ``instruments`` of a server configuration that takes this replay, as YAML."""
    lines = ["instruments:"]
    for i, instrument in enumerate(instruments):
        kind = instrument.kind.name.lower()
        lines += [
            f"  - name: {instrument.name}",
            f"    kind: {kind}",
            f"    id: {i + 1}",
            f"    port: {port}",
            f"    source: {source}",
            "    lanes:",
        ]
        for lane in instrument.lanes:
            lines.append(f"      - {{name: {lane.name}, unit: {lane.unit}, type: {lane.type.name.lower()}}}")
    return "\n".join(lines)


def read_recording(path: Path) -> list[RecordedInstrument]:
    """Reads a file of recorded turn-by-turn data, whatever format it is in.

    Raises ValueError for a format that is not known; OSError when the file cannot be read.
    """
    import h5py

    from ringmaster.recordings import doros, export, numpy_file, sdds_file

    if sdds_file.is_sdds(path):
        return sdds_file.read(path)
    if numpy_file.is_numpy(path):
        return numpy_file.read(path)
    with path.open("rb") as file:
        if file.read(8) != b"\x89HDF\r\n\x1a\n":
            expected = "expected LHC DOROS or our own (HDF5), SDDS, or NumPy"
            raise ValueError(f"{path}: of a format that is not known; {expected}")
    with h5py.File(path, "r") as file:
        ours = export.is_export(file)
    return export.read(path) if ours else doros.read(path)

# SPDX-License-Identifier: Apache-2.0
"""Makes workspaces as an owner would, from the published layout: for tests of readers."""

import fcntl
import mmap
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ringmaster.fabric import layout
from ringmaster.fabric._counters import COUNTERS, SET_NAMES
from ringmaster.fabric.layout import ElementType, InstrumentKind, LaneType, ObjectKind, SegmentState

PAGE = 4096
TURN_NONE = layout.TURN_NONE


@dataclass
class Spec:
    """One object to be made: its directory entry, and its bytes at the start."""

    name: str
    kind: ObjectKind
    content: bytes
    unit: str = ""
    element_type: ElementType = ElementType.U64
    shape: tuple[int, int] = (1, 1)
    variety: int = 0
    description: str = ""


def _bytes(dtype: np.dtype[np.void], **members: object) -> bytes:
    value = np.zeros(1, dtype)
    for name, member in members.items():
        value[0][name] = member
    return value.tobytes()


def stream(
    name: str,
    *,
    capacity: int = 64,
    period: int = 1,
    margin: int = 8,
    kind: InstrumentKind = InstrumentKind.BPM,
    lanes: Sequence[tuple[str, str, LaneType]] = (("x1", "nm", LaneType.I32), ("y1", "nm", LaneType.I32)),
    **members: object,
) -> Spec:
    """A stream into which nothing has come yet."""
    header = np.zeros(1, layout.STREAM)
    head = header[0]
    head["slots_offset"] = PAGE
    head["capacity"], head["period"], head["margin"] = capacity, period, margin
    head["instrument_kind"], head["instrument_id"], head["lane_count"] = kind, 7, len(lanes)
    head["source_ipv4"] = 0x0A000001
    head["head"] = head["first"] = TURN_NONE
    head["filter"] = b"none" if period == 1 else b"sharp"
    for i, (lane, unit, lane_type) in enumerate(lanes):
        head["lane"][i]["name"], head["lane"][i]["unit"], head["lane"][i]["type"] = lane, unit, lane_type
    for member, value in members.items():
        head[member] = value
    slots = np.zeros((capacity, 8), "<u8")
    slots[:, 0] = TURN_NONE
    content = header.tobytes().ljust(PAGE, b"\0") + slots.tobytes()
    return Spec(f"stream/{name}", ObjectKind.STREAM, content, "", ElementType.RECORD, (capacity, 1), int(kind))


def parameter(
    name: str,
    values: npt.NDArray[np.generic],
    unit: str,
    element_type: ElementType,
    limits: Mapping[str, float] | None = None,
    conversion: tuple[str, Sequence[float]] | None = None,
    **members: object,
) -> Spec:
    """A parameter; its limits are none but those given. Small values lie inside the struct, larger ones behind it."""
    header = np.zeros(1, layout.PARAMETER)
    head = header[0]
    head["count"], head["value_bytes"], head["element_type"] = values.size, values.nbytes, element_type
    head["values_offset"] = _values_offset(values.nbytes)
    head["owner"], head["turn"] = b"server", TURN_NONE
    for limit in layout.PARAMETER["limits"].names or ():
        head["limits"][limit] = (limits or {}).get(limit, np.nan)
    for member, value in members.items():
        head[member] = value
    if conversion is not None:
        head["conversion"]["unit"], head["conversion"]["c"] = conversion[0].encode(), conversion[1]
    rows, columns = values.shape if values.ndim == 2 else (values.size, 1)
    offset = _values_offset(values.nbytes)
    content = header.tobytes()[:offset] + values.tobytes()
    content += header.tobytes()[len(content) :]
    return Spec(name, ObjectKind.PARAMETER, content, unit, element_type, (rows, columns))


def _values_offset(size: int) -> int:
    return layout.member_offset(layout.PARAMETER, "value") if size <= 32 else layout.PARAMETER.itemsize


def group(name: str, **members: object) -> Spec:
    """A group; its members name it."""
    return Spec(name, ObjectKind.GROUP, _bytes(layout.GROUP, turn=TURN_NONE, **members))


def setpoints(name: str, rows: Sequence[Sequence[float]], grant_number: int = 1) -> Spec:
    """The rows that were committed, of which the last three are in their buffers."""
    count = len(rows[0])
    beyond = max(0, count - 4)
    vector_bytes = 64 + -(-beyond * 8 // 64) * 64
    buffers = [bytes(vector_bytes)] * 3
    for n, values in enumerate(rows):
        head = struct.pack("<QQQQ", 2 * n + 2, grant_number, 1000 + n, 5000 + n)
        buffers[n % 3] = (head + np.array(values, "<f8").tobytes()).ljust(vector_bytes, b"\0")
    header = _bytes(layout.SETPOINTS, vectors_offset=64, vector_bytes=vector_bytes, actuator_count=count)
    return Spec(f"setpoints/{name}", ObjectKind.SETPOINTS, header + b"".join(buffers), "", ElementType.F64, (count, 1))


def grant(application: str, offence: Mapping[str, int | float] | None = None, **members: object) -> Spec:
    """A grant; the offence's doubles are stored as their bits."""
    header = np.zeros(1, layout.GRANT)
    header[0]["application"] = application.encode()
    for member, value in members.items():
        header[0][member] = value
    for member, number in (offence or {}).items():
        bits = struct.unpack("<Q", struct.pack("<d", number))[0] if isinstance(number, float) else number
        header[0]["offence"][member] = bits
    return Spec(f"grant/{application}", ObjectKind.GRANT, header.tobytes())


def intended(chains: Sequence[tuple[int, int, Sequence[Sequence[float]]]]) -> Spec:
    """Of each chain the numbers of what was intended and transmitted, and its two rows."""
    cells = np.zeros(len(chains), layout.INTENDED)
    for cell, (newest, transmitted, rows) in zip(cells, chains, strict=True):
        cell["intended"], cell["transmitted"], cell["supplies"] = newest, transmitted, len(rows[0])
        cell["value"][: 2 * len(rows[0])] = np.array(rows, "<f4").ravel().view("<u4")
    shape = (len(chains), layout.INTENDED.itemsize // 8)
    return Spec("setpoints/intended", ObjectKind.INTENDED, cells.tobytes(), "", ElementType.U64, shape)


def standby_state(**members: int) -> Spec:
    """What one of two servers is. It was written unless `sequence` is 0."""
    members = {"sequence": 2, "swap_cycles": TURN_NONE, "switch_turn": TURN_NONE} | members
    return Spec("standby/state", ObjectKind.STANDBY_STATE, _bytes(layout.STANDBY_STATE, **members))


def standby_orders(**members: int) -> Spec:
    """What it may do."""
    members = {"sequence": 2, "switch_turn": TURN_NONE} | members
    return Spec("standby/orders", ObjectKind.STANDBY_ORDERS, _bytes(layout.STANDBY_ORDERS, **members))


def state(name: str, content: bytes, room: int = 64, **members: int) -> Spec:
    """An application's state, or the peer's: "state/ramp"."""
    start = layout.STATE.itemsize
    members = {"sequence": 2, "bytes_offset": start, "capacity": room, "bytes": len(content)} | members
    whole = _bytes(layout.STATE, **members) + content.ljust(room, b"\0")
    return Spec(name, ObjectKind.STATE, whole, "", ElementType.U8, (room, 1))


def counters(name: str, set_name: str, **values: int) -> Spec:
    """A block of counters, zero but for those given."""
    variety = next(number for number, known in SET_NAMES.items() if known == set_name)
    words = np.array([values.get(counter.name, 0) for counter in COUNTERS[set_name]], "<u8")
    assert set(values) <= {counter.name for counter in COUNTERS[set_name]}
    return Spec(f"counters/{name}", ObjectKind.COUNTERS, words.tobytes(), "", ElementType.U64, (len(words), 1), variety)


def clock(**members: int | float) -> Spec:
    """The clock, whose fit is supported unless said otherwise; floats are stored as their bits."""
    members = {"supported": 1, "measured_ticks_per_turn_bits": members.get("ticks_per_turn_bits", 0.0)} | members
    words = {
        name: struct.unpack("<Q", struct.pack("<d", value))[0] if isinstance(value, float) else value
        for name, value in members.items()
    }
    return Spec("clock", ObjectKind.CLOCK, _bytes(layout.CLOCK, **words))


def histogram(name: str, bucket: Mapping[int, int], largest: int, unit: str = "ticks", about: str = "") -> Spec:
    """A histogram with these bucket counts."""
    counts = np.zeros(layout.HISTOGRAM["bucket"].shape, "<u8")
    for index, count in bucket.items():
        counts[index] = count
    content = _bytes(layout.HISTOGRAM, total=counts.sum(), largest=largest, bucket=counts)
    return Spec(name, ObjectKind.HISTOGRAM, content, unit, ElementType.U64, (counts.size, 1), description=about)


def text(name: str, content: str) -> Spec:
    """A constant text."""
    raw = content.encode()
    return Spec(name, ObjectKind.TEXT, raw, "utf-8", ElementType.U8, (len(raw), 1))


@dataclass
class Owner:
    """The owner of one segment: writes it, holds its lock, and may die."""

    directory: Path
    objects: Sequence[Spec]
    name: str = "server"
    folder: str = ""
    """Below the workspace, for an owner that has one of its own."""
    header: Mapping[str, int] = field(default_factory=dict)
    """Members of the segment header that differ from what an owner of this version writes."""

    def __post_init__(self) -> None:
        self.directory = self.directory / self.folder
        self.directory.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self.directory / f"{self.name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        fcntl.fcntl(self._lock, fcntl.F_OFD_SETLK, struct.pack("@hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        self._place = {}
        directory_bytes = len(self.objects) * layout.OBJECT.itemsize
        offset = _whole_pages(PAGE + directory_bytes)
        directory = np.zeros(len(self.objects), layout.OBJECT)
        for entry, spec in zip(directory, self.objects, strict=True):
            entry["name"], entry["unit"], entry["description"] = spec.name, spec.unit.encode(), spec.description
            entry["kind"], entry["element_type"], entry["variety"] = spec.kind, spec.element_type, spec.variety
            entry["shape"], entry["offset"], entry["bytes"] = spec.shape, offset, len(spec.content)
            self._place[spec.name] = offset
            offset = _whole_pages(offset + len(spec.content))
        # Like a real owner's: a file of its own, which no reader of the one before it sees half made.
        path = self.directory / f"{self.name}.segment"
        new = path.with_suffix(".new")
        new.write_bytes(b"\0" * offset)
        with new.open("r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)
        self.memory[PAGE : PAGE + directory_bytes] = directory.tobytes()
        for spec in self.objects:
            place = self._place[spec.name]
            self.memory[place : place + len(spec.content)] = spec.content
        self._write_header(offset)
        new.replace(path)

    def _write_header(self, size: int) -> None:
        members: dict[str, object] = {
            "magic": layout.SEGMENT_MAGIC,
            "abi_version": layout.ABI_VERSION,
            "header_bytes": layout.SEGMENT_HEADER.itemsize,
            "layout_hash": layout.LAYOUT_HASH,
            "segment_bytes": size,
            "directory_offset": PAGE,
            "object_count": len(self.objects),
            "object_bytes": layout.OBJECT.itemsize,
            "generation": 1,
            "state": SegmentState.LIVE,
            "owner_pid": os.getpid(),
            "owner": self.name.encode(),
        }
        self.memory[: layout.SEGMENT_HEADER.itemsize] = _bytes(layout.SEGMENT_HEADER, **{**members, **self.header})

    def set_word(self, name: str, dtype: np.dtype[np.void], member: str, value: int) -> None:
        """Stores one u64 member of an object's head."""
        assert dtype.fields is not None
        struct.pack_into("<Q", self.memory, self._place[name] + dtype.fields[member][1], value)

    def set_bytes(self, name: str, offset: int, content: bytes) -> None:
        """Stores bytes of an object."""
        self.memory[self._place[name] + offset : self._place[name] + offset + len(content)] = content

    def set_directory(self, index: int, member: str, value: int) -> None:
        """Spoils a member of a directory entry."""
        np.frombuffer(self.memory, layout.OBJECT, len(self.objects), PAGE)[index][member] = value

    def set_counter(self, name: str, counter: str, value: int) -> None:
        """Stores one counter."""
        spec = next(spec for spec in self.objects if spec.name == f"counters/{name}")
        index = [known.name for known in COUNTERS[SET_NAMES[spec.variety]]].index(counter)
        struct.pack_into("<Q", self.memory, self._place[spec.name] + 8 * index, value)

    def set_values(self, name: str, values: bytes) -> None:
        """Stores the values of a parameter."""
        place = self._place[name] + _values_offset(len(values))
        self.memory[place : place + len(values)] = values

    def set_state(self, state: SegmentState) -> None:
        """Says what became of the segment."""
        assert layout.SEGMENT_HEADER.fields is not None
        struct.pack_into("<I", self.memory, layout.SEGMENT_HEADER.fields["state"][1], state)

    def store(self, name: str, turn: int, lanes: bytes = b"", tag: int = 0, at_turn: int | None = None) -> None:
        """Fills the slot of ``turn`` (or, to leave a wrong one, that of ``at_turn``), without publishing it."""
        base = self._place[f"stream/{name}"]
        head = np.frombuffer(self.memory, layout.STREAM, 1, base)[0]
        slot = (turn if at_turn is None else at_turn) // int(head["period"]) & (int(head["capacity"]) - 1)
        place = base + int(head["slots_offset"]) + slot * layout.RECORD_BYTES
        del head
        self.memory[place : place + layout.RECORD_BYTES] = struct.pack("<QQ48s", turn, tag, lanes)

    def publish(self, name: str, head: int, first: int | None = None, turn_epoch: int | None = None) -> None:
        """Publishes the head, and what else is given."""
        for member, value in (("turn_epoch", turn_epoch), ("first", first), ("head", head)):
            if value is not None:
                self.set_word(f"stream/{name}", layout.STREAM, member, value)

    def fill(self, name: str, first: int, last: int, period: int = 1) -> None:
        """Stores and publishes turns first…last; x1 is the turn, y1 its negative, the tag the turn too."""
        for turn in range(first, last + 1, period):
            self.store(name, turn, struct.pack("<ii", turn, -turn), tag=turn)
        self.publish(name, last, first)

    def die(self) -> None:
        """Ends as by kill -9: the kernel drops the lock, the segment stays as it is."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _whole_pages(size: int) -> int:
    return -(-size // PAGE) * PAGE

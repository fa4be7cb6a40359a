# SPDX-License-Identifier: Apache-2.0
"""Reads a segment of shared memory without our library: what a program in any language does.

It needs the file of the layout (src/fabric/abi/abi.json, installed as share/ringmaster/abi.json), memory mapping, and
aligned loads of eight bytes. Without a NAME it lists what the segment has; with one it prints a parameter's value, or a
stream's newest record. docs/shared-memory.md explains the steps.
"""

import argparse
import json
import mmap
import struct
import sys
from pathlib import Path
from time import monotonic
from typing import Any

FORMATS = {"u64": "Q", "u32": "I", "f64": "d"}
ELEMENTS = {2: "d", 3: "f", 4: "q", 5: "i", 6: "Q", 7: "I", 8: "B"}
STREAM, PARAMETER = 1, 4
_ROOT = Path(__file__).resolve().parents[1]
LAYOUT = next((path for path in (_ROOT / "src/fabric/abi/abi.json", _ROOT / "abi.json") if path.exists()), None)
FLOAT_LANE = 2


class Layout:
    """What lies where in a struct, by the file of the layout."""

    def __init__(self, path: Path) -> None:
        described = json.loads(path.read_text())
        self.constants: dict[str, int] = described["constants"]
        self.structs: dict[str, Any] = described["structs"]

    def get(self, memory: mmap.mmap, kind: str, at: int, name: str) -> Any:
        """A member of the struct ``kind`` that lies ``at`` so many bytes."""
        member = next(member for member in self.structs[kind]["members"] if member["name"] == name)
        start = at + member["offset"]
        if member["type"] not in FORMATS:  # characters, up to a zero
            return memory[start : start + member["bytes"]].split(b"\0", 1)[0].decode()
        return struct.unpack_from("<" + FORMATS[member["type"]], memory, start)[0]


def objects(layout: Layout, memory: mmap.mmap) -> dict[str, int]:
    """Where the entry of each object lies in the directory, by the object's name."""
    header = {
        name: layout.get(memory, "rm_segment_header", 0, name)
        for name in ("magic", "abi_version", "directory_offset", "object_count", "object_bytes")
    }
    if header["magic"] != layout.constants["RM_SEGMENT_MAGIC"]:
        sys.exit("no segment, or its owner is still making it")
    if header["abi_version"] != layout.constants["RM_ABI_VERSION"]:
        sys.exit(f"a segment of version {header['abi_version']}; the layout is of another")
    entries = [header["directory_offset"] + i * header["object_bytes"] for i in range(header["object_count"])]
    return {layout.get(memory, "rm_object", entry, "name"): entry for entry in entries}


def value(layout: Layout, memory: mmap.mmap, entry: int) -> list[float]:
    """A parameter's elements: copied again while its sequence is odd or has changed meanwhile, for half a second."""
    at = layout.get(memory, "rm_object", entry, "offset")
    start, count, element = (
        layout.get(memory, "rm_parameter", at, name) for name in ("values_offset", "count", "element_type")
    )
    give_up = monotonic() + 0.5
    while monotonic() < give_up:
        before = layout.get(memory, "rm_parameter", at, "sequence")
        values = struct.unpack_from(f"<{count}{ELEMENTS[element]}", memory, at + start)
        if before % 2 == 0 and layout.get(memory, "rm_parameter", at, "sequence") == before:
            return list(values)
    sys.exit("half-written: its owner was killed while it changed it")


def newest(layout: Layout, memory: mmap.mmap, entry: int) -> dict[str, float]:
    """A stream's newest record: turn T lies in slot (T / period) mod capacity, and says itself of which turn it is."""
    at = layout.get(memory, "rm_object", entry, "offset")
    period, capacity, margin, slots, lanes = (
        layout.get(memory, "rm_stream", at, name)
        for name in ("period", "capacity", "margin", "slots_offset", "lane_count")
    )
    lane_bytes = layout.structs["rm_lane_info"]["bytes"]
    first_lane = at + next(m["offset"] for m in layout.structs["rm_stream"]["members"] if m["name"] == "lane")
    while True:
        epoch = layout.get(memory, "rm_stream", at, "turn_epoch")
        head = layout.get(memory, "rm_stream", at, "head")
        if head == layout.constants["RM_TURN_NONE"]:
            return {}
        slot = at + slots + head // period % capacity * 64
        record = bytes(memory[slot : slot + 64])
        whole = struct.unpack_from("<Q", record)[0] == head == struct.unpack_from("<Q", memory, slot)[0]
        now = layout.get(memory, "rm_stream", at, "head")
        if (
            whole
            and now < head + (capacity - margin) * period
            and epoch == layout.get(memory, "rm_stream", at, "turn_epoch")
        ):
            break
    found = {"turn": float(head)}
    for i in range(lanes):
        kind = layout.get(memory, "rm_lane_info", first_lane + i * lane_bytes, "type")
        name = layout.get(memory, "rm_lane_info", first_lane + i * lane_bytes, "name")
        found[name] = struct.unpack_from("<f" if kind == FLOAT_LANE else "<i", record, 16 + 4 * i)[0]
    return found


def options() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("segment", type=Path, help="its file: /dev/shm/ringmaster/demo/server.segment")
    parser.add_argument("name", nargs="?", help="of a parameter or a stream [list all]")
    parser.add_argument("--layout", type=Path, default=LAYOUT, help="the file of the layout [ours]")
    return parser.parse_args()


def main() -> None:
    """Lists, or reads one."""
    asked = options()
    layout = Layout(asked.layout or sys.exit("no file of the layout here; give one with --layout"))
    with asked.segment.open("rb") as file:
        memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    there = objects(layout, memory)
    if asked.name is None:
        for name, entry in there.items():
            print(f"{name:40} {layout.get(memory, 'rm_object', entry, 'description')}")
        return
    if asked.name not in there:
        sys.exit(f"no object {asked.name}; without a name, all are listed")
    entry = there[asked.name]
    kind = layout.get(memory, "rm_object", entry, "kind")
    if kind not in (STREAM, PARAMETER):
        sys.exit(f"{asked.name} is neither a parameter nor a stream")
    print(value(layout, memory, entry) if kind == PARAMETER else newest(layout, memory, entry))


if __name__ == "__main__":
    main()

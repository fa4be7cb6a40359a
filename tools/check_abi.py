# SPDX-License-Identifier: Apache-2.0
"""Hold the layout of shared memory to its golden file, src/fabric/abi/abi.json.

The build compares, and writes the header with RM_LAYOUT_HASH; `make abi` makes the present layout the golden one:
    python3 tools/check_abi.py DUMP --header abi_hash.h
    python3 tools/check_abi.py DUMP --accept

DUMP is the built src/fabric/abi/abi_dump. The names of the counters belong to the layout too: they are taken from
src/fabric/counters.toml.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "src/fabric/abi/abi.json"
HEADERS = ROOT / "include/ringmaster"
COUNTERS = ROOT / "src/fabric/counters.toml"

PRIVATE_HEADERS = {
    "application.h",
    "archive.h",
    "archive_read.h",
    "calibration.h",
    "configuration.h",
    "counters.h",
    "csv.h",
    "error.h",
    "errors.h",
    "frames.h",
    "lattice.h",
    "owner.h",
    "pattern.h",
    "pixels.h",
    "s_curve.h",
    "simd.h",
    "table.h",
    "truncation.h",
    "tune.h",
    "twin.h",
    "workspace.h",
}
"""Headers with nothing in shared memory; counters.h is made from counters.toml, which is read itself. A calibration is
the values of a parameter, which begin with a version of their own; tests/property/test_calibration.py freezes them.
Numbers of tune.h lie in a lane: they are its application's."""
PRIVATE = {
    "rm_clock_reading",
    "rm_frame",
    "rm_frame_read",
    "rm_grant_reading",
    "rm_images_view",
    "rm_offence_reading",
    "rm_stream_look",
    "rm_parameter_reading",
    "rm_read",
    "rm_reply",
    "rm_request",
    "rm_requesters",
    "rm_rows_view",
    "rm_setpoint_reading",
    "rm_setpoints_place",
    "rm_stamp",
    "rm_standby_orders_reading",
    "rm_standby_state_reading",
    "rm_state_reading",
    "rm_stream_view",
}
"""Structs and enums of the other headers that never lie in shared memory."""

ELEMENT_BYTES = {"char": 1, "u32": 4, "u64": 8, "f64": 8, "lane": 4}

HOW_TO_CHANGE = """\
If this is meant: raise RM_ABI_VERSION in include/ringmaster/abi.h, run `make abi`, and say why in CHANGELOG.md.
If it is not: undo it. Readers built before it would misread shared memory."""

Layout = dict[str, Any]
"""constants: {name: value}, enums: {enum: {name: value}}, counters: {set: [name]},
structs: {struct: {bytes, alignment, members: [{name, offset, bytes, type}]}}"""


def fnv1a(data: bytes) -> int:
    """FNV-1a, 64 bit."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def layout_hash(layout: Layout) -> int:
    """Hash of the layout as JSON with sorted keys and no blanks."""
    return fnv1a(json.dumps(layout, sort_keys=True, separators=(",", ":")).encode())


def canonical_text(layout: Layout) -> str:
    """The golden file: one line per member, so that a difference reads well."""
    out = ["{", ' "constants": {', _lines(layout["constants"], 2), " },", ' "enums": {']
    enums = [f'  "{name}": {json.dumps(values)}' for name, values in layout["enums"].items()]
    out += [",\n".join(enums), " },", ' "counters": {', _lines(layout["counters"], 2), " },", ' "structs": {']
    structs = []
    for name, struct in layout["structs"].items():
        members = ",\n".join(f"   {json.dumps(member)}" for member in struct["members"])
        structs.append(
            f'  "{name}": {{"bytes": {struct["bytes"]}, "alignment": {struct["alignment"]}, '
            f'"members": [\n{members}\n  ]}}'
        )
    return "\n".join([*out, ",\n".join(structs), " }", "}", ""])


def _lines(values: dict[str, Any], indent: int) -> str:
    return ",\n".join(f"{' ' * indent}{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items())


def run_dump(program: Path) -> Layout:
    """What the compiled abi_dump prints."""
    printed = subprocess.run([program.resolve()], check=True, capture_output=True, text=True).stdout
    dump: Layout = json.loads(printed)
    return dump


def current_layout(dump: Layout, counters: Path = COUNTERS) -> Layout:
    """What the compiler says, in the form of the golden file: members by offset, with array lengths; and counters."""
    structs = copy.deepcopy(dump["structs"])
    for struct in structs.values():
        struct["members"].sort(key=lambda member: member["offset"])
        for member in struct["members"]:
            if member["type"].endswith("[]"):
                element = member["type"].removesuffix("[]")
                size = ELEMENT_BYTES.get(element) or structs[element]["bytes"]
                member["type"] = f"{element}[{member['bytes'] // size}]"
    sets = tomllib.loads(counters.read_text())["set"]
    return {
        "constants": dump["constants"],
        "enums": dump["enums"],
        "counters": {s["name"]: [row[0] for row in s["counters"]] for s in sets},
        "structs": structs,
    }


def holes(layout: Layout) -> list[str]:
    """Members must follow each other without hole or overlap, and padding only fill up to an aligned member."""
    found = []
    for name, struct in layout["structs"].items():
        end = 0
        for member in struct["members"]:
            place = f"struct {name}, member {member['name']} at byte {member['offset']}"
            if member["type"].endswith("[1]"):
                found.append(f"{place}: a pointer, or an array of one; neither may be here")
            if member["offset"] != end:
                found.append(f"{place}: the one before it ends at byte {end}")
            end = member["offset"] + member["bytes"]
            if member["type"] == "padding" and (end % struct["alignment"] or member["bytes"] >= struct["alignment"]):
                found.append(f"{place}: not what _Alignas makes; name a reserved member instead")
        if end != struct["bytes"]:
            found.append(f"struct {name}: its last member ends at byte {end}, the struct at {struct['bytes']}")
    return found


def forgotten(layout: Layout, headers: Path = HEADERS) -> list[str]:
    """Every struct, enumerator and constant of the public headers is in the layout, or named as private above."""
    enumerators = {name for values in layout["enums"].values() for name in values}
    known = set(layout["constants"]) | enumerators | set(layout["structs"])
    found = []
    for path in sorted(headers.glob("*.h")):
        if path.name in PRIVATE_HEADERS:
            continue
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)
        names = set(re.findall(r"\bstruct\s+(rm_\w+)\s*\{", text))
        names |= set(re.findall(r"^#define\s+(RM_\w+)[ \t]+\S", text, flags=re.MULTILINE))
        for enum, body in re.findall(r"\benum\b\s*(\w*)\s*\{([^}]*)\}", text):
            if enum not in PRIVATE:
                names |= set(re.findall(r"(?:^|,)\s*(RM_\w+)", body))
        found += [f"{path.name}: {name} is not printed" for name in sorted(names - known - PRIVATE)]
    return found


def differences(golden: Layout, now: Layout) -> list[str]:
    """One sentence per struct, member or constant that is not what the golden file says."""
    before, after = _values(golden), _values(now)
    found = [
        f"{name}: was {before.get(name, 'absent')}, is {after.get(name, 'absent')}"
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]
    structs_before, structs_now = golden.get("structs", {}), now["structs"]
    for name in {**structs_before, **structs_now}:
        if name not in structs_now or name not in structs_before:
            found.append(f"struct {name}: {'gone' if name in structs_before else 'new'}")
        elif structs_before[name] != structs_now[name]:
            found += _struct_differences(name, structs_before[name], structs_now[name])
    return found


def _values(layout: Layout) -> dict[str, int]:
    """Everything that is a name and a number; the number of a counter is its place in its set."""
    values: dict[str, int] = dict(layout.get("constants", {}))
    for enum in layout.get("enums", {}).values():
        values |= enum
    for name, counters in layout.get("counters", {}).items():
        values |= {f"counter {name}/{counter}": index for index, counter in enumerate(counters)}
    return values


def _struct_differences(name: str, before: Layout, now: Layout) -> list[str]:
    def place(member: Layout | None) -> str:
        return f"{member['type']} at byte {member['offset']}" if member else "absent"

    found = [
        f"struct {name}: {what} was {before[what]}, is {now[what]}"
        for what in ("bytes", "alignment")
        if before[what] != now[what]
    ]
    members_before = {member["name"]: member for member in before["members"]}
    members_now = {member["name"]: member for member in now["members"]}
    for member in {**members_before, **members_now}:
        was, is_now = members_before.get(member), members_now.get(member)
        if was != is_now:
            found.append(f"struct {name}, member {member}: was {place(was)}, is {place(is_now)}")
    return found


def header_text(layout: Layout) -> str:
    """The C header that the fabric includes."""
    return f"""\
// SPDX-License-Identifier: Apache-2.0
/** Made from src/fabric/abi/abi.json by tools/check_abi.py. */
#ifndef RM_FABRIC_ABI_HASH_H
#define RM_FABRIC_ABI_HASH_H

#define RM_LAYOUT_HASH 0x{layout_hash(layout):016X}ull

#endif
"""


def incomplete(layout: Layout) -> str | None:
    """Why the layout cannot be judged at all, or None."""
    found = forgotten(layout) or holes(layout)
    advice = "Put that right there (what never lies in shared memory: in PRIVATE of tools/check_abi.py)."
    return _report("src/fabric/abi/abi_dump.c does not print the whole layout:", found, advice)


def complaint(golden: Layout, now: Layout) -> str | None:
    """Why the build must stop, or None."""
    headline = "The layout of shared memory is not what src/fabric/abi/abi.json says:"
    return incomplete(now) or _report(headline, differences(golden, now), HOW_TO_CHANGE)


def refusal(golden: Layout, now: Layout) -> str | None:
    """Why `make abi` must not take this layout, or None. An empty golden file, `{}`, takes any."""
    before, after = (layout.get("constants", {}).get("RM_ABI_VERSION", 0) for layout in (golden, now))
    found = [] if after > before else differences(golden, now)
    headline = f"The layout of shared memory changed, and RM_ABI_VERSION is still {after}:"
    return incomplete(now) or _report(headline, found, HOW_TO_CHANGE)


def _report(headline: str, found: list[str], advice: str) -> str | None:
    return "\n".join([headline, *(f"  {line}" for line in found), advice]) if found else None


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dump", type=Path)
    parser.add_argument("--header", type=Path, help="write RM_LAYOUT_HASH here when all is well")
    parser.add_argument("--accept", action="store_true", help="make the present layout the golden one")
    arguments = parser.parse_args()

    now = current_layout(run_dump(arguments.dump))
    golden: Layout = json.loads(GOLDEN.read_text())
    if problem := refusal(golden, now) if arguments.accept else complaint(golden, now):
        print(problem, file=sys.stderr)
        return 1
    if arguments.accept:
        GOLDEN.write_text(canonical_text(now))
    if arguments.header:
        arguments.header.write_text(header_text(now))
    return 0


if __name__ == "__main__":
    sys.exit(main())

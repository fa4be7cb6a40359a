# SPDX-License-Identifier: Apache-2.0
"""Write python/ringmaster/fabric/_abi.py, the NumPy form of src/fabric/abi/abi.json.

With --check: write nothing, exit 1 when it differs.
"""

from __future__ import annotations

import json
import os.path
import re
import sys

from check_abi import GOLDEN, ROOT, Layout, layout_hash

MODULE = ROOT / "python/ringmaster/fabric/_abi.py"
HEX_FROM = 2**20  # constants from here on are bit patterns

NUMPY_SCALARS = {"u32": "<u4", "u64": "<u8", "f64": "<f8", "lane": "<i4"}

STRUCT_FUNCTION = '''\
def _struct(itemsize: int, *members: tuple[str, Any, int]) -> np.dtype[Any]:
    """A type of `itemsize` bytes; each member has a name, a type and an offset in bytes."""
    names, formats, offsets = zip(*members, strict=True)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": itemsize})
'''


def camel_case(name: str) -> str:
    """rm_segment_state → SegmentState."""
    return "".join(word.capitalize() for word in name.removeprefix("rm_").split("_"))


def enum_class(name: str, values: dict[str, int]) -> list[str]:
    """An IntEnum whose members have lost the prefix they share in C."""
    prefix = os.path.commonprefix(list(values))  # noqa: RUF071 (characters are what is meant)
    prefix = prefix[: prefix.rindex("_") + 1]
    out = ["", "", f"class {camel_case(name)}(IntEnum):", f'    """enum {name}"""', ""]
    return out + [f"    {constant.removeprefix(prefix)} = {value}" for constant, value in values.items()]


def numpy_format(kind: str) -> str:
    """The type of a member as a Python expression."""
    match = re.fullmatch(r"(\w+)\[(\d+)\]", kind)
    element, count = (match[1], int(match[2])) if match else (kind, 0)
    if element == "char":
        return f'"S{count}"'
    scalar = f'"{NUMPY_SCALARS[element]}"' if element in NUMPY_SCALARS else f'DTYPES["{element}"]'
    return f"({scalar}, ({count},))" if count else scalar


def dtype(name: str, struct: Layout) -> list[str]:
    """One entry of DTYPES."""
    out = ["", f'DTYPES["{name}"] = _struct(', f"    {struct['bytes']},"]
    for member in struct["members"]:
        if member["type"] != "padding":
            out.append(f'    ("{member["name"]}", {numpy_format(member["type"])}, {member["offset"]}),')
    return [*out, ")"]


def python_module(layout: Layout) -> str:
    """The whole module."""
    out = [
        "# SPDX-License-Identifier: Apache-2.0",
        '"""Made from src/fabric/abi/abi.json by tools/generate_abi.py: change the public headers, then `make abi`.',
        "",
        "The layout of shared memory: constants under their C names, enums, and one NumPy type per struct.",
        'The lanes of a record are 32 bits whose type the stream says: read them as "<i4", or view them as "<f4".',
        '"""',
        "",
        "from enum import IntEnum",
        "from typing import Any",
        "",
        "import numpy as np",
        "",
        f"LAYOUT_HASH = 0x{layout_hash(layout):016X}",
        "",
    ]
    for name, value in layout["constants"].items():
        out.append(f"{name} = {f'0x{value:X}' if value >= HEX_FROM else value}")
    for name, values in layout["enums"].items():
        out += enum_class(name, values)
    out += ["", "", STRUCT_FUNCTION, "", "DTYPES: dict[str, np.dtype[Any]] = {}"]
    for name, struct in layout["structs"].items():
        out += dtype(name, struct)
    return "\n".join([*out, ""])


def main() -> int:
    """Write or check; returns the exit status."""
    text = python_module(json.loads(GOLDEN.read_text()))
    stale = not MODULE.exists() or MODULE.read_text() != text
    if "--check" in sys.argv[1:]:
        if stale:
            print(f"{MODULE.relative_to(ROOT)}: not what the golden file says; run `make generate`", file=sys.stderr)
        return 1 if stale else 0
    if stale:
        MODULE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

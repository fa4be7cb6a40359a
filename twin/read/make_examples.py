#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make seeds of the fuzzers: the text files in examples/, and MATLAB files, byte by byte, as MATLAB lays them out.

`make_examples.py FORMAT FOLDER`
"""

import struct
import sys
import zlib
from pathlib import Path

Value = float | str | list[float] | dict[str, "Value"]
INT8, INT32, UINT32, DOUBLE, MATRIX, COMPRESSED, UTF8 = 1, 5, 6, 9, 14, 15, 16
CELL, STRUCT, CHAR, NUMBERS = 1, 2, 4, 6
NAME_BYTES = 32

RING: list[dict[str, Value]] = [
    {"FamName": "small", "Class": "RingParam", "Energy": 2.4e9, "Periodicity": 12.0, "Particle": {"name": "electron"}},
    {"FamName": "D", "PassMethod": "DriftPass", "Length": 0.5},
    {"FamName": "Q", "Class": "Quadrupole", "Length": 0.2, "K": 5.5, "PolynomB": [0.0, 5.5], "T1": [0.0] * 6},
    {"FamName": "B", "Class": "Bend", "Length": 1.0, "BendingAngle": 0.5, "PassMethod": "BndMPoleSymplectic4Pass"},
    {"FamName": "RF", "Voltage": 5e5, "Frequency": 5e8, "HarmNumber": 36.0, "Energy": 2.4e9},
]


def item(kind: int, data: bytes) -> bytes:
    """A data element: its tag, and its data up to a multiple of 8."""
    padding = b"" if kind == COMPRESSED else bytes(-len(data) % 8)
    return struct.pack("<II", kind, len(data)) + data + padding


def matrix(kind: int, rows: int, columns: int, name: str, content: bytes) -> bytes:
    """A matrix of that class, around its content."""
    head = item(UINT32, struct.pack("<II", kind, 0)) + item(INT32, struct.pack("<ii", rows, columns))
    return item(MATRIX, head + item(INT8, name.encode()) + content)


def value(of: Value) -> bytes:
    """A matrix of the class that the value needs."""
    if isinstance(of, str):
        return matrix(CHAR, 1, len(of), "", item(UTF8, of.encode()))
    if isinstance(of, dict):
        names = b"".join(name.encode().ljust(NAME_BYTES, b"\0") for name in of)
        content = item(INT32, struct.pack("<i", NAME_BYTES)) + item(INT8, names)
        return matrix(STRUCT, 1, 1, "", content + b"".join(value(v) for v in of.values()))
    numbers = of if isinstance(of, list) else [of]
    return matrix(NUMBERS, 1, len(numbers), "", item(DOUBLE, struct.pack(f"<{len(numbers)}d", *numbers)))


def mat(compressed: bool) -> bytes:
    """The file of RING."""
    header = b"MATLAB 5.0 MAT-file".ljust(116) + bytes(8) + b"\x00\x01IM"
    ring = matrix(CELL, len(RING), 1, "RING", b"".join(value(element) for element in RING))
    return header + (item(COMPRESSED, zlib.compress(ring)) if compressed else ring)


def main() -> None:
    """Write the seeds of a format."""
    form, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for source in Path(__file__).parent.glob(f"examples/*.{form}"):
        (folder / source.name).write_bytes(source.read_bytes())
    if form == "mat":
        (folder / "plain.mat").write_bytes(mat(compressed=False))
        (folder / "compressed.mat").write_bytes(mat(compressed=True))


main()

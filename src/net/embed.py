# SPDX-License-Identifier: Apache-2.0
"""Puts a file's bytes in the place of @BYTES@ in a C header: `embed.py TEMPLATE FILE HEADER`."""

import sys
from pathlib import Path


def main() -> None:
    template, source, header = map(Path, sys.argv[1:])
    data = source.read_bytes()
    rows = (", ".join(str(byte) for byte in data[i : i + 24]) for i in range(0, len(data), 24))
    text = template.read_text(encoding="ascii").replace("@BYTES@", ",\n    ".join(rows))
    header.write_text(text, encoding="ascii")


main()

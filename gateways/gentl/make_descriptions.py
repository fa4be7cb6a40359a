# SPDX-License-Identifier: Apache-2.0
"""Makes the table of descriptions that the producer carries: `make_descriptions.py TABLE.c FILE.xml …`."""

import sys
from pathlib import Path


def main() -> None:
    """Writes the table."""
    table, *files = map(Path, sys.argv[1:])
    lines = ["// SPDX-License-Identifier: Apache-2.0", '#include "registers.h"', ""]
    for file in files:
        data = file.read_bytes()
        lines.append(f"static uint8_t const {file.stem}[] = {{")
        lines += [f"    {', '.join(str(byte) for byte in data[i : i + 24])}," for i in range(0, len(data), 24)]
        lines.append("};")
    lines.append("struct gentl_description const gentl_descriptions[] = {")
    lines += [f'    {{"{file.stem}", {file.stem}, sizeof {file.stem}}},' for file in files]
    lines.append("};")
    table.write_text("\n".join(lines) + "\n", encoding="ascii")


main()

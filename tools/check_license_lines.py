# SPDX-License-Identifier: Apache-2.0
"""Every source file says its licence in its first line, or in the second after a #!."""

from __future__ import annotations

import sys

from repository import ROOT, tracked_files

LINE = "SPDX-License-Identifier: Apache-2.0"
SUFFIXES = (".c", ".cpp", ".h", ".py", ".sh", ".toml", ".yaml", ".yml", ".txt", ".css", ".js", ".html", "meson.build")
WITHOUT_SUFFIX = {"Makefile", "run", "dependencies", "launcher", "lint", "fuzz", "unpack_packages"}


def main() -> int:
    """Returns the exit status."""
    found = False
    for file in tracked_files():
        if file.name.endswith(SUFFIXES) or file.name in WITHOUT_SUFFIX:
            head = (ROOT / file).read_text().splitlines()[:2]
            if not any(LINE in line for line in head):
                print(f"{file}:1: does not begin with `{LINE}` in a comment; add it", file=sys.stderr)
                found = True
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Write python/ringmaster/twin/_declarations.py, what cffi has to know of the twin's public headers.

With --check: write nothing, exit 1 when it differs.
"""

from __future__ import annotations

import re
import sys

from repository import ROOT

HEADERS = ("error.h", "lattice.h", "twin.h")
MODULE = ROOT / "python/ringmaster/twin/_declarations.py"


def declarations() -> str:
    """The headers without comments and directives, which cffi does not take."""
    text = "".join((ROOT / "include/ringmaster" / header).read_text() for header in HEADERS)
    bare = re.sub(r"/\*.*?\*/|//[^\n]*|^#[^\n]*", "", text, flags=re.S | re.M)
    return re.sub(r"\n{2,}", "\n\n", re.sub(r"[ \t]+$", "", bare, flags=re.M)).strip("\n")


def python_module() -> str:
    """The whole module."""
    names = ", ".join(HEADERS)
    return "\n".join(
        [
            "# SPDX-License-Identifier: Apache-2.0",
            f'"""Made from {names} in include/ringmaster by tools/generate_declarations.py: change them there."""',
            "",
            'DECLARATIONS = """',
            declarations(),
            '"""',
            "",
        ]
    )


def main() -> int:
    """Write or check; returns the exit status."""
    text = python_module()
    stale = not MODULE.exists() or MODULE.read_text() != text
    if "--check" in sys.argv[1:]:
        if stale:
            print(f"{MODULE.relative_to(ROOT)}: not what the headers say; run `make generate`", file=sys.stderr)
        return 1 if stale else 0
    if stale:
        MODULE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

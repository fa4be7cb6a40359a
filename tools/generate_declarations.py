# SPDX-License-Identifier: Apache-2.0
"""Write what cffi has to know of our public headers: a module that people can read, with each header once, and for
each library that the Python package loads one that cffi has compiled from its headers, which loads in a tenth of the
time.

With --check: write nothing, exit 1 when one differs. With --readable: the first module alone.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from pathlib import Path

from repository import ROOT

PACKAGE = ROOT / "python/ringmaster"
READABLE = PACKAGE / "_declarations.py"
COMPILED: dict[Path, tuple[str, ...]] = {
    PACKAGE / "twin/_ffi.py": ("error.h", "lattice.h", "simd.h", "twin.h"),
    PACKAGE / "archive/_ffi.py": ("error.h", "abi.h", "record.h", "stream.h", "archive.h", "archive_read.h"),
    PACKAGE / "fabric/_ffi.py": (
        *("error.h", "abi.h", "record.h", "segment.h", "clock.h", "stream.h", "rows.h", "parameter.h", "group.h"),
        *("setpoint.h", "grant.h", "images.h", "pixels.h", "owner.h", "workspace.h", "request.h"),
        *("standby.h", "state.h"),
    ),
}
"""The headers of each library; each header after those that it needs."""


def bare(header: str) -> str:
    """A header without comments and directives, which cffi does not take."""
    text = (ROOT / "include/ringmaster" / header).read_text()
    return re.sub(r"/\*.*?\*/|//[^\n]*|^#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.S | re.M)


def top_level(text: str) -> list[str]:
    """The declarations and definitions of a header, each with the blank lines before it."""
    out, depth, begin = [], 0, 0
    for place, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        ends_function = character == "}" and depth == 0 and "static inline" in text[begin:place]
        if depth == 0 and (character == ";" or ends_function):
            out.append(text[begin : place + 1])
            begin = place + 1
    return out


def told(declaration: str) -> str:
    """A declaration as cffi takes it.

    Inline functions and assertions go. A struct in shared memory, with atomic members or on a cache line of its own,
    keeps its name alone: Python reaches into these by the types of _abi.py.
    """
    if re.search(r"static inline|_Static_assert", declaration):
        return ""
    plain = re.sub(r"\n\s*\n(?=[ }])", "\n", declaration.replace("_Alignas(8) ", ""))
    struct = re.match(r"\s*struct (\w+) \{", plain)
    if struct and re.search(r"_Atomic|_Alignas", plain):
        return f"\n\nstruct {struct[1]};"
    return plain


def declarations(headers: tuple[str, ...]) -> str:
    """All headers in one text."""
    text = "".join(told(declaration) for header in headers for declaration in [*top_level(bare(header)), "\n"])
    return re.sub(r"\n{2,}", "\n\n", re.sub(r"[ \t]+$", "", text, flags=re.M)).strip("\n")


def readable_module() -> str:
    """Every header, by its name."""
    headers = sorted({header for some in COMPILED.values() for header in some})
    return "\n".join(
        [
            "# SPDX-License-Identifier: Apache-2.0",
            '"""What cffi has to know of our public headers, by their names.',
            "",
            "Made by tools/generate_declarations.py from include/ringmaster: change the headers there.",
            '"""',
            "",
            "HEADERS = {",
            *(f'    "{header}": """\n{declarations((header,))}\n""",' for header in headers),
            "}",
            "",
        ]
    )


def compiled_module(headers: tuple[str, ...]) -> str:
    """What cffi makes of the declarations: a module with one name, ``ffi``."""
    import cffi  # which a Python that only checks what people read need not have

    foreign = cffi.FFI()
    foreign.cdef(declarations(headers))
    foreign.set_source("_ffi", None)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "_ffi.py"
        with contextlib.redirect_stdout(None):  # it says that it does
            foreign.emit_python_code(str(made))
        text = made.read_text()
    head = [
        "# SPDX-License-Identifier: Apache-2.0",
        "# ruff: noqa",
        "# mypy: ignore-errors",
        '"""Compiled by tools/generate_declarations.py from headers that ringmaster/_declarations.py has readable."""',
    ]
    return "\n".join([*head, text])


def modules(readable: bool) -> dict[Path, str]:
    """All that is generated, or what people can read of it."""
    made = {READABLE: readable_module()}
    return made if readable else made | {module: compiled_module(headers) for module, headers in COMPILED.items()}


def main() -> int:
    """Write or check; returns the exit status."""
    status = 0
    for module, text in modules("--readable" in sys.argv[1:]).items():
        if module.exists() and module.read_text() == text:
            continue
        if "--check" in sys.argv[1:]:
            print(f"{module.relative_to(ROOT)}: not what the headers say; run `make generate`", file=sys.stderr)
            status = 1
        else:
            module.write_text(text)
    return status


if __name__ == "__main__":
    sys.exit(main())

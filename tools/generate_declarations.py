# SPDX-License-Identifier: Apache-2.0
"""Write what cffi has to know of our public headers, for each library that the Python package loads: a module that
people can read, and one that cffi has compiled from it, which loads in a tenth of the time.

With --check: write nothing, exit 1 when one differs. With --readable: the first of the two alone.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
import textwrap
from pathlib import Path

from repository import ROOT

PACKAGE = ROOT / "python/ringmaster"
MODULES: dict[Path, tuple[str, ...]] = {
    PACKAGE / "twin/_declarations.py": ("error.h", "lattice.h", "simd.h", "twin.h"),
    PACKAGE / "archive/_declarations.py": ("error.h", "abi.h", "record.h", "stream.h", "archive.h", "archive_read.h"),
    PACKAGE / "fabric/_declarations.py": (
        *("error.h", "abi.h", "record.h", "segment.h", "clock.h", "stream.h", "parameter.h", "group.h", "setpoint.h"),
        *("grant.h", "owner.h", "workspace.h", "request.h"),
    ),
}


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


def python_module(headers: tuple[str, ...]) -> str:
    """The whole module."""
    made = [
        "Made by tools/generate_declarations.py from include/ringmaster: change the headers there.",
        "\n".join(textwrap.wrap(", ".join(headers) + ".", 120)),
    ]
    head = [
        "# SPDX-License-Identifier: Apache-2.0",
        f'"""{made[0]}',
        "",
        made[1],
        '"""',
        "",
        'DECLARATIONS = """',
    ]
    return "\n".join([*head, declarations(headers), '"""', ""])


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
        '"""Compiled from _declarations.py, beside this, by tools/generate_declarations.py."""',
    ]
    return "\n".join([*head, text])


def modules(readable: bool) -> dict[Path, str]:
    """All that is generated, or what people can read of it."""
    made = {module: python_module(headers) for module, headers in MODULES.items()}
    if readable:
        return made
    return made | {module.with_name("_ffi.py"): compiled_module(headers) for module, headers in MODULES.items()}


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

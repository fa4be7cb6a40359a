# SPDX-License-Identifier: Apache-2.0
"""Man pages of the public headers, from their prose: header_pages.py FOLDER VERSION DATE

`man ringmaster-stream` has include/ringmaster/stream.h: what its head says, then each declaration below its comment.
Each function is a name of its header's page: `man rm_stream_read`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from repository import ROOT
from roff import escaped, example, heading, page, prose

HEADERS = ROOT / "include/ringmaster"
COMMENT = re.compile(r"/\*\*(.*?)\*/", re.S)
FUNCTION = re.compile(r"\b(rm_\w+)\(")


class Declared(NamedTuple):
    """A declaration, and the comment above it."""

    comment: str
    code: str


def plain(comment: str) -> str:
    """The text of a comment, without its stars."""
    return "\n".join(re.sub(r"^ ?\* ?", "", line) for line in comment.strip().split("\n"))


def head(text: str) -> str:
    """What a header says of itself: its first comment."""
    found = COMMENT.search(text)
    if found is None:
        raise ValueError("no comment at the head of the header, expected /** what it is about */")
    return plain(found[1])


def declarations(text: str) -> Iterator[Declared]:
    """What is declared below the include guard; of an inline function its head."""
    body = text[text.index("#define RINGMASTER_") :].split("\n", 1)[1].rsplit("#endif", 1)[0]
    body = re.sub(r"^#\s*(?:include|if|endif|else|error).*\n", "", body, flags=re.M)
    comment = ""
    for block in _at_top_level(body):
        above, code = "", block
        if found := re.match(r"/\*\*(.*?)\*/\s*", block, re.S):
            above, code = plain(found[1]), block[found.end() :]
        if not code.strip():
            comment = above
            continue
        yield Declared("\n\n".join(filter(None, (comment, above))), _without_body(code).rstrip())
        comment = ""


def _at_top_level(body: str) -> Iterator[str]:
    """Pieces between blank lines that are in no braces and in no comment."""
    piece: list[str] = []
    depth = 0
    in_comment = False
    for line in body.split("\n"):
        if not line.strip() and depth == 0 and not in_comment:
            if piece:
                yield "\n".join(piece)
            piece = []
            continue
        piece.append(line)
        bare = re.sub(r"/\*.*?\*/|//.*", "", line)
        if in_comment:
            in_comment = "*/" not in line
            continue
        in_comment = "/*" in bare
        depth += bare.count("{") - bare.count("}")
    if piece:
        yield "\n".join(piece)


def _without_body(code: str) -> str:
    """Heads of inline functions alone."""
    return re.sub(r"(static inline [^;{]*?)\s*\{.*?^\}", r"\1;", code, flags=re.S | re.M)


def functions(text: str) -> list[str]:
    """The functions that a header declares, in its order."""
    names: list[str] = []
    for declared in declarations(text):
        outside = re.sub(r"/\*.*?\*/|\{[^}]*\}", "", declared.code, flags=re.S)
        names += [name for name in FUNCTION.findall(outside) if not outside.lstrip().startswith(("#", "typedef"))]
    return list(dict.fromkeys(names))


def header_page(header: str, text: str, version: str, date: str) -> str:
    """The page of one header."""
    name = f"ringmaster-{Path(header).stem.replace('_', '-')}"
    about = head(text)
    summary = " ".join(about.split("\n\n")[0].split())
    first = summary.split(". ")[0].rstrip(".:")
    lines = [page(name, "3", version, date), heading("Name")]
    lines.append(f"{escaped(', '.join([name, *functions(text)]))} \\- {escaped(first)}")
    synopsis = [f"#include <ringmaster/{header}>", "", "cc PROGRAM.c $(pkg-config --cflags --libs ringmaster)"]
    lines += [heading("Synopsis"), *example(synopsis)]
    lines += [heading("Description"), *prose(about), heading("Declarations")]
    for declared in declarations(text):
        lines += [*prose(declared.comment), *example(declared.code.split("\n"))]
    lines += [heading("See also"), ".BR ringmaster (1)"]
    return "\n".join(lines) + "\n"


def main(folder: Path, version: str, date: str) -> None:
    """Writes all pages into the folder, and a page for each function that leads to its header's."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(HEADERS.glob("*.h")):
        text = path.read_text()
        made = header_page(path.name, text, version, date)
        name = f"ringmaster-{path.stem.replace('_', '-')}.3"
        (folder / name).write_text(made)
        for function in functions(text):
            (folder / f"{function}.3").write_text(f".so man3/{name}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])

# SPDX-License-Identifier: Apache-2.0
"""Check that each relative link of the documents leads to a file that exists, and to a heading of it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from repository import ROOT, tracked_files

LINK = re.compile(r"\]\(([^()\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def anchors(document: str) -> set[str]:
    """The names of a document's headings, as GitHub makes them."""
    names: set[str] = set()
    for heading in re.findall(r"^#+ +(.+)$", document, re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        name = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        number = sum(1 for other in names if other == name or re.fullmatch(rf"{re.escape(name)}-\d+", other))
        names.add(f"{name}-{number}" if number else name)
    return names


def broken_links(root: Path, documents: list[Path]) -> list[str]:
    """What is wrong, a line each: `documents` are relative to `root`."""
    wrong = []
    for document in documents:
        text = (root / document).read_text()
        for target in LINK.findall(CODE.sub("", text)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (root / document.parent / path) if path else root / document
            if not file.exists():
                wrong.append(f"{document}: the link {target} leads to no file; mend the path")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
                wrong.append(f"{document}: the link {target} leads to no heading; its file has other ones")
    return wrong


def main() -> int:
    """Prints what is wrong; the number of it, at most 1."""
    wrong = broken_links(ROOT, tracked_files(".md"))
    for line in wrong:
        print(line)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

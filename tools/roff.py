# SPDX-License-Identifier: Apache-2.0
"""Text as man pages have it: paragraphs, lists and examples in the language of roff."""

from __future__ import annotations

import re
from collections.abc import Iterator

ITEM = re.compile(r" ?(?P<mark>\d+\.|-|\*) +(?P<text>.*)")


def escaped(text: str) -> str:
    """A line that roff prints as it is."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def page(name: str, section: str, version: str, date: str) -> str:
    """The line that begins a page."""
    return f'.TH "{escaped(name.upper())}" "{section}" "{date}" "ringmaster {version}" "Ringmaster"'


def heading(text: str) -> str:
    """The heading of a section."""
    return f'.SH "{escaped(text.upper())}"'


def bold(text: str) -> str:
    """A line in bold."""
    return f"\\fB{escaped(text)}\\fR"


def example(lines: list[str]) -> list[str]:
    """Lines that keep their breaks and their spaces."""
    return [".PP", ".RS 4", ".nf", *map(escaped, lines), ".fi", ".RE"]


def definition(term: str, text: str) -> list[str]:
    """A term, and below it what it means."""
    return [".TP", bold(term), *([escaped(" ".join(text.split()))] if text.strip() else ["\\&"])]


def blocks(text: str) -> Iterator[list[str]]:
    """The lines between blank ones."""
    for block in re.split(r"\n[ \t]*\n", text.strip("\n")):
        if block.strip():
            yield block.split("\n")


def prose(text: str) -> list[str]:
    """Paragraphs, `## headings`, lists, tables, and examples, indented by four or more; as our headers have them."""
    out: list[str] = []
    for lines in blocks(text.replace("`", "")):
        out += _block(lines)
    return out


def _block(lines: list[str]) -> list[str]:
    if all(line.startswith("|") for line in lines):  # a table
        return example(lines)
    out: list[str] = []
    if lines[0].startswith("#"):
        out.append(f'.SS "{escaped(lines.pop(0).lstrip("# "))}"')
    in_item = False
    begun = False
    for line in lines:
        item = ITEM.fullmatch(line)
        if item:
            out += [f'.IP "{escaped(item["mark"])}" 4', escaped(item["text"])]
            in_item = begun = True
        elif line.startswith("    ") and not in_item:
            return out + example([one[4:] for one in lines[lines.index(line) :]])
        else:
            out += [*([] if begun else [".PP"]), escaped(line.strip())]
            begun = True
    return out

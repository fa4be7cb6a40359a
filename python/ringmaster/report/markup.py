# SPDX-License-Identifier: Apache-2.0
"""HTML that cannot be broken by what stands in it: a text is escaped, and only an element is taken as it is."""

from collections.abc import Sequence
from html import escape

from ringmaster.report.section import Table

EMPTY = ("input", "meta", "link", "br")
"""Elements that have no end."""


class Html(str):
    """Made by element(), or by something else that escapes."""


def element(kind: str, /, *children: "str | Html", **attributes: str) -> Html:
    """An element. An attribute's name may end in "_" where Python has the word for itself; "_" within it is "-"."""
    shown = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    if kind in EMPTY:
        return Html(f"<{kind}{shown}>")
    return Html(f"<{kind}{shown}>{joined(children)}</{kind}>")


def joined(parts: Sequence["str | Html"]) -> Html:
    """One after the other."""
    return Html("".join(part if isinstance(part, Html) else escape(str(part)) for part in parts))


def table(made: Table, caption: bool = True) -> Html:
    """In a box of its own, which scrolls where it is too wide."""
    head = element("thead", element("tr", *(element("th", cell, scope="col") for cell in made.head)))
    rows = [
        element("tr", *(element("td" if i else "th", str(cell), **({} if i else {"scope": "row"}))
                        for i, cell in enumerate(row)))
        for row in made.rows
    ]  # fmt: skip
    title = [element("caption", made.title)] if caption and made.title else []
    box = element("div", element("table", *title, head, element("tbody", *rows)), class_="scroll", tabindex="0")
    return joined([box, *([element("p", made.about, class_="about")] if made.about else [])])

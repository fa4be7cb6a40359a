# SPDX-License-Identifier: Apache-2.0
"""HTML that cannot be broken by what stands in it: a text is escaped, and only an element is taken as it is."""

import re
from collections.abc import Sequence
from html import escape

from ringmaster.report.section import Table

LONG = 24
"""Letters of a cell beyond which it is a text, not a figure."""
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
    """In a box of its own, which scrolls where it is too wide. One with long texts is shown as records()."""
    title = made.title if caption else ""
    long = any(len(cell) > LONG for row in made.rows for cell in row[1:])
    box = _box(made.head, made.rows, "records" if long else "", title)
    return joined([box, *([element("p", linked(made.about), class_="about")] if made.about else [])])


def linked(text: str) -> Html:
    """Text whose addresses are links."""
    parts = re.split(r"(https?://[^\s;,”]+[^\s;,”.)])", text)
    return joined([element("a", part, href=part) if i % 2 else part for i, part in enumerate(parts)])


Cell = str | tuple[str | Html, str]
"""Of records(): its text, or with a class."""


def records(head: Sequence[str], rows: Sequence[Sequence[Cell]], class_: str) -> Html:
    """A table that a narrow page shows as a list: of each row its cells one below the other, under their names."""
    return _box(head, rows, f"{class_} records")


def _box(head: Sequence[str], rows: Sequence[Sequence[Cell]], class_: str, title: str = "") -> Html:
    def cell(i: int, made: Cell) -> Html:
        shown, own = made if isinstance(made, tuple) else (made, "")
        attributes = ({"class_": own} if own else {}) | ({"data_label": head[i]} if head[i] and class_ else {})
        return element("th" if i == 0 else "td", shown, **attributes, **({"scope": "row"} if i == 0 else {}))

    names = element("thead", element("tr", *(element("th", name, scope="col") for name in head)))
    body = element("tbody", *(element("tr", *(cell(i, made) for i, made in enumerate(row))) for row in rows))
    above = [element("caption", title)] if title else []
    made = element("table", *above, names, body, **({"class_": class_} if class_ else {}))
    return element("div", made, class_="scroll", tabindex="0")

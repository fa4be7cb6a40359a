# SPDX-License-Identifier: Apache-2.0
"""What makes matplotlib's SVG one with a page: the page's colours and type, no network, names that nobody else has.

One drawing serves light and dark: it is made in colours that stand for the page's own, and these are put in their place
(`var(--ink)`, `var(--series-1)`, …).
"""

import re
from html import escape
from zlib import crc32

COLOURS = 8
"""Of series; the ninth has the first one's again, dashed."""
INK, FAINT = "#010101", "#020202"
"""Stand for text, and for axes and grid."""


def stand_in(i: int) -> str:
    """For the colour of the i-th series, from 0, while it is drawn."""
    return f"#0300{i % COLOURS + 1:02x}"


def colour(i: int) -> str:
    """The same as the page calls it."""
    return f"var(--series-{i % COLOURS + 1})"


def looks(count: int, paired: bool = False) -> list[tuple[int, bool]]:
    """Of so many series: the number of its colour, and whether it is dashed. Of a pair the second is, in one colour."""
    return [(i // 2, bool(i % 2)) if paired else (i, i >= COLOURS) for i in range(count)]


def for_page(svg: str, title: str) -> str:
    """The <svg> element alone. Of two drawings of one title, the ids are the same where what they name is the same."""
    opening = re.search(r'<svg[^>]*?viewBox="([^"]*)"[^>]*>', svg)
    if opening is None:
        raise ValueError("found no <svg> with a viewBox, expected matplotlib's")
    body = svg[opening.end() :].strip()
    body = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", body, flags=re.DOTALL)
    own = f"c{crc32(title.encode()):08x}"
    body = re.sub(r"<[^>]*>", lambda tag: _tag(tag[0], own), body)
    body = re.sub(r">\s+<", "><", body)
    return f'<svg role="img" aria-label="{escape(title)}" viewBox="{opening[1]}">{body}'


def _tag(tag: str, own: str) -> str:
    """One tag: what stands between tags is text that people wrote, and stays as it is."""
    for pattern, by in (
        (r' id="[A-Za-z0-9.]+_\d+"', ""),  # of groups; nothing refers to them
        (r'(id="|xlink:href="#|url\(#)(?=[mp][0-9a-f])', rf"\g<1>{own}"),
        (r"xlink:href", "href"),
        (r"(\d\.\d)\d+", r"\1"),
        (r"font-family: [^;\"]*;?", ""),  # the page's
        (r"\s+", " "),
    ):
        tag = re.sub(pattern, by, tag)
    tag = tag.replace(INK, "var(--ink)").replace(FAINT, "var(--faint)")
    for i in range(COLOURS):
        tag = tag.replace(stand_in(i), colour(i))
    return tag

# SPDX-License-Identifier: Apache-2.0
"""The page: it stands alone, is well-formed, has every figure, and survives odd text."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from report_sections import ODD, part, section, tail

from ringmaster.report import charts
from ringmaster.report.facts import UNKNOWN, facts, revision, timing_arguments
from ringmaster.report.page import MOST_LEADING, leading, write_report
from ringmaster.report.plain import of_json
from ringmaster.report.section import Bars, Chart, Lines, Quantiles, Section, Table

FINDING: Mapping[str, object] = {
    "name": "hugepages",
    "area": "memory",
    "verdict": "wrong",
    "is_now": "0 of 2 MiB",
    "should_be": "512 of 2 MiB",
    "mend": ["sysctl -w vm.nr_hugepages=512"],
    "keep": ["echo >x"],
    "boot": [],
    "by_hand": "",
    "why": ODD,
}
EMPTY = ("input", "meta", "link", "br")
"""Elements that have no end."""
LOADS = ("src", "srcset", "data", "poster", "background", "action", "xlink:href")


class Page(HTMLParser):
    """Reads a page and keeps what the tests ask for; a tag that is not closed, or twice, is an error."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[str] = []
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """What it loads, where it leads, what it is called."""
        self.seen.append(tag)
        for name, value in attrs:
            if name in LOADS or (tag == "link" and name == "href"):
                self.loaded.append(f"{tag} {name}={value}")
            if name == "href" and tag == "a":
                self.links.append(str(value))
            if name == "id":
                self.ids.append(str(value))
            assert not name.startswith("on")
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """One that ends where it begins."""
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        """The last one that was opened."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Text that is shown."""
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data


def written(directory: Path, *sections: Section, findings: Sequence[Mapping[str, object]] = ()) -> tuple[str, Page]:
    text = write_report(directory, sections, findings, {"CPU": "a CPU", "started as": ODD}).read_text()
    return text, Page(text)


def test_a_page_stands_alone(tmp_path: Path) -> None:
    text, page = written(tmp_path, section(), section("jitter"), findings=[FINDING])
    assert page.loaded == []
    assert not re.search(r"https?:|//\w|@import|url\((?!#)", text)
    local = [link for link in page.links if not link.startswith("#")]
    assert sorted(set(local)) == ["jitter.json", "rtt.json"]
    assert all((tmp_path / link).exists() for link in local)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert set(re.findall(r"url\(#(\w+)\)|<use href=\"#(\w+)\"", text)) != set()
    for clip, use in re.findall(r"url\(#(\w+)\)|<use href=\"#(\w+)\"", text):
        assert (clip or use) in page.ids


def test_every_figure_is_on_the_page_and_in_the_json(tmp_path: Path) -> None:
    _, page = written(tmp_path, section(), section("jitter", 3.21), findings=[FINDING])
    for words in (
        *("8.04 µs", "3.21 µs", "7.24–8.84", "≤ 10", "held", "not measured", "1200", "core to core 120 ns"),
        *("longest 812 µs", "ringmaster bench rtt --seconds 1 --seed 7", "sysctl -w vm.nr_hugepages=512", "a CPU"),
        *("Round trips", "payload, B", "Mpps", "share, %"),
    ):
        assert words in page.text, words
    assert page.seen.count("svg") == 6
    said = json.loads((tmp_path / "report.json").read_text())
    assert [one["name"] for one in said["sections"]] == ["rtt", "jitter"]
    assert (said["facts"]["CPU"], said["findings"][0]["name"]) == ("a CPU", "hugepages")
    assert of_json(json.loads((tmp_path / "jitter.json").read_text())).headlines == section("jitter", 3.21).headlines


def test_the_summary_has_the_headlines_that_lead() -> None:
    many = section()
    measured = many.headlines[0]
    plain = replace(measured, target=None)
    many.headlines = [replace(measured, figure=None), plain, measured]
    assert leading(many) == [measured], "those with a target"
    many.headlines = [replace(plain, figure=None), *[plain] * 20]
    assert leading(many) == [plain] * MOST_LEADING


def test_odd_text_stays_text(tmp_path: Path) -> None:
    odd = section(note=ODD)
    odd.title = odd.about = odd.command = ODD
    odd.tables.append(Table(ODD, (ODD, ODD), [(ODD, ODD)], ODD))
    odd.charts.append(Bars(ODD, "a $\\frac{1}$ <b>", [ODD, "8.0625"], {ODD: [1.0, 0.01]}))
    text, page = written(tmp_path, odd, findings=[FINDING])
    assert "<script>alert" not in text
    assert page.seen.count("script") == 1
    assert page.text.count(ODD) >= 15
    assert "8.0625" in page.text
    assert "a $\\frac{1}$ <b>" in page.text


def test_both_schemes_are_there_and_can_be_chosen(tmp_path: Path) -> None:
    text, page = written(tmp_path, section())
    assert "color-scheme: light dark" in text
    assert '[data-scheme="dark"]' in text
    assert '[data-scheme="light"]' in text
    assert "scheme" in page.ids
    for colour in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        assert not re.search(r"#[0-9a-f]{6}\b", colour), "a colour that is neither light's nor dark's"
    for name in set(re.findall(r"var\((--[\w-]+)\)", text)) - {"--own"}:
        assert f"{name}: " in text


def test_a_report_of_nothing_says_so(tmp_path: Path) -> None:
    _, page = written(tmp_path / "new" / "folder")
    assert "Nothing was measured." in page.text
    interrupted = Section("rtt", "Round trip time", "", "ringmaster bench rtt", interrupted=True)
    assert "Interrupted: this is what was measured until then." in written(tmp_path, interrupted)[1].text


NAN = math.nan


@pytest.mark.parametrize(
    ("chart", "drawn"),
    [
        (Quantiles("q", "µs", {}), False),
        (Quantiles("q", "µs", {"a": []}), False),
        (Quantiles("q", "µs", {"a": [(NAN, 0.5)], "b": [(0.0, 0.5)]}), False),
        (Quantiles("q", "µs", {"a": [(3.0, 0.5)]}), True),
        (Quantiles("q", "µs", {"a": [(3.0, 0.0)]}), True),
        (Quantiles("q", "µs", {"a": [(3.0, 0.5), (NAN, 0.1), (4.0, 0.0)], "b": []}), True),
        (Quantiles("q", "µs", {str(i): tail(1.0 + i) for i in range(10)}), True),
        (Lines("l", "x", "y", {}), False),
        (Lines("l", "x", "y", {"a": [(1.0, NAN)]}), False),
        (Lines("l", "x", "y", {"a": [(1.0, 2.0)]}), True),
        (Lines("l", "x", "y", {"a": [(0.0, 0.0), (0.0, -1.0)]}, True, True), True),
        (Lines("l", "x", "y", {"a": [(float(i), i * 1.5) for i in range(1, 200)]}, True, True), True),
        (Bars("b", "y", [], {}), False),
        (Bars("b", "y", ["a"], {"s": [NAN]}), False),
        (Bars("b", "y", ["a"], {"s": [0.0]}, y_logarithmic=True), True),
        (Bars("b", "y", ["a", "b"], {"s": [1.0, NAN], "t": [2.0, 3.0]}, stacked=True), True),
    ],
)
def test_a_chart_is_drawn_or_says_that_nothing_was_measured(chart: Chart, drawn: bool) -> None:
    pytest.importorskip("matplotlib")
    page = Page(part("chart", chart))
    assert ("svg" in page.seen) == drawn
    assert ("Nothing measured." in page.text) != drawn


def test_the_axes_are_as_wide_as_the_values() -> None:
    pytest.importorskip("matplotlib")
    svg = charts.draw(Quantiles("q", "µs", {"a": [(1.0, 0.9), (1000.0, 0.01), (90_000.0, 0.0001)]}))
    assert svg is not None
    text = Page(svg).text
    assert all(words in text for words in ("10,000", "0.01 %", "p99.9", "share of values that are larger", "µs"))
    assert "0.001 %" not in text


def test_without_matplotlib_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "can_draw", lambda: False)
    page = Page(part("chart", section().charts[0]))
    assert "needs matplotlib" in page.text
    assert "8.04" in page.text, "the numbers are there all the same"


def test_facts_are_of_this_machine(tmp_path: Path) -> None:
    found = facts()
    assert list(found)[:2] == ["CPU", "cores"]
    assert all(found.values())
    assert found["kernel"].startswith("Linux ")
    assert revision(tmp_path) == UNKNOWN
    line = "quiet isolcpus=2-5 token=secret nohz_full=2-5 -- --idle=x"
    assert timing_arguments(line) == "isolcpus=2-5 nohz_full=2-5"


def test_a_narrow_page_shows_rows_of_texts_below_each_other() -> None:
    long = part("table", Table("t", ("what", "how"), [("a", "by a text of more than forty letters, as here")]))
    assert '<td data-label="how">' in long
    assert 'class="records"' in long
    assert "data-label" not in part("table", Table("t", ("what", "µs"), [("a", "8.04")]))

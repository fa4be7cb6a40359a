# SPDX-License-Identifier: Apache-2.0
"""A section as text and as JSON."""

import io
import json
import math
from collections.abc import Sequence

import numpy as np
import pytest
from report_sections import ODD, section, tail
from rich.console import Console

from ringmaster.report.headlines import exact, figures_of
from ringmaster.report.plain import NotASection, as_json, finite, of_json
from ringmaster.report.section import Quantiles, Section, Table
from ringmaster.report.sketch import COLUMNS, quantile_table, sketch
from ringmaster.report.text import print_section
from ringmaster.report.verdicts import Headline, table


def printed(one: Section) -> str:
    out = io.StringIO()
    print_section(one, Console(file=out, width=132, highlight=False))
    return out.getvalue()


def test_text_has_figures_tables_conditions_and_notes() -> None:
    text = printed(section())
    for words in (
        "8.04 µs",
        "held",
        "not measured",
        "24",
        "core to core 120 ns",
        "longest 812 µs",
        "had 98.5% (50.0%–100.0%",
        "note: no NIC",
    ):
        assert words in text
    assert text.rstrip().endswith("charts, drawn by --report DIR: Round trips; Rate over size; Load by kind")


def test_brackets_are_text() -> None:
    odd = section(note=ODD)
    odd.tables.append(Table(f"title {ODD}", ("", "[red]"), [("[/bold]", "[1]")], about=ODD))
    assert printed(odd).count("[bold]x[/bold]") == 3
    assert "[red]" in printed(odd)


def test_a_section_without_anything_is_printed() -> None:
    printed(Section("empty", "Empty", "", "ringmaster bench empty"))


def test_json_is_read_back_as_it_was() -> None:
    said = json.loads(json.dumps(as_json(section()), allow_nan=False))
    for key in ("spreads", "targets", "conditions", "notes", "interrupted", "command", "tables", "charts"):
        assert key in said
    assert (said["rtt_us"], said["rtt_lost"], said["data"]) == (8.04, None, {"seed": 7})
    again = of_json(said)
    assert as_json(again) == said
    assert again.headlines == section().headlines
    assert again.conditions == section().conditions


def test_names_with_dots_are_nested_too_where_nothing_has_the_name_before() -> None:
    names = ("put_us.epics.p50", "put_us.epics.p99", "rate", "rate.memif", "rate.memif.idle")
    headlines = [Headline(name, exact(1.0, "run"), "") for name in names]
    said = as_json(Section("none", "None", "", "", headlines=headlines))
    assert said["put_us"] == {"epics": {"p50": 1.0, "p99": 1.0}}
    assert said["put_us.epics.p99"] == said["rate"] == said["rate.memif.idle"] == 1.0
    assert set(said["spreads"]) == set(names)


def test_what_was_written_without_a_share_of_the_core_is_read() -> None:
    said = as_json(section())
    del said["conditions"]["core_share"]
    conditions = of_json(said).conditions
    assert conditions is not None
    assert conditions.core_share is None


def test_compare_reads_it() -> None:
    assert list(figures_of(json.loads(json.dumps(as_json(section()))))) == ["rtt_us", "rtt_lost"]


def test_what_is_no_number_is_null() -> None:
    odd = {"a": math.nan, "b": [math.inf, np.float64(2.0)], 3: {np.int64(4)}, "d": (True, None, io)}
    said = json.loads(json.dumps(finite(odd), allow_nan=False))
    assert said == {"a": None, "b": [None, 2.0], "3": [4], "d": [True, None, str(io)]}


@pytest.mark.parametrize(
    "said", [{}, {"name": 1}, as_json(section()) | {"tables": [1]}, as_json(section()) | {"charts": [{}]}]
)
def test_what_is_no_section_is_reported(said: dict[str, object]) -> None:
    with pytest.raises(NotASection, match="found no section of a report"):
        of_json(said)


def chart(*series: Sequence[tuple[float, float]]) -> Quantiles:
    return Quantiles("Round trips", "µs", {str(i): points for i, points in enumerate(series)})


def test_quantiles_are_read_off_as_far_as_there_are_values() -> None:
    (row,) = quantile_table(chart(tail(10.0))).rows
    assert row == ("0", "10", "15", "20", "80", "", "", "", "80")
    assert quantile_table(chart([], [(math.nan, 0.5)])).rows == [("0", *[""] * 8), ("1", *[""] * 8)]


def test_a_sketch_stands_on_one_logarithmic_axis() -> None:
    axis, near, far = sketch(chart(tail(1.0), tail(100.0)))
    assert axis.split() == ["0.5", "µs", "800", "µs"]
    shift = far.index("█") - near.index("█")
    assert shift == pytest.approx((COLUMNS - 1) * math.log(100) / math.log(1600), abs=1)
    assert near.index("├") < near.index("█") < near.index("┤") < near.index("|") < far.index("|") == len(far) - 1


@pytest.mark.parametrize("points", [[], [(1.0, 0.5)], [(math.nan, 0.1), (0.0, 0.0)], [(1.0, 0.5), (1.0, 0.1)]])
def test_nothing_to_tell_apart_is_not_sketched(points: list[tuple[float, float]]) -> None:
    assert sketch(chart(points)) == []


def test_a_narrow_terminal_cuts_no_figure_off() -> None:
    out = io.StringIO()
    heads = [f"undisturbed-{i}" for i in range(8)]
    Console(file=out, width=60).print(table("narrow", heads, [[f"{i}4,377–4,388" for i in range(8)]]))
    assert "…" not in out.getvalue()

# SPDX-License-Identifier: Apache-2.0
"""The sources' figures as data."""

from report_sections import part

from ringmaster.report import published


def test_the_posters_table_is_whole() -> None:
    rows = ("< 1 µs", "< 2 µs", "< 3 µs", "< 4 µs", "< 5 µs", "< 10 µs", "< 20 µs", "< 30 µs", "< 40 µs", "> 40 µs")
    assert rows == published.JITTER_ROWS
    assert list(published.JITTER_DPDK_PERCENT) == ["core 2", "core 3", "core 5", "core 6"]
    for column in published.JITTER_DPDK_PERCENT.values():
        assert len(column) == len(rows)
        assert abs(sum(column) - 100.0) < 0.03


def test_every_figure_says_where_it_stands() -> None:
    parts = (published.RTT, published.JITTER, published.THROUGHPUT, published.CPU_LOAD, published.CAMERA)
    for stated in (*(one for figures in parts for one in figures), *published.POWER, published.SETPOINT_TO_BPM_US):
        table = published.table("Published", [stated])
        assert stated.source.title in table.about
        assert stated.unit in stated.words == table.rows[0][1]
    assert published.SETPOINT_TO_BPM_US.words == "40–50 µs"
    assert published.JITTER[1].words == "< 40 µs"
    (row, *_) = published.table("Published", published.RTT).rows
    assert row[:3] == ("raw socket, isolated core, mean", "24 µs", "paper")


def test_sources_are_named_and_linked() -> None:
    about = published.table("Published", [published.MATRIX_US, published.MOST_MPPS]).about
    assert "paper: “High-throughput DPDK-based framework for" in about
    page = part("table", published.table("Published", [published.MATRIX_US, published.THROUGHPUT[0]]))
    doi, author = "https://doi.org/10.1109/TII.2025.3547016", "http://www.unibo.it/docenti/domenico.galli"
    assert f'refers to <a href="{doi}">{doi}</a>)' in page
    assert f'<a href="{author}">{author}</a>)' in page

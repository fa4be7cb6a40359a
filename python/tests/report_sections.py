# SPDX-License-Identifier: Apache-2.0
"""Sections as benches make them, with figures that are known."""

from ringmaster.report.conditions import StallFloor
from ringmaster.report.headlines import ALL, Figure
from ringmaster.report.rendering import environment
from ringmaster.report.section import Bars, Lines, Quantiles, Section, Table
from ringmaster.report.verdicts import Conditions, Headline

ODD = 'a <script>alert("1 & 2")</script> [bold]x[/bold] </style> ]]> é'
"""Text that no page and no terminal may take for its own."""


def part(name: str, *arguments: object) -> str:
    """A part of a page by itself."""
    return str(getattr(environment().get_template("parts.html").module, name)(*arguments))


def figure(median: float) -> Figure:
    return Figure(median, median * 0.9, median * 1.1, (0.1, 0.9), 5, "repeats")


def tail(median: float) -> list[tuple[float, float]]:
    """Points whose median, p99 and maximum are 1, 2 and 8 times this."""
    return [(0.5 * median, 0.9), (median, 0.5), (1.5 * median, 0.1), (2 * median, 0.01), (8 * median, 0.001)]


def section(name: str = "rtt", median: float = 8.04, note: str = "no NIC: the links are virtual") -> Section:
    """With one of everything."""
    return Section(
        name=name,
        title=f"Title of {name}",
        about="Two processes on two cores.",
        command=f"ringmaster bench {name} --seconds 1 --seed 7",
        headlines=[
            Headline(f"{name}_us", figure(median), "µs", target=10.0, about="one and back"),
            Headline(f"{name}_lost", None, "datagrams", about="of all"),
        ],
        tables=[Table("By variant, µs", ("variant", "p50", "max"), [("memif", "8.04", "41"), ("raw", "24", "1200")])],
        charts=[
            Quantiles("Round trips", "µs", {"memif": tail(median), "raw": tail(3 * median)}),
            Lines("Rate over size", "payload, B", "Mpps", {"memif": [(18.0, 20.0), (1472.0, 5.0)]}, x_logarithmic=True),
            Bars("Load by kind", "share, %", ["memif", "raw"], {"user": [50.0, 10.0], "system": [0.0, 40.0]}, True),
        ],
        conditions=Conditions(
            Figure(120.0, 70.0, 440.0, ALL, 20, "probes"),
            (StallFloor(0.5, 812.0, 350.0, 2, 2.5e9),),
            Figure(0.985, 0.5, 1.0, ALL, 6, "looks"),
        ),
        notes=[note],
        data={"seed": 7},
    )

# SPDX-License-Identifier: Apache-2.0
"""Findings for people."""

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ringmaster.doctor.findings import Finding, Verdict, summary

WIDEST = 130
NO_TERMINAL = 120
STYLES = {
    Verdict.WRONG: "bold red",
    Verdict.BETTER: "yellow",
    Verdict.UNKNOWN: "magenta",
    Verdict.GOOD: "green",
    Verdict.ABSENT: "dim",
}
MARKS = {Verdict.WRONG: "✗", Verdict.BETTER: "!", Verdict.UNKNOWN: "?", Verdict.GOOD: "✓", Verdict.ABSENT: "–"}


def console() -> Console:
    """As wide as the terminal, up to what the eye still follows."""
    found = Console(highlight=False)
    return Console(highlight=False, width=min(found.width, WIDEST) if found.is_terminal else NO_TERMINAL)


def print_table(findings: Sequence[Finding]) -> None:
    """A row for what is not as it should be; what is good on a line or two under each area, the others by name."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=True, header_style="dim")
    table.add_column("")
    table.add_column("", min_width=16, no_wrap=True)
    table.add_column("is", ratio=5)
    table.add_column("should be", ratio=3)
    for area, group in groupby(findings, key=lambda finding: finding.area):
        _add_area(table, area, list(group))
    out = console()
    out.print(table)
    if not_here := [finding.name for finding in findings if finding.verdict is Verdict.ABSENT]:
        out.print(Text(f"does not apply here: {', '.join(not_here)}", "dim"))


def _add_area(table: Table, area: str, findings: Sequence[Finding]) -> None:
    told = [finding for finding in findings if finding.verdict is not Verdict.ABSENT]
    if not told:
        return
    table.add_row("", Text(area, "bold"), "", "")
    for finding in told:
        style = STYLES[finding.verdict]
        if finding.verdict is not Verdict.GOOD:
            table.add_row(
                Text(MARKS[finding.verdict], style), Text(finding.name, style), finding.is_now, finding.should_be
            )
    if healthy := [f"{finding.name}: {finding.is_now}" for finding in told if finding.verdict is Verdict.GOOD]:
        table.add_row(
            Text("✓", STYLES[Verdict.GOOD]), Text("good", STYLES[Verdict.GOOD]), Text(" · ".join(healthy)), ""
        )


def print_details(findings: Sequence[Finding]) -> None:
    """All of each, the commands on lines of their own to be copied."""
    out = console()
    for finding in findings:
        out.print(Text(f"{MARKS[finding.verdict]} {finding.name}: {finding.verdict}", STYLES[finding.verdict]))
        for label, text in (
            ("is", finding.is_now),
            ("should be", finding.should_be),
            ("why", finding.why),
            ("source", finding.source),
            ("by hand", finding.by_hand),
        ):
            if text:
                grid = Table.grid(padding=(0, 1))
                grid.add_column(width=9, style="dim")
                grid.add_column()
                grid.add_row(label, Text(text))
                out.print(Padding(grid, (0, 0, 0, 2)))
        for label, commands in (
            ("now", finding.mend),
            ("at each boot", finding.keep),
            ("on the kernel's command line", (" ".join(finding.boot),) if finding.boot else ()),
        ):
            if commands:
                out.print(Text(f"  {label}:", "dim"))
                for command in commands:
                    out.print(Text(f"      {command}"), soft_wrap=True)
        out.print()


def print_summary(use: str, findings: Sequence[Finding]) -> None:
    """The last lines."""
    out = console()
    out.print(Text(f"for {use}: {summary(findings)}", "bold"))
    ill = [finding for finding in findings if finding.verdict in (Verdict.WRONG, Verdict.BETTER)]
    if ill:
        out.print(
            Text(
                f"`ringmaster doctor {ill[0].name}` says why and how to mend it, `--script` prints all commands", "dim"
            )
        )

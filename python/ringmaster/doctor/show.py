# SPDX-License-Identifier: Apache-2.0
"""Findings for people."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import indent

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ringmaster.doctor.findings import Finding, Verdict, summary
from ringmaster.doctor.uses import Use

WIDEST = 130
NO_TERMINAL = 120
AREA_WIDTH, NAME_WIDTH = 10, 21
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


def print_head(*lines: str) -> None:
    """The first lines."""
    out = console()
    for line in lines:
        out.print(Text(line))
    out.print()


def print_table(findings: Sequence[Finding]) -> None:
    """A row for what is not as it should be; what is good on a line or two of each area; of the others the names."""
    out = console()
    out.print(_row("", Text(), Text(), Text("is", "dim"), Text("should be", "dim")))
    for area, group in groupby(findings, key=lambda finding: finding.area):
        for index, row in enumerate(_rows(list(group))):
            out.print(_row(area if index == 0 else "", *row))
    if not_here := [finding.name for finding in findings if finding.verdict is Verdict.ABSENT]:
        out.print(_row("", *_marked(Verdict.ABSENT, "not here"), Text(", ".join(not_here), "dim")))
    out.print()


def _rows(findings: Sequence[Finding]) -> Iterator[tuple[Text, ...]]:
    for finding in findings:
        if finding.verdict not in (Verdict.GOOD, Verdict.ABSENT):
            yield *_marked(finding.verdict, finding.name), Text(finding.is_now), Text(finding.should_be)
    if healthy := [finding for finding in findings if finding.verdict is Verdict.GOOD]:
        told = (Text.assemble((finding.name, STYLES[Verdict.GOOD]), f" {finding.is_now}") for finding in healthy)
        yield *_marked(Verdict.GOOD, "good"), Text(" · ", "dim").join(told)


def _marked(verdict: Verdict, name: str) -> tuple[Text, Text]:
    return Text(MARKS[verdict], STYLES[verdict]), Text(name, STYLES[verdict])


def _row(area: str, mark: Text, name: Text, *cells: Text) -> Table:
    """Tables of one row, of the same widths: so a row may have one wide cell instead of two."""
    table = Table.grid(padding=(0, 1, 0, 0), expand=True)
    for width in (AREA_WIDTH, 1, NAME_WIDTH):
        table.add_column(width=width)
    for ratio in (5, 3) if len(cells) > 1 else (1,):
        table.add_column(ratio=ratio)
    table.add_row(Text(area, "bold"), mark, name, *cells)
    return table


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
                    out.print(Text(indent(command, "      ")), soft_wrap=True)
        out.print()


def print_summary(use: Use, findings: Sequence[Finding], hint: bool, config: str = "CONFIG") -> None:
    """The last lines. ``config``: the server's configuration that was looked at."""
    out = console()
    out.print(Text(f"for {use}: {summary(findings)}", "bold"))
    if not hint:
        return
    ill = [finding for finding in findings if finding.verdict in (Verdict.WRONG, Verdict.BETTER)]
    if ill:
        worst = min(ill, key=lambda finding: finding.verdict.rank)
        out.print(
            f"why, and what to do: ringmaster doctor --for {use} {worst.name}; all commands: --script", style="dim"
        )
        out.print(f"most of it at once, and undone on request: ringmaster setup {config}", style="dim", soft_wrap=True)
    out.print(f"other uses: {', '.join(f'--for {other}' for other in Use if other is not use)}", style="dim")

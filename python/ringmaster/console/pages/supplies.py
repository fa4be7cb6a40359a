# SPDX-License-Identifier: Apache-2.0
"""The power supplies: what was sent to them, where they are, and how their chains answer."""

import math
from collections import Counter

from ringmaster.console import units
from ringmaster.console.lines import Column, Line, Span, heading, line, table, wrapped
from ringmaster.console.marks import bar
from ringmaster.console.pages.common import SortKey, bad, chosen, more, sorted_by, visible, warn
from ringmaster.console.view import View
from ringmaster.console.watch import Frame
from ringmaster.monitor.advice import ADVICE
from ringmaster.monitor.driving import SEVERE, ChainFigures, SupplyFigures
from ringmaster.monitor.faults import TEXTS

NAME = "supplies"
SORTS: dict[str, SortKey[SupplyFigures]] = {
    "order": lambda _: 0.0,
    "trouble": lambda supply: float(len(supply.state)),
    "setpoint": lambda supply: supply.setpoint,
    "off": lambda supply: 0.0 if math.isnan(supply.readback) else abs(supply.readback - supply.setpoint),
}
ABOUT = (
    "SETPOINT is what the guard sent last, READBACK what the supply says; the bar shows the setpoint between its "
    "limits. STATE is the most serious of its states; enter shows all of them, and the counters of its chain. A "
    "`joining` supply has not yet reported where it stands and is sent nothing. A `held` or `ramping` one has lost its "
    "application. One that `deviates` is further from its setpoint than its tolerance, for longer than it may be. "
    "UNANSWERED are cycles of a chain without a readback."
)
BAR = 12
CHAINS_SHOWN = 8
QUIET = frozenset({"slewing"})
"""States that are part of daily work."""


def draw(frame: Frame, view: View, width: int, height: int | None) -> list[Line]:
    """Chains above, supplies below."""
    supplies = chosen(frame.snapshot.supplies, lambda supply: supply.name, view, NAME, SORTS)
    view.row_names = [supply.name for supply in supplies]
    if not frame.snapshot.supplies:
        return [line(Span("this server drives no supplies: there are no `chains` in its configuration", "dim"))]
    lines = [*summary(frame, width), line(), *_chains(frame, width, height), line()]
    room = None if height is None else max(1, height - len(lines) - 2)
    shown, cursor = visible(view, NAME, len(supplies), room)
    note = "  ".join(filter(None, (sorted_by(view, NAME, list(SORTS)), more(shown, len(supplies)))))
    return [*lines, heading("Supplies", width, note), *supply_table(supplies[shown], width, cursor)]


def summary(frame: Frame, width: int) -> list[Line]:
    """How many, and how many of them are not well."""
    supplies = frame.snapshot.supplies
    states = Counter(supply.worst for supply in supplies if supply.state)
    good = sum(1 for supply in supplies if not set(supply.state) - QUIET)
    parts: Line = [Span(f"{good} of {len(supplies)} good", "good" if good == len(supplies) else "warn")]
    for word, count in states.most_common():
        parts += [Span("  "), Span(f"{count} {word}", _style([word]))]
    return [heading("Setpoints", width, units.several(len(frame.snapshot.chains), "chain")), parts]


def _chains(frame: Frame, width: int, height: int | None) -> list[Line]:
    """All chains where there is room, else those with trouble first."""
    chains = list(frame.snapshot.chains)
    if height is not None and len(chains) > CHAINS_SHOWN:
        chains.sort(key=_trouble, reverse=True)
        left = len(chains) - CHAINS_SHOWN
        return [*chain_table(chains[:CHAINS_SHOWN], width), line(Span(f"and {left} more", "dim"))]
    return chain_table(chains, width)


def _trouble(chain: ChainFigures) -> tuple[int, int]:
    return chain.counts["lost"] + chain.counts["trips"] + len(chain.status), chain.unanswered


def chain_table(chains: list[ChainFigures], width: int) -> list[Line]:
    """One line for each chain."""
    columns = [
        Column("CHAIN", 6, right=False),
        Column("SENT/S", 9),
        Column("ANSWERED/S", 10),
        Column("UNANSWERED", 6),
        Column("LOST", 4),
        Column("GAPS", 4, drop=4),
        Column("WRONG", 5, drop=3),
        Column("TRIPS", 5),
        Column("DEVIATED", 5, drop=5),
        Column("SAYS", 6, right=False, drop=2),
    ]
    rows = [
        [
            Span(chain.name),
            Span(units.hertz(chain.sent_per_s).replace("Hz", "/s")),
            Span(units.hertz(chain.answered_per_s).replace("Hz", "/s")),
            warn(chain.unanswered),
            bad(chain.counts["lost"]),
            warn(chain.counts["gaps"]),
            bad(chain.counts["wrong_answer"] + chain.counts["misdirected"]),
            bad(chain.counts["trips"]),
            warn(chain.counts["deviations"]),
            Span(", ".join(_said(chain)), "warn"),
        ]
        for chain in chains
    ]
    return table(columns, rows, width)


def _said(chain: ChainFigures) -> list[str]:
    return [word.removeprefix("says_").replace("_", " ") for word in chain.status]


def supply_table(supplies: list[SupplyFigures], width: int, cursor: int | None = None) -> list[Line]:
    """One line for each supply."""
    columns = [
        Column("SUPPLY", 16, right=False),
        Column("CHAIN", 5, right=False, drop=4),
        Column("SETPOINT", 10),
        Column("READBACK", 10),
        Column("OFF BY", 9, drop=3),
        Column("", 3, right=False),
        Column("LIMITS", 12, drop=5),
        Column("", BAR, right=False, drop=2),
        Column("STATE", 4, right=False),
    ]
    rows = [
        [
            Span(supply.name),
            Span(supply.chain, "dim"),
            Span(_value(supply.setpoint)),
            Span(_value(supply.readback)),
            Span(_value(supply.readback - supply.setpoint), "dim"),
            Span(supply.unit, "dim"),
            Span(f"{supply.low:g} … {supply.high:g}", "dim"),
            Span(bar(supply.share, BAR), "bar"),
            Span(supply.worst, _style(supply.state)),
        ]
        for supply in supplies
    ]
    return table(columns, rows, width, cursor)


def details(frame: Frame, name: str, width: int) -> list[Line] | None:
    """A supply by itself, with the counters of its chain and what to do about them; None for another name."""
    supply = next((supply for supply in frame.snapshot.supplies if supply.name == name), None)
    if supply is None:
        return None
    lines = [heading(name, width), *supply_table([supply], width)]
    if len(supply.state) > 1:
        lines += wrapped(f"all its states: {', '.join(supply.state)}", width, 2, "dim")
    chain = next((chain for chain in frame.snapshot.chains if chain.name == supply.chain), None)
    if chain is None:
        return lines
    lines += [line(), heading(f"Its chain, {chain.name}", width, "what is zero is left out")]
    for counter, count in chain.counts.items():
        if not count:
            continue
        severe, advice = ADVICE.get(("chain", counter), (None, ""))
        style = {True: "bad", False: "warn", None: ""}[severe]
        head = f"{counter:<14}{units.count(count):>7}  "
        text = wrapped(TEXTS["chain", counter][1], width - len(head) - 2, style="dim")
        lines.append([Span("  "), Span(head, style), *text[0]])
        lines += [[Span(" " * (len(head) + 2)), *rest] for rest in text[1:]]
        if advice:
            lines += wrapped(f"→ {advice}", width, 4)
    return lines


def _value(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.5g}"


def _style(state: object) -> str:
    words = set(state) if isinstance(state, list | tuple) else set()
    if words & SEVERE:
        return "bad"
    return "warn" if words - QUIET else "good" if not words else ""

# SPDX-License-Identifier: Apache-2.0
"""Figures and tables of real servers, of `ringmaster bench standby`: windows in which the host took a core apart."""

from collections.abc import Callable, Sequence
from dataclasses import asdict

from ringmaster.bench.standby_real import KILL, MISSED, QUIET, STOP, SWITCH, Round, Window
from ringmaster.report.headlines import Figure, exact, of_all, of_values
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline

MOST_CYCLES = float(MISSED + 2)
MASTERS = ("two_masters", "two_instances")
BEYOND = ("over_limit", "over_slew", "divided")
"""Of the judge (instruments/chain_judge.h)."""


def real_headlines(rounds: Sequence[Round]) -> list[Headline]:
    """By the names of the simulated ones, and the host's share beside them."""
    undisturbed = [one for one in _windows(rounds) if not one.disturbed]
    swaps = [one for one in undisturbed if one.took_over and one.what != QUIET]
    switches = [one for one in undisturbed if one.what == SWITCH]
    cycles = [float(one.swap_cycles) for one in swaps if one.swap_cycles is not None]

    def count(name: str, value: Callable[[], int], about: str = "", target: float | None = 0.0) -> Headline:
        return Headline(f"real.{name}", exact(value(), "rounds") if rounds else None, "", target, about=about)

    return [
        Headline("real.swap_cycles.median", of_values(cycles, "swaps"), "cycles", MOST_CYCLES,
                 about="last obeyed datagram of the one to the first of the other, unplanned; undisturbed windows"),
        Headline("real.swap_cycles.max", exact(max(cycles, default=None), "swaps"), "cycles", MOST_CYCLES),
        count("swaps", lambda: len(swaps), "unplanned ones in undisturbed windows", None),
        count("disturbed", lambda: sum(one.disturbed for one in _windows(rounds)),
              f"windows in which the host took a core for more than {MISSED} cycles", None),
        count("not_taken_over", lambda: sum(_began(one) for one in undisturbed),
              "the standby was late itself, and a server began anew", None),
        _cycles(switches, "planned_missing_cycles", lambda one: one.missing),
        _cycles(switches, "planned_duplicate_cycles", lambda one: one.doubled),
        count("violations", lambda: _judged(rounds, BEYOND), "beyond limits or slew, chains divided; all windows"),
        count("two_masters", lambda: _judged(rounds, MASTERS), "all windows"),
        count("different_bits", lambda: sum(one.different_bits for one in rounds)),
        count("false_swaps", lambda: sum(one.false_swaps for one in _windows(rounds)),
              "in quiet windows: a majority of the chains saw no gap above N"),
        Headline("real.cycle_hz", of_all([1.0 / one.cycle_s for one in rounds], "rounds"), "Hz",
                 about="N cycles are twice the longest stall before"),
        Headline("real.stall_floor_cycles", of_all([one.floor_cycles for one in rounds], "rounds"), "cycles",
                 about="the longest that a core was away before each round, nothing of ours on it"),
    ]  # fmt: skip


def real_tables(rounds: Sequence[Round]) -> list[Table]:
    """Rounds; what befell the pairs, undisturbed and disturbed."""
    if not rounds:
        return []
    rows = [
        (what, disturbed, found)
        for what in (KILL, STOP, SWITCH, QUIET)
        for disturbed in (False, True)
        if (found := [one for one in _windows(rounds) if one.what == what and one.disturbed == disturbed])
    ]
    columns: Columns = {
        "window": lambda row: row[0],
        "": lambda row: "disturbed" if row[1] else "",
        "windows": lambda row: float(len(row[2])),
        "taken over": lambda row: float(sum(one.took_over for one in row[2])),
        "cycles": lambda row: _of(row[2], lambda one: one.swap_cycles if one.took_over else None),
        "max": lambda row: _longest(row[2]),
        "told": lambda row: _of(row[2], lambda one: one.told_cycles if one.took_over else None),
        "missing": lambda row: _sum(row[2], lambda one: one.missing),
        "doubled": lambda row: _sum(row[2], lambda one: one.doubled),
        "whole, s": lambda row: _of(row[2], lambda one: one.seconds),
        "host, cycles": lambda row: _of(row[2], lambda one: one.away_cycles),
    }  # fmt: skip
    return [_rounds(rounds), Table.of(
        "Real servers: what befell them", rows, columns,
        "Cycles from the last obeyed datagram of one server to the first of the other, of the chain that waited "
        "longest; told: as the successor says. Whole: until the other one is READY. Host: cycles that the ring or the "
        "standby let pass, as it had no core; of a quiet window the most within a look.",
    )]  # fmt: skip


def _rounds(rounds: Sequence[Round]) -> Table:
    columns: Columns = {
        "round": lambda row: str(row[0]),
        "cycle, ms": lambda row: row[1].cycle_s * 1e3,
        "stall floor, ms": lambda row: row[1].floor.longest_us * 1e-3,
        "cycles": lambda row: row[1].floor_cycles,
        "windows": lambda row: float(len(row[1].windows)),
        "swaps": lambda row: row[1].judged["swaps"],
        "longest, cycles": lambda row: row[1].judged["longest_swap_cycles"],
        "longest gap, cycles": lambda row: row[1].judged["longest_gap"],
        "violations": lambda row: float(_judged([row[1]], BEYOND)),
        "two masters": lambda row: float(_judged([row[1]], MASTERS)),
    }
    return Table.of(
        "Real servers: rounds", list(enumerate(rounds, 1)), columns,
        "What the chains' judge saw from start to end, swaps of all kinds. The stall floor is of the second before.",
    )  # fmt: skip


def real_notes(rounds: Sequence[Round]) -> list[str]:
    """What ended rounds early, and swaps that only the host made."""
    notes = [f"real, round {i}: ended early: {one.trouble}" for i, one in enumerate(rounds, 1) if one.trouble]
    quiet = sum(one.swaps - one.false_swaps for one in _windows(rounds))
    if quiet:
        notes.append(f"real: {quiet} swaps in quiet windows after a gap above N, as the host stalled")
    return notes


def real_data(rounds: Sequence[Round]) -> list[dict[str, object]]:
    """Every window."""
    return [asdict(one) for one in rounds]


def _windows(rounds: Sequence[Round]) -> list[Window]:
    return [window for one in rounds for window in one.windows]


def _began(window: Window) -> bool:
    return window.what in (KILL, STOP) and not window.took_over


def _judged(rounds: Sequence[Round], what: Sequence[str]) -> int:
    return sum(int(one.judged[name]) for one in rounds for name in what)


def _cycles(switches: Sequence[Window], name: str, value: Callable[[Window], int | None]) -> Headline:
    found = sum(value(one) or 0 for one in switches)
    return Headline(f"real.{name}", exact(found if switches else None, "switches"), "cycles", 0.0,
                    about="undisturbed windows")  # fmt: skip


def _of(windows: Sequence[Window], value: Callable[[Window], float | None]) -> Figure | str:
    return of_values(map(value, windows), "windows") or ""


def _longest(windows: Sequence[Window]) -> float | str:
    return max((float(one.swap_cycles) for one in windows if one.took_over and one.swap_cycles), default="")


def _sum(windows: Sequence[Window], value: Callable[[Window], int | None]) -> float | str:
    found = [here for one in windows if (here := value(one)) is not None]
    return float(sum(found)) if found else ""

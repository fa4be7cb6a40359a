# SPDX-License-Identifier: Apache-2.0
"""What the windows of `ringmaster bench power` come to: figures and tables."""

from collections.abc import Callable, Sequence

from ringmaster.bench import cpu_time
from ringmaster.bench.power_windows import STATES, Window
from ringmaster.report import published
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.section import Table
from ringmaster.report.verdicts import Headline, cell, number

ROUNDS = "rounds"
NONE = "–"
IDLE = STATES[0].name
WAITING, LOADED = "waiting, governor on", "loaded, governor on"


def _of(windows: Sequence[Window], state: str, figure: Callable[[Window], float | None]) -> Figure | None:
    return of_values((figure(window) for window in windows if window.state == state), ROUNDS)


def _cell(figure: Figure | None) -> str:
    return cell(figure.median if figure else None)


def _watts(window: Window) -> float | None:
    return window.taken.package_w


def headlines(windows: Sequence[Window], has_energy: bool) -> list[Headline]:
    """Watts where there are any; and of every state with a server how it spends its core."""
    lines = []
    for state in STATES:
        name = state.name.replace(", governor ", ".").replace(" ", "_")
        if has_energy:
            lines.append(Headline(f"package_w.{name}", _of(windows, state.name, _watts), "W", about=state.about))
            if state.loaded:
                energy = _of(windows, state.name, lambda window: window.nanojoules_per_datagram)
                lines.append(Headline(f"nj_per_datagram.{name}", energy, "nJ", about="package, sender's part in it"))
        if state.server:
            polls = _of(windows, state.name, lambda window: window.polls_per_s / 1e6)
            lines.append(Headline(f"mega_polls_per_s.{name}", polls, "M/s", about=state.about))
        if state.loaded:
            busy = _of(windows, state.name, lambda window: window.busy_share)
            lines.append(Headline(f"busy_share.{name}", busy, "", about="server's turns with packets"))
    return lines


def states_table(windows: Sequence[Window]) -> Table:
    """A row for each state."""
    head = (
        "state",
        "governor",
        "package W",
        "over idle W",
        "kHz",
        "nJ/datagram",
        "polls M/s",
        "busy",
        "waited",
        "lost",
    )
    rows = []
    idle = _of(windows, IDLE, _watts)
    for state in STATES:
        here = [window for window in windows if window.state == state.name]
        if not here:
            continue
        watts = _of(here, state.name, _watts)
        over = NONE if watts is None or idle is None else number(watts.median - idle.median)
        energy = _cell(_of(here, state.name, lambda window: window.nanojoules_per_datagram))
        rate = _cell(_of(here, state.name, lambda window: window.rate_pps / 1e3)) if state.loaded else NONE
        work = [_work(here, state.server, figure) for figure in _WORK]
        lost = str(sum(window.lost for window in here)) if state.loaded else NONE
        rows.append((*state.cells, _cell(watts), over, rate, energy, *work, lost))
    about = (
        "kHz: datagrams received. Busy: the server's turns that had packets; waited: pauses on purpose, so that "
        "packets gather. nJ/datagram: package energy, the sender's part in it."
    )
    return Table("Power by state", head, rows, about)


_WORK: tuple[Callable[[Window], str], ...] = (
    lambda window: number(window.polls_per_s / 1e6),
    lambda window: f"{window.busy_share:.0%}",
    lambda window: f"{window.waited_share:.0%}",
)


def _work(windows: Sequence[Window], server: bool, figure: Callable[[Window], str]) -> str:
    """Of the window in the middle, by polls."""
    if not server:
        return NONE
    ordered = sorted(windows, key=lambda window: window.polls_per_s)
    return figure(ordered[len(ordered) // 2])


def work_table(windows: Sequence[Window], cores: tuple[int, int]) -> Table:
    """How each core spent its time, how fast it ran and how it slept."""
    kinds = cpu_time.kinds_seen([share for window in windows for share in window.taken.shares.values()])
    head = ("state", "governor", "core", *kinds, "MHz", "asleep")
    rows = []
    for state in STATES:
        here = [window for window in windows if window.state == state.name]
        for core, role in zip(cores, ("ring", "server"), strict=True) if here else ():
            means = cpu_time.mean([window.taken.shares[core] for window in here]).by_kind()
            mhz = [window.taken.mhz[core] for window in here if core in window.taken.mhz]
            shown = number(sum(mhz) / len(mhz)) if mhz else NONE
            shares = (f"{means[kind]:.0%}".rstrip("%") for kind in kinds)
            rows.append((*state.cells, f"{core} {role}", *shares, shown, _asleep(here, core)))
    about = "Means of all rounds; a kind that never came has no column. Asleep: idle states, as the kernel names them."
    return Table("CPU time by kind, %, frequency and idle states", head, rows, about)


def _asleep(windows: Sequence[Window], core: int) -> str:
    names = windows[0].taken.residency[core]
    means = {name: sum(w.taken.residency[core].get(name, 0.0) for w in windows) / len(windows) for name in names}
    return ", ".join(f"{name} {share:.0%}" for name, share in means.items() if share >= 0.005) or NONE


def published_table(windows: Sequence[Window]) -> Table:
    """What the talk measured, beside ours."""
    rows = [
        (one.what, one.words, _cell(_of(windows, state, _watts)), state)
        for one, state in zip(published.POWER, (IDLE, WAITING, LOADED), strict=True)
    ]
    about = (
        f"{published.TALK.words}: {published.POWER[0].about}; "
        f"{published.POWER[1].about}. Here: processor packages alone, without memory, cards, fans and power supply."
    )
    return Table("Beside the published power", ("published", "figure", "here W", "here it is"), rows, about)

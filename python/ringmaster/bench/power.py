# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench power`: what the machine takes idle and loaded, with adaptive polling and without.

Watts where the processor counts its energy; busy share, frequency and idle states besides, and alone where it does not.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ringmaster.bench.cpu_time import NoCpuTime
from ringmaster.bench.energy import SYS
from ringmaster.bench.log import Log, NotMeasured
from ringmaster.bench.power_meter import Meter
from ringmaster.bench.power_section import headlines, published_table, states_table, work_table
from ringmaster.bench.power_windows import STATES, State, Window, measure_window
from ringmaster.programs.cores import cores
from ringmaster.programs.program import ProgramFailed
from ringmaster.report.conditions import StallFloor, core_to_core_ns, stall_floor
from ringmaster.report.section import Section
from ringmaster.report.verdicts import conditions_of, number

FLOOR_S = 0.5
ABOUT = """\
The machine with nothing of ours, with a server that nothing comes to, and with one that takes the load of Elettra; each
with the server's adaptive polling (the governor), which waits between polls so that packets gather, and without. By
turns in short windows. Package power is RAPL's, of all packages, where the machine shows it."""


@dataclass(frozen=True)
class Options:
    """For how long, and how much."""

    seconds: float = 1.0
    """Of each window."""
    rounds: int = 3
    """Of all states."""
    load: float = 0.1
    """Share of Elettra's full rate, 10.2 million datagrams a second."""


@dataclass
class _Run:
    """What is there so far."""

    windows: list[Window] = field(default_factory=list)
    probes_ns: list[float] = field(default_factory=list)
    floors: list[StallFloor] = field(default_factory=list)
    interrupted: bool = False


def steps(options: Options) -> int:
    """As often as measure() calls its `step`, at most."""
    return options.rounds * len(STATES)


def command(options: Options) -> str:
    """All options spelled out."""
    return f"ringmaster bench power --seconds {options.seconds:g} --rounds {options.rounds} --load {options.load:g}"


def measure(options: Options, say: Callable[[str], None], step: Callable[[], None], sys: Path = SYS) -> Section:
    """Measures all states by turns. An interrupt ends it early and in good order.

    Raises NotMeasured on one core, and where no state can be had.
    """
    if cores()[0] == cores()[1]:
        raise NotMeasured("power: needs two cores, one for the server and one for the ring")
    log, run, meter = Log(say), _Run(), Meter(cores(), sys)
    for line in meter.missing:
        log.note(f"not to be had here: {line}")
    try:
        _probe(run)
        for number_of_round in range(options.rounds):
            for state in STATES:
                _window(state, number_of_round, options, meter, run, log)
                step()
        _probe(run)
    except KeyboardInterrupt:
        run.interrupted = True
        log.note("interrupted: what follows is what was measured until then")
    if not run.windows and not run.interrupted:
        raise NotMeasured("power: " + "; ".join(dict.fromkeys(log.notes)))
    return _section(options, run, log, meter)


def _probe(run: _Run) -> None:
    run.floors.append(stall_floor(FLOOR_S, cores()))
    run.probes_ns.append(core_to_core_ns(*cores()))


def _window(state: State, number_of_round: int, options: Options, meter: Meter, run: _Run, log: Log) -> None:
    try:
        window = measure_window(state, options.load, options.seconds, cores()[1], meter)
    except (NotMeasured, NoCpuTime, ProgramFailed) as error:
        log.note(f"{state.name}: not measured: {error}")
        return
    run.windows.append(window)
    if window.lost:
        log.note(f"{state.name}: {window.lost} datagrams lost in round {number_of_round + 1}")
    log.say(f"round {number_of_round + 1}, {state.name}: {_words(window)}")


def _words(window: Window) -> str:
    taken = window.taken
    watts = "" if taken.package_w is None else f"{number(taken.package_w)} W, "
    busy = ", ".join(f"core {core} {shares.total:.0%} busy" for core, shares in taken.shares.items())
    return f"{watts}{busy}"


def _section(options: Options, run: _Run, log: Log, meter: Meter) -> Section:
    return Section(
        name="power",
        title="Power",
        about=ABOUT,
        command=command(options),
        headlines=headlines(run.windows, meter.has_energy),
        tables=[states_table(run.windows), work_table(run.windows, cores()), published_table(run.windows)],
        conditions=conditions_of(run.probes_ns, run.floors),
        notes=list(dict.fromkeys(log.notes)),
        interrupted=run.interrupted,
        data={
            "options": asdict(options),
            "cores": {"ring": cores()[0], "server": cores()[1]},
            "windows": [asdict(window) for window in run.windows],
        },
    )

# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench interval`: inter-packet times of every instrument, nominal beside measured; the paper's Figure 11.

Between a paced sender and a receiver that stamps each datagram, DPDK and the kernel's sockets by turns; or, of a
running machine, from the stamps that the server put into the records of its streams.
"""

from collections.abc import Callable

from ringmaster.bench.carried import place
from ringmaster.bench.interval_run import Options, Report, begin, run_once
from ringmaster.bench.interval_section import section, words
from ringmaster.bench.log import Log, NotMeasured, attempt
from ringmaster.report.conditions import core_to_core_ns, stall_floor
from ringmaster.report.section import Section

__all__ = ["Options", "measure", "steps"]

FLOOR_S = 0.5


def steps(options: Options) -> int:
    """As often as measure() calls its `step`, at most."""
    return len(options.kinds) * (1 + options.rounds)


def measure(options: Options, say: Callable[[str], None], step: Callable[[], None]) -> Section:
    """Measures all kinds. An interrupt ends it early and in good order. Raises NotMeasured where nothing can be had."""
    log = Log(say)
    report = Report(options, place(options.cores, options.links), notes=log.notes)
    try:
        _probe(report)
        for kind in options.kinds:
            _begin(kind, report, log)
            step()
        for number in range(options.rounds):
            _round(f"{number + 1}/{options.rounds}", report, log, step)
        _probe(report)
    except KeyboardInterrupt:
        report.interrupted = True
        log.note("interrupted: what follows is what was measured until then")
    if not report.interrupted and not any(kind.runs for kind in report.kinds):
        raise NotMeasured("interval: " + "; ".join(dict.fromkeys(log.notes)))
    report.notes[:] = list(dict.fromkeys(report.notes))
    return section(report)


def _probe(report: Report) -> None:
    cores = report.cores
    report.floors.append(stall_floor(FLOOR_S, (cores.sender, *cores.receivers)))
    report.probes_ns.append(core_to_core_ns(cores.sender, cores.receivers[0]))


def _begin(kind: str, report: Report, log: Log) -> None:
    measured = attempt(log, lambda: begin(kind, report))
    if measured is None:
        return
    report.kinds.append(measured)
    if measured.rate_hz < report.options.rate_hz:
        log.note(
            f"{kind}: takes {measured.flat_out.received_pps / 1e6:.3g} Mpps flat out, so it was given "
            f"{measured.rate_hz:,.0f} Hz of {report.options.rate_hz:,.0f} Hz, which it can hold"
        )


def _round(name: str, report: Report, log: Log, step: Callable[[], None]) -> None:
    for kind in report.kinds:
        run = attempt(log, lambda kind=kind: run_once(kind, report))  # type: ignore[misc]
        if run is not None:
            kind.runs.append(run)
            log.say(f"{name} {kind.kind}: {words(kind, run)}")
        step()

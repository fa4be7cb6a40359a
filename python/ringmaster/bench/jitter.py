# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench jitter`: groups of datagrams at a fixed rate, and how evenly they arrive; the poster's measurement.

DPDK and the kernel's sockets take turns in rounds, and in every round a bare loop on the clock watches the same cores:
what it was late by is the machine's, what is beyond it the software's.
"""

from collections.abc import Callable

from ringmaster.bench import bare_clock
from ringmaster.bench.carried import place
from ringmaster.bench.jitter_run import Options, Report, begin, take_turn
from ringmaster.bench.jitter_section import section
from ringmaster.bench.log import Log, NotMeasured, attempt
from ringmaster.report.conditions import core_to_core_ns
from ringmaster.report.section import Section

__all__ = ["Options", "measure", "steps"]


def steps(options: Options) -> int:
    """As often as measure() calls its `step`, at most."""
    return len(options.kinds) * (1 + options.rounds) + options.rounds


def measure(options: Options, say: Callable[[str], None], step: Callable[[], None]) -> Section:
    """Measures all kinds. An interrupt ends it early and in good order. Raises NotMeasured without two cores."""
    log = Log(say)
    report = Report(options, place(options.cores, options.links), notes=log.notes)
    try:
        for kind in options.kinds:
            _begin(kind, report, log)
            step()
        for number in range(options.rounds if report.kinds else 0):
            _round(f"{number + 1}/{options.rounds}", report, log, step)
    except KeyboardInterrupt:
        report.interrupted = True
        log.note("interrupted: what follows is what was measured until then")
    if not report.interrupted and not any(kind.turns for kind in report.kinds):
        raise NotMeasured("jitter: " + "; ".join(dict.fromkeys(log.notes)))
    report.notes[:] = list(dict.fromkeys(report.notes))
    return section(report)


def _begin(kind: str, report: Report, log: Log) -> None:
    measured = attempt(log, lambda: begin(kind, report))
    if measured is None:
        return
    report.kinds.append(measured)
    mpps = measured.flat_out.received_pps / 1e6
    log.say(f"{kind}: flat out {mpps:.3g} Mpps")
    if measured.links < report.options.links:
        log.note(
            f"{kind}: takes {mpps:.3g} Mpps flat out: it was given {measured.links} of the {report.options.links} links"
        )


def _round(name: str, report: Report, log: Log, step: Callable[[], None]) -> None:
    """The bare loop, then each kind."""
    cores = report.cores
    report.probes_ns.append(core_to_core_ns(cores.sender, cores.receivers[0]))
    report.bare.append(bare_clock.look(report.options.seconds, (cores.sender, *cores.receivers)))
    step()
    for kind in report.kinds:
        turn = attempt(log, lambda kind=kind: take_turn(kind, report))  # type: ignore[misc]
        if turn is not None:
            kind.turns.append(turn)
            log.say(f"{name} {kind.kind}: {turn.words}")
        step()

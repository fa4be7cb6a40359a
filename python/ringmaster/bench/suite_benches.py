# SPDX-License-Identifier: Apache-2.0
"""The benches of the suite, each with its share of the time and how it fits into that."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from ringmaster.bench.suite import Bench, Planned
from ringmaster.programs.cores import cores
from ringmaster.report.section import Section

AROUND_S = 2.0
"""What a step takes besides the time that is measured: programs start, links come up, the machine is probed."""
SHORTEST_S, LONGER = 0.3, 5.0
"""A step is at least so long, and at most so many times what the bench would choose by itself."""


def fitted(options: Any, steps: Callable[[Any], int], seconds: float) -> Any:
    """The same options with shorter, or longer, steps; with fewer rounds only where steps would be too short."""
    usual_s, rounds = options.seconds, options.rounds
    for fewer in range(rounds, 0, -1):
        chosen = replace(options, rounds=fewer)
        each_s = seconds / max(1, steps(chosen)) - AROUND_S
        if each_s >= SHORTEST_S:
            return replace(chosen, seconds=round(min(each_s, LONGER * usual_s), 1))
    return replace(options, rounds=1, seconds=SHORTEST_S)


def _qualify(name: str, share: float) -> Bench:
    """A module of ringmaster.bench, with the options that it has by itself."""

    def plan(seconds: float) -> Planned:
        module = import_module(f"ringmaster.bench.{name}")
        return _planned(module, module.Options(), seconds)

    return Bench(name, share, plan)


def _planned(module: Any, options: Any, seconds: float) -> Planned:
    chosen = fitted(options, module.steps, seconds)
    return Planned(module.steps(chosen), lambda say, step: module.measure(chosen, say, step))


def _throughput(seconds: float) -> Planned:
    """Fewer sizes and kinds, and a coarse search for the highest rate without loss."""
    from ringmaster.bench import throughput
    from ringmaster.bench.throughput_window import Cores

    sender, receiver = cores()
    options = throughput.Options(
        cores=Cores((sender,), receiver),
        sizes=(18, 256, 1472, 8972),
        kinds=("memif", "af_xdp", "udp", "raw"),
        zero_loss=(64,),
        trial_seconds=0.5,
        resolution=0.1,
    )
    return _planned(throughput, options, seconds)


def _windows(seconds: float, each_s: float) -> int:
    """As many as fit."""
    return max(1, min(12, int(seconds / each_s)))


def _ingest(seconds: float) -> Planned:
    from ringmaster.bench.ingest import Options, measure
    from ringmaster.bench.tables import section_of

    options = Options(("windows", "load"), _windows(0.7 * seconds, 6.0), 0.5, round(max(2.0, 0.1 * seconds)), 3)
    return Planned(len(options.parts), lambda say, step: section_of(measure(options, say, step)))


def _setpoints(seconds: float) -> Planned:
    from ringmaster.bench.setpoints import Options, measure, steps

    options = Options(windows=_windows(seconds, 20.0), seconds=0.3)
    return Planned(steps(options), lambda say, step: measure(options, say, step).section())


def _latency(seconds: float) -> Planned:
    from ringmaster.bench.latency import Options, measure, steps

    options = Options(seconds=max(1.0, min(10.0, round(seconds / 2 - 3.0, 1))))
    return Planned(steps(), lambda say, step: measure(options, say, step).section())


def _parameters(seconds: float) -> Planned:
    from ringmaster.bench.parameters import Options, measure

    options = Options(_windows(seconds, 4.0), 0.3)
    return Planned(options.windows, lambda say, step: measure(options, say, step).section())


def _feedback(seconds: float) -> Planned:
    from ringmaster.bench.feedback import Options, measure

    windows = _windows(seconds, 15.0)
    options = Options(20_000 * windows, windows)
    return Planned(windows, lambda say, step: measure(options, say, step).section())


LOOP_STARTS_S = 40.0
"""Programs start, the rate is found, and the stall floor is looked at twice."""


def _loop(seconds: float) -> Planned:
    from ringmaster.bench.loop import Options, measure, steps

    options = Options(seconds=max(5.0, min(60.0, round(seconds - LOOP_STARTS_S))))
    return Planned(steps(options), lambda say, step: measure(options, say, step))


TWIN_FUNCTIONS = ("linopt6", "refresh", "ohmi_envelope", "tracking")


def _twin(_seconds: float) -> Planned:
    from ringmaster.bench.twin import measure
    from ringmaster.bench.twin_table import section_of

    def run(say: Callable[[str], None], _step: Callable[[], None]) -> Section:
        report = measure([], TWIN_FUNCTIONS, 3, say)
        return section_of(report, f"ringmaster bench twin --functions {','.join(TWIN_FUNCTIONS)} --rounds 3")

    return Planned(1, run)


SUITE = (
    _qualify("rtt", 150),
    _qualify("jitter", 110),
    Bench("throughput", 200, _throughput),
    _qualify("interval", 50),
    _qualify("power", 80),
    Bench("ingest", 60, _ingest),
    Bench("setpoints", 50, _setpoints),
    Bench("latency", 40, _latency),
    Bench("parameters", 30, _parameters),
    Bench("feedback", 40, _feedback),
    Bench("loop", 60, _loop),
    Bench("twin", 30, _twin),
)
"""Shares are seconds of a quarter of an hour."""

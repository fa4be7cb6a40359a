# SPDX-License-Identifier: Apache-2.0
"""End to end over memif: the highest rate without loss, ours and testpmd's, one sender core and one receiver core."""

from collections.abc import Iterator

from ringmaster.bench.loads import Replayed
from ringmaster.bench.log import Log
from ringmaster.bench.receivers import RINGMASTER, TESTPMD, has_testpmd
from ringmaster.bench.windows import Window, measure_window

FEW = 8
"""Instruments that send at the turn rate, in the load that Elettra had."""
MANY = 96
LONG = Replayed(FEW, lanes=12)
SHORT = Replayed(FEW, lanes=1)
"""62 bytes: a native datagram has 58 and whole lanes."""
LONG_OF_MANY = Replayed(MANY, lanes=12)


def order(count: int) -> list[tuple[str, str]]:
    """So many pairs, in which ours comes first and second by turns: what drifts favours neither."""
    return [(RINGMASTER, TESTPMD) if i % 2 == 0 else (TESTPMD, RINGMASTER) for i in range(count)]


def run(count: int, seconds: float, tsc_hz: float, log: Log) -> Iterator[Window]:
    """Measures `count` pairs of windows of each frame size, and of the long ones with many instruments."""
    if not has_testpmd():
        log.note("dpdk-testpmd is not installed (Debian package dpdk-dev): no peer beside our figures")
    for load in (LONG, SHORT, LONG_OF_MANY):
        for number, pair in enumerate(order(count)):
            for receiver in pair:
                if receiver == TESTPMD and not has_testpmd():
                    continue
                window = measure_window(receiver, load, 0.0, seconds, tsc_hz)
                log.say(f"{load.name} {number + 1}/{count} {words(window)}")
                yield window


def words(window: Window) -> str:
    """A window on one line."""
    lost = "".join(f"  {count} {name}" for name, count in (window.faults or {}).items())
    why = "disturbed" if window.whole else "no whole core"
    discarded = "" if window.counts else f"  discarded: {why}"
    return (
        f"{window.receiver:10s} {window.rate_pps / 1e6:6.2f} Mpps  {window.distance} "
        f"({window.core_to_core_ns:.0f} ns)  busy {window.busy_share:.2f}, {window.busy_ns_per_packet:.1f} ns a packet"
        f"{lost}{discarded}"
    )

# SPDX-License-Identifier: Apache-2.0
"""Adaptive polling: what waiting between two polls spares, and that it loses nothing.

One instrument at its full 1.157 MHz, and a tenth of the Elettra load, each with the governor and without. Every record
carries the TSC of its arrival, read once per burst: records of one burst have the same, so that equal neighbours tell
the sizes of bursts, and the time from one record to the next is 0 within a burst. Without the governor it is the
sender's own pacing, as far as the machine lets both run; its mean is the nominal 864 ns either way.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from ringmaster.bench.loads import Ring, elettra, single
from ringmaster.bench.measurement import Turn
from ringmaster.bench.receivers import Running, core_gone, observe, running
from ringmaster.bench.setups import TURN_RATE_HZ, Mapping
from ringmaster.bench.windows import RINGMASTER, WHOLE_CORE

LOW_LOAD = 0.1
RECORDS = 1 << 18
"""That are read of one stream: a quarter of a second at the full turn rate."""
STREAM = "bpm01/turn"
"""Of either load."""
PERCENTS = (1, 10, 50, 90, 99, 99.9, 100)


@dataclass(frozen=True)
class Row:
    """One load, with the governor or without."""

    load: str
    governor: bool
    rate_pps: float
    busy_share: float
    """Of the core's time: turns of the duty cycle that had packets."""
    waited_share: float
    """Of the core's time: waits on purpose."""
    packets_per_burst: float
    packets_per_busy_loop: float
    wait_ns: int
    """That the governor had settled on in the end."""
    burst_sizes: dict[str, float] | None
    """Percentiles of the instrument's records per burst; None where bursts are of many instruments."""
    between_ns: dict[str, float]
    """Percentiles of the time from one of its records to the next."""
    in_one_burst: float
    """Share of those that were 0: both came with one burst."""
    mean_ns: float
    nominal_ns: float
    faults: dict[str, int]
    """What was not received in its place, by counter: see receivers.faults_of."""
    whole_core: bool
    """Whether sender and receiver had their cores to themselves."""

    @property
    def lost(self) -> int:
        """All faults together."""
        return sum(self.faults.values())

    @property
    def words(self) -> str:
        """On one line."""
        return (
            f"polling, {self.load}, governor {'on' if self.governor else 'off'}: busy {self.busy_share:.2f}, "
            f"{self.packets_per_burst:.2f} packets per burst, {self.lost} lost {self.faults or ''}"
            f"{'' if self.whole_core else '  (no whole core)'}"
        )


def percentiles(values: npt.NDArray[np.float64]) -> dict[str, float]:
    """By name, from "p1" to "p100"; NaN of nothing."""
    if len(values) == 0:
        return {f"p{percent:g}": float("nan") for percent in PERCENTS}
    return {
        f"p{percent:g}": float(value) for percent, value in zip(PERCENTS, np.percentile(values, PERCENTS), strict=True)
    }


def burst_sizes(tsc: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Records that came together, by equal TSC of neighbours; the first and the last may be cut and are left out."""
    ends = np.flatnonzero(np.diff(tsc)) + 1
    return np.diff(ends).astype(np.float64)


def between_ns(tsc: npt.NDArray[np.uint64], tsc_hz: float) -> npt.NDArray[np.float64]:
    """From one record to the next; the TSC of neighbours never falls."""
    return np.diff(tsc).astype(np.float64) / tsc_hz * 1e9


def _arrivals(run: Running, stream: str) -> npt.NDArray[np.uint64]:
    """TSC of the newest records that lie without a gap, oldest first."""
    assert run.ws is not None
    window = run.ws.streams[stream].latest(RECORDS)
    bad = np.flatnonzero(~window.ok)
    return window.tsc[bad[-1] + 1 if len(bad) else 0 :]


def measure(load: Ring, governor: bool, turn_rate_hz: float, seconds: float, tsc_hz: float) -> Row:
    """One run."""
    with running(RINGMASTER, load, turn_rate_hz) as run:
        seen = observe(run, seconds)
        tsc = _arrivals(run, STREAM)
        sent, faults = run.finish()
    gone = core_gone(seen)
    ticks = max(1, gone["busy_ticks"] + gone["idle_ticks"])
    between = between_ns(tsc, tsc_hz)
    alone = load.packets_per_turn == 1
    return Row(
        load=load.name,
        governor=governor,
        rate_pps=sent.rate_pps,
        busy_share=gone["busy_ticks"] / ticks,
        waited_share=gone["wait_ticks"] / ticks,
        packets_per_burst=gone["packets"] / max(1, gone["bursts"]),
        packets_per_busy_loop=gone["packets"] / max(1, gone["busy_loops"]),
        wait_ns=next(totals["wait_ns"] for name, totals in seen.after.items() if name.startswith("core/")),
        burst_sizes=percentiles(burst_sizes(tsc)) if alone else None,
        between_ns=percentiles(between),
        in_one_burst=float(np.mean(between == 0)) if len(between) else float("nan"),
        mean_ns=float(between.mean()) if len(between) else float("nan"),
        nominal_ns=1e9 / turn_rate_hz,
        faults=faults or {},
        whole_core=min(seen.shares) >= WHOLE_CORE,
    )


def turns(seconds: float, tsc_hz: float) -> Iterator[Turn]:
    """Both loads, each with the governor (the server's default) and without."""
    off: Mapping = {"target_packets": 0}
    for make, rate_hz in ((single, TURN_RATE_HZ), (elettra, LOW_LOAD * TURN_RATE_HZ)):
        for governor in (True, False):
            load = make(None if governor else off)
            yield Turn(load.name, partial(measure, load, governor, rate_hz, seconds, tsc_hz))

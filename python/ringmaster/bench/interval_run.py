# SPDX-License-Identifier: Apache-2.0
"""The parts of the interval measurement: what is sent, the rate that a kind can hold, and what it came to."""

from dataclasses import dataclass, field

from ringmaster.bench.carried import Carried, Cores, Traffic, carry
from ringmaster.bench.links import linked, mtu_of
from ringmaster.report.conditions import StallFloor
from ringmaster.report.verdicts import Conditions, conditions_of

TURN_RATE_HZ = 1e9 / 864
"""Of the paper's Figure 11."""
FLAT_OUT_S = 1.0
HELD_SHARE = 0.6
"""Of what a kind carries flat out: at more its queues fill up whenever the machine stalls."""


@dataclass(frozen=True)
class Options:
    """What is sent, over what, how often."""

    instruments: int = 7
    """Of all links together: seven stay below what two cores carry at the full turn rate."""
    rate_hz: float = round(TURN_RATE_HZ)
    links: int = 1
    size: int = 64
    """Bytes of payload."""
    seconds: float = 3.0
    rounds: int = 3
    kinds: tuple[str, ...] = ("memif", "udp")
    cores: tuple[int, ...] = ()
    """The sender's, then the receivers'; none: the first that this process may use."""
    inject_jitter_us: float = 0.0
    inject_drop_every: int = 0
    endpoints: tuple[tuple[str, str], ...] = ()
    """Links of one's own, left and right, as many of each kind; else the bench makes some."""

    @property
    def group(self) -> int:
        """Datagrams on a link in a cycle."""
        return self.instruments // self.links


@dataclass
class Measured:
    """One kind, all of it."""

    kind: str
    rate_hz: float
    """That it was given: as asked for, or as much as it can hold."""
    flat_out: Carried
    runs: list[Carried] = field(default_factory=list)

    @property
    def nominal_ns(self) -> float:
        """From one datagram of an instrument to the next."""
        return 1e9 / self.rate_hz


@dataclass
class Report:
    """What was measured so far."""

    options: Options
    cores: Cores
    kinds: list[Measured] = field(default_factory=list)
    floors: list[StallFloor] = field(default_factory=list)
    probes_ns: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def conditions(self) -> Conditions:
        """Of the machine."""
        shares = [share for kind in self.kinds for run in kind.runs for share in run.core_shares]
        return conditions_of(self.probes_ns, self.floors, shares)

    def carry(self, kind: str, traffic: Traffic, seconds: float) -> Carried:
        """Over all links of a kind."""
        with linked(kind, self.options.links, mtu_of(traffic.size), self.options.endpoints) as pair:
            return carry(pair, self.cores, traffic, seconds)


def begin(kind: str, report: Report) -> Measured:
    """What the kind carries flat out, and the rate it is given by that. Raises NotMeasured."""
    options = report.options
    flat_out = report.carry(kind, Traffic(options.group, 0.0, options.size), FLAT_OUT_S)
    most_hz = HELD_SHARE * flat_out.received_pps / options.instruments
    return Measured(kind, min(options.rate_hz, rounded(most_hz)), flat_out)


def rounded(rate_hz: float) -> float:
    """Down to two digits: a rate that another run can be given."""
    digits = len(str(int(rate_hz))) - 2
    return float(int(rate_hz) // 10**digits * 10**digits) if digits > 0 else max(1.0, rate_hz)


def run_once(kind: Measured, report: Report) -> Carried:
    """One of its rounds. Raises NotMeasured."""
    options = report.options
    traffic = Traffic(options.group, kind.rate_hz, options.size, options.inject_jitter_us, options.inject_drop_every)
    return report.carry(kind.kind, traffic, options.seconds)

# SPDX-License-Identifier: Apache-2.0
"""What `ringmaster bench rtt` may be asked."""

import shlex
from dataclasses import dataclass

from ringmaster.bench.links import KINDS, LEAST_BYTES, mtu_of, way_of

LOADS = ("idle", "loaded")
MOST_PROBES = 20_000_000
"""In a round: half a gigabyte of time stamps."""


@dataclass(frozen=True)
class Options:
    """What to measure, and for how long."""

    rate_hz: float = 5_000.0
    """Probes a second: seldom enough that each is back before the next, so that who sleeps for it does sleep."""
    seconds: float = 2.0
    """Of a round, for each way and load."""
    rounds: int = 3
    size: int = LEAST_BYTES
    """Bytes of payload; above 1472 the links are jumbo."""
    kinds: tuple[str, ...] = KINDS
    """Of links that the bench makes; without meaning where `ends` are given."""
    loads: tuple[str, ...] = LOADS
    endpoints: tuple[tuple[str, str], ...] = ()
    """Links of one's own, left and right: two cards with a cable."""
    warm_up_s: float = 0.2
    delay_us: float = 0.0
    """Injected by the reflector, for tests."""
    drop_every: int = 0
    """The reflector keeps every so many-th for itself, for tests."""

    @property
    def mtu(self) -> int:
        """That the size needs."""
        return mtu_of(self.size)

    @property
    def ways(self) -> tuple[str, ...]:
        """Names of what is measured by turns; a number tells those of one kind apart."""
        kinds = [way_of(left) for left, _ in self.endpoints]
        before = [kinds[:place].count(kind) for place, kind in enumerate(kinds)]
        names = tuple(f"{kind} {count + 1}" if count else kind for kind, count in zip(kinds, before, strict=True))
        return names or self.kinds

    @property
    def command(self) -> str:
        """That measures this again."""
        words = ["ringmaster", "bench", "rtt", "--rate", f"{self.rate_hz:.10g}", "--seconds", f"{self.seconds:g}"]
        words += ["--rounds", str(self.rounds), "--size", str(self.size), "--loads", ",".join(self.loads)]
        for left, right in self.endpoints:
            words += ["--left", left, "--right", right]
        words += [] if self.endpoints else ["--kinds", ",".join(self.kinds)]
        faults = (("--delay-us", self.delay_us), ("--drop-every", self.drop_every))
        words += [word for name, value in faults if value for word in (name, f"{value:g}")]
        return shlex.join(words)

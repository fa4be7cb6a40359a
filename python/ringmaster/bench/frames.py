# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench frames`: from a camera's last packet to the application, and how much one core carries."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from ringmaster.bench import frames_tables
from ringmaster.bench.frames_assembly import NO_SPEAD2, SPEAD2, STREAMS, Assembled, Heaps, assembled, has_spead2, heaps
from ringmaster.bench.frames_run import TRANSPORTS, Window, measure
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import PartByPart, Turn, windows_within
from ringmaster.bench.options import COUNT, Finite, SomeOf, option
from ringmaster.bench.stress import loaded
from ringmaster.programs.cores import allowed_cores
from ringmaster.report.section import Table
from ringmaster.report.verdicts import Headline

PARTS = ("latency", "cameras", "assembly")
LOADS = ("idle", "loaded")
CAMERAS = 8
MTUS = (1500, 9000)
AROUND_S = 1.5
"""What a window takes beside its seconds."""


@dataclass(frozen=True)
class Options:
    """What to measure, and for how long."""

    parts: tuple[str, ...] = option(PARTS, "", SomeOf(PARTS), metavar="PART,…")
    transports: tuple[str, ...] = option(TRANSPORTS, "Of the part latency.", SomeOf(TRANSPORTS), metavar="KIND,…")
    loads: tuple[str, ...] = option(LOADS, "Of the part latency.", SomeOf(LOADS), metavar="LOAD,…")
    windows: int = option(5, "Of each figure; the median and its spread are theirs.", COUNT)
    seconds: float = option(4.0, "Length of a window.", Finite(0.2))


class CameraFrames(PartByPart[Options]):
    """Measure how long a camera's frame takes from its last packet to the application, and what a core carries.

    Frames of 2.5 megapixels of 12 bits, 30 a second. One core has the receiver; on the other one thread is both camera
    and application. Twice: from the arrival of the packet that closes the frame, and from its sending, with the way
    through the kernel. Then eight cameras at once, and what one core puts together beside a copy of the same bytes and
    beside spead2. Ctrl-C prints what was measured so far.
    """

    name, title, options_type = "frames", "Frames of cameras", Options
    examples = ("", "--json > frames.json", "--parts latency --transports udp,memif --loads idle", "--parts assembly")
    meanings = """\b
Parts:
  latency   one camera: from its last packet to the frame's lease, by transport, idle and loaded
  cameras   eight cameras over memif, 900 MB/s: lost frames
  assembly  one core, packets in memory: beside a streaming copy, and beside spead2

"""
    two_cores = "one for the receiver and one for the cameras and the application"
    about = (
        "Frames of 2.5 megapixels of 12 bits (3.75 MB), 30 a second of each camera, whose packets go evenly over half "
        "of a period. A receiver on one core; on the other a thread that sends and, between packets, asks for the "
        "frame. The time is to the application's having the lease. The stall floor is what any program here waits."
    )

    @classmethod
    def steps(cls, options: Options) -> int:
        """A step for each window."""
        each = {
            "latency": len(options.transports) * len(options.loads),
            "cameras": len(MTUS),
            "assembly": 1 + (len(MTUS) if has_spead2() else 0),
        }
        return options.windows * sum(each[part] for part in options.parts)

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """As many windows of a second as fit."""
        return Options(windows=windows_within(seconds, cls.steps(Options(windows=1)) * (1.0 + AROUND_S)), seconds=1.0)

    @contextmanager
    def around(self) -> Iterator[None]:
        """Says what is missing."""
        if "assembly" in self.options.parts and not has_spead2():
            self.note(NO_SPEAD2)
        with super().around():
            yield
        windows: list[Window] = [*self.of("latency"), *self.of("cameras")]
        if windows and not any(row.whole for row in windows):
            self.note("no window counts: others had the cores, see what the discarded ones say")

    def turns_of(self, part: str) -> Iterable[Turn]:
        """Windows; the transports take turns under each load."""
        if part == "latency":
            return self._latencies()
        return self._cameras() if part == "cameras" else self._assemblies()

    def _latencies(self) -> Generator[Turn]:
        loads = list(self.options.loads)
        for number in range(self.options.windows):
            for load in loads.copy():
                try:
                    with loaded(allowed_cores()) if load == "loaded" else nullcontext():
                        for transport in self.options.transports:
                            take = partial(measure, transport, load, 1, MTUS[0], self.options.seconds)
                            yield Turn(f"{transport}, {load}", take, self._of(number))
                except NotMeasured as error:
                    loads.remove(load)
                    self.note(f"not measured: {error}")

    def _cameras(self) -> Iterator[Turn]:
        for number in range(self.options.windows):
            for mtu in MTUS:
                take = partial(measure, "memif", "idle", CAMERAS, mtu, self.options.seconds)
                yield Turn(f"MTU {mtu}", take, self._of(number))

    def _assemblies(self) -> Iterator[Turn]:
        for number in range(self.options.windows):
            yield Turn("assembly", assembled, self._of(number))
            if has_spead2():
                for mtu in MTUS:
                    yield Turn(f"{SPEAD2}, MTU {mtu}", partial(heaps, mtu), self._of(number))

    def _of(self, number: int) -> str:
        return f"{number + 1}/{self.options.windows} "

    def core_shares(self) -> list[float]:
        """Of receivers that poll, with nothing beside them."""
        windows: list[Window] = [*self.of("latency"), *self.of("cameras")]
        return [row.receiver_share for row in windows if row.load == "idle" and row.transport != "udp"]

    @property
    def looks(self) -> list[Assembled]:
        """At our assembly."""
        return [row for row in self.of("assembly") if isinstance(row, Assembled)]

    def heaps(self, mtu: int) -> list[Heaps]:
        """At spead2's."""
        return [row for row in self.of("assembly") if isinstance(row, Heaps) and row.mtu == mtu]

    def headlines(self) -> list[Headline]:
        """Those with a target first."""
        return frames_tables.headlines(self)

    def tables(self) -> list[Table]:
        """The source's table in its own form, the same with the kernel's part, eight cameras, one core."""
        return frames_tables.tables(self)

    def data(self) -> dict[str, Any]:
        """Every window."""
        return {"rows": {part: [asdict(row) for row in self.of(part)] for part in PARTS}, "streams": list(STREAMS)}

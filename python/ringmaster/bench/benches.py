# SPDX-License-Identifier: Apache-2.0
"""All measurements, in the order of the suite. A line here is a command of `ringmaster bench`, and a part of its suite.

None is imported before it is asked for: `ringmaster bench --help` shall not wait for NumPy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ringmaster.programs.threads import keep_to_one_thread

if TYPE_CHECKING:
    from ringmaster.bench.measurement import Measurement, Say, Step
    from ringmaster.report.section import Section


@dataclass(frozen=True)
class Bench:
    """One of them."""

    name: str
    place: str
    """Its module in this package, and its class there."""
    share: float
    """Of the suite's time: seconds in a quarter of an hour."""
    about: str
    """The first sentence of its help."""

    def plan(self, seconds: float) -> "tuple[int, Callable[[Say, Step], Section]]":
        """As much of it as takes about so long: how many steps, and what measures it. Raises NotMeasured, or
        ModuleNotFoundError.
        """
        kind = self.load()
        options = kind.fitted(seconds)
        return kind.steps(options), lambda say, step: kind(options, say, step).run()

    def load(self) -> "type[Measurement[Any, Any]]":
        """The class. NumPy keeps to one thread: others would share the one core that is measured on."""
        keep_to_one_thread()
        module, _, name = self.place.partition(":")
        return getattr(import_module(f"ringmaster.bench.{module}"), name)  # type: ignore[no-any-return]


BENCHES = (
    Bench("rtt", "rtt:RoundTrips", 75,
          "Measure the round trip time between two processes on two cores: DPDK beside the kernel's sockets."),
    Bench("jitter", "jitter:Jitter", 55,
          "Measure how evenly groups of datagrams arrive: DPDK beside the kernel's sockets, as the poster does."),
    Bench("throughput", "throughput:Throughput", 55,
          "Measure throughput, datagram rate and CPU load by kind over the size of the datagrams."),
    Bench("interval", "interval:Interval", 50,
          "Measure the inter-packet time of every instrument, nominal beside measured: Figure 11 of the paper."),
    Bench("power", "power:Power", 55,
          "Measure what the machine takes: idle and loaded, adaptive polling on and off."),
    Bench("ingest", "ingest:Ingest", 50,
          "Measure what one receive core costs and carries, beside dpdk-testpmd behind the same sender."),
    Bench("frames", "frames:CameraFrames", 30,
          "Measure how long a camera's frame takes from its last packet to the application, and what a core carries."),
    Bench("generate", "generate:PacketGenerator", 20,
          "Measure how fast one core generates packets, beside dpdk-testpmd, and how well it keeps a pace."),
    Bench("setpoints", "setpoints:Setpoints", 50,
          "Measure setpoints from an application's setpoint vector to the link: guard, rate, latency."),
    Bench("forward", "forward:Forward", 30,
          "Measure packets a second through one forwarding core, beside testpmd's `macswap`, over memif."),
    Bench("latency", "latency:Latency", 40,
          "Measure end to end: a square wave on one setpoint, seen back in the data of a BPM."),
    Bench("parameters", "parameters:Parameters", 30,
          "Measure what a parameter costs: to read, to write, to be seen by another core, to be set by its owner."),
    Bench("feedback", "feedback:OrbitFeedback", 40,
          "Measure the orbit feedback: from the last BPM seen to the setpoint vector."),
    Bench("loop", "loop:ClosedLoop", 50,
          "Close the orbit feedback on a living machine, and count the cycles that it missed."),
    Bench("standby", "standby:Standby", 30,
          "Let faults befall a pair of servers, simulated and real, and judge what the chains obey."),
    Bench("gateway", "gateway:Gateway", 40,
          "Measure what clients of the gateways get beside plain servers, and what the receive core does more."),
    Bench("record", "record:Record", 25,
          "Measure how fast the recorder writes on one core, beside fio's direct writes to the same disk."),
    Bench("archive", "archive_queries:ArchiveQueries", 20,
          "Measure questions to a day of reductions in an archive, with a cold cache, beside h5py."),
    Bench("twin", "twin:TwinBesidePyAt", 25,
          "Measure the twin beside pyAT: same lattice, one core, one process, by turns."),
    Bench("bba", "bba:BeamBasedAlignment", 20,
          "Measure the fast beam-based alignment beside the sequential one, on model rings with hidden offsets."),
    Bench("loco", "loco:Loco", 40,
          "Fit machines whose errors are known, correct them, and fit measured data."),
    Bench("follow", "follow:Follow", 20,
          "Measure models in step with a machine: updates per second, and how soon they answer, beside pyAT."),
    Bench("tune", "tune:Tune", 20,
          "Measure what the tune costs on one core, and how accurate it is, beside NAFF and FFT of others."),
    Bench("sequence", "sequence:SequenceSteps", 10,
          "Measure what a step of a sequence with 100 actions takes, and whether its bits are the same each time."),
    Bench("plan", "plan:PlannedRoles", 20,
          "Measure the load of two, four and eight receive roles beside what `ringmaster plan` predicts."),
)  # fmt: skip

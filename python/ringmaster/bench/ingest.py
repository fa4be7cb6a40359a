# SPDX-License-Identifier: Apache-2.0
"""What one receive core takes in: packets a second without loss, time per packet, latency to visible.

Two arrangements alternate in short windows, on the same two cores, behind the same sender: our server, and DPDK's own
`dpdk-testpmd` in `rxonly` mode, which counts packets and throws them away. The sender waits when the link is full, as
pause frames would make it, so whatever it has sent was taken.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic, sleep

from ringmaster.bench.conditions import Spread, busiest_share, class_of, core_to_core_ns, run_times_ns
from ringmaster.counters import lost, refused
from ringmaster.demo import DRAIN_S, FULL_TURN_RATE_HZ, LATENCY, WORKSPACE, adapted, cores, remove_workspace
from ringmaster.monitor import Totals
from ringmaster.programs import Program, attach_to
from ringmaster.workspace import Workspace

WHOLE_CORE = 0.95
"""A window counts when sender and receiver both had this share of their cores."""
SETTLE_S = 0.5


@dataclass(frozen=True)
class Window:
    """One window of one arrangement."""

    receiver: str
    """ "ringmaster" or "testpmd"."""
    rate_pps: float
    core_to_core_ns: float
    distance: str
    """The class of the window: near, far, or mixed; see conditions.class_of."""
    sender_share: float
    """Of its core that the sender had, 0–1."""
    receiver_share: float
    lost: int | None
    """Sent but never received, or lost, duplicate, late or refused; None where the receiver cannot tell."""
    busy_ns_per_packet: float | None
    busy_share: float | None
    latency_ns: dict[str, float] | None

    @property
    def counts(self) -> bool:
        """Whether both had their cores to themselves."""
        return min(self.sender_share, self.receiver_share) >= WHOLE_CORE


@dataclass(frozen=True)
class Report:
    """What a whole run came to. Figures of windows that count; rates are of the full speed of the link."""

    seconds_per_window: float
    windows: list[Window]
    zero_loss_pps: dict[str, Spread]
    """Ours, windows without loss, by class: near, far, mixed."""
    testpmd_pps: dict[str, Spread]
    """The peer's, by class."""
    ratio_to_testpmd: dict[str, float]
    """Of the medians, by class where both have windows."""
    busy_ns_per_packet: dict[str, Spread]
    """In the receive role: its whole time in turns of the duty cycle that had packets, the port's share included."""
    latency_ns: dict[str, float] | None
    """Arrival of a burst to its records being visible, at the turn rate of a ring (9 × 1.157 MHz)."""
    turn_rate_window: Window | None
    core_to_core_ns: Spread | None
    lost: int

    def as_json(self) -> dict[str, object]:
        """Plain dictionaries and numbers."""
        return asdict(self)


@contextmanager
def _server(directory: Path) -> Iterator[tuple[Program, Workspace | None]]:
    config = adapted("demo.yaml", directory, FULL_TURN_RATE_HZ, cores()[1])
    with ExitStack() as stack:
        stack.callback(remove_workspace, WORKSPACE)
        program = stack.enter_context(Program("ringmaster-server", "run", config))
        yield program, stack.enter_context(attach_to(WORKSPACE, program))


@contextmanager
def _testpmd(directory: Path) -> Iterator[tuple[Program, Workspace | None]]:
    core = cores()[1]
    socket = directory / "ring.sock"
    with Program(
        "dpdk-testpmd",
        *("--lcores", f"0@{core},1@{core}", "--no-pci", "--no-huge", "-m", "256", "--no-telemetry"),
        *("--file-prefix", directory.name),
        f"--vdev=net_memif0,role=server,socket={socket},socket-abstract=no",
        *("--", "--burst=64", "--txd=1024", "--rxd=1024", "--total-num-mbufs=16384", "--forward-mode=rxonly"),
        "--stats-period=3600",
    ) as program:
        while not socket.exists():
            program.check()
            sleep(0.02)
        yield program, None


RECEIVERS = {"ringmaster": _server, "testpmd": _testpmd}


def _counts(ws: Workspace) -> Totals:
    return {name: dict(block) for name, block in ws.counter_blocks.items()}


def _wrong(totals: Totals) -> int:
    """Everything that is not a datagram in its place."""
    streams = [block for name, block in totals.items() if name.startswith("stream/")]
    ports = [block for name, block in totals.items() if name.startswith("port/")]
    return sum(lost(block) + block["duplicate"] + block["late"] + refused(block) for block in streams) + sum(
        block["received"] - block["decoded"] for block in ports
    )


def _busy(before: Totals, after: Totals) -> tuple[float, float]:
    """Busy ticks per packet, and the busy share, of the one core of the server."""
    (name,) = (name for name in after if name.startswith("core/"))
    gone = {key: after[name][key] - before[name][key] for key in ("busy_ticks", "idle_ticks", "packets")}
    ticks = max(1, gone["busy_ticks"] + gone["idle_ticks"])
    return gone["busy_ticks"] / max(1, gone["packets"]), gone["busy_ticks"] / ticks


def _summary(sender: Program) -> dict[str, float]:
    """What the sender says of itself when it has ended: datagrams sent, and its sending time in seconds."""
    said = json.loads(sender.words.splitlines()[-1])
    return {name: float(said[name]) for name in ("sent", "seconds")}


def _missing(ws: Workspace, sent: float) -> int:
    """Datagrams that the sender counts and the server does not, once it has had time to take what was under way."""
    deadline = monotonic() + DRAIN_S
    while (missing := int(sent) - _received(ws)) > 0 and monotonic() < deadline:
        sleep(0.02)
    return missing


def _received(ws: Workspace) -> int:
    return sum(block["received"] for block in ws.counter_blocks.values() if block.set_name == "port")


def measure_window(receiver: str, turn_rate_hz: float, seconds: float) -> Window:
    """Starts receiver and sender, measures for some time, ends both."""
    before_ns = core_to_core_ns(*cores())
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ringmaster-bench-")))
        program, ws = stack.enter_context(RECEIVERS[receiver](directory))
        config = adapted("ring.yaml", directory, FULL_TURN_RATE_HZ, cores()[0])
        sender = stack.enter_context(
            Program("ringmaster-instruments", "run", config, "--turn-rate", f"{turn_rate_hz:.0f}", "--json")
        )
        sleep(SETTLE_S)
        program.check()
        sender.check()
        begin, times = monotonic(), (run_times_ns(sender.pid), run_times_ns(program.pid))
        counts = _counts(ws) if ws else {}
        latency = ws.histograms[LATENCY].read() if ws else None
        sleep(seconds)
        elapsed = monotonic() - begin
        shares = [
            busiest_share(before, run_times_ns(pid), elapsed)
            for before, pid in zip(times, (sender.pid, program.pid), strict=True)
        ]
        after = _counts(ws) if ws else {}
        latency_after = ws.histograms[LATENCY].read() if ws else None
        tsc_hz = ws.clock.read().tsc_hz if ws else float("nan")
        sender.stop()
        busy = _busy(counts, after) if ws else None
        summary = _summary(sender)
        wrong = _missing(ws, summary["sent"]) + _wrong(_counts(ws)) if ws else None
    after_ns = core_to_core_ns(*cores())
    return Window(
        receiver=receiver,
        rate_pps=summary["sent"] / summary["seconds"],
        core_to_core_ns=max(before_ns, after_ns),
        distance=class_of(before_ns, after_ns),
        sender_share=shares[0],
        receiver_share=shares[1],
        lost=wrong,
        busy_ns_per_packet=busy[0] / tsc_hz * 1e9 if busy else None,
        busy_share=busy[1] if busy else None,
        latency_ns=latency_after.since(latency).summary() if latency and latency_after else None,
    )


def measure(windows: int, seconds: float, progress: Callable[[str], None]) -> Report:
    """Alternates `windows` pairs at the full speed of the link, then looks once at the turn rate of a ring."""
    if shutil.which("dpdk-testpmd") is None:
        progress("dpdk-testpmd is not installed (Debian package dpdk): no peer beside our figures")
    done: list[Window] = []
    for number in range(windows):
        for receiver in RECEIVERS:
            if receiver == "testpmd" and shutil.which("dpdk-testpmd") is None:
                continue
            window = measure_window(receiver, 0.0, seconds)
            done.append(window)
            progress(
                f"{number + 1}/{windows} {receiver:10s} {window.rate_pps / 1e6:6.2f} Mpps  "
                f"{window.distance} ({window.core_to_core_ns:.0f} ns)"
                f"{'' if window.counts else '  discarded: no whole core'}"
            )
    paced = measure_window("ringmaster", FULL_TURN_RATE_HZ, seconds)
    return _report(seconds, done, paced)


def _report(seconds: float, windows: list[Window], paced: Window) -> Report:
    good = [window for window in windows if window.counts]
    ours = [window for window in good if window.receiver == "ringmaster"]
    peer = [window for window in good if window.receiver == "testpmd"]
    zero_loss = _by_class([window for window in ours if window.lost == 0], lambda window: window.rate_pps)
    testpmd = _by_class(peer, lambda window: window.rate_pps)
    return Report(
        seconds_per_window=seconds,
        windows=windows,
        zero_loss_pps=zero_loss,
        testpmd_pps=testpmd,
        ratio_to_testpmd={name: zero_loss[name].median / testpmd[name].median for name in zero_loss.keys() & testpmd},
        busy_ns_per_packet=_by_class(ours, lambda window: window.busy_ns_per_packet),
        latency_ns=paced.latency_ns,
        turn_rate_window=paced,
        core_to_core_ns=Spread.of([window.core_to_core_ns for window in windows]),
        lost=sum(window.lost or 0 for window in [*windows, paced]),
    )


def _by_class(windows: list[Window], figure: Callable[[Window], float | None]) -> dict[str, Spread]:
    """A figure's spread over the windows of each class that has any."""
    values: dict[str, list[float]] = {}
    for window in windows:
        value = figure(window)
        if value is not None:
            values.setdefault(window.distance, []).append(value)
    return {name: Spread.of(some) for name, some in sorted(values.items())}

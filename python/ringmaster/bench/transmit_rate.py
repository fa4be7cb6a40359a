# SPDX-License-Identifier: Apache-2.0
"""How many setpoint datagrams a second one core sends over memif, beside testpmd's `txonly`.

Behind each sender is the same receiver, which counts and discards (bench/discard.c), on the same link with as many
slots. Frames are of the same size. A pair is two adjacent windows of one class, in which sender and receiver had their
cores and which were not disturbed (windows.py has these words).

- "ringmaster": the shipped server. Its turns are so short that no cycle can be kept, so it sends as fast as it can; its
  supplies belong to the operator, and rest.
- "rows": guard, frames and port alone (bench/transmit_cost.c), with a whole new row for every supply in every cycle,
  which the guard judges value by value.
- "testpmd": dpdk-testpmd in mode `txonly`, whose frames are copies of one.
"""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from ringmaster.bench.log import Log, NotMeasured
from ringmaster.bench.receivers import has_testpmd
from ringmaster.bench.transmit_setups import flooding
from ringmaster.bench.windows import WHOLE_CORE, is_disturbed, of_one_class
from ringmaster.bench.workspace import own_workspace
from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.programs.program import START_S, Program, ProgramFailed
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import busiest_share, class_of, core_to_core_ns, run_times_ns
from ringmaster.report.headlines import Figure, of_all

RINGMASTER, ROWS, TESTPMD = "ringmaster", "rows", "testpmd"
CHAINS = 96
SUPPLIES = (10, 1)
"""Of each chain: what a machine has, and the shortest frame."""
HEADERS_BYTES = 14 + 20 + 8 + 32
SETTLE_S = 0.3
SLOTS_LOG2 = 12
"""Of the ring: what our ports take where nobody says another number."""
BEYOND_S = 40.0


def frame_bytes(supplies: int) -> int:
    """Of a chain's datagram, without FCS."""
    return HEADERS_BYTES + 4 * supplies


@dataclass(frozen=True)
class Window:
    """One window of one sender."""

    sender: str
    supplies: int
    frame_bytes: int
    rate_pps: float
    """As the receiver counts."""
    core_to_core_ns: float
    distance: str
    sender_share: float
    receiver_share: float
    sub_rates_pps: tuple[float, ...]

    @property
    def counts(self) -> bool:
        """Whether anything is made of it."""
        return min(self.sender_share, self.receiver_share) >= WHOLE_CORE and not is_disturbed(self.sub_rates_pps)


@dataclass(frozen=True)
class Pair:
    """Two adjacent windows, ours and testpmd's."""

    sender: str
    supplies: int
    distance: str
    ratio: float
    """Our rate to testpmd's."""


def pairs_of(windows: Sequence[Window]) -> list[Pair]:
    """Each of ours with the nearest of testpmd's, of the same frames and class: the one before or the one after it."""
    found = []
    for i, window in enumerate(windows):
        if window.sender == TESTPMD or not window.counts or window.distance == "mixed":
            continue
        near = [windows[j] for j in (i + 1, i - 1, i + 2, i - 2) if 0 <= j < len(windows)]
        peer = next((other for other in near if _comparable(window, other)), None)
        if peer is not None:
            found.append(Pair(window.sender, window.supplies, window.distance, window.rate_pps / peer.rate_pps))
    return found


def _comparable(ours: Window, other: Window) -> bool:
    same = other.supplies == ours.supplies and other.distance == ours.distance
    return other.sender == TESTPMD and other.counts and same


def ratios_of(windows: Sequence[Window], sender: str, supplies: int) -> list[float]:
    """Of pairs in one class."""
    return of_one_class([pair for pair in pairs_of(windows) if (pair.sender, pair.supplies) == (sender, supplies)])


@dataclass(frozen=True)
class Comparison:
    """One kind of frames in one class. Figures of windows that count."""

    supplies: int
    frame_bytes: int
    distance: str
    rates_pps: dict[str, Figure | None]
    """By sender."""
    ratios: dict[str, Figure | None]
    """Ours to testpmd's, of pairs."""
    left_out: int
    """Windows that do not count."""


def compare(windows: Sequence[Window]) -> list[Comparison]:
    """By frames, then near, far, mixed."""
    sizes = dict.fromkeys(window.supplies for window in windows)
    rows = [_compare(windows, supplies, distance) for supplies in sizes for distance in ("near", "far", "mixed")]
    return [row for row in rows if row.rates_pps or row.left_out]


def _compare(windows: Sequence[Window], supplies: int, distance: str) -> Comparison:
    here = [window for window in windows if (window.supplies, window.distance) == (supplies, distance)]
    good = [window for window in here if window.counts]
    pairs = [pair for pair in pairs_of(windows) if (pair.supplies, pair.distance) == (supplies, distance)]
    return Comparison(
        supplies,
        frame_bytes(supplies),
        distance,
        {name: of_all([one.rate_pps for one in good if one.sender == name], "windows") for name in _names(good)},
        {name: of_all([one.ratio for one in pairs if one.sender == name], "pairs") for name in _names(pairs)},
        len(here) - len(good),
    )


def _names(found: Sequence[Window] | Sequence[Pair]) -> list[str]:
    return list(dict.fromkeys(one.sender for one in found))


@contextmanager
def _sender(name: str, supplies: int, directory: Path, socket: Path, core: int) -> Iterator[Program]:
    if name == TESTPMD:
        with Program(*_testpmd(supplies, directory, socket, core)) as program:
            yield program
    elif name == ROWS:
        with Program("ringmaster-transmit-cost", "flood", str(CHAINS), str(supplies), socket, str(core)) as program:
            yield program
    else:
        with own_workspace() as workspace:
            config = directory / "server.yaml"
            config.write_text(flooding(workspace, socket, core, CHAINS, supplies))
            with Program("ringmaster-server", "run", config) as program:
                yield program


def _testpmd(supplies: int, directory: Path, socket: Path, core: int) -> list[str]:
    return [
        "dpdk-testpmd",
        *("--lcores", f"0@{core},1@{core}", "--no-pci", "--no-huge", "-m", "256", "--no-telemetry"),
        *("--file-prefix", directory.name),
        f"--vdev=net_memif0,role=client,socket={socket},socket-abstract=no,rsize={SLOTS_LOG2}",
        *("--", "--burst=64", "--txd=1024", "--rxd=1024", "--total-num-mbufs=16384", "--forward-mode=txonly"),
        *(f"--txpkts={frame_bytes(supplies)}", "--stats-period=3600"),
    ]


@contextmanager
def _receiver(socket: Path, core: int, seconds: float) -> Iterator["subprocess.Popen[str]"]:
    command = [find_program("ringmaster-discard"), str(socket), str(core), str(SETTLE_S), f"{seconds:g}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    with process:
        try:
            deadline = monotonic() + START_S
            while not socket.exists():
                if process.poll() is not None or monotonic() > deadline:
                    raise NotMeasured("the receiver did not start")
                sleep(0.01)
            yield process
        finally:
            with suppress(ProcessLookupError):
                process.kill()


def measure_window(sender: str, supplies: int, seconds: float) -> Window:
    """Starts receiver and sender, measures for some time, ends both. Raises NotMeasured."""
    sender_core, receiver_core = cores()
    before_ns = core_to_core_ns(*cores())
    with scratch_folder("bench") as name:
        directory, socket = Path(name), Path(name) / "supplies.sock"
        with (
            _receiver(socket, receiver_core, seconds) as receiver,
            _sender(sender, supplies, directory, socket, sender_core) as program,
        ):
            said, share = _observe(receiver, program)
    after_ns = core_to_core_ns(*cores())
    return Window(
        sender=sender,
        supplies=supplies,
        frame_bytes=frame_bytes(supplies),
        rate_pps=said["received"] / said["seconds"],
        core_to_core_ns=max(before_ns, after_ns),
        distance=class_of(before_ns, after_ns),
        sender_share=share,
        receiver_share=said["share"],
        sub_rates_pps=tuple(said["sub_rates_pps"]),
    )


def _observe(receiver: "subprocess.Popen[str]", sender: Program) -> tuple[dict[str, Any], float]:
    """What the receiver says of its window, and the share of its core that the sender had."""
    assert receiver.stdout is not None
    if receiver.stdout.readline() != "begin\n":
        raise NotMeasured(f"nothing came from {sender.name}: {sender.words[-200:]}")
    begin, times = monotonic(), run_times_ns(sender.pid)
    line = receiver.stdout.readline()
    share = busiest_share(times, run_times_ns(sender.pid), monotonic() - begin)
    sender.check()
    return json.loads(line), share


def run(count: int, seconds: float, log: Log) -> Iterator[Window]:
    """Measures so many windows of every sender and frame size, by turns."""
    if not has_testpmd():
        log.note("dpdk-testpmd is not installed (Debian package dpdk-dev): no peer beside our figures")
    senders = [RINGMASTER, TESTPMD, ROWS] if has_testpmd() else [RINGMASTER, ROWS]
    for supplies in SUPPLIES:
        for number in range(count):
            for sender in senders if number % 2 == 0 else senders[::-1]:
                try:
                    window = measure_window(sender, supplies, seconds)
                except (NotMeasured, ProgramFailed) as error:
                    log.note(f"rate, {sender}: not measured: {error}")
                    continue
                log.say(f"{number + 1}/{count} {words(window)}")
                yield window


def words(window: Window) -> str:
    """A window on one line."""
    why = "" if window.counts else "  discarded: " + ("disturbed" if is_disturbed(window.sub_rates_pps) else "no core")
    return (
        f"{window.sender:10s} {window.frame_bytes} bytes  {window.rate_pps / 1e6:6.2f} Mpps  {window.distance} "
        f"({window.core_to_core_ns:.0f} ns){why}"
    )

# SPDX-License-Identifier: Apache-2.0
"""Windows of `ringmaster bench frames`: a receiver of cameras on one core; cameras and application on another.

These are one thread: bench/frames/frames_latency.c. It sends its cameras' packets evenly over a part of each period and
asks for frames in between. So no time of the application's own stands between a frame and its lease.
"""

import json
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from ringmaster.bench.links import UDP_PORT, Pair, linked
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.printed import figures, printed
from ringmaster.bench.setups import Mapping
from ringmaster.bench.workspace import own_workspace
from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.programs.program import START_S, Program
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import Probed, Watched

TRANSPORTS = ("udp", "memif", "af_xdp")
ABOUT = {
    "udp": "sockets of the kernel: a UDP socket that sleeps, veth",
    "memif": "DPDK's memif: memory shared with the sender",
    "af_xdp": "AF_XDP: past the kernel's stack, veth",
}
WIDTH, HEIGHT = 2500, 1000
"""2.5 megapixels, of 12 bits packed: 3.75 MB."""
FRAME_BYTES = WIDTH * HEIGHT * 3 // 2
EACH = {1500: 1408, 9000: 8896}
"""Bytes of a fragment, by MTU."""
ETHERNET_BYTES = 14
RATE_HZ = 30.0
WHOLE_CORE = 0.93
"""A program that polls has at least this share of its core, of all its time from its start on."""
SLOTS, LEASES = 16, 8
DEADLINE_MS = 2000
"""Longer than a shared host keeps the sender from its core: a frame that it was kept from is late, not lost."""
PROGRAM = "ringmaster-frames-latency"
_LIMIT_S = 150.0
"""Beyond the window."""


@dataclass(frozen=True)
class Spread:
    """Of a time over the frames of a window, µs."""

    min: float
    mean: float
    median: float
    p99: float
    max: float
    count: int


@dataclass(frozen=True, kw_only=True)
class Window:
    """What became of the frames of some seconds."""

    transport: str
    load: str
    """"idle" or "loaded"."""
    cameras: int
    mtu: int
    after_last_fragment_us: Spread | None
    """From the arrival of the packet that closed a frame, to its lease; None: no frame came."""
    after_sent_us: Spread | None
    """From the sending of that packet: with the way through the kernel."""
    published_us: Spread | None
    """From that arrival to the frame's being published: the receiver's part."""
    sent: int
    lost: int
    wrong: int
    """Frames with other bytes than were sent."""
    passed_over: int
    waits: int
    longest_wait_us: float
    longest_behind_us: float
    """That a packet was late to its pace: what the sender was kept from its core."""
    bytes_per_s: float
    receiver_share: float
    """Of its core, over the whole run."""
    sender_share: float
    """Of its core, of the thread that is cameras and application."""
    core_to_core_ns: float
    distance: str

    @property
    def whole(self) -> bool:
        """Whether those that poll had their cores; under a load nobody has."""
        receiver_polls = self.transport != "udp"
        shares = (self.sender_share, self.receiver_share if receiver_polls else 1.0)
        return self.load != "idle" or min(shares) >= WHOLE_CORE

    @property
    def words(self) -> str:
        """On one line."""
        time = self.after_last_fragment_us
        took = f"mean {time.mean:.1f} µs, p99 {time.p99:.1f}, max {time.max:.0f}" if time else "no frame"
        return (
            f"{self.transport}, {self.load}, {self.cameras} × MTU {self.mtu}: {took}; "
            f"{self.sent} sent, {self.lost} lost, cores {self.distance}"
            f"{'' if self.whole else ', discarded: others had a core'}"
        )


def configuration(workspace: str, pair: Pair, cameras: int, mtu: int) -> str:
    """The receiver's: one port, with all cameras."""
    where = pair.right[0].partition(":")[2].partition(",")[0]
    ports: dict[str, Mapping] = {
        "memif": {"kind": "memif", "socket": where, "role": "client"},
        "af_xdp": {"kind": "af_xdp", "interface": where, "udp_port": UDP_PORT},
        "udp": {"kind": "udp", "address": where},
    }
    whole: Mapping = {
        "workspace": workspace,
        "ports": [{"name": "cameras", "longest_frame": mtu + ETHERNET_BYTES, **ports[pair.kind]}],
        "cameras": [
            {
                "name": f"cam{index + 1:02d}",
                "port": "cameras",
                "format": "fragments",
                "udp_port": UDP_PORT,
                "id": index,
                "frame_bytes": FRAME_BYTES,
                "slots": SLOTS,
                "leases": LEASES,
                "deadline_ms": DEADLINE_MS,
            }
            for index in range(cameras)
        ],
    }
    return json.dumps(whole, indent=1)


def _link(pair: Pair) -> str:
    """The sender's end: as many datagrams in a system call as there are."""
    return pair.left[0] + (",batch=64" if pair.kind == "udp" else "")


def _wait_until_ready(receiver: Program) -> None:
    """Until it says so."""
    deadline = monotonic() + START_S
    while "is ready" not in receiver.words:
        receiver.check()
        if monotonic() > deadline:
            raise NotMeasured(f"{receiver.name} is not ready after {START_S:.0f} s: {receiver.words[-200:]}")
        sleep(0.02)


def measure(transport: str, load: str, cameras: int, mtu: int, seconds: float) -> Window:
    """Starts the receiver, sends and asks for so long, ends both. Raises NotMeasured, ProgramFailed."""
    own, receiver_core = cores()
    with Probed(own, receiver_core) as probed, ExitStack() as stack:
        pair = stack.enter_context(linked(transport, mtu=mtu))
        workspace = stack.enter_context(own_workspace())
        file = Path(stack.enter_context(scratch_folder("bench"))) / "cameras.yaml"
        file.write_text(configuration(workspace, pair, cameras, mtu))
        pinned = (*pair.enter_right, "taskset", "-c", str(receiver_core))
        receiver = stack.enter_context(Program("ringmaster-cameras", file, prefix=pinned))
        _wait_until_ready(receiver)
        watched = Watched(receiver.pid)
        words = ("--cameras", str(cameras), "--width", str(WIDTH), "--height", str(HEIGHT), "--each", str(EACH[mtu]))
        pace = ("--rate", f"{RATE_HZ:g}", "--spread", f"{0.5 if cameras == 1 else 0.9:g}")
        command = [*pair.enter_left, find_program(PROGRAM), *words, *pace, workspace, _link(pair), str(own)]
        said = printed(PROGRAM, [*command, f"{seconds:g}"], seconds + _LIMIT_S)
        (share,) = watched.shares()
        receiver.check()
    return figures(PROGRAM, said, lambda found: _window(found, transport, load, cameras, mtu, share, probed))


def _spread(said: dict[str, Any] | None) -> Spread | None:
    return Spread(**said) if said else None


def _window(
    said: dict[str, Any], transport: str, load: str, cameras: int, mtu: int, share: float, probed: Probed
) -> Window:
    if not said["sent"]:
        raise NotMeasured(f"{PROGRAM}: no frame was sent in this window")
    counts = ("sent", "lost", "wrong", "passed_over", "waits", "longest_wait_us", "longest_behind_us", "bytes_per_s")
    return Window(
        transport=transport,
        load=load,
        cameras=cameras,
        mtu=mtu,
        after_last_fragment_us=_spread(said["after_last_fragment_us"]),
        after_sent_us=_spread(said["after_sent_us"]),
        published_us=_spread(said["published_us"]),
        **{name: said[name] for name in counts},
        receiver_share=share,
        sender_share=said["share"],
        core_to_core_ns=probed.ns,
        distance=probed.distance,
    )

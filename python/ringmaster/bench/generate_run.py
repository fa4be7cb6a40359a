# SPDX-License-Identifier: Apache-2.0
"""Windows of the packet generator on one core over memif, beside testpmd's `txonly`; and of its paces.

Behind each sender is the same receiver (discard.py) on the same link with as many slots, so a packet counts when the
link took it and it came. Pairs are those of windows.py.

- "ringmaster": the generate role of the shipped server, as fast as it goes, with frames that are all alike.
- "varying": the same with four fields that vary from frame to frame, and a stamp in each.
- "testpmd": dpdk-testpmd in mode `txonly`, whose frames are copies of one.
- "pktgen": Pktgen-DPDK, where it is installed.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ringmaster.bench.discard import SLOTS_LOG2, discarding, observe, txonly
from ringmaster.bench.printed import Times
from ringmaster.bench.setups import Mapping
from ringmaster.bench.windows import TESTPMD, Window
from ringmaster.bench.workspace import own_workspace
from ringmaster.programs.cores import cores
from ringmaster.programs.program import Program, attach_to, commands_of
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import Probed

VARYING, PKTGEN = "varying", "pktgen"
FCS_BYTES = 4
SIZE = 64
RUNNING_S = 1e-3
"""Of a window, so much must be left in which neither end stood still."""
"""Of all frames, with FCS: the shortest of Ethernet, which also holds a stamp."""
FIXED_WORDS = ("set 0 rate max", "set 0 burst 64")
VARYING_WORDS = (
    *("range 0 src ip min 10.0.0.1", "range 0 src ip max 10.0.3.254"),
    *("range 0 dst ip min 10.1.0.1", "range 0 dst ip max 10.1.3.254"),
    *("range 0 sport min 1000", "range 0 sport max 2000", "range 0 dport min 3000", "range 0 dport max 4000"),
    *("enable 0 range", "set 0 flows 16", "enable 0 latency"),
)
NO_PKTGEN = "pktgen (Pktgen-DPDK) is not installed: it is left out"


def has_pktgen() -> bool:
    """Whether the other peer is there."""
    return shutil.which(PKTGEN) is not None


def load_of(size: int) -> str:
    """By the size of the frames, with FCS."""
    return f"{size}-byte frames"


@dataclass(frozen=True, kw_only=True)
class Generated(Window):
    """One window of one sender; its rate is as the receiver counts, while neither end stood still (bench/stretches.h).

    So a window counts also where others had the cores for most of it, if enough is left.
    """

    size: int
    running_s: float
    """Of the window, what the rate is of."""

    @property
    def whole(self) -> bool:
        """Whether both ran for long enough."""
        return self.running_s >= RUNNING_S

    @property
    def more_words(self) -> str:
        """How long they ran."""
        return f", both ran for {1e3 * self.running_s:.1f} ms"


@dataclass(frozen=True, kw_only=True)
class Paced:
    """One window at a pace. The pace that was seen is of the frames that came the least late (bench/pace_fit.h): stalls
    of either end do not move it, and frames that never came do.
    """

    rate_hz: float
    """Asked for."""
    seconds: float
    pace_hz: float
    """Seen; 0 where too little came."""
    received_hz: float
    """Of the whole window: stalls at its edges, too."""
    jitter_ns: Times
    """By how much the time from one frame to the next differs from the nominal one, at the receiver."""
    sender_share: float
    receiver_share: float

    @property
    def error(self) -> float:
        """Of the pace, as a share of it."""
        return abs(self.pace_hz / self.rate_hz - 1)

    @property
    def whole(self) -> bool:
        """Whether anything is made of it."""
        return self.pace_hz > 0

    @property
    def words(self) -> str:
        """On one line."""
        jitter = self.jitter_ns
        return (
            f"{self.rate_hz:,.0f}/s: {100 * self.error:.4f} % off, jitter {jitter.median:.0f} ns, "
            f"p99 {jitter.p99:.0f} ns, longest {jitter.max / 1e3:.1f} µs"
            f"{'' if self.whole else '  discarded: too little came'}"
        )


def server(workspace: str, socket: Path, core: int) -> str:
    """A configuration of one generating role on one link."""
    whole: Mapping = {
        "workspace": workspace,
        "turn_rate_hz": 1e6,
        "ports": [{"name": "out", "kind": "memif", "socket": str(socket), "role": "client"}],
        "roles": [{"role": "generate", "core": core, "ports": ["out"]}],
    }
    return json.dumps(whole, indent=1)


@contextmanager
def generating(directory: Path, socket: Path, core: int, words: Sequence[str]) -> Iterator[Program]:
    """Our server, which has been told these words and to start."""
    with ExitStack() as stack:
        workspace = stack.enter_context(own_workspace())
        config = directory / "server.yaml"
        config.write_text(server(workspace, socket, core))
        program = stack.enter_context(Program("ringmaster-server", "run", config))
        ws = stack.enter_context(attach_to(workspace, program))
        commands = stack.enter_context(commands_of(ws, program))
        for line in (*words, "start 0"):
            commands.run(line)
        yield program


def _pktgen(directory: Path, socket: Path, core: int) -> list[str]:
    script = directory / "start.pkt"
    script.write_text(f"set 0 size {SIZE}\nset 0 rate 100\nset 0 burst 64\nstart 0\n")
    return [
        *(PKTGEN, "--lcores", f"0@{core},1@{core}", "--no-pci", "--no-huge", "-m", "256"),
        *("--file-prefix", directory.name),
        f"--vdev=net_memif0,role=client,socket={socket},socket-abstract=no,rsize={SLOTS_LOG2}",
        *("--", "-P", "-m", "1.0", "-f", str(script)),
    ]


@contextmanager
def _sender(peer: str, directory: Path, socket: Path, core: int) -> Iterator[Program]:
    if peer == TESTPMD:
        with Program(*txonly(SIZE - FCS_BYTES, directory, socket, core)) as program:
            yield program
    elif peer == PKTGEN:
        with Program(*_pktgen(directory, socket, core)) as program:
            yield program
    else:
        more = VARYING_WORDS if peer == VARYING else ()
        with generating(directory, socket, core, (f"set 0 size {SIZE}", *FIXED_WORDS, *more)) as program:
            yield program


def measure_window(peer: str, seconds: float) -> Generated:
    """Starts receiver and sender, measures for some time, ends both. Raises NotMeasured."""
    sender_core, receiver_core = cores()
    with Probed(*cores()) as probed, scratch_folder("bench") as name:
        directory, socket = Path(name), Path(name) / "link.sock"
        with (
            discarding(socket, receiver_core, seconds) as receiver,
            _sender(peer, directory, socket, sender_core) as program,
        ):
            said, share = observe(receiver, program)
    running = said["stretches"]
    return Generated(
        peer=peer,
        load=load_of(SIZE),
        size=SIZE,
        running_s=running["seconds"],
        rate_pps=running["rate_pps"]["median"],
        core_to_core_ns=probed.ns,
        distance=probed.distance,
        sender_share=share,
        receiver_share=said["share"],
    )


def measure_pace(rate_hz: float, seconds: float) -> Paced:
    """A window at that many frames a second, one by one. Raises NotMeasured."""
    sender_core, receiver_core = cores()
    words = (f"set 0 size {SIZE}", f"set 0 rate {rate_hz:.0f}pps", "set 0 burst 1", "set 0 late_max 1000000")
    with scratch_folder("bench") as name:
        directory, socket = Path(name), Path(name) / "link.sock"
        with (
            discarding(socket, receiver_core, seconds, rate_hz) as receiver,
            generating(directory, socket, sender_core, words) as program,
        ):
            said, share = observe(receiver, program)
    return Paced(
        rate_hz=rate_hz,
        seconds=said["seconds"],
        pace_hz=said["pace_hz"],
        received_hz=said["received"] / said["seconds"],
        jitter_ns=Times(**said["jitter_ns"]),
        sender_share=share,
        receiver_share=said["share"],
    )

# SPDX-License-Identifier: Apache-2.0
"""How many setpoint datagrams a second one core sends over memif, beside testpmd's `txonly`.

Behind each sender is the same receiver, which counts and discards (bench/discard.c), on the same link with as many
slots. Frames are of the same size. Pairs are those of windows.py.

- "ringmaster": the shipped server. Its turns are so short that no cycle can be kept, so it sends as fast as it can; its
  supplies belong to the operator, and rest.
- "rows": guard, frames and port alone (bench/transmit_cost.c), with a whole new row for every supply in every cycle,
  which the guard judges value by value.
- "testpmd": dpdk-testpmd in mode `txonly`, whose frames are copies of one.
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import Turn
from ringmaster.bench.receivers import has_testpmd
from ringmaster.bench.transmit_setups import flooding
from ringmaster.bench.windows import RINGMASTER, TESTPMD, Window
from ringmaster.bench.workspace import own_workspace
from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.programs.program import START_S, Program
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import Probed, Watched

ROWS = "rows"
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


def load_of(supplies: int) -> str:
    """By the size of the frames."""
    return f"{frame_bytes(supplies)}-byte frames"


@dataclass(frozen=True, kw_only=True)
class Sent(Window):
    """One window of one sender; its rate is as the receiver counts."""

    supplies: int
    frame_bytes: int


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


def measure_window(peer: str, supplies: int, seconds: float) -> Sent:
    """Starts receiver and sender, measures for some time, ends both. Raises NotMeasured."""
    sender_core, receiver_core = cores()
    with Probed(*cores()) as probed, scratch_folder("bench") as name:
        directory, socket = Path(name), Path(name) / "supplies.sock"
        with (
            _receiver(socket, receiver_core, seconds) as receiver,
            _sender(peer, supplies, directory, socket, sender_core) as program,
        ):
            said, share = _observe(receiver, program)
    return Sent(
        peer=peer,
        load=load_of(supplies),
        supplies=supplies,
        frame_bytes=frame_bytes(supplies),
        rate_pps=said["received"] / said["seconds"],
        core_to_core_ns=probed.ns,
        distance=probed.distance,
        sender_share=share,
        receiver_share=said["share"],
        sub_rates_pps=tuple(said["sub_rates_pps"]),
    )


def _observe(receiver: "subprocess.Popen[str]", sender: Program) -> tuple[dict[str, Any], float]:
    """What the receiver says of its window, and the share of its core that the sender had."""
    assert receiver.stdout is not None
    if receiver.stdout.readline() != "begin\n":
        raise NotMeasured(f"nothing came from {sender.name}: {sender.words[-200:]}")
    watched = Watched(sender.pid)
    line = receiver.stdout.readline()
    (share,) = watched.shares()
    sender.check()
    return json.loads(line), share


def turns(count: int, seconds: float) -> Iterator[Turn]:
    """So many windows of every sender and frame size; testpmd's in between."""
    senders = [RINGMASTER, TESTPMD, ROWS] if has_testpmd() else [RINGMASTER, ROWS]
    for supplies in SUPPLIES:
        for number in range(count):
            for peer in senders if number % 2 == 0 else senders[::-1]:
                yield Turn(peer, partial(measure_window, peer, supplies, seconds), f"{number + 1}/{count} ")

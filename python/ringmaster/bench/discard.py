# SPDX-License-Identifier: Apache-2.0
"""The receiver of every sender that is measured over memif (bench/discard.c), and the peer that sends beside ours."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from ringmaster.bench.log import NotMeasured
from ringmaster.places import find_program
from ringmaster.programs.program import START_S, Program
from ringmaster.report.conditions import Watched

SETTLE_S = 0.3
SLOTS_LOG2 = 12
"""Of the ring: what our ports take where nobody says another number."""

Receiver = subprocess.Popen[str]


@contextmanager
def discarding(socket: Path, core: int, seconds: float, rate_hz: float | None = None) -> Iterator[Receiver]:
    """It makes the socket, and counts for so long once something has come; with a rate it tells the jitter, too."""
    rate = ["--rate", f"{rate_hz:g}"] if rate_hz else []
    command = [find_program("ringmaster-discard"), *rate, str(socket), str(core), str(SETTLE_S), f"{seconds:g}"]
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


def observe(receiver: Receiver, sender: Program) -> tuple[dict[str, Any], float]:
    """What the receiver says of its window, and the share of its core that the sender had."""
    assert receiver.stdout is not None
    if receiver.stdout.readline() != "begin\n":
        raise NotMeasured(f"nothing came from {sender.name}: {sender.words[-200:]}")
    watched = Watched(sender.pid)
    line = receiver.stdout.readline()
    (share,) = watched.shares()
    sender.check()
    return json.loads(line), share


def txonly(frame_bytes: int, directory: Path, socket: Path, core: int) -> list[str]:
    """The command of dpdk-testpmd in mode `txonly`: copies of one frame of so many bytes, without FCS."""
    return [
        "dpdk-testpmd",
        *("--lcores", f"0@{core},1@{core}", "--no-pci", "--no-huge", "-m", "256", "--no-telemetry"),
        *("--file-prefix", directory.name),
        f"--vdev=net_memif0,role=client,socket={socket},socket-abstract=no,rsize={SLOTS_LOG2}",
        *("--", "--burst=64", "--txd=1024", "--rxd=1024", "--total-num-mbufs=16384", "--forward-mode=txonly"),
        *(f"--txpkts={frame_bytes}", "--stats-period=3600"),
    ]

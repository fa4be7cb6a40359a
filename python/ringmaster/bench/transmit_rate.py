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

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ringmaster.bench.discard import discarding, observe, txonly
from ringmaster.bench.measurement import Turn
from ringmaster.bench.receivers import has_testpmd
from ringmaster.bench.transmit_setups import flooding
from ringmaster.bench.windows import RINGMASTER, TESTPMD, Window
from ringmaster.bench.workspace import own_workspace
from ringmaster.programs.cores import cores
from ringmaster.programs.program import Program
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import Probed

ROWS = "rows"
CHAINS = 96
SUPPLIES = (10, 1)
"""Of each chain: what a machine has, and the shortest frame."""
HEADERS_BYTES = 14 + 20 + 8 + 32


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
        with Program(*txonly(frame_bytes(supplies), directory, socket, core)) as program:
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


def measure_window(peer: str, supplies: int, seconds: float) -> Sent:
    """Starts receiver and sender, measures for some time, ends both. Raises NotMeasured."""
    sender_core, receiver_core = cores()
    with Probed(*cores()) as probed, scratch_folder("bench") as name:
        directory, socket = Path(name), Path(name) / "supplies.sock"
        with (
            discarding(socket, receiver_core, seconds) as receiver,
            _sender(peer, supplies, directory, socket, sender_core) as program,
        ):
            said, share = observe(receiver, program)
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


def turns(count: int, seconds: float) -> Iterator[Turn]:
    """So many windows of every sender and frame size; testpmd's in between."""
    senders = [RINGMASTER, TESTPMD, ROWS] if has_testpmd() else [RINGMASTER, ROWS]
    for supplies in SUPPLIES:
        for number in range(count):
            for peer in senders if number % 2 == 0 else senders[::-1]:
                yield Turn(peer, partial(measure_window, peer, supplies, seconds), f"{number + 1}/{count} ")

# SPDX-License-Identifier: Apache-2.0
"""Programs at the ends of a wire: how they are told what to do, and what they say: that they are ready, what they
complain of, and their account in the end.

Each prints {"ready": true} once its links are open, and one JSON object last. What is no JSON is for people.
"""

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

from ringmaster.bench.links import Pair
from ringmaster.bench.log import NotMeasured
from ringmaster.programs.program import START_S, Program, ProgramFailed

LOOK_S = 0.01
WATCH_S = 0.05
"""Between two looks at programs that send."""
SETTLE_S = 4.0
"""The receiver ends by itself when the senders have said that they ended; where it does not hear them, by us."""
IDLE_S = 3.0
"""The receiver ends when nothing came for so long."""
_READY = '"ready"'


def complaint(program: Program) -> str:
    """What it has said to people."""
    return "; ".join(line for line in program.words.splitlines() if not line.startswith("{")) or "it said nothing"


def check(program: Program) -> None:
    """Raises ProgramFailed, with its complaint, when it has ended in failure."""
    if not program.running and program.wait(0) != 0:
        raise _failed(program)


def wait_until_ready(program: Program) -> None:
    """Until its links are open. Raises ProgramFailed where they cannot be."""
    give_up = monotonic() + START_S
    while _READY not in program.words:
        if not program.running:
            raise _failed(program)
        if monotonic() > give_up:
            raise ProgramFailed(f"{program.name} is not ready after {START_S:.0f} s: {complaint(program)}")
        sleep(LOOK_S)


def account(program: Program) -> dict[str, Any]:
    """Its last object, which DPDK may have words after; ends it where it runs. Raises ProgramFailed without one."""
    status = program.stop()
    objects = [line for line in program.words.splitlines() if line.startswith("{") and _READY not in line]
    try:
        if status == 0:
            return dict(json.loads(objects[-1]))
    except (IndexError, ValueError):
        pass
    raise _failed(program)


def _failed(program: Program) -> ProgramFailed:
    return ProgramFailed(f"{program.name} ended with status {program.wait(0)}: {complaint(program)}")


@dataclass(frozen=True)
class Traffic:
    """What is sent on each link."""

    instruments: int
    """A datagram of each of them on each link in every cycle."""
    rate_hz: float
    """Cycles a second; 0: as fast as the link takes them."""
    size: int
    """Bytes of payload."""
    jitter_us: float = 0.0
    """A known fault: each cycle is displaced by so much at most, either way."""
    drop_every: int = 0
    """A known fault: of so many datagrams one is left out; 0: none."""

    @property
    def words(self) -> list[str]:
        """Of either end's command line."""
        return ["--instruments", str(self.instruments), "--rate", f"{self.rate_hz:.10g}"]


def generator_words(core: int, links: Sequence[str], traffic: Traffic, seconds: float) -> list[str]:
    """Of a sender's command line."""
    words = ["--core", str(core), *(word for link in links for word in ("--link", link)), *traffic.words]
    words += ["--seconds", f"{seconds:g}", "--size", str(traffic.size)]
    words += ["--jitter-us", f"{traffic.jitter_us:g}"] if traffic.jitter_us else []
    return words + (["--drop-every", str(traffic.drop_every)] if traffic.drop_every else [])


def receiver_words(
    cores: Sequence[int], links: Sequence[str], traffic: Traffic, seconds: float, warm_up_s: float = 0.0
) -> list[str]:
    """Of the receiver's command line: each core, and behind it the links that it polls. ``cores`` has one for each."""
    words = []
    for core in dict.fromkeys(cores):
        own = [link for link, by in zip(links, cores, strict=True) if by == core]
        words += ["--core", str(core), *(word for link in own for word in ("--link", link))]
    times = ["--seconds", f"{seconds:g}", "--warm-up", f"{warm_up_s:g}", "--idle-s", f"{IDLE_S:g}"]
    return [*words, *traffic.words, *times]


def run_ends(
    pair: Pair,
    receiving: Sequence[str],
    sending: Sequence[Sequence[str]],
    limit_s: float,
    look: Callable[[Sequence[Program]], None] = lambda _: None,
) -> tuple[list[Mapping[str, Any]], Mapping[str, Any]]:
    """Starts the receiver, then the senders, and looks on until all have ended; gives their accounts.

    Raises NotMeasured where the link cannot be received from, ProgramFailed with what the one that failed has said.
    """
    with ExitStack() as stack:
        receiver = stack.enter_context(Program("ringmaster-receiver", *receiving, prefix=pair.enter_right))
        try:
            wait_until_ready(receiver)
        except ProgramFailed as error:
            raise NotMeasured(str(error)) from error
        starting = (Program("ringmaster-generator", *words, prefix=pair.enter_left) for words in sending)
        senders = [stack.enter_context(program) for program in starting]
        give_up = monotonic() + limit_s
        while any(sender.running for sender in senders):
            look(senders)
            for program in (receiver, *senders):
                check(program)
            if monotonic() > give_up:
                raise ProgramFailed(f"{senders[0].name} has not ended after {limit_s:.0f} s: {complaint(senders[0])}")
            sleep(WATCH_S)
        look(senders)
        with suppress(subprocess.TimeoutExpired):
            receiver.wait(SETTLE_S)
        return [_whole_account(sender) for sender in senders], _whole_account(receiver)


def _whole_account(program: Program) -> Mapping[str, Any]:
    said = account(program)
    if said["ended"] == "link":
        raise ProgramFailed(complaint(program))
    return said

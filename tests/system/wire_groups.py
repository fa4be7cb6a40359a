# SPDX-License-Identifier: Apache-2.0
"""A sender of groups and its receiver at the two ends of a link, as the tests run them."""

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest
from harness import PATIENCE_S, VethPair, free_udp_port, wait_for

from ringmaster.demo import cores
from ringmaster.programs import Program, find_program

PACE_CORE, CATCH_CORE = cores()
ROW = np.dtype([("link", "<u4"), ("datagrams", "<u4"), ("cycle", "<u8"), ("first", "<u8"), ("last", "<u8")])
"""A row of ``--cycles``."""


@dataclass(frozen=True)
class Ends:
    """Link texts of the sender's and the receiver's end, and the words that enter their namespaces."""

    pace: str
    catch: str
    enter_pace: Sequence[str] = ()
    enter_catch: Sequence[str] = ()


def memif(directory: Path, name: str = "wire") -> Ends:
    """The receiver makes the socket."""
    socket = directory / f"{name}.sock"
    return Ends(f"memif:{socket},role=client", f"memif:{socket},role=server")


def loopback(*keys: str) -> Ends:
    """UDP on two free ports of the loopback interface."""
    near, far = free_udp_port(), free_udp_port()
    return Ends(
        ",".join((f"udp:127.0.0.1:{near},peer=127.0.0.1:{far}", *keys)),
        ",".join((f"udp:127.0.0.1:{far},peer=127.0.0.1:{near}", *keys)),
    )


def interface(kind: str, link: VethPair) -> Ends:
    """Frames over a veth pair."""
    return Ends(f"{kind}:veth0", f"{kind}:veth1", link.enter(0), link.enter(1))


Make = Callable[[Path, pytest.FixtureRequest], Ends]


def _between(kind: str) -> Make:
    return lambda _, request: interface(kind, request.getfixturevalue("link"))


KINDS: dict[str, Make] = {
    "memif": lambda directory, _: memif(directory),
    "udp": lambda _, __: loopback(),
    "udp-spin": lambda _, __: loopback("wait=spin", "batch=16"),
    "raw": _between("raw"),
    "af_packet": _between("af_packet"),
    "af_xdp": _between("af_xdp"),
}
"""How to make the ends of each kind of link that needs no card."""


def last_object(text: str) -> dict[str, Any]:
    """The JSON object among a program's lines, which is its last on standard output."""
    line = next(line for line in reversed(text.splitlines()) if line.startswith("{"))
    found: dict[str, Any] = json.loads(line)
    return found


def wait_until_ready(program: Program) -> None:
    """Waits for the line that says so."""

    def ready() -> bool:
        program.check()
        return "ready" in program.words

    wait_for(ready, lambda: f"{program.name}: {program.words}")


@contextmanager
def catching(
    ends: Sequence[Ends], instruments: int, rate_hz: float, *options: str, seconds: float = 30
) -> Iterator[Program]:
    """A receiver, ready, one thread for all links; it ends with its sender."""
    links = [word for end in ends for word in ("--link", end.catch)]
    words = ["--core", str(CATCH_CORE), *links, "--instruments", str(instruments), "--rate", str(rate_hz)]
    timing = ["--seconds", str(seconds), *options]
    with Program("ringmaster-catch", *words, *timing, prefix=ends[0].enter_catch) as program:
        wait_until_ready(program)
        yield program


def pace_words(ends: Sequence[Ends], instruments: int, rate_hz: float, seconds: float) -> list[str]:
    """What a sender is told."""
    links = [word for end in ends for word in ("--link", end.pace)]
    words = ["--core", str(PACE_CORE), *links, "--instruments", str(instruments), "--rate", str(rate_hz)]
    return [*words, "--seconds", str(seconds)]


def pace(
    ends: Sequence[Ends], instruments: int, rate_hz: float, seconds: float, *options: str, expect: int = 0
) -> dict[str, Any]:
    """Sends to the end; what it says then."""
    words = [*pace_words(ends, instruments, rate_hz, seconds), *options]
    return last_object(run([*ends[0].enter_pace, find_program("ringmaster-pace"), *words], expect).stdout)


@contextmanager
def pacing(ends: Ends, instruments: int, rate_hz: float) -> Iterator[Program]:
    """A sender that has begun and would go on for long."""
    words = pace_words([ends], instruments, rate_hz, 60)
    with Program("ringmaster-pace", *words, prefix=ends.enter_pace) as program:
        wait_until_ready(program)
        sleep(20 / rate_hz)
        yield program


def run(command: Sequence[str], expect: int = 0) -> "subprocess.CompletedProcess[str]":
    """Runs a program of the room to its end."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE_S, stdin=subprocess.DEVNULL
    )
    assert done.returncode == expect, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def ended(program: Program) -> dict[str, Any]:
    """What a receiver says that has ended by itself."""
    assert program.wait(PATIENCE_S) == 0, program.words
    return last_object(program.words)


def rows_of(path: Path) -> "np.ndarray[Any, np.dtype[Any]]":
    """The rows of a ``--cycles`` file."""
    return np.fromfile(path, dtype=ROW)


def assert_sums_hold(sent: dict[str, Any], received: dict[str, Any], instruments: int) -> None:
    """Every datagram of a whole run is in exactly one count, at both ends."""
    for out, into in zip(sent["links"], received["links"], strict=True):
        meant = instruments * (sent["cycles"] - sent["behind_cycles"])
        assert out["sent"] + out["dropped"] + out["unsent"] == meant, out
        assert into["received"] + into["lost"] == instruments * into["cycles"], into
        assert into["first_cycle"] + into["cycles"] == sent["cycles"]
        assert into["received"] == sum(one["received"] for one in into["instruments"])
        for one in into["instruments"]:
            assert one["received"] + one["lost"] == into["cycles"]
            assert sum(count for _, count in one["histogram"]) <= one["received"]

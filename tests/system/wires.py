# SPDX-License-Identifier: Apache-2.0
"""Links of every kind that needs no card, and the two programs that measure a round trip over them."""

import json
import struct
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from harness import TIMEOUT_S, VethPair, free_udp_port, wait_for

from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.programs.program import Program

NEAR_CORE, FAR_CORE = cores()
RATE_HZ = 200.0
SECONDS = 0.5


@dataclass(frozen=True)
class Endpoints:
    """Link texts of the near and the far end, and the words that enter their namespaces."""

    near: str
    far: str
    enter_near: Sequence[str] = ()
    enter_far: Sequence[str] = ()


def before_others(ends: Endpoints) -> Endpoints:
    """For a test of when something comes: both ends go before all that wants their cores. Needs the right to."""
    nice = ("nice", "-n", "-15")
    return replace(ends, enter_near=(*nice, *ends.enter_near), enter_far=(*nice, *ends.enter_far))


def memif(directory: Path) -> Endpoints:
    socket = directory / "wire.sock"
    return Endpoints(f"memif:{socket},role=client", f"memif:{socket},role=server")


def loopback(*keys: str) -> Endpoints:
    near, far = free_udp_port(), free_udp_port()
    return Endpoints(
        ",".join((f"udp:127.0.0.1:{near},peer=127.0.0.1:{far}", *keys)),
        ",".join((f"udp:127.0.0.1:{far},peer=127.0.0.1:{near}", *keys)),
    )


def interface(kind: str, link: VethPair, *keys: str) -> Endpoints:
    near, far = (",".join((f"{kind}:veth{end}", *keys)) for end in (0, 1))
    return Endpoints(near, far, link.enter(0), link.enter(1))


Make = Callable[[Path, pytest.FixtureRequest], Endpoints]


def _between(kind: str, *keys: str) -> Make:
    return lambda _, request: interface(kind, request.getfixturevalue("link"), *keys)


KINDS: dict[str, Make] = {
    "memif": lambda directory, _: memif(directory),
    "udp": lambda _, __: loopback(),
    "udp-spin": lambda _, __: loopback("wait=spin"),
    "udp-batch": lambda _, __: loopback("batch=8"),
    "raw": _between("raw"),
    "raw-spin": _between("raw", "wait=spin"),
    "af_packet": _between("af_packet"),
    "af_xdp": _between("af_xdp"),
}


def last_object(text: str) -> dict[str, Any]:
    """The JSON of a program's last line."""
    found: dict[str, Any] = json.loads(text.splitlines()[-1])
    return found


def wait_until_ready(program: Program) -> None:
    """Until it has said so; raises when it has ended."""

    def ready() -> bool:
        program.check()
        return "ready" in program.words

    wait_for(ready, lambda: f"{program.name}: {program.words}")


@contextmanager
def reflecting(endpoints: Endpoints, *options: str) -> Iterator[Program]:
    """A reflector at the far end, ready."""
    words = (endpoints.far, "--core", str(FAR_CORE), *options)
    with Program("ringmaster-reflect", *words, prefix=endpoints.enter_far) as program:
        wait_until_ready(program)
        yield program


def timed(endpoints: Endpoints, *options: str, rate_hz: float = RATE_HZ, seconds: float = SECONDS) -> list[str]:
    """The words after ringmaster-rtt."""
    timing = ["--core", str(NEAR_CORE), "--rate", str(rate_hz), "--seconds", str(seconds), "--warm-up", "0.1"]
    return [endpoints.near, *timing, *options]


def measuring(endpoints: Endpoints, *options: str, rate_hz: float = RATE_HZ, seconds: float = SECONDS) -> Program:
    """A measurement from the near end, that just begins."""
    words = timed(endpoints, *options, rate_hz=rate_hz, seconds=seconds)
    return Program("ringmaster-rtt", *words, prefix=endpoints.enter_near)


def rtt(
    endpoints: Endpoints, *options: str, expect: int = 0, seconds: float = SECONDS
) -> "subprocess.CompletedProcess[str]":
    """Measures to the end."""
    command = [*endpoints.enter_near, find_program("ringmaster-rtt"), *timed(endpoints, *options, seconds=seconds)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL
    )
    assert done.returncode == expect, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def rows(samples: Path) -> list[tuple[int, int, int]]:
    """Due, sent and received of each probe, in ticks."""
    return list(struct.iter_unpack("<3Q", samples.read_bytes()))

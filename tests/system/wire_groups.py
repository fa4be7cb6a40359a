# SPDX-License-Identifier: Apache-2.0
"""A sender of groups at the near end of links, and its receiver at the far end."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
from harness import TIMEOUT_S
from wires import FAR_CORE, NEAR_CORE, Endpoints, last_object, wait_until_ready

from ringmaster.places import find_program
from ringmaster.programs.program import Program

ROW = np.dtype([("link", "<u4"), ("datagrams", "<u4"), ("cycle", "<u8"), ("first", "<u8"), ("last", "<u8")])
"""A row of ``--cycles``."""


@contextmanager
def receiving(
    endpoints: Sequence[Endpoints], instruments: int, rate_hz: float, *options: str, seconds: float = 30
) -> Iterator[Program]:
    """A receiver, ready, one thread for all links; it ends with its sender."""
    links = [word for end in endpoints for word in ("--link", end.far)]
    words = ["--core", str(FAR_CORE), *links, "--instruments", str(instruments), "--rate", str(rate_hz)]
    timing = ["--seconds", str(seconds), *options]
    with Program("ringmaster-receiver", *words, *timing, prefix=endpoints[0].enter_far) as program:
        wait_until_ready(program)
        yield program


def generator_words(endpoints: Sequence[Endpoints], instruments: int, rate_hz: float, seconds: float) -> list[str]:
    """What a sender is told."""
    links = [word for end in endpoints for word in ("--link", end.near)]
    words = ["--core", str(NEAR_CORE), *links, "--instruments", str(instruments), "--rate", str(rate_hz)]
    return [*words, "--seconds", str(seconds)]


def generator(
    endpoints: Sequence[Endpoints], instruments: int, rate_hz: float, seconds: float, *options: str, expect: int = 0
) -> dict[str, Any]:
    """Sends to the end; what it says then."""
    words = [*generator_words(endpoints, instruments, rate_hz, seconds), *options]
    return last_object(run([*endpoints[0].enter_near, find_program("ringmaster-generator"), *words], expect).stdout)


@contextmanager
def generating(endpoints: Endpoints, instruments: int, rate_hz: float) -> Iterator[Program]:
    """A sender that has begun and would go on for long."""
    words = generator_words([endpoints], instruments, rate_hz, 60)
    with Program("ringmaster-generator", *words, prefix=endpoints.enter_near) as program:
        wait_until_ready(program)
        sleep(20 / rate_hz)
        yield program


def run(command: Sequence[str], expect: int = 0) -> "subprocess.CompletedProcess[str]":
    """Runs a program of the room to its end."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL
    )
    assert done.returncode == expect, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def ended(program: Program) -> dict[str, Any]:
    """What a receiver says that has ended by itself."""
    assert program.wait(TIMEOUT_S) == 0, program.words
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

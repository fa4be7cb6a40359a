# SPDX-License-Identifier: Apache-2.0
"""Groups of datagrams from a paced sender to a receiver that stamps each: one run, and what both ends say of it.

Sender and receiver are programs of their own (ringmaster-generator, ringmaster-receiver) on cores of their own.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ringmaster.bench.account import IDLE_S, Traffic, generator_words, receiver_words, run_ends
from ringmaster.bench.groups import ROW, Rows, read_rows
from ringmaster.bench.intervals import of_caught
from ringmaster.bench.links import Pair
from ringmaster.bench.log import NotMeasured
from ringmaster.programs.program import ProgramFailed
from ringmaster.programs.remains import scratch_folder

WARM_UP_S = 0.5
EARLY_S = 0.05
"""Without a rate the sender ends so much sooner than the receiver, or it would find its link gone."""
TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Cores:
    """Who runs where."""

    sender: int
    of_link: tuple[int, ...]
    """The core that polls each link; links of one core are neighbours."""

    @property
    def receivers(self) -> tuple[int, ...]:
        """Each once."""
        return tuple(dict.fromkeys(self.of_link))

    def first(self, links: int) -> "Cores":
        """Of the first so many links."""
        return Cores(self.sender, self.of_link[:links])


def place(chosen: Sequence[int], links: int, allowed: Sequence[int] | None = None) -> Cores:
    """On the chosen cores: the sender's, then the receivers'. With none chosen: one for each link where this process
    may use so many besides the sender's; else one for all. Raises NotMeasured where that cannot be.
    """
    allowed = sorted(os.sched_getaffinity(0)) if allowed is None else sorted(allowed)
    cores = list(chosen) or allowed[: 1 + (links if len(allowed) > links else 1)]
    if missing := sorted(set(cores) - set(allowed)):
        raise NotMeasured(
            f"cores {', '.join(map(str, missing))} are not this process's to use, "
            f"expected some of {', '.join(map(str, allowed))}"
        )
    if len(set(cores)) != len(cores) or len(cores) < 2:
        found = ", ".join(map(str, cores))
        raise NotMeasured(f"needs two cores or more, one for the sender and one for the receiver; found {found}")
    receivers = cores[1 : 1 + links]
    return Cores(cores[0], tuple(receivers[link * len(receivers) // links] for link in range(links)))


@dataclass(frozen=True)
class Carried:
    """One run, as both ends tell it."""

    pair: Pair
    cores: Cores
    traffic: Traffic
    sent: Mapping[str, Any]
    """As ringmaster-generator prints it."""
    received: Mapping[str, Any]
    """As ringmaster-receiver prints it."""
    sent_rows: Rows
    rows: Rows

    @property
    def seconds(self) -> float:
        """That the receiver counted."""
        return float(self.received["seconds"])

    @property
    def words(self) -> str:
        """On one line: averages of its instruments, and what was lost."""
        means = [one.mean_ns for one in of_caught(self.received)]
        if not means:
            return f"{self.pair.kind}: nothing came"
        lost, received = self.total("lost"), self.total("received")
        nominal, averages = f"{1e9 / self.traffic.rate_hz:.6g} ns", f"{min(means):.6g}–{max(means):.6g} ns"
        return f"{self.pair.kind}: nominal {nominal}, averages {averages}, {lost:,} of {lost + received:,} lost"

    def total(self, name: str) -> int:
        """Of all links of the receiver: "received", "lost", "duplicate", "missed", …"""
        return sum(int(link[name]) for link in self.received["links"])

    @property
    def sleeps(self) -> bool:
        """Whether the receiver sleeps in the kernel until something comes."""
        return self.pair.kind in ("raw", "udp")

    @property
    def core_shares(self) -> list[float]:
        """Of their cores that those had who poll, 0–1: the sender, which looks at the clock, and receivers."""
        receivers = [] if self.sleeps else [float(core["share"]) for core in self.received["cores"]]
        return [float(self.sent["share"]), *receivers]

    @property
    def received_pps(self) -> float:
        """Of all links."""
        return self.total("received") / self.seconds if self.seconds > 0 else 0.0


def carry(pair: Pair, cores: Cores, traffic: Traffic, seconds: float, keep_rows: bool = False) -> Carried:
    """Sends for so long over the links of a pair. Raises NotMeasured with what a program said that failed."""
    sending_s = WARM_UP_S + seconds - (0.0 if traffic.rate_hz else EARLY_S)
    sending = generator_words(cores.sender, pair.left, traffic, sending_s)
    receiving = receiver_words(cores.of_link, pair.right, traffic, seconds, WARM_UP_S)
    with scratch_folder("bench") as folder:
        files = [Path(folder) / name for name in ("sent", "received")]
        noted = [["--cycles", str(file)] if keep_rows else [] for file in files]
        limit_s = WARM_UP_S + seconds + IDLE_S + TIMEOUT_S
        try:
            (sent,), received = run_ends(pair, [*receiving, *noted[1]], [[*sending, *noted[0]]], limit_s)
        except ProgramFailed as error:
            raise NotMeasured(f"{pair.name}: {error}") from error
        return Carried(pair, cores, traffic, sent, received, *map(_rows, files))


def _rows(path: Path) -> Rows:
    return read_rows(path) if path.exists() else np.empty(0, ROW)

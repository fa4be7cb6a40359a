# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench power`: what the machine takes idle and loaded, with adaptive polling and without.

Watts where the processor counts its energy; busy share, frequency and idle states besides, and alone where it does not.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ringmaster.bench.energy import SYS
from ringmaster.bench.measurement import Measurement
from ringmaster.bench.options import COUNT, SECONDS, Finite, option
from ringmaster.bench.power_meter import Meter
from ringmaster.bench.power_section import headlines, published_table, states_table, work_table
from ringmaster.bench.power_windows import STATES, Window, measure_window
from ringmaster.programs.cores import cores
from ringmaster.report.section import Table
from ringmaster.report.verdicts import Headline


@dataclass(frozen=True)
class Options:
    """For how long, and how much."""

    seconds: float = option(1.0, "Of each window.", SECONDS)
    rounds: int = option(3, "Of all states, by turns.", COUNT)
    load: float = option(0.1, "Share of Elettra's full rate, where loaded.", Finite(0, 1, min_open=True))
    """Of 10.2 million datagrams a second."""


class Power(Measurement[Options, Window]):
    """Measure what the machine takes: idle and loaded, adaptive polling on and off.

    Package energy by RAPL where the machine shows it (root may read it), and joules per datagram; else busy share,
    frequency and idle states, and a word on what cannot be had. Starts a server and a virtual ring of its own on two
    cores. Ctrl-C prints what was measured so far.
    """

    name, title, options_type = "power", "Power", Options
    examples = ("", "--json > power.json", "--load 1 --rounds 5 --report power")
    two_cores = "one for the server and one for the ring"
    about = (
        "The machine with nothing of ours, with a server that nothing comes to, and with one that takes the load of "
        "Elettra; each with the server's adaptive polling (the governor), which waits between polls so that packets "
        "gather, and without. By turns in short windows. Package power is RAPL's, of all packages, where the machine "
        "shows it."
    )

    def __init__(self, options: Options, *watch: Any, sys: Path = SYS) -> None:
        super().__init__(options, *watch)
        self.meter = Meter(cores(), sys)

    @classmethod
    def peers(cls, _options: Options) -> Sequence[str]:
        """States of the machine."""
        return tuple(state.name for state in STATES)

    def more_notes(self) -> list[str]:
        """What this machine does not tell."""
        return [f"not to be had here: {line}" for line in self.meter.missing]

    def take(self, peer: str) -> Window:
        """A window of that state."""
        state = next(state for state in STATES if state.name == peer)
        window = measure_window(state, self.options.load, self.options.seconds, cores()[1], self.meter)
        if window.lost:
            self.note(f"{state.name}: {window.lost} datagrams lost in a window")
        return window

    def headlines(self) -> list[Headline]:
        """Watts, and how a core is spent."""
        return headlines(self.rows, self.meter.has_energy)

    def tables(self) -> list[Table]:
        """By state, by kind of work, and beside the published ones."""
        return [states_table(self.rows), work_table(self.rows, cores()), published_table(self.rows)]

    def data(self) -> dict[str, object]:
        """Every window."""
        ring, server = cores()
        return {"cores": {"ring": ring, "server": server}, "windows": [asdict(window) for window in self.rows]}

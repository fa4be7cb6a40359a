# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench power`: what the machine takes idle and loaded, with adaptive polling and without.

Watts where the processor counts its energy; busy share, frequency and idle states besides, and alone where it does not.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ringmaster.bench.energy import SYS
from ringmaster.bench.measurement import Measurement
from ringmaster.bench.options import COUNT, SECONDS, Finite, option
from ringmaster.bench.power_meter import Meter
from ringmaster.bench.power_section import headlines, published_table, states_table, work_table
from ringmaster.bench.power_windows import STATES, State, Window, measure_window
from ringmaster.programs.cores import cores
from ringmaster.report.section import Table
from ringmaster.report.verdicts import Headline, number


@dataclass(frozen=True)
class Options:
    """For how long, and how much."""

    seconds: float = option(1.0, "Of each window.", SECONDS)
    rounds: int = option(3, "Of all states, by turns.", COUNT)
    load: float = option(0.1, "Share of Elettra's full rate, where loaded.", Finite(0, 1, min_open=True))
    """Of 10.2 million datagrams a second."""


class Power(Measurement[Options]):
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
        self.windows: list[Window] = []
        self.meter = Meter(cores(), sys)

    @classmethod
    def steps(cls, options: Options) -> int:
        """A step for each window."""
        return options.rounds * len(STATES)

    def measure(self) -> None:
        """All states by turns."""
        for line in self.meter.missing:
            self.note(f"not to be had here: {line}")
        self.probe()
        for number_of_round in range(self.options.rounds):
            for state in STATES:
                self._window(state, number_of_round + 1)
                self.step()
        self.probe()

    def _window(self, state: State, number_of_round: int) -> None:
        window = self.attempt(lambda: self._measure_window(state), state.name)
        if window is None:
            return
        self.windows.append(window)
        if window.lost:
            self.note(f"{state.name}: {window.lost} datagrams lost in round {number_of_round}")
        self.say(f"round {number_of_round}, {state.name}: {_words(window)}")

    def _measure_window(self, state: State) -> Window:
        return measure_window(state, self.options.load, self.options.seconds, cores()[1], self.meter)

    def headlines(self) -> list[Headline]:
        """Watts, and how a core is spent."""
        return headlines(self.windows, self.meter.has_energy)

    def tables(self) -> list[Table]:
        """By state, by kind of work, and beside the published ones."""
        return [states_table(self.windows), work_table(self.windows, cores()), published_table(self.windows)]

    def data(self) -> dict[str, object]:
        """Every window."""
        ring, server = cores()
        return {"cores": {"ring": ring, "server": server}, "windows": [asdict(window) for window in self.windows]}


def _words(window: Window) -> str:
    taken = window.taken
    watts = "" if taken.package_w is None else f"{number(taken.package_w)} W, "
    busy = ", ".join(f"core {core} {shares.total:.0%} busy" for core, shares in taken.shares.items())
    return f"{watts}{busy}"

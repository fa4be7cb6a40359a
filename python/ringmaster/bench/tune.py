# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench tune`: what the tune costs on one core and how accurate it is, beside NAFF and FFT of others.

Ours is the law of apps/tune (bench/tune_cost.c) on windows of 8192 turns. The peers are called from Python, as they are
used: nafflib, PyNAFF and omc3's harpy for one line of such a window, NumPy's and SciPy's FFT for its spectrum. They
take turns. Nothing installs omc3: it brings thirty packages.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from os import sched_getaffinity, sched_setaffinity
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import Measurement
from ringmaster.bench.options import COUNT, option
from ringmaster.bench.printed import figures, printed
from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline

PROGRAM = "ringmaster-tune-cost"
TURNS, TUNE, NOISE = 8192, 0.2137, 0.01
REVOLUTION_HZ, REFRESH_HZ = 1.157e6, 2e3
PLANES = 8
"""Of the program's sliding transform."""
PAIRS, NAFF_HZ, PLANES_LEAST, RECTANGULAR_MOST, HANN_MOST = 14, 20e3, 8, 1.05, 1.6
"""Targets."""
OF_ONE_S = 0.1
"""A peer's turn takes about so long."""
ROUND_S = 2.0
"""Of all of them, about."""
LIMIT_S = 120.0
MODULES = {
    "nafflib": "nafflib",
    "PyNAFF": "PyNAFF",
    "omc3": "omc3.harpy.frequency",
    "NumPy": "numpy",
    "SciPy": "scipy.fft",
}
"""Peers, by what is imported."""


@dataclass(frozen=True)
class Options:
    """How much of it."""

    rounds: int = option(9, "Of each peer, by turns.", COUNT)
    repeats: int = option(31, "Of each case of ours, in a round.", COUNT)
    lines: int = option(2000, "For errors, in a round of ours; every round has the same.", COUNT)


@dataclass(frozen=True)
class Ours:
    """A round of the program: nanoseconds, and errors over the Cramér–Rao bound."""

    transform_ns: float
    """One window of one BPM, and its FFT."""
    pair_ns: float
    """Two BPMs, both planes: combination, FFT, peak."""
    naff_rectangular_ns: float
    naff_hann_ns: float
    turn_ns: float
    """The sliding transform: 512 bins of 8 planes."""
    four_turns_ns: float
    """The same, a turn of four that are taken at once."""
    error_naff_rectangular: float
    error_naff_hann: float
    error_peak_rectangular: float
    error_peak_hann: float
    peer: ClassVar[str] = "ours"

    @property
    def words(self) -> str:
        """On one line."""
        pair_us, naff_us = self.pair_ns / 1e3, self.naff_hann_ns / 1e3
        return f"ours: a pair {pair_us:.1f} µs, NAFF {naff_us:.1f} µs, a turn {self.turn_ns:.0f} ns"


@dataclass(frozen=True)
class Call:
    """A turn of another."""

    peer: str
    call_s: float
    """The fastest of many: what others do on the core meanwhile is not its own."""
    error: float | None
    """Of the tune of the same line; of an FFT none."""

    @property
    def words(self) -> str:
        """On one line."""
        return f"{self.peer}: {self.call_s * 1e3:.3f} ms"


class Tune(Measurement[Options, Any]):
    """Measure what the tune costs on one core, and how accurate it is, beside NAFF and FFT of others.

    Windows have 8192 turns. NAFF is of one line, Hann; ours has its tune from a real series, nafflib from a complex
    one, which is its fastest. Ctrl-C prints what was measured so far.
    """

    name, title, options_type = "tune", "Tune", Options
    examples = ("", "--json > tune.json", "--rounds 3")
    about = (
        "One core, windows of 8192 turns: spectra, pairs of BPMs refreshed at 2 kHz, 512 bins updated at every turn of "
        "1.157 MHz, lines by NAFF; beside nafflib, PyNAFF, omc3 for a line, NumPy and SciPy for a spectrum, by turns."
    )

    @classmethod
    def peers(cls, _options: Options) -> Sequence[str]:
        """Ours, and all others."""
        return ("ours", *MODULES)

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """Fewer rounds."""
        return Options(rounds=max(1, min(9, int(seconds / ROUND_S))))

    @contextmanager
    def around(self) -> Iterator[None]:
        """On the second core."""
        allowed = sched_getaffinity(0)
        with super().around():
            sched_setaffinity(0, {cores()[-1]})
            try:
                yield
            finally:
                sched_setaffinity(0, allowed)

    def take(self, peer: str) -> Any:
        """One of them."""
        return self._ours() if peer == "ours" else call_of(peer)

    def _ours(self) -> Ours:
        command = [find_program(PROGRAM), "--rounds", str(self.options.repeats), "--windows", str(self.options.lines)]
        return figures(PROGRAM, printed("ours", command, LIMIT_S), ours_of)

    def of(self, peer: str) -> list[Any]:
        """Its turns."""
        return [row for row in self.rows if row.peer == peer]

    def _figure(self, value: Callable[[Ours], float]) -> Figure | None:
        return of_values(map(value, self.of("ours")), "rounds")

    def _ratio(self, peer: str, ours_ns: Callable[[Ours], float]) -> Figure | None:
        pairs = zip(self.of(peer), self.of("ours"), strict=False)
        return of_values((call.call_s * 1e9 / ours_ns(ours) for call, ours in pairs), "pairs")

    def headlines(self) -> list[Headline]:
        """Rates of one core, ratios, and errors."""

        def rate(name: str, value: Callable[[Ours], float], unit: str, least: float | None, about: str) -> Headline:
            return Headline(name, self._figure(value), unit, least, at_most=False, about=about)

        def error(name: str, value: Callable[[Ours], float], most: float, about: str) -> Headline:
            return Headline(name, self._figure(value), "×", most, about=about)

        def ratio(peer: str, ours_ns: Callable[[Ours], float], about: str) -> Headline:
            return Headline(f"ratio_to_{peer.lower()}", self._ratio(peer, ours_ns), "×", about=about)

        def planes(ns: float) -> float:
            return PLANES * 1e9 / REVOLUTION_HZ / ns

        return [
            rate("fft_updates_per_s", lambda ours: 1e9 / ours.transform_ns, "/s", None, "spectra of 8192 turns"),
            rate("pairs_at_2_khz", lambda ours: 1e9 / REFRESH_HZ / ours.pair_ns, "pairs", PAIRS,
                 "two BPMs, both planes: combined, spectrum, peak"),
            rate("planes_band_every_turn", lambda ours: planes(ours.turn_ns), "planes", PLANES_LEAST,
                 "512 bins, sums new at every turn of 1.157 MHz"),
            rate("planes_band_four_turns", lambda ours: planes(ours.four_turns_ns), "planes", None,
                 "the same, four turns taken at once"),
            rate("naff_per_s", lambda ours: 1e9 / ours.naff_hann_ns, "/s", NAFF_HZ, "lines of 8192 turns, Hann"),
            ratio("nafflib", lambda ours: ours.naff_hann_ns, "time of a line to ours"),
            ratio("PyNAFF", lambda ours: ours.naff_hann_ns, "time of a line to ours"),
            ratio("omc3", lambda ours: ours.naff_hann_ns, "time of a line to ours, by harpy's padded spectrum"),
            ratio("NumPy", lambda ours: ours.transform_ns, "time of a spectrum to ours"),
            ratio("SciPy", lambda ours: ours.transform_ns, "time of a spectrum to ours, single precision"),
            error("error_over_cramer_rao", lambda ours: ours.error_naff_rectangular, RECTANGULAR_MOST,
                  "steady line, NAFF, rectangular"),
            error("error_over_cramer_rao_hann", lambda ours: ours.error_naff_hann, HANN_MOST, "the same, Hann"),
            error("error_of_peak", lambda ours: ours.error_peak_rectangular, RECTANGULAR_MOST,
                  "steady line, peak of the FFT, rectangular"),
            error("error_of_peak_hann", lambda ours: ours.error_peak_hann, HANN_MOST, "the same, Hann"),
        ]  # fmt: skip

    def tables(self) -> list[Table]:
        """Each of them, all rounds."""
        columns: Columns = {
            "": lambda one: one[0],
            "µs": lambda one: of_values((call.call_s * 1e6 for call in one[1]), "rounds"),
            "error of the tune": lambda one: "–" if one[1][-1].error is None else f"{one[1][-1].error:.1e}",
        }
        seen = [(peer, self.of(peer)) for peer in MODULES if self.of(peer)]
        return [Table.of("Others, the same window", seen, columns)] if seen else []

    def data(self) -> dict[str, object]:
        """Every turn."""
        return {"turns": [asdict(row) for row in self.rows]}


def ours_of(said: dict[str, Any]) -> Ours:
    """From the JSON of our program: medians."""
    names = [field.name for field in fields(Ours)]
    return Ours(*(float(said[name]["median"] if name.endswith("_ns") else said[name]) for name in names))


def call_of(peer: str) -> Call:
    """Calls it for a while. Raises NotMeasured where it is not installed."""
    if find_spec(MODULES[peer].partition(".")[0]) is None:
        raise NotMeasured(f"no {peer} here: `pip install {peer.lower()}` installs it")
    call = _callable(peer)
    found, best_s, until = call(), float("inf"), perf_counter() + OF_ONE_S
    while perf_counter() < until:
        begun = perf_counter()
        found = call()
        best_s = min(best_s, perf_counter() - begun)
    return Call(peer, best_s, None if found is None else abs(found - TUNE))


@cache
def _callable(peer: str) -> Callable[[], float | None]:
    """One call of it: gives the tune, or nothing."""
    module = import_module(MODULES[peer])
    turns = np.arange(TURNS)
    noise = NOISE * np.random.default_rng(1).normal(size=TURNS)
    real = np.cos(2 * np.pi * TUNE * turns) + noise
    angle = np.sin(2 * np.pi * TUNE * turns)
    single = real.astype(np.float32)

    def nafflib() -> float:
        return float(module.tune(real, -angle, window_order=1, window_type="hann"))

    def pynaff() -> float:
        return float(module.naff(real, turns=TURNS, nterms=1, window=1)[0][1])

    def omc3() -> float:
        frequency, amplitude = module.windowed_padded_rfft(_harpy_input(), _harpy_turns(real), [TUNE, 0.0, 0.0])
        return float(frequency.to_numpy()[0, np.argmax(np.abs(amplitude.to_numpy()[0]))])

    def numpy() -> None:
        module.fft.rfft(single)

    def scipy() -> None:
        module.rfft(single)

    return {"nafflib": nafflib, "PyNAFF": pynaff, "omc3": omc3, "NumPy": numpy, "SciPy": scipy}[peer]


@cache
def _harpy_input() -> Any:
    """What omc3's harpy is told of how to look: its own defaults, and the tune to 0.01."""
    return import_module("generic_parser").DotDict(
        turn_bits=20,
        output_bits=12,
        window="hann",
        tolerance=0.01,
        autotunes=None,
        nattunes=None,
        natdeltas=None,
        resonances=4,
        to_write=[],
    )


def _harpy_turns(values: Any) -> Any:
    """One BPM's turns as harpy takes them."""
    return import_module("pandas").DataFrame(values[None], index=["bpm"])

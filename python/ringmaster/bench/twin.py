# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench twin`: the twin beside pyAT, same lattice, one core, one process, by turns.

Before every timed call a quadrupole is changed, on both sides alike, so that nothing computed before can serve. What
the two say of the last change is compared: max|Δ| / max|reference| of each quantity, and the largest of these.
"""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import click
import numpy as np

from ringmaster.bench.log import Log, NotMeasured
from ringmaster.bench.measurement import FLOOR_S, Measurement, Turn
from ringmaster.bench.options import COUNT, SomeOf, option
from ringmaster.places import ProgramNotFound
from ringmaster.report.conditions import stall_floor
from ringmaster.report.headlines import Figure, of_all
from ringmaster.report.section import Table
from ringmaster.report.verdicts import Headline, cell, spread_cell
from ringmaster.twin import All, Kind, Radiation, Twin, TwinError, load_lattice, orbit_response
from ringmaster.twin.response import Steerer

PEER = "accelerator-toolbox==0.9.0"
SUFFIXES = (".mat", ".m")
ITS_OWN = ("hmba.mat",)
"""Lattices that pyAT brings along."""
CHANGE = 1e-6
"""Relative, of a quadrupole's strength."""
PARTICLES = 1000
BEAM = 1e-5
"""Standard deviation of all coordinates, m or 1."""
ELEMENTS_TRACKED = 20_000
"""Turns are as many as make about so many elements."""
STEERERS_TRACKED = 4
"""Of each plane, where the response is tracked: pyAT takes seconds for each."""
MS = 1e-3
KICK_RAD, RF_STEP_HZ = 1e-7, 1.0
FUNCTIONS = (
    *("linopt6", "refresh", "ohmi_envelope", "orbit_response_6d", "orbit_response_tracked"),
    *("orbit_response_analytic_against_tracking", "tracking", "tracking_radiation"),
)

Differences = dict[str, float]


@dataclass(frozen=True)
class Options:
    """Of which lattices, and how often."""

    lattices: tuple[Path, ...] = option(
        (),
        "A lattice (.mat, .m) or a folder of them, besides one that pyAT brings along.",
        click.Path(exists=True, path_type=Path),
        multiple=True,
        metavar="PATH",
    )
    functions: tuple[str, ...] = option(FUNCTIONS, "", SomeOf(FUNCTIONS), metavar="NAME,…")
    rounds: int = option(5, "Pairs of each function.", COUNT)


@dataclass(frozen=True)
class Row:
    """One function of one lattice."""

    lattice: str
    function: str
    is_6d: bool
    ours_s: float
    """Medians, of one call."""
    pyat_s: float
    ratio: float
    """Of adjacent calls, their median."""
    ours: Figure | None
    pyat: Figure | None
    ratios: Figure | None
    max_relative_difference: float
    differences: Differences
    """Of each quantity, max|Δ| / max|reference|."""
    size: str
    """How much was asked: points, steerers, particles."""
    xtrack_s: float | None
    """Of xtrack's tracking, where it is installed: as many kicks, but other maps."""

    @property
    def words(self) -> str:
        """On one line."""
        times = f"{self.ours_s * 1e3:.3g} ms, {self.ratio:.0f} × pyAT"
        return f"{self.lattice}, {self.function}: {times}, differs by {self.max_relative_difference:.1e}"


class Pair:
    """One lattice on both sides, in 6D where it has a cavity."""

    def __init__(self, path: Path) -> None:
        at = peer()
        self.path, self.name = path, path.stem
        self.twin = Twin(load_lattice(path))
        self.ring = (at.load_mat if path.suffix == ".mat" else at.load_m)(str(path))
        self.has_cavity = bool(len(self.twin.lattice.get_cavities()))
        self._knob = int(self.twin.lattice.find(kind=Kind.QUADRUPOLE)[0])
        self._strength = float(self.twin[self._knob].K)
        self._changes = 0
        self.switch(self.has_cavity)

    def switch(self, on: bool) -> None:
        """6D with radiation, or 4D."""
        for side in (self.twin, self.ring):
            if on:
                side.enable_6d()
            else:
                side.disable_6d()

    def switch_radiation_off(self) -> None:
        """And leave the cavities on."""
        self.switch(False)
        if self.has_cavity:
            self.ring.enable_6d(dipole_pass=None, quadrupole_pass=None, wiggler_pass=None)
            self.twin.enable_6d()
            self.twin.set_radiation(lambda element: "Rad" in element.PassMethod, Radiation.NONE)

    def change(self) -> None:
        """The same quadrupole on both sides, to a strength that it did not have before."""
        self._changes += 1
        strength = self._strength * (1.0 + CHANGE * self._changes)
        self.twin.set_value_refpts(self._knob, "K", strength)
        self.ring[self._knob].PolynomB[1] = strength

    def steerers(self, most: int | None) -> list[int]:
        """Indices of correctors, evenly spread where there are more than `most`."""
        found = self.twin.lattice.get_correctors()
        if not len(found):
            raise NotMeasured("it has no correctors")
        step = 1 if most is None else max(1, len(found) // most)
        return [int(i) for i in found[::step][:most]]


@dataclass(frozen=True)
class Contest:
    """A function on both sides, and how their results compare."""

    ours: Callable[[], Any]
    pyat: Callable[[], Any]
    compare: Callable[[Any, Any], Differences]
    size: str
    xtrack: Callable[[], Callable[[], Any]] | None = None
    """Makes a call of the same size, of xtrack's."""


def peer() -> Any:
    """The module `at`. Raises NotMeasured where it is not installed."""
    if find_spec("at") is None:
        raise NotMeasured(f"pyAT is not installed; `pip install {PEER}` installs it, as does `make test`")
    import at

    return at


def relative(ours: Any, theirs: Any) -> float:
    """max|Δ| / max|reference|; of two zeros 0."""
    difference, scale = float(np.max(np.abs(ours - theirs))), float(np.max(np.abs(theirs)))
    return difference / scale if scale else difference


def _optics(pair: Pair, refpts: Any) -> Contest:
    at = peer()

    def compare(ours: Any, theirs: Any) -> Differences:
        names = ("alpha", "beta", "mu", "dispersion", "closed_orbit", "M", "s_pos")
        fields = {name: relative(ours[2][name], theirs[2][name]) for name in names}
        return {"tune": relative(ours[1].tune, theirs[1].tune)} | fields

    theirs = range(len(pair.ring) + 1) if refpts is All else pair.twin.lattice.get_uint32_index(refpts)
    points = len(pair.twin.lattice.get_uint32_index(refpts))
    return Contest(
        lambda: pair.twin.linopt6(refpts), lambda: at.linopt6(pair.ring, refpts=theirs), compare, f"{points} points"
    )


def _linopt6(pair: Pair) -> Contest:
    return _optics(pair, All)


def _refresh(pair: Pair) -> Contest:
    return _optics(pair, Kind.MONITOR)


def _ohmi(pair: Pair) -> Contest:
    at = peer()
    if not pair.has_cavity:
        raise NotMeasured("it has no cavity")

    def compare(ours: Any, theirs: Any) -> Differences:
        names = ("r66", "m66", "orbit6", "emitXY")
        fields = {name: relative(ours[2][name], theirs[2][name]) for name in names}
        return fields | {name: relative(ours[1][name], theirs[1][name]) for name in ("tunes", "damping_rates")}

    points = len(pair.ring) + 1
    pyat = lambda: at.ohmi_envelope(pair.ring, refpts=range(points))  # noqa: E731
    return Contest(lambda: pair.twin.ohmi_envelope(All), pyat, compare, f"{points} points")


def _response(pair: Pair, tracked: bool, peer_tracks: bool) -> Contest:
    """Of the twin, by tracking or not, beside pyAT's, by tracking or not."""
    from at import OrbitResponseMatrix

    chosen = pair.steerers(STEERERS_TRACKED if peer_tracks else None)
    bpms = pair.twin.lattice.get_bpms()
    steerers: Sequence[Steerer] = [(i, plane) for plane in (0, 1) for i in chosen]
    options = {"tracked": tracked, "kick": KICK_RAD, "rf_step": RF_STEP_HZ}

    def pyat() -> Any:
        matrices = [OrbitResponseMatrix(pair.ring, p, bpms, chosen, steerdelta=KICK_RAD) for p in "hv"]
        return [matrix.build() if peer_tracks else matrix.build_analytical() for matrix in matrices]

    def compare(ours: Any, theirs: Any) -> Differences:
        count = len(chosen)
        own = ours[0, :, :count], ours[1, :, count : 2 * count]
        return {name: relative(mine, other) for name, mine, other in zip("xy", own, theirs, strict=True)}

    size = f"{len(bpms)} BPMs, {len(chosen)} steerers of each plane"
    return Contest(lambda: orbit_response(pair.twin, bpms, steerers, **options), pyat, compare, size)  # type: ignore[arg-type]


def _tracking(pair: Pair, radiation: bool = False) -> Contest:
    at = peer()
    turns = max(1, ELEMENTS_TRACKED // len(pair.ring))
    beam = np.asfortranarray(np.random.default_rng(1).normal(0.0, BEAM, (6, PARTICLES)))
    beam[5] = 0.0

    def ours() -> Any:
        return pair.twin.track(beam, turns, None, turn=0)[1]["rout"]

    def pyat() -> Any:
        return at.lattice_track(pair.ring, beam, turns, refpts=None, turn=0, omp_num_threads=1)[1]["rout"]

    def compare(mine: Any, other: Any) -> Differences:
        return {name: relative(mine[i], other[i]) for i, name in enumerate(("x", "px", "y", "py", "dp", "ct"))}

    def xtrack() -> Callable[[], Any]:
        from ringmaster.bench.xtrack_line import tracker

        return tracker(pair.twin, beam, turns, radiation)

    return Contest(ours, pyat, compare, f"{PARTICLES} particles, {turns} turns", xtrack)


def _radiating(pair: Pair) -> Contest:
    if not pair.has_cavity:
        raise NotMeasured("it has no cavity")
    return _tracking(pair, radiation=True)


MAKERS: dict[str, Callable[[Pair], Contest]] = {
    "linopt6": _linopt6,
    "refresh": _refresh,
    "ohmi_envelope": _ohmi,
    "orbit_response_6d": lambda pair: _response(pair, tracked=False, peer_tracks=False),
    "orbit_response_tracked": lambda pair: _response(pair, tracked=True, peer_tracks=True),
    "orbit_response_analytic_against_tracking": lambda pair: _response(pair, tracked=False, peer_tracks=True),
    "tracking": _tracking,
    "tracking_radiation": _radiating,
}


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begin = perf_counter()
    result = call()
    return perf_counter() - begin, result


def _measure(pair: Pair, function: str, rounds: int, log: Log) -> Row:
    pair.switch(pair.has_cavity)
    if function == "tracking":
        pair.switch_radiation_off()
    contest = MAKERS[function](pair)
    pair.change()
    mine, other = contest.ours(), contest.pyat()
    ours, theirs = [], []
    for _ in range(rounds):
        pair.change()
        seconds, mine = _timed(contest.ours)
        ours.append(seconds)
        seconds, other = _timed(contest.pyat)
        theirs.append(seconds)
    differences = contest.compare(mine, other)
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    spreads = of_all(ours, "rounds"), of_all(theirs, "rounds"), of_all(ratios, "rounds")
    medians = median(ours), median(theirs), median(ratios)
    worst = max(differences.values())
    other_s = _xtrack_s(contest, rounds, log)
    return Row(pair.name, function, pair.has_cavity, *medians, *spreads, worst, differences, contest.size, other_s)


def _xtrack_s(contest: Contest, rounds: int, log: Log) -> float | None:
    if contest.xtrack is None or find_spec("xtrack") is None:
        return None
    try:
        track = contest.xtrack()
        track()
    except ImportError as error:
        reason = str(error).partition(". ")[0]
        log.note(f"{contest.size}: xtrack is installed, but does not run ({reason}): not beside our figure")
        return None
    return median(_timed(track)[0] for _ in range(rounds))


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """Lattices of these files and folders, then those that pyAT brings along."""
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
        else:
            yield path
    import machine_data

    yield from (Path(next(iter(machine_data.__path__))) / name for name in ITS_OWN)


class TwinBesidePyAt(Measurement[Options, Row]):
    """Measure the twin beside pyAT: same lattice, one core, one process, by turns.

    Every timed call follows a change of a quadrupole. Ctrl-C prints what was measured so far.
    """

    name, title, options_type = "twin", "Digital twin", Options
    examples = (
        "",
        "--lattices ../shared/data/lattices --json > twin.json",
        "--lattices elettra2.mat --functions linopt6,refresh --rounds 9",
    )
    about = (
        "The twin beside pyAT: the same lattice, one core, one process, by turns; every call follows a change of a "
        "quadrupole. The ratio is pyAT's time to ours."
    )

    def __init__(self, options: Options, *watch: Any) -> None:
        super().__init__(options, *watch)
        self.core = max(os.sched_getaffinity(0))
        self._pair: Pair | None = None
        """Of the last turn."""

    @classmethod
    def fitted(cls, _seconds: float) -> Options:
        """The functions that are asked for most."""
        return Options(functions=("linopt6", "refresh", "ohmi_envelope", "tracking"), rounds=3)

    @contextmanager
    def around(self) -> Iterator[None]:
        """On one core; looks at it where our C programs are installed: the twin itself needs none of them."""
        if not self.options.lattices:
            self.note("no lattices given: only those that pyAT brings along; --lattices takes files and folders")
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {self.core})
        try:
            self._look_at_floor()
            yield
            self._look_at_floor()
        finally:
            os.sched_setaffinity(0, allowed)

    def _look_at_floor(self) -> None:
        try:
            self.floors.append(stall_floor(FLOOR_S, (self.core,)))
        except ProgramNotFound as error:
            self.note(f"stall floor: not measured: {error}")

    def turns(self) -> Generator[Turn]:
        """Lattice by lattice. Raises NotMeasured without pyAT."""
        peer()
        for path in _files(self.options.lattices):
            for function in self.options.functions:
                yield Turn(f"{path.stem}, {function}", partial(self._take, path, function))

    def _take(self, path: Path, function: str) -> Row:
        try:
            if self._pair is None or self._pair.path != path:
                self._pair = Pair(path)
            return _measure(self._pair, function, self.options.rounds, self)
        except TwinError as error:
            raise NotMeasured(str(error)) from error

    def headlines(self) -> list[Headline]:
        """The ratio to pyAT stands for all."""
        return [Headline(f"ratio.{row.lattice}.{row.function}", row.ratios, "×") for row in self.rows]

    def tables(self) -> list[Table]:
        """A row for each function."""
        rows = []
        for row in self.rows:
            times = (spread_cell(row.ours, MS), spread_cell(row.pyat, MS), spread_cell(row.ratios))
            other = "" if row.xtrack_s is None else cell(row.xtrack_s, MS)
            name = f"{row.lattice}, {row.function}"
            rows.append((name, row.size, *times, f"{row.max_relative_difference:.1e}", other))
        title = f"The twin beside {PEER}, core {self.core}, {self.options.rounds} rounds: medians (lowest–highest)"
        return [Table(title, ("function", "of", "ours ms", "pyAT ms", "ratio", "differs by", "xtrack ms"), rows)]

    def data(self) -> dict[str, object]:
        """By lattice and function."""
        lattices: dict[str, dict[str, object]] = {}
        for row in self.rows:
            lattices.setdefault(row.lattice, {})[row.function] = asdict(row)
        return {"peer": PEER, "core": self.core, "lattices": lattices}

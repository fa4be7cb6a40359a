# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench follow`: models in step with a machine, beside pyAT.

`update`: everything that a model does for a state of the machine, in this process on one core: all supplies moved by
noise, strengths set, closed orbit, linopt6 and ohmi_envelope at all BPMs, chromaticities at every fifth. pyAT does the
two calls alone. `live`: processes that follow a machine which this bench plays, one on each core; from a setpoint that
moves to the answer in the instance's stream.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from ringmaster.bench.follow_machine import TURN_RATE_HZ, Files, Player, files_of
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import PartByPart, Turn
from ringmaster.bench.options import COUNT, Finite, SomeOf, option
from ringmaster.bench.twin import PEER, peer
from ringmaster.errors import ObjectNotFound, WorkspaceError
from ringmaster.fabric.workspace import Workspace, attach
from ringmaster.programs.cores import allowed_cores
from ringmaster.programs.program import Program
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.headlines import Figure, of_all, of_values
from ringmaster.report.section import Table
from ringmaster.report.verdicts import Headline, cell, spread_cell
from ringmaster.twin import Kind, save_mat
from ringmaster.twins.instance import Instance
from ringmaster.twins.model import Model

PARTS = ("update", "live")
TARGET_HZ, TARGET_PERIODS = 150.0, 2.0
NOISE = 1e-4
"""Of each supply, in its unit, from update to update: 1 nrad of a corrector, 1e-7 of a gradient."""
START_S, ANSWER_S = 60.0, 10.0
MOVED = 0.5
"""Of a quadrupole's supply, whose answer is waited for."""
MS = 1e-3


@dataclass(frozen=True)
class Options:
    """Of which lattices, how long and how often."""

    lattices: tuple[str, ...] = option(
        ("elettra2_like",), "A lattice: a file, or the name of one that we ship.", multiple=True, metavar="LATTICE"
    )
    parts: tuple[str, ...] = option(PARTS, "", SomeOf(PARTS), metavar="PART,…")
    seconds: float = option(2.0, "Of a round.", Finite(0.2))
    rounds: int = option(3, "Of each.", COUNT)
    hz: float = option(TARGET_HZ, "What each instance is asked for.", Finite(1.0))
    instances: int = option(2, "That follow at once in `live`, each on a core as far as there are some.", COUNT)


@dataclass(frozen=True)
class Update:
    """A round of one lattice in this process."""

    lattice: str
    size: str
    ours_s: float
    """Median, of an update."""
    mean_s: float
    """With the chromaticities' share."""
    cpu_s: float
    """Median of the thread's own time: what a core that others take away costs is not in it."""
    cpu_mean_s: float
    calls_s: float
    """Of the two calls, linopt6 and ohmi_envelope, one after the other without a guess."""
    pyat_s: float | None
    count: int

    @property
    def words(self) -> str:
        """On one line."""
        beside = "" if self.pyat_s is None else f"; {self.pyat_s / self.ours_s:.0f} × pyAT"
        return f"{self.lattice}: {1e3 * self.ours_s:.2f} ms, {1 / self.mean_s:.0f} updates per second{beside}"


@dataclass(frozen=True)
class Live:
    """A round of one lattice: one entry for each instance."""

    lattice: str
    instances: int
    rates_hz: tuple[float, ...]
    missed: tuple[int, ...]
    answered_periods: tuple[float, ...]
    """From the turn at which a setpoint moved to the turn at which the answer was there, in periods."""
    took_ms: tuple[float, ...]

    @property
    def words(self) -> str:
        """On one line."""
        rates = ", ".join(f"{rate:.0f}" for rate in self.rates_hz)
        lags = ", ".join(f"{lag:.1f}" for lag in self.answered_periods)
        return f"{self.lattice}, {self.instances} at once: {rates} updates per second, answers after {lags} periods"


class Follow(PartByPart[Options]):
    """Measure models in step with a machine: updates per second, and how soon they answer, beside pyAT.

    An update is closed orbit, linopt6 and ohmi_envelope at all BPMs after all supplies have moved.
    """

    name, title, options_type = "follow", "Twins in step", Options
    examples = (
        "",
        "--lattices elettra2_like --lattices elettra2_s6bae.mat --json > follow.json",
        "--parts update --rounds 9",
    )
    meanings = """
\b
  update  in this process: everything a model does for a state of the machine
  live    processes that follow a machine which this bench plays
"""
    about = (
        "Models in step with a machine. An update: all supplies move, strengths are set, closed orbit, linopt6 and "
        "ohmi_envelope at all BPMs, chromaticities at each fifth. pyAT's two calls take turns in the same process."
    )

    def __init__(self, options: Options, *watch: Any) -> None:
        super().__init__(options, *watch)
        self._folder: Path | None = None
        self._files: dict[str, Files] = {}
        self._models: dict[str, Model] = {}

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """One lattice, fewer rounds."""
        return Options(seconds=max(0.5, min(2.0, seconds / 15)), rounds=2)

    @contextmanager
    def around(self) -> Iterator[None]:
        """Mappings and the workspace lie in a folder of their own."""
        with scratch_folder("follow") as folder, super().around():
            self._folder = Path(folder)
            yield

    def files(self, lattice: str) -> Files:
        """Of one lattice, made once."""
        assert self._folder is not None
        if lattice not in self._files:
            self._files[lattice] = files_of(lattice, self._folder)
        return self._files[lattice]

    def turns_of(self, part: str) -> Iterable[Turn]:
        """In each round all lattices."""
        for number in range(self.options.rounds):
            for lattice in self.options.lattices:
                take = partial(self._update if part == "update" else self._live, lattice)
                yield Turn(Path(lattice).stem, take, f"{number + 1}/{self.options.rounds} ")

    def _update(self, lattice: str) -> Update:
        files = self.files(lattice)
        if lattice not in self._models:
            self._models[lattice] = Model(Instance("bench", lattice, str(files.path)))
        assert self._folder is not None
        model = self._models[lattice]
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(before)})
        try:
            return _updated(model, Path(lattice).stem, self.options.seconds, _pyat(model, self._folder))
        finally:
            os.sched_setaffinity(0, before)

    def _live(self, lattice: str) -> Live:
        assert self._folder is not None
        files, cores = self.files(lattice), allowed_cores()
        workspace = self._folder / f"machine{len(self.rows)}"
        names = [f"twin{i}" for i in range(self.options.instances)]
        with ExitStack() as stack:
            player = stack.enter_context(Player(files, workspace).open())
            player.run(0.2)
            programs = [
                stack.enter_context(_started(files, name, self.options.hz, cores[i % len(cores)], workspace))
                for i, name in enumerate(names)
            ]
            _wait_for(player, workspace, names, programs)
            with attach(str(workspace)) as ws:
                return _watched(player, ws, names, files, Path(lattice).stem, self.options)

    def headlines(self) -> list[Headline]:
        """Updates per second of one core, and of instances at once; how soon an answer is there."""
        made = []
        for name in dict.fromkeys(row.lattice for row in self.of("update")):
            rows = [row for row in self.of("update") if row.lattice == name]
            rate = of_values([1 / row.mean_s for row in rows], "rounds")
            made.append(Headline(f"updates_per_s.{name}", rate, "1/s", TARGET_HZ, at_most=False))
            own = of_values([1 / row.cpu_mean_s for row in rows], "rounds")
            made.append(Headline(f"updates_per_cpu_s.{name}", own, "1/s", about="of the core's time that it had"))
            beside = [row.pyat_s / row.ours_s for row in rows if row.pyat_s is not None]
            made.append(Headline(f"ratio.{name}", of_values(beside, "rounds"), "×"))
        for name in dict.fromkeys(row.lattice for row in self.of("live")):
            rows = [row for row in self.of("live") if row.lattice == name]
            rates = of_values([min(row.rates_hz) for row in rows], "rounds")
            lags = of_values([max(row.answered_periods) for row in rows], "rounds")
            made.append(Headline(f"live_updates_per_s.{name}", rates, "1/s"))
            made.append(Headline(f"lag_periods.{name}", lags, "periods", TARGET_PERIODS))
        return made

    def tables(self) -> list[Table]:
        """By lattice and part."""
        tables = []
        if self.of("update"):
            rows = [
                (name, *_update_cells([row for row in self.of("update") if row.lattice == name]))
                for name in dict.fromkeys(row.lattice for row in self.of("update"))
            ]
            heads = ("lattice", "of", "update ms", "its CPU ms", "two calls ms", f"{PEER} ms", "updates per second")
            tables.append(Table("An update, on one core: medians (lowest–highest)", heads, rows))
        if self.of("live"):
            lines = [
                (
                    f"{row.lattice}, {row.instances} at once",
                    ", ".join(f"{rate:.0f}" for rate in row.rates_hz),
                    ", ".join(map(str, row.missed)),
                    ", ".join(f"{lag:.2f}" for lag in row.answered_periods),
                    ", ".join(f"{took:.1f}" for took in row.took_ms),
                )
                for row in self.of("live")
            ]
            titles = ("instances", "updates per second", "missed", "answered after periods", "an update took ms")
            tables.append(Table(f"Instances at once, asked for {self.options.hz:g} Hz", titles, lines))
        return tables

    def data(self) -> dict[str, object]:
        """All rounds."""
        return {"peer": PEER, **{part: [asdict(row) for row in self.of(part)] for part in self.options.parts}}


def _update_cells(rows: list[Update]) -> tuple[str, ...]:
    def figure(values: Iterable[float]) -> Figure | None:
        return of_all(list(values), "rounds")

    theirs = [row.pyat_s for row in rows if row.pyat_s is not None]
    return (
        rows[0].size,
        spread_cell(figure(row.ours_s for row in rows), MS),
        cell(median(row.cpu_s for row in rows), MS),
        cell(median(row.calls_s for row in rows), MS),
        cell(median(theirs), MS) if theirs else "",
        spread_cell(figure(1 / row.mean_s for row in rows)),
    )


def _pyat(model: Model, folder: Path) -> Callable[[], None] | None:
    """Its two calls at the same points, after a change of a quadrupole; None where it is not installed."""
    try:
        at = peer()
    except NotMeasured:
        return None
    path = folder / "for-pyat.mat"
    save_mat(model.twin.lattice, path)
    ring = at.load_mat(str(path))
    ring.enable_6d()
    knob = int(model.twin.lattice.find(kind=Kind.QUADRUPOLE)[0])
    points = np.array(model.mapping.bpms)

    def call() -> None:
        ring[knob].PolynomB[1] *= 1.0 + 1e-6
        ring.linopt6(points)
        ring.ohmi_envelope(points)

    return call


def _updated(model: Model, name: str, seconds: float, pyat: Callable[[], None] | None) -> Update:
    rng = np.random.default_rng(1)
    count = len(model.mapping.supplies)
    model.answer(np.zeros(count), 0.0)
    wall: list[float] = []
    cpu: list[float] = []
    until = perf_counter() + seconds
    while perf_counter() < until or len(wall) < 2 * model.instance.chromaticity_every:
        currents = rng.normal(0.0, NOISE, count)
        began, begun = perf_counter(), thread_time()
        model.answer(currents, 1e-3)
        wall.append(perf_counter() - began)
        cpu.append(thread_time() - begun)
    began = perf_counter()
    model.twin.linopt6(model.points)
    model.twin.ohmi_envelope(model.points)
    both = perf_counter() - began
    theirs = None
    if pyat is not None:
        began = perf_counter()
        pyat()
        theirs = perf_counter() - began
    size = f"{len(model.twin)} elements, {len(model.mapping.bpms)} BPMs, {count} supplies"
    return Update(
        name, size, median(wall), float(np.mean(wall)), median(cpu), float(np.mean(cpu)), both, theirs, len(wall)
    )


def _started(files: Files, name: str, hz: float, core: int, workspace: Path) -> Program:
    options = ("--as", name, "--map", str(files.path), "--hz", f"{hz:g}", "--core", str(core), "-w", str(workspace))
    return Program(sys.executable, "-m", "ringmaster", "twin", "follow", files.lattice, *options)


def _wait_for(player: Player, workspace: Path, names: list[str], programs: list[Program]) -> None:
    """Until all follow. Raises ProgramFailed, NotMeasured."""
    until = perf_counter() + START_S
    while perf_counter() < until:
        player.run(0.2)
        for program in programs:
            program.check()
        try:
            with attach(str(workspace)) as ws:
                if all(ws.parameters[f"{name}/looks"].number > 5 for name in names):
                    return
        except (ObjectNotFound, WorkspaceError, KeyError):
            continue
    raise NotMeasured(f"the instances did not follow within {START_S:g} s")


def _watched(player: Player, ws: Workspace, names: list[str], files: Files, lattice: str, options: Options) -> Live:
    def numbers(short: str) -> list[float]:
        return [ws.parameters[f"{name}/{short}"].number for name in names]

    periods = numbers("period_turns")
    looks, missed, began = numbers("looks"), numbers("missed"), perf_counter()
    player.run(options.seconds)
    elapsed = perf_counter() - began
    rates = tuple((after - before) / elapsed for before, after in zip(looks, numbers("looks"), strict=True))
    lost = tuple(int(after - before) for before, after in zip(missed, numbers("missed"), strict=True))
    tunes = numbers("tune_x")
    answered = [float("nan")] * len(names)
    player.put(files.quadrupole, MOVED)
    moved_s = perf_counter()

    def seen(_turn: int) -> bool:
        for i, tune in enumerate(numbers("tune_x")):
            if np.isnan(answered[i]) and abs(tune - tunes[i]) > 1e-6:
                answered[i] = (perf_counter() - moved_s) * TURN_RATE_HZ / periods[i]
        return not np.isnan(answered).any()

    player.run(ANSWER_S, seen)
    if np.isnan(answered).any():
        raise NotMeasured(f"no answer to a moved setpoint within {ANSWER_S:g} s")
    return Live(lattice, len(names), rates, lost, tuple(answered), tuple(numbers("duration_ms")))

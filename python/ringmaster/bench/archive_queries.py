# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench archive`: how long a question to a day of reductions takes, beside h5py on the same numbers."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import h5py
import numpy as np
import numpy.typing as npt

from ringmaster.archive.archive import Archive
from ringmaster.archive.window import ReducedWindow
from ringmaster.bench.archive_day import BEGIN_NS, LANES, STEPS_S, Day, write_day
from ringmaster.bench.measurement import Measurement, windows_within
from ringmaster.bench.options import COUNT, Finite, option
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.headlines import Figure
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline

P99_S = 1.0
"""Target."""
POINTS = 2000
SHORTEST_S = 60.0

Extremes = tuple[float, float]
"""The smallest and the largest value of a lane in a span."""


@dataclass(frozen=True)
class Question:
    """What did this lane do from then on, for so long?"""

    bpm: str
    lane: int
    begin_s: float
    """Since the day began."""
    seconds: float


@dataclass(frozen=True)
class Options:
    """How much of it."""

    rounds: int = option(4, "In which both are asked the same; figures are theirs.", COUNT)
    queries: int = option(200, "Of a round.", COUNT)
    bpms: int = option(168, "In the day.", COUNT)
    hours: float = option(24.0, "Of the day.", Finite(0.05))
    folder: str = option("", "Where the day is written, some 1.5 GB; without it, the folder of temporary files.")


@dataclass(frozen=True)
class Window:
    """A round of one of the two."""

    peer: str
    p50_s: float
    p99_s: float
    max_s: float

    @property
    def words(self) -> str:
        """On a line."""
        return f"{self.peer}: p50 {self.p50_s * 1e3:.2f} ms, p99 {self.p99_s * 1e3:.2f} ms"


class ArchiveQueries(Measurement[Options, Window]):
    """Measure questions to a day of reductions in an archive, with a cold cache, beside h5py.

    The day has the reductions of all BPMs in steps of a second and of a minute. A question is for the extremes of one
    lane over a random span of a minute up to the day, read by the reduction that has 2000 points. Before each the
    kernel is asked to forget the files. h5py answers the same questions from the same numbers, in chunks of 4096 steps.
    Both hold their files open, and their answers are compared.
    """

    name, title, options_type = "archive", "Questions to an archive", Options
    examples = ("", "--json > archive.json", "--bpms 8 --hours 1 --rounds 1")
    about = (
        "Random questions to a synthetic day of reductions, with a cold page cache: the extremes of a lane over a span "
        "of a minute up to a day. Beside it h5py on the same reductions, asked the same."
    )

    day: Day
    ask: dict[str, Callable[[Question], Extremes]]

    @classmethod
    def peers(cls, _options: Options) -> Sequence[str]:
        """Both, in each round."""
        return ("archive", "h5py")

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """As many rounds as fit behind the writing of a smaller day."""
        return Options(windows_within(seconds - 10, 5.0), 100, 168, 2.0)

    @contextmanager
    def around(self) -> Iterator[None]:
        """The day is written before, and removed after."""
        with scratch_folder("bench", self.options.folder or None) as folder, super().around():
            self.day = write_day(Path(folder), self.options.bpms, self.options.hours)
            for path in self.day.files:
                with path.open("rb") as file:
                    os.fsync(file.fileno())  # only what is on the disk can be forgotten
            with Archive(self.day.archive) as archive, h5py.File(self.day.hdf5) as hdf5:
                self.ask = {"archive": lambda q: ask_archive(archive, q), "h5py": lambda q: ask_hdf5(hdf5, q)}
                self._compare()
                yield

    def _compare(self) -> None:
        for question in questions(self.day, self.options.hours, 20, seed=0):
            ours, theirs = self.ask["archive"](question), self.ask["h5py"](question)
            if ours != theirs:
                self.note(f"the answers to {question} differ: {ours} and {theirs}")

    def take(self, peer: str) -> Window:
        """A round of one of them."""
        took = []
        for question in questions(self.day, self.options.hours, self.options.queries, seed=1 + len(self.rows) // 2):
            forget(self.day.files)
            begin = perf_counter()
            self.ask[peer](question)
            took.append(perf_counter() - begin)
        p50, p99 = np.percentile(took, [50, 99], method="higher")
        return Window(peer, float(p50), float(p99), max(took))

    def headlines(self) -> list[Headline]:
        """The one with a target first."""

        def of(peer: str, member: str) -> Figure | None:
            return self.figure(lambda row: getattr(row, member) if row.peer == peer else None)

        return [
            Headline("query_p99_s", of("archive", "p99_s"), "s", P99_S, about="a question, cold, p99"),
            Headline("query_p50_s", of("archive", "p50_s"), "s", about="p50"),
            Headline("h5py_query_p99_s", of("h5py", "p99_s"), "s", about="h5py on the same reductions, p99"),
            Headline("h5py_query_p50_s", of("h5py", "p50_s"), "s", about="p50"),
        ]

    def tables(self) -> list[Table]:
        """Every round."""
        columns: Columns = {
            "": lambda row: row.peer,
            "p50 ms": lambda row: row.p50_s * 1e3,
            "p99 ms": lambda row: row.p99_s * 1e3,
            "longest ms": lambda row: row.max_s * 1e3,
        }
        return [Table.of("Questions, round by round", self.rows, columns)] if self.rows else []

    def data(self) -> dict[str, object]:
        """Every round."""
        return {"windows": [asdict(row) for row in self.rows]}


def questions(day: Day, hours: float, count: int, seed: int) -> list[Question]:
    """Spans are as often short as long: their lengths are even in the logarithm."""
    rng = np.random.default_rng(seed)
    whole_s = hours * 3600
    found = []
    for _ in range(count):
        seconds = float(np.exp(rng.uniform(np.log(min(SHORTEST_S, whole_s)), np.log(whole_s))))
        begin = float(rng.uniform(0, whole_s - seconds))
        bpm = day.bpms[rng.integers(len(day.bpms))]
        found.append(Question(bpm, int(rng.integers(len(LANES))), begin, seconds))
    return found


def forget(files: Sequence[Path]) -> None:
    """Asks the kernel to drop what it has of them in memory."""
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def ask_archive(archive: Archive, question: Question) -> Extremes:
    """By the view that an operator's plot takes."""
    begin = np.datetime64(BEGIN_NS + round(question.begin_s * 1e9), "ns")
    end = begin + np.timedelta64(round(question.seconds * 1e9), "ns")
    window = archive.view(question.bpm, begin, end, POINTS)
    assert isinstance(window, ReducedWindow)
    lane = LANES[question.lane].name
    return _extremes(window.min(lane), window.max(lane))


def ask_hdf5(file: h5py.File, question: Question) -> Extremes:
    """The same steps, of the coarsest dataset that has as many."""
    end_s = question.begin_s + question.seconds

    def steps(step_s: int) -> tuple[int, int]:
        return -int(-question.begin_s // step_s), -int(-end_s // step_s)

    fine = [step_s for step_s in STEPS_S if steps(step_s)[1] - steps(step_s)[0] >= POINTS]
    step_s = max(fine) if fine else min(STEPS_S)
    first, last = steps(step_s)
    values = file[f"{question.bpm}/{step_s}"][first:last, question.lane]
    return _extremes(values[:, 0], values[:, 2])


def _extremes(low: npt.NDArray[np.floating], high: npt.NDArray[np.floating]) -> Extremes:
    if not len(low):
        return (np.nan, np.nan)
    return float(np.nanmin(low)), float(np.nanmax(high))

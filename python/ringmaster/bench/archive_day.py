# SPDX-License-Identifier: Apache-2.0
"""A synthetic day of reductions, twice: in an archive, and in an HDF5 file as one would write it with h5py."""

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt

from ringmaster.archive.archive import Archive
from ringmaster.archive.write import Described, LogFile
from ringmaster.fabric.layout import LaneType
from ringmaster.fabric.stream import Lane

TURN_RATE_HZ = 1_157_000
DAY_S = 86_400
STEPS_S = (1, 60)
LANES = (Lane("x1", "nm", LaneType.I32), Lane("y1", "nm", LaneType.I32))
BEGIN_NS = 1_790_000_000 * 10**9
"""In UTC; the host's TAI − UTC is 37 s."""
CHUNK_STEPS = 4096
"""Of the HDF5 file: 128 KiB."""


@dataclass(frozen=True)
class Day:
    """Both, on the disk."""

    archive: Path
    hdf5: Path
    bpms: tuple[str, ...]

    @property
    def files(self) -> list[Path]:
        """All that a query may read."""
        return [*self.archive.glob("*/*.rmlog"), self.hdf5]

    @property
    def plain_bytes(self) -> int:
        """Of the steps in the archive."""
        return sum(reduction.plain_bytes for reduction in Archive(self.archive).all_reductions)


def write_day(folder: Path, bpms: int, hours: float) -> Day:
    """The reductions of so many BPMs in steps of a second and of a minute."""
    names = tuple(f"bpm{i + 1:03d}/turn" for i in range(bpms))
    seconds = int(hours * 3600)
    day = Day(folder / "archive", folder / "day.h5", names)
    rng = np.random.default_rng(1)
    with h5py.File(day.hdf5, "x") as hdf5:
        for step_s in STEPS_S:
            count = seconds // step_s
            begin_tai_ns = BEGIN_NS + 37 * 10**9
            with LogFile(day.archive, f"every-{step_s}s", TURN_RATE_HZ, begun_tai_ns=begin_tai_ns) as file:
                for name in names:
                    what = Described(name, LANES, period=step_s * TURN_RATE_HZ, reduced=True)
                    steps = _steps(rng, count, what.period)
                    last_ns = begin_tai_ns + (count - 1) * step_s * 10**9
                    file.append(file.describe(what), what, steps, 0, (begin_tai_ns, last_ns))
                    values = np.stack([steps[lane.name] for lane in LANES], axis=1)
                    chunks = (min(CHUNK_STEPS, count), len(LANES), 4)
                    hdf5.create_dataset(f"{name}/{step_s}", data=values, chunks=chunks)
    return day


def _steps(rng: np.random.Generator, count: int, period: int) -> npt.NDArray[np.void]:
    kind = [("turn", "<u8"), ("present", "<u4"), ("missing", "<u4"), *((lane.name, "<f4", (4,)) for lane in LANES)]
    steps = np.zeros(count, kind)
    steps["turn"] = np.arange(count, dtype=np.uint64) * np.uint64(period)
    steps["present"] = period
    for lane in LANES:
        mean = np.cumsum(rng.normal(0, 10, count))
        spread = rng.uniform(100, 200, count)
        steps[lane.name] = np.stack([mean - 3 * spread, mean, mean + 3 * spread, spread], axis=1)
    return steps

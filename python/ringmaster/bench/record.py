# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench record`: how fast the recorder writes, beside fio, which writes the same blocks and nothing else.

Ours is the recorder's own path on one core (bench/record_speed.c): records are taken out of eight streams in memory
and checked, or frames of 3.75 MB are leased of eight cameras. They are summed up, put into blocks, written by O_DIRECT
and synced, in files that are sealed. fio writes one file, whose room is there before the time begins, to the same disk:
as large blocks out of as large pages, as many on their way, synced as often. They take turns.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import click

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import Measurement
from ringmaster.bench.options import COUNT, Finite, option
from ringmaster.bench.printed import figures, printed
from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline

PROGRAM = "ringmaster-record-speed"
FIO = "fio is not installed (apt-get install fio): nothing stands beside our figures"
RATIO = 0.8
"""Target: ours to fio's."""
FLUSH_S = 0.4
"""The recorder syncs so often."""
DEPTH = 8
"""Blocks on their way: the buffers of a log."""
ROOM_BYTES_PER_S = 5e9
"""What fio's file has room for."""
LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""So that fio's blocks lie in large pages, as ours do: out of small ones the disk gets five requests for one."""
LIMIT_S = 120.0
WHAT = ("streams", "images")


@dataclass(frozen=True)
class Options:
    """How much of it."""

    rounds: int = option(8, "Of each peer, by turns.", COUNT)
    seconds: float = option(2.0, "Of each turn.", Finite(0.1))
    what: str = option("streams", "What is recorded: streams, or the frames of eight cameras.", click.Choice(WHAT))
    folder: str = option("/var/tmp", "On the disk that is measured; 5 GB a second are written there, and removed.")


@dataclass(frozen=True)
class Turn:
    """What one of them wrote."""

    peer: str
    bytes_per_s: float
    cores: float
    """Of one core that it took, 1 being all of it."""
    block_bytes: int

    @property
    def words(self) -> str:
        """On one line."""
        return f"{self.peer}: {self.bytes_per_s / 1e6:.0f} MB/s with {self.cores:.2f} of a core"


class Record(Measurement[Options, Turn]):
    """Measure how fast the recorder writes on one core, beside fio's direct writes to the same disk.

    fio writes blocks of the same size, as deep, synced as often. Bytes are uncompressed. Ctrl-C prints what was
    measured so far.
    """

    name, title, options_type = "record", "Recording", Options
    examples = ("", "--json > record.json", "--folder /data --rounds 4", "--folder /data --what images")
    about = (
        "How fast the recorder writes on one core: records of eight streams, or frames of eight cameras, checked, "
        "summed up, written by O_DIRECT and synced, beside fio's sequential O_DIRECT writes of the same blocks with "
        "the same syncs, by turns."
    )

    folder: Path

    @classmethod
    def peers(cls, _options: Options) -> Sequence[str]:
        """Ours first, since fio needs to know how many blocks there are between two syncs."""
        return ("ours", "direct write")

    @contextmanager
    def around(self) -> Iterator[None]:
        """In a folder that is removed."""
        with scratch_folder("record", self.options.folder) as folder, super().around():
            self.folder = Path(folder)
            yield

    def take(self, peer: str) -> Turn:
        """One of them, on the second core."""
        return self._ours() if peer == "ours" else self._fio()

    def _ours(self) -> Turn:
        seconds, core = self.options.seconds, cores()[-1]
        command = [find_program(PROGRAM), str(self.folder), "--seconds", f"{seconds:g}", "--core", str(core)]
        command += ["--images"] if self.options.what == "images" else []
        return figures(PROGRAM, printed("ours", command, seconds + LIMIT_S), ours_of)

    def _fio(self) -> Turn:
        if shutil.which("fio") is None:
            raise NotMeasured(FIO)
        latest = [row for row in self.rows if row.peer == "ours"]
        block = latest[-1].block_bytes if latest else 4 << 20
        rate = latest[-1].bytes_per_s if latest else 1e9
        seconds = self.options.seconds
        command = fio_command(self.folder, seconds, block, rate)
        said = printed("fio", command, seconds + LIMIT_S, environment=LARGE_PAGES)
        return figures("fio", said, lambda made: fio_of(made, block))

    def of(self, peer: str) -> list[Turn]:
        """Its turns."""
        return [row for row in self.rows if row.peer == peer]

    def headlines(self) -> list[Headline]:
        """The ratio has a target."""

        def figure(peer: str, value: Callable[[Turn], float]) -> Figure | None:
            return of_values(map(value, self.of(peer)), "rounds")

        pairs = zip(self.of("ours"), self.of("direct write"), strict=False)
        ratio = of_values((ours.bytes_per_s / direct.bytes_per_s for ours, direct in pairs), "pairs")
        return [
            Headline("ratio_to_direct_write", ratio, "×", RATIO, at_most=False, about="ours to fio, pair by pair"),
            Headline(
                "ours_bytes_per_s", figure("ours", lambda turn: turn.bytes_per_s), "B/s", about="recorded, one core"
            ),
            Headline(
                "direct_write_bytes_per_s",
                figure("direct write", lambda turn: turn.bytes_per_s),
                "B/s",
                about="fio, sequential O_DIRECT",
            ),
            Headline(
                "ours_cores", figure("ours", lambda turn: turn.cores), "cores", about="that the recorder took of one"
            ),
        ]

    def tables(self) -> list[Table]:
        """Both, all rounds."""
        columns: Columns = {
            "": lambda one: one[0],
            "MB/s": lambda one: median(turn.bytes_per_s for turn in one[1]) / 1e6,
            "least": lambda one: min(turn.bytes_per_s for turn in one[1]) / 1e6,
            "most": lambda one: max(turn.bytes_per_s for turn in one[1]) / 1e6,
            "of a core": lambda one: median(turn.cores for turn in one[1]),
        }
        seen = [(peer, self.of(peer)) for peer in self.peers(self.options) if self.of(peer)]
        return [Table.of("Written to the same disk by turns", seen, columns)] if seen else []

    def data(self) -> dict[str, object]:
        """Every turn."""
        return {"turns": [asdict(turn) for turn in self.rows]}


def fio_command(folder: Path, seconds: float, block_bytes: int, bytes_per_s: float) -> list[str]:
    """As we write: direct, by io_uring, synced as often, into a file that has its room.

    But for registered buffers: with them the kernel refuses fio's syncs (3.33 leaves a buffer's number in their
    entries), and fio says nothing.
    """
    blocks = max(1, round(bytes_per_s * FLUSH_S / block_bytes))
    settings: dict[str, Any] = {
        "name": "direct",
        "directory": folder,
        "size": int(seconds * ROOM_BYTES_PER_S),
        "fallocate": "native",
        "unlink": 1,
        "bs": block_bytes,
        "rw": "write",
        "direct": 1,
        "ioengine": "io_uring",
        "iodepth": DEPTH,
        "fdatasync": blocks,
        "end_fsync": 1,
        "runtime": f"{seconds:g}",
        "cpus_allowed": cores()[-1],
        "output-format": "json",
    }
    return ["fio", *(f"--{name}={value}" for name, value in settings.items())]


def ours_of(said: dict[str, Any]) -> Turn:
    """From the JSON of our program."""
    seconds = float(said["seconds"])
    return Turn("ours", said["bytes"] / seconds, said["cpu_seconds"] / seconds, int(said["block_bytes"]))


def fio_of(said: dict[str, Any], block_bytes: int) -> Turn:
    """From fio's JSON."""
    job = said["jobs"][0]
    return Turn("direct write", float(job["write"]["bw_bytes"]), (job["usr_cpu"] + job["sys_cpu"]) / 100, block_bytes)

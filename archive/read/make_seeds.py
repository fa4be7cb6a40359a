# SPDX-License-Identifier: Apache-2.0
"""Writes small files of an archive, whole and unsealed, where fuzz_archive begins: make_seeds.py FOLDER."""

import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python/tests"))
from archive_writer import BLOSC, EVENTS, IMAGE, PLAIN, REDUCED, ArchiveWriter, Description, Image, LogWriter


def fill(file: LogWriter) -> None:
    """One of everything."""
    stream = file.describe(Description("bpm01/turn", group_delay_turns=5.5, closing_delay_turns=11.0))
    reduced = file.describe(Description("bpm01/turn", kind=REDUCED, period=4))
    events = file.describe(Description("events", kind=EVENTS, period=0, lanes=()))
    for codec, first in ((0, 0), (1, 8), (0, 32)):
        records = b"".join(struct.pack("<QQ12i", turn, 0, *range(turn, turn + 12)) for turn in range(first, first + 8))
        file.records(stream, records, 64, first, (first, first + 7), codec=codec)
    file.records(reduced, struct.pack("<QII8f", 0, 4, 0, *range(8)), 48, 0, (0, 0), kind=REDUCED)
    file.mark(stream, 4, 16, 31, 16)
    camera = file.describe(Description("cam01", kind=IMAGE, period=0, lanes=()))
    for number, codec in ((7, PLAIN), (8, BLOSC), (10, PLAIN)):
        what = Image(number, turn=100 + number, tai_ns=1000 + number, placed=1 if number == 10 else 2)
        file.image(camera, what, bytes(range(number, number + 32)), (0,) if number == 10 else (0, 1), codec)
    file.events(events, [{"event": "put", "name": "a", "value": 1}], (0, 1))


def main() -> None:
    """Writes both."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    writer = ArchiveWriter(folder / "archive.d")
    for number, finish in enumerate((LogWriter.seal, LogWriter.save), 1):
        file = writer.file("turns", number)
        fill(file)
        file.path = folder / f"{number}.rmlog"
        finish(file)
    for rest in sorted((folder / "archive.d").rglob("*"), reverse=True):
        rest.rmdir() if rest.is_dir() else rest.unlink()
    (folder / "archive.d").rmdir()


if __name__ == "__main__":
    main()

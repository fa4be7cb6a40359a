# SPDX-License-Identifier: Apache-2.0
"""Turn-by-turn files of others, put into an archive as streams of a log of their own."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ringmaster.archive.write import Described, LogFile
from ringmaster.errors import ArchiveArgument
from ringmaster.fabric import layout
from ringmaster.fabric.stream import Lane
from ringmaster.recordings.recording import RecordedInstrument


def import_recording(
    archive: Path,
    log: str,
    instruments: Sequence[RecordedInstrument],
    turn_rate_hz: float,
    begin_utc_ns: int,
    first_turn: int = 0,
    tai_minus_utc_s: int = 37,
) -> Path:
    """Writes a file of the log; returns its path. What the recording misses is missing in the archive.

    Raises ArchiveArgument where the folder is no archive, or the log's name is none.
    """
    if not log.replace("-", "").replace("_", "").isalnum() or log in ("pinned", "events"):
        raise ArchiveArgument(f"{log!r}: expected a name of letters, digits, - and _ that the recorder does not use")
    begin_tai_ns = begin_utc_ns + tai_minus_utc_s * 10**9
    with LogFile(archive, log, turn_rate_hz, tai_minus_utc_s, begin_tai_ns) as file:
        for number, instrument in enumerate(instruments, 1):
            what = Described(
                f"{instrument.name}/turn",
                [Lane(lane.name, lane.unit, lane.type) for lane in instrument.lanes],
                instrument_kind=instrument.kind,
                instrument_id=number,
                calibrated=instrument.calibrated,
            )
            end_tai_ns = begin_tai_ns + round((instrument.turns - 1) / turn_rate_hz * 1e9)
            records = _records(instrument, first_turn)
            file.append(file.describe(what), what, records, first_turn, (begin_tai_ns, end_tai_ns))
    return file.path


def _records(instrument: RecordedInstrument, first_turn: int) -> npt.NDArray[np.void]:
    records = np.zeros(instrument.turns, [("turn", "<u8"), ("tag", "<u8"), ("lane", "<u4", (layout.LANES,))])
    records["turn"] = first_turn + np.arange(instrument.turns)
    for i, lane in enumerate(instrument.lanes):
        records["lane"][:, i] = np.ascontiguousarray(lane.values).view("<u4")
    if instrument.ok is not None:
        records[~instrument.ok] = np.zeros((), records.dtype)
        records["turn"][~instrument.ok] = layout.TURN_NONE
    return records

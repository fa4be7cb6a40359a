# SPDX-License-Identifier: Apache-2.0
"""Records reduced while they are read, piece by piece: for views of what the recorder did not reduce."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ringmaster.archive.stored import Range
from ringmaster.archive.window import ArchiveWindow, ReducedWindow

if TYPE_CHECKING:
    from ringmaster.archive.stream import StoredStream

PIECE_RECORDS = 1 << 17


def binned(stream: "StoredStream", ranges: list[Range], points: int) -> ReducedWindow:
    """About so many steps of equal length over these ranges; the last step of a range may be shorter."""
    records = sum(one.records for one in ranges)
    per_step = max(1, -(-records // points))
    per_piece = per_step * max(1, PIECE_RECORDS // per_step)
    made = []
    for one in ranges:
        for at in range(0, one.records, per_piece):
            piece = Range(one.run, one.first_turn + at * stream.period, min(per_piece, one.records - at))
            made.append(_reduced(stream.read_window([piece]), per_step))
    epochs = np.concatenate([window.epochs[::per_step] for window, _ in made])
    return ReducedWindow(
        turn=np.concatenate([window.turn[::per_step] for window, _ in made]),
        result=np.concatenate([_results(window, per_step) for window, _ in made]),
        steps=np.concatenate([steps for _, steps in made]),
        period=per_step * stream.period,
        turn_epoch=int(epochs[-1]),
        epochs=epochs,
        tai_ns=np.concatenate([window.tai_ns[::per_step] for window, _ in made]),
        utc_ns=np.concatenate([window.utc_ns[::per_step] for window, _ in made]),
    )


def _results(window: ArchiveWindow, per_step: int) -> npt.NDArray[np.uint8]:
    """The best of each step: of a step where some records were had, that they were."""
    return np.minimum.reduceat(window.result, np.arange(0, len(window), per_step))


def _reduced(window: ArchiveWindow, per_step: int) -> tuple[ArchiveWindow, npt.NDArray[np.void]]:
    begins = np.arange(0, len(window), per_step)
    lengths = np.diff([*begins, len(window)])
    present = np.add.reduceat(window.ok.astype(np.int64), begins)
    kind = [("turn", "<u8"), ("present", "<u4"), ("missing", "<u4"), *((name, "<f4", (4,)) for name in window.lanes)]
    steps = np.zeros(len(begins), kind)
    steps["turn"], steps["present"], steps["missing"] = window.turn[begins], present, lengths - present
    some = np.maximum(present, 1)
    for name in window.lanes:
        values = window.values(name)
        mean = np.add.reduceat(np.where(window.ok, values, 0.0), begins) / some
        apart = np.where(window.ok, values - np.repeat(mean, lengths), 0.0)
        deviation = np.sqrt(np.add.reduceat(apart**2, begins) / some)
        low, high = np.fmin.reduceat(values, begins), np.fmax.reduceat(values, begins)
        steps[name] = np.where(present > 0, np.stack([low, mean, high, deviation]), np.nan).T
    return window, steps

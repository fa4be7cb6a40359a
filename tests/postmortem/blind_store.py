# SPDX-License-Identifier: Apache-2.0
"""Events of the blind trial on disk, 10 MB each: making one takes longer than ranking its causes once more."""

from pathlib import Path
from typing import Any

import numpy as np
from blind_ring import Happening

from ringmaster.fabric.layout import InstrumentKind
from ringmaster.postmortem.evidence import Series

MISSING = np.iinfo(np.int32).min
"""Of a reading: not had."""


def save_event(path: Path, truth: Happening, length: float, series: list[Series]) -> None:
    """What happened, how well it can be seen, and what was read. Readings are whole numbers."""
    arrays: dict[str, Any] = {f"values{i}": _whole(one) for i, one in enumerate(series)}
    lanes = ["\n".join(one.lanes) for one in series]
    units = ["\n".join(one.units) for one in series]
    about = [(int(one.kind), one.period_turns, int(one.turn[0]), len(one.turn)) for one in series]
    names = [one.name for one in series]
    part = path.with_suffix(".part.npz")
    np.savez(part, truth=repr(truth), length=length, names=names, lanes=lanes, units=units, about=about, **arrays)
    part.rename(path)


def load_event(path: Path, truth: Happening) -> tuple[float, list[Series]] | None:
    """None where there is no such file, or it is of another event."""
    if not path.is_file():
        return None
    with np.load(path) as file:
        if str(file["truth"]) != repr(truth):
            return None
        made = []
        for i, name in enumerate(file["names"]):
            kind, period, first, count = (int(number) for number in file["about"][i])
            turn = (first + np.arange(count) * period).astype(np.uint64)
            lanes, units = (tuple(str(file[key][i]).split("\n")) for key in ("lanes", "units"))
            values = file[f"values{i}"]
            physical = np.where(values == MISSING, np.nan, values.astype(np.float64))
            made.append(Series(str(name), InstrumentKind(kind), period, turn, lanes, units, physical))
        return float(file["length"]), made


def _whole(series: Series) -> np.typing.NDArray[np.int32]:
    return np.where(np.isfinite(series.values), series.values, MISSING).astype(np.int32)

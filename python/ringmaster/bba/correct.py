# SPDX-License-Identifier: Apache-2.0
"""Offsets put in: as the golden orbit of the feedback, a change with an undo, and as a new table of calibrations."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ringmaster.bba.analyse import Offset
from ringmaster.fabric.calibration import LAYOUT, ORDERS, VERSION, Calibration, Units
from ringmaster.fabric.workspace import Workspace
from ringmaster.feedback.loop import Feedback
from ringmaster.feedback.matrix import save_values
from ringmaster.feedback.names import LENGTHS

_COLUMN = re.compile(r"^\s*(?P<name>[^\[\]]+?)\s*(?:\[(?P<unit>[^\]]*)\])?\s*$")
ANGLES = {"rad": 1.0, "mrad": 1e-3, "urad": 1e-6, "µrad": 1e-6}
OURS = "mechanical_offset"


def golden(ws: Workspace, name: str, offsets: Sequence[Offset], rows: Sequence[str]) -> dict[str, float]:
    """What to put: the elements of the golden orbit of the feedback ``name``, nm, by name. Raises ValueError."""
    feedback = Feedback(ws, name, None)
    at = {row: i for i, row in enumerate(feedback.need_matrix().rows)}
    values = {}
    for one in offsets:
        for plane in (0, 1):
            row = rows[2 * one.bpm + plane]
            if row in at:
                values[f"{name}/golden[{at[row]}]"] = float(round(one.offset_nm[plane]))
    if not values:
        raise ValueError(f"none of these BPMs is a row of {name}: its rows are such as {next(iter(at), 'none')}")
    return values


def save_orbit(path: Path, offsets: Sequence[Offset], rows: Sequence[str], title: str) -> None:
    """Lines NAME,nm for `ringmaster orbit correct --target` and `ringmaster feedback golden`."""
    values = {rows[2 * one.bpm + plane]: one.offset_nm[plane] for one in offsets for plane in (0, 1)}
    save_values(path, list(values), np.round(list(values.values())), title)


def table(before: str | None, offsets: Sequence[Offset], rows: Sequence[str], place: str = "table") -> str:
    """A table of calibrations with these mechanical offsets, CSV: a new one in mm, or what stood there before with
    them. What the other steps of the table make of a reading is taken into account. Raises ValueError.
    """
    wanted = {_bpm_of(rows[2 * one.bpm]): one for one in offsets}
    if before is None:
        return _new(wanted)
    comments = [line for line in before.splitlines() if line.startswith("#")]
    body = [line for line in before.splitlines() if line.strip() and not line.startswith("#")]
    read = list(csv.reader(body))
    if not read or "instrument" not in [cell.strip() for cell in read[0]]:
        raise ValueError(f"{place}: no column `instrument`; `ringmaster calibration template` makes such a table")
    header = [cell.strip() for cell in read[0]]
    entries = [dict(zip(header, (cell.strip() for cell in line), strict=False)) for line in read[1:]]
    unit = _unit_of(header, place)
    for plane in "xy":
        if f"{plane}.{OURS} [{unit}]" not in header:
            header.append(f"{plane}.{OURS} [{unit}]")
    left = dict(wanted)
    for entry in entries:
        one = left.pop((entry["instrument"], entry.get("bpm", "")), None)
        if one is not None:
            entry |= dict(zip((f"{p}.{OURS} [{unit}]" for p in "xy"), _converted(entry, one, unit), strict=True))
    if left:
        instrument, number = next(iter(left))
        raise ValueError(f"{place}: it has no row of {instrument}, bpm {number}, which was measured: add it")
    return _written(comments, header, entries)


def _bpm_of(row: str) -> tuple[str, str]:
    """Instrument and number, of "bpm01/x2"."""
    instrument, _, lane = row.rpartition("/")
    return instrument, lane[1:]


def _new(wanted: Mapping[tuple[str, str], Offset]) -> str:
    header = ["instrument", "bpm", "x.gain [mm/nm]", "y.gain [mm/nm]", f"x.{OURS} [mm]", f"y.{OURS} [mm]"]
    entries = [
        dict(
            zip(header, (instrument, number, "1e-6", "1e-6", *(f"{v * 1e-6:.6f}" for v in one.offset_nm)), strict=True)
        )
        for (instrument, number), one in wanted.items()
    ]
    return _written([], header, entries)


def _written(comments: list[str], header: list[str], entries: list[dict[str, str]]) -> str:
    out = io.StringIO()
    for line in comments:
        out.write(line + "\n")
    writer = csv.DictWriter(out, header, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(entries)
    return out.getvalue()


def _unit_of(header: Sequence[str], place: str) -> str:
    """Physical unit of x: of its gain. Raises ValueError."""
    for cell in header:
        match = _COLUMN.match(cell)
        if match and match["name"] == "x.gain" and match["unit"]:
            unit = match["unit"].partition("/")[0]
            if unit in LENGTHS:
                return unit
    raise ValueError(f"{place}: no column such as `x.gain [mm/nm]`, so the unit of x is not known")


def _converted(entry: Mapping[str, str], one: Offset, unit: str) -> list[str]:
    """The offset as the steps before the last give it."""
    plain = np.zeros(1, LAYOUT)[0]
    plain["version"], plain["bpm_count"], plain["calibrated_lanes"] = VERSION, 1, 3
    plain["bpm"][0]["x_lane"], plain["bpm"][0]["y_lane"] = 0, 1
    for lane, plane in enumerate("xy"):
        cells = _cells(entry, plane)
        plain["lane"][lane] = [cells.get(key, 0.0) for key in ("offset", "gain", "c2", "c3")]
        if "gain" not in cells:
            plain["lane"][lane][1] = 1 / LENGTHS[unit]
        plain["bpm"][0][plane]["k"] = [cells.get(key, 1.0 if key == "k10" else 0.0) for key in ORDERS]
        plain["bpm"][0][plane]["electrical_offset"] = cells.get("electrical_offset", 0.0)
    plain["bpm"][0]["roll_rad"] = _roll(entry)
    values = np.frombuffer(plain.tobytes(), "<f8")
    calibration = Calibration(values, {"x": Units("nm", unit), "y": Units("nm", unit)})
    done = calibration.apply({"x": np.array(one.offset_nm[0]), "y": np.array(one.offset_nm[1])})
    return [f"{float(done[plane]):.9g}" for plane in "xy"]


def _cells(entry: Mapping[str, str], plane: str) -> dict[str, float]:
    found = {}
    for column, cell in entry.items():
        match = _COLUMN.match(column)
        if match and cell and match["name"].startswith(f"{plane}."):
            found[match["name"][2:]] = float(cell)
    return found


def _roll(entry: Mapping[str, str]) -> float:
    for column, cell in entry.items():
        match = _COLUMN.match(column)
        if match and cell and match["name"] == "roll":
            return float(cell) * ANGLES[match["unit"] or "rad"]
    return 0.0


def read_table(path: Path | None) -> str | None:
    """The text of a table, if one is meant."""
    return None if path is None else path.read_text(encoding="utf-8-sig")

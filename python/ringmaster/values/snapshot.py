# SPDX-License-Identifier: Apache-2.0
"""Snapshots: values of many parameters in a file, compared with another or with what is there now."""

import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from ringmaster.errors import ObjectNotFound
from ringmaster.fabric.parameter import Parameter, ParameterReading
from ringmaster.fabric.workspace import Workspace
from ringmaster.values import time_format
from ringmaster.values.value_format import plain, show

VERSION = 1
Entry = dict[str, Any]
"""Of one parameter: value, unit, and of where it was: group, time, turn."""


class SnapshotInvalid(ValueError):
    """The file is no snapshot. The text says what is wrong with it."""


@dataclass(frozen=True)
class Snapshot:
    """Values of parameters at a time."""

    workspace: str
    time: str
    turn: int | None
    """Of the beam, when it was taken; None where there was no turn clock."""
    parameters: dict[str, Entry]

    def only(self, patterns: Sequence[str]) -> dict[str, Entry]:
        """The entries whose name matches one of the patterns; all without patterns."""
        wanted = patterns or ("*",)
        chosen = {k: v for k, v in self.parameters.items() if any(fnmatchcase(k, pattern) for pattern in wanted)}
        if patterns and not chosen:
            raise ObjectNotFound(f"no parameter in the snapshot matches {' '.join(patterns)}")
        return chosen


def take(ws: Workspace, patterns: Sequence[str] = (), readings: bool = False, dead: bool = False) -> Snapshot:
    """All settings that match one of the patterns, or all there are; ``readings``: other parameters, too.

    Members of a group are of one and the same change. Raises ObjectNotFound where nothing matches, WorkspaceDead or
    WorkspaceStopped where an owner of one has ended or is stopped; not with ``dead``.
    """
    found = ws.parameters.match(*(patterns or ("*",)))
    chosen = {name: parameter for name, parameter in found.items() if readings or parameter.setting}
    if not chosen:
        of = f" matching {' '.join(patterns)}" if patterns else ""
        raise ObjectNotFound(
            f"of {len(found)} parameters{of} none is a setting; --all takes readings, too"
            if found
            else f"there is no parameter{of}; `ringmaster ls` shows those that there are"
        )
    if not dead:
        _check_owners(ws, chosen)
    entries = _read(ws, chosen)
    return Snapshot(ws.name, time_format.iso(time_format.now_tai_ns()), _turn(ws), entries)


def _check_owners(ws: Workspace, chosen: dict[str, Parameter]) -> None:
    for owner in sorted({parameter.owner for parameter in chosen.values()}):
        ws.check(owner)


def _read(ws: Workspace, chosen: dict[str, Parameter]) -> dict[str, Entry]:
    """What parameters say now; members of a group are of one and the same change."""
    groups = dict.fromkeys(parameter.group for parameter in chosen.values())
    together = {
        name: reading
        for group in groups
        if group is not None and group in ws.groups
        for name, reading in ws.groups[group].read().readings.items()
    }
    return {name: _entry(it, together[name] if name in together else it.read()) for name, it in chosen.items()}


def _entry(parameter: Parameter, reading: ParameterReading) -> Entry:
    entry: Entry = {"value": plain(reading.value)}
    if parameter.unit:
        entry["unit"] = parameter.unit
    if parameter.group:
        entry["group"] = parameter.group
    if reading.timestamp_tai_ns:
        entry["time"] = time_format.iso(reading.timestamp_tai_ns)
    if reading.turn is not None:
        entry["turn"] = reading.turn
    return entry


def _turn(ws: Workspace) -> int | None:
    """The turn now, by the workspace's clock."""
    try:
        clock = ws.clock.read()
        return clock.turn_at(clock.tsc_at_tai_ns(time_format.now_tai_ns()))
    except (ObjectNotFound, ValueError):
        return None


def write(snapshot: Snapshot, path: Path) -> None:
    """Writes JSON where the name ends so, YAML elsewhere; "-" is standard output."""
    text = _json(snapshot) if path.suffix == ".json" else _yaml(snapshot)
    if str(path) == "-":
        sys.stdout.write(text)
    else:
        path.write_text(text)


def _head(snapshot: Snapshot) -> dict[str, Any]:
    return {"snapshot": VERSION, "workspace": snapshot.workspace, "time": snapshot.time, "turn": snapshot.turn}


def _json(snapshot: Snapshot) -> str:
    """A parameter in a line, for who compares files line by line."""
    head = json.dumps(_head(snapshot), ensure_ascii=False)[:-1]
    lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in snapshot.parameters.items()]
    return head + ', "parameters": {\n' + ",\n".join(lines) + "\n}}\n"


def _yaml(snapshot: Snapshot) -> str:
    """The same in YAML."""
    from io import StringIO

    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap

    entries = CommentedMap({name: CommentedMap(entry) for name, entry in snapshot.parameters.items()})
    for entry in entries.values():
        entry.fa.set_flow_style()
    yaml = YAML()
    yaml.width = 10**6
    out = StringIO()
    yaml.dump(_head(snapshot), out)
    yaml.dump({"parameters": entries}, out)
    return out.getvalue()


def read(path: Path) -> Snapshot:
    """Reads what ``write`` wrote. Raises SnapshotInvalid, OSError."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    raw = sys.stdin.read() if str(path) == "-" else path.read_text()
    try:
        content = json.loads(raw) if raw.startswith("{") else YAML(typ="safe", pure=True).load(raw)
    except (YAMLError, ValueError) as error:
        raise SnapshotInvalid(f"{path}: neither YAML nor JSON: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict) or "snapshot" not in content:
        raise SnapshotInvalid(f"{path}: no snapshot; `ringmaster save` makes them")
    if content["snapshot"] != VERSION:
        raise SnapshotInvalid(f"{path}: a snapshot of version {content['snapshot']}, this program reads {VERSION}")
    entries = content.get("parameters")
    if not isinstance(entries, dict) or not all(isinstance(v, dict) and "value" in v for v in entries.values()):
        raise SnapshotInvalid(f"{path}: its `parameters` are not names with a value each")
    return Snapshot(str(content.get("workspace", "")), str(content.get("time", "")), content.get("turn"), entries)


@dataclass(frozen=True)
class Tolerance:
    """How much two values may differ and still be the same: absolutely, and as a share of the larger one."""

    absolute: float = 0.0
    share: float = 0.0

    def holds(self, one: float, other: float) -> bool:
        """Whether they are the same; two NaN are."""
        if one == other or (math.isnan(one) and math.isnan(other)):
            return True
        return abs(one - other) <= max(self.absolute, self.share * max(abs(one), abs(other)))


@dataclass(frozen=True)
class Difference:
    """One parameter that is not the same."""

    name: str
    before: Entry | None
    """None: it was not there."""
    after: Entry | None
    """None: it is no longer there."""

    def __str__(self) -> str:
        return f"{self.name}: {self.words}"

    @property
    def words(self) -> str:
        """What is different."""
        if self.after is None or self.before is None:
            there, word = (self.before, "gone") if self.after is None else (self.after, "new")
            assert there is not None
            return f"{word}; it {'was' if word == 'gone' else 'is'} {_show(there)}"
        if self.before.get("unit", "") != self.after.get("unit", ""):
            return f"{_show(self.before)} → {_show(self.after)}: in another unit"
        return _change(self.before["value"], self.after["value"], str(self.after.get("unit", "")))


def _show(entry: Entry) -> str:
    value = entry["value"]
    return show(np.array(value) if isinstance(value, list) else value, str(entry.get("unit", "")))


def _change(before: Any, after: Any, unit: str) -> str:
    if isinstance(before, int | float) and isinstance(after, int | float):
        one, other = show(before), show(after)
        if float(one) == float(other):  # rounded to less than the difference
            one, other = repr(before), repr(after)
        return f"{one} → {show(0, unit).replace('0', other, 1)}  ({after - before:+.6g})"
    if isinstance(before, list) and isinstance(after, list):
        a, b = np.array(before, np.float64), np.array(after, np.float64)
        if a.shape == b.shape:
            places = np.argwhere((a != b) & ~(np.isnan(a) & np.isnan(b)))
            shown = [
                f"[{','.join(map(str, place))}] {a[tuple(place)]:.9g} → {b[tuple(place)]:.9g}" for place in places[:4]
            ]
            more = f" and {len(places) - 4} more" if len(places) > 4 else ""
            return f"{', '.join(shown)}{more}  {unit}".rstrip()
    return f"{_show({'value': before, 'unit': unit})} → {_show({'value': after, 'unit': unit})}"


def compare(
    before: dict[str, Entry], after: dict[str, Entry], tolerance: Tolerance | None = None
) -> Iterator[Difference]:
    """What is different, in the order of the names."""
    allowed = tolerance or Tolerance()
    for name in sorted(before.keys() | after.keys()):
        one, other = before.get(name), after.get(name)
        if one is None or other is None or not _same(one, other, allowed):
            yield Difference(name, one, other)


def _same(one: Entry, other: Entry, tolerance: Tolerance) -> bool:
    a, b = one["value"], other["value"]
    if one.get("unit", "") != other.get("unit", "") or isinstance(a, str) or isinstance(b, str):
        return bool(one.get("unit", "") == other.get("unit", "") and a == b)
    if np.shape(a) != np.shape(b):
        return False
    pairs = zip(np.ravel(np.array(a, np.float64)), np.ravel(np.array(b, np.float64)), strict=True)
    return all(tolerance.holds(float(x), float(y)) for x, y in pairs)


def live(ws: Workspace, names: Sequence[str], dead: bool = False) -> dict[str, Entry]:
    """What those of the names that are there say now. Raises as ``take``."""
    chosen = {name: ws.parameters[name] for name in names if name in ws.parameters}
    if not dead:
        _check_owners(ws, chosen)
    return _read(ws, chosen)

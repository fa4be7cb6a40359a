# SPDX-License-Identifier: Apache-2.0
"""Changes: groups of supplies and parameters with where they stood before and where they go, applied and undone whole.

A file of one, YAML, a move in a line::

    change: 1
    title: gradients
    made_by: ringmaster loco correct fit.h5
    moves:
      - {name: sr/ps/qf1_01, before: 0, after: 0.25, unit: A}
      - {name: "feedback/golden[3]", before: 0, after: 12000, unit: nm}
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any

from ringmaster.errors import ObjectNotFound, RequestRefused
from ringmaster.fabric.conversion import same_unit
from ringmaster.fabric.request import Wanted
from ringmaster.fabric.workspace import ANSWER_TIMEOUT_S, Workspace
from ringmaster.machine.server_file import Part, read_marked_yaml
from ringmaster.moving.elements import Element, element_of
from ringmaster.moving.hand import Hand, NotPutBack, refuse_outside
from ringmaster.moving.place import Places
from ringmaster.moving.stopping import Pause

VERSION = 1
SAME = 1e-3
"""Of a move, by which what stands may differ from where it is thought to stand."""
ROUNDING = 1e-6
"""Of a value: on the wire a setpoint is an f32."""
ShareDone = Callable[[float], None]
"""Is told which share is done, 0 to 1."""


class ChangeRefused(RuntimeError):
    """Nothing was moved. The text says of each move why not."""


@dataclass(frozen=True)
class Move:
    """Of one supply, or of a parameter or an element of one."""

    name: str
    """ "sr/ps/qf1_01", "feedback/golden[3]", "feedback/integral_hz"."""
    before: float
    after: float
    unit: str

    @property
    def back(self) -> "Move":
        """The same, the other way."""
        return Move(self.name, self.after, self.before, self.unit)


@dataclass(frozen=True)
class Change:
    """Moves that belong together."""

    title: str
    made_by: str
    moves: tuple[Move, ...]

    @property
    def back(self) -> "Change":
        """What undoes it."""
        return Change(f"undo {self.title}", self.made_by, tuple(move.back for move in self.moves))

    def text(self, more: Mapping[str, str] | None = None) -> str:
        """As the file has it; ``more``: other keys at its top."""
        head = {"change": VERSION, "title": self.title, "made_by": self.made_by, **(more or {})}
        lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
        return "\n".join([*lines, "moves:" if self.moves else "moves: []", *map(_line, self.moves), ""])

    def save(self, path: Path, more: Mapping[str, str] | None = None) -> None:
        """Writes the file; one that is there is replaced whole."""
        part = path.with_name(path.name + ".part")
        part.write_text(self.text(more), encoding="utf-8")
        part.replace(path)


def joined(first: Change, second: Change) -> Change:
    """Both, one after the other, as one: what undoes it goes back to before the first."""
    moves = {move.name: move for move in first.moves}
    for move in second.moves:
        before = moves[move.name].before if move.name in moves else move.before
        moves[move.name] = Move(move.name, before, move.after, move.unit)
    return Change(first.title, first.made_by, tuple(moves.values()))


def _line(move: Move) -> str:
    name, unit = (json.dumps(word, ensure_ascii=False) for word in (move.name, move.unit))
    return f"  - {{name: {name}, before: {_yaml(move.before)}, after: {_yaml(move.after)}, unit: {unit}}}"


def _yaml(value: float) -> str:
    return ".nan" if math.isnan(value) else repr(float(value))


def load(path: Path) -> Change:
    """Reads the file. Raises ValueError with line and column, OSError."""
    return load_with(path)[0]


def load_with(path: Path) -> tuple[Change, Mapping[str, str]]:
    """The same, and the other keys at its top."""
    read = read_marked_yaml(path)
    if not isinstance(read, dict) or read.get("change") != VERSION:
        raise ValueError(f"{path}: no change of version {VERSION}: expected `change: {VERSION}`, `title` and `moves`")
    whole = Part(path, "", read)
    listed = read.get("moves")
    if not isinstance(listed, list):
        raise whole.error("moves", f"found {listed!r}, expected a list of moves")
    moves = tuple(_move(path, i, entry, whole) for i, entry in enumerate(listed))
    names = [move.name for move in moves]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise Part(path, f"moves[{i}]", listed[i]).error("name", f"{name} is moved twice")
    known = ("change", "title", "made_by", "moves")
    more = {str(key): str(value) for key, value in read.items() if key not in known}
    return Change(str(read.get("title", "")), str(read.get("made_by", "")), moves), more


def _move(path: Path, index: int, entry: Any, whole: Part) -> Move:
    if not isinstance(entry, dict):
        raise whole.error("moves", f"entry {index}: found {entry!r}, expected {{name, before, after, unit}}")
    part = Part(path, f"moves[{index}]", entry)
    part.check_keys(("name", "before", "after", "unit"))
    if not isinstance(entry.get("name"), str):
        raise part.error("name", f"found {entry.get('name')!r}, expected the name of a supply or of a parameter")
    values = []
    for key in ("before", "after"):
        value = entry.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise part.error(key, f"found {value!r}, expected a number")
        values.append(float(value))
    return Move(str(entry["name"]), values[0], values[1], str(entry.get("unit", "")))


class _Objects:
    """The supplies and elements of parameters that moves name, in one workspace."""

    def __init__(self, ws: Workspace) -> None:
        self.ws = ws
        self._places = Places(ws)

    def is_supply(self, name: str) -> bool:
        return name in self.ws.supplies

    def stands(self, name: str) -> tuple[float, str]:
        """Where it stands now, and its unit. Raises ObjectNotFound, ValueError for what nobody may move."""
        if self.is_supply(name):
            place = self._places.of(name)
            place.check(self.ws)
            return place.stands(self.ws), self.ws.supplies[name].setpoint.unit
        element = self.element(name)
        return element.value(self.ws), element.unit(self.ws)

    def element(self, name: str) -> Element:
        return element_of(self.ws, name)

    def refuse_outside(self, name: str, target: float) -> None:
        parameter = self.ws.supplies[name].setpoint if self.is_supply(name) else self.element(name).of(self.ws)
        limits = parameter.limits
        refuse_outside(name, target, parameter.unit, limits.control_low, limits.control_high)


def standing(ws: Workspace, names: Iterable[str]) -> dict[str, float]:
    """Where supplies and parameters stand now; NaN for what nobody may move, or is not there."""
    objects, found = _Objects(ws), {}
    for name in names:
        try:
            found[name] = objects.stands(name)[0]
        except (ObjectNotFound, ValueError):
            found[name] = math.nan
    return found


def propose(ws: Workspace, title: str, made_by: str, values: Mapping[str, float], relative: bool = False) -> Change:
    """A change from where all stand now to ``values``, or by them with ``relative``. What would not move is left out.

    Raises ObjectNotFound, ValueError for what nobody may move, RequestRefused for what lies outside of limits.
    """
    objects, moves = _Objects(ws), []
    for name, value in values.items():
        before, unit = objects.stands(name)
        after = before + value if relative else value
        if not math.isfinite(after):
            raise ValueError(f"{name}: {after:g} is no value to go to from {before:g} {unit}")
        objects.refuse_outside(name, after)
        if after != before:
            moves.append(Move(name, before, float(after), unit))
    return Change(title, made_by, tuple(moves))


def problems(ws: Workspace, change: Change, force: bool = False) -> Iterator[str]:
    """Why it cannot be applied now, of each move; with ``force`` it may stand elsewhere than before."""
    objects = _Objects(ws)
    for move in change.moves:
        try:
            stands, unit = objects.stands(move.name)
            if not same_unit(move.unit, unit):
                yield f"{move.name}: the change is in {move.unit or 'no unit'!r}, and it has {unit or 'no unit'!r}"
                continue
            objects.refuse_outside(move.name, move.after)
        except (ObjectNotFound, RequestRefused, ValueError) as error:
            yield str(error)
            continue
        if not force and not is_at(stands, move.before, move):
            yield f"{move.name}: it stands at {stands:.9g} {unit}, expected {move.before:.9g} {unit}".rstrip()


def is_at(stands: float, value: float, move: Move) -> bool:
    """Whether that is where it stands, as far as such a move tells."""
    if math.isnan(value) or math.isnan(stands):
        return math.isnan(value) and math.isnan(stands)
    far = abs(move.after - move.before) if math.isfinite(move.after - move.before) else 0.0
    return abs(stands - value) <= max(ROUNDING * max(abs(stands), abs(value)), SAME * far)


def apply(
    ws: Workspace,
    change: Change,
    pause: Pause = sleep,
    progress: ShareDone = lambda _: None,
    steps: int = 1,
    force: bool = False,
) -> None:
    """All together, in so many equal steps, each waited for. Whatever ends it early puts all back where it stood.

    Raises ChangeRefused where something stands elsewhere than before (moved by another; ``force`` goes from there), or
    could not go: before anything moves. RequestRefused, NotFollowed: after all is back. NotPutBack.
    """
    if reasons := list(problems(ws, change, force)):
        shown = "; ".join(reasons[:5]) + (f"; and {len(reasons) - 5} more" if len(reasons) > 5 else "")
        raise ChangeRefused(f"{change.title}: nothing was moved: {shown}")
    objects = _Objects(ws)
    supplies = {
        move.name: move.after - objects.stands(move.name)[0] for move in change.moves if objects.is_supply(move.name)
    }
    elements = _Elements(ws, [move for move in change.moves if not objects.is_supply(move.name)])
    hand = Hand(ws, tuple(supplies), pause) if supplies else None
    try:
        if hand is not None:
            hand.begin_together(supplies, both_ways=False)
        for step in range(1, steps + 1):
            share = step / steps

            def left(count: int, done: float = (step - 1) / steps) -> None:
                progress(done + (1 - count / max(1, len(supplies))) / steps)

            if hand is not None:
                hand.go_together({name: share * offset for name, offset in supplies.items()}, left)
            elements.go(share)
            progress(share)
            pause(0)
    except BaseException:
        _put_back(hand, elements)
        raise
    if hand is not None:
        hand.stay()


def undo(
    ws: Workspace,
    change: Change,
    pause: Pause = sleep,
    progress: ShareDone = lambda _: None,
    steps: int = 1,
    force: bool = False,
) -> None:
    """Goes back, as ``apply`` goes there: what does not stand where the change left it is refused, but with force."""
    apply(ws, change.back, pause, progress, steps, force)


def _put_back(hand: Hand | None, elements: "_Elements") -> None:
    """Both, whatever becomes of the first. Raises NotPutBack."""
    failed = []
    for one in (elements.put_back, hand.put_back if hand is not None else None):
        try:
            if one is not None:
                one()
        except NotPutBack as error:
            failed.append(str(error))
    if failed:
        raise NotPutBack("; ".join(failed))


class _Elements:
    """Parameters of a change, and what they were."""

    def __init__(self, ws: Workspace, moves: list[Move]) -> None:
        self._ws = ws
        self._moves = moves
        self._of = {move.name: element_of(ws, move.name) for move in moves}
        self._stood = {name: element.value(ws) for name, element in self._of.items()}
        self._moved = False

    def go(self, share: float) -> None:
        """So far on the way; whole numbers, and what was no number, at its end. Raises RequestRefused."""
        targets = {}
        for move in self._moves:
            stood = self._stood[move.name]
            in_parts = math.isfinite(stood) and self._of[move.name].of(self._ws).dtype.kind == "f"
            if share == 1 or in_parts:
                targets[move.name] = move.after if share == 1 else stood + share * (move.after - stood)
        self._put(targets)

    def _put(self, targets: Mapping[str, float]) -> None:
        if not targets:
            return
        values: dict[str, Wanted] = {}
        for name, target in targets.items():
            element = self._of[name]
            values[element.name] = element.within(self._ws, target, values.get(element.name))
        self._moved = True
        reasons = [
            reason for reason in self._ws.put_together(values, ANSWER_TIMEOUT_S + len(values)).values() if reason
        ]
        if reasons:
            raise RequestRefused("; ".join(reasons))

    def put_back(self) -> None:
        """Raises NotPutBack."""
        if not self._moved:
            return
        try:
            self._put(self._stood)
        except Exception as error:
            told = ", ".join(f"`ringmaster put '{name}' {value:.9g}`" for name, value in self._stood.items())
            raise NotPutBack(f"not back where it stood; put it back by {told} ({error})") from None

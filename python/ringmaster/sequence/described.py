# SPDX-License-Identifier: Apache-2.0
"""A file of sequences as the application's own compiler reads it: from the JSON of the program ringmaster-sequence."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringmaster.places import find_program

PROGRAM = "ringmaster-sequence"
LIMIT_S = 60.0
"""So long a file may take: the largest one takes milliseconds."""


class SequenceErrors(ValueError):
    """What is wrong with a file, a line each: FILE:LINE:COLUMN: …"""

    def __init__(self, path: Path, lines: tuple[str, ...], remarks: tuple[str, ...], count: int) -> None:
        super().__init__("\n".join(lines))
        self.path, self.lines, self.remarks, self.count = path, lines, remarks, count


@dataclass(frozen=True)
class Transition:
    """A way out of a state."""

    when: str
    to: str


@dataclass(frozen=True)
class State:
    """One of a sequence."""

    name: str
    number: int
    """Among those of all sequences, from 1."""
    do: tuple[str, ...]
    """Its actions, in words."""
    moves: tuple[str, ...]
    """Groups of supplies."""
    then: tuple[Transition, ...]
    timeout_s: float | None
    on_timeout: str | None
    """None: the abort of the sequence."""
    end: str | None
    """ "done" or "failed": the sequence ends here."""
    cost: int
    """Operations of the step that enters it, or of another one; the greater."""


@dataclass(frozen=True)
class Sequence:
    """One of a file."""

    name: str
    number: int
    """From 1: what the setting `run` is put to."""
    description: str
    begin: str
    abort: str | None
    enable: str | None
    timeout_s: float | None
    cost: int
    """Most operations of a step."""
    states: tuple[State, ...]


@dataclass(frozen=True)
class Variable:
    """What people set before it runs."""

    name: str
    value: float
    low: float
    high: float
    unit: str
    description: str


@dataclass(frozen=True)
class Group:
    """Supplies that are moved together."""

    name: str
    supplies: tuple[str, ...]
    """Names and patterns."""
    low: float | None
    """None: those of each supply."""
    high: float | None


@dataclass(frozen=True)
class SequenceFile:
    """All of it."""

    path: Path
    sequences: tuple[Sequence, ...]
    inputs: Mapping[str, str]
    """Lane or supply by name."""
    parameters: Mapping[str, str]
    """Of other owners, by name."""
    variables: tuple[Variable, ...]
    counters: tuple[str, ...]
    groups: tuple[Group, ...]
    beam_lost: str | None
    remarks: tuple[str, ...]

    def sequence(self, name: str) -> Sequence:
        """The one of that name. Raises ValueError."""
        for one in self.sequences:
            if one.name == name:
                return one
        known = ", ".join(one.name for one in self.sequences)
        raise ValueError(f"{self.path}: it has no sequence {name!r}, expected one of: {known}")

    def variable(self, name: str) -> tuple[int, Variable]:
        """Place and description of a variable. Raises ValueError."""
        for place, one in enumerate(self.variables):
            if one.name == name:
                return place, one
        known = ", ".join(one.name for one in self.variables) or "none"
        raise ValueError(f"{self.path}: it has no variable {name!r}, expected one of: {known}")

    def place(self, number: int) -> tuple[Sequence, State] | None:
        """Sequence and state of a state's number; None for one that there is not."""
        for sequence in self.sequences:
            for state in sequence.states:
                if state.number == number:
                    return sequence, state
        return None


def read_sequences(path: Path) -> SequenceFile:
    """Compiles it. Raises SequenceErrors for all that is wrong with it, OSError where it cannot be read."""
    read = compile_file(path)
    errors, remarks = tuple(read["errors"]), tuple(read["remarks"])
    if errors or read["error_count"]:
        raise SequenceErrors(path, errors, remarks, int(read["error_count"]))
    return SequenceFile(
        path=path,
        sequences=tuple(map(_sequence, read["sequences"])),
        inputs={each["name"]: each.get("lane") or each["supply"] for each in read["inputs"]},
        parameters={each["name"]: each["parameter"] for each in read["parameters"]},
        variables=tuple(map(_variable, read["variables"])),
        counters=tuple(each["name"] for each in read.get("counters", ())),
        groups=tuple(
            Group(each["name"], tuple(each["supplies"]), each["low"], each["high"]) for each in read["supplies"]
        ),
        beam_lost=read["beam_lost"],
        remarks=remarks,
    )


def compile_file(path: Path) -> dict[str, Any]:
    """The JSON, with errors too."""
    done = subprocess.run(
        [find_program(PROGRAM), str(path)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S
    )
    try:
        read: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise RuntimeError(f"{PROGRAM}: {done.stderr.strip() or f'ended with status {done.returncode}'}") from None
    return read


def _variable(each: Mapping[str, Any]) -> Variable:
    low, value, high = (float(each[key]) for key in ("low", "value", "high"))
    return Variable(each["name"], value, low, high, each["unit"] or "", each["description"] or "")


def _sequence(each: Mapping[str, Any]) -> Sequence:
    return Sequence(
        name=each["name"],
        number=each["number"],
        description=each["description"] or "",
        begin=each["begin"],
        abort=each["abort"],
        enable=each["enable"],
        timeout_s=each["timeout_s"],
        cost=each["cost"],
        states=tuple(map(_state, each["states"])),
    )


def _state(each: Mapping[str, Any]) -> State:
    return State(
        name=each["name"],
        number=each["number"],
        do=tuple(map(words_of, each["do"])),
        moves=tuple(dict.fromkeys(action["supplies"] for action in each["do"] if "supplies" in action)),
        then=tuple(Transition(way["when"], way["to"]) for way in each["then"]),
        timeout_s=each["timeout_s"],
        on_timeout=each["on_timeout"],
        end=None if each["end"] == "none" else each["end"],
        cost=max(each["cost_step"], each["cost_enter"]),
    )


def _seconds(value: str) -> str:
    """A number has its unit; an expression says what it is by its names."""
    try:
        return f"{float(value):g} s"
    except ValueError:
        return value


def words_of(action: Mapping[str, Any]) -> str:
    """An action on a line: "ramp qf to base + amplitude in 0.5 s"."""
    kind = action["kind"]
    if kind == "ramp":
        how = f", by {action['table']}" if "table" in action else ", linear" if action["shape"] == "linear" else ""
        return f"ramp {action['supplies']} to {action['to']} in {_seconds(action['in_s'])}{how}"
    if kind == "set":
        return f"set {action['supplies']} to {action['to']}"
    if kind == "pulse":
        return f"pulse {action['supplies']} to {action['to']} for {_seconds(action['in_s'])}"
    if kind == "excite":
        what = f"{action['supplies']} by {action['amplitude']} at {action['hz']} Hz"
        return f"excite {what} for {_seconds(action['in_s'])}"
    if kind == "put":
        return f"put {action['put']} to {action['value']}"
    if kind == "let":
        return f"{action['let']} ← {action['value']}"
    return f"{kind} {_seconds(action[kind]) if kind == 'wait' else action[kind]}"

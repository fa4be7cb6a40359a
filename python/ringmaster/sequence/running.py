# SPDX-License-Identifier: Apache-2.0
"""The application `sequence` of an attached workspace: let one run, follow it, abort it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ringmaster.errors import ObjectNotFound
from ringmaster.fabric.workspace import Workspace
from ringmaster.machine.server_file import applications
from ringmaster.sequence.course import LANES, Mark, Passage, columns_of, marks_of, passages_of
from ringmaster.sequence.described import Sequence, SequenceFile, State, read_sequences
from ringmaster.sequence.names import NONE, Cause, Result, words_of


@dataclass(frozen=True)
class Status:
    """Now."""

    sequence: Sequence | None
    """None: none runs."""
    state: State | None
    seconds: float
    """In this state."""
    result: Result
    cause: Cause
    cause_turn: int
    ended: tuple[Sequence, State] | None
    """Where the last one was when it went wrong."""
    marks: int
    transitions: int
    is_aborting: bool
    is_paused: bool
    withdrawn: float


class Runner:
    """One application that runs sequences. Raises ObjectNotFound where there is none of that name."""

    def __init__(self, ws: Workspace, name: str, own: Path | None = None) -> None:
        self.ws, self.name, self._own = ws, name, own
        ws.check(ws.parameters[f"{name}/run"].owner)

    @cached_property
    def file(self) -> SequenceFile:
        """Its own file, as it is now. Raises ObjectNotFound where it is not known where that lies."""
        path = self._own or _find_own(self.ws, self.name)
        if path is None:
            raise ObjectNotFound(
                f"the file of {self.name}, which has the names of its states, was not found from here: say where it is "
                "by --file"
            )
        return read_sequences(path)

    def check(self) -> None:
        """Raises WorkspaceDead, WorkspaceStopped where server or application do not live."""
        self.ws.check()
        self.ws.check(self.ws.parameters[f"{self.name}/run"].owner)

    def number(self, short: str) -> float:
        """A reading or setting that is one number."""
        return self.ws.parameters[f"{self.name}/{short}"].number

    def status(self) -> Status:
        """Now."""
        placed = self.file.place(int(self.number("state")))
        period_s = 1.0 / self.ws.parameters["server/turn_rate_hz"].number
        return Status(
            sequence=placed[0] if placed else None,
            state=placed[1] if placed else None,
            seconds=self.number("turns") * period_s if placed else 0.0,
            result=Result(int(self.number("result"))),
            cause=Cause(int(self.number("cause"))),
            cause_turn=int(self.number("cause_turn")),
            ended=self.file.place(int(self.number("cause_state"))),
            marks=int(self.number("marks")),
            transitions=int(self.number("transitions")),
            is_aborting=self.number("aborting") != 0,
            is_paused=self.number("pause") != 0,
            withdrawn=self.number("withdrawn"),
        )

    def values(self) -> dict[str, float]:
        """Variables, as they are."""
        if not self.file.variables:
            return {}
        values = np.ravel(np.asarray(self.ws.parameters[f"{self.name}/variable"].value, float))
        return {one.name: float(value) for one, value in zip(self.file.variables, values, strict=False)}

    def begin(self, sequence: Sequence, values: Mapping[str, float]) -> "Following":
        """Sets the variables, gives the permission, and follows. Raises ValueError where something is in the way,
        RequestRefused.
        """
        if self.number("sequence") != NONE:
            placed = self.file.place(int(self.number("state")))
            runs = f"{placed[0].name}, in its state {placed[1].name}" if placed else "one"
            raise ValueError(f"{self.name} runs {runs}: wait for its end, or `ringmaster sequence abort`")
        for short in ("abort", "pause"):
            if self.number(short) != 0:
                raise ValueError(f"{self.name}/{short} is 1, so nothing starts: `ringmaster put {self.name}/{short} 0`")
        places = {self.file.variable(name)[0]: value for name, value in values.items()}
        self.ws.put(f"{self.name}/run", 0)
        for place, value in places.items():
            self.ws.put(f"{self.name}/variable", value, first=place)
        following = Following(self)
        self.ws.put(f"{self.name}/run", sequence.number)
        return following

    def abort(self) -> None:
        """Asks it to go its way out; `finish` takes the word back when it has ended."""
        self.ws.put(f"{self.name}/abort", 1)

    def finish(self) -> None:
        """After an end: takes permission and abort back, so that the next one can begin."""
        for short in ("run", "abort"):
            if self.number(short) != 0:
                self.ws.put(f"{self.name}/{short}", 0)


class Following:
    """What the trace tells of one run, from now on."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._stream = runner.ws.streams[f"{runner.name}/trace"]
        self._last = self._stream.head
        """Newest turn that was looked at."""
        self._runs = runner.number("runs")
        self.begun_turn: int | None = None
        self.ended_turn: int | None = None
        self.lost = 0
        """Records that were overwritten before they were read."""

    def look(self) -> tuple[list[Passage], list[Mark]]:
        """States that were entered, and marks, since the last look."""
        self._runner.check()
        head = self._stream.head
        if head is None or head == self._last:
            return [], []
        oldest = self._stream.oldest(64) or head
        first = oldest if self._last is None else max(self._last, oldest)
        if self._last is not None and first > self._last:
            self.lost += (first - self._last) // self._stream.period
        window = self._stream.read(first, (head - first) // self._stream.period + 1)
        is_first = self._last is None
        self._last = head
        trace = columns_of({lane: np.asarray(window[lane])[window.ok] for lane in LANES})
        turns = np.asarray(window.turn)[window.ok]
        entered = [each for each in passages_of(self._runner.file, trace, turns) if each.step or is_first]
        if entered and self.begun_turn is None:
            self.begun_turn = entered[0].turn
        idle = turns[(trace["state"] == NONE) & (turns > (self.begun_turn or head))]
        if self.begun_turn is not None and self.ended_turn is None and len(idle):
            self.ended_turn = int(idle[0])
        return entered, marks_of(self._runner.file, trace, turns)

    @property
    def has_ended(self) -> bool:
        """It has begun, and none runs."""
        begun = self.begun_turn is not None or self._runner.number("runs") != self._runs
        return begun and self._runner.number("sequence") == NONE and self._runner.number("result") != Result.RUNNING


def _find_own(ws: Workspace, name: str) -> Path | None:
    """The application's own file, as the server's configuration names it; relative paths from where it was started."""
    written = applications(ws).get(name, {}).get("configuration")
    if not isinstance(written, str):
        return None
    folders = [Path.cwd(), *(folder for owner in (name, "server") for folder in _folders(ws, owner))]
    return next((folder / written for folder in folders if (folder / written).is_file()), None)


def _folders(ws: Workspace, owner: str) -> list[Path]:
    """Of the files on the command line of an owner's process."""
    if owner not in ws.segments:
        return []
    place = Path(f"/proc/{ws.segments[owner].owner_pid}")
    try:
        start = (place / "cwd").readlink()
        words = (place / "cmdline").read_bytes().split(b"\0")
    except OSError:  # ended, or another user's
        return []
    files = [start / os.fsdecode(word).partition("@")[0] for word in words if b".y" in word]
    return [file.parent for file in files]


def outcome(result: Result, cause: Cause) -> str:
    """In words: "done", "failed: the beam was lost"."""
    words = words_of(cause)
    return f"{result.name.lower()}{f': {words}' if words and result is not Result.DONE else ''}"

# SPDX-License-Identifier: Apache-2.0
"""A session: plain commands in an order, each typed as a person would type it, in a folder that keeps all files.

After each step that moves anything the folder keeps where all supplies stand, so the score tells what each was worth. A
session that ended early goes on at any step.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Any

import numpy as np

from ringmaster.fabric.workspace import attach
from ringmaster.values import snapshot

RECORD = "session.json"
SERVER = "server.yaml"
"""The configuration of the server that it was done with."""
STATES = "states"
LOGS = "log"
BEFORE = "before"
SETPOINTS = "*/setpoint"
_AVERAGED = 20
_AVERAGED_S = 1.0
WIDTH = "110"
"""Columns of what commands print, where their output goes to a file, too."""


class StepFailed(RuntimeError):
    """A step's command ended with a status other than 0. The text says which, and how to go on."""


@dataclass(frozen=True)
class Step:
    """One command."""

    name: str
    about: str
    words: tuple[str, ...]
    """After `ringmaster`."""
    undo: tuple[str, ...] = ()
    """What takes it back; nothing where it moves nothing for good."""
    computes: bool = False
    """It asks nothing of the machine but where supplies stand, so a machine whose time is simulated may stand still."""

    @property
    def moves(self) -> bool:
        """Whether supplies stand elsewhere afterwards."""
        return bool(self.undo)

    @property
    def command(self) -> str:
        """As it is typed."""
        return " ".join(["ringmaster", *map(_quoted, self.words)])


def _quoted(word: str) -> str:
    return f"'{word}'" if any(mark in word for mark in "*?[] $") else word


@dataclass(frozen=True)
class Done:
    """What became of a step."""

    name: str
    command: str
    undo: str
    seconds: float
    machine_s: float
    """Of the machine's own time."""
    status: int


class Session:
    """Of one folder and one workspace."""

    def __init__(
        self,
        folder: Path,
        workspace: str,
        steps: Sequence[Step],
        say: Callable[[str], None],
        standing: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """``standing``: in which the machine's time stands still."""
        self.folder = folder
        self.workspace = workspace
        self.steps = tuple(steps)
        self._say = say
        self._standing = standing
        (folder / LOGS).mkdir(parents=True, exist_ok=True)
        (folder / STATES).mkdir(exist_ok=True)

    @property
    def begun(self) -> bool:
        """Whether the folder has a session already."""
        return (self.folder / RECORD).exists()

    def begin(self) -> None:
        """Keeps the server's configuration, and where all supplies stand before anything is done."""
        self._forget_states(0)
        with attach(self.workspace) as ws:
            (self.folder / SERVER).write_text(ws.texts["server/config"])
        self._keep(0, BEFORE)
        self._record([])

    def run(self, first: str | None = None, last: str | None = None) -> list[Done]:
        """From one step to another, or from where it ended. Raises StepFailed, ValueError for no step of it.

        What an earlier pass kept of the steps from there on is of another machine, and goes.
        """
        done = self.done()
        after = self._index(done[-1].name) + 1 if done else 0
        begin = after if first is None else self._index(first)
        end = self._index(last) + 1 if last is not None else len(self.steps)
        if begin >= end:
            at = f"begins after {self.steps[begin - 1].name}" if begin else "has no step"
            raise ValueError(f"there is nothing to do: the session {at}; say by --from where to begin again")
        done = [one for one in done if self._index(one.name) < begin]
        self._forget_states(begin + 1)
        for number, step in enumerate(self.steps[begin:end], begin + 1):
            done.append(self._do(number, step))
            if done[-1].status != 0:
                raise StepFailed(
                    f"step {step.name} ended with status {done[-1].status}: `{step.command}`. What it said is in "
                    f"{self._log(number, step)}; go on by `ringmaster commissioning run {self.folder} --from "
                    f"{step.name}`"
                )
            if step.moves:
                self._keep(number, step.name)
            self._record(done)
        return done

    def done(self) -> list[Done]:
        """Steps that were done, in their order."""
        path = self.folder / RECORD
        if not path.exists():
            return []
        return [Done(**entry) for entry in json.loads(path.read_text())["done"]]

    def _forget_states(self, first: int) -> None:
        """Those of this number and later ones."""
        for path in (self.folder / STATES).glob("*.yaml"):
            if int(path.name.partition("-")[0]) >= first:
                path.unlink()

    def _index(self, name: str) -> int:
        names = [step.name for step in self.steps]
        if name not in names:
            raise ValueError(f"there is no step {name!r}; there are: {', '.join(names)}")
        return names.index(name)

    def _log(self, number: int, step: Step) -> Path:
        return self.folder / LOGS / f"{number:02d}-{step.name}.txt"

    def _do(self, number: int, step: Step) -> Done:
        self._say(f"\n── {number}. {step.name}: {step.about}")
        self._say(f"$ {step.command}")
        begin, turn = monotonic(), self._turn()
        with self._log(number, step).open("w") as log, self._standing() if step.computes else nullcontext():
            log.write(f"$ {step.command}\n")
            status = _typed(step.words, self.folder, log, self._say)
        seconds, machine_s = monotonic() - begin, self._turn() - turn
        self._say(f"({seconds:.0f} s, of the machine {machine_s:.1f} s)")
        undo = " ".join(["ringmaster", *map(_quoted, step.undo)]) if step.undo else ""
        if undo:
            self._say(f"undo it by: {undo}")
        return Done(step.name, step.command, undo, seconds, machine_s, status)

    def _turn(self) -> float:
        """The machine's time in seconds: that of the newest record of its streams; 0 where there is none."""
        with attach(self.workspace) as ws:
            heads = [stream.head for stream in ws.streams.values() if stream.head is not None]
            return max(heads, default=0) / ws.parameters["server/turn_rate_hz"].number

    def _keep(self, number: int, name: str) -> None:
        """Where all supplies stand: the mean over a second, as a loop may move some."""
        with attach(self.workspace) as ws:
            taken = []
            for _ in range(_AVERAGED):
                taken.append(snapshot.take(ws, (SETPOINTS,), readings=True))
                sleep(_AVERAGED_S / _AVERAGED)
        last = taken[-1]
        for key, entry in last.parameters.items():
            entry["value"] = float(np.mean([one.parameters[key]["value"] for one in taken]))
        snapshot.write(last, self.folder / STATES / f"{number:02d}-{name}.yaml")

    def _record(self, done: Iterable[Done]) -> None:
        whole: dict[str, Any] = {"workspace": self.workspace, "done": [vars(one) for one in done]}
        path = self.folder / RECORD
        part = path.with_name(path.name + ".part")
        part.write_text(json.dumps(whole, indent=1, ensure_ascii=False))
        part.replace(path)


def _typed(words: Sequence[str], folder: Path, log: IO[str], say: Callable[[str], None]) -> int:
    """Runs a command in the folder; what it prints is shown and kept. Progress bars go past, on standard error."""
    environment = {**os.environ, "COLUMNS": WIDTH}
    command = [sys.executable, "-m", "ringmaster", *words]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                log.write(line)
                say(line.rstrip("\n"))
            return process.wait()
        except KeyboardInterrupt:  # the command hears it, too: what it moved is put back before it ends
            process.wait()
            raise


def states(folder: Path) -> Mapping[str, Mapping[str, float]]:
    """Where supplies stood, by step, in their order. Raises ValueError where none was kept."""
    found = {}
    for path in sorted((folder / STATES).glob("*.yaml")):
        entries = snapshot.read(path).parameters
        found[path.stem] = {key.removesuffix("/setpoint"): float(entry["value"]) for key, entry in entries.items()}
    if not found:
        raise ValueError(f"{folder / STATES}: no states of supplies; `ringmaster commissioning run` keeps them")
    return found

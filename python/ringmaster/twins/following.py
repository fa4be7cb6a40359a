# SPDX-License-Identifier: Apache-2.0
"""A model in step with the machine: at each of its turns it reads what supplies stand at, and publishes what the model
makes of it beside what the machine shows.

It has no way to the guard: it writes its own segment and nothing else, and has no setpoints. Its time is the machine's:
an update is due every so many turns. Where the server ends it waits for the next one and goes on.
"""

import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, perf_counter, sleep

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import ObjectNotFound, TwinError, WorkspaceDamaged, WorkspaceError
from ringmaster.fabric.owner import Owner
from ringmaster.fabric.workspace import Workspace
from ringmaster.twins.machine import CHECK_S, Machine, attach_again
from ringmaster.twins.model import Answer, Model
from ringmaster.twins.published import Published

Floats = NDArray[np.float64]
FOLLOWING = "following"
WAITING = "waiting for the server"
LATELY = 32
"""Updates over which the rate is told."""
RESERVED = ("server", "setpoints", "grant", "stream", "counters", "supply", "requests", "operator")


@dataclass
class Progress:
    """What has come to pass."""

    looks: int = 0
    missed: int = 0
    unstable: int = 0
    unknown: int = 0
    turns: "deque[int]" = field(default_factory=lambda: deque(maxlen=LATELY))

    def rate_hz(self, turn_rate_hz: float) -> float:
        """Updates in a second of turns, of late."""
        if len(self.turns) < 2 or self.turns[-1] <= self.turns[0]:
            return 0.0
        return (len(self.turns) - 1) * turn_rate_hz / (self.turns[-1] - self.turns[0])


@dataclass(frozen=True)
class Look:
    """One comparison."""

    turn: int
    machine_um: Floats
    answer: Answer
    unknown: int


class Follower:
    """One model of one machine."""

    def __init__(self, machine: Machine, model: Model) -> None:
        self.machine, self.model = machine, model
        self.progress = Progress()
        self._reference: Floats | None = None
        self._before: int | None = None

    def look(self, turn: int) -> Look:
        """Currents now, the machine's orbit up to ``turn``, the model's. Raises TwinNoAnswer."""
        currents, self.progress.unknown = self.machine.currents()
        machine_um = self.machine.orbit_um(turn)
        elapsed = 0 if self._before is None or turn < self._before else turn - self._before
        self._before = turn
        answer = self.model.answer(currents, elapsed / self.machine.turn_rate_hz)
        return Look(turn, machine_um, answer, self.progress.unknown)

    def take_reference(self, look: Look) -> None:
        """From now on both orbits count from here: offsets of BPMs and errors of the machine that stay fall out."""
        self._reference = look.machine_um - look.answer.orbit_um

    def residual(self, look: Look) -> Floats:
        """Machine − model, µm, (BPMs, 2)."""
        difference = look.machine_um - look.answer.orbit_um
        return difference if self._reference is None else difference - self._reference


def newest_due(now: int, period_turns: int) -> int:
    """The update whose turn has come last."""
    return now // period_turns * period_turns


class Following:
    """A follower with its segment, from one server to the next."""

    def __init__(self, ws: Workspace, model: Model, say: Callable[[str], None] = lambda _: None) -> None:
        """Raises ObjectNotFound where the workspace has not what the mapping names, OwnerBusy for a name in use."""
        self.instance, self.model, self.say = model.instance, model, say
        self.workspace = str(ws.path)
        check_name(ws, self.instance.name)
        self.follower = Follower(self._machine(ws), model)
        self.owner = Owner(self.instance.name, self.workspace)
        self.published = Published(self.owner, model, self.follower.machine.period_turns)

    def _machine(self, ws: Workspace) -> Machine:
        instance = self.instance
        return Machine(ws, self.model.mapping, instance.source, instance.rate, instance.hz)

    def run(self, stop: Callable[[], bool]) -> None:
        """Until asked to stop, or interrupted."""
        if self.instance.core is not None:
            os.sched_setaffinity(0, {self.instance.core})
        with self.owner:
            self.published.say("waiting for the first turn")
            due = newest_due(self.follower.machine.now(), self.follower.machine.period_turns)
            while not stop():
                try:
                    due = self._step(due)
                except (WorkspaceError, WorkspaceDamaged) as error:
                    due = self._wait_for_server(error, stop)

    def _step(self, due: int) -> int:
        """The update that is due, or nothing where its turn does not come; gives the next one's turn."""
        machine, progress = self.follower.machine, self.follower.progress
        machine.ws.check()
        now = machine.now()
        if now < due - machine.period_turns:  # the machine's turns began anew
            return newest_due(max(now, 0), machine.period_turns)
        if now < max(due, 0):
            self.published.serve(max(now, 0))
            machine.wait(due, CHECK_S)
            return due
        turn = newest_due(now, machine.period_turns)
        progress.missed += (turn - due) // machine.period_turns
        self._update(turn)
        return turn + machine.period_turns

    def _update(self, turn: int) -> None:
        follower, machine, progress = self.follower, self.follower.machine, self.follower.progress
        started = perf_counter()
        asked = self.published.serve(turn)
        try:
            look = follower.look(turn)
        except TwinError as error:
            progress.unstable += 1
            self.published.say(f"unstable: {error}", turn)
            self.published.count(progress, turn)
            return
        if asked or (self.instance.relative and progress.looks == 0):
            follower.take_reference(look)
        progress.looks += 1
        progress.turns.append(turn)
        self.published.put(look.answer, follower.residual(look), turn)
        self.published.count(progress, turn)
        lag = machine.now() - turn
        self.published.put_pace(progress.rate_hz(machine.turn_rate_hz), lag, perf_counter() - started, turn)
        self.published.say(FOLLOWING, turn)

    def _wait_for_server(self, error: WorkspaceError, stop: Callable[[], bool]) -> int:
        """Until a server is there that has all that the mapping names; gives the first turn that is due."""
        self.say(f"{self.instance.name}: {error}; it waits")
        self.published.say(WAITING)
        while not stop():
            self.published.owner.serve(0.0)
            ws = attach_again(self.workspace)
            if ws is not None:
                try:
                    return self._go_on(self._machine(ws))
                except (ObjectNotFound, ValueError) as other:
                    self.published.say(f"{WAITING}: {other}")
            sleep(CHECK_S)
        return 0

    def _go_on(self, machine: Machine) -> int:
        if machine.period_turns != self.published.period_turns:
            raise ValueError(
                f"the new server's updates are due every {machine.period_turns} turns, not every "
                f"{self.published.period_turns}: start this instance anew"
            )
        self.follower.machine.ws.close()
        self.follower.machine = machine
        self.follower.progress.turns.clear()
        self.say(f"{self.instance.name} follows {machine.ws.name} again")
        return newest_due(max(machine.now(), 0), machine.period_turns)


def check_name(ws: Workspace, name: str) -> None:
    """Raises ObjectNotFound where another owner has it."""
    taken = sorted({whole.partition("/")[0] for whole in ws.parameters} - {name})
    if name in RESERVED or (
        name in ws.segments and ws.segments[name].alive and f"{name}/residual_x" not in ws.parameters
    ):
        raise ObjectNotFound(
            f"{name!r} is another owner's name in workspace {ws.name!r}, as {', '.join(taken[:5])} are"
        )


def until(seconds: float | None) -> Callable[[], bool]:
    """Whether so much time has passed since this call; None: never."""
    begin = monotonic()
    return lambda: seconds is not None and monotonic() >= begin + seconds

# SPDX-License-Identifier: Apache-2.0
"""A following twin: the machine's own currents through a model of it, and what is left of the orbit when that is taken
away.

It reads setpoints or readbacks and BPM streams of a running workspace, computes the closed orbit of its lattice, and
tells machine − model as parameters of a segment of its own. It has no way to the guard: it writes nothing else, and
has no setpoints. Any number of them may follow at once, each with its own lattice and parameters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic, sleep

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import ObjectNotFound, TwinArgument, TwinNoAnswer
from ringmaster.fabric.owner import OwnedParameter, Owner
from ringmaster.fabric.workspace import Workspace
from ringmaster.machine.mapping import Mapping
from ringmaster.twin.twin import Twin

Floats = NDArray[np.float64]
UM = 1e6
SOURCES = ("setpoint", "readback")
MOST_AVERAGED = 4096
"""Records of a stream that one comparison takes."""


def change(twin: Twin, text: str) -> str:
    """``QF1_S01_01=+0.01`` changes the gradient of an element (or of those a pattern finds) by 1 %; says what it did.

    ``NAME.dx=1e-4`` (dy, roll) displaces. Raises TwinArgument.
    """
    name, equals, value = text.partition("=")
    name, _, what = name.strip().partition(".")
    try:
        number = float(value)
    except ValueError:
        equals = ""
        number = 0.0
    if not equals:
        raise TwinArgument(f"{text!r}: expected NAME=NUMBER, a relative change of the gradient, or NAME.dx=METRES")
    elements = twin.lattice.find(name)
    if not len(elements):
        raise TwinArgument(f"no element of {twin.lattice.name} is named {name}")
    if what in ("", "k"):
        before = np.asarray(twin.get_value_refpts(elements, "K"), np.float64)
        twin.set_value_refpts(elements, "K", before * (1.0 + number))
        return f"{name}: gradient × {1.0 + number:g} ({len(elements)} elements)"
    if what not in ("dx", "dy", "roll"):
        raise TwinArgument(f"{text!r}: found {what!r} behind the dot, expected k, dx, dy or roll")
    axis = what.removeprefix("d")
    twin.set_misalignment(elements, **{axis: number})
    return f"{name}: {what} = {number:g} ({len(elements)} elements)"


@dataclass(frozen=True)
class Look:
    """One comparison."""

    turn: int
    """Of the newest BPM record."""
    machine_um: Floats
    """[BPM, plane]; NaN for who sent nothing."""
    model_um: Floats
    currents: Floats
    """[actuator], those that nobody knows as 0."""
    unknown: int
    """So many of them."""


class Follower:
    """One model of a running machine."""

    def __init__(
        self, ws: Workspace, twin: Twin, mapping: Mapping, source: str = "setpoint", rate: str = "fast"
    ) -> None:
        """Raises ObjectNotFound for a BPM or an actuator that the workspace has not."""
        if source not in SOURCES:
            raise ValueError(f"found source {source!r}, expected one of {', '.join(SOURCES)}")
        self.ws, self.twin, self.mapping, self.source = ws, twin, mapping, source
        names = [f"{row.rpartition('/')[0]}/{rate}" for row in mapping.rows]
        self._streams = {name: ws.streams[name] for name in dict.fromkeys(names)}
        self._rows = [(name, row.rpartition("/")[2]) for name, row in zip(names, mapping.rows, strict=True)]
        self._currents = [ws.parameters[f"{name}/{source}"] for name in mapping.actuators]
        self._bpms = np.array(mapping.bpms, np.uint32)
        self._design_rf = twin.rf_frequency if mapping.rf is not None else 0.0
        self._reference: Floats | None = None
        self._guess: Floats | None = None

    def look(self, seconds: float) -> Look:
        """Currents now, the orbit of the newest ``seconds``, and the model's."""
        currents = np.array([parameter.number for parameter in self._currents])
        unknown = int(np.count_nonzero(~np.isfinite(currents)))
        currents = np.nan_to_num(currents)
        machine, turn = self._orbit(seconds)
        self._set(currents)
        return Look(turn, machine, self._model(), currents, unknown)

    def take_reference(self, look: Look) -> None:
        """From now on both orbits count from here: offsets of BPMs and errors of the machine that stay fall out."""
        self._reference = look.machine_um - look.model_um

    def residual(self, look: Look) -> Floats:
        """Machine − model, µm, [BPM, plane]."""
        difference = look.machine_um - look.model_um
        return difference if self._reference is None else difference - self._reference

    def _orbit(self, seconds: float) -> tuple[Floats, int]:
        rate = self.ws.parameters["server/turn_rate_hz"].number
        windows = {}
        for name, stream in self._streams.items():
            count = int(np.clip(seconds * rate / stream.period, 1, min(MOST_AVERAGED, stream.capacity // 2)))
            windows[name] = stream.latest(count)
        nm = np.array([_mean(windows[name].values(lane)) for name, lane in self._rows])
        heads = [stream.head for stream in self._streams.values()]
        return nm.reshape(-1, 2) * 1e-3, max((head for head in heads if head is not None), default=0)

    def _set(self, currents: Floats) -> None:
        at = 0
        for group in self.mapping.groups:
            kicks = currents[at : at + len(group.elements)] * group.rad_per_unit
            plane = {"horizontal": kicks} if group.plane == "x" else {"vertical": kicks}
            self.twin.set_kick(np.array(group.elements, np.uint32), **plane)
            at += len(group.elements)
        if self.mapping.rf is not None:
            self.twin.set_cavity(Frequency=self._design_rf + currents[at] * self.mapping.rf[1])

    def _model(self) -> Floats:
        """The closed orbit, from where it was last: that is near."""
        try:
            start, orbit = self.twin.find_orbit(self._bpms, guess=self._guess)
        except TwinNoAnswer:
            if self._guess is None:
                raise
            start, orbit = self.twin.find_orbit(self._bpms)
        self._guess = start
        return orbit[:, [0, 2]] * UM


def _mean(values: Floats) -> float:
    good = values[np.isfinite(values)]
    return float(good.mean()) if len(good) else float("nan")


@dataclass(frozen=True)
class _Published:
    """The parameters of a follower."""

    residual: tuple[OwnedParameter, OwnedParameter]
    model: tuple[OwnedParameter, OwnedParameter]
    rms: tuple[OwnedParameter, OwnedParameter]
    unknown: OwnedParameter
    silent: OwnedParameter
    looks: OwnedParameter
    duration: OwnedParameter
    zero: OwnedParameter


def _tell(owner: Owner, follower: Follower, words: str) -> _Published:
    name, bpms = owner.name, np.zeros(len(follower.mapping.bpms))
    rows = follower.mapping.rows

    def array(short: str, description: str) -> OwnedParameter:
        return owner.parameter(f"{name}/{short}", bpms, "µm", description)

    told = _Published(
        residual=(array("residual_x", "machine − model at each BPM"), array("residual_y", "machine − model")),
        model=(array("model_x", "closed orbit of the model"), array("model_y", "closed orbit of the model")),
        rms=(
            owner.parameter(f"{name}/rms_x", 0.0, "µm", "RMS of residual_x over BPMs"),
            owner.parameter(f"{name}/rms_y", 0.0, "µm", "RMS of residual_y over BPMs"),
        ),
        unknown=owner.parameter(f"{name}/unknown", 0, "", "actuators whose current is not known: taken as 0"),
        silent=owner.parameter(f"{name}/silent", 0, "", "readings that sent nothing: their residual is NaN"),
        looks=owner.parameter(f"{name}/looks", 0, "", "comparisons so far"),
        duration=owner.parameter(f"{name}/duration_ms", 0.0, "ms", "what the newest comparison took"),
        zero=owner.parameter(f"{name}/zero", 0, "", "another value takes the present residual as zero", writable=True),
    )
    owner.parameter(f"{name}/used", words, description="lattice, changes, source")
    owner.parameter(f"{name}/bpms", " ".join(rows[0::2]), description="horizontal readings, in their order")
    return told


def follow(
    follower: Follower,
    name: str,
    words: Sequence[str],
    hz: float = 10.0,
    seconds: float | None = None,
    relative: bool = False,
) -> None:
    """Follows, so often in a second, until interrupted or for ``seconds``; ``relative``: the first residual is zero.

    Raises OwnerBusy where another one has that name.
    """
    _check_name(follower.ws, name)
    owner = Owner(name, str(follower.ws.path))
    told = _tell(owner, follower, "; ".join(words))
    with owner:
        begin = due = monotonic()
        looks = 0
        while seconds is None or monotonic() < begin + seconds:
            follower.ws.check()
            started = monotonic()
            look = follower.look(1.0 / hz)
            asked = any(request.parameter == f"{name}/zero" for request in owner.serve(0.0, turn=look.turn))
            if asked or (relative and looks == 0):
                follower.take_reference(look)
            looks += 1
            _publish(told, follower, look, looks, monotonic() - started)
            due = max(due + 1.0 / hz, monotonic())
            sleep(max(0.0, due - monotonic()))


def _check_name(ws: Workspace, name: str) -> None:
    taken = sorted({whole.partition("/")[0] for whole in ws.parameters} - {name})
    if name in ("server", "setpoints", "grant", "stream", "counters", "supply", "requests", "operator") or (
        name in ws.segments and ws.segments[name].alive and f"{name}/residual_x" not in ws.parameters
    ):
        raise ObjectNotFound(
            f"{name!r} is another owner's name in workspace {ws.name!r}, as {', '.join(taken[:5])} are"
        )


def _publish(told: _Published, follower: Follower, look: Look, looks: int, took_s: float) -> None:
    residual = follower.residual(look)
    for plane in (0, 1):
        values = residual[:, plane]
        told.residual[plane].write(values, look.turn)
        told.model[plane].write(look.model_um[:, plane], look.turn)
        good = values[np.isfinite(values)]
        told.rms[plane].write(float(np.sqrt(np.mean(good**2))) if len(good) else float("nan"), look.turn)
    told.unknown.write(look.unknown, look.turn)
    told.silent.write(int(np.count_nonzero(~np.isfinite(residual))), look.turn)
    told.duration.write(1e3 * took_s, look.turn)
    told.looks.write(looks, look.turn)

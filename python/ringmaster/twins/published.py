# SPDX-License-Identifier: Apache-2.0
"""What a model publishes: numbers as streams, what it has at BPMs as rows, all of it as parameters."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ringmaster.fabric.owned import Axis, OwnedRows, OwnedStream
from ringmaster.fabric.owner import OwnedParameter, Owner
from ringmaster.fabric.parameter import Limits
from ringmaster.twins.model import Answer, Model

if TYPE_CHECKING:
    from ringmaster.twins.following import Progress

Floats = NDArray[np.float64]
STATE_ROOM = 256
STREAM_RECORDS = 4096
ROWS_KEPT = 64
RING = (
    ("tune_x", "", "fractional tune of the model"),
    ("tune_y", "", "fractional tune of the model"),
    ("tune_s", "", "synchrotron tune of the model"),
    ("chromaticity_x", "", "per δ, of the model; some updates old"),
    ("chromaticity_y", "", "per δ, of the model; some updates old"),
    ("emittance_x", "m", "of the model's first mode, m rad"),
    ("emittance_y", "m", "of the model's second mode, m rad"),
    ("emittance_s", "m", "of the model's longitudinal mode, m rad"),
    ("energy_spread", "", "RMS, of the model"),
    ("bunch_length", "m", "RMS, of the model"),
    ("rms_x", "µm", "RMS of residual_x over BPMs"),
    ("rms_y", "µm", "RMS of residual_y over BPMs"),
)
"""Lanes of NAME/ring, and parameters of the same names."""
AT_BPMS = (
    ("model", "µm", "closed orbit of the model"),
    ("residual", "µm", "machine − model"),
    ("beta", "m", "β of the model"),
    ("dispersion", "m", "dispersion of the model"),
    ("size", "µm", "RMS beam size of the model"),
)
"""Parameters NAME/model_x, NAME/model_y, …, and rows NAME/model_xs, …"""


@dataclass(frozen=True)
class _AtBpms:
    parameter: OwnedParameter
    rows: OwnedRows


class Published:
    """The segment of one model."""

    def __init__(self, owner: Owner, model: Model, period_turns: int) -> None:
        self.owner, self.model, self.period_turns = owner, model, period_turns
        name, count = owner.name, len(model.mapping.bpms)
        axis = Axis(count, name="BPM")
        self._ring_stream: OwnedStream = owner.stream(
            f"{name}/ring",
            [(short, unit) for short, unit, _ in RING],
            period_turns,
            "tunes, chromaticities, beam, RMS of the prediction errors",
            capacity=STREAM_RECORDS,
        )
        self._ring = [owner.parameter(f"{name}/{short}", float("nan"), unit, about) for short, unit, about in RING]
        self._at: dict[str, tuple[_AtBpms, _AtBpms]] = {}
        for short, unit, about in AT_BPMS:
            both = []
            for plane in "xy":
                full = f"{name}/{short}_{plane}"
                rows = owner.rows(f"{full}s", unit, axis, period_turns, f"{about}, each update", depth=ROWS_KEPT)
                both.append(_AtBpms(owner.parameter(full, np.full(count, np.nan), unit, about), rows))
            self._at[short] = (both[0], both[1])
        self._stands = owner.parameter(
            f"{name}/stands", np.zeros(len(model.mapping.supplies)), "", "what supplies stand at in the model"
        )
        self._tell_progress(owner, name)
        self._tell_settings(owner, name)

    def _tell_progress(self, owner: Owner, name: str) -> None:
        def number(short: str, first: float | int, unit: str, about: str) -> OwnedParameter:
            return owner.parameter(f"{name}/{short}", first, unit, about)

        self._state = owner.parameter(
            f"{name}/state", "starting", "", "following; or what keeps it from that", room=STATE_ROOM
        )
        self._turn = number("turn", 0, "turns", "of the machine's state that the newest answer is of")
        self._looks = number("looks", 0, "", "updates so far")
        self._missed = number("missed", 0, "", "updates that were skipped, as their turn had passed")
        self._unstable = number("unstable", 0, "", "updates without an answer: no closed orbit, no stable motion")
        self._unknown = number(
            "unknown", 0, "", "supplies whose current is not known: they keep their last, at first 0"
        )
        self._silent = number("silent", 0, "", "readings that sent nothing: their residual is NaN")
        self._rate = number("updates_per_s", 0.0, "Hz", "updates in a second of the machine's turns, of late")
        self._lag = number("lag_turns", 0, "turns", "from the state answered to its answer")
        self._lag_periods = number("lag_periods", 0.0, "", "the same, in periods of the updates")
        self._duration = number("duration_ms", 0.0, "ms", "what the newest update took")
        self._loss = number("energy_loss", float("nan"), "eV", "per turn, of the model")

    def _tell_settings(self, owner: Owner, name: str) -> None:
        model = self.model
        self._zero = owner.parameter(
            f"{name}/zero", 0, "", "another value takes the present residual as zero", writable=True
        )
        self._loops: list[tuple[str, OwnedParameter, OwnedParameter, OwnedParameter]] = []
        for short in ("orbit", "tune"):
            loop = getattr(model, short)
            if loop is None:
                continue
            made = (
                owner.parameter(
                    f"{name}/{short}_feedback",
                    int(loop.on),
                    "",
                    f"1: the model's own {short} feedback acts",
                    limits=Limits(control_low=0, control_high=1),
                    writable=True,
                ),
                owner.parameter(
                    f"{name}/{short}_gain",
                    float(loop.gain),
                    "",
                    f"of the model's own {short} feedback",
                    limits=Limits(control_low=0, control_high=100),
                    writable=True,
                ),
                owner.parameter(f"{name}/{short}_moved", 0.0, "", "largest part that it has moved a supply by"),
            )
            self._loops.append((short, *made))
        instance = model.instance
        words = "; ".join([f"lattice {model.twin.lattice.name}", *model.words, f"{instance.source}s"])
        owner.parameter(f"{name}/used", words, description="lattice, changes, source")
        owner.parameter(f"{name}/bpms", " ".join(model.mapping.rows[0::2]), description="horizontal readings, in order")
        owner.parameter(f"{name}/definition", instance.text, description="the instance: for `twin what-if --on`")
        owner.parameter(f"{name}/period_turns", self.period_turns, "turns", "from one update to the next")

    def serve(self, turn: int) -> bool:
        """Answers requests; true where the present residual shall be zero."""
        asked = {request.parameter for request in self.owner.serve(0.0, turn=turn)}
        for short, on, gain, _ in self._loops:
            loop = getattr(self.model, short)
            loop.on, loop.gain = bool(on.number), gain.number
        return self._zero.name in asked

    def say(self, state: str, turn: int | None = None) -> None:
        """What it does now, where that is another thing."""
        if self._state.value != state:
            self._state.write(state[: STATE_ROOM - 1], turn)

    def count(self, progress: "Progress", turn: int) -> None:
        """How it goes."""
        self._missed.write(progress.missed, turn)
        self._unstable.write(progress.unstable, turn)
        self._unknown.write(progress.unknown, turn)
        self._looks.write(progress.looks, turn)

    def put(self, answer: Answer, residual_um: Floats, turn: int) -> None:
        """All that an answer is, stamped with the turn that it is of."""
        good = np.isfinite(residual_um)
        count = good.sum(axis=0)
        squares = np.square(np.where(good, residual_um, 0.0)).sum(axis=0)
        rms = np.sqrt(squares / np.where(count, count, np.nan))
        numbers = [*answer.tune, *answer.chromaticity, *answer.emittance_m, answer.energy_spread, answer.bunch_length_m]
        numbers += [float(value) for value in rms]
        self._ring_stream.put(turn, numbers)
        for parameter, value in zip(self._ring, numbers, strict=True):
            parameter.write(float(value), turn)
        at_bpms = (answer.orbit_um, residual_um, answer.beta_m, answer.dispersion_m, answer.size_um)
        for both, values in zip(self._at.values(), at_bpms, strict=True):
            for plane, it in enumerate(both):
                it.rows.put(turn, values[:, plane])
                it.parameter.write(values[:, plane], turn)
        self._stands.write(answer.stands, turn)
        for short, _, _, moved in self._loops:
            moved.write(float(np.abs(getattr(self.model, short).moved).max(initial=0.0)), turn)
        self._silent.write(int(np.count_nonzero(~good)), turn)
        self._loss.write(answer.energy_loss_ev, turn)
        self._turn.write(turn, turn)

    def put_pace(self, rate_hz: float, lag_turns: int, took_s: float, turn: int) -> None:
        """How it keeps up."""
        self._rate.write(rate_hz, turn)
        self._lag.write(lag_turns, turn)
        self._lag_periods.write(lag_turns / self.period_turns, turn)
        self._duration.write(1e3 * took_s, turn)

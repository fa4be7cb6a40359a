# SPDX-License-Identifier: Apache-2.0
"""Setpoint vectors: what an application wants of its actuators, and what the server has sent to all of them."""

from dataclasses import dataclass
from time import monotonic

import numpy as np
import numpy.typing as npt

from ringmaster.errors import WorkspaceDamaged
from ringmaster.fabric import layout
from ringmaster.fabric._library import ffi, lib
from ringmaster.fabric.memory import Place, Words, structure
from ringmaster.fabric.segment import ObjectInfo, Segment

_TIMEOUT_S = 0.2


@dataclass(frozen=True)
class SetpointVector:
    """A copy of one whole vector."""

    number: int
    """Its number, from 0."""
    grant_number: int
    """As granted to who wrote it."""
    input_turn: int | None
    """The turn that it answers; of what was sent the turn of the cycle."""
    tsc: int
    """When it was committed."""
    values: npt.NDArray[np.float64]
    names: tuple[str, ...]
    """Of the actuators, in the order of the values; empty where nobody has said."""


class Setpoints:
    """The vectors of one owner. Three buffers take turns, so the newest whole one can be had while the next is
    written.
    """

    def __init__(self, segment: Segment, info: ObjectInfo, names: tuple[str, ...] = ()) -> None:
        header = structure(segment.memory, layout.SETPOINTS, info.offset)[0]
        start, stride, count = (int(header[name]) for name in ("vectors_offset", "vector_bytes", "actuator_count"))
        values = layout.member_offset(layout.SETPOINT_VECTOR, "value")
        whole = start == layout.SETPOINTS.itemsize and start + layout.SETPOINT_BUFFERS * stride <= info.size
        if not whole or (info.offset | stride) % 64 or values + 8 * count > stride:
            raise WorkspaceDamaged(
                f"{segment.path}: setpoints {info.name!r} contradict themselves; start its owner anew"
            )
        self.name = info.name
        self.description = info.description
        self.owner = info.owner
        self.names = names if len(names) == count else ()
        self.count = count
        """Actuators in a vector."""
        places = [info.offset + start + buffer * stride for buffer in range(layout.SETPOINT_BUFFERS)]
        self._heads = [Words(segment.memory, layout.SETPOINT_VECTOR, place) for place in places]
        self._vector_bytes = stride
        self._setpoints = Place("rm_setpoints", layout.SETPOINTS, segment.memory, info.offset)

    def __repr__(self) -> str:
        return f"<setpoints {self.name}: {self.count} actuators, {self.vectors} vectors>"

    @property
    def vectors(self) -> int:
        """Vectors committed so far."""
        return max(head("sequence") // 2 for head in self._heads)

    def read(self) -> SetpointVector | None:
        """The newest whole vector; None while there is none.

        Raises WorkspaceDamaged when vectors come faster than they can be copied, which nobody has a reason to do.
        """
        place, reading = ffi.new("struct rm_setpoints_place *"), ffi.new("struct rm_setpoint_reading *")
        values = np.empty(self.count, np.float64)
        copy = ffi.cast("double *", values.ctypes.data)
        give_up = monotonic() + _TIMEOUT_S
        while not lib.rm_setpoints_copy(self._setpoints.pointer, self._vector_bytes, place, reading, copy, self.count):
            if self.vectors == 0:
                return None
            if monotonic() > give_up:
                raise WorkspaceDamaged(f"setpoints {self.name!r} come faster than they can be read")
        return SetpointVector(
            number=reading.number,
            grant_number=reading.grant_number,
            input_turn=None if reading.input_turn == layout.TURN_NONE else reading.input_turn,
            tsc=reading.tsc,
            values=values,
            names=self.names,
        )

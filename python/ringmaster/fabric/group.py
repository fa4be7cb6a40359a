# SPDX-License-Identifier: Apache-2.0
"""Groups: parameters of one owner that change together, at one turn, and are read together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic

from ringmaster.fabric import layout
from ringmaster.fabric._library import ffi, lib
from ringmaster.fabric.memory import Place, Words, half_written
from ringmaster.fabric.parameter import Parameter, ParameterReading
from ringmaster.fabric.segment import ObjectInfo, Segment

_TIMEOUT_S = 0.5
"""For a group that is changed again and again while it is read."""


@dataclass(frozen=True)
class GroupReading:
    """All members as they were between two changes."""

    readings: Mapping[str, ParameterReading]
    """By the members' whole names."""
    timestamp_tai_ns: int
    """Of the last change; nanoseconds of TAI since 1970-01-01."""
    turn: int | None
    """Of the last change, where it has one."""
    changes: int
    """How often the group was changed so far."""


class Group:
    """One group; reading takes no system call."""

    def __init__(self, segment: Segment, info: ObjectInfo, find_members: Callable[[str], list[Parameter]]) -> None:
        self.name = info.name
        self.description = info.description
        self.owner = info.owner
        self._live = Words(segment.memory, layout.GROUP, info.offset)
        self._group = Place("rm_group", layout.GROUP, segment.memory, info.offset)
        self._members = find_members(info.name)

    def __repr__(self) -> str:
        return f"<group {self.name}: {', '.join(self.members)}>"

    @property
    def members(self) -> list[str]:
        """Names of its parameters."""
        return [member.name for member in self._members]

    @property
    def changes(self) -> int:
        """How often it was changed so far."""
        return self._live("sequence") // 2

    def read(self) -> GroupReading:
        """Copies all members, of one and the same change. Raises WorkspaceDamaged when its owner was killed in one."""
        seen = ffi.new("uint64_t *")
        give_up = monotonic() + _TIMEOUT_S
        while monotonic() < give_up:
            if not lib.rm_group_enter(self._group.pointer, seen):
                break
            reading = self._copy(seen[0])
            if lib.rm_group_leave(self._group.pointer, seen[0]):
                return reading
        raise half_written(self.name)

    def _copy(self, sequence: int) -> GroupReading:
        turn = self._live("turn")
        return GroupReading(
            readings={member.name: member.read() for member in self._members},
            timestamp_tai_ns=self._live("timestamp_tai_ns"),
            turn=None if turn == layout.TURN_NONE else turn,
            changes=sequence // 2,
        )

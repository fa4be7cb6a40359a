# SPDX-License-Identifier: Apache-2.0
"""Asking the owner of a parameter to set it: ``Workspace.put`` and what it takes."""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from ringmaster.errors import OwnerBusy, RequestRefused, RequestUnanswered
from ringmaster.fabric._library import call, ffi, lib, text
from ringmaster.fabric.parameter import Parameter, Value

Wanted = Value | Sequence[float]
"""What may be put: a number, text, or as many numbers as are to be set."""


def packed(parameter: Parameter, value: Wanted, unit: str | None = None, first: int = 0) -> npt.NDArray[np.generic]:
    """A value as elements of the parameter's type.

    Raises ValueError where it is none, RequestRefused where it lies outside of what the control limits convert to.
    """
    if parameter.is_text:
        return _packed_text(parameter, value)
    if isinstance(value, str):
        raise ValueError(f"{parameter.name}: {value!r} is not a number")
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iufb":
        raise ValueError(f"{parameter.name}: {value!r} is not a number, or a list of numbers")
    numbers = numbers.ravel()
    conversion = parameter.conversion_to(unit)
    if conversion is not None:
        numbers = np.array([_back(parameter, float(number), conversion.unit) for number in numbers])
    if first < 0 or not numbers.size or first + numbers.size > parameter.count:
        raise ValueError(
            f"{parameter.name} has {parameter.count} elements, from 0 on; {numbers.size} from {first} on cannot be set"
        )
    return _of_type(parameter, numbers)


def _of_type(parameter: Parameter, numbers: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    if parameter.dtype.kind == "f":
        return numbers.astype(parameter.dtype)
    bits = 8 * parameter.dtype.itemsize
    lowest, highest = (0, 2**bits - 1) if parameter.dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for number in numbers.tolist():
        if not math.isfinite(number) or number != int(number) or not lowest <= number <= highest:
            raise ValueError(
                f"{parameter.name} takes whole numbers from {lowest} to {highest}; {number} is none of these"
            )
    return numbers.astype(parameter.dtype)


def _back(parameter: Parameter, number: float, unit: str) -> float:
    conversion = parameter.conversion
    assert conversion is not None
    value = conversion.back(number)
    if math.isnan(value) and not math.isnan(number):
        low, high = conversion.range
        raise RequestRefused(
            f"{parameter.name}: {number:g} {unit} is outside of {low:g} … {high:g} {unit}, "
            f"which is what its control limits allow"
        )
    return value


def _packed_text(parameter: Parameter, value: Wanted) -> npt.NDArray[np.generic]:
    raw = str(value).encode()
    if len(raw) >= parameter.count:
        raise ValueError(f"{parameter.name} has room for {parameter.count - 1} bytes of text; {value!r} has {len(raw)}")
    return np.frombuffer(raw.ljust(parameter.count, b"\0"), np.uint8)


def _parts(values: npt.NDArray[np.generic]) -> Iterator[tuple[int, bytes]]:
    """Values as requests carry them: where each part begins, and its bytes."""
    part = lib.RM_REQUEST_VALUE_BYTES // values.itemsize
    for begin in range(0, values.size, part):
        yield begin, values[begin : begin + part].tobytes()


def _refusal(parameter: Parameter, reply: Any) -> str:
    return text(reply.reason) or f"{parameter.name}: {parameter.owner} refused, and says not why"


class Requester:
    """Who asks. It has a segment of its own in the workspace's folder ``requests``, which it removes when closed."""

    def __init__(self, workspace: Path, name: str = "python") -> None:
        self._owner = self._workspace = ffi.NULL
        made, attached = ffi.new("struct rm_owner **"), ffi.new("struct rm_workspace **")
        place = str(workspace.absolute()).encode()
        call(lib.rm_owner_new_requester, place, name.encode(), made)
        self._owner = made[0]
        try:
            lib.rm_owner_requests(self._owner)
            call(lib.rm_owner_open, self._owner)
            call(lib.rm_workspace_attach, place, 0, attached)
            self._workspace = attached[0]
        except BaseException:
            self.close()
            raise

    def put(self, parameter: Parameter, values: npt.NDArray[np.generic], first: int, timeout: float) -> None:
        """Asks for elements from ``first`` on to be set, and waits. Raises RequestRefused or RequestUnanswered."""
        for begin, content in _parts(values):
            self._put(parameter, content, first + begin, timeout)

    def put_together(self, wanted: Sequence[tuple[Parameter, npt.NDArray[np.generic]]], timeout: float) -> list[str]:
        """Asks for several parameters at once, so that an owner who takes them together sees one change, and waits.

        Returns for each the reason why it was refused, "" where it was done. Raises RequestUnanswered where an owner
        does not answer one of them. Beyond fifteen requests, the first answers are waited for before more are sent.
        """
        reasons = dict.fromkeys((parameter.name for parameter, _ in wanted), "")
        give_up = monotonic() + timeout
        waiting: deque[tuple[Parameter, int]] = deque()

        def hear_one() -> None:
            parameter, number = waiting.popleft()
            reason = self._reason(parameter, number, give_up)
            reasons[parameter.name] = reasons[parameter.name] or reason

        for parameter, begin, content in [(it, *part) for it, values in wanted for part in _parts(values)]:
            if len(waiting) == lib.RM_REQUEST_SLOTS - 1:
                hear_one()
            number = ffi.new("uint64_t *")
            name = parameter.name.encode()
            call(lib.rm_requests_post, self._owner, self._workspace, name, begin, content, len(content), number)
            waiting.append((parameter, number[0]))
        while waiting:
            hear_one()
        return list(reasons.values())

    def _reason(self, parameter: Parameter, number: int, give_up: float) -> str:
        """Waits for the reply to a request: "" or why it was refused."""
        reply = ffi.new("struct rm_reply *")
        left_ns = max(1, round((give_up - monotonic()) * 1e9))  # a reply that is there counts
        try:
            call(lib.rm_requests_wait, self._owner, self._workspace, parameter.name.encode(), number, left_ns, reply)
        except OwnerBusy as error:
            raise RequestUnanswered(str(error)) from None
        return "" if reply.verdict == lib.RM_VERDICT_DONE else _refusal(parameter, reply)

    def _put(self, parameter: Parameter, content: bytes, first: int, timeout: float) -> None:
        reply = ffi.new("struct rm_reply *")
        name, wait_ns = parameter.name.encode(), round(timeout * 1e9)
        asked: tuple[Any, ...] = (self._owner, self._workspace, name, first, content, len(content), wait_ns, reply)
        try:
            call(lib.rm_requests_put, *asked)
        except OwnerBusy as error:
            raise RequestUnanswered(str(error)) from None
        if reply.verdict != lib.RM_VERDICT_DONE:
            raise RequestRefused(_refusal(parameter, reply))

    def close(self) -> None:
        """Removes the segment."""
        lib.rm_workspace_detach(self._workspace)
        lib.rm_owner_close(self._owner)
        self._owner = self._workspace = ffi.NULL

# SPDX-License-Identifier: Apache-2.0
"""Times as people give them: UTC, in nanoseconds since 1970."""

from datetime import UTC, datetime

import numpy as np

from ringmaster.errors import ArchiveArgument

Time = str | datetime | np.datetime64
"""ISO 8601 text, a datetime or a datetime64. Without a zone it is UTC."""
Edge = int | Time | None
"""The end of a span: a turn, a time, or None where the archive's own."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
END_NS = 2**63 - 1


def utc_ns(time: Time) -> int:
    """A time as nanoseconds of UTC since 1970. Raises ArchiveArgument where it is none."""
    if isinstance(time, np.datetime64):
        if np.isnat(time):
            raise ArchiveArgument("the time is NaT; expected a date and a time")
        return _not_before_1970(int(time.astype("datetime64[ns]").astype(np.int64)), str(time))
    if isinstance(time, str):
        return _of_text(time)
    aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    since = aware - _EPOCH
    return _not_before_1970((since.days * 86400 + since.seconds) * 10**9 + since.microseconds * 1000, str(time))


def comes_before(one: int | Time, other: int | Time) -> bool:
    """Of two turns, or of two times; a turn and a time have no order."""
    if isinstance(one, int) != isinstance(other, int):
        return False
    first, second = (edge if isinstance(edge, int) else utc_ns(edge) for edge in (one, other))
    return first < second


def _of_text(words: str) -> int:
    """Digits of a second behind the sixth are read here, for datetime has microseconds."""
    head, dot, tail = words.strip().partition(".")
    digits = tail[: len(tail) - len(tail.lstrip("0123456789"))] if dot else ""
    try:
        second = datetime.fromisoformat(head + tail[len(digits) :])
    except ValueError:
        raise ArchiveArgument(
            f"{words!r} is no time; expected ISO 8601 in UTC, as 2026-11-25T14:00:01.5, or a turn"
        ) from None
    whole = utc_ns(second if second.tzinfo is not None else second.replace(tzinfo=UTC))
    return whole + (int(digits[:9].ljust(9, "0")) if digits else 0)


def _not_before_1970(ns: int, words: str) -> int:
    if not 0 <= ns <= END_NS:
        raise ArchiveArgument(f"{words} is no time of an archive; expected one between 1970 and 2262")
    return ns


def datetimes(ns: np.typing.NDArray[np.uint64]) -> np.typing.NDArray[np.datetime64]:
    """Nanoseconds since 1970 as datetime64[ns]."""
    return ns.astype(np.int64).view("datetime64[ns]")


def iso(ns: int) -> str:
    """Nanoseconds of UTC since 1970 as "2026-03-05T14:00:01.123456789Z"."""
    return f"{np.datetime64(ns, 'ns')}Z"

# SPDX-License-Identifier: Apache-2.0
"""Time stamps as people read them."""

import time
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def tai_minus_utc_s() -> int:
    """As the kernel was told: 37 s, or 0."""
    return round((time.clock_gettime_ns(time.CLOCK_TAI) - time.clock_gettime_ns(time.CLOCK_REALTIME)) / 1e9)


def utc(tai_ns: int, offset_s: int | None = None) -> datetime:
    """The time of day of a time stamp, by its own TAI − UTC, or by the one that the kernel knows of now."""
    leap_s = tai_minus_utc_s() if offset_s is None else offset_s
    return _EPOCH + timedelta(microseconds=(tai_ns - leap_s * 10**9) // 1000)


def utc_ns(tai_ns: int, offset_s: int | None = None) -> int:
    """Nanoseconds of UTC since 1970-01-01, without leap seconds, as other systems count; ``offset_s`` as in ``utc``.

    0 where a value never changed.
    """
    leap_s = tai_minus_utc_s() if offset_s is None else offset_s
    return max(0, tai_ns - leap_s * 10**9)


def iso(tai_ns: int, offset_s: int | None = None) -> str:
    """The time of day as "2026-03-05T14:00:01.123456Z"; ``offset_s`` as in ``utc``."""
    return utc(tai_ns, offset_s).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def clock_time(tai_ns: int) -> str:
    """The local time of day, "14:00:01.123456"; a dash where a value never changed."""
    return utc(tai_ns).astimezone().strftime("%H:%M:%S.%f") if tai_ns else "–"


def now_tai_ns() -> int:
    """Nanoseconds of TAI since 1970-01-01."""
    return time.clock_gettime_ns(time.CLOCK_TAI)

# SPDX-License-Identifier: Apache-2.0
"""Made from src/fabric/abi/abi.json by tools/generate_abi.py: change the public headers, then `make abi`.

The layout of shared memory: constants under their C names, enums, and one NumPy type per struct.
The lanes of a record are 32 bits whose type the stream says: read them as "<i4", or view them as "<f4".
"""

from enum import IntEnum
from typing import Any

import numpy as np

LAYOUT_HASH = 0x647D245C60E0BA56

RM_ABI_VERSION = 2
RM_SEGMENT_MAGIC = 0x5254534D474E4952
RM_CACHE_LINE = 64
RM_PAGE_BYTES = 4096
RM_LANES = 12
RM_NAME_BYTES = 96
RM_OWNER_BYTES = 32
RM_UNIT_BYTES = 16
RM_DESCRIPTION_BYTES = 104
RM_LANE_NAME_BYTES = 16
RM_TURN_NONE = 0xFFFFFFFFFFFFFFFF
RM_TAG_TSC_MASK = 0xFFFFFFFFFFFF
RM_TAG_MISSING_MASK = 65535
RM_SETPOINT_BUFFERS = 3
RM_HISTOGRAM_SUBBITS = 4
RM_HISTOGRAM_BUCKETS = 976


class SegmentState(IntEnum):
    """enum rm_segment_state"""

    BUILDING = 0
    LIVE = 1
    CLOSED = 2
    REPLACED = 3


class ObjectKind(IntEnum):
    """enum rm_object_kind"""

    STREAM = 1
    ROW = 2
    SETPOINTS = 3
    PARAMETER = 4
    COUNTERS = 5
    CLOCK = 6
    HISTOGRAM = 7
    TEXT = 8


class ElementType(IntEnum):
    """enum rm_element_type"""

    RECORD = 1
    F64 = 2
    F32 = 3
    I64 = 4
    I32 = 5
    U64 = 6
    U32 = 7
    U8 = 8


class InstrumentKind(IntEnum):
    """enum rm_instrument_kind"""

    BPM = 1
    BLM = 2
    LLRF = 3
    PHOTON_BPM = 4
    INTERLOCK = 5
    POWER_SUPPLY = 6


class LaneType(IntEnum):
    """enum rm_lane_type"""

    UNUSED = 0
    I32 = 1
    F32 = 2


class Reduction(IntEnum):
    """enum rm_reduction"""

    FIR = 0
    LAST = 1
    OR = 2
    AND = 3
    MIN = 4
    MAX = 5


class Calibrated(IntEnum):
    """enum rm_calibrated"""

    NOT = 0
    IN_READING = 1
    IN_STREAM = 2


class Severity(IntEnum):
    """enum rm_severity"""

    NONE = 0
    MINOR = 1
    MAJOR = 2
    INVALID = 3


def _struct(itemsize: int, *members: tuple[str, Any, int]) -> np.dtype[Any]:
    """A type of `itemsize` bytes; each member has a name, a type and an offset in bytes."""
    names, formats, offsets = zip(*members, strict=True)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": itemsize})


DTYPES: dict[str, np.dtype[Any]] = {}

DTYPES["rm_segment_header"] = _struct(
    192,
    ("magic", "<u8", 0),
    ("abi_version", "<u4", 8),
    ("header_bytes", "<u4", 12),
    ("layout_hash", "<u8", 16),
    ("directory_hash", "<u8", 24),
    ("segment_bytes", "<u8", 32),
    ("directory_offset", "<u8", 40),
    ("object_count", "<u4", 48),
    ("object_bytes", "<u4", 52),
    ("epoch", "<u8", 56),
    ("state", "<u4", 64),
    ("owner_pid", "<u4", 68),
    ("started_tai_ns", "<u8", 72),
    ("owner", "S32", 80),
    ("reserved", ("<u8", (10,)), 112),
)

DTYPES["rm_object"] = _struct(
    320,
    ("name", "S96", 0),
    ("unit", "S16", 96),
    ("description", "S104", 112),
    ("kind", "<u4", 216),
    ("element_type", "<u4", 220),
    ("shape", ("<u8", (2,)), 224),
    ("offset", "<u8", 240),
    ("bytes", "<u8", 248),
    ("variety", "<u4", 256),
    ("reserved32", "<u4", 260),
    ("reserved", ("<u8", (7,)), 264),
)

DTYPES["rm_record"] = _struct(
    64,
    ("turn", "<u8", 0),
    ("tag", "<u8", 8),
    ("lane", ("<i4", (12,)), 16),
)

DTYPES["rm_slot"] = _struct(
    64,
    ("word", ("<u8", (8,)), 0),
)

DTYPES["rm_lane_info"] = _struct(
    64,
    ("name", "S16", 0),
    ("unit", "S16", 16),
    ("type", "<u4", 32),
    ("reduction", "<u4", 36),
    ("reserved", ("<u4", (6,)), 40),
)

DTYPES["rm_stream"] = _struct(
    960,
    ("slots_offset", "<u8", 0),
    ("capacity", "<u8", 8),
    ("period", "<u8", 16),
    ("margin", "<u8", 24),
    ("instrument_kind", "<u4", 32),
    ("instrument_id", "<u4", 36),
    ("source_ipv4", "<u4", 40),
    ("lane_count", "<u4", 44),
    ("group_delay_turns", "<f8", 48),
    ("closing_delay_turns", "<f8", 56),
    ("gain", "<f8", 64),
    ("filter", "S16", 72),
    ("calibrated", "<u4", 88),
    ("reserved_word", "<u4", 92),
    ("reserved_constant", ("<u8", (3,)), 96),
    ("lane", (DTYPES["rm_lane_info"], (12,)), 120),
    ("head", "<u8", 896),
    ("first", "<u8", 904),
    ("machine_epoch", "<u8", 912),
    ("published_tsc", "<u8", 920),
    ("reserved_live", ("<u8", (4,)), 928),
)

DTYPES["rm_clock"] = _struct(
    128,
    ("sequence", "<u8", 0),
    ("anchored", "<u8", 8),
    ("machine_epoch", "<u8", 16),
    ("turn", "<u8", 24),
    ("turn_tsc", "<u8", 32),
    ("ticks_per_turn_bits", "<u8", 40),
    ("residual_ticks_bits", "<u8", 48),
    ("tsc_hz_bits", "<u8", 56),
    ("tai_tsc", "<u8", 64),
    ("tai_ns", "<u8", 72),
    ("reserved", ("<u8", (6,)), 80),
)

DTYPES["rm_limits"] = _struct(
    72,
    ("display_low", "<f8", 0),
    ("display_high", "<f8", 8),
    ("control_low", "<f8", 16),
    ("control_high", "<f8", 24),
    ("minor_low", "<f8", 32),
    ("minor_high", "<f8", 40),
    ("major_low", "<f8", 48),
    ("major_high", "<f8", 56),
    ("hysteresis", "<f8", 64),
)

DTYPES["rm_parameter"] = _struct(
    192,
    ("values_offset", "<u8", 0),
    ("count", "<u8", 8),
    ("value_bytes", "<u8", 16),
    ("limits", DTYPES["rm_limits"], 24),
    ("owner", "S32", 96),
    ("sequence", "<u8", 128),
    ("timestamp_tai_ns", "<u8", 136),
    ("turn", "<u8", 144),
    ("severity", "<u8", 152),
    ("reserved", ("<u8", (4,)), 160),
)

DTYPES["rm_row"] = _struct(
    64,
    ("cells_offset", "<u8", 0),
    ("cell_count", "<u8", 8),
    ("period", "<u8", 16),
    ("arrivals_offset", "<u8", 24),
    ("arrivals_count", "<u8", 32),
    ("arrivals_bytes", "<u8", 40),
    ("reserved", ("<u8", (2,)), 48),
)

DTYPES["rm_arrivals"] = _struct(
    128,
    ("mask", "<u8", 0),
    ("reserved", ("<u8", (7,)), 8),
    ("head", "<u8", 64),
    ("reserved_live", ("<u8", (7,)), 72),
)

DTYPES["rm_setpoints"] = _struct(
    128,
    ("rows_offset", "<u8", 0),
    ("row_bytes", "<u8", 8),
    ("actuator_count", "<u8", 16),
    ("reserved", ("<u8", (5,)), 24),
    ("commit", "<u8", 64),
    ("reserved_live", ("<u8", (7,)), 72),
)

DTYPES["rm_setpoint_row"] = _struct(
    64,
    ("epoch", "<u8", 0),
    ("sequence", "<u8", 8),
    ("input_turn", "<u8", 16),
    ("flags", "<u8", 24),
    ("reserved", ("<u8", (4,)), 32),
)

DTYPES["rm_histogram"] = _struct(
    7872,
    ("total", "<u8", 0),
    ("largest", "<u8", 8),
    ("reserved", ("<u8", (6,)), 16),
    ("bucket", ("<u8", (976,)), 64),
)

# SPDX-License-Identifier: Apache-2.0
"""The layout of shared memory in Python's words; the only module that knows the generated one."""

from ringmaster._abi import (
    DTYPES,
    LAYOUT_HASH,
    RM_ABI_VERSION,
    RM_LANES,
    RM_SEGMENT_MAGIC,
    RM_TURN_NONE,
    Calibrated,
    ElementType,
    InstrumentKind,
    LaneType,
    ObjectKind,
    SegmentState,
    Severity,
)

ABI_VERSION = RM_ABI_VERSION
SEGMENT_MAGIC = RM_SEGMENT_MAGIC
TURN_NONE = RM_TURN_NONE
"""No turn: a slot that was never filled, a stream to which nothing has come."""

SEGMENT_HEADER = DTYPES["rm_segment_header"]
OBJECT = DTYPES["rm_object"]
STREAM = DTYPES["rm_stream"]
PARAMETER = DTYPES["rm_parameter"]
CLOCK = DTYPES["rm_clock"]
HISTOGRAM = DTYPES["rm_histogram"]

RECORD_BYTES = 64
LANES = RM_LANES
LANES_OFFSET = 16
TAG_TSC_BITS = 48

ELEMENT_FORMATS: dict[ElementType, str] = {
    ElementType.F64: "<f8",
    ElementType.F32: "<f4",
    ElementType.I64: "<i8",
    ElementType.I32: "<i4",
    ElementType.U64: "<u8",
    ElementType.U32: "<u4",
    ElementType.U8: "u1",
}
LANE_FORMATS: dict[LaneType, str] = {LaneType.I32: "<i4", LaneType.F32: "<f4"}

__all__ = [
    "ABI_VERSION",
    "CLOCK",
    "ELEMENT_FORMATS",
    "HISTOGRAM",
    "LANES",
    "LANES_OFFSET",
    "LANE_FORMATS",
    "LAYOUT_HASH",
    "OBJECT",
    "PARAMETER",
    "RECORD_BYTES",
    "SEGMENT_HEADER",
    "SEGMENT_MAGIC",
    "STREAM",
    "TAG_TSC_BITS",
    "TURN_NONE",
    "Calibrated",
    "ElementType",
    "InstrumentKind",
    "LaneType",
    "ObjectKind",
    "SegmentState",
    "Severity",
]

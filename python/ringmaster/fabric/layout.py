# SPDX-License-Identifier: Apache-2.0
"""The layout of shared memory in Python's words; the only module that knows the generated one."""

import numpy as np

from ringmaster.fabric._abi import (
    DTYPES,
    LAYOUT_HASH,
    RM_ABI_VERSION,
    RM_LANES,
    RM_NAME_BYTES,
    RM_SEGMENT_MAGIC,
    RM_SETPOINT_BUFFERS,
    RM_TURN_END,
    RM_TURN_NONE,
    ApplicationState,
    Calibrated,
    ChainStatus,
    DecisionFlag,
    DecisionLane,
    ElementType,
    ImageMarks,
    ImageStatus,
    InstrumentKind,
    LaneType,
    ObjectKind,
    ParameterFlags,
    Refusal,
    RowsLane,
    SegmentState,
    Severity,
    StandbyReason,
    StandbyRole,
    StopAction,
    SupplyState,
    Verdict,
)

ABI_VERSION = RM_ABI_VERSION
SEGMENT_MAGIC = RM_SEGMENT_MAGIC
TURN_NONE = RM_TURN_NONE
"""No turn: a slot that was never filled, a stream to which nothing has come."""

TURN_END = RM_TURN_END
"""All turns are below this."""

SEGMENT_HEADER = DTYPES["rm_segment_header"]
OBJECT = DTYPES["rm_object"]
STREAM = DTYPES["rm_stream"]
PARAMETER = DTYPES["rm_parameter"]
CLOCK = DTYPES["rm_clock"]
HISTOGRAM = DTYPES["rm_histogram"]
GROUP = DTYPES["rm_group"]
SETPOINTS = DTYPES["rm_setpoints"]
SETPOINT_VECTOR = DTYPES["rm_setpoint_vector"]
SETPOINT_BUFFERS = RM_SETPOINT_BUFFERS
GRANT = DTYPES["rm_grant"]
INTENDED = DTYPES["rm_intended"]
OFFENCE = DTYPES["rm_offence"]
REQUESTS = DTYPES["rm_requests"]
REPLIES = DTYPES["rm_replies"]
ROWS = DTYPES["rm_rows"]
IMAGES = DTYPES["rm_images"]
IMAGE_SLOT = DTYPES["rm_image_slot"]
STANDBY_STATE = DTYPES["rm_standby_state"]
STANDBY_ORDERS = DTYPES["rm_standby_orders"]
STATE = DTYPES["rm_state"]

NO_FILTER, ON_CHANGE = "none", "on-change"
"""Names of filters that are none. A stream on change has a record only where there is something to tell."""

NAME_BYTES = RM_NAME_BYTES
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


def member_offset(dtype: np.dtype[np.void], member: str) -> int:
    """Bytes from a struct's start to a member."""
    assert dtype.fields is not None
    return int(dtype.fields[member][1])


def words(bits: type[SupplyState] | type[ChainStatus], word: int) -> list[str]:
    """The bits that are set in a word of state, by name: ["tripped", "lost"]."""
    return [bit.name.lower() for bit in bits if word & bit]


__all__ = [
    "ABI_VERSION",
    "CLOCK",
    "ELEMENT_FORMATS",
    "GRANT",
    "GROUP",
    "HISTOGRAM",
    "IMAGES",
    "IMAGE_SLOT",
    "INTENDED",
    "LANES",
    "LANES_OFFSET",
    "LANE_FORMATS",
    "LAYOUT_HASH",
    "NAME_BYTES",
    "OBJECT",
    "OFFENCE",
    "PARAMETER",
    "RECORD_BYTES",
    "REPLIES",
    "REQUESTS",
    "ROWS",
    "SEGMENT_HEADER",
    "SEGMENT_MAGIC",
    "SETPOINTS",
    "SETPOINT_BUFFERS",
    "SETPOINT_VECTOR",
    "STANDBY_ORDERS",
    "STANDBY_STATE",
    "STATE",
    "STREAM",
    "TAG_TSC_BITS",
    "TURN_END",
    "TURN_NONE",
    "ApplicationState",
    "Calibrated",
    "ChainStatus",
    "DecisionFlag",
    "DecisionLane",
    "ElementType",
    "ImageMarks",
    "ImageStatus",
    "InstrumentKind",
    "LaneType",
    "ObjectKind",
    "ParameterFlags",
    "Refusal",
    "RowsLane",
    "SegmentState",
    "Severity",
    "StandbyReason",
    "StandbyRole",
    "StopAction",
    "SupplyState",
    "Verdict",
    "member_offset",
    "words",
]

# SPDX-License-Identifier: Apache-2.0
"""Made from src/fabric/abi/abi.json by tools/generate_abi.py: change the public headers, then `make abi`.

The layout of shared memory: constants under their C names, enums, and one NumPy type per struct.
The lanes of a record are 32 bits whose type the stream says: read them as "<i4", or view them as "<f4".
"""

from enum import IntEnum
from typing import Any

import numpy as np

LAYOUT_HASH = 0xA04461F5576E0996

RM_ABI_VERSION = 14
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
RM_TURN_END = 0x4000000000000000
RM_TAG_TSC_MASK = 0xFFFFFFFFFFFF
RM_TAG_MISSING_MASK = 65535
RM_SETPOINT_BUFFERS = 3
RM_SETPOINT_INLINE = 4
RM_REASON_BYTES = 120
RM_PARAMETER_INLINE_BYTES = 32
RM_REQUEST_SLOTS = 16
RM_REPLY_SLOTS = 64
RM_REQUEST_VALUE_BYTES = 4096
RM_SUPPLIES_PER_RECORD = 10
RM_SUPPLY_LANE_SEQUENCE = 0
RM_SUPPLY_LANE_STATE = 1
RM_SUPPLY_LANE_FIRST = 2
RM_SUPPLY_LONG_AGO = 65535
RM_CHAIN_SUPPLIES_MAX = 40
RM_CHAIN_ID_PARTS = 4
RM_DECISION_MASK_INPUTS = 384
RM_ADOPTED_VALUES = 3
RM_ADOPTED_VALUE_LANES = 3
RM_IMAGE_SLOTS_MAX = 64
RM_IMAGE_SLOTS_OWN = 5
RM_TERM_MAX = 65535
RM_TERM_WARNS = 60000
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
    SETPOINTS = 3
    PARAMETER = 4
    COUNTERS = 5
    CLOCK = 6
    HISTOGRAM = 7
    TEXT = 8
    GROUP = 9
    REQUESTS = 10
    REPLIES = 11
    GRANT = 12
    INTENDED = 13
    ROWS = 14
    IMAGES = 15
    STANDBY_STATE = 16
    STANDBY_ORDERS = 17
    STATE = 18


class StandbyRole(IntEnum):
    """enum rm_standby_role"""

    MAINTENANCE = 0
    JOINING = 1
    READY = 2
    ACTIVE = 3
    FAULT = 4


class StandbyReason(IntEnum):
    """enum rm_standby_reason"""

    STARTED = 0
    BEGAN = 1
    TOOK_OVER = 2
    SWITCHED = 3
    DEPOSED = 4
    UNANSWERED = 5
    LINK_LOST = 6
    COPIED = 7
    DIFFERS = 8
    HELD = 9
    REFUSED = 10
    NO_TERM = 11
    DEAF = 12


class ImageStatus(IntEnum):
    """enum rm_image_status"""

    WHOLE = 0
    INCOMPLETE = 1
    FILLED = 2


class ImageMarks(IntEnum):
    """enum rm_image_marks"""

    HAS_GEOMETRY = 1
    HAS_TURN = 2
    TURN_SENT = 4
    GEOMETRY_CHANGED = 8
    HAS_EXPOSURE = 16


class RowsLane(IntEnum):
    """enum rm_rows_lane"""

    QUALITY = 0


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
    APPLICATION = 7


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


class ParameterFlags(IntEnum):
    """enum rm_parameter_flags"""

    WRITABLE = 1
    SETTING = 2
    ALARMS = 4


class Verdict(IntEnum):
    """enum rm_verdict"""

    DONE = 1
    REFUSED = 2


class ApplicationState(IntEnum):
    """enum rm_application_state"""

    ABSENT = 0
    JOINED = 1
    RUNNING = 2
    STALLED = 3
    DEAD = 4


class Refusal(IntEnum):
    """enum rm_refusal"""

    NOTHING = 0
    GRANT = 1
    STALE = 2
    FUTURE = 3
    NUMBER = 4
    LOW = 5
    HIGH = 6
    SLEW = 7
    OWNERSHIP = 8
    FAULT = 9


class StopAction(IntEnum):
    """enum rm_stop_action"""

    HOLD = 0
    RAMP = 1


class SupplyBits(IntEnum):
    """enum rm_supply_bits"""

    BIT_TRIPPED = 1
    BIT_SATURATED = 2
    BIT_SAFE = 4
    BITS = 3


class ChainStatus(IntEnum):
    """enum rm_chain_status"""

    TRIPPED = 1
    SATURATED = 2
    STOPPED = 4
    OLD_TERM = 8
    MISDIRECTED = 16
    GAP = 32
    LISTENING = 64
    QUERIED = 128


class SupplyState(IntEnum):
    """enum rm_supply_state"""

    TRIPPED = 1
    SATURATED = 2
    DEVIATES = 4
    LOST = 8
    JOINING = 16
    HELD = 32
    RAMPING = 64
    SLEWING = 128


class DecisionLane(IntEnum):
    """enum rm_decision_lane"""

    STEP = 0
    GRANT = 1
    FLAGS = 2
    MISSING = 3
    SKIPPED = 4
    SETTINGS = 5
    ASKED = 6
    ADOPTED = 7
    SENT = 8
    INPUTS = 9
    SETPOINTS = 10
    VISIBLE = 11


class DecisionFlag(IntEnum):
    """enum rm_decision_flag"""

    COMMITTED = 1
    LATE = 2
    OPENED = 4


class DecisionRun(IntEnum):
    """enum rm_decision_run"""

    SHIFT = 16


class AdoptedLane(IntEnum):
    """enum rm_adopted_lane"""

    GENERATION = 0
    LEFT = 1
    CHECKSUM = 2
    FIRST = 3


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
    ("generation", "<u8", 56),
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
    ("turn_epoch", "<u8", 912),
    ("published_tsc", "<u8", 920),
    ("reserved_live", ("<u8", (4,)), 928),
)

DTYPES["rm_rows"] = _struct(
    1088,
    ("values_offset", "<u8", 0),
    ("row_bytes", "<u8", 8),
    ("width", "<u8", 16),
    ("axis_first", "<f8", 24),
    ("axis_step", "<f8", 32),
    ("axis_name", "S16", 40),
    ("axis_unit", "S16", 56),
    ("reserved", ("<u8", (7,)), 72),
    ("stream", DTYPES["rm_stream"], 128),
)

DTYPES["rm_clock"] = _struct(
    128,
    ("sequence", "<u8", 0),
    ("anchored", "<u8", 8),
    ("turn_epoch", "<u8", 16),
    ("turn", "<u8", 24),
    ("turn_tsc", "<u8", 32),
    ("ticks_per_turn_bits", "<u8", 40),
    ("residual_ticks_bits", "<u8", 48),
    ("tsc_hz_bits", "<u8", 56),
    ("tai_tsc", "<u8", 64),
    ("tai_ns", "<u8", 72),
    ("measured_ticks_per_turn_bits", "<u8", 80),
    ("supported", "<u8", 88),
    ("reserved", ("<u8", (4,)), 96),
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

DTYPES["rm_conversion"] = _struct(
    48,
    ("unit", "S16", 0),
    ("c", ("<f8", (4,)), 16),
)

DTYPES["rm_parameter"] = _struct(
    384,
    ("values_offset", "<u8", 0),
    ("count", "<u8", 8),
    ("value_bytes", "<u8", 16),
    ("limits", DTYPES["rm_limits"], 24),
    ("conversion", DTYPES["rm_conversion"], 96),
    ("flags", "<u8", 144),
    ("element_type", "<u8", 152),
    ("group", "S96", 160),
    ("owner", "S32", 256),
    ("reserved", ("<u8", (4,)), 288),
    ("sequence", "<u8", 320),
    ("timestamp_tai_ns", "<u8", 328),
    ("turn", "<u8", 336),
    ("severity", "<u8", 344),
    ("value", ("<u8", (4,)), 352),
)

DTYPES["rm_group"] = _struct(
    128,
    ("member_count", "<u8", 0),
    ("reserved", ("<u8", (7,)), 8),
    ("sequence", "<u8", 64),
    ("timestamp_tai_ns", "<u8", 72),
    ("turn", "<u8", 80),
    ("reserved_live", ("<u8", (5,)), 88),
)

DTYPES["rm_request_slot"] = _struct(
    4288,
    ("number", "<u8", 0),
    ("timestamp_tai_ns", "<u8", 8),
    ("first", "<u8", 16),
    ("bytes", "<u8", 24),
    ("reserved", ("<u8", (4,)), 32),
    ("parameter", ("<u8", (12,)), 64),
    ("owner", ("<u8", (4,)), 160),
    ("value", ("<u8", (512,)), 192),
)

DTYPES["rm_requests"] = _struct(
    68672,
    ("head", "<u8", 0),
    ("reserved", ("<u8", (7,)), 8),
    ("slot", (DTYPES["rm_request_slot"], (16,)), 64),
)

DTYPES["rm_reply_slot"] = _struct(
    184,
    ("number", "<u8", 0),
    ("requester_generation", "<u8", 8),
    ("verdict", "<u8", 16),
    ("timestamp_tai_ns", "<u8", 24),
    ("requester", ("<u8", (4,)), 32),
    ("reason", ("<u8", (15,)), 64),
)

DTYPES["rm_replies"] = _struct(
    11840,
    ("head", "<u8", 0),
    ("refused", "<u8", 8),
    ("missed", "<u8", 16),
    ("doorbell", "<u4", 24),
    ("reserved32", "<u4", 28),
    ("reserved", ("<u8", (4,)), 32),
    ("slot", (DTYPES["rm_reply_slot"], (64,)), 64),
)

DTYPES["rm_offence"] = _struct(
    64,
    ("sequence", "<u8", 0),
    ("refusal", "<u8", 8),
    ("actuator", "<u8", 16),
    ("value", "<u8", 24),
    ("limit", "<u8", 32),
    ("turn", "<u8", 40),
    ("vector", "<u8", 48),
    ("tai_ns", "<u8", 56),
)

DTYPES["rm_grant"] = _struct(
    256,
    ("application", "S32", 0),
    ("actuator_count", "<u8", 32),
    ("period_turns", "<u8", 40),
    ("freshness_turns", "<u8", 48),
    ("watchdog_cycles", "<u8", 56),
    ("stop", "<u8", 64),
    ("reserved", ("<u8", (7,)), 72),
    ("sequence", "<u8", 128),
    ("grant_number", "<u8", 136),
    ("instance", "<u8", 144),
    ("pid", "<u8", 152),
    ("state", "<u8", 160),
    ("since_tai_ns", "<u8", 168),
    ("stalls", "<u8", 176),
    ("restarts", "<u8", 184),
    ("offence", DTYPES["rm_offence"], 192),
)

DTYPES["rm_setpoints"] = _struct(
    64,
    ("vectors_offset", "<u8", 0),
    ("vector_bytes", "<u8", 8),
    ("actuator_count", "<u8", 16),
    ("reserved", ("<u8", (5,)), 24),
)

DTYPES["rm_setpoint_vector"] = _struct(
    64,
    ("sequence", "<u8", 0),
    ("grant_number", "<u8", 8),
    ("input_turn", "<u8", 16),
    ("tsc", "<u8", 24),
    ("value", ("<u8", (4,)), 32),
)

DTYPES["rm_intended"] = _struct(
    352,
    ("intended", "<u8", 0),
    ("transmitted", "<u8", 8),
    ("supplies", "<u8", 16),
    ("term", "<u8", 24),
    ("value", ("<u4", (80,)), 32),
)

DTYPES["rm_standby_state"] = _struct(
    192,
    ("server", "<u8", 0),
    ("chains", "<u8", 8),
    ("majority", "<u8", 16),
    ("missed_cycles", "<u8", 24),
    ("period_turns", "<u8", 32),
    ("reserved", ("<u8", (3,)), 40),
    ("sequence", "<u8", 64),
    ("role", "<u8", 72),
    ("reason", "<u8", 80),
    ("term", "<u8", 88),
    ("highest_term", "<u8", 96),
    ("turn", "<u8", 104),
    ("since_turn", "<u8", 112),
    ("instance", "<u8", 120),
    ("with_us", "<u8", 128),
    ("unacknowledged", "<u8", 136),
    ("swap_cycles", "<u8", 144),
    ("switch_turn", "<u8", 152),
    ("since_tai_ns", "<u8", 160),
    ("reserved_too", ("<u8", (3,)), 168),
)

DTYPES["rm_standby_orders"] = _struct(
    128,
    ("sequence", "<u8", 0),
    ("synchronised", "<u8", 8),
    ("synchronised_turn", "<u8", 16),
    ("hold", "<u8", 24),
    ("acknowledged", "<u8", 32),
    ("switch_turn", "<u8", 40),
    ("peer_role", "<u8", 48),
    ("peer_term", "<u8", 56),
    ("peer_turn", "<u8", 64),
    ("refused", "<u8", 72),
    ("peer_unacknowledged", "<u8", 80),
    ("beat", "<u8", 88),
    ("planned_only", "<u8", 96),
    ("reserved", ("<u8", (3,)), 104),
)

DTYPES["rm_state"] = _struct(
    128,
    ("bytes_offset", "<u8", 0),
    ("capacity", "<u8", 8),
    ("reserved", ("<u8", (6,)), 16),
    ("sequence", "<u8", 64),
    ("turn", "<u8", 72),
    ("steps", "<u8", 80),
    ("bytes", "<u8", 88),
    ("checksum", "<u8", 96),
    ("reserved_too", ("<u8", (3,)), 104),
)

DTYPES["rm_images"] = _struct(
    704,
    ("slot_count", "<u4", 0),
    ("lease_count", "<u4", 4),
    ("slots_offset", "<u8", 8),
    ("maps_offset", "<u8", 16),
    ("bytes_offset", "<u8", 24),
    ("map_bytes", "<u8", 32),
    ("frame_bytes", "<u8", 40),
    ("lease_base", "<u8", 48),
    ("reserved_constant", ("<u8", (9,)), 56),
    ("newest", "<u8", 128),
    ("bell", "<u4", 136),
    ("reserved32", "<u4", 140),
    ("reserved_live", ("<u8", (6,)), 144),
    ("place", ("<u8", (64,)), 192),
)

DTYPES["rm_image_slot"] = _struct(
    192,
    ("sequence", "<u8", 0),
    ("number", "<u8", 8),
    ("device_time", "<u8", 16),
    ("turn", "<u8", 24),
    ("exposure_start_ns", "<u8", 32),
    ("exposure_end_ns", "<u8", 40),
    ("first_tsc", "<u8", 48),
    ("last_tsc", "<u8", 56),
    ("closed_tsc", "<u8", 64),
    ("published_tsc", "<u8", 72),
    ("tai_ns", "<u8", 80),
    ("length", "<u8", 88),
    ("pixel_format", "<u4", 96),
    ("width", "<u4", 100),
    ("height", "<u4", 104),
    ("offset_x", "<u4", 108),
    ("offset_y", "<u4", 112),
    ("padding_x", "<u4", 116),
    ("padding_y", "<u4", 120),
    ("status", "<u4", 124),
    ("flags", "<u4", 128),
    ("fragment_bytes", "<u4", 132),
    ("fragments", "<u4", 136),
    ("placed", "<u4", 140),
    ("resent", "<u4", 144),
    ("reserved32", "<u4", 148),
    ("reserved", ("<u8", (5,)), 152),
)

DTYPES["rm_histogram"] = _struct(
    7872,
    ("total", "<u8", 0),
    ("largest", "<u8", 8),
    ("reserved", ("<u8", (6,)), 16),
    ("bucket", ("<u8", (976,)), 64),
)

# SPDX-License-Identifier: Apache-2.0
"""What the feedback's numbers mean, as apps/feedback/state/names.h has them."""

from enum import IntEnum, IntFlag
from typing import TypeVar

Flag = TypeVar("Flag", bound=IntFlag)

LENGTHS = {"nm": 1.0, "um": 1e3, "µm": 1e3, "mm": 1e6, "m": 1e9}
"""In nm: units that a reading may have, as apps/feedback/state/inputs.c has them."""


class State(IntEnum):
    """Of the reading ``state``."""

    OFF = 0
    READY = 1
    ON = 2
    HOLD = 3
    FAULT = 4


class Loop(IntEnum):
    """Of the setting ``loop``."""

    OFF = 0
    ON = 1
    HOLD = 2


class Withdrawal(IntEnum):
    """Of the host's parameter ``withdrawn``, as include/ringmaster/application.h has them."""

    NOT = 0
    DIED = 1
    SERVER = 2


class EnableCondition(IntFlag):
    """Of the readings ``enable_conditions`` and ``cause``: what is missing."""

    NO_MATRIX = 1 << 0
    NO_BEAM = 1 << 1
    FEW_BPMS = 1 << 2
    SATURATION = 1 << 3
    LARGE_ERROR = 1 << 4
    FEW_ACTUATORS = 1 << 5
    GATED = 1 << 6
    LATE = 1 << 7
    NOT_SENT = 1 << 8


class RowFault(IntFlag):
    """Of the elements of ``bpm_state``."""

    MASKED = 1 << 0
    SILENT = 1 << 1
    INVALID = 1 << 2
    FROZEN = 1 << 3
    JUMPED = 1 << 4
    MISSING = 1 << 5


class ActuatorFault(IntFlag):
    """Of the elements of ``actuator_state``."""

    MASKED = 1 << 0
    LOST = 1 << 1
    SATURATED = 1 << 2


class Excitation(IntEnum):
    """Of the setting ``excite``."""

    QUIET = 0
    SINE = 1
    MULTI_SINE = 2
    PRBS = 3
    CONSTANT = 4


MULTI_SINE_LINES = 32
"""Of a multi-sine, evenly spaced in the logarithm of the frequency."""

MISSING: dict[EnableCondition, str] = {
    EnableCondition.NO_MATRIX: "the response matrix is not solved yet",
    EnableCondition.NO_BEAM: "there is no beam, or it was lost in one cycle",
    EnableCondition.FEW_BPMS: "too few BPMs are in use",
    EnableCondition.SATURATION: "too many actuators stood at a limit for too long",
    EnableCondition.LARGE_ERROR: "the orbit was too far from the golden one to begin",
    EnableCondition.FEW_ACTUATORS: "too few actuators are in use",
    EnableCondition.GATED: "the gate (top-up) is closed",
    EnableCondition.LATE: "too many BPMs' data were missing in one cycle",
    EnableCondition.NOT_SENT: "setpoints are not being sent",
}

WITHDRAWN: dict[Withdrawal, str] = {
    Withdrawal.DIED: "its last process died",
    Withdrawal.SERVER: "the server ended, or granted anew",
}
"""Why the permission to act was taken back."""

BRIEFLY: dict[EnableCondition, str] = {
    EnableCondition.NO_MATRIX: "the matrix is not solved yet",
    EnableCondition.NO_BEAM: "no beam",
    EnableCondition.FEW_BPMS: "too few BPMs in use",
    EnableCondition.SATURATION: "actuators at their limits",
    EnableCondition.LARGE_ERROR: "the orbit error is too large to begin with",
    EnableCondition.FEW_ACTUATORS: "too few actuators in use",
    EnableCondition.GATED: "the gate is closed",
    EnableCondition.LATE: "too many inputs were missing in one cycle",
    EnableCondition.NOT_SENT: "setpoints are not being sent",
}
"""The same for a line of the console."""

ADVICE: dict[EnableCondition, str] = {
    EnableCondition.NO_MATRIX: "Wait a second; if it stays so, masks or modes leave nothing to solve: see what the "
    "application "
    "says on its standard error, and `ringmaster feedback status`.",
    EnableCondition.NO_BEAM: "When the beam is back, look at the orbit, then `ringmaster feedback reset`. If there is "
    "beam, "
    "compare the reading `beam` with `enable_conditions: beam: least` of the feedback's configuration; `rearm_s` there "
    "lets the "
    "loop go on by itself.",
    EnableCondition.FEW_BPMS: "See above which BPMs are out, mend or unmask them, then `ringmaster feedback reset`.",
    EnableCondition.SATURATION: "See above which actuators stand at a limit: another golden orbit, fewer modes, or "
    "steering by "
    "slow correctors takes load off them. Then `ringmaster feedback reset`.",
    EnableCondition.LARGE_ERROR: "Steer the orbit closer by hand, or take it as it is: `ringmaster feedback golden "
    "current`. "
    "Then `ringmaster feedback reset`.",
    EnableCondition.FEW_ACTUATORS: "See above which actuators are out, bring their supplies back, then `ringmaster "
    "feedback "
    "reset`.",
    EnableCondition.GATED: "It goes on by itself when the gate opens; `ringmaster feedback set gate 0` ignores the "
    "gate.",
    EnableCondition.LATE: "It goes on by itself when data come again. `ringmaster top` shows which BPMs do not send.",
    EnableCondition.NOT_SENT: "It goes on by itself when the server sends its setpoint vectors again. "
    "`ringmaster get transmit guard/feedback` tells what the server does with them.",
}

ROW_FAULTS: dict[RowFault, str] = {
    RowFault.MASKED: "masked by hand",
    RowFault.SILENT: "sends nothing",
    RowFault.INVALID: "says itself that it is invalid",
    RowFault.FROZEN: "says the very same value again and again",
    RowFault.JUMPED: "jumped further than the beam goes",
    RowFault.MISSING: "was missing in the last cycle, and was substituted",
}

ACTUATOR_FAULTS: dict[ActuatorFault, str] = {
    ActuatorFault.MASKED: "masked by hand",
    ActuatorFault.LOST: "tripped, or its chain does not answer",
    ActuatorFault.SATURATED: "stands at a limit",
}


def bits(kind: type[Flag], word: int) -> list[Flag]:
    """The bits of a word that have a name."""
    return [bit for bit in kind if word & bit]


def bit_names(kind: type[IntFlag], word: int) -> list[str]:
    """Their names in small letters."""
    return [str(bit.name).lower() for bit in bits(kind, word)]

# SPDX-License-Identifier: Apache-2.0
"""What the feedback's numbers mean is said once in C and once here: both say the same."""

import re
from enum import IntEnum, IntFlag
from pathlib import Path

import pytest

from ringmaster.feedback.names import (
    ACTUATOR_FAULTS,
    ADVICE,
    BRIEFLY,
    MISSING,
    ROW_FAULTS,
    ActuatorFault,
    EnableCondition,
    Excitation,
    Loop,
    RowFault,
    State,
    bit_names,
    bits,
)

ROOM = Path(__file__).resolve().parents[2] / "apps/feedback/state"
HEADER = (ROOM / "names.h").read_text()
TABLES = (ROOM / "names.c").read_text()


def members(enumeration: str, prefix: str) -> dict[str, int]:
    """Of an enumeration of names.h, without their prefix."""
    body = re.search(rf"enum {enumeration} {{(.*?)}};", HEADER, re.DOTALL)
    assert body is not None
    numbers: dict[str, int] = {}
    for entry in re.sub(r"/\*.*?\*/", "", body[1], flags=re.DOTALL).split(","):
        name, _, value = entry.partition("=")
        if name.strip():
            bit = re.fullmatch(r"\s*1 << (\d+)\s*", value)
            numbers[name.strip().removeprefix(prefix)] = 1 << int(bit[1]) if bit else len(numbers)
    return numbers


@pytest.mark.parametrize(
    ("kind", "enumeration", "prefix"),
    [
        (State, "feedback_state", "FEEDBACK_"),
        (EnableCondition, "feedback_enable_condition", "FEEDBACK_"),
        (RowFault, "feedback_row_fault", "FEEDBACK_ROW_"),
        (ActuatorFault, "feedback_actuator_fault", "FEEDBACK_ACTUATOR_"),
        (Excitation, "feedback_excitation", "FEEDBACK_"),
    ],
)
def test_numbers_are_the_applications(kind: type[IntEnum] | type[IntFlag], enumeration: str, prefix: str) -> None:
    assert {one.name: int(one) for one in kind} == members(enumeration, prefix)


def test_the_loops_values_are_those_of_its_setting() -> None:
    words = ", ".join(f"{one.value} {one.name.lower()}" for one in Loop)
    assert re.search(rf'\.name = "loop",\s*\.description = "{words}"', TABLES)


def test_every_bit_has_its_words() -> None:
    assert list(MISSING) == list(BRIEFLY) == list(ADVICE) == list(EnableCondition)
    assert list(ROW_FAULTS) == list(RowFault)
    assert list(ACTUATOR_FAULTS) == list(ActuatorFault)


def test_bits_without_a_name_are_left_out() -> None:
    assert bits(ActuatorFault, 0b1101) == [ActuatorFault.MASKED, ActuatorFault.SATURATED]
    assert bit_names(ActuatorFault, 0b1101) == ["masked", "saturated"]
    assert bit_names(ActuatorFault, 0) == []

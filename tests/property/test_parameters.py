# SPDX-License-Identifier: Apache-2.0
"""Parameters in C and in Python: one mathematics, one memory.

Needs libringmaster.so, where the package finds it.
"""

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ringmaster
from ringmaster.fabric._library import ffi, lib
from ringmaster.fabric.conversion import Conversion

NONE = math.nan
numbers = st.floats(-1e6, 1e6)
Coefficients = tuple[float, float, float, float]


@st.composite
def conversions(draw: st.DrawFn) -> tuple[Coefficients, float, float]:
    """Coefficients of a polynomial that is strictly monotone between two limits."""
    low = draw(st.floats(-100, 99))
    high = low + draw(st.floats(0.5, 200))
    c = (draw(st.floats(-50, 50)), draw(st.floats(-20, 20)), draw(st.floats(-1, 1)), draw(st.floats(-0.05, 0.05)))
    if draw(st.booleans()):
        c = (c[0], c[1], 0.0, 0.0)
    turning = -c[2] / (3 * c[3]) if c[3] else low  # where the slope itself is least or greatest
    places = [low, high, *([turning] if low < turning < high else [])]
    slopes = [c[1] + 2 * c[2] * v + 3 * c[3] * v * v for v in places]
    assume(min(slopes) > 1e-3 or max(slopes) < -1e-3)
    return c, low, high


def limits(**members: float) -> "ffi.CData":
    """Limits in C; what is not given is none."""
    kinds = ("display", "control", "minor", "major")
    names = [f"{kind}_{end}" for kind in kinds for end in ("low", "high")]
    return ffi.new("struct rm_limits *", dict.fromkeys(names, NONE) | {"hysteresis": 0.0} | members)


@settings(deadline=None)
@given(conversions(), st.floats(0, 1))
def test_there_and_back_is_where_it_began(plan: tuple[Coefficients, float, float], where: float) -> None:
    c, low, high = plan
    value = min(high, low + where * (high - low))
    it, allowed = ffi.new("struct rm_conversion *", {"unit": b"u", "c": c}), limits(control_low=low, control_high=high)
    assert lib.rm_conversion_is_good(it, allowed)
    ours = Conversion("u", c, low, high)
    there = lib.rm_convert(it, value)
    assert there == pytest.approx(ours.there(value), rel=1e-15, abs=1e-12)
    slope = abs(c[1] + 2 * c[2] * value + 3 * c[3] * value**2)
    size = sum(abs(a) * abs(value) ** n for n, a in enumerate(c)) + abs(c[0])
    exact = 8e-16 * size / max(slope, 1e-3) + 4e-16 * abs(value)  # rounding of the polynomial, through its slope
    exact += sys.float_info.min  # and of what is next to nothing
    backs = (lib.rm_convert_back(it, allowed, there), ours.back(there))
    for back in backs:
        if math.isnan(back):  # rounded beyond an end
            assert min(abs(value - low), abs(value - high)) <= exact
        else:
            assert abs(back - value) <= exact
            assert low <= back <= high


@settings(deadline=None)
@given(conversions(), st.floats(1e-3, 1e3))
def test_what_lies_outside_has_no_way_back(plan: tuple[Coefficients, float, float], beyond: float) -> None:
    c, low, high = plan
    it, allowed = ffi.new("struct rm_conversion *", {"unit": b"u", "c": c}), limits(control_low=low, control_high=high)
    ours = Conversion("u", c, low, high)
    lowest, highest = ours.range
    for other in (lowest - beyond, highest + beyond, math.nan):
        assert math.isnan(ours.back(other))
        assert math.isnan(lib.rm_convert_back(it, allowed, other)) or math.isnan(other)


@settings(deadline=None)
@given(conversions())
def test_what_turns_between_the_limits_is_no_conversion(plan: tuple[Coefficients, float, float]) -> None:
    _, low, high = plan
    middle = (low + high) / 2
    parabola = (0.0, -2 * middle, 1.0, 0.0)
    it = ffi.new("struct rm_conversion *", {"unit": b"u", "c": parabola})
    assert not lib.rm_conversion_is_good(it, limits(control_low=low, control_high=high))
    assert not lib.rm_conversion_is_good(it, limits())


class Alarm:
    """The rule in Python: a limit that was left is left by the hysteresis more."""

    def __init__(self, low: tuple[float, float], high: tuple[float, float], hysteresis: float) -> None:
        self.low, self.high, self.hysteresis = low, high, hysteresis
        self.severity = 0

    def judge(self, value: float) -> int:
        """Severity of the next value."""
        if math.isnan(value):
            self.severity = 3
            return 3
        before = 0 if self.severity == 3 else self.severity
        now = 0
        for level in (1, 2):
            inset = self.hysteresis if before >= level else 0.0
            if value < self.low[level - 1] + inset or value > self.high[level - 1] - inset:
                now = level
        self.severity = now
        return now


@settings(deadline=None)
@given(
    st.tuples(*[st.one_of(st.just(NONE), st.integers(-40, 40).map(float)) for _ in range(4)]),
    st.integers(0, 8).map(float),
    st.lists(st.one_of(st.integers(-50, 50).map(float), st.just(NONE)), max_size=60),
)
def test_severity_follows_the_rule(bounds: tuple[float, ...], hysteresis: float, values: list[float]) -> None:
    minor_low, minor_high, major_low, major_high = bounds
    allowed = limits(
        minor_low=minor_low, minor_high=minor_high, major_low=major_low, major_high=major_high, hysteresis=hysteresis
    )
    model = Alarm((minor_low, major_low), (minor_high, major_high), hysteresis)
    severity = 0
    for value in values:
        severity = lib.rm_severity_of(allowed, value, severity)
        assert severity == model.judge(value)


class Shared:
    """An owner, the same memory read by Python, and by C."""

    def __init__(self) -> None:
        self.owner = ringmaster.Owner("model", "demo")
        self.group = self.owner.group("model/group")
        self.own = {
            "model/number": self.owner.parameter("model/number", 0.0, group=self.group),
            "model/four": self.owner.parameter("model/four", np.zeros(4), group=self.group),
            "model/many": self.owner.parameter("model/many", np.zeros(37, "i4")),
        }
        self.owner.open()
        self.ws = ringmaster.attach("demo")
        workspace = ffi.new("struct rm_workspace **")
        assert lib.rm_workspace_attach(b"demo", 0, workspace, ffi.NULL) == lib.RM_OK
        self.workspace = workspace[0]

    def in_c(self, name: str) -> tuple[list[float], int, int]:
        """Values, turn and sequence as a reader in C has them."""
        found, memory = ffi.new("struct rm_object const **"), ffi.new("void const **")
        kind = lib.RM_OBJECT_PARAMETER
        assert lib.rm_workspace_find(self.workspace, kind, name.encode(), found, memory, ffi.NULL) == lib.RM_OK
        values = np.zeros_like(self.own[name]._first)
        reading = ffi.new("struct rm_parameter_reading *")
        pointer = ffi.cast("struct rm_parameter *", memory[0])
        assert lib.rm_parameter_read(pointer, ffi.from_buffer(values), values.nbytes, reading) == values.nbytes
        return values.tolist(), reading.turn, reading.sequence

    def close(self) -> None:
        """Ends it all."""
        lib.rm_workspace_detach(self.workspace)
        self.ws.close()
        self.owner.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """A workspace of its own; an owner named "server" stands for one."""
    root: Path = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RINGMASTER_WORKSPACES", str(root))
        with ringmaster.Owner("server", str(root / "demo")):
            made = Shared()
            yield made
            made.close()


@settings(deadline=None)
@given(
    st.sampled_from(["model/number", "model/four", "model/many"]),
    st.lists(st.integers(-(2**31), 2**31 - 1), min_size=37, max_size=37),
    st.one_of(st.none(), st.integers(0, 2**63)),
)
def test_c_and_python_read_the_same_memory(shared: Shared, name: str, values: list[int], turn: int | None) -> None:
    own, seen = shared.own[name], shared.ws.parameters[name]
    wanted = np.array(values[: seen.count], own._first.dtype)
    before = seen.changes
    own.write(wanted, turn)
    reading = seen.read()
    assert np.atleast_1d(np.asarray(reading.value)).tolist() == wanted.tolist()
    assert (reading.turn, reading.changes) == (turn, before + 1)
    found, c_turn, sequence = shared.in_c(name)
    assert found == wanted.tolist()
    assert c_turn == (2**64 - 1 if turn is None else turn)
    assert sequence == 2 * reading.changes


@settings(deadline=None)
@given(st.lists(st.tuples(numbers, numbers, st.integers(0, 2**60)), min_size=1, max_size=5))
def test_a_groups_members_are_of_one_change(shared: Shared, changes: list[tuple[float, float, int]]) -> None:
    group = shared.ws.groups["model/group"]
    for number, four, turn in changes:
        before = group.changes
        with shared.group.change(turn):
            shared.own["model/number"].value = number
            shared.own["model/four"].value = np.full(4, four)
        reading = group.read()
        assert (reading.turn, reading.changes) == (turn, before + 1)
        assert reading.readings["model/number"].value == number
        assert np.asarray(reading.readings["model/four"].value).tolist() == [four] * 4
        assert {member.turn for member in reading.readings.values()} == {turn}

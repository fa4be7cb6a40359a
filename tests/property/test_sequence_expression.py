# SPDX-License-Identifier: Apache-2.0
"""Expressions of sequences against those of Python: the same value to the bit, and the bounds told of them hold.

Needs the library that Meson builds from apps/sequence, below $BUILD_DIR (default: build).
"""

import math
import os
import re
from pathlib import Path
from typing import Any

import pytest
from cffi import FFI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / os.environ.get("BUILD_DIR", "build") / "tests/property/libproperty_sequence.so"

ffi = FFI()
ffi.cdef("""
int property_expression(char const *text, double const operands[6], double *value, char *why);
int property_interval(char const *text, double const limits[6], double const operands[6], double interval[2]);
""")
library: Any = ffi.dlopen(str(LIBRARY))

NAMES = ("a", "b", "c", "x", "y", "seconds")
values = st.floats(-1e3, 1e3)
constants = st.one_of(st.integers(0, 20).map(str), st.floats(0, 1e3).map(repr), st.just("1e-3"))
blanks = st.sampled_from(["", " ", "  "])
unhurried = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy host takes the core away while an example is drawn."""


def binary(left: str, sign: str, right: str, blank: str) -> str:
    return f"({left}{blank}{sign}{blank}{right})"


def numbers(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Numbers of numbers. Parentheses are left out now and then, so that precedence counts."""
    return st.one_of(
        st.builds(binary, parts, st.sampled_from("+-*/"), parts, blanks),
        st.builds(lambda a, s, b: f"{a} {s} {b}", parts, st.sampled_from("+-*/"), parts),
        st.builds(lambda name, a: f"{name}({a})", st.sampled_from(["abs", "sin", "cos"]), parts),
        st.builds(lambda a: f"sqrt(abs({a}))", parts),
        st.builds(lambda name, a, b: f"{name}({a}, {b})", st.sampled_from(["min", "max"]), parts, parts),
        parts.map(lambda a: f"-{a}"),
    )


number = st.recursive(st.one_of(constants, st.sampled_from(NAMES)), numbers, max_leaves=10)
comparison = st.builds(
    lambda a, s, b: f"{a} {s} {b}", number, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), number
)
condition = st.recursive(
    comparison,
    lambda parts: st.one_of(
        st.builds(lambda a, s, b: f"({a}) {s} {b}", parts, st.sampled_from(["and", "or"]), parts),
        parts.map(lambda a: f"not {a}"),
    ),
    max_leaves=5,
)


def said(text: str, operands: list[float]) -> tuple[int, float, str]:
    """Type (−1: refused), value, and why it is refused."""
    value, why = ffi.new("double *"), ffi.new("char[256]")
    kind = library.property_expression(text.encode(), operands, value, why)
    return kind, value[0], bytes(ffi.buffer(why)).split(b"\0")[0].decode(errors="replace")


def is_too_long(why: str) -> bool:
    return "split it" in why or "within each other" in why


def meant(text: str, operands: list[float]) -> float:
    """What Python makes of it."""
    names: dict[str, Any] = {
        "abs": abs,
        "sin": math.sin,
        "cos": math.cos,
        "sqrt": math.sqrt,
        "min": min,
        "max": max,
        **dict(zip(NAMES, operands, strict=True)),
    }
    return float(eval(as_floats(text), {"__builtins__": {}}, names))


def as_floats(text: str) -> str:
    """Whole numbers of Python are exact where floats are not."""
    return re.sub(r"(?<![\w.-])(\d+)(?![\w.])|(?<=-)(?<!e-)(\d+)(?![\w.])", lambda m: f"{m[0]}.0", text)


@unhurried
@given(number, st.lists(values, min_size=6, max_size=6))
def test_numbers_are_those_of_python(text: str, operands: list[float]) -> None:
    kind, value, why = said(text, operands)
    if kind < 0:
        assert is_too_long(why), f"{text}: {why}"
        return
    assert kind == 0
    try:
        expected = meant(text, operands)
    except (ZeroDivisionError, OverflowError, ValueError):
        return
    if math.isfinite(expected):
        assert value == expected, text


@unhurried
@given(condition, st.lists(values, min_size=6, max_size=6))
def test_conditions_are_those_of_python(text: str, operands: list[float]) -> None:
    kind, value, why = said(text, operands)
    if kind < 0:
        assert is_too_long(why), f"{text}: {why}"
        return
    assert kind == 1
    try:
        expected = meant(text, operands)
    except (ZeroDivisionError, OverflowError, ValueError):
        return
    assert value == expected, text


@unhurried
@given(
    st.one_of(number, condition),
    st.lists(st.tuples(values, values).map(sorted), min_size=3, max_size=3),
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
    st.lists(values, min_size=2, max_size=2),
    st.floats(0, 1e3),
)
def test_bounds_hold(
    text: str, limits: list[list[float]], shares: list[float], inputs: list[float], seconds: float
) -> None:
    variables = [
        min(max(low + share * (high - low), low), high) for (low, high), share in zip(limits, shares, strict=True)
    ]
    operands = [*variables, *inputs, seconds]
    kind, value, _ = said(text, operands)
    assert kind != -2
    if kind < 0 or not math.isfinite(value):
        return
    interval = ffi.new("double[2]")
    flat = [bound for pair in limits for bound in pair]
    assert library.property_interval(text.encode(), flat, operands, interval) == kind
    slack = 1e-9 * max(1.0, abs(value))
    assert interval[0] - slack <= value <= interval[1] + slack, (text, list(interval))


@unhurried
@given(st.text(st.sampled_from("abcxy01. ()+-*/<>=!,andortmiqs é_"), max_size=60))
def test_whatever_the_text_it_is_refused_in_words_or_has_a_value(text: str) -> None:
    kind, _, why = said(text, [1.0] * 6)
    assert kind >= 0 or (kind == -1 and why)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a <", "it ends here"),
        ("a < b < c", "write a < b and b < c"),
        ("a and b", '"and" takes conditions'),
        ("(a < b) + 1", '"+" takes numbers'),
        ("ab + 1", "unknown name"),
        ("min(a)", 'expected ","'),
        ("1..2", "expected a number"),
        ("0x10", "expected a number"),
        ("not a", '"not" takes conditions'),
        ("(" * 40 + "a" + ")" * 40, "within each other"),
        ("+".join(["a"] * 100), "fewer: split it"),
        ("a b", "expected an operator or the end"),
    ],
)
def test_what_is_wrong_is_said(text: str, words: str) -> None:
    kind, _, why = said(text, [1.0] * 6)
    assert kind < 0
    assert words in why

# SPDX-License-Identifier: Apache-2.0
"""The feedback's streamed product: the same bits whatever the order of arrivals and whatever the instruction set.

Hypothesis makes up matrices, errors, limits and orders, extreme values among them. Every order and instruction set must
give the bits that plain integers of Python give, which know neither.

Needs the library that Meson builds from apps/feedback, below $BUILD_DIR (default: build).
"""

import math
import os
import random
import struct
from functools import cache
from pathlib import Path
from typing import Any

from cffi import FFI
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / os.environ.get("BUILD_DIR", "build") / "tests/property/libproperty_feedback.so"
BLOCK, LINE = 16, 64
ERROR_MOST, WEIGHT_MOST = 2**22 - 1, 2**30 - 1
SIMDS = (1, 2, 3)
"""enum rm_simd: scalar, AVX2, AVX-512; what this processor has not falls back to what it has."""

DECLARATIONS = """
struct feedback_range { uint32_t first, count; };
struct feedback_product {
    uint32_t rows, outputs;
    int simd;
    struct feedback_range *range;
    int32_t **column;
    double *quantum;
    void *memory;
};
bool feedback_product_make(struct feedback_product *product, uint32_t rows, uint32_t outputs,
    struct feedback_range const *range, int simd);
void feedback_product_free(struct feedback_product *product);
void feedback_product_set(struct feedback_product *product, double const *weight, uint32_t stride);
void feedback_product_begin(struct feedback_product const *product, int64_t *sum);
void feedback_product_add(struct feedback_product const *product, int64_t *sum, uint32_t row, int32_t error_nm);
uint32_t feedback_product_end(struct feedback_product const *product, int64_t const *sum, double scale,
    double const *ahead, double const *low, double const *high, double *setpoint, double *cut);
"""

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)
weights = st.one_of(st.floats(-1, 1), st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e200, -1e200, 5e-324]))
errors = st.one_of(st.integers(-(2**31), 2**31 - 1), st.sampled_from([0, ERROR_MOST, -ERROR_MOST, 2**31 - 1, -(2**31)]))
aheads = st.one_of(finite, st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf]))


@cache
def ffi() -> FFI:
    declared = FFI()
    declared.cdef(DECLARATIONS)
    return declared


@cache
def library() -> Any:
    return ffi().dlopen(str(LIBRARY))


def bits(values: list[float]) -> list[bytes]:
    """Bit by bit; of what is no number, that it is none."""
    return [b"nan" if math.isnan(value) else struct.pack("<d", value) for value in values]


@st.composite
def problems(draw: st.DrawFn) -> dict[str, Any]:
    rows, blocks = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    outputs = blocks * BLOCK
    ranges = []
    for _ in range(rows):
        first = draw(st.integers(0, blocks - 1))
        ranges.append((first * BLOCK, draw(st.integers(1, blocks - first)) * BLOCK))
    palette = draw(st.lists(weights, min_size=1, max_size=8))
    dice = random.Random(draw(st.integers(0, 2**32)))
    return {
        "ranges": ranges,
        "outputs": outputs,
        "weight": [[dice.choice(palette) * dice.choice((1, 0.3)) for _ in range(outputs)] for _ in range(rows)],
        "error": draw(st.lists(errors, min_size=rows, max_size=rows)),
        "order": draw(st.permutations(range(rows))),
        "ahead": draw(st.lists(aheads, min_size=outputs, max_size=outputs)),
        "low": [dice.choice((-math.inf, -1.0, -1e-3, 0.0)) for _ in range(outputs)],
        "high": [dice.choice((math.inf, 1.0, 1e-3, 0.0)) for _ in range(outputs)],
        "scale": draw(st.sampled_from([0.0, 1.0, 0.37])),
    }


def run(problem: dict[str, Any], simd: int, order: list[int]) -> tuple[list[float], list[float], int, Any]:
    c, lib = ffi(), library()
    rows, outputs = len(problem["ranges"]), problem["outputs"]
    product: Any = c.new("struct feedback_product *")
    assert lib.feedback_product_make(product, rows, outputs, c.new("struct feedback_range[]", problem["ranges"]), simd)
    lib.feedback_product_set(product, c.new("double[]", [w for row in problem["weight"] for w in row]), outputs)
    room = c.new("char[]", outputs * 8 + LINE)
    sums = c.cast("int64_t *", (int(c.cast("uintptr_t", room)) + LINE - 1) // LINE * LINE)
    lib.feedback_product_begin(product, sums)
    for row in order:
        lib.feedback_product_add(product, sums, row, problem["error"][row])
    setpoint, cut = c.new("double[]", outputs), c.new("double[]", outputs)
    given_arrays = (c.new("double[]", problem[name]) for name in ("ahead", "low", "high"))
    cuts = lib.feedback_product_end(product, sums, problem["scale"], *given_arrays, setpoint, cut)
    kept = (
        [[product.column[row][i] for i in range(count)] for row, (_, count) in enumerate(problem["ranges"])],
        [product.quantum[i] for i in range(outputs)],
    )
    lib.feedback_product_free(product)
    return list(setpoint), list(cut), cuts, kept


def expected(problem: dict[str, Any], kept: Any) -> list[float]:
    """By Python's own integers, from the weights as they were quantised."""
    column, quantum = kept
    setpoints = []
    for output in range(problem["outputs"]):
        total = 0
        for row, (first, count) in enumerate(problem["ranges"]):
            if first <= output < first + count:
                error = max(-ERROR_MOST, min(ERROR_MOST, problem["error"][row]))
                total += column[row][output - first] * error
        value = float(total) * quantum[output] * problem["scale"] + problem["ahead"][output]
        above = problem["low"][output] if problem["low"][output] > value else value
        setpoints.append(problem["high"][output] if problem["high"][output] < above else above)
    return setpoints


@settings(deadline=None, max_examples=300)
@given(problems())
def test_any_order_and_any_instruction_set_give_the_bits_of_exact_integers(problem: dict[str, Any]) -> None:
    setpoint, cut, cuts, kept = run(problem, SIMDS[0], list(range(len(problem["ranges"]))))
    assert bits(setpoint) == bits(expected(problem, kept))
    for simd in SIMDS:
        other_setpoint, other_cut, other_cuts, other_kept = run(problem, simd, problem["order"])
        assert bits(other_setpoint) == bits(setpoint)
        assert bits(other_cut) == bits(cut)
        assert (other_cuts, other_kept) == (cuts, kept)


@settings(deadline=None, max_examples=100)
@given(problems())
def test_weights_are_whole_quanta_of_which_the_largest_has_all(problem: dict[str, Any]) -> None:
    column, quantum = run(problem, SIMDS[-1], [])[3]
    for output in range(problem["outputs"]):
        touching = [
            (row, first) for row, (first, count) in enumerate(problem["ranges"]) if first <= output < first + count
        ]
        wanted = [problem["weight"][row][output] for row, _ in touching]
        largest = max((abs(weight) for weight in wanted), default=0.0)
        assert quantum[output] == largest / WEIGHT_MOST
        for weight, (row, first) in zip(wanted, touching, strict=True):
            whole = column[row][output - first]
            assert abs(whole) <= WEIGHT_MOST
            if quantum[output] > 1e-300:
                assert abs(whole * quantum[output] - weight) <= quantum[output] * 0.5000001

# SPDX-License-Identifier: Apache-2.0
"""The tune's sliding transform: after any turns, in any portions, its sums are those of the last window, exactly.

Hypothesis makes up lengths, bands, ranges and positions: transients, extremes and lost turns among them. Phasors are
read back from the transform itself, from what one nm at each place adds; the sums are then exact integers.

Needs the library that Meson builds from apps/tune, below $BUILD_DIR (default: build).
"""

import os
import random
from functools import cache
from pathlib import Path
from typing import Any

from cffi import FFI
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / os.environ.get("BUILD_DIR", "build") / "tests/property/libproperty_tune.so"
LANES = 8
LOST = -(2**31)
SIMDS = (1, 2, 3)
"""enum rm_simd: scalar, AVX2, AVX-512; what this processor has not falls back to what it has."""

DECLARATIONS = """
struct tune_sliding {
    uint32_t turns, first_bin, bins, planes, groups, place;
    int32_t range_nm;
    double scale;
    int simd;
    double *sum, *phasor;
    int32_t *history_nm;
    uint8_t *lost;
    uint32_t *lost_turns;
    uint64_t *cut_turns;
};
bool tune_sliding_open(struct tune_sliding *sliding, uint32_t turns, uint32_t first_bin, uint32_t bins,
    uint32_t planes, int32_t range_nm, int simd);
void tune_sliding_close(struct tune_sliding *sliding);
void tune_sliding_clear(struct tune_sliding *sliding);
void tune_sliding_push(struct tune_sliding *sliding, int32_t const *position_nm, uint32_t count);
"""

Problem = dict[str, Any]


@cache
def ffi() -> FFI:
    declared = FFI()
    declared.cdef(DECLARATIONS)
    return declared


@cache
def library() -> Any:
    return ffi().dlopen(str(LIBRARY))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    turns = 2 * draw(st.integers(32, 60))
    first = draw(st.integers(1, turns // 2 - 9))
    range_nm = draw(st.sampled_from([1 << 10, 1 << 20, (1 << 24) - 1]))
    dice = random.Random(draw(st.integers(0, 2**32)))
    sizes = [5, range_nm, 2 * range_nm, 2**31 - 1]
    planes, count = draw(st.integers(1, 3)), draw(st.integers(1, 3 * turns))
    position = [
        [LOST if dice.random() < 0.05 else dice.randint(-1, 1) * (dice.choice(sizes) - dice.randint(0, 3))
         for _ in range(planes)]
        for _ in range(count)
    ]  # fmt: skip
    return {
        "shape": (turns, first, draw(st.integers(1, min(17, turns // 2 - 1 - first))), planes, range_nm),
        "position": [[max(LOST, one) for one in turn] for turn in position],
        "portions": draw(st.lists(st.integers(1, 9), min_size=1, max_size=6)),
    }


def push(sliding: Any, turns: list[list[int]]) -> None:
    library().tune_sliding_push(sliding, ffi().new("int32_t[]", [one for turn in turns for one in turn]), len(turns))


def sums(sliding: Any) -> list[float]:
    return [sliding.sum[i] for i in range(sliding.groups * sliding.planes * 2 * LANES)]


def taken(problem: Problem) -> list[list[int]]:
    """Positions as they are taken: cut to the range, and held where they are lost."""
    planes, range_nm = problem["shape"][3:]
    before, made = [0] * planes, []
    for turn in problem["position"]:
        before = [
            held if one == LOST else max(-range_nm, min(range_nm, one)) for one, held in zip(turn, before, strict=True)
        ]
        made.append(before)
    return made


def phasors(problem: Problem) -> list[list[int]]:
    """[place][sum]: of one nm in all planes."""
    turns, planes = problem["shape"][0], problem["shape"][3]
    sliding: Any = ffi().new("struct tune_sliding *")
    assert library().tune_sliding_open(sliding, *problem["shape"], SIMDS[0])
    made = []
    for place in range(turns):
        library().tune_sliding_clear(sliding)
        push(sliding, [[0] * planes] * place + [[1] * planes])
        made.append([int(one) for one in sums(sliding)])
    library().tune_sliding_close(sliding)
    return made


def expected(problem: Problem) -> list[int]:
    """By Python's own integers."""
    turns, planes = problem["shape"][0], problem["shape"][3]
    positions, phasor = taken(problem), phasors(problem)
    window = range(max(0, len(positions) - turns), len(positions))
    return [
        sum(positions[n][i // (2 * LANES) % planes] * phasor[n % turns][i] for n in window)
        for i in range(len(phasor[0]))
    ]


@settings(deadline=None, max_examples=40)
@given(problems())
def test_sums_are_those_of_exact_integers_over_the_last_window(problem: Problem) -> None:
    wanted, turns = expected(problem), problem["shape"][0]
    for simd in SIMDS:
        sliding: Any = ffi().new("struct tune_sliding *")
        assert library().tune_sliding_open(sliding, *problem["shape"], simd)
        rest, portions = list(problem["position"]), list(problem["portions"])
        while rest:
            portion = portions[len(rest) % len(portions)]
            push(sliding, rest[:portion])
            rest = rest[portion:]
        assert sums(sliding) == wanted
        assert max(map(abs, wanted)) <= 2**53
        for plane in range(problem["shape"][3]):
            lost = sum(turn[plane] == LOST for turn in problem["position"][-turns:])
            assert sliding.lost_turns[plane] == lost
        library().tune_sliding_close(sliding)

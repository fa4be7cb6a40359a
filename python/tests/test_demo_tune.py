# SPDX-License-Identifier: Apache-2.0
"""How the demo judges the tune and its ripple: what is wrong, and what there were too few tunes to say of."""

import re
from dataclasses import replace

import pytest

from ringmaster.demo.tune import DemoTune, Ripple

GOOD = DemoTune(
    tune={"x": 0.2815, "y": 0.1944},
    sigma={"x": 5e-7, "y": 1e-6},
    simulated={"x": 0.281502, "y": 0.194398},
    reasons={"x": (), "y": ()},
    delay_s=0.00354,
    span_s=4.0,
    trusted_share=1.0,
    ripple=(
        Ripple("x", 50.0, 1.96e-5, 1.84e-5, 4e-8, 1.97e-5),
        Ripple("y", 100.0, 7.3e-6, 5.6e-6, 5e-8, 7.25e-6),
    ),
)


def with_ripple(amplitude: float, raw: float = 5.6e-6, sigma: float = 5e-8) -> DemoTune:
    return replace(GOOD, ripple=(GOOD.ripple[0], Ripple("y", 100.0, amplitude, raw, sigma, 7.25e-6)))


def test_what_is_within_its_tolerance_is_well() -> None:
    assert GOOD.faults == []
    assert GOOD.doubts == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (with_ripple(amplitude=7.7e-6), "ripple of the tune in y at 100 Hz is 7.7e-06, simulated 7.25e-06"),
        (with_ripple(amplitude=5.6e-6), "ripple of the tune in y at 100 Hz is 5.6e-06"),
        (with_ripple(amplitude=0.0, raw=0.0, sigma=0.0), "ripple of the tune in y at 100 Hz is 0"),
        (replace(GOOD, tune={"x": 0.2816, "y": 0.1944}), "the tune in x is 0.281600, simulated 0.281502"),
    ],
)
def test_what_is_wrong_is_said(wrong: DemoTune, words: str) -> None:
    assert len(wrong.faults) == 1
    assert words in wrong.faults[0]
    assert wrong.doubts == []


@pytest.mark.parametrize(
    ("unsure", "words"),
    [
        (
            replace(with_ripple(amplitude=9e-6, sigma=5e-7), span_s=1.0),
            "1.0 s of tunes are too few to judge ripple of 100",
        ),
        (
            replace(GOOD, trusted_share=0.4, ripple=()),
            "of the tunes 40% are to be trusted, too few .*: the host was late",
        ),
        (
            replace(with_ripple(amplitude=9e-6), trusted_share=0.4, reasons={"x": ("lost turns",), "y": ()}),
            "too few to judge ripple: lost turns",
        ),
    ],
)
def test_too_few_tunes_are_told_from_wrong_ones(unsure: DemoTune, words: str) -> None:
    assert unsure.faults == []
    assert len(unsure.doubts) == 1

    assert re.search(words, unsure.doubts[0])

# SPDX-License-Identifier: Apache-2.0
"""What is made of rounds of the bench of sequences that nobody measured."""

import pytest

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.sequence import BY_HAND, RAMPS, Bits, Options, SequenceSteps, Steps, steps_of
from ringmaster.report.verdicts import Headline

SAID = """idle                               10.1 ns a step  (10.0 to 10.4)
100 ramps                         430.0 ns a step  (429.0 to 440.0)
100 ramps by hand                 110.0 ns a step  (109.0 to 111.0)
"""


def made_of(*rows: Steps | Bits) -> SequenceSteps:
    made = SequenceSteps(Options())
    made.rows += rows
    return made


def headline(made: SequenceSteps, name: str) -> Headline:
    return next(one for one in made.headlines() if one.name == name)


def test_the_lines_of_the_cost() -> None:
    read = steps_of(SAID)
    assert read.ns == {"idle": 10.1, RAMPS: 430.0, BY_HAND: 110.0}
    assert "100 ramps 430 ns" in read.words
    with pytest.raises(NotMeasured, match="printed no figures"):
        steps_of(SAID.replace("100 ramps by hand", "other"))


def test_a_step_of_a_hundred_actions_is_within_a_microsecond() -> None:
    assert headline(made_of(steps_of(SAID)), "step_ns").verdict == "held"
    assert headline(made_of(Steps({RAMPS: 1200.0, BY_HAND: 100.0})), "step_ns").verdict == "missed"
    figure = headline(made_of(steps_of(SAID)), "ratio_to_by_hand").figure
    assert figure is not None
    assert figure.median == pytest.approx(430 / 110)


def test_a_bit_that_differs_is_told() -> None:
    assert headline(made_of(Bits(1000, 0, 1000)), "different_bits").verdict == "held"
    assert headline(made_of(Bits(1000, 0, 1000), Bits(1000, 1, 1000)), "different_bits").verdict == "missed"
    assert headline(made_of(Bits(1000, 0, 900)), "different_bits").verdict == "missed"


def test_nothing_is_nothing() -> None:
    made = made_of()
    assert made.is_empty()
    assert made.tables() == []
    assert headline(made, "different_bits").verdict == "not measured"

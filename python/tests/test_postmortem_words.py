# SPDX-License-Identifier: Apache-2.0
"""Causes in words: short, whatever they stand for."""

import numpy as np
import pytest

from ringmaster.postmortem.causes import Cause
from ringmaster.postmortem.words import cause_words, evidence_words, percent_words


def cause(*names: str, kind: str = "supply", probability: float = 0.5) -> Cause:
    return Cause(kind, names, probability, 10.0, 1000, 5.0)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (cause("h01"), "supply h01"),
        (cause("h01", "h02", "v07"), "supply h01 or h02 or v07"),
        (cause(*(f"h{i:02d}" for i in range(14))), "one of 14 supplies: h00, h01, h02, …"),
        (cause("bpm01/1", kind="bpm"), "BPM that lies bpm01/1"),
        (cause("phase, voltage or frequency", kind="rf"), "RF"),
        (cause("nothing is seen", kind="unknown"), "unknown"),
    ],
)
def test_a_cause_is_a_short_line(found: Cause, words: str) -> None:
    assert cause_words(found) == words


@pytest.mark.parametrize(
    ("times", "words"),
    [(0.1, "0 of 4, none"), (10, "1 of 4, weak"), (100, "2 of 4, clear"), (1e4, "3 of 4, strong")],
)
def test_evidence_is_a_scale_of_four(times: float, words: str) -> None:
    assert evidence_words(float(np.log(times))) == words
    assert evidence_words(3978100267.3) == "4 of 4, overwhelming"
    assert evidence_words(-np.inf) == "0 of 4, none"


def test_percent_says_what_is_nearly_sure() -> None:
    assert [percent_words(cause("a", probability=share)) for share in (0.999, 0.123, 1e-9)] == [
        "over 99 %",
        "12 %",
        "under 1 %",
    ]

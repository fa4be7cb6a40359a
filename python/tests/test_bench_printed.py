# SPDX-License-Identifier: Apache-2.0
"""Programs of the bench: what they print, and what is said where they do not."""

import sys

import pytest

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.printed import printed


def program(text: str) -> list[str]:
    """One in Python."""
    return [sys.executable, "-c", text]


def test_what_it_prints_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OURS", "1")
    said = printed(
        "it", program("import os; print(input(), os.environ['OURS'], os.environ['ITS'])"), 30, "in", {"ITS": "2"}
    )
    assert said == "in 1 2\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import sys; sys.exit('one line\\nthe last')", "cost: the last"),
        ("import sys; sys.exit(3)", "cost: it failed"),
        ("import time; time.sleep(30)", "cost: did not end in 1 s"),
    ],
)
def test_a_failure_says_what_and_why(text: str, words: str) -> None:
    with pytest.raises(NotMeasured, match=f"^{words}$"):
        printed("cost", program(text), 1.0)

# SPDX-License-Identifier: Apache-2.0
"""Words that the glossary replaced: in prose, in identifiers, and those that only look alike."""

import pytest
from check_words import old_words


@pytest.mark.parametrize(
    ("text", "word", "successor"),
    [
        ("the Attendant answers", "Attendant", "control thread"),
        ("struct rm_attendant_visitor *visitor;", "attendant", "control thread"),
        ("PATIENCE_S = 2", "PATIENCE", "timeout, or maximum lag"),
        ("role: slow_path", "slow_path", "exception path"),
        ("the express lane", "express lane", "fast path"),
    ],
)
def test_old_words_are_found(text: str, word: str, successor: str) -> None:
    assert old_words("good\n" + text)[0] == (2, word, successor)


@pytest.mark.parametrize("text", ["patient", "revisit", "make_slow(path)", "the lane", "an expression", "pushed"])
def test_other_words_are_not(text: str) -> None:
    assert old_words(text) == []

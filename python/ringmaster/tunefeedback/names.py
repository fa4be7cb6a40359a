# SPDX-License-Identifier: Apache-2.0
"""What the numbers of the tune feedback mean, as apps/tunefeedback/names.h has them."""

from enum import IntEnum, IntFlag


class State(IntEnum):
    """Of the reading ``state``."""

    OFF = 0
    READY = 1
    ON = 2
    HOLD = 3
    FAULT = 4


class Condition(IntFlag):
    """Of the readings ``missing`` and ``cause``: enable conditions."""

    NO_TUNE = 1 << 0
    NO_BEAM = 1 << 1
    QUALITY = 1 << 2
    SIGMA = 1 << 3
    FAR = 1 << 4
    SUPPLIES = 1 << 5
    LIMIT = 1 << 6


WORDS: dict[Condition, str] = {
    Condition.NO_TUNE: "no tune came: is the application `tune` running?",
    Condition.NO_BEAM: "there is no beam",
    Condition.QUALITY: "too few of the last tunes are to be trusted: `ringmaster get 'tune/quality*'`",
    Condition.SIGMA: "too few of the last tunes have a standard deviation below `enable_conditions.sigma`",
    Condition.FAR: "the tunes are further than `enable_conditions.far` from where they are to be",
    Condition.SUPPLIES: "a supply is not where it was sent to: `ringmaster get supply/state`",
    Condition.LIMIT: "a family is at its excursion, or a supply at its limit, and the tunes are still off",
}


def words_of(conditions: float) -> list[str]:
    """What is missing, a sentence each."""
    found = Condition(int(conditions))
    return [words for condition, words in WORDS.items() if condition in found]

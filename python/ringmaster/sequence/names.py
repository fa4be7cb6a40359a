# SPDX-License-Identifier: Apache-2.0
"""What the numbers of the application `sequence` mean, as apps/sequence has them."""

from enum import IntEnum

NONE = 0
"""Of a sequence, of a state: there is none."""


class Result(IntEnum):
    """Of the reading ``result``."""

    NONE = 0
    RUNNING = 1
    DONE = 2
    FAILED = 3
    STOPPED = 4


class Cause(IntEnum):
    """Of the reading ``cause``: why the last one did not come to a good end."""

    NONE = 0
    ABORTED = 1
    STATE_TIMEOUT = 2
    SEQUENCE_TIMEOUT = 3
    ENABLE_LOST = 4
    BEAM_LOST = 5
    INPUT_MISSING = 6
    NOT_FOLLOWED = 7
    VALUE = 8
    REFUSED = 9
    SERVER_ENDED = 10
    STOPPED = 11
    FAILED = 12


WORDS: dict[Cause, str] = {
    Cause.ABORTED: "aborted by a person",
    Cause.STATE_TIMEOUT: "timeout of the state",
    Cause.SEQUENCE_TIMEOUT: "timeout of the sequence",
    Cause.ENABLE_LOST: "its enable condition was lost",
    Cause.BEAM_LOST: "the beam was lost",
    Cause.INPUT_MISSING: "an input was missing for `missing_steps`",
    Cause.NOT_FOLLOWED: "a supply did not follow for `follow_steps`: has it tripped?",
    Cause.VALUE: "a value was no number, or beyond the limits of a supply",
    Cause.REFUSED: "another owner refused what it was asked for, or did not answer",
    Cause.SERVER_ENDED: "the server ended meanwhile",
    Cause.STOPPED: "`run` was put to 0: it stopped dead, and supplies stayed where they were",
    Cause.FAILED: "it ended in a state that says failed",
}
"""A sentence for each."""


def words_of(cause: float) -> str:
    """What the number says; empty for none."""
    known = set(map(int, Cause))
    return WORDS.get(Cause(int(cause)), "") if int(cause) in known else f"cause {int(cause)}"

# SPDX-License-Identifier: Apache-2.0
"""What a sequence did, step by step: the states that it was in, and the marks that it left. From its stream `trace`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ringmaster.sequence.described import Sequence, SequenceFile, State
from ringmaster.sequence.names import NONE, words_of

Whole = npt.NDArray[np.int64]
LANES = ("sequence", "state", "depth", "result", "cause", "marks")
"""Of the trace, that this needs."""


@dataclass(frozen=True)
class Passage:
    """A stay in a state."""

    step: int
    """Its first one, in the arrays."""
    turn: int
    sequence: Sequence
    state: State
    depth: int
    """1; more in a sequence that is called."""
    why: str
    """It was entered by this condition, or because of what made the sequence abort."""
    is_way_out: bool
    """It was entered because the sequence aborted."""
    steps: int


@dataclass(frozen=True)
class Mark:
    """What an action `record` left."""

    step: int
    turn: int
    state: State


def columns_of(trace: Mapping[str, npt.ArrayLike]) -> dict[str, Whole]:
    """The lanes as whole numbers, by step."""
    return {lane: np.asarray(trace[lane]).astype(np.int64) for lane in LANES}


def passages_of(file: SequenceFile, trace: Mapping[str, Whole], turn: npt.ArrayLike) -> list[Passage]:
    """Of a piece of the trace; the last one may go on behind it."""
    turns, state = np.asarray(turn, np.int64), trace["state"]
    if not len(state):
        return []
    changed = (np.diff(state) != 0) | (np.diff(trace["depth"]) != 0)
    begins = [0, *(int(step) + 1 for step in np.flatnonzero(changed))]
    found: list[Passage] = []
    for begin, end in zip(begins, [*begins[1:], len(state)], strict=True):
        placed = file.place(int(state[begin]))
        if placed is None:
            continue
        before = found[-1] if found and begin and state[begin - 1] != NONE else None
        cause = int(trace["cause"][begin])
        aborts = cause != (int(trace["cause"][begin - 1]) if begin else 0) and cause != NONE
        why = words_of(cause) if aborts else _way(before, *placed)
        found.append(Passage(begin, int(turns[begin]), *placed, int(trace["depth"][begin]), why, aborts, end - begin))
    return found


def _way(before: Passage | None, sequence: Sequence, state: State) -> str:
    """Why a state was entered after another one."""
    if before is None or before.sequence.name != sequence.name:
        return "begin"
    whens = [transition.when for transition in before.state.then if transition.to == state.name]
    if before.state.on_timeout == state.name:
        whens.append("timeout")
    return " or ".join(whens)


def marks_of(file: SequenceFile, trace: Mapping[str, Whole], turn: npt.ArrayLike) -> list[Mark]:
    """Of a piece of the trace."""
    turns, found = np.asarray(turn, np.int64), []
    for step in np.flatnonzero(np.diff(trace["marks"]) > 0) + 1:
        placed = file.place(int(trace["state"][step]))
        if placed is not None:
            found.append(Mark(int(step), int(turns[step]), placed[1]))
    return found


def ended(trace: Mapping[str, Any]) -> int | None:
    """The first step at which none runs any more, after one has run; None: it has not ended."""
    running = np.asarray(trace["sequence"]) != NONE
    begins = np.flatnonzero(running)
    if not len(begins):
        return None
    ends = np.flatnonzero(~running[begins[0] :])
    return int(begins[0] + ends[0]) if len(ends) else None

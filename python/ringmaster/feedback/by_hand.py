# SPDX-License-Identifier: Apache-2.0
"""The first response matrix: no feedback runs yet, so the operator's supplies are moved as `ringmaster put` does it."""

from collections.abc import Sequence

import numpy as np

from ringmaster.errors import ObjectNotFound
from ringmaster.fabric.workspace import Workspace
from ringmaster.feedback.golden import matching
from ringmaster.feedback.measured import Plan, Progress, Response, Sample, by_signs, collect
from ringmaster.feedback.readings import Readings
from ringmaster.moving.hand import Hand, refuse_closed_loops
from ringmaster.moving.stopping import stopped_at_pauses


def choose(ws: Workspace, patterns: Sequence[str]) -> tuple[list[str], list[str]]:
    """Supplies to move, and those left out because an application sets them: all, or those that match the patterns.

    Raises ObjectNotFound where the operator has none.
    """
    names = list(ws.supplies)
    if not names:
        raise ObjectNotFound(f"workspace {ws.name!r} has no supplies: its server's configuration needs `chains`")
    chosen = [names[i] for i in matching(names, patterns)] if patterns else names
    movable = [name for name in chosen if ws.supplies[name].setpoint.writable]
    others = [name for name in chosen if name not in movable]
    if not movable:
        raise ObjectNotFound(
            f"no supply is the operator's to move: {others[0]} is {ws.supplies[others[0]].setpoint.description}. "
            f"Measure by that application, if it is the feedback and runs; or take it out of the server's "
            f"`applications` for the first measurement (docs/feedback.md)"
        )
    return movable, others


def measure(
    ws: Workspace,
    rows: Sequence[str],
    columns: Sequence[str],
    plans: Sequence[Plan],
    rate: str,
    progress: Progress = lambda *_: None,
) -> Response:
    """Of the operator's supplies ``columns``. KeyboardInterrupt, too, comes after all is back where it stood.

    Raises ValueError while a loop is closed, NotPutBack.
    """
    refuse_closed_loops(ws)
    with stopped_at_pauses() as pause:
        readings = Readings(ws, rows, rate, pause)
        readings.take(plans[0].seconds, 0.0)  # finds the silent ones before anything moves
        hand = Hand(ws, columns, pause)

        def one(i: int) -> list[Sample]:
            hand.begin(columns[i], plans[i].amplitude)
            try:
                return [
                    by_signs(readings, plans[i], lambda offset: hand.go(columns[i], offset))
                    for _ in range(plans[i].averages)
                ]
            finally:
                hand.put_back()

        return collect(rows, columns, one, progress)


def weak(found: Response, times: float = 3.0) -> list[str]:
    """Supplies whose response is not above ``times`` its standard error; none where that is not known."""
    size = np.sqrt(np.mean(np.square(found.matrix.values), axis=0))
    error = np.sqrt(np.mean(np.square(found.error), axis=0))
    return [name for name, is_weak in zip(found.matrix.columns, size <= times * error, strict=True) if is_weak]

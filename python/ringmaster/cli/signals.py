# SPDX-License-Identifier: Apache-2.0
"""Signals while a command runs; then they are what they were, for the program that had called it."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType

Handler = Callable[[int, FrameType | None], object]


@contextmanager
def handled(handler: Handler, *numbers: signal.Signals) -> Iterator[None]:
    """Within it these signals call the handler."""
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)


@contextmanager
def end_asked(*more: signal.Signals) -> Iterator[Event]:
    """The event is set by Ctrl-C, by SIGTERM, or by one more."""
    over = Event()
    with handled(lambda *_: over.set(), signal.SIGTERM, signal.SIGINT, *more):
        yield over


@contextmanager
def left_in_order() -> Iterator[None]:
    """SIGTERM and a terminal that is closed end the command as an error does: what it started is stopped."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    with handled(leave, signal.SIGTERM, signal.SIGHUP):
        yield

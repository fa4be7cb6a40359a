# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, SIGTERM and SIGHUP end a measurement at its next pause, and nowhere else: so what was moved is put back."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import sleep

Pause = Callable[[float], None]
"""Sleeps so many seconds, and may raise what ends the measurement."""

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stopped_at_pauses() -> Iterator[Pause]:
    """Gives the pause, which raises KeyboardInterrupt once such a signal has come. A signal that is ignored stays so.

    In the main thread; elsewhere Python handles no signals, and it is a plain sleep.
    """
    if threading.current_thread() is not threading.main_thread():
        yield sleep
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in _ENDING}
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}

    def pause(seconds: float) -> None:
        if came:
            raise KeyboardInterrupt
        sleep(seconds)

    for number in before:
        signal.signal(number, lambda number, _frame: came.append(number))
    try:
        yield pause
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

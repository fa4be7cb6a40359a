# SPDX-License-Identifier: Apache-2.0
"""What is made of windows of gateways that nobody measured."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from ringmaster.bench.fast_archiver_clients import connected, run
from ringmaster.bench.gateway import Gateway, Options
from ringmaster.bench.gateway_fast_archiver import Window, busy_differences


def made_of(*windows: Window) -> Gateway:
    made = Gateway(Options())
    made.rows = list(windows)
    return made


def read(busy_share: float, gaps: int = 0) -> Window:
    return Window(busy_share, 10, gaps, 9970.0, 0.1)


def test_the_difference_is_of_pairs() -> None:
    made = made_of(Window(0.2), read(0.21), Window(0.3), read(0.33))
    headlines = {one.name: one for one in made.headlines()}
    difference = headlines["receive_busy_difference"].figure
    assert difference is not None
    assert difference.median == pytest.approx(0.02)
    assert headlines["fast_archiver_gaps"].verdict == "held"
    assert made.data()["fast_archiver"] == {"clients": 10, "gaps": 0}
    assert made.data()["receive_busy_difference"] == pytest.approx(0.02)
    assert busy_differences(made.rows[:1]) == []


def test_a_gap_misses_the_target() -> None:
    made = made_of(Window(0.2), read(0.2, gaps=1))
    assert next(one for one in made.headlines() if one.name == "fast_archiver_gaps").verdict == "missed"
    assert made.data()["fast_archiver"] == {"clients": 10, "gaps": 1}


def test_nothing_is_nothing() -> None:
    made = Gateway(Options())
    assert made.is_empty()
    assert made.tables() == []
    assert made.data()["receive_busy_difference"] is None


@contextmanager
def sender(counters: list[int], ids: int) -> Iterator[int]:
    """Sends frames with these counters to each client, and closes."""
    frames = np.zeros((len(counters), ids + 1, 2), "<u4")
    frames[:, 0, 0] = counters
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(100)
                connection.sendall(b"\0" + frames.tobytes())

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


@pytest.mark.parametrize(("counters", "gaps"), [([5, 6, 7, 8], 0), ([5, 6, 8, 9, 12], 2), ([5, 5], 1)])
def test_clients_see_gaps(counters: list[int], gaps: int) -> None:
    with sender(counters, 3) as port:
        seen = run(port, 1, 3, 60.0)
    assert seen["gaps"] == gaps + 1  # it was closed
    assert seen["frames"] == [len(counters)]


def test_a_client_that_is_refused_says_why() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def refuse() -> None:
            with listener.accept()[0] as connection:
                connection.recv(100)
                connection.sendall(b"Too many clients\n")

        refusing = threading.Thread(target=refuse)
        refusing.start()
        with pytest.raises(ConnectionError, match="Too many clients"):
            connected(listener.getsockname()[1], 1)
        refusing.join()

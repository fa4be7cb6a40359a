# SPDX-License-Identifier: Apache-2.0
"""What is made of windows of gateways that nobody measured."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from ringmaster.bench import gateway, gateway_epics, gateway_fast_archiver, gateway_peers, gateway_tango
from ringmaster.bench.fast_archiver_clients import connected, run
from ringmaster.bench.gateway import PARTS, Gateway, Options
from ringmaster.bench.gateway_epics import IOC
from ringmaster.bench.gateway_fast_archiver import ALONE, EPICS, READ, Window, busy_differences
from ringmaster.bench.gateway_peers import GATEWAY, loopback
from ringmaster.bench.gateway_tango import PLAIN
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.printed import Times
from ringmaster.report.plain import as_json
from ringmaster.report.verdicts import Headline


def times(us: float) -> Times:
    return Times(us * 1e3, us * 1e3, us * 2e3, us * 3e3, us * 4e3, 100)


def epics_turn(peer: str, updates_per_s: float, put_us: float = 500.0) -> gateway_epics.Turn:
    return gateway_epics.Turn(peer, updates_per_s, 10_000.0, 0.2, 0.1, times(put_us))


def tango_turn(peer: str, put_us: float) -> gateway_tango.Turn:
    return gateway_tango.Turn(peer, times(put_us))


def read(busy_share: float, gaps: int = 0) -> Window:
    return Window(busy_share, READ, 10, gaps, 9970.0, 0.1)


def made_of(*windows: Window, epics: object = (), tango: object = ()) -> Gateway:
    made = Gateway(Options())
    for part, rows in (("epics", epics), ("tango", tango), ("fast-archiver", windows)):
        if rows:
            made.parts[part] = list(rows)  # type: ignore[call-overload]
    return made


def headline(made: Gateway, name: str) -> Headline:
    return next(one for one in made.headlines() if one.name == name)


def median_of(made: Gateway, name: str) -> float:
    figure = headline(made, name).figure
    assert figure is not None
    return figure.median


def said(made: Gateway) -> dict[str, Any]:
    """As JSON has it."""
    return as_json(made.section())


def test_the_ratio_is_of_pairs_and_a_turn_that_failed_shifts_none() -> None:
    turns = [(GATEWAY, 8000), (IOC, 10_000), (IOC, 5000), (GATEWAY, 9000), (IOC, 10_000)]
    made = made_of(epics=[epics_turn(*each) for each in turns])
    assert median_of(made, "ratio_to_pvxs_ioc") == pytest.approx(0.85)
    assert headline(made, "ratio_to_pvxs_ioc").verdict == "held"
    assert said(made)["ratio_to_pvxs_ioc"] == pytest.approx(0.85)
    assert said(made)["pva_updates_per_s"] == pytest.approx(8500)
    missed = made_of(epics=[epics_turn(GATEWAY, 7000), epics_turn(IOC, 10_000)])
    assert headline(missed, "ratio_to_pvxs_ioc").verdict == "missed"


def test_puts_are_told_beside_those_of_plain_servers() -> None:
    made = made_of(
        epics=[epics_turn(GATEWAY, 8000, 800.0), epics_turn(IOC, 10_000, 300.0)],
        tango=[tango_turn(GATEWAY, 600.0), tango_turn(PLAIN, 100.0)],
    )
    assert said(made)["put_us"] == {
        "epics": {"p50": 800.0, "p99": 2400.0},
        "tango": {"p50": 600.0, "p99": 1800.0},
        "plain_ioc": {"p50": 300.0, "p99": 900.0},
        "plain_tango": {"p50": 100.0, "p99": 300.0},
    }
    assert median_of(made, "put_us.plain_tango.p99") == pytest.approx(300.0)
    assert "put 800 µs (p99 2400 µs)" in made.of("epics")[0].words
    assert "put 600 µs (p99 1800 µs)" in made.of("tango")[0].words


def test_the_difference_is_of_pairs_whatever_the_gateway() -> None:
    made = made_of(Window(0.2), read(0.21), Window(0.3), Window(0.33, EPICS, 1, 0, 300.0, 0.1), read(0.33))
    assert median_of(made, "receive_busy_difference") == pytest.approx(0.03)
    assert headline(made, "fast_archiver.gaps").verdict == "held"
    assert said(made)["fast_archiver"].items() >= {"clients": 10, "gaps": 0}.items()
    assert said(made)["receive_busy_difference"] == pytest.approx(0.03)
    assert busy_differences(made.of("fast-archiver")[:1]) == busy_differences([read(0.3)]) == []
    assert [row.words.split(":")[0] for row in made.of("fast-archiver")[:2]] == [
        f"receive core busy 20.00 %, {ALONE}",
        f"receive core busy 21.00 %, {READ}",
    ]


def test_a_gap_misses_the_target() -> None:
    made = made_of(Window(0.2), read(0.2, gaps=1))
    assert headline(made, "fast_archiver.gaps").verdict == "missed"
    assert said(made)["fast_archiver"]["gaps"] == 1


def test_nothing_is_nothing() -> None:
    made = Gateway(Options())
    assert made.is_empty()
    assert made.tables() == []
    nothing = ("pva_updates_per_s", "ratio_to_pvxs_ioc", "receive_busy_difference")
    assert {said(made)[name] for name in nothing} == {None}
    assert set(said(made)["put_us"]) == {"epics", "tango", "plain_ioc", "plain_tango"}
    assert said(made)["put_us"]["tango"] == {"p50": None, "p99": None}


def test_peers_take_turns_and_the_part_with_a_server_is_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "missing", lambda *_: "")
    turns = [(turn.part, turn.name.partition(", ")[2]) for turn in Gateway(Options(PARTS[::-1], rounds=2)).turns()]
    expected = [("epics", peer) for peer in (GATEWAY, IOC)] * 2
    expected += [("tango", peer) for peer in (GATEWAY, PLAIN)] * 2
    assert turns == expected + [("fast-archiver", peer) for peer in (ALONE, READ, ALONE, EPICS)] * 2


def test_without_the_packages_it_says_what_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_peers, "find_spec", lambda _: None)
    made = Gateway(Options(("epics", "tango")))
    assert list(made.turns()) == []
    assert made.notes == [
        "epics: not measured: p4p, caproto, pvxslibs not installed: `make gateways` installs them",
        "tango: not measured: tango not installed: `make gateways` installs them",
    ]
    assert {turn.name for turn in Gateway(Options()).turns()} == {"fast-archiver, no gateway", f"fast-archiver, {READ}"}


def test_what_does_not_start_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_tango, "CLIENTS", "ringmaster.bench.no_such_module")
    with pytest.raises(NotMeasured, match="did not start: .*no_such_module"):
        gateway_tango.take(PLAIN, 1.0)


def test_nothing_of_it_leaves_this_host() -> None:
    environment = loopback()
    assert {environment[name] for name in environment if name.endswith("ADDR_LIST")} == {"127.0.0.1", "NO"}
    assert len({environment[name] for name in environment if name.endswith("PORT")}) == 3


def test_the_suite_gives_it_as_many_rounds_as_fit() -> None:
    assert Gateway.fitted(1.0).rounds == 1
    assert Gateway.fitted(200.0).rounds > 2
    assert gateway_fast_archiver.BPMS == 168


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

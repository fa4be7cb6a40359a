# SPDX-License-Identifier: Apache-2.0
"""What is made of turns of gateway and IOC that nobody measured: pairs, a verdict, and words when there are none."""

import pytest

from ringmaster.bench import epics
from ringmaster.bench.epics import GATEWAY, IOC, Epics, Options, Turn, loopback
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.printed import Times
from ringmaster.report.verdicts import Headline


def turn(peer: str, updates_per_s: float, put_us: float = 500.0) -> Turn:
    put = Times(put_us * 1e3, put_us * 1e3, put_us * 2e3, put_us * 3e3, put_us * 4e3, 100)
    return Turn(peer, updates_per_s, 10_000.0, 0.2, 0.1, put)


def made_of(*turns: Turn) -> Epics:
    made = Epics(Options())
    made.rows += turns
    return made


def headline(made: Epics, name: str) -> Headline:
    return next(one for one in made.headlines() if one.name == name)


def test_the_ratio_is_of_pairs_and_a_turn_that_failed_shifts_none() -> None:
    made = made_of(turn(GATEWAY, 8000), turn(IOC, 10_000), turn(IOC, 5000), turn(GATEWAY, 9000), turn(IOC, 10_000))
    ratio = headline(made, "ratio_to_pvxs_ioc")
    assert ratio.figure is not None
    assert ratio.figure.median == pytest.approx(0.85)
    assert ratio.verdict == "held"
    assert headline(made_of(turn(GATEWAY, 7000), turn(IOC, 10_000)), "ratio_to_pvxs_ioc").verdict == "missed"


def test_puts_are_told_beside_the_iocs() -> None:
    made = made_of(turn(GATEWAY, 8000, 800.0), turn(IOC, 10_000, 300.0))
    found = {one.name: one.figure.median for one in made.headlines() if one.figure is not None}
    assert found["put_us_epics"] == pytest.approx(800.0)
    assert found["put_us_epics_p99"] == pytest.approx(2400.0)
    assert found["put_us_plain_ioc"] == pytest.approx(300.0)
    assert "put 800 µs (p99 2400 µs)" in made.rows[0].words


def test_nothing_is_nothing() -> None:
    made = Epics(Options())
    assert made.is_empty()
    assert made.tables() == []


def test_without_the_packages_it_says_what_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epics, "find_spec", lambda _: None)
    with pytest.raises(NotMeasured, match="p4p, caproto, pvxslibs not installed: `make gateways`"):
        Epics(Options()).take(GATEWAY)


def test_nothing_of_it_leaves_this_host() -> None:
    environment = loopback()
    assert {environment[name] for name in environment if name.endswith("ADDR_LIST")} == {"127.0.0.1", "NO"}
    assert len({environment[name] for name in environment if name.endswith("PORT")}) == 3

# SPDX-License-Identifier: Apache-2.0
"""What is made of windows of the packet generator that nobody measured."""

import json
from pathlib import Path

import pytest

from ringmaster.bench import generate, measurement
from ringmaster.bench.benches import BENCHES
from ringmaster.bench.generate import PACES_HZ, Options, PacketGenerator
from ringmaster.bench.generate_run import PKTGEN, VARYING, Generated, Paced, load_of, server
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.printed import Times
from ringmaster.report.conditions import StallFloor
from ringmaster.report.plain import as_json
from ringmaster.report.section import Section
from ringmaster.report.text import print_section


def sent(peer: str, mpps: float, share: float = 1.0) -> Generated:
    return Generated(
        peer=peer,
        load=load_of(64),
        size=64,
        running_s=1.0 if share == 1 else 0.0,
        rate_pps=mpps * 1e6,
        core_to_core_ns=60.0,
        distance="near",
        sender_share=share,
        receiver_share=1.0,
    )


def paced(rate_hz: float, received_hz: float, share: float = 1.0) -> Paced:
    return Paced(
        rate_hz=rate_hz,
        seconds=1.0,
        pace_hz=received_hz if share == 1 else 0.0,
        received_hz=received_hz * share,
        jitter_ns=Times(100.0, 50.0, 200.0, 900.0, 70_000.0, 1000),
        sender_share=share,
        receiver_share=1.0,
    )


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> PacketGenerator:
    """One with both parts, on a machine that nobody looks at, without Pktgen."""
    monkeypatch.setattr(measurement, "stall_floor", lambda *_: StallFloor(0.5, 40.0, 2.0, 0, 2e9))
    monkeypatch.setattr(measurement, "core_to_core_ns", lambda *_: 60.0)
    monkeypatch.setattr(measurement, "cores", lambda: (0, 1))
    monkeypatch.setattr(generate, "has_testpmd", lambda: True)
    monkeypatch.setattr(generate, "has_pktgen", lambda: False)
    return PacketGenerator(Options(windows=3))


def measured(
    bench: PacketGenerator, monkeypatch: pytest.MonkeyPatch, mpps: dict[str, float], off: float, share: float = 1.0
) -> Section:
    """A run whose windows are these."""
    monkeypatch.setattr(generate, "measure_window", lambda peer, _seconds: sent(peer, mpps[peer], share))
    monkeypatch.setattr(generate, "measure_pace", lambda hz, _seconds: paced(hz, hz * (1 - off), share))
    return bench.run()


def test_ratios_are_those_of_neighbours(bench: PacketGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    section = measured(bench, monkeypatch, {"ringmaster": 26.0, "testpmd": 13.0, VARYING: 13.0}, 0.0005)
    said = as_json(section)
    assert said["ratio_to_testpmd"] == pytest.approx(2.0)
    assert said["ratio_varying_fields"] == pytest.approx(1.0)
    assert said["rate_error"] == pytest.approx(0.0005)
    assert [row.verdict for row in section.headlines][:3] == ["held", "held", "held"]


def test_what_misses_its_target_says_so(bench: PacketGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    section = measured(bench, monkeypatch, {"ringmaster": 13.0, "testpmd": 13.0, VARYING: 10.0}, 0.002)
    assert [row.verdict for row in section.headlines][:3] == ["missed", "missed", "missed"]


def test_pktgen_is_left_out_and_named(bench: PacketGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    section = measured(bench, monkeypatch, {"ringmaster": 26.0, "testpmd": 13.0, VARYING: 13.0}, 0.0)
    assert any("Pktgen-DPDK" in note for note in section.notes)
    assert not any(PKTGEN in row.name for row in section.headlines)


def test_pktgen_stands_beside_where_it_is(bench: PacketGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "has_pktgen", lambda: True)
    mpps = {"ringmaster": 26.0, "testpmd": 13.0, VARYING: 13.0, PKTGEN: 5.2}
    said = as_json(measured(bench, monkeypatch, mpps, 0.0))
    assert said["ratio_pktgen"] == pytest.approx(0.4)


def test_windows_without_whole_cores_are_none(bench: PacketGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotMeasured, match="others had the cores"):
        measured(bench, monkeypatch, {"ringmaster": 26.0, "testpmd": 13.0, VARYING: 13.0}, 0.0, share=0.5)


def test_the_stall_floor_stands_beside_the_jitter(
    bench: PacketGenerator, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    section = measured(bench, monkeypatch, {"ringmaster": 26.0, "testpmd": 13.0, VARYING: 13.0}, 0.0)
    print_section(section)
    words = capsys.readouterr().out
    assert "waited 40.0 µs" in words
    assert "1,000,000" in words


def test_the_suite_still_takes_a_quarter_of_an_hour() -> None:
    assert sum(bench.share for bench in BENCHES) == 900
    assert PacketGenerator.fitted(20.0).windows >= 1
    assert PacketGenerator.steps(Options(windows=2)) <= 2 * (4 + len(PACES_HZ))


def test_the_configuration_has_one_role_that_generates() -> None:
    said = json.loads(server("bench-1", Path("/run/x.sock"), 3))
    assert said["roles"] == [{"role": "generate", "core": 3, "ports": ["out"]}]

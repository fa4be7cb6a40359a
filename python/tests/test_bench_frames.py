# SPDX-License-Identifier: Apache-2.0
"""What is made of windows of `bench frames` that nobody measured."""

import json

import pytest

from ringmaster.bench import frames, measurement
from ringmaster.bench.frames import CameraFrames, Options
from ringmaster.bench.frames_assembly import Assembled, Heaps, read_cost
from ringmaster.bench.frames_run import Spread, Window, configuration
from ringmaster.bench.frames_tables import pooled
from ringmaster.bench.links import Pair
from ringmaster.bench.log import NotMeasured
from ringmaster.report.conditions import StallFloor
from ringmaster.report.plain import as_json
from ringmaster.report.section import Section

COST = """\
copied, 1436 bytes each                             40.00 ns per 1000 bytes, or pixels (39.50 to 41.00)
copied, 8936 bytes each                             50.00 ns per 1000 bytes, or pixels (49.00 to 51.00)
GVSP, MTU 1500                                      20.00 ns per 1000 bytes, or pixels (19.50 to 21.00), -20.00
GVSP, MTU 9000                                      25.00 ns per 1000 bytes, or pixels (24.50 to 26.00), -25.00
ours, MTU 1500                                      50.00 ns per 1000 bytes, or pixels (49.50 to 51.00), +10.00
ours, MTU 9000                                      40.00 ns per 1000 bytes, or pixels (39.50 to 41.00), -10.00
12p, AVX2                                           54.00 ns per 1000 bytes, or pixels (53.00 to 55.00)
"""


def window(
    transport: str,
    load: str,
    scale: float = 1.0,
    cameras: int = 1,
    mtu: int = 1500,
    lost: int = 0,
    share: float = 0.99,
) -> Window:
    arrival, sending = (
        Spread(scale * base, 2 * scale * base, 2 * scale * base, 4 * scale * base, 9 * scale * base, 100)
        for base in (5.0, 7.0)
    )
    return Window(
        transport=transport,
        load=load,
        cameras=cameras,
        mtu=mtu,
        after_last_fragment_us=arrival,
        after_sent_us=sending,
        published_us=arrival,
        sent=100,
        lost=lost,
        wrong=0,
        passed_over=0,
        waits=0,
        longest_wait_us=0.0,
        longest_behind_us=30.0,
        bytes_per_s=9e8,
        receiver_share=share,
        sender_share=0.99,
        core_to_core_ns=60.0,
        distance="near",
    )


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> CameraFrames:
    """One with all parts, on an idle machine that nobody looks at, with spead2."""
    monkeypatch.setattr(measurement, "stall_floor", lambda *_: StallFloor(0.5, 40.0, 2.0, 0, 2e9))
    monkeypatch.setattr(measurement, "core_to_core_ns", lambda *_: 60.0)
    monkeypatch.setattr(measurement, "cores", lambda: (0, 1))
    monkeypatch.setattr(frames, "has_spead2", lambda: True)
    monkeypatch.setattr(frames, "heaps", lambda mtu: Heaps(mtu, memory=25.0, pcap=3.5))
    monkeypatch.setattr(frames, "assembled", lambda: read_cost(COST))
    return CameraFrames(Options(windows=2, loads=("idle",)))


def measured(bench: CameraFrames, monkeypatch: pytest.MonkeyPatch, scale: float = 1.0, lost: int = 0) -> Section:
    """A run whose windows are these: sockets take ten times as long."""

    def take(transport: str, load: str, cameras: int, mtu: int, _seconds: float) -> Window:
        return window(transport, load, scale * (10 if transport == "udp" else 1), cameras, mtu, lost)

    monkeypatch.setattr(frames, "measure", take)
    return bench.run()


def test_times_stand_by_transport_and_quantity(bench: CameraFrames, monkeypatch: pytest.MonkeyPatch) -> None:
    said = as_json(measured(bench, monkeypatch))
    memif, udp = said["after_last_fragment_us"]["memif"], said["after_last_fragment_us"]["udp"]
    assert memif == {"min": 5.0, "mean": 10.0, "p99": 20.0, "max": 45.0}
    assert udp["mean"] == pytest.approx(100.0)
    assert said["after_sent_us"]["memif"] == {"mean": 14.0, "p99": 28.0}
    assert said["cameras"] == 8
    assert said["lost_frames"] == 0
    assert said["targets"]["after_last_fragment_us.memif.p99"]["verdict"] == "held"


def test_ratios_are_of_the_slower_format_and_of_pairs(bench: CameraFrames, monkeypatch: pytest.MonkeyPatch) -> None:
    said = as_json(measured(bench, monkeypatch))
    assert said["ratio_to_memcpy"] == pytest.approx(0.8)
    assert said["ratio_to_memcpy_jumbo"] == pytest.approx(1.25)
    assert said["ratio_to_spead2"] == pytest.approx(50.0 / 25.0)
    assert said["ratio_to_spead2_jumbo"] == pytest.approx(40.0 / 25.0)


def test_what_misses_its_target_says_so(bench: CameraFrames, monkeypatch: pytest.MonkeyPatch) -> None:
    section = measured(bench, monkeypatch, scale=3.0, lost=1)
    verdicts = {row.name: row.verdict for row in section.headlines}
    assert verdicts["after_last_fragment_us.memif.p99"] == "missed"
    assert verdicts["lost_frames"] == "missed"
    assert next(row for row in section.headlines if row.name == "lost_frames").figure is not None


def test_the_source_stands_beside_in_its_own_form(bench: CameraFrames, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = measured(bench, monkeypatch).tables
    rows = {row[0]: row for row in tables[0].rows}
    assert list(tables[0].head[3:7]) == ["min", "mean", "p99", "max"]
    assert rows["memif"][3:10] == ("0.005", "0.01", "0.02", "0.045", "0.53", "0.78", "0.89")
    assert rows["udp"][7:10] == ("5.89", "12.1", "18.9")
    assert "0.040 ms" in tables[0].about
    assert "spead2, MTU 1500, from memory" in {row[0] for row in tables[-1].rows}


def test_extremes_are_of_all_windows() -> None:
    (one,) = pooled([window("memif", "idle"), window("memif", "idle", 3.0)], "after_last_fragment")
    assert (one.min, one.max, one.mean, one.frames) == (5.0, 135.0, 20.0, 200)


def test_windows_without_their_cores_do_not_count() -> None:
    (one,) = pooled([window("memif", "idle"), window("memif", "idle", 3.0, share=0.5)], "after_last_fragment")
    assert (one.max, one.left_out) == (45.0, 1)
    assert window("udp", "idle", share=0.1).whole, "a socket's thread sleeps"
    assert window("memif", "loaded", share=0.5).whole, "under a load nobody has a core alone"
    assert "discarded" in window("memif", "idle", share=0.5).words


def test_without_spead2_the_rest_is_measured(bench: CameraFrames, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "has_spead2", lambda: False)
    section = measured(bench, monkeypatch)
    assert any("spead2 is not installed" in note for note in section.notes)
    assert "ratio_to_spead2" not in as_json(section)
    assert CameraFrames.steps(Options(windows=1, parts=("assembly",))) == 1


def test_a_load_that_cannot_be_made_is_noted(bench: CameraFrames, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_cores: object) -> object:
        raise NotMeasured("a loaded machine: stress-ng is not installed")

    monkeypatch.setattr(frames, "loaded", none)
    bench.options = Options(windows=1, parts=("latency",), transports=("memif",))
    section = measured(bench, monkeypatch)
    assert any("stress-ng is not installed" in note for note in section.notes)
    assert as_json(section)["after_last_fragment_us"]["memif"]["min"] == 5.0


def test_a_cost_without_its_lines_is_no_figure() -> None:
    assert read_cost(COST) == Assembled(
        {"GVSP, MTU 1500": 50.0, "GVSP, MTU 9000": 40.0, "ours, MTU 1500": 20.0, "ours, MTU 9000": 25.0},
        {1500: 25.0, 9000: 20.0},
    )
    with pytest.raises(NotMeasured, match="ours, MTU 1500"):
        read_cost(COST.replace("ours, MTU 1500", "theirs"))


@pytest.mark.parametrize(
    ("kind", "end", "key", "where"),
    [
        ("memif", "memif:/run/x.sock,role=client", "socket", "/run/x.sock"),
        ("af_xdp", "af_xdp:veth1", "interface", "veth1"),
        ("udp", "udp:10.99.0.2:4660,peer=10.99.0.1:4660", "address", "10.99.0.2:4660"),
    ],
)
def test_the_receiver_stands_at_the_other_end(kind: str, end: str, key: str, where: str) -> None:
    said = json.loads(configuration("bench-1", Pair(kind, kind, ("",), (end,)), cameras=8, mtu=9000))
    assert said["ports"][0]["kind"] == kind
    assert said["ports"][0][key] == where
    assert said["ports"][0]["longest_frame"] == 9014
    assert [camera["id"] for camera in said["cameras"]] == list(range(8))

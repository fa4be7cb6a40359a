# SPDX-License-Identifier: Apache-2.0
"""Throughput of programs whose last words are known."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringmaster.bench import throughput, throughput_cases, throughput_section
from ringmaster.bench.cpu_time import CpuTime, Shares
from ringmaster.bench.links import Pair
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.throughput import Options, Throughput
from ringmaster.bench.throughput_cases import Case, cases
from ringmaster.bench.throughput_charts import charts
from ringmaster.bench.throughput_loss import Losses, locate
from ringmaster.bench.throughput_window import Cores, Look, Window, window_of, within
from ringmaster.bench.zero_loss import Search
from ringmaster.programs.program import ProgramFailed
from ringmaster.report.headlines import of_all
from ringmaster.report.section import Bars, Lines, Section
from ringmaster.report.verdicts import number

CORES = Cores((0,), 1)
MEMIF = Case("memif", 64, 1500, 1)
UDP = Case("udp", 64, 1500, 1)


def paced(
    sent: int, dropped: int = 0, unsent: int = 0, behind_cycles: int = 0, waited_us: float = 0.0
) -> dict[str, Any]:
    """The last line of ringmaster-generator that sent for a second from 100 s on."""
    link = {"link": "x", "sent": sent, "bytes": 0, "dropped": dropped, "unsent": unsent, "waits": 0}
    link |= {"waited_us": waited_us, "longest_wait_us": 0.0}
    times = {"seconds": 1.0, "began_s": 100.0, "ended_s": 101.0}
    return {**times, "behind_cycles": behind_cycles, "busy_share": 0.9, "links": [link]}


def counted_in(received: int, missed: int = 0, duplicate: int = 0, share: float = 1.0) -> dict[str, Any]:
    """The last line of ringmaster-receiver."""
    link = {"received": received, "missed": missed, "duplicate": duplicate, "lost": 0, "foreign": 0}
    return {"cores": [{"busy_share": 0.25, "longest_gap_us": 12.0, "share": share}], "links": [link]}


def look(when_s: float, user_s: float = 0.0, soft_irq_s: float = 0.0, ran_s: float = 0.0) -> Look:
    idle_s = when_s - user_s - soft_irq_s
    times = CpuTime(user_s, 0.0, 0.0, soft_irq_s, 0.0, idle_s)
    return Look(when_s, {0: times, 1: times}, ran_s * 1e9)


@pytest.mark.parametrize(
    ("sender", "receiver", "polls", "expected"),
    [
        (paced(1000), counted_in(1000), True, Losses()),
        (paced(990, dropped=10), counted_in(990), True, Losses(sender=10)),
        (paced(990, dropped=4, unsent=6), counted_in(980, missed=7), True, Losses(sender=10, link=3, port=7)),
        (paced(1000), counted_in(900, missed=100), False, Losses(ring=100)),
        (paced(1000), counted_in(900, missed=5000), False, Losses(ring=100)),
        (paced(1000), counted_in(900, duplicate=20), True, Losses(link=80, application=20)),
        (paced(1000, behind_cycles=3), counted_in(1000), True, Losses(sender=3 * 32)),
        (paced(1000), counted_in(1001), True, Losses()),
    ],
)
def test_every_datagram_that_is_not_received_has_one_place(
    sender: dict[str, Any], receiver: dict[str, Any], polls: bool, expected: Losses
) -> None:
    found = locate([sender], receiver, 32, polls)
    assert found == expected
    assert found.on_the_way == found.total - found.sender


@settings(deadline=None)
@given(
    sent=st.integers(0, 10**9),
    lost=st.integers(0, 10**6),
    missed=st.integers(0, 10**7),
    twice=st.integers(0, 10**3),
    dropped=st.integers(0, 10**6),
)
def test_the_places_sum_up(sent: int, lost: int, missed: int, twice: int, dropped: int) -> None:
    received = max(0, sent - lost)
    found = locate([paced(sent, dropped=dropped)], counted_in(received, missed, twice), 32, True)
    assert found.total == dropped + sent - received
    assert min(found.by_place().values()) >= 0


def test_rates_are_of_the_senders_time_and_shares_of_its_middle() -> None:
    looks = [look(99.9), look(100.1, 0.1), look(100.6, 0.4, 0.2, 0.5), look(101.2, 0.4, 0.2, 0.5)]
    window = window_of(MEMIF, CORES, looks, [paced(2000, waited_us=400_000.0)], counted_in(1500), 0.0)
    assert window.pps == 1500
    assert window.gbps == pytest.approx(1500 * 64 * 8e-9)
    assert window.losses.on_the_way == 500
    assert window.sender.soft_irq == pytest.approx(0.4)
    assert window.sender.poll_busy == pytest.approx(0.6 * 0.5)  # busy 90 %, of which 40 % waited for a full link
    assert window.sender.poll_idle == pytest.approx(0.6 * 0.5)
    assert window.receiver.poll_busy == pytest.approx(0.6 * 0.25)
    assert window.sender.user == 0
    assert window.sender_share == pytest.approx(1.0)
    assert window.whole


def test_each_sender_s_core_is_reported_by_itself() -> None:
    idle = CpuTime(0.0, 0.0, 0.0, 0.0, 0.0, 101.0)
    busy = CpuTime(0.5, 0.0, 0.0, 0.0, 0.0, 100.5)
    looks = [Look(100.1, dict.fromkeys((0, 1, 2), CpuTime(0.0, 0.0, 0.0, 0.0, 0.0, 100.0)), 0.0)]
    looks.append(Look(100.9, {0: idle, 1: idle, 2: busy}, 1.2e9))
    two = replace(MEMIF, senders=2)
    apart = window_of(two, Cores((0, 2), 1), looks, [paced(10), paced(10)], counted_in(20), 0.0)
    assert [round(core.total, 3) for core in apart.cores] == [0.0, 0.5, 0.0]
    assert apart.sender_share == pytest.approx(0.75)  # 1.2 s of two cores in 0.8 s
    together = window_of(two, Cores((2,), 1), looks, [paced(10), paced(10)], counted_in(20), 0.0)
    assert [round(core.total, 3) for core in together.cores] == [0.5, 0.0]


def test_kernel_sockets_keep_their_user_time_and_need_no_whole_core() -> None:
    looks = [look(100.1), look(100.9, 0.4, ran_s=0.4)]
    window = window_of(UDP, CORES, looks, [paced(100)], counted_in(100, share=0.2), 0.0)
    assert window.sender.user == pytest.approx(0.5)
    assert window.sender.poll_busy == window.receiver.poll_idle == 0
    assert window.whole
    assert not window_of(MEMIF, CORES, looks, [paced(100)], counted_in(100, share=0.2), 0.0).whole


def test_a_window_too_short_for_two_looks_takes_those_around_it() -> None:
    looks = [look(99.0), look(99.9), look(101.2), look(102.0)]
    assert [one.when_s for one in within(looks, 100.0, 101.0)] == [99.9, 101.2]


@pytest.mark.parametrize("sizes", [(17,), (1473,), (18, 9000)])
def test_sizes_that_do_not_fit_are_refused(sizes: tuple[int, ...]) -> None:
    with pytest.raises(NotMeasured, match="expected 18 to 1472"):
        cases(("udp",), sizes, "1500", (1,))


def test_jumbo_frames_are_for_what_does_not_fit_and_two_senders_for_the_borders() -> None:
    found = cases(("memif", "udp"), throughput_cases.SIZES, "both", (1, 2))
    jumbo = [case.size for case in found if case.mtu == 9000 and case.senders == 1 and case.kind == "udp"]
    assert jumbo == [2048, 4096, 8192, 8972]
    assert sorted({case.size for case in found if case.senders == 2}) == [18, 1472, 2048, 8972]
    assert {case.mtu for case in cases(("udp",), (18, 8972), "9000", (1,))} == {9000}
    assert [case.kind for case in found[:2]] == ["memif", "udp"]


def window(case: Case, pps: float, whole: bool = True, losses: Losses | None = None) -> Window:
    shares = (
        Shares(poll_busy=0.5, poll_idle=0.5) if case.polls else Shares(user=0.1, system=0.5, soft_irq=0.2, idle=0.2)
    )
    received, losses = round(pps), losses or Losses()
    sent = received + losses.on_the_way
    share = 1.0 if whole else 0.5
    return Window(case, 0.0, 1.0, sent, received, losses, shares, shares, share, 1.0, 0.0, 5.0, 0)


def measured(monkeypatch: pytest.MonkeyPatch, options: Options, make: Callable[[Case, int], Window]) -> Section:
    """The whole of it on windows that were made."""
    counts: dict[Case, int] = {}

    class Made:
        def __enter__(self) -> Pair:
            return Pair("made", "memif", ("a", "b"), ("c", "d"))

        def __exit__(self, *_: object) -> None:
            pass

    def measure_window(_pair: Pair, case: Case, _cores: Cores, seconds: float, *_: object) -> Window:
        if seconds != throughput.WARM_UP_S:
            counts[case] = counts.get(case, 0) + 1
        return make(case, counts.get(case, 0))

    monkeypatch.setattr(throughput, "measure_window", measure_window)
    monkeypatch.setattr(throughput, "linked", lambda *_: Made())
    monkeypatch.setattr(throughput, "allowed_cores", lambda: [0, 1])
    monkeypatch.setattr(Throughput, "probe", lambda *_: None)
    monkeypatch.setattr(Throughput, "probe_distance", lambda *_: None)
    steps: list[None] = []
    section = Throughput(options, lambda _: None, lambda: steps.append(None)).run()
    assert len(steps) <= Throughput.steps(options)
    return section


SMALL = Options(
    sender_cores=(0,), receiver_core=1, sizes=(64, 1472), kinds=("memif", "udp"), senders=(1,), mtu="1500", rounds=3
)


def test_figures_are_medians_of_windows_that_had_their_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(case: Case, number: int) -> Window:
        return window(case, {"memif": 10e6, "udp": 1e5}[case.kind] * number, whole=number != 3 or not case.polls)

    section = measured(monkeypatch, SMALL, make)
    figures = {row.name: row.figure for row in section.headlines}
    rate = figures["khz.memif.mtu1500.senders1"]
    assert rate is not None
    assert (rate.median, rate.count) == (15_000.0, 2)
    gbps = figures["gbps.udp.mtu1500.senders1"]
    assert gbps is not None
    assert gbps.median == pytest.approx(2e5 * 1472 * 8e-9)
    tables = {table.title.split(",")[0]: table for table in section.tables}
    assert tables["Datagram rate as a multiple of udp's"].rows[0][1] == "100 (100–100)"
    assert [list(row)[1:] for row in tables["Beside the slides"].rows[:2]] == [
        ["≈ 4.8 Gb/s", number(15e6 * 1472 * 8e-9), number(2e5 * 1472 * 8e-9)],
        ["≈ 9.7 Gb/s", "–", "–"],
    ]
    cpu = tables["CPU load by kind"]
    assert [row[:2] for row in cpu.rows] == [["memif", "64"], ["", "1472"], ["udp", "64"], ["", "1472"]]
    assert "send\nsoft\nIRQ" in cpu.head
    assert "send\nsteal" not in cpu.head
    assert any("2 of 12 windows had less than 95 %" in note for note in section.notes)
    assert {type(chart) for chart in section.charts} == {Lines, Bars}
    for option in ("--sizes 64,1472", "--kinds memif,udp", "--rounds 3", "--receiver-core 1"):
        assert option in section.command


def test_losses_are_reported_by_place_and_cases_without_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    losses = Losses(ring=25)
    section = measured(monkeypatch, SMALL, lambda case, _: window(case, 75, losses=losses if case == UDP else None))
    (table,) = (table for table in section.tables if table.title.startswith("Loss"))
    assert [list(row) for row in table.rows] == [["udp", "64", "1500", "1", "300", "0", "0", "0", "75", "0", "25"]]


def test_an_interrupt_leaves_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(case: Case, number: int) -> Window:
        if case.size == 1472:
            raise KeyboardInterrupt
        return window(case, 1e5)

    section = measured(monkeypatch, SMALL, make)
    assert section.interrupted
    assert len(section.data["windows"]) == 2  # type: ignore[arg-type]


def test_what_fails_is_noted_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(case: Case, number: int) -> Window:
        if case == MEMIF:
            raise ProgramFailed("ringmaster-generator ended with status 1: no room")
        if case.kind == "udp":
            raise NotMeasured("no sockets")
        return window(case, 1e5)

    section = measured(monkeypatch, SMALL, make)
    assert {one["case"]["kind"] for one in section.data["windows"]} == {"memif"}  # type: ignore[attr-defined]
    assert sum("no room" in note for note in section.notes) == 1
    assert sum("no sockets" in note for note in section.notes) == 1


def test_the_share_of_the_core_is_of_those_that_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    section = measured(monkeypatch, SMALL, lambda case, _: window(case, 1e5, whole=case.polls))
    assert section.conditions is not None
    assert section.conditions.core_share == of_all([1.0] * 12, "looks")


def test_two_senders_have_a_column_each(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Shares(poll_busy=0.75, poll_idle=0.25)
    section = measured(
        monkeypatch, replace(SMALL, senders=(2,)), lambda case, _: replace(window(case, 1e5), more_senders=(other,))
    )
    (table,) = (table for table in section.tables if table.title.startswith("CPU load by kind"))
    assert "send 2\npoll\nbusy" in table.head
    assert table.rows[0][list(table.head).index("send 2\npoll\nbusy")] == "75"


def test_links_of_one_s_own_are_in_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    options = replace(SMALL, left=("pci:0000:03:00.0",), right=("pci:0000:03:00.1",))
    section = measured(monkeypatch, options, lambda case, _: window(case, 1e5))
    assert "--left pci:0000:03:00.0 --right pci:0000:03:00.1" in section.command
    assert "--kinds" not in section.command
    assert "pci: pci:0000:03:00.0 to pci:0000:03:00.1" in section.about


def test_nothing_at_all_is_an_error_with_the_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(case: Case, number: int) -> Window:
        raise NotMeasured("no sockets")

    with pytest.raises(NotMeasured, match="memif with an MTU of 1500: no sockets; .*udp with"):
        measured(monkeypatch, SMALL, make)


def test_nothing_but_an_interrupt_promises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(case: Case, number: int) -> Window:
        raise KeyboardInterrupt

    section = measured(monkeypatch, SMALL, make)
    assert section.interrupted
    assert section.tables == []
    assert not any("no datagram was lost" in note for note in section.notes)


def test_a_fanout_group_that_is_taken_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[None] = []

    def make(case: Case, number: int) -> Window:
        tries.append(None)
        if len(tries) % 3 != 0:
            raise ProgramFailed("could not set PACKET_FANOUT")
        return window(case, 1e5)

    assert measured(monkeypatch, replace(SMALL, rounds=1), make).notes == [throughput.NONE_LOST]


def test_the_zero_loss_search_is_reported_with_what_bounds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def lossy(_pair: Pair, case: Case, _cores: Cores, _seconds: float, pps: float = 0.0, _drop: int = 0) -> Window:
        lost = max(0, round(pps - 60_000)) if pps else 0
        return window(case, (pps or 100_000.0) - lost, losses=Losses(link=lost))

    options = replace(SMALL, kinds=("udp",), zero_loss=(64,), resolution=0.01)
    measured(monkeypatch, options, lambda case, _: window(case, 1e5))
    monkeypatch.setattr(throughput, "measure_window", lossy)
    section = Throughput(options).run()
    (table,) = (table for table in section.tables if table.title.startswith("Highest"))
    (row,) = table.rows
    assert float(row[2]) == pytest.approx(60.0, abs=1.0)
    assert "lost" in row[5]


def test_sender_and_receiver_need_cores_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throughput, "allowed_cores", lambda: [0, 1])
    with pytest.raises(NotMeasured, match="core 1 is to send and to receive"):
        Throughput(replace(SMALL, sender_cores=(0, 1)))


def test_nothing_measured_gives_an_empty_section() -> None:
    found = throughput_section.Found()
    assert charts(found) == []
    assert throughput_section.headlines(found) == []
    assert Search().limit is None

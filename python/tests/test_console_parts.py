# SPDX-License-Identifier: Apache-2.0
"""The parts of the console: numbers, drawings, tables, keys, faults, the spectrum."""

import math
from dataclasses import replace

import fabric
import numpy as np
import pytest
from conftest import MakeOwner

import ringmaster
from ringmaster.beam.orbit import Orbit
from ringmaster.beam.tune import spectrum
from ringmaster.console import units
from ringmaster.console.history import History
from ringmaster.console.lines import Column, Span, plain, table, width_of
from ringmaster.console.marks import bar, bars, columns_up, curve, spark
from ringmaster.console.pages import PAGES
from ringmaster.console.spectrum import find_peaks, folded
from ringmaster.console.view import Action, View
from ringmaster.fabric._counters import COUNTERS
from ringmaster.fabric.layout import SupplyState
from ringmaster.monitor.advice import ADVICE
from ringmaster.monitor.driving import BY_SEVERITY, SupplyFigures
from ringmaster.monitor.faults import FaultWatch
from ringmaster.monitor.figures import (
    ClockFigures,
    Reading,
    Unsent,
    core_figures,
    let_pass,
    not_asked_for,
    port_figures,
    read_steering,
    stream_figures,
)
from ringmaster.monitor.monitor import Monitor


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (99999, "99999"), (100000, "100.0k"), (1234567, "1.235M"), (999_999_999, "1.000G"), (10**13, "10.00T")],
)
def test_counts_are_short_and_whole(number: int, text: str) -> None:
    assert units.count(number) == text
    assert len(text) <= 6


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1157000.0, "Hz", "1.157 MHz"),
        (999.96, "Hz", "1.000 kHz"),
        (0.0, "/s", "0 /s"),
        (12.3e-6, "s", "12.30 µs"),
        (-0.00205, "m", "-2.050 mm"),
        (math.nan, "s", "–"),
    ],
)
def test_quantities_carry_prefix_and_unit(value: float, unit: str, text: str) -> None:
    assert units.quantity(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (500.0, "500 µm"),
        (94930.0, "94930 µm"),
        (0.00123456, "0.00123 µm"),
        (0.0, "0 µm"),
        (-1.5, "-1.5 µm"),
        (math.nan, "– µm"),
    ],
)
def test_scales_are_plain_numbers(value: float, text: str) -> None:
    assert units.length(value, "µm") == text


def test_shares_and_scales() -> None:
    assert [units.share(part) for part in (0, 1, 0.123, 0.0123, 0.00001)] == [
        "0 %",
        "100 %",
        "12 %",
        "1.2 %",
        "0.001 %",
    ]
    assert [units.nice_above(value) for value in (0.0, 1.0, 1.01, 203.0, 900.0)] == [1.0, 1.0, 2.0, 300.0, 1000.0]


def test_a_sparkline_is_as_wide_as_asked_and_shows_what_is_above_zero() -> None:
    assert spark([], 4) == "    "
    assert spark([0.0, 0.001, 4.0, 8.0], 6) == "  ▁▂▄█"
    assert spark([1.0, math.nan, 2.0], 3) == "▄ █"
    assert spark([0.5], 1, high=1.0) == "▄"
    assert len(spark([1.0] * 60, 10)) == 10
    assert spark([0.0] * 59 + [9.0], 10)[-1] == "█"
    assert spark([0.0] * 5 + [9.0] + [0.0] * 54, 10)[0] == "█"


def test_bars_go_up_and_down_from_the_middle() -> None:
    assert bars([1.0, -1.0, 0.5, math.nan], rows=4, columns=4) == ["█", "█ █", " █", " █"]


def test_many_bars_are_put_together_by_their_extremes() -> None:
    assert bars([0.0, 1.0, -1.0, 0.0], rows=2, columns=2) == ["█", " █"]
    assert bars([], rows=2, columns=10) == ["", ""]
    assert bars([0.0], rows=1, columns=1) == [""]


def test_bars_columns_and_curves_fill_their_box() -> None:
    assert bar(0.5, 4) == "██  "
    assert bar(2.0, 2) == "██"
    assert columns_up([0.0, 0.5, 1.0], 2) == ["  █", " ██"]
    assert columns_up([0.01], 1) == ["▁"]
    assert curve([0.0, 0.0], 1) == ["⣀"]
    assert curve([0.0, 1.0], 2) == ["⢸", "⡸"]
    assert [len(text) for text in curve([0.5] * 9, 3)] == [5, 5, 5]


def test_a_table_drops_columns_and_cuts_nothing() -> None:
    columns = [Column("NAME", right=False), Column("RATE", 9, drop=1), Column("SEEN", 6, drop=2)]
    rows = [[Span("bpm01"), Span("1.157 MHz"), Span("99999")]]
    assert [plain(text) for text in table(columns, rows, 40)] == [
        "NAME        RATE    SEEN",
        "bpm01  1.157 MHz   99999",
    ]
    assert plain(table(columns, rows, 20)[1]) == "bpm01  1.157 MHz"
    assert plain(table(columns, rows, 10)[1]) == "bpm01"
    assert plain(table(columns, rows, 2)[1]) == "bpm01"


def test_the_row_under_the_cursor_is_marked_over_the_whole_width() -> None:
    row = table([Column("A")], [[Span("1")], [Span("2")]], 10, cursor=1)[2]
    assert row[0].style == "cursor"
    assert width_of(row) == 10


def press(view: View, *keys: str, orbit: Orbit | None = None) -> list[Action]:
    """Presses keys; those of one character are that character."""

    class Shown:
        """What keys are told of what is shown."""

        @property
        def orbit(self) -> Orbit | None:
            """The orbit that the test gave."""
            return orbit

        @property
        def feedback(self) -> None:
            """There is none."""

        @property
        def standby(self) -> None:
            """The server is alone."""

    named = {" ": "space"}
    return [view.press(named.get(key, key), key if len(key) == 1 else None, PAGES, Shown()) for key in keys]


def test_keys_turn_pages() -> None:
    view = View()
    press(view, "3")
    assert view.page == "streams"
    press(view, "tab", "right", "shift+tab", "left", "left")
    assert view.page == "ports"
    press(view, "1", "left")
    assert view.page == "standby"
    press(view, "9")
    assert view.page == "supplies"
    press(view, "0")
    assert view.page == "applications"


def test_keys_move_sort_and_open() -> None:
    view = View(page="streams", row_names=["a", "b", "c"])
    press(view, "down", "down", "down", "down", "up")
    assert view.cursor["streams"] == 1
    press(view, "s", "s", "S")
    assert (view.sort["streams"], view.reverse["streams"]) == (2, True)
    press(view, "enter", "down")
    assert (view.detail, view.scroll) == ("b", 1)
    press(view, "escape")
    assert view.detail is None
    press(view, "6", "pagedown", "up")
    assert view.scroll == 9


def test_letters_go_into_the_filter_while_it_is_typed() -> None:
    view = View(page="streams")
    assert press(view, "/", "q", "r", "x", "backspace") == [Action.NONE] * 5
    assert (view.filter, view.typing) == ("qr", True)
    press(view, "enter")
    assert view.matches("aQRb")
    assert not view.matches("bpm01")
    press(view, "escape")
    assert view.filter == ""
    press(view, "/", "a", "escape")
    assert (view.filter, view.typing) == ("", False)


def test_what_keys_ask_for() -> None:
    assert press(View(), "r", "q") == [Action.RESET, Action.QUIT]
    view = View(page="orbit")
    zeros = np.zeros(1)
    orbit = Orbit(1, 1, ("bpm01",), zeros, zeros, "nm")
    press(view, "o", " ", "?", orbit=orbit)
    assert view.reference is orbit
    assert view.frozen
    assert view.help
    press(view, "O", " ", "escape")
    assert view.reference is None
    assert not view.frozen
    assert not view.help


NO_CLOCK = ClockFigures(False, 0, 0.0, 0.0, 0, 0, 0, 0, 0)


def reading(set_name: str, name: str, **now: int) -> Reading:
    """A counter block that is zero but for what is given, two seconds after it was all zero."""
    zero = {counter.name: 0 for counter in COUNTERS[set_name]}
    return Reading(name, zero | now, zero, {}, 2.0)


def test_every_advice_is_about_a_counter_that_exists() -> None:
    known = {(set_name, counter.name) for set_name, counters in COUNTERS.items() for counter in counters}
    assert set(ADVICE) <= known


def test_what_somebody_took_is_not_refused() -> None:
    parts = {"decoded": 80, "fragment": 9, "not_udp": 6, "not_our_port": 2, "bad_magic": 3}
    assert sum(parts.values()) == 100
    figures = port_figures(reading("port", "ring", received=100, punted=5, **parts))
    assert (figures.refused, figures.foreign, figures.malformed) == (6, 8, 3)
    assert port_figures(reading("port", "ring", received=100, **parts)).malformed == 3


def test_a_record_without_a_clock_is_refused_once() -> None:
    assert stream_figures(reading("stream", "bpm01", unanchored=4, turn_ahead=1), Unsent(), "bpm", 1e6, ()).refused == 5


def test_faults_are_what_is_wrong_newest_change_first() -> None:
    watch = FaultWatch()

    def look(now_s: float, **port: int) -> list[str]:
        readings = {"port": [reading("port", "ring", received=1000, not_ipv4=3, **port)]}
        faults = watch.look(readings, [], [], NO_CLOCK, now_s)
        return [f"{fault.counter} {fault.count}" for fault in faults]

    assert look(1.0, bad_magic=5, too_short=1) == ["bad_magic 5", "too_short 1"]
    assert look(2.0, bad_magic=5, too_short=2) == ["too_short 2", "bad_magic 5"]
    assert look(3.0, bad_magic=5, too_short=2, wrong_vlan=1) == ["wrong_vlan 1", "too_short 2", "bad_magic 5"]
    assert look(4.0) == []


def test_a_cycle_that_no_ring_waits_for_yet_is_no_fault() -> None:
    readings = {"transmit": [reading("transmit", "", skipped=18, unsent=1)]}

    def faults(simulated: bool) -> set[str]:
        return {fault.counter for fault in FaultWatch().look(readings, [], [], NO_CLOCK, 0.0, simulated)}

    assert (faults(False), faults(True)) == ({"skipped", "unsent"}, {"unsent"})


def test_what_was_never_sent_is_not_lost() -> None:
    came = reading("stream", "bpm07", accepted=100, skipped=9, out_of_order=2)
    for unsent in (
        let_pass(reading("sender", "bpm", skipped_turns=250), 50),
        not_asked_for(reading("transmit", "", skipped=5)),
    ):
        figures = stream_figures(came, unsent, "bpm", 1e6, ())
        assert (figures.unsent, figures.lost, figures.lost_per_s) == (5, 0, 1.0)
        assert stream_figures(came._replace(before=came.now), unsent, "bpm", 1e6, ()).lost == 2


def test_a_turn_is_lost_after_it_was_missing_for_a_whole_look() -> None:
    """Until then it may come out of order, or its sender may count it as unsent."""
    missing = reading("stream", "bpm07", skipped=9)
    assert stream_figures(missing, Unsent(), "bpm", 1e6, ()).lost == 0
    later = missing._replace(before=missing.now, now={**missing.now, "out_of_order": 2})
    assert stream_figures(later, Unsent(3), "bpm", 1e6, ()).lost == 4


def test_a_supply_shows_the_most_serious_of_its_states() -> None:
    supply = SupplyFigures("sr/ch01", "c01", "A", -10, 10, 1.0, 1.0, ["held", "joining", "lost"])
    assert supply.worst == "lost"
    assert replace(supply, state=[]).worst == "good"
    assert set(BY_SEVERITY) == {bit.name.lower() for bit in SupplyState}


def test_lost_turns_never_become_fewer(make_owner: MakeOwner) -> None:
    """Until counting begins anew: also where the sender counts turns as unsent before the server misses them."""
    sender = fabric.counters("sender/bpm", "sender")
    specs = [fabric.stream("bpm01/turn", capacity=64), fabric.counters("stream/bpm01", "stream", skipped=9), sender]
    owner = make_owner(specs)
    with ringmaster.attach("demo") as ws:
        monitor = Monitor(ws)
        assert [stream.lost for stream in monitor.look().streams] == [9]
        owner.set_counter("sender/bpm", "skipped_turns", 5)
        assert [(stream.lost, stream.unsent) for stream in monitor.look().streams] == [(9, 5)]
        monitor.reset()
        assert [stream.lost for stream in monitor.look().streams] == [0]


def test_lost_silent_and_saturated_are_faults() -> None:
    block = reading("stream", "bpm01", accepted=100, skipped=9, out_of_order=2)
    assert stream_figures(block, Unsent(), "bpm", 0.0, ()).lost_per_s == 3.5
    block = block._replace(before={**block.before, "skipped": 9})
    lost = stream_figures(block, Unsent(), "bpm", 0.0, ())
    assert (lost.lost, lost.out_of_order, lost.received, lost.rate_hz) == (7, 2, 102, 51.0)
    core = core_figures(reading("core", "1", busy_ticks=99, idle_ticks=1, bursts=2, packets=9), 1e9)
    assert (core.busy_share, core.packets_per_burst) == (0.99, 4.5)
    faults = FaultWatch().look({}, [lost], [core], NO_CLOCK, 0.0)
    assert [(fault.kind, fault.counter, fault.count, fault.severe) for fault in faults] == [
        ("instrument", "lost", 7, True),
        ("core", "busy", 99, False),
    ]


def test_what_most_instruments_suffer_is_not_their_timing() -> None:
    def advice(*behind: int) -> set[str]:
        readings = [reading("stream", f"bpm{i}", turn_behind=count) for i, count in enumerate(behind)]
        return {fault.advice for fault in FaultWatch().look({"stream": readings}, [], [], NO_CLOCK, 0.0)}

    for behind in ((5, 0, 0), (7,), (5, 0), (3, 3, 0, 0)):
        assert all("timing input" in text for text in advice(*behind)), behind
    for behind in ((5, 4, 3), (1, 1), (9, 9, 0)):
        assert all("host and the sender" in text and "timing input" not in text for text in advice(*behind)), behind


def test_an_instrument_out_of_phase_is_a_fault_beyond_the_limit() -> None:
    clock = replace(NO_CLOCK, phase_limit_turns=2048)

    def faults(**phase: int) -> list[tuple[str, int, str]]:
        stream = stream_figures(reading("stream", "bpm03", **phase), Unsent(), "bpm", 0.0, ())
        return [(fault.counter, fault.count, fault.unit) for fault in FaultWatch().look({}, [stream], [], clock, 0.0)]

    assert faults(phase_behind=2048) == faults(phase_ahead=7) == []
    assert faults(phase_behind=19272) == [("phase_turns", 19272, "turns behind the clock")]
    assert faults(phase_ahead=2049) == [("phase_turns", 2049, "turns ahead of the clock")]


def test_while_the_rate_is_a_guess_instruments_are_measured_by_what_was_counted() -> None:
    nonsense = replace(NO_CLOCK, anchored=True, turn_rate_hz=2.9e6, measured_turn_rate_hz=284e3)
    assert nonsense.expected_turn_rate_hz == 284e3
    assert replace(nonsense, turn_rate_hz=285e3, supported=True).expected_turn_rate_hz == 285e3


def test_steering_is_read_line_by_line() -> None:
    rows = read_steering("bpm01 ring 0 receive 1 flow rule by address\nnonsense\nbpm02 ring - receive 2 rss\n")
    assert [(row.instrument, row.queue, row.core, row.method) for row in rows] == [
        ("bpm01", "0", "1", "flow rule by address"),
        ("bpm02", "-", "2", "rss"),
    ]


def test_the_history_keeps_a_minute_and_its_copy_stays() -> None:
    history = History()
    for second in range(70):
        history.keep("all", "", "rate", float(second))
    still = history.copy()
    history.keep("all", "", "rate", 70.0)
    assert history.of("all", "", "rate") == [float(second) for second in range(11, 71)]
    assert still.of("all", "", "rate")[-1] == 69.0
    assert history.of("all", "", "lost") == []


def test_the_highest_lines_are_found_and_none_in_noise() -> None:
    turns = np.arange(8192)
    noise = np.random.default_rng(1).normal(size=8192)
    signal = 500 * np.sin(2 * np.pi * 0.25 * turns) + 100 * np.sin(2 * np.pi * 0.125 * turns) + noise
    amplitude = spectrum(signal)[1]
    peaks = find_peaks(amplitude)
    assert [peak.tune for peak in peaks[:2]] == [0.25, 0.125]
    assert [peak.amplitude for peak in peaks[:2]] == pytest.approx([500, 100], rel=0.02)
    assert len(find_peaks(np.ones(4097))) == 0
    assert folded(amplitude, 100).max() == amplitude.max()
    assert len(folded(amplitude, 100)) == 100

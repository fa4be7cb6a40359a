# SPDX-License-Identifier: Apache-2.0
"""What stands on the pages, of a workspace that has something of everything."""

import re
from collections.abc import Iterator

import fabric
import numpy as np
import numpy.typing
import pytest
from conftest import MakeOwner

import ringmaster
from ringmaster.cli import top
from ringmaster.console import screen
from ringmaster.console.lines import Span, plain, width_of
from ringmaster.console.pages import PAGE_NAMES, overview, page_named
from ringmaster.console.pages.cores import histogram
from ringmaster.console.view import View
from ringmaster.console.watch import Wanted, Watch
from ringmaster.fabric.histogram import HistogramReading
from ringmaster.fabric.layout import ApplicationState, ElementType, InstrumentKind, LaneType, SupplyState

INSTRUMENTS = [f"bpm{i:03d}" for i in range(1, 97)]
Lane = np.typing.NDArray[np.int64]
SIZES = [(80, 24), (120, 40), (200, 60)]
STEERING = "\n".join(f"{name} red {i % 4} receive 2 flow rule by source address" for i, name in enumerate(INSTRUMENTS))


@pytest.fixture
def watch(make_owner: MakeOwner) -> Iterator[Watch]:
    """96 instruments on two mirrored networks, with large counts, faults and turns."""
    specs = [
        fabric.clock(anchored=1, ticks_per_turn_bits=2000.0, tsc_hz_bits=2e9),
        fabric.counters("clock/receive", "clock", anchors=1, streams_live=96),
        fabric.parameter("server/steering", np.frombuffer(STEERING.encode(), "u1"), "utf-8", ElementType.U8),
        fabric.histogram("latency/receive/0", {100: 10**9, 150: 1000}, 100_000, about="from its arrival on"),
        fabric.counters("core/2", "core", core=2, busy_ticks=3, idle_ticks=1, wait_ns=700, longest_wait_ns=2000),
    ]
    big = 123_456_789_012
    for port in ("red", "blue"):
        specs.append(fabric.counters(f"port/{port}", "port", received=big, decoded=big - 9, bad_length=9, answered=5))
    for name in INSTRUMENTS:
        specs.append(fabric.stream(f"{name}/turn", capacity=2048) if name != "bpm001" else swinging(name))
        specs.append(fabric.stream(f"{name}/slow", period=120, filter=b"sharp"))
        specs.append(fabric.counters(f"stream/{name}", "stream", accepted=big, mirrored=big))
        specs.append(fabric.counters(f"path/{name}/red", "path", received=big, first=big))
        specs.append(fabric.counters(f"path/{name}/blue", "path", received=big - 77, second=big - 77, lost=77))
    make_owner(specs)
    with ringmaster.attach("demo") as ws:
        watch = Watch(ws)
        history, snapshot = watch.look().history, watch.look().snapshot
        none = np.zeros(976, np.uint64)
        some = none.copy()
        some[[30, 40, 100, 300]] = 123, 10**7, 10**4, 1
        for bucket in (none, some, some + some):
            history.keep_snapshot(snapshot, {"latency/receive/0": HistogramReading(bucket, 123_456_789.0, 0.5)})
        yield watch


def swinging(name: str) -> fabric.Spec:
    """A beam that swings every 4 turns in x and every 8 in y, around 500 nm and 50 nm."""
    turn = np.arange(1, 9000)
    return moving(name, (turn % 4 - 1) * 1000, (turn % 8 - 3) * 100)


def moving(name: str, x: Lane, y: Lane) -> fabric.Spec:
    """Turns 1…8999 of a BPM, in nm."""
    stream = fabric.stream(f"{name}/turn", capacity=16384, head=8999, first=1)
    slots = np.frombuffer(stream.content, "<u8", offset=fabric.PAGE).reshape(-1, 8).copy()
    slots[1:9000, 0], slots[1:9000, 1] = np.arange(1, 9000), 5 << 48
    slots.view("<i4")[1:9000, 4], slots.view("<i4")[1:9000, 5] = x, y
    stream.content = stream.content[: fabric.PAGE] + slots.tobytes()
    return stream


def drawn(watch: Watch, view: View, width: int, height: int) -> list[str]:
    """The screen; nothing in it is wider than the terminal, and nothing of it was cut off."""
    frame = watch.look(Wanted(view.page, view.detail if view.page == "streams" else None))
    lines = screen.draw(frame, view, width, height)
    assert len(lines) == height
    assert max(map(width_of, lines)) <= width
    return [plain(spans) for spans in lines]


def test_the_command_line_knows_all_pages() -> None:
    """It has a list of its own, for it starts without the console."""
    assert top.PAGE_NAMES == PAGE_NAMES


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("page", PAGE_NAMES)
def test_no_page_is_cut_at_the_side(watch: Watch, page: str, size: tuple[int, int]) -> None:
    width, height = size
    view = View(page)
    drawn(watch, view, width, height)
    whole = page_named(page).draw(watch.look(Wanted(page)), view, width - 2, None)
    assert max(map(width_of, whole)) <= width - 2, [plain(spans) for spans in whole if width_of(spans) > width - 2]


@pytest.mark.parametrize("size", SIZES)
def test_neither_details_nor_help_are_cut_at_the_side(watch: Watch, size: tuple[int, int]) -> None:
    width, _ = size
    for view in (View("streams", detail="bpm001"), View("ports", detail="red"), View("orbit", help=True)):
        text = drawn(watch, view, width, 200)
        assert all(len(row) < width for row in text)


def test_a_page_of_instruments_follows_its_cursor(watch: Watch) -> None:
    view = View("streams")
    text = "\n".join(drawn(watch, view, 80, 24))
    assert "1–18 of 96" in text
    assert "bpm019" not in text
    view.cursor["streams"] = 95
    text = "\n".join(drawn(watch, view, 80, 24))
    assert "bpm096" in text
    assert "79–96 of 96" in text
    view.filter = "m04"
    text = "\n".join(drawn(watch, view, 80, 24))
    assert len(re.findall(r"^ bpm\d+", text, re.MULTILINE)) == 10


def test_details_say_everything_about_an_instrument(watch: Watch) -> None:
    text = "\n".join(drawn(watch, View("streams", detail="bpm001"), 80, 200))
    for words in ("id 7, sent from 10.0.0.1", "bpm001/slow", "120 turns", "sharp", "status 0x0005  bits set: 0, 2"):
        assert words in text
    assert re.search(r"x1 +2000 nm", text)
    assert re.search(r"accepted +123.5G records +stored as the newest turn", text)
    assert re.search(r"Network blue.*lost +77 records", text, re.DOTALL)


def test_links_show_loss_and_steering_of_each_instrument(watch: Watch) -> None:
    text = "\n".join(drawn(watch, View("links"), 80, 24))
    assert re.search(r"blue +96 +7392 +6.2e-08 %", text)
    assert re.search(r"bpm001 +red +0 % +0 +2 +flow rule by source address", text)
    assert "96 networks  lost  7392 records" in "\n".join(drawn(watch, View("faults"), 80, 24))
    view = View("links", scroll=10**6)
    assert "bpm096" in drawn(watch, view, 80, 24)[-2]


def test_orbit_and_tune_are_drawn(watch: Watch) -> None:
    text = "\n".join(drawn(watch, View("orbit"), 80, 24))
    assert re.search(r"x  rms 500 nm +mean 500 nm +most 500 nm at bpm001", text)
    assert "█" in text
    text = "\n".join(drawn(watch, View("tune"), 80, 24))
    assert "tune 0.25000" in text
    assert "tune 0.12500" in text
    assert text.count("▼0.2500") >= 1
    assert "┴0.5" in text


def test_noise_alone_has_no_tune(make_owner: MakeOwner) -> None:
    x, y = np.random.default_rng(1).integers(-500, 500, (2, 8999))
    make_owner([fabric.clock(anchored=1, ticks_per_turn_bits=2000.0, tsc_hz_bits=2e9), moving("bpm001", x, y)])
    with ringmaster.attach("demo") as ws:
        watch = Watch(ws)
        for page in ("overview", "tune"):
            text = "\n".join(drawn(watch, View(page), 80, 24))
            assert "no line above the noise" in text
            assert not re.search(r"tune +x? *0\.", text)


def test_the_simulated_tune_is_that_of_the_lattice_as_it_stands(make_owner: MakeOwner) -> None:
    tunes = {"ring/tune_x": 0.26, "ring/tune_y": 0.13, "machine/tune_x": 0.25, "machine/tune_y": 0.125}
    specs = [fabric.parameter(name, np.array([tune]), "1/turn", ElementType.F64) for name, tune in tunes.items()]
    clock = fabric.clock(anchored=1, ticks_per_turn_bits=2000.0, tsc_hz_bits=2e9)
    make_owner([clock, swinging("bpm001"), *specs])
    with ringmaster.attach("demo") as ws:
        watch = Watch(ws)
        assert "simulated 0.25000, 0.12500" in "\n".join(drawn(watch, View("overview"), 80, 24))
        assert "simulated 0.12500" in "\n".join(drawn(watch, View("tune"), 80, 24))


def test_a_reference_orbit_is_subtracted(watch: Watch) -> None:
    view = View("orbit", reference=watch.look(Wanted("orbit")).orbit)
    text = "\n".join(drawn(watch, view, 80, 24))
    assert "difference to turn 8999" in text
    assert re.search(r"x  rms 0 m", text)


def test_cores_show_how_polling_waits(watch: Watch) -> None:
    text = "\n".join(drawn(watch, View("cores"), 80, 24))
    assert "700 ns/2.00 µs" in text
    assert re.search(r"Latency of receive/0 .*from its arrival on", text), "as its owner describes it"


@pytest.mark.parametrize("label", ["lost", "p99 age/feedback"])
def test_a_long_name_leaves_its_figure_in_the_column(label: str) -> None:
    row = plain(overview._row(label, "2.5 µs", [], 20, Span("so far")))
    assert row.index("2.5 µs") + len("2.5 µs") == 28


@pytest.mark.parametrize("width", [78, 118, 198])
@pytest.mark.parametrize("longest", [30, 100, 200, 400, 600])
def test_a_histogram_fills_its_width_whatever_is_in_it(longest: int, width: int) -> None:
    bucket = np.zeros(976, np.uint64)
    bucket[[20, longest]] = 10**6, 1
    lines = [plain(spans) for spans in histogram(HistogramReading(bucket, 1e9, 0.5), width, 6)]
    assert max(map(len, lines)) <= width
    assert lines[5].count("█") + lines[5].count("▁") >= 1
    labels = re.split(r"  +| (?=\d)", lines[7].strip())
    assert all(re.fullmatch(r"10{0,2} [nµmkMG]?s", label) for label in labels)
    assert lines[6].count("┴") / 2 < len(labels) <= lines[6].count("┴")


SUPPLIES = [f"sr/ps/ch_s{chain:02d}_{number:02d}" for chain in (1, 2) for number in (1, 2)]


@pytest.fixture
def driving(make_owner: MakeOwner) -> Iterator[Watch]:
    """Two chains of two supplies, one of which has tripped, and an application that asked for too much."""
    states = np.array([0, SupplyState.TRIPPED, SupplyState.SLEWING, SupplyState.LOST], "<u4")
    lanes = [("sequence", "", LaneType.I32), ("state", "", LaneType.I32), ("i01", "A", LaneType.F32)]
    lanes.append(("i02", "A", LaneType.F32))
    specs = [
        fabric.clock(anchored=1, ticks_per_turn_bits=2000.0, tsc_hz_bits=2e9),
        fabric.text("supply/names", "\n".join(SUPPLIES)),
        fabric.parameter("supply/state", states, "bits", ElementType.U32),
        fabric.setpoints("sent", [[1.0, 2.0, -3.0, 4.0]]),
        fabric.grant("operator"),
        fabric.grant(
            "ramp",
            {"refusal": 6, "actuator": 1, "value": 12.5, "limit": 10.0, "turn": 99, "vector": 7},
            state=ApplicationState.RUNNING,
            pid=4711,
            grant_number=3,
        ),
        fabric.counters("guard/operator", "guard"),
        fabric.counters("guard/ramp", "guard", vectors=1000, taken=1000, refused_high=3),
        fabric.counters("transmit", "transmit", cycles=1000),
    ]
    for chain in ("c01", "c02"):
        specs.append(fabric.counters(f"chain/{chain}", "chain", sent=1000, answered=990, unanswered=10, trips=1))
        specs.append(fabric.stream(f"{chain}/raw", kind=InstrumentKind.POWER_SUPPLY, period=12, lanes=lanes))
    for name in SUPPLIES:
        for what in ("setpoint", "readback"):
            limits = {"control_low": -10.0, "control_high": 10.0}
            specs.append(fabric.parameter(f"{name}/{what}", np.array([0.5]), "A", ElementType.F64, limits))
    make_owner(specs)
    with ringmaster.attach("demo") as ws:
        yield Watch(ws)


def test_only_what_a_sender_let_pass_is_unsent(make_owner: MakeOwner) -> None:
    """A chain has nothing to answer where no setpoints went out."""
    lanes = [("sequence", "", LaneType.I32)]
    specs = [
        fabric.counters("transmit", "transmit", skipped=18),
        fabric.counters("chain/c01", "chain"),
        fabric.counters("stream/c01", "stream", skipped=18),
        fabric.stream("c01/raw", kind=InstrumentKind.POWER_SUPPLY, period=12, lanes=lanes),
    ]
    sender = [
        fabric.counters("sender/bpm", "sender", skipped_turns=5),
        fabric.counters("stream/bpm01", "stream", skipped=5),
        fabric.stream("bpm01/turn"),
    ]
    make_owner(specs)
    make_owner([*specs, *sender], "other")
    with ringmaster.attach("demo") as ws:
        header = drawn(Watch(ws), View("overview"), 100, 40)[0]
        assert "lost 0" in header
        assert "unsent" not in header
    with ringmaster.attach("other") as ws:
        assert "lost 0  unsent 5" in drawn(Watch(ws), View("overview"), 100, 40)[0]


def test_the_page_of_supplies_says_who_is_not_well(driving: Watch) -> None:
    text = "\n".join(drawn(driving, View("supplies"), 120, 40))
    assert "2 of 4 good" in text
    assert re.search(r"ch_s01_01 .* 1 .* good", text)
    assert re.search(r"ch_s01_02 .* 2 .* tripped", text)
    assert re.search(r"ch_s02_02 .* 4 .* lost", text)
    assert re.search(r"c01 .* 10 ", text)


def test_details_of_a_supply_say_what_to_do_about_its_chain(driving: Watch) -> None:
    text = "\n".join(drawn(driving, View("supplies", detail="sr/ps/ch_s01_02"), 120, 40))
    assert "Its chain, c01" in text
    assert "a supply tripped" in text
    assert "Reset it there" in text


def test_the_page_of_applications_says_what_was_refused(driving: Watch) -> None:
    text = "\n".join(drawn(driving, View("applications"), 120, 40))
    assert re.search(r"ramp +running", text)
    assert re.search(r"operator +by hand", text)
    view = View("applications")
    view.cursor["applications"] = 1
    text = "\n".join(drawn(driving, view, 120, 40))
    assert "12.5 is above the upper limit, 10" in text


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("page", ["supplies", "applications"])
def test_no_page_of_what_moves_the_machine_is_cut(driving: Watch, page: str, size: tuple[int, int]) -> None:
    width, height = size
    drawn(driving, View(page), width, height)
    whole = page_named(page).draw(driving.look(Wanted(page)), View(page), width - 2, None)
    assert max(map(width_of, whole)) <= width - 2, [plain(spans) for spans in whole if width_of(spans) > width - 2]


@pytest.mark.parametrize("size", SIZES)
def test_ports_that_generate_have_a_line_of_their_own(make_owner: MakeOwner, size: tuple[int, int]) -> None:
    make_owner(
        [
            fabric.counters("port/ring", "port"),
            fabric.counters("generator/ring", "generator", sent=10**9, received=77, refused=2, skipped=1, late=5),
        ]
    )
    with ringmaster.attach("demo") as ws:
        frame = Watch(ws).look()
        lines = page_named("ports").draw(frame, View("ports"), *size)
    assert all(width_of(spans) <= size[0] for spans in lines)
    text = "\n".join(map(plain, lines))
    assert "Packet generator  `ringmaster generate --attach demo`" in text
    assert re.search(r"ring +0 /s +0 /s +1\.000G +77 +3 +5", text), text
    assert frame.snapshot.generators[0].unsent == 3

# SPDX-License-Identifier: Apache-2.0
"""The page of the orbit feedback: its figures, what its keys ask for, and how it is drawn."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import fabric
import numpy as np
import pytest
from conftest import MakeOwner

import ringmaster
from ringmaster.console import screen
from ringmaster.console.lines import plain, width_of
from ringmaster.console.pages import PAGES, page_named
from ringmaster.console.report import as_json
from ringmaster.console.view import Action, View
from ringmaster.console.watch import Wanted, Watch
from ringmaster.fabric.layout import ElementType, LaneType
from ringmaster.feedback.loop import Feedback
from ringmaster.feedback.names import State
from ringmaster.monitor.feedback import (
    FeedbackFigures,
    Motion,
    Motions,
    decibel,
    power_of,
    presses,
    read_feedback,
    read_motion,
)

TURN_RATE_HZ = 1_200_000.0
PERIOD = 120
RECORDS = 8192
SIZES = [(80, 24), (120, 40), (200, 60)]
LANES = ("rms_x", "rms_y", "worst_x", "worst_y", "setpoint_rms_x", "setpoint_rms_y", "missing", "saturated", "state")
NUMBERS = {
    "loop": 1,
    "state": 3,
    "enable_conditions": 0b10,
    "cause": 0b10,
    "rms_x": 12.5,
    "rms_y": 3.25,
    "cumulated_x": 14,
    "cumulated_y": 4,
    "bpms_used": 3,
    "bpms_substituted": 17,
    "saturated": 1,
    "beam": 10,
    "mains_hz": 50.02,
    "generation": 3,
    "solve_ms": 42,
    "modes": 0,
    "gain": 1,
    "rf_offset": -1.5,
    "shadow_rms": 0,
    "latency_ns": 104000,
    "resonators": 1,
    "track": 1,
    "rf": 1,
    "unload": 1,
    "shadow": 0,
    "gate": 1,
}


def moving(name: str, amplitude_nm: float, hz: float) -> fabric.Spec:
    """Turns of a BPM that moves as a sine in x and does not move in y."""
    first, count = 1_000_080, 16000
    stream = fabric.stream(f"{name}/raw", capacity=16384, period=PERIOD, head=first + (count - 1) * PERIOD, first=first)
    slots = np.frombuffer(stream.content, "<u8", offset=fabric.PAGE).reshape(-1, 8).copy()
    turn = first + np.arange(count) * PERIOD
    at = (turn // PERIOD) % 16384
    slots[at, 0], slots[at, 1] = turn, 0
    slots.view("<i4")[at, 4] = np.round(amplitude_nm * np.sin(2 * np.pi * hz * turn / TURN_RATE_HZ))
    stream.content = stream.content[: fabric.PAGE] + slots.tobytes()
    return stream


@pytest.fixture
def held(make_owner: MakeOwner) -> Iterator[Watch]:
    """A feedback that holds because the beam is gone; two BPMs, one reading of which is out; a living machine."""
    specs = [
        fabric.clock(anchored=1, ticks_per_turn_bits=2e9 / TURN_RATE_HZ, tsc_hz_bits=2e9),
        moving("bpm01", 5000, 50),
        moving("bpm02", 5000, 50),
        fabric.stream("feedback/orbit", period=PERIOD, lanes=[(lane, "", LaneType.F32) for lane in LANES]),
        *(
            fabric.parameter(f"feedback/{name}", np.array([float(value)]), "", ElementType.F64)
            for name, value in NUMBERS.items()
        ),
        fabric.parameter("feedback/bpm_state", np.array([0.0, 0.0, 9.0, 0.0]), "", ElementType.F64),
        fabric.parameter("feedback/actuator_state", np.array([0.0, 4.0]), "", ElementType.F64),
        fabric.parameter("feedback/singular", np.array([1e5, 1e3, 0.0]), "nm", ElementType.F64),
        fabric.parameter("machine/mains", np.array([1.0]), "", ElementType.F64),
        fabric.parameter("machine/ground", np.array([0.0]), "", ElementType.F64),
    ]
    make_owner(specs)
    with ringmaster.attach("demo") as ws:
        yield Watch(ws)


def figures_of(watch: Watch) -> FeedbackFigures:
    figures = read_feedback(watch.ws)
    assert figures is not None
    return figures


@pytest.mark.parametrize("count", [512, 8192])
def test_a_spectrum_keeps_the_mean_square_and_a_lines_amplitude(count: int) -> None:
    """Also of a line between bins, and where records are missing."""
    rate = 10_000.0
    time = np.arange(count) / rate
    values = 3.0 + 2.0 * np.sin(2 * np.pi * 1003.3 * time)
    values[5] = np.nan
    power = power_of(values)
    motion = Motion(np.arange(1, len(power) + 1) * rate / count, power, power)
    assert motion.rms_um("x") == pytest.approx(np.sqrt(2.0), rel=0.02)
    assert motion.rms_um("x", 500) < 0.1
    assert motion.span_s == pytest.approx(count / rate)
    if count > 512:  # a bin is narrower than the line's window
        assert motion.line_um("x", 1003) == pytest.approx(2.0, rel=0.02)


def test_decibels_are_of_amplitudes() -> None:
    assert decibel(10, 1) == pytest.approx(20)
    assert np.isnan(decibel(0, 1))


def test_the_application_tells_all_that_is_read() -> None:
    tables = Path(__file__).resolve().parents[2] / "apps/feedback/state/names.c"
    assert set(NUMBERS) <= set(re.findall(r'\{\.name = "(\w+)"', tables.read_text()))


def test_figures_come_from_the_parameters(held: Watch) -> None:
    figures = figures_of(held)
    assert figures.state == State.HOLD
    assert figures.missing == ("no beam",)
    assert figures.rms_um == (12.5, 3.25)
    assert [(one.name, one.why) for one in figures.rows_out] == [("row 2", ("masked", "frozen"))]
    assert [(one.name, one.why) for one in figures.actuators_out] == [("actuator 1", ("saturated",))]
    assert figures.modes == 2
    assert figures.condition == pytest.approx(100)
    assert figures.disturbances == {"mains": 1.0, "ground": 0.0}
    plain_figures = as_json(held.look().snapshot)["feedback"]
    assert plain_figures["state"] == "hold"
    assert plain_figures["rows_out"][0]["why"] == ("masked", "frozen")


def test_readings_and_actuators_out_have_their_names(held: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the matrix, where its file can be found."""
    monkeypatch.setattr(Feedback, "rows", ("bpm001/x", "bpm001/y", "bpm002/x", "bpm002/y"))
    monkeypatch.setattr(Feedback, "actuators", ("sr/ps/ch1", "sr/ps/ch2"))
    figures = figures_of(held)
    assert [one.name for one in figures.rows_out] == ["bpm002/x"]
    assert [one.name for one in figures.actuators_out] == ["sr/ps/ch2"]


def test_a_beam_that_is_not_watched_is_not_called_zero(held: Watch) -> None:
    figures = replace(figures_of(held), beam=float("nan"))
    frame = held.look(Wanted("feedback"))
    frame = replace(frame, snapshot=replace(frame.snapshot, feedback=figures))
    text = "\n".join(map(plain, page_named("feedback").draw(frame, View("feedback"), 100, None)))
    assert "beam not watched" in text


@pytest.mark.parametrize(("decade", "text"), [(3, "1000"), (0, "1"), (-2, "0.01")])
def test_the_scale_of_a_spectrum_is_a_plain_number(held: Watch, decade: int, text: str) -> None:
    motion = read_motion(held.ws, "feedback")
    assert motion is not None
    density = np.sqrt(motion.x.max() * motion.span_s)
    scaled = replace(motion, x=motion.x * (10.0**decade / density) ** 2 * 0.9)
    frame = replace(held.look(Wanted("feedback")), motions=Motions(scaled, scaled, scaled))
    drawn = "\n".join(map(plain, page_named("feedback").draw(frame, View("feedback"), 100, None)))
    assert re.search(rf"^ +{re.escape(text)} ", drawn, re.MULTILINE)
    assert "10^" not in drawn


def test_the_motion_of_the_bpms_is_a_spectrum(held: Watch) -> None:
    motion = read_motion(held.ws, "feedback")
    assert motion is not None
    assert motion.line_um("x", 50) == pytest.approx(5.0, rel=0.01)
    assert motion.rms_um("y") == 0
    assert motion.hz[-1] == pytest.approx(TURN_RATE_HZ / PERIOD / 2)


def test_no_feedback_is_reported_and_no_failure(make_owner: MakeOwner) -> None:
    make_owner([fabric.clock()])
    with ringmaster.attach("demo") as ws:
        assert read_feedback(ws) is None
        frame = Watch(ws).look(Wanted("feedback"))
        assert "no orbit feedback runs here" in plain(page_named("feedback").draw(frame, View("feedback"), 80, None)[0])
        assert as_json(frame.snapshot)["feedback"] is None


@pytest.mark.parametrize(
    ("key", "asked"),
    [
        ("l", [("feedback/loop", 0.0)]),
        ("h", [("feedback/loop", 2.0)]),
        ("n", [("feedback/resonators", 0.0)]),
        ("w", [("feedback/shadow", 1.0)]),
        ("d", [("machine/mains", 0.0), ("machine/ground", 0.0)]),
        ("b", []),
        ("z", []),
    ],
)
def test_keys_ask_for_the_other_value(held: Watch, key: str, asked: list[tuple[str, float]]) -> None:
    assert presses(figures_of(held), key) == asked
    view = View("feedback")
    action = view.press(key, key, PAGES, held.look())
    assert action == (Action.ASK if asked else Action.NONE)
    assert view.asked == asked


def test_keys_ask_for_nothing_on_other_pages(held: Watch) -> None:
    assert View("orbit").press("l", "l", PAGES, held.look()) == Action.NONE


def test_a_loop_that_is_off_is_switched_on_and_quiet_disturbances_too(held: Watch) -> None:
    quiet = replace(figures_of(held), wanted=0.0, disturbances={"mains": 0.0})
    assert presses(quiet, "l") == [("feedback/loop", 1.0)]
    assert presses(quiet, "d") == [("machine/mains", 1.0)]


def test_one_key_loses_the_beam_and_injects_again(held: Watch) -> None:
    stored = replace(figures_of(held), current_ma=400.0)
    assert presses(stored, "b") == [("ring/event", "event: rf_trip, for_turns: 20000")]
    assert presses(replace(stored, current_ma=0.0), "b") == [("ring/event", "event: injection")]


def test_what_nobody_sets_is_news(held: Watch) -> None:
    held.ask("feedback/loop", 0.0)
    assert "feedback/loop" in held.look().news


@pytest.mark.parametrize("size", SIZES)
def test_the_page_says_why_and_is_not_cut(held: Watch, size: tuple[int, int]) -> None:
    width, height = size
    motion = read_motion(held.ws, "feedback")
    assert motion is not None
    calm = replace(motion, x=motion.x * 1e-4)
    frame = replace(held.look(Wanted("feedback")), motions=Motions(calm, motion, calm))
    view = View("feedback")
    lines = screen.draw(frame, view, width, height)
    assert max(map(width_of, lines)) <= width
    whole = page_named("feedback").draw(frame, view, width - 2, None)
    assert max(map(width_of, whole)) <= width - 2, [plain(spans) for spans in whole if width_of(spans) > width - 2]
    text = "\n".join(map(plain, whole))
    assert re.search(r"HOLD +ON \(requested\)", text)
    assert "missing now: no beam" in text
    assert re.search(r"50 Hz +5\.00 µm +50\.0 nm +40\.0 dB", text)
    assert "row 2 masked, frozen" in text
    assert re.search(r"disturbances on", text)


def test_a_spectrum_is_of_the_loop_as_it_was_all_the_time(held: Watch) -> None:
    """Of a loop that has just been switched there is none."""
    assert held.look(Wanted("feedback")).motions.now is not None
    assert held.look(Wanted("feedback")).motions.open is None

# SPDX-License-Identifier: Apache-2.0
"""The page of the tune beside an application that measures it: figures, reasons, the tune's own spectrum, JSON."""

import json
import re
from collections.abc import Iterator, Mapping

import fabric
import numpy as np
import numpy.typing as npt
import pytest
from command import ringmaster as command_line
from conftest import MakeOwner

import ringmaster
from ringmaster.console import screen
from ringmaster.console.lines import plain, width_of
from ringmaster.console.pages import page_named
from ringmaster.console.report import as_json
from ringmaster.console.spectrogram import CELLS, Spectrogram, newest
from ringmaster.console.view import View
from ringmaster.console.watch import Wanted, Watch
from ringmaster.fabric.layout import ElementType, InstrumentKind, LaneType
from ringmaster.fabric.owned import Axis
from ringmaster.fabric.owner import Owner
from ringmaster.monitor.tune import REASONS, read_tune, reason_words
from ringmaster.monitor.tune_spectrum import read_tune_spectrum
from ringmaster.spectra.tune_window import TuneWindow

TURN_RATE_HZ = 1_200_000.0
PERIOD, OWN_PERIOD = 600, 512
SECONDS = 4.2
HANN = TuneWindow("hann", 8192)
TUNES = {"x": 0.28125, "y": 0.19375}
RIPPLE = {50.0: 2e-5, 100.0: 1e-5}
SIZES = [(80, 24), (120, 40), (200, 60)]
MEASURED = [f"{what}_{plane}" for what in ("tune", "sigma", "amplitude", "snr", "quality") for plane in "xy"]
Floats = npt.NDArray[np.float64]


def filled(
    name: str, period: int, lanes: Mapping[str, Floats], kind: InstrumentKind, number: str = "<f4"
) -> fabric.Spec:
    """A stream with a value of each lane in each record from turn ``period`` on."""
    count = len(next(iter(lanes.values())))
    capacity = 1 << (count + 1).bit_length()
    form = LaneType.F32 if number == "<f4" else LaneType.I32
    table = [(lane, "nm" if form == LaneType.I32 else "", form) for lane in lanes]
    head = count * period
    stream = fabric.stream(name, capacity=capacity, period=period, kind=kind, lanes=table, head=head, first=period)
    slots = np.frombuffer(stream.content, "<u8", offset=fabric.PAGE).reshape(-1, 8).copy()
    slots[1 : count + 1, 0] = np.arange(1, count + 1) * period
    for i, values in enumerate(lanes.values()):
        slots.view(number)[1 : count + 1, 4 + i] = values
    stream.content = stream.content[: fabric.PAGE] + slots.tobytes()
    return stream


def ripple(turns: Floats, window: TuneWindow | None) -> Floats:
    """Of the machine, or as a window leaves it and late."""
    total = np.zeros(len(turns))
    for hz, amplitude in RIPPLE.items():
        left = window.response(hz, TURN_RATE_HZ) if window else 1.0
        late = window.delay_turns if window else 0.0
        total += left * amplitude * np.sin(2 * np.pi * hz * (turns - late) / TURN_RATE_HZ)
    return total


def specs(quality: int = 0) -> list[fabric.Spec]:
    """A BPM, a tune application, and the ring's own tunes."""
    count = int(SECONDS * TURN_RATE_HZ / PERIOD)
    turns = np.asarray(np.arange(1, count + 1) * float(PERIOD), np.float64)
    own = np.asarray(np.arange(1, int(SECONDS * TURN_RATE_HZ / OWN_PERIOD) + 1) * float(OWN_PERIOD), np.float64)
    random = np.random.default_rng(1)
    lanes = {name: np.zeros(count) for name in MEASURED} | {"lost_turns": np.zeros(count), "bpms": np.ones(count)}
    for plane, tune in TUNES.items():
        lanes[f"tune_{plane}"] = tune + ripple(turns, HANN) + 2e-6 * random.standard_normal(count)
        lanes[f"sigma_{plane}"] += 5e-7
        lanes[f"amplitude_{plane}"] += 5000.0
        lanes[f"snr_{plane}"] += 200.0
    lanes["quality_x"][-1] = quality
    tunes = {f"tune_{plane}": tune + ripple(own, None) for plane, tune in TUNES.items()}
    turn = np.arange(1, 9000)
    bpm = {
        f"{plane}1": 5000 * np.sin(2 * np.pi * tune * turn) + 500 * random.standard_normal(len(turn))
        for plane, tune in TUNES.items()
    }
    names = {"tune/delay": HANN.delay_turns, "tune/window": 1.0, "server/turn_rate_hz": TURN_RATE_HZ}
    return [
        fabric.clock(anchored=1, ticks_per_turn_bits=2e9 / TURN_RATE_HZ, tsc_hz_bits=2e9),
        fabric.counters("stream/tbt01", "stream"),
        filled("tbt01/turn", 1, bpm, InstrumentKind.BPM, "<i4"),
        filled("tune/tune", PERIOD, lanes, InstrumentKind.APPLICATION),
        filled("machine/tune", OWN_PERIOD, tunes, InstrumentKind.APPLICATION),
        *(fabric.parameter(name, np.array([value]), "", ElementType.F64) for name, value in names.items()),
    ]


@pytest.fixture
def watch(make_owner: MakeOwner) -> Iterator[Watch]:
    make_owner(specs())
    with ringmaster.attach("demo") as ws:
        yield Watch(ws)


def drawn(watch: Watch, width: int, height: int) -> str:
    frame = watch.look(Wanted("tune"))
    lines = screen.draw(frame, View("tune"), width, height)
    assert len(lines) == height
    assert max(map(width_of, lines)) <= width
    whole = page_named("tune").draw(frame, View("tune"), width - 2, None)
    assert max(map(width_of, whole)) <= width - 2
    return "\n".join(map(plain, lines))


def test_ripple_is_corrected_for_the_window(watch: Watch) -> None:
    found = read_tune_spectrum(watch.ws)
    assert found is not None
    assert found.lines.trusted_share == 1.0
    for plane, lines in (("x", found.lines.x), ("y", found.lines.y)):
        assert [round(one.hz) for one in lines] == [50, 100]
        for one, (hz, amplitude) in zip(lines, RIPPLE.items(), strict=True):
            assert one.amplitude == pytest.approx(amplitude, rel=0.02), plane
            assert one.raw == pytest.approx(amplitude * HANN.response(hz, TURN_RATE_HZ), rel=0.02)
            assert one.simulated == pytest.approx(amplitude, rel=0.005)
            assert 0 < one.sigma < 0.01 * amplitude


@pytest.mark.parametrize("size", SIZES)
def test_the_page_fits_and_says_what_matters(watch: Watch, size: tuple[int, int]) -> None:
    text = drawn(watch, *size)
    assert "late by 3.41 ms, half a window" in text
    assert re.search(r"x  0\.2812\d+ ± 5\.0e-07   simulated 0\.2812\d+  5\.00 µm, s/n 200  good", text)
    assert re.search(r"50\.0 Hz +(1\.9\d|2\.0\d)e-05 .*2\.00e-05", text)
    assert re.search(r"100\.0 Hz +(9\.\d\d|1\.0\d)e-0[56] .*1\.00e-05", text)
    assert "▼0.2812" in text
    assert re.search(r"now +█* *█", text)
    assert ("┴300" in text) == (size[1] >= 40)


def test_rows_of_the_application_are_the_spectrogram(make_owner: MakeOwner) -> None:
    """Ten seconds at once, at their place on the axis; a row that is not to be trusted has no part in it."""
    make_owner(specs())
    axis = Axis(101, 0.2, 0.002, "tune", "1/turn")
    owner = Owner("spectra", "demo")
    rows = [owner.rows(f"tune/spectrum_{plane}", "nm", axis, 48000, "spectra", depth=256) for plane in "xy"]
    with owner:
        for i in range(1, 250):
            values = np.ones(101, np.float32)
            values[25 if i < 125 else 75] = 1000.0
            for ring in rows:
                ring.put(i * 48000, values * (1e6 if i == 60 else 1), quality=128 if i == 60 else 0)
        with ringmaster.attach("demo") as ws:
            found = newest(ws, Spectrogram(), None).x
            text = drawn(Watch(ws), 80, 24)
    assert len(found.cells) == 249
    assert np.isnan(found.cells[0][: int(0.19 * 2 * CELLS)]).all()
    assert np.nanargmax(found.cells[0]) == int(0.25 * 2 * CELLS)
    assert np.isnan(found.cells[59]).all()
    thin = found.thinned(4)
    assert [int(np.nanargmax(cells)) for cells in thin.cells] == [
        int(at * 2 * CELLS) for at in (0.25, 0.25, 0.35, 0.35)
    ]
    assert thin.turns[-1] == 249 * 48000
    assert np.nanmax(thin.cells[0]) == 1000
    assert re.search(r"-[6-9]\.\d s +█ ", text)
    assert re.search(r"now +█ ", text)


def test_reasons_stand_in_words(make_owner: MakeOwner) -> None:
    make_owner(specs(quality=0b10000100))
    with ringmaster.attach("demo") as ws:
        watch = Watch(ws)
        assert "not to be trusted: two peaks, lost turns" in drawn(watch, 80, 24)
        figures = read_tune(ws)
        assert figures is not None
        assert figures.x.reasons == ("two peaks", "lost turns")
        assert figures.y.reasons == ()
    assert reason_words(0) == ()
    assert reason_words((1 << len(REASONS)) - 1) == REASONS


def test_scripts_get_tune_and_lines(watch: Watch) -> None:
    told = json.loads(json.dumps(as_json(watch.look().snapshot)))
    assert told["tunes"] == pytest.approx([TUNES["x"], TUNES["y"]], abs=5e-5)
    assert told["tune"]["name"] == "tune"
    assert told["tune"]["window"] == {"kind": "hann", "turns": 8192}
    assert told["tune"]["x"]["sigma"] == pytest.approx(5e-7)
    assert told["tune"]["x"]["reasons"] == []
    assert told["tune_lines"]["x"][0].keys() == {"hz", "raw", "amplitude", "sigma", "simulated"}
    assert told["tune_lines"]["x"][0]["hz"] == pytest.approx(50, abs=0.1)


def test_the_command_for_spectra_tells_both_amplitudes(make_owner: MakeOwner) -> None:
    make_owner(specs())
    words = ("spectrum", "tune/tune/tune_x", "--seconds", "4", "-w", "demo")
    line = json.loads(command_line(*words, "--json").stdout)["spectra"][0]["lines"][0]
    assert line["amplitude_corrected"] == pytest.approx(2e-5, rel=0.02)
    assert line["amplitude"] == pytest.approx(2e-5 * HANN.response(50.0, TURN_RATE_HZ), rel=0.02)
    assert "corrected for the window 0.0000" in command_line(*words).stdout

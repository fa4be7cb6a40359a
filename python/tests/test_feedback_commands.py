# SPDX-License-Identifier: Apache-2.0
"""`ringmaster feedback` before a feedback that a test plays: why, on, off, masks, golden orbits, measurements."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import fabric
import numpy as np
import pytest
from command import ringmaster
from conftest import MakeOwner
from numpy.typing import NDArray

from ringmaster.errors import WorkspaceAbsent
from ringmaster.fabric.layout import ElementType
from ringmaster.fabric.owner import Owner
from ringmaster.fabric.workspace import attach
from ringmaster.feedback.law import Law, Plant, Resonator, Tuning
from ringmaster.feedback.loop import Feedback, FeedbackAbsent, find_configuration
from ringmaster.feedback.names import ActuatorFault, EnableCondition, RowFault, State, Withdrawal
from ringmaster.feedback.sensitivity import (
    Measured,
    Record,
    compare,
    draw,
    estimate,
    least_seconds,
    multi_sine,
    plant_found,
    refuse_too_few_seconds,
    refuse_what_is_not_s,
)
from ringmaster.feedback.solution import mode_gain
from ringmaster.feedback.spectrum import spectra
from ringmaster.feedback.why import explain, together

Floats = NDArray[np.float64]
ROWS = ("bpm01/x1", "bpm01/y1", "bpm02/x1", "bpm02/y1")
ACTUATORS = ("ps/h1", "ps/h2", "ps/v1", "ps/v2")
NUMBERS = {
    "state": State.READY,
    "enable_conditions": 0,
    "cause": 0,
    "cause_turn": 0,
    "cause_number": -1,
    "rms_x": 1.5,
    "beam": np.nan,  # not watched
    "withdrawn": 0,
}
SETTINGS = {"loop": 0, "reset": 0, "gain": 1, "resonators": 1, "gate": 1, "tikhonov": 0.01, "shadow": 0}


class Played:
    """A feedback without a loop: it has the parameters, and answers."""

    def __init__(self, folder: Path) -> None:
        self.owner = Owner("feedback", "demo")
        own = self.owner.parameter
        self.it = {short: own(f"feedback/{short}", float(value)) for short, value in NUMBERS.items()}
        self.it |= {s: own(f"feedback/{s}", float(v), writable=True, setting=True) for s, v in SETTINGS.items()}
        for short in ("bpm_state", "golden", "bpm_mask"):
            first = np.ones(4) if short.endswith("mask") else np.zeros(4)
            self.it[short] = own(f"feedback/{short}", first, writable=short != "bpm_state", setting=True)
        for short in ("actuator_state", "actuator_mask"):
            first = np.ones(4) if short.endswith("mask") else np.zeros(4)
            self.it[short] = own(f"feedback/{short}", first, writable=short != "actuator_state", setting=True)
        self.file = folder / "feedback.yaml"
        self.file.write_text("matrix: r.csv\nfamilies: [{name: f, actuators: ['*'], plant: {}, integral_hz: 1}]\n")
        numbers = ["1000,500,0,0", "0,0,800,300", "-400,900,0,0", "0,0,200,-700"]
        lines = [f"{row},{line}" for row, line in zip(ROWS, numbers, strict=True)]
        (folder / "r.csv").write_text("\n".join(["," + ",".join(ACTUATORS), *lines, ""]))
        self._over = Event()
        self.owner.open()
        self._thread = Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while not self._over.is_set():
            for request in self.owner.serve(timeout=0.02):
                if request.parameter == "feedback/loop":
                    states = {0.0: State.READY, 1.0: State.ON, 2.0: State.HOLD}
                    self.it["state"].write(float(states[float(request.values[0])]))

    def array(self, short: str) -> Floats:
        """The value now."""
        return np.asarray(self.it[short].value, np.float64)

    def close(self) -> None:
        """Ends it."""
        self._over.set()
        self._thread.join()
        self.owner.close()


CONFIG = "workspace: demo\napplications:\n  - {name: feedback, code: feedback, configuration: feedback.yaml}\n"


def make_server(make_owner: MakeOwner, config: str = CONFIG) -> None:
    rate = fabric.parameter("server/turn_rate_hz", np.array([1157000.0]), "Hz", ElementType.F64)
    make_owner([rate, fabric.text("server/config", config)])


@pytest.fixture
def played(make_owner: MakeOwner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Played]:
    """The workspace "demo" with a server and a feedback."""
    make_server(make_owner)
    folder = tmp_path / "files"
    folder.mkdir()
    monkeypatch.chdir(folder)  # where the server's configuration would lie
    made = Played(folder)
    yield made
    made.close()


def why() -> str:
    return ringmaster("feedback", "why").stdout


def test_without_server_or_application_why_says_that_it_does_not_know(make_owner: MakeOwner) -> None:
    said = ringmaster("feedback", "why", expect=3).stderr
    assert "it is not known whether feedback is on: no workspace in" in said.lower()
    assert json.loads(ringmaster("feedback", "why", "--json", expect=3).stdout)["state"] == "unknown"
    with pytest.raises(WorkspaceAbsent):
        attach("demo")
    make_server(make_owner)
    assert "is configured but does not run" in ringmaster("feedback", "why", expect=7).stderr
    assert "does not run" in ringmaster("feedback", "on", expect=7).stderr
    with attach("demo") as ws, pytest.raises(FeedbackAbsent, match="it has feedback; say which one"):
        Feedback(ws, "other")


def test_on_off_hold_and_what_why_says_of_them(played: Played) -> None:
    assert why().startswith("Off. All enable conditions are there.\n")
    assert ringmaster("feedback", "on").stdout == "feedback is ON\n"
    assert why() == "On.\n"
    assert ringmaster("feedback", "hold").stdout == "feedback is HOLD\n"
    assert "HOLD (requested)" in why()
    assert ringmaster("feedback", "off").stdout == "feedback is READY\n"
    assert ringmaster("feedback", "set", "gain", "0.5").stdout == "feedback/gain: 1 → 0.5\n"
    said = json.loads(ringmaster("feedback", "status", "--json").stdout)
    assert (said["state_name"], said["gain"], said["rms_x"]) == ("ready", 0.5, 1.5)
    text = ringmaster("feedback", "status").stdout
    assert "rms_x" in text
    assert next(line.split()[1] for line in text.splitlines() if line.startswith("beam")) == "–"


def test_a_permission_that_was_withdrawn_is_reported(played: Played) -> None:
    played.it["withdrawn"].write(float(Withdrawal.SERVER))
    said = why()
    assert "It is off because the server ended, or granted anew: the permission to act does not outlive that." in said
    assert "`ringmaster feedback on` gives the permission again." in said
    assert "withdrawn: the server ended, or granted anew" in ringmaster("feedback", "status").stdout


def test_a_loop_whose_simulated_time_stands_still_does_nothing(make_owner: MakeOwner, tmp_path: Path) -> None:
    """The virtual ring was killed: the loop is on, and nobody steps it."""
    flag = fabric.parameter("server/simulated_time", np.array([1], np.uint32), "", ElementType.U32)
    make_owner([flag, fabric.clock(turn=4711)])
    made = Played(tmp_path)
    try:
        made.it["state"].write(float(State.ON))
        said = why()
    finally:
        made.close()
    assert said.startswith("On.\nBut simulated time stands still: the virtual ring sends no turns")
    assert "starts the virtual ring again" in said


def test_off_with_inputs_missing_is_one_sentence(played: Played) -> None:
    played.it["state"].write(float(State.OFF))
    played.it["enable_conditions"].write(float(EnableCondition.LATE))
    assert why().splitlines()[0] == "Off. Inputs were missing just now."
    assert "Missing now" not in why()
    played.it["enable_conditions"].write(float(EnableCondition.NOT_SENT))
    assert "setpoints are not being sent" in why()


def test_why_names_who_it_was_and_what_to_do(played: Played) -> None:
    played.it["state"].write(float(State.FAULT))
    played.it["loop"].write(1.0)
    played.it["cause"].write(float(EnableCondition.SATURATION))
    played.it["cause_number"].write(2.0)
    played.it["cause_turn"].write(4711.0)
    played.it["actuator_state"].write([0.0, 0.0, float(ActuatorFault.SATURATED), 0.0])
    both = float(RowFault.MASKED)
    played.it["bpm_state"].write([both, both, float(RowFault.FROZEN | RowFault.MISSING), 0.0])
    said = why()
    assert (
        "It left the state ON at turn 4711, because too many actuators stood at a limit for too long; it was ps/v1"
        in said
    )
    assert "BPM readings: bpm01 is masked by hand." in said
    assert "BPM readings: bpm02/x1 says the very same value again and again." in said
    assert "Actuators: ps/v1 stands at a limit." in said
    assert "substituted" not in said
    assert "ringmaster feedback reset" in said
    assert "Nothing is missing now." in said
    with attach("demo") as ws:
        answer = explain(Feedback(ws))
    assert answer.out["bpm_state: masked"] == ["bpm01/x1", "bpm01/y1"]
    assert answer.cause == ["saturation"]


def test_without_the_file_there_are_numbers(played: Played) -> None:
    played.it["bpm_state"].write([0.0, 0.0, 0.0, float(RowFault.SILENT)])
    played.file.unlink()
    assert "BPM readings: row 3 sends nothing." in why()
    assert "name its file by --configuration" in ringmaster("feedback", "mask", "bpm01", expect=1).stderr


def test_a_file_of_another_matrix_is_refused(played: Played) -> None:
    (played.file.parent / "r.csv").write_text(",a\nbpm01/x1,1\n")
    assert "was it changed since" in ringmaster("feedback", "golden", "zero", expect=1).stderr


def test_masks(played: Played) -> None:
    ringmaster("feedback", "mask", "bpm02", "ps/h*")
    assert played.array("bpm_mask").tolist() == [1, 1, 0, 0]
    assert played.array("actuator_mask").tolist() == [0, 0, 1, 1]
    ringmaster("feedback", "mask", "bpm02/x1", "ps/h2", "--in")
    assert played.array("bpm_mask").tolist() == [1, 1, 1, 0]
    assert played.array("actuator_mask").tolist() == [0, 1, 1, 1]
    assert "is no BPM reading and no supply" in ringmaster("feedback", "mask", "bpm09", expect=7).stderr


def test_golden_orbits_and_bumps(played: Played, tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("# nm\nbpm01/x1,1000\nbpm02/y1,-50\n")
    ringmaster("feedback", "golden", str(tmp_path / "g.csv"))
    assert played.array("golden").tolist() == [1000, 0, 0, -50]
    tried = ringmaster("feedback", "bump", "bpm01", "--x", "2um", "--free", "0", "--try", "--json").stdout
    assert json.loads(tried)["set"] is False
    assert played.array("golden").tolist() == [1000, 0, 0, -50]
    ringmaster("feedback", "bump", "bpm01/x1", "--x", "2um", "--free", "0")
    assert played.array("golden") == pytest.approx([3000, 0, 0, -50], abs=2)
    assert "say how far" in ringmaster("feedback", "bump", "bpm01", expect=2).stderr
    tried = ringmaster("feedback", "bump", "bpm01/x1", "--x", "0", "--free", "0", "--try", "--json").stdout
    assert json.loads(tried)["at"]["bpm01/x1"]["made_nm"] == 0  # nothing needs no unit
    played.file.write_text(played.file.read_text().replace("'*'", "ps/h1, 'ps/v*'"))
    tried = ringmaster("feedback", "bump", "bpm01/x1", "--x", "2um", "--free", "0", "--try", "--json").stdout
    assert "ps/h2" not in json.loads(tried)["actuators"]  # of no family: the loop does not move it
    ringmaster("feedback", "golden", "zero")
    assert not played.array("golden").any()


def test_the_configuration_is_found_where_the_server_says(played: Played) -> None:
    with attach("demo") as ws:
        assert find_configuration(ws, "feedback") == played.file
        assert Feedback(ws).rows == ROWS
        assert Feedback(ws).actuators == ACTUATORS


def test_instruments_stand_for_their_readings() -> None:
    assert together(["bpm01/x1", "bpm01/y1", "bpm02/x1"], ROWS) == ["bpm01", "bpm02/x1"]
    assert together(["ps/h1", "ps/h2", "ps/v1", "ps/v2"], ACTUATORS) == list(ACTUATORS)


# ---- what is measured

RATE_HZ = 9641.67
LAW = Law(Plant(RATE_HZ, 5000.0, 0.0, 150e-6), Tuning(0.2, 120.0, True, (Resonator(50.0, 1.0, 0.004),)))


def recorded(excitation: Floats, noise: float) -> Record:
    """What the law would leave of it, by its own response, whole periods of it."""
    hz = np.fft.rfftfreq(len(excitation), 1 / RATE_HZ)
    with np.errstate(all="ignore"):
        s = LAW.sensitivity(np.maximum(hz, 1e-6))
    error = np.fft.irfft(np.fft.rfft(excitation) * s, len(excitation))
    error += noise * np.random.default_rng(1).standard_normal(len(error))
    return Record(RATE_HZ, excitation, error, error, 0)


def test_lines_give_the_sensitivity(tmp_path: Path) -> None:
    lines = multi_sine(10.0, 4000.0)
    assert len(lines) == 32
    count = round(60 * RATE_HZ)
    time = np.arange(count) / RATE_HZ
    hz = np.round(lines * count / RATE_HZ) * RATE_HZ / count  # whole periods
    phase = -np.pi * np.arange(32) ** 2 / 32
    wave = np.sin(2 * np.pi * hz * time[:, None] + phase).sum(axis=1)
    measured = estimate(recorded(wave, 0.3), hz, at_actuator=False)
    assert measured.method == "lines"
    found = compare(measured, LAW)
    assert found.deviation.max() < 0.02
    assert np.all(found.deviation < 6 * measured.spread + 1e-3)
    assert found.as_json()["peak"] == pytest.approx(np.abs(LAW.sensitivity(hz)).max(), abs=0.02)
    draw(found, LAW, 1.0, "a title", tmp_path / "s.png")
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")


def beside_the_mains(seconds: float, mains_hz: float) -> tuple[Measured, Floats]:
    """A multi-sine of 1 in an error that a line of 50 moves too."""
    rate, lines = 2000.0, multi_sine(10.0, 900.0)
    time = np.arange(round(seconds * rate)) / rate
    phase = np.pi * np.arange(32) ** 2 / 32
    s = 1j * lines / (1j * lines + 300)
    wave = np.cos(2 * np.pi * lines * time[:, None] + phase).sum(axis=1)
    error = (np.abs(s) * np.cos(2 * np.pi * lines * time[:, None] + phase + np.angle(s))).sum(axis=1)
    error += 50 * np.cos(2 * np.pi * mains_hz * time) + np.random.default_rng(1).standard_normal(len(time))
    return estimate(Record(rate, wave, error, error, 0), lines, at_actuator=False).seen, np.abs(s)


@pytest.mark.parametrize("mains_hz", [46.0, 48.5, 50.0, 53.0])
def test_a_line_of_the_mains_is_no_peak(mains_hz: float) -> None:
    measured, truth = beside_the_mains(least_seconds(multi_sine(10.0, 900.0)), mains_hz)
    assert len(measured.hz) > 20
    error = np.abs(np.abs(measured.sensitivity) - np.interp(measured.hz, multi_sine(10.0, 900.0), truth))
    assert error.max() < 0.3


def test_too_few_seconds_are_refused_with_how_many_it_takes() -> None:
    lines = multi_sine(10.0, 4000.0)
    refuse_too_few_seconds(least_seconds(lines), lines)
    refuse_too_few_seconds(0.1, None)  # no lines, nothing to tell apart
    with pytest.raises(RuntimeError, match=r"--seconds 3 is too short to tell .*: take 5\.6 or more"):
        refuse_too_few_seconds(3.0, lines)


def test_the_plant_behind_it_is_found() -> None:
    hz = multi_sine(10.0, 4000.0)
    real = replace(LAW.plant, delay_s=LAW.plant.delay_s + 25e-6)
    s = 1 / (1 + 0.95 * LAW.loop(hz, real))
    gain, delay_us = plant_found(Measured(hz, s, np.zeros(32), "lines", 1), LAW)
    assert gain == pytest.approx(0.95, abs=0.01)
    assert delay_us == pytest.approx(25, abs=6)  # a delay of a fraction of a cycle is no straight phase


def test_noise_gives_the_sensitivity() -> None:
    wave = np.random.default_rng(2).choice([-1.0, 1.0], round(20 * RATE_HZ))
    measured = estimate(recorded(wave, 0.01), None, at_actuator=False)
    assert measured.method == "cross spectra"
    away = np.abs(measured.hz - 50) > 5  # the notch is narrower than what so short pieces resolve
    assert compare(measured, LAW).deviation[away].max() < 0.05


def test_what_other_motion_hides_is_no_peak() -> None:
    """A line of the mains beside one of the excitation made a peak of 7.5 there."""
    hz = np.array([20.0, 48.0, 300.0])
    hidden = Measured(hz, np.array([0.5, 7.5, 1.06], np.complex128), np.array([0.02, 2.3, 0.01]), "lines", 5)
    said = compare(hidden, LAW).as_json()
    assert (said["peak"], said["peak_hz"], said["hidden_hz"]) == (1.06, 300.0, [48.0])
    assert said["largest_deviation_hz"] != 48.0
    with pytest.raises(RuntimeError, match="hides the excitation at all 3 frequencies: take a larger --amplitude"):
        compare(replace(hidden, spread=np.full(3, 0.2)), LAW).as_json()


def test_a_silent_loop_is_reported() -> None:
    quiet = np.random.default_rng(3).standard_normal(4096)
    with pytest.raises(RuntimeError, match="nothing of the excitation is seen"):
        estimate(Record(RATE_HZ, quiet[::-1], quiet, quiet, 0), None, at_actuator=False)


def test_a_flickering_loop_is_no_lost_excitation() -> None:
    wave = np.sin(np.arange(5000) / 10)
    refuse_what_is_not_s(Record(RATE_HZ, wave, wave, wave, 0, not_on=40))
    with pytest.raises(RuntimeError, match="the loop flickers: it was not ON in 20 % of the cycles"):
        refuse_what_is_not_s(Record(RATE_HZ, wave * 0, wave, wave, 0, not_on=1000))
    wave[2500:] = 0
    with pytest.raises(RuntimeError, match="the excitation was lost: the loop was ON, but in 50 % of the time"):
        refuse_what_is_not_s(Record(RATE_HZ, wave, wave, wave, 0))


def test_spectra_hold_the_power() -> None:
    time = np.arange(40000) / RATE_HZ
    orbit = {"b/x": 1000 * np.sqrt(2) * np.sin(2 * np.pi * 120 * time), "b/y": np.zeros(len(time))}
    x, y = spectra(RATE_HZ, orbit, "off")
    assert x.cumulated_um[-1] == pytest.approx(1.0, rel=0.01)
    assert np.interp(100, x.hz, x.cumulated_um) < 0.01 < 0.99 < np.interp(140, x.hz, x.cumulated_um)
    assert y.cumulated_um[-1] == 0


def test_the_gain_of_a_mode() -> None:
    singular = np.array([100.0, 10.0, 1.0, 200.0, 2.0, 0.0])
    assert mode_gain(singular, 2, 0.01) == pytest.approx(0.5)
    assert mode_gain(singular, 4, 0.01) == pytest.approx(0.5)
    assert mode_gain(singular, 3, 0.0) == 1.0
    with pytest.raises(ValueError, match="not among those in use"):
        mode_gain(singular, 5, 0.01)

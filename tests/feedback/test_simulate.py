# SPDX-License-Identifier: Apache-2.0
"""The simulation itself, with applications that are no loop: what it feeds, what its supplies do, what it leaves."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rigs import TURN_RATE_HZ, Rig

from ringmaster.errors import SimulationError
from ringmaster.simulation import Simulation, line, simulate

AMPLITUDE_A = 0.01
SQUARE = ("0:feedback/period_steps=100000", f"0.05:feedback/amplitude={AMPLITUDE_A}", "0.05:feedback/enable=1")


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Rig:
    """The small ring, with a square wave in the place of the feedback."""
    made = Rig(tmp_path_factory.mktemp("rig"), disturbances="{mains: [{hz: 50, orbit_um: 20}]}", noise_um=0.2).write()
    server = made.folder / "server.yaml"
    text = server.read_text().replace("configuration: feedback.yaml, ", "")
    server.write_text(text.replace("code: feedback", "code: square_wave"))
    return made


@pytest.fixture(scope="module")
def square(rig: Rig) -> Simulation:
    """The first supply goes up at 0.05 s."""
    return rig.run("square", seconds=0.1, at=[*SQUARE, "0.08:drop=bpm03", "0.09:trip=fastxa_01"])


def ended(run: Simulation, file: str) -> bytes:
    """A file, as bytes."""
    return (run.folder / file).read_bytes()


def test_it_is_the_same_to_the_bit_again(rig: Rig, square: Simulation) -> None:
    again = rig.run("again", seconds=0.1, at=[*SQUARE, "0.08:drop=bpm03", "0.09:trip=fastxa_01"])
    assert square.cycles == 965
    for file in square.summary["files"]:
        assert ended(again, file) == ended(square, file), file


def test_another_event_makes_another_run(rig: Rig, square: Simulation) -> None:
    other = rig.run("other", seconds=0.1, at=[*SQUARE, "0.02:machine/mains=0"])
    assert ended(other, "readings.i32") != ended(square, "readings.i32")
    before, after = (np.abs(line(run.orbit("x"), run.rate_hz, 50)).max() for run in (square, other))
    assert after < 0.6 * before


def test_currents_follow_the_setpoints_after_latency_and_delay(rig: Rig, square: Simulation) -> None:
    step = int(np.argmax(square.setpoints[:, 0] > AMPLITUDE_A / 2))
    assert step == np.searchsorted(square.time_s, 0.05 - 1e-9)
    assert square.sent[step, 0] == pytest.approx(0, abs=1e-9)
    assert square.sent[step + 1, 0] == pytest.approx(AMPLITUDE_A, rel=1e-6)
    cycle_s, delay_s = rig.period_turns / TURN_RATE_HZ, 10e-6 + 100e-6
    assert np.abs(square.currents[step : step + 2, 0]).max() < 1e-9
    expected = AMPLITUDE_A * (1 - np.exp(-2 * np.pi * 20000 * (2 * cycle_s - delay_s)))
    assert square.currents[step + 2, 0] == pytest.approx(expected, rel=1e-3)


def test_the_orbit_follows_the_currents(rig: Rig, square: Simulation) -> None:
    before, after = square.between(0.03, 0.05), square.between(0.055, 0.075)  # a period of the mains each
    moved = square.orbit("x")[after].mean(axis=0) - square.orbit("x")[before].mean(axis=0)
    expected = rig.response()[: len(moved)][:, 0] * AMPLITUDE_A
    assert np.corrcoef(moved, expected)[0, 1] > 0.8  # not the design's: the machine has errors
    assert 0.01 < np.std(moved - expected) / np.std(expected) < 0.7


def test_a_dropped_instrument_is_missing_and_keeps_its_last_record(square: Simulation) -> None:
    first = int(np.searchsorted(square.time_s, 0.08 - 1e-9))
    which = square.inputs.index("bpm03/raw")
    assert not square.missing[:first].any()
    assert square.missing[first:, which].all()
    assert not np.delete(square.missing[first:], which, axis=1).any()
    assert (square.readings[first:, which] == square.readings[first - 1, which]).all()


def test_a_tripped_supply_falls_and_what_is_sent_follows_it(square: Simulation) -> None:
    after = square.between(0.095)
    tripped = square.actuators.index("fastxa_01")
    assert np.abs(square.currents[after, tripped]).max() < 1e-6
    assert np.abs(square.sent[after, tripped]).max() < 1e-6
    before = square.between(0.08, 0.09)
    assert np.allclose(square.sent[before, tripped], AMPLITUDE_A, rtol=1e-6)
    assert square.summary["guard"]["fault"] > 0


def test_readings_are_whole_nanometres_of_all_bpms(rig: Rig, square: Simulation) -> None:
    assert square.readings.shape == (965, rig.bpm_count // 2, 12)
    assert square.rows("x")[:4] == ["bpm01/x1", "bpm01/x2", "bpm02/x1", "bpm02/x2"]
    assert sorted(square.rows("x") + square.rows("y")) == sorted(rig.rows())


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_replay_gives_the_same_setpoints(rig: Rig, square: Simulation, seed: int | None) -> None:
    again = rig.run(f"replay{seed}", replay=square.folder, shuffle=seed)
    for file in ("setpoints.f64", "reported.f64", "readings.i32", "tags.u64", "sent.f64"):
        assert ended(again, file) == ended(square, file), file


def test_the_truth_is_told_when_asked_for(rig: Rig, tmp_path: Path) -> None:
    rig.run("truth", seconds=0.001, truth=tmp_path / "truth.json")
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert len(truth["bpms"]) == len(rig.run("untold", seconds=0.001).summary["inputs"]) * 2
    assert not list((rig.folder / "untold").glob("*truth*"))
    assert truth["magnets"]
    assert truth["correctors"]


def test_a_replay_of_something_else_is_refused(rig: Rig, square: Simulation, tmp_path: Path) -> None:
    other = Rig(tmp_path).write()
    server = other.folder / "server.yaml"
    text = server.read_text().replace("configuration: feedback.yaml, ", "").replace('"bpm*/raw"', "bpm01/raw")
    server.write_text(text.replace("code: feedback", "code: square_wave"))
    with pytest.raises(SimulationError, match=r"has 16 inputs and 64 actuators, the application has 1 and 64"):
        other.run("out", replay=square.folder)


def test_decimated_inputs_are_those_of_the_servers_filters(tmp_path: Path) -> None:
    """A slow sine in, the same sine out, later by the filter's delay; and a step every twelfth turn."""
    Rig(tmp_path, period_turns=12, disturbances="{mains: [{hz: 500, orbit_um: 20}]}", noise_um=0).write()
    for name, wanted in (("fast", '"bpm*/low_latency"'), ("raw", '"bpm*/raw"')):
        server = (tmp_path / "server.yaml").read_text().replace("configuration: feedback.yaml, ", "")
        server = server.replace("code: feedback", "code: square_wave").replace('"bpm*/raw"', wanted)
        ring = (tmp_path / "ring.yaml").read_text().replace("step_turns: 12", "step_turns: 1")
        if name == "fast":
            server = server.replace(", period_turns: 12}\nsetpoints", "}\nsetpoints")
        (tmp_path / f"{name}-server.yaml").write_text(server)
        (tmp_path / f"{name}-ring.yaml").write_text(ring)
    raw, fast = (
        simulate(tmp_path / f"{name}-server.yaml", tmp_path / f"{name}-ring.yaml", "feedback", tmp_path / name,
                 seconds=0.01)
        for name in ("raw", "fast")
    )  # fmt: skip
    assert fast.summary["inputs"][0]["types"][0] == "f32"
    filtered = fast.readings[100:, :, 0].view(np.float32)
    assert (
        np.abs(filtered - raw.readings[100:, :, 0]).max() < 30
    )  # nm, of 20 µm: a record's turn is the filter's centre
    assert np.std(raw.readings[100:, 0, 0]) > 1000


def test_events_of_the_ring_have_one_dispatcher(rig: Rig, square: Simulation) -> None:
    """What this program has words of its own for is an event of the ring; and any other can be given by its words."""
    own = rig.run("own", seconds=0.1, at=[*SQUARE, "0.08:drop=bpm03", "0.09:event=trip, supply: fastxa_01"])
    assert ended(own, "readings.i32") == ended(square, "readings.i32")
    assert ended(own, "currents.f64") == ended(square, "currents.f64")
    lost = rig.run("lost", seconds=0.1, at=[*SQUARE, "0.02:event=rf_trip, for_turns: 2000", "0.06:event=injection"])
    sums = lost.readings[:, 0, 2].astype(float)
    assert sums[:150].min() > 0.8e6
    assert np.abs(sums[300:500]).max() < 1000
    assert sums[650:].min() > 0.8e6


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("0:feedback/amplitud=1", 'has no setting "amplitud"; did you mean "amplitude"?'),
        ("0:feedback/amplitude=-1", "-1 is not within its limits"),
        ("0:feedback/amplitude=much", "expected a number after ="),
        ("0:machine/main=0", "did you mean machine/mains?"),
        ("0:drop=bpm3", "did you mean bpm03?"),
        ("0:trip=fastxa_1", "no such supply; did you mean fastxa_01?"),
        ("0:fall=bpm03", "expected feedback/SETTING, machine/KNOB, drop, freeze, back, trip, reset or event"),
        ("0:event=fall", 'event: found "fall", expected one of: trip'),
        ("0:event=dead, instrument: bpm3", "which means none of the"),
        ("now:drop=bpm03", "expected TIME:NAME=VALUE"),
        ("0.1:drop", "expected NAME=VALUE"),
        ("-1:drop=bpm03", "expected a time of 0 s or later"),
    ],
)
def test_events_that_cannot_be(rig: Rig, event: str, said: str) -> None:
    with pytest.raises(SimulationError) as raised:
        rig.run("wrong", cycles=3, at=[event])
    assert said in str(raised.value)


def test_events_of_a_file(rig: Rig, square: Simulation) -> None:
    events = rig.folder / "mine.yaml"
    entries = [f"  - {{at: {event.partition(':')[0]}, set: {event.partition(':')[2]}}}" for event in SQUARE]
    events.write_text("\n".join(["events:", *entries, ""]))
    run = rig.run("file", seconds=0.06, events=events)
    assert (run.setpoints == square.setpoints[: run.cycles]).all()
    events.write_text("events:\n  - {at: 0, set: nothing}\n")
    with pytest.raises(SimulationError, match=r"mine\.yaml:2:5: events\[0\]: found \"nothing\""):
        rig.run("wrong", cycles=3, events=events)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: fastya", "name: other", "which means none of the 64 supplies"),
        ('[{name: "fastxa_"', '[{name: "fastxx_"', "fastxa_01"),
    ],
)
def test_configurations_that_do_not_fit(rig: Rig, tmp_path: Path, old: str, new: str, said: str) -> None:
    server = tmp_path / "server.yaml"
    text = (rig.folder / "server.yaml").read_text()
    assert old in text
    server.write_text(text.replace(old, new))
    with pytest.raises(SimulationError) as raised:
        simulate(server, rig.folder / "ring.yaml", "feedback", tmp_path / "out", cycles=1)
    assert said in str(raised.value)


def test_it_ends_after_a_reading_has_come_to_a_value(rig: Rig, square: Simulation) -> None:
    """The first edge is at 0.05 s; the cycles until then are those of a run that goes on."""
    run = rig.run("until", seconds=100, until="edge_count:1:0.01", at=SQUARE)
    first = int(np.flatnonzero(run.reported("edge_count"))[0])
    assert run.cycles == first + 1 + int(np.ceil(0.01 * run.rate_hz))
    assert (run.readings == square.readings[: run.cycles]).all()


def test_what_was_not_recorded_says_so(rig: Rig) -> None:
    run = rig.run("few", cycles=10, record="setpoints,reported")
    assert run.setpoints.shape == (10, 64)
    assert run.reported("level").shape == (10,)
    with pytest.raises(SimulationError, match=r"readings.i32 was not recorded; there are: setpoints.f64, reported.f64"):
        _ = run.readings
    with pytest.raises(SimulationError, match="no reading 'levl'"):
        run.reported("levl")
    with pytest.raises(SimulationError, match="no simulation.json"):
        Simulation.load(rig.folder / "nowhere")


def command(*arguments: object) -> "subprocess.CompletedProcess[str]":
    """`ringmaster simulate`."""
    words = [sys.executable, "-m", "ringmaster", "simulate", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


def test_the_command_draws_and_tells(rig: Rig, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    names = (rig.folder / "server.yaml", rig.folder / "ring.yaml", "feedback")
    done = command(*names, "--seconds", 0.1, "--out", tmp_path / "run", "--at", "0.05:machine/mains=0",
                   "--plot", tmp_path / "run.png", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cycles"] == 965
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    done = command(*names, "--seconds", 0.01, "--out", tmp_path / "run")
    assert "times as" in done.stdout
    assert str(tmp_path / "run") in done.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--seconds", "1"), 2, "--out"),
        (("--out", "x"), 2, "expected --seconds S or --cycles N"),
        (("--out", "x", "--seconds", "1", "--cycles", "1"), 2, "expected one of them"),
        (("--out", "x", "--seconds", "1", "--record", "much"), 2, 'found "much"'),
        (("--archive", "x"), 2, "--archive: expected CONFIG APPLICATION and no options but"),
        (
            ("--out", "x", "--cycles", "1", "--until", "levl:1"),
            1,
            'found "levl", expected a reading of the application',
        ),
        (("--out", "x", "--cycles", "1", "--until", "level:soon"), 1, "expected READING:VALUE or"),
        (("--out", "/proc/none", "--cycles", "1"), 1, "/proc/none"),
        (("--out", "x", "--replay", "x"), 2, "expected another folder"),
        (("--out", "x", "--replay", "y", "--truth", "z"), 2, "a replay draws no errors"),
    ],
)
def test_wrong_usage(rig: Rig, tmp_path: Path, arguments: tuple[str, ...], status: int, said: str) -> None:
    done = command(rig.folder / "server.yaml", rig.folder / "ring.yaml", "feedback", *arguments)
    assert done.returncode == status
    assert said in done.stderr


def test_the_help_has_examples() -> None:
    done = command("--help")
    assert "Examples:" in done.stdout
    assert "--at 2:drop=bpm07" in done.stdout


def test_it_tells_what_the_machine_truly_answers(rig: Rig, tmp_path: Path) -> None:
    """Of the design exactly the matrix; of a machine with errors something near it."""
    for errors, most in (("{}", 1e-3), (rig.errors, 0.5)):
        folder = tmp_path / f"{most}"
        folder.mkdir()
        own = Rig(folder, errors=errors).write()
        run = own.run("one", cycles=2)
        for plane, half in (("x", slice(0, own.bpm_count)), ("y", slice(own.bpm_count, None))):
            order = [run.rows(plane).index(name) for name in own.rows()[half]]
            design = own.response()[half]
            off = np.linalg.norm(run.response(plane)[order] - design) / np.linalg.norm(design)
            assert off < most
            assert (off > 0.02) == (errors != "{}")


def test_described_datagrams_are_simulated(tmp_path: Path) -> None:
    """Old Elettra's BPMs come in Grouping datagrams: lanes are the format's, and both ends must mean the same."""
    configs = Path(__file__).resolve().parents[2] / "configs"
    server = re.sub(r"    configuration: .*\n", "", (configs / "elettra.yaml").read_text())
    server = server.replace("code: feedback", "code: square_wave")
    (tmp_path / "server.yaml").write_text(server)
    run = simulate(tmp_path / "server.yaml", configs / "elettra-ring.yaml", "feedback", tmp_path / "run", cycles=50)
    assert run.summary["inputs"][95]["lanes"] == ["x", "y", "sum"]
    lanes = run.readings[:, :, :3]
    assert lanes[:, :, 2].min() > 1e5
    assert 5000 < np.abs(lanes[:, :, :2]).mean() < 200000
    assert (run.readings[:, :, 3:] == 0).all()
    assert run.rows("x")[0] == "bpm01/x"
    assert np.abs(run.response("y")[:, [name.startswith("sr/ps/cv") for name in run.actuators]]).min() > 0

# SPDX-License-Identifier: Apache-2.0
"""Models in step with a machine that is played: what they publish, and what befalls machine and model."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from command import ringmaster
from numpy.typing import NDArray
from played_machine import PERIOD_TURNS, TURN_RATE_HZ, PlayedMachine, files, instance

from ringmaster import Workspace, attach
from ringmaster.errors import ObjectNotFound
from ringmaster.twins.following import Following
from ringmaster.twins.instance import Instance
from ringmaster.twins.loops import OrbitLoop, TuneLoop
from ringmaster.twins.model import Model

UPDATE_TURNS = 1200


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringmaster.twins.following.CHECK_S", 0.005)


@pytest.fixture
def played(root: Path) -> Iterator[PlayedMachine]:
    with PlayedMachine(root) as machine:
        machine.put(h01=1.0, v02=-1.0)
        machine.run(2 * UPDATE_TURNS)
        yield machine


def following(it: Instance) -> Following:
    return Following(attach("demo"), Model(it), print)


def follow(it: Following, *events: Callable[[], object]) -> None:
    """Each event, and then as many looks of the loop as answer it."""
    steps = iter([step for event in events for step in (event, None, None)])

    def stop() -> bool:
        step = next(steps, StopIteration)
        if callable(step) and step is not StopIteration:
            step()
        return step is StopIteration

    it.run(stop)


def left() -> Workspace:
    return attach("demo", dead=True)


def number(ws: Workspace, name: str) -> float:
    return ws.parameters[name].number


def array(ws: Workspace, name: str) -> NDArray[np.float64]:
    return np.asarray(ws.parameters[name].value, np.float64)


def test_what_the_lattice_explains_is_gone_and_all_is_published(played: PlayedMachine, root: Path) -> None:
    before = {path.name for path in (root / "demo").rglob("*.segment")}
    follow(following(instance(root)), lambda: None)
    assert {path.name for path in (root / "demo").rglob("*.segment")} - before == {"model.segment"}
    played.knobs.set(np.array(list(played.values.values())))
    state = played.twin.optics_and_envelope(np.array(played.mapping.bpms, np.uint32), get_chrom=True)
    with left() as ws:
        assert ws.parameters["model/state"].value == "following"
        assert number(ws, "model/turn") == played.turn
        assert np.abs(np.asarray(ws.parameters["model/model_x"].value)).max() > 10.0
        assert number(ws, "model/rms_x") < 0.002  # readings are f32
        for name, value in {
            "tune_x": state.tune[0],
            "tune_s": state.tune[2],
            "chromaticity_y": state.chromaticity[1],
            "emittance_x": state.emittance[0],
            "energy_spread": state.energy_spread,
        }.items():
            assert number(ws, f"model/{name}") == pytest.approx(value, rel=1e-6)
        np.testing.assert_allclose(array(ws, "model/beta_x"), state.optics.beta[:, 0], rtol=1e-6)
        np.testing.assert_allclose(array(ws, "model/dispersion_x"), state.optics.dispersion[:, 0], rtol=1e-5)
        np.testing.assert_allclose(
            array(ws, "model/size_y"), 1e6 * np.sqrt(state.beam.r66[:, 2, 2]), rtol=1e-5, atol=1e-6
        )
        stream, rows = ws.streams["model/ring"].latest(1), ws.rows["model/beta_ys"].latest(1)
        assert stream.turn.tolist() == rows.turn.tolist() == [played.turn]
        assert stream["tune_y"][0] == pytest.approx(state.tune[1], rel=1e-6)
        np.testing.assert_allclose(rows.values[0], state.optics.beta[:, 1], rtol=1e-6)
        assert "model" not in ws.setpoints  # it has no way to the guard
        own = [it for it in ws.parameters.values() if it.owner == "model"]
        assert [it.name for it in own if it.writable] == ["model/zero"]


def test_two_in_step_answer_a_moved_supply_at_the_next_update(played: PlayedMachine, root: Path) -> None:
    """Each with the tune that belongs to its lattice; and missed updates are counted."""
    for name, changes in (("model", ()), ("weaker", ("QF=-0.001",))):
        it = following(instance(root, name, changes=changes))
        played.put(qf=0.0)
        follow(
            it,
            lambda: played.run(UPDATE_TURNS),
            lambda: played.move(UPDATE_TURNS, qf=1.0),
            lambda: played.run(3 * UPDATE_TURNS),
        )
    with left() as ws:
        tunes = {}
        for name in ("model", "weaker"):
            window = ws.streams[f"{name}/ring"].latest(5)
            tune, turns = window["tune_x"][window.ok], window.turn[window.ok].astype(int)
            tunes[name] = tune
            assert np.diff(turns).tolist() == [UPDATE_TURNS, 3 * UPDATE_TURNS]
            assert tune[1] - tune[0] > 1e-4  # told at the very next update
            assert tune[2] == pytest.approx(tune[1], abs=1e-7)
        assert tunes["model"][0] == pytest.approx(tunes["weaker"][1], abs=1e-5)  # +0.1 % of -0.1 % is none
        for name in ("model", "weaker"):
            assert number(ws, f"{name}/missed") >= 2
            assert number(ws, f"{name}/lag_periods") <= 2


def test_an_unstable_model_keeps_its_last_answer_and_goes_on(played: PlayedMachine, root: Path) -> None:
    it = following(instance(root))
    states = []

    def seen() -> None:
        with attach("demo") as ws:
            states.append((str(ws.parameters["model/state"].value), number(ws, "model/tune_x")))

    follow(
        it,
        lambda: played.run(UPDATE_TURNS),
        seen,
        lambda: played.show(UPDATE_TURNS, qf=2000.0),
        seen,
        lambda: played.show(UPDATE_TURNS, qf=0.0),
        seen,
    )
    assert [state.partition(":")[0] for state, _ in states] == ["following", "unstable", "following"]
    assert states[0][1] == states[1][1] == pytest.approx(states[2][1], abs=1e-7)
    with left() as ws:
        assert number(ws, "model/unstable") >= 1


def test_a_supply_that_is_not_known_keeps_its_last(played: PlayedMachine, root: Path) -> None:
    it = following(instance(root))
    follow(
        it,
        lambda: played.move(UPDATE_TURNS, qf=1.0),
        lambda: played.show(UPDATE_TURNS, qf=float("nan")),
    )
    with left() as ws:
        assert number(ws, "model/unknown") == 16
        tunes = ws.streams["model/ring"].latest(2)["tune_x"]
        assert tunes[0] == pytest.approx(tunes[1], abs=1e-7)
        assert number(ws, "model/rms_x") < 0.002


def test_it_waits_for_a_server_that_starts_anew(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = PlayedMachine(root).open()
    first.run(2 * UPDATE_TURNS)
    it = following(instance(root))
    made: list[PlayedMachine] = []

    def restart() -> None:
        first.owner.close()
        with left() as ws:
            assert number(ws, "model/looks") >= 1

    def again() -> None:
        made.append(PlayedMachine(root).open())
        made[0].put(h01=2.0)
        made[0].run(2 * UPDATE_TURNS)

    follow(it, lambda: None, restart, lambda: None, again, lambda: made[0].run(UPDATE_TURNS), lambda: None)
    said = capsys.readouterr().out
    assert "has ended" in said
    assert "it waits" in said
    assert "model follows demo again" in said
    with left() as ws:
        assert ws.parameters["model/state"].value == "following"
        assert number(ws, "model/turn") == 3 * UPDATE_TURNS
        assert number(ws, "model/rms_x") < 0.002
    made[0].owner.close()


def test_names_that_do_not_match_are_named(played: PlayedMachine, root: Path) -> None:
    _, mapping = files(root)
    text = mapping.read_text()
    for old, new, message in (
        ("ps/qf", "ps/other", "ps/other01/setpoint"),
        ("bpm[01-16]", "bqm[01-16]", "bqm01"),
        ("{x1,y1}", "{x2,y2}", "no lane 'x2'"),
    ):
        mapping.write_text(text.replace(old, new))
        with pytest.raises(ObjectNotFound, match=message):
            following(instance(root))
    mapping.write_text(text.replace("elements: QF", "elements: QX"))
    with pytest.raises(ValueError, match="strengths QX: 0 magnets of small, 16 supplies"):
        following(instance(root))
    mapping.write_text(text)
    with pytest.raises(ObjectNotFound, match="another owner's name"):
        following(instance(root, "server"))


def test_feedbacks_of_a_model_hold_its_orbit_and_its_tunes(played: PlayedMachine, root: Path) -> None:
    """While the machine has none: a kick, and a quadrupole, are taken away in the model alone."""
    orbit = OrbitLoop(("ps/h*", "ps/v*"), integral_hz=300.0)
    tune = TuneLoop({"qf": "ps/qf*", "qd": "ps/qd*"}, integral_hz=300.0)
    played.put(h01=0.0, v02=0.0)
    it = following(instance(root, orbit=orbit, tune=tune, changes=("QF=+0.0", "QD.dx=0")))
    follow(it, lambda: played.run(UPDATE_TURNS), *([lambda: played.run(UPDATE_TURNS)] * 2))
    begun = it.model.target
    assert begun is not None
    with left() as ws:
        before = number(ws, "model/tune_x")
    bumped = following(instance(root, orbit=orbit, tune=tune, apply=()))
    bumped.model.offsets[it.model.mapping.supplies.index("ps/h05")] = 1.0  # a kick that the machine does not show
    bumped.model.offsets[it.model.mapping.supplies.index("ps/qf01")] = 0.5
    bumped.model.target = begun
    follow(bumped, *([lambda: played.run(UPDATE_TURNS)] * 12))
    with left() as ws:
        assert np.abs(np.asarray(ws.parameters["model/model_x"].value)).max() < 0.05
        assert number(ws, "model/tune_x") == pytest.approx(before, abs=1e-5)
        assert number(ws, "model/orbit_moved") > 0.5
        assert number(ws, "model/orbit_feedback") == 1
        assert ws.parameters["model/orbit_gain"].writable


def test_the_first_residual_may_count_as_zero(played: PlayedMachine, root: Path) -> None:
    it = following(instance(root, changes=("QF=+0.002",), relative=True))
    follow(it, lambda: None, lambda: played.run(UPDATE_TURNS))
    with left() as ws:
        assert number(ws, "model/rms_x") < 0.002
        assert "gradient × 1.002" in str(ws.parameters["model/used"].value)


def test_the_command_follows(played: PlayedMachine, root: Path) -> None:
    lattice, mapping = files(root)
    common = ("twin", "follow", str(lattice), "--map", str(mapping), "--seconds", "0.3")
    said = ringmaster(*common, "--as", "model", "--set", "QF=+0.0", "--4d").stdout
    assert "model follows demo: 16 BPMs, 97 supplies, lattice small; QF: gradient × 1 (16 elements)" in said
    with left() as ws:
        assert number(ws, "model/looks") >= 1
        assert np.isnan(number(ws, "model/emittance_x"))  # it has no cavity
        assert 0 < number(ws, "model/tune_x") < 1
    assert "another owner's name" in ringmaster(*common, "--as", "server", expect=7).stderr
    assert "no element of small is named" in ringmaster(*common, "--as", "m", "--set", "Q9=1", expect=1).stderr
    assert "--as NAME is missing" in ringmaster(*common, expect=2).stderr


def test_turns_of_the_played_machine_are_those_of_its_rate() -> None:
    assert PERIOD_TURNS * 100 == UPDATE_TURNS == TURN_RATE_HZ / 1000

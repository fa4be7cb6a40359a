# SPDX-License-Identifier: Apache-2.0
"""A model by itself: supplies into strengths, supplies that are not ideal, files of instances, and what a change would
do.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from command import ringmaster
from played_machine import files, instance, resolved

from ringmaster.cli.main import cli
from ringmaster.errors import TwinNoAnswer
from ringmaster.machine.knobs import Knobs
from ringmaster.moving.change import Change, Move
from ringmaster.twin import Twin, load_lattice
from ringmaster.twins.instance import Instance, instance_of, read_instances
from ringmaster.twins.loops import Integrator, OrbitLoop, TuneLoop
from ringmaster.twins.model import Model
from ringmaster.twins.processes import run_all
from ringmaster.twins.strengths import SupplyMap
from ringmaster.twins.supplies import Crosstalk, Felt, Mismatch, Neighbours, SupplyErrors
from ringmaster.twins.what_if import asking, what_if

NAMES = ("ps/a", "ps/b", "ps/c")


def twin(folder: Path) -> Twin:
    made = Twin(load_lattice(files(folder)[0]))
    made.enable_6d()
    return made


def test_all_supplies_at_once_are_what_knobs_do_one_by_one(root: Path) -> None:
    rng = np.random.default_rng(1)
    by_call, by_knobs = twin(root), twin(root)
    mapping = resolved(by_call)
    values = rng.normal(0.0, 0.5, len(mapping.supplies))
    SupplyMap(by_call, mapping).set(values)
    Knobs(by_knobs, mapping).set(dict(zip(mapping.supplies, values, strict=True)))
    for one, other in zip(by_call, by_knobs, strict=True):
        for what in ("PolynomB", "PolynomA", "KickAngle", "Frequency"):
            if hasattr(one, what):
                np.testing.assert_allclose(getattr(one, what), getattr(other, what), rtol=1e-13, atol=1e-18)


def test_gain_offset_and_crosstalk() -> None:
    errors = SupplyErrors(
        (Mismatch("ps/a", gain=1.1, offset=0.5), Mismatch("ps/[b-c]", gain=1.0)),
        (Crosstalk("ps/a", "ps/c", 0.02),),
        (Neighbours("ps/*", 0.1),),
    )
    with pytest.raises(ValueError, match="no supply of the mapping"):
        Felt(NAMES, errors)
    felt = Felt(NAMES, replace(errors, mismatches=errors.mismatches[:1])).felt(np.array([1.0, 2.0, 4.0]), 0.0)
    own = np.array([1.6, 2.0, 4.0])
    np.testing.assert_allclose(felt, own + np.array([0.2, 0.16 + 0.4, 0.2 + 0.02 * 1.6]))


def test_the_field_follows_late_slowly_and_with_play() -> None:
    errors = SupplyErrors(
        (
            Mismatch("ps/a", delay_ms=20.0),
            Mismatch("ps/b", bandwidth_hz=10.0),
            Mismatch("ps/c", hysteresis=0.25),
        )
    )
    it = Felt(NAMES, errors)
    np.testing.assert_allclose(it.felt(np.zeros(3), 0.01), 0.0)  # at first it has followed long since
    seen = np.array([it.felt(np.ones(3), 0.01) for _ in range(4)])
    np.testing.assert_allclose(seen[:, 0], [0.0, 0.0, 1.0, 1.0])
    np.testing.assert_allclose(seen[:, 1], 1.0 - np.exp(-2 * np.pi * 10.0 * 0.01 * np.arange(1, 5)))
    np.testing.assert_allclose(seen[:, 2], 0.75)
    np.testing.assert_allclose(it.felt(np.full(3, 0.6), 0.01)[2], 0.75)  # within the play
    np.testing.assert_allclose(it.felt(np.zeros(3), 0.01)[2], 0.25)


def test_a_model_feels_what_the_same_fields_by_hand_do(root: Path) -> None:
    errors = SupplyErrors(
        (Mismatch("ps/h01", gain=1.05), Mismatch("ps/qf01", offset=0.4)), (Crosstalk("ps/qf01", "ps/qd01", 0.02),)
    )
    model = Model(replace(instance(root), supplies=errors))
    mapping = model.mapping
    currents = np.zeros(len(mapping.supplies))
    at = {name: i for i, name in enumerate(mapping.supplies)}
    currents[at["ps/h01"]], currents[at["ps/qf01"]] = 2.0, 1.0
    answer = model.answer(currents, 0.0)
    by_hand = twin(root)
    Knobs(by_hand, mapping).set({"ps/h01": 2.1, "ps/qf01": 1.4, "ps/qd01": 0.02 * 1.4})
    state = by_hand.optics_and_envelope(np.array(mapping.bpms, np.uint32))
    np.testing.assert_allclose(answer.orbit_um, 1e6 * state.optics.closed_orbit[:, [0, 2]], atol=1e-6)
    np.testing.assert_allclose(answer.beta_m, state.optics.beta, rtol=1e-8)
    np.testing.assert_allclose(answer.tune, state.tune, atol=1e-10)


def test_an_integral_takes_away_what_a_loop_of_its_bandwidth_does() -> None:
    loop = Integrator(np.eye(1), [0], hz=5.0, gain=2.0, on=True)
    error = 1.0
    for _ in range(10):
        loop.step(np.array([error + loop.moved[0]]), 0.003)
    assert 1.0 + loop.moved[0] == pytest.approx(np.exp(-2 * np.pi * 10.0 * 0.03))
    loop.on = False
    before = loop.moved.copy()
    loop.step(np.array([1.0]), 1.0)
    assert loop.moved == before


def test_a_change_file_is_applied_and_undone(root: Path) -> None:
    Change("c", "test", (Move("ps/qf01", 1.0, 1.5, "A"), Move("other", 0.0, 1.0, ""))).save(root / "c.yaml")
    applied = Model(instance(root, apply=(str(root / "c.yaml"),)))
    undone = Model(instance(root, undo=(str(root / "c.yaml"),)))
    zero = np.zeros(len(applied.mapping.supplies))
    tunes = [what_if(instance(root), {"ps/qf01": by}).after.tune[0] for by in (0.5, -0.5)]
    assert applied.answer(zero, 0.0).tune[0] == pytest.approx(tunes[0], abs=1e-9)
    assert undone.answer(zero, 0.0).tune[0] == pytest.approx(tunes[1], abs=1e-9)
    Change("c", "test", (Move("other", 0.0, 1.0, ""),)).save(root / "none.yaml")
    with pytest.raises(ValueError, match=r"none.yaml: none of its moves"):
        Model(instance(root, apply=(str(root / "none.yaml"),)))


def test_what_a_change_would_do(root: Path) -> None:
    asked = asking(instance(root))
    found = asked.what_if({"ps/qf01": 1.0, "ps/v*": 0.1}, {"rf/frequency": 50.0})
    assert found.moves["ps/qf01"] == (0.0, 1.0)
    assert found.moves["rf/frequency"] == (0.0, 50.0)
    assert len(found.moves) == 18
    by_hand = twin(root)
    knobs = Knobs(by_hand, resolved(by_hand))
    knobs.set({"ps/qf01": 1.0, "rf/frequency": 50.0} | {f"ps/v{i:02d}": 0.1 for i in range(1, 17)})
    state = by_hand.optics_and_envelope(np.array(asked.model.mapping.bpms, np.uint32), get_chrom=True)
    numbers = found.numbers()
    assert numbers["tune_x"][1] == pytest.approx(state.tune[0], abs=1e-9)
    assert numbers["chromaticity_y"][1] == pytest.approx(state.chromaticity[1], abs=1e-4)
    assert numbers["emittance_x_m"][1] == pytest.approx(state.emittance[0], rel=1e-6)
    before = twin(root).optics_and_envelope(np.array(asked.model.mapping.bpms, np.uint32))
    np.testing.assert_allclose(found.beating, state.optics.beta / before.optics.beta - 1.0, atol=1e-7)
    back = asked.what_if({"ps/qf01": 0.0})
    assert not back.moves
    assert back.rms()["beta_beating_x"] < 1e-7
    with pytest.raises(TwinNoAnswer):
        asked.what_if({"ps/qf*": 3000.0})
    with pytest.raises(ValueError, match="'ps/no' is no supply"):
        asked.what_if({"ps/no": 1.0})


def test_the_command_tells_what_a_change_would_do(root: Path) -> None:
    import json

    lattice, mapping = files(root)
    common = ("twin", "what-if", str(lattice), "--map", str(mapping))
    said = ringmaster(*common, "--set", "ps/qf01=+1", "--plot", str(root / "change.png"))
    assert "ps/qf01: 0 → 1" in said.stdout
    assert "β-beating" in said.stdout
    assert (root / "change.png").stat().st_size > 10000
    read = json.loads(ringmaster(*common, "--set", "ps/qf01=1", "--json").stdout)
    assert read["ring"]["tune_x"]["after"] > read["ring"]["tune_x"]["before"]
    assert len(read["at_bpms"]["orbit_um"][0]) == 16
    assert read["took_ms"] > 0
    assert "nothing changes" in ringmaster(*common, expect=2).stderr
    assert "expected SUPPLY=+NUMBER" in ringmaster(*common, "--set", "ps/qf01=x", expect=2).stderr


FILE = """\
twins:
  - name: design
    lattice: small.mat
    mapping: mapping.yaml
    hz: 150
  - name: real
    lattice: small.mat
    mapping: mapping.yaml
    changes: ["QF=+0.001"]
    source: readback
    core: 1
    supplies:
      - {names: "ps/h*", gain: 1.02, delay_ms: 3}
    crosstalk:
      - {of: ps/qf01, to: ps/qd01, share: 0.01}
    neighbours:
      - {names: "ps/v*", share: 0.001}
    feedbacks:
      orbit: {supplies: ["ps/h*", "ps/v*"], integral_hz: 10, gain: 0.5, on: false}
      tune: {families: {qf: "ps/qf*", qd: "ps/qd*"}, integral_hz: 1, tunes: [0.1, 0.2]}
"""


def test_a_file_of_instances(root: Path) -> None:
    files(root)
    path = root / "twins.yaml"
    path.write_text(FILE)
    design, real = read_instances(path)
    assert (design.name, design.hz, design.orbit, design.lattice) == ("design", 150.0, None, str(root / "small.mat"))
    assert real.orbit == OrbitLoop(("ps/h*", "ps/v*"), 10.0, 0.5, False)
    assert real.tune == TuneLoop({"qf": "ps/qf*", "qd": "ps/qd*"}, 1.0, tunes=(0.1, 0.2))
    assert real.supplies.mismatches == (Mismatch("ps/h*", gain=1.02, delay_ms=3.0),)
    assert instance_of(real.text) == real
    assert Model(real).words == ["QF: gradient × 1.001 (16 elements)"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: real", "name: design", r"twins.yaml:6:\d+: twins\[1\].name: there are two"),
        ("hz: 150", "hz: fast", r"twins.yaml:5:\d+: twins\[0\].hz: found 'fast', expected a number above 0"),
        ("hz: 150", "herz: 150", "there is no key 'herz'"),
        ("source: readback", "source: guess", "expected one of setpoint, readback"),
        ("gain: 1.02", "gian: 1.02", r"supplies\[0\].gian: there is no key"),
        ("share: 0.01", "share: much", r"crosstalk\[0\].share: found 'much'"),
        (", share: 0.001", "", r"neighbours\[0\].share: it is missing"),
        ("delay_ms: 3", "delay_ms: -3", "expected 0 or more"),
        ("integral_hz: 10,", "", "feedbacks.orbit.integral_hz: found None"),
        ("tunes: [0.1, 0.2]", "tunes: [0.1, 0.7]", "two fractional tunes"),
        ("on: false", "on: maybe", "expected true or false"),
        ("mapping: mapping.yaml\n    hz", "hz", r"twins\[0\].mapping: found None"),
        ("twins:", "models:", "there is no key 'models'"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_its_place(root: Path, old: str, new: str, message: str) -> None:
    path = root / "twins.yaml"
    path.write_text(FILE.replace(old, new, 1))
    with pytest.raises(ValueError, match=message):
        read_instances(path)


def test_a_feedback_whose_supplies_do_not_fit_is_named(root: Path) -> None:
    with pytest.raises(ValueError, match="'ps/qf01' is no corrector"):
        Model(instance(root, orbit=OrbitLoop(("ps/qf01",), 1.0)))
    with pytest.raises(ValueError, match="do not move both tunes"):
        Model(instance(root, tune=TuneLoop({"a": "ps/v01", "b": "ps/v02"}, 1.0)))


def test_one_of_the_command_line_is_found_from_other_folders(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it publishes of itself is read by `what-if --on`, wherever that is typed."""
    lattice, mapping = files(root)
    monkeypatch.chdir(root)
    made: list[Instance] = []
    monkeypatch.setattr("ringmaster.cli.twin_follow._follow", lambda instance, *_: made.append(instance))
    CliRunner().invoke(cli, ["twin", "follow", lattice.name, "--as", "model", "--map", mapping.name])
    assert [(it.lattice, it.mapping) for it in made] == [(str(lattice.resolve()), str(mapping.resolve()))]


def test_a_running_instance_has_its_own_lattice_and_mapping() -> None:
    for more in (["--4d"], ["--map", "mapping.yaml"], ["elettra2_like"]):
        told = CliRunner().invoke(cli, ["twin", "what-if", "--on", "model", "--set", "a=1", *more])
        assert told.exit_code == 2
        assert "of the running instance: leave" in told.output


def test_an_instance_is_a_plain_text(root: Path) -> None:
    it: Instance = instance(root)
    assert instance_of(it.text) == it


def test_one_that_dies_is_named_and_the_others_go_on() -> None:
    said: list[str] = []
    ended = run_all(
        {
            "short": (sys.executable, "-c", "print('its last words'); raise SystemExit(3)"),
            "long": (sys.executable, "-c", "import time; time.sleep(600)"),
        },
        lambda: any("status" in line for line in said),
        said.append,
    )
    assert ended == {"short": 3}
    assert said == ["its last words", "short has ended with status 3; the others go on"]

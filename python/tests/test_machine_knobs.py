# SPDX-License-Identifier: Apache-2.0
"""What supplies do to a twin, against the twin's own numbers; and how a mapping names them."""

from pathlib import Path

import numpy as np
import pytest

from ringmaster.machine.knobs import Knobs
from ringmaster.machine.mapping import resolve
from ringmaster.twin import Kind, Lattice, Twin, load_lattice, orbit_response

LATTICE = """
qf: quadrupole, l = 0.4, k1 := 1.6;  qd: quadrupole, l = 0.4, k1 := -1.4;
d1: drift, l = 0.5;  b: sbend, l = 1.0, angle = pi/16;  db: drift, l = 0.3;
rb: sbend, l = 0.2, angle = -pi/400, k1 := 0.8;  nb: sbend, l = 0.2, angle = pi/400;
s1: sextupole, l = 0.1, k2 := 4.0;  bpm: monitor;  ca: kicker;  cav: rfcavity, volt = 2, harmon = 64;
cell: line = (qf, d1, b, s1, s1, db, qd, d1, b, d1);
part: line = (bpm, 2*cell, rb, ca, nb);
ring: line = (8*part, cav);
beam, particle = electron, energy = 1.0;
use, sequence = ring;
"""
GIVEN = {
    "bpms": "bpm",
    "rows": "b[1-8]/{x1,y1}",
    "correctors": [
        {"elements": "ca", "plane": "x", "actuators": "ps/h[1-8]", "urad_per_unit": 10},
        {"elements": "ca", "plane": "y", "actuators": "ps/v[1-8]", "urad_per_unit": 10},
    ],
    "rf": {"actuator": "ps/rf", "hz_per_unit": 10},
    "strengths": [
        {"elements": "q[fd]", "change": "gradient", "supplies": "ps/q[01-32]", "per_unit": 0.01},
        {"elements": "b", "change": "gradient", "supplies": "ps/b[01-32]", "per_unit": 0.01},
        {"elements": "[rn]b", "change": "gradient", "supplies": "ps/rb[01-16]", "per_unit": 0.01},
        {"elements": "s1", "change": "sextupole", "supplies": "ps/s[01-16]", "per_unit": 0.01},
        {"elements": "s1", "change": "skew", "supplies": "ps/k[01-16]", "per_unit": 0.002},
    ],
}


@pytest.fixture(scope="module")
def lattice(tmp_path_factory: pytest.TempPathFactory) -> Lattice:
    path = tmp_path_factory.mktemp("knobs") / "small.madx"
    path.write_text(LATTICE)
    return load_lattice(path)


@pytest.fixture
def twin(lattice: Lattice) -> Twin:
    made = Twin(lattice)
    made.enable_6d()
    return made


@pytest.fixture
def knobs(twin: Twin) -> Knobs:
    return Knobs(twin, resolve(twin.lattice, GIVEN))


def orbit(twin: Twin) -> np.ndarray:
    return twin.find_orbit(Kind.MONITOR)[1][:, [0, 2]]


def state(twin: Twin) -> list[object]:
    fields = ("PolynomA", "PolynomB", "KickAngle", "Frequency")
    return [np.array(getattr(it, name)).tolist() for it in twin for name in fields if hasattr(it, name)]


def test_every_supply_has_a_knob_and_at_nothing_stands_as_before(twin: Twin, knobs: Knobs) -> None:
    supplies = resolve(twin.lattice, GIVEN).supplies
    assert len(supplies) == 8 + 8 + 1 + 32 + 32 + 16 + 16 + 16
    assert all(name in knobs for name in supplies)
    assert "ps/none" not in knobs
    before = state(twin)
    knobs.set(dict.fromkeys(supplies, 0.5))
    assert state(twin) != before
    knobs.set(dict.fromkeys(supplies, 0.0))
    assert state(twin) == before
    with pytest.raises(KeyError):
        knobs.set({"ps/none": 1.0})


def test_a_kick_moves_the_orbit_as_the_response_says(twin: Twin, knobs: Knobs) -> None:
    corrector = int(twin.get_uint32_index("ca")[2])
    response = orbit_response(twin, Kind.MONITOR, [(corrector, "x"), (corrector, "y")])
    before = orbit(twin)
    knobs.set({"ps/h3": 0.1})  # 1 µrad
    np.testing.assert_allclose(orbit(twin)[:, 0] - before[:, 0], 1e-6 * response[0, :, 0], rtol=1e-3, atol=1e-10)
    knobs.set({"ps/h3": 0.0, "ps/v3": -0.1})
    np.testing.assert_allclose(orbit(twin)[:, 1] - before[:, 1], -1e-6 * response[1, :, 1], rtol=1e-3, atol=1e-10)


def test_a_kick_is_added_to_what_the_lattice_has(twin: Twin) -> None:
    corrector = int(twin.get_uint32_index("ca")[0])
    twin.set_kick(corrector, horizontal=5e-6)
    knobs = Knobs(twin, resolve(twin.lattice, GIVEN))
    knobs.set({"ps/h1": 1.0})
    assert twin[corrector].KickAngle[0] == pytest.approx(15e-6)
    knobs.set({"ps/v1": 1.0})
    assert list(twin[corrector].KickAngle) == pytest.approx([15e-6, 10e-6])


def test_the_frequency_moves_the_orbit_by_the_dispersion(twin: Twin, knobs: Knobs) -> None:
    response = orbit_response(twin, Kind.MONITOR, [])
    before, frequency = orbit(twin), twin.rf_frequency
    knobs.set({"ps/rf": 2.0})
    assert twin.rf_frequency == pytest.approx(frequency + 20, abs=1e-6)
    np.testing.assert_allclose(orbit(twin)[:, 0] - before[:, 0], 20 * response[0, :, 0], rtol=0.01, atol=1e-9)


def test_a_gradient_moves_the_tunes_by_the_beta_there(twin: Twin, knobs: Knobs) -> None:
    magnet = int(twin.get_uint32_index("qd")[4])
    _, before, at = twin.linopt6([magnet, magnet + 1])
    strength, length = twin[magnet].PolynomB[1], twin[magnet].Length
    knobs.set({"ps/q10": 0.02})  # the 10th of qf, qd, qf, …
    assert twin[magnet].PolynomB[1] == pytest.approx(strength * 1.0002)
    _, after, _ = twin.linopt6([])
    moved = (after.tune - before.tune)[:2]
    expected = np.array([1, -1]) * 2e-4 * strength * length * at.beta.mean(axis=0) / (4 * np.pi)
    np.testing.assert_allclose(moved, expected, rtol=0.1)  # β at both ends stands for that within


def test_a_bend_s_angle_goes_with_its_gradient(lattice: Lattice) -> None:
    """All magnets 0.1 % stronger, and a particle of 0.1 % more momentum: it goes as before."""
    twin = Twin(lattice)
    twin.disable_6d()
    knobs = Knobs(twin, resolve(lattice, GIVEN))
    away = np.abs(twin.find_orbit(Kind.MONITOR, dp=1e-3)[1][:, 0]).max()
    stronger = [name for name in resolve(lattice, GIVEN).supplies if name.startswith(("ps/q", "ps/b", "ps/rb", "ps/s"))]
    knobs.set(dict.fromkeys(stronger, 0.1))
    assert away > 1e-4
    assert np.abs(twin.find_orbit(Kind.MONITOR, dp=1e-3)[1][:, 0]).max() < 1e-9 * away


def test_a_reverse_bend_kicks_against_its_angle(twin: Twin, knobs: Knobs) -> None:
    """Its own knob alone, against a corrector that follows it: more of a bend of −θ is a kick of +ε θ."""
    bend = int(twin.get_uint32_index("rb")[0])
    corrector = int(twin.get_uint32_index("ca")[0])
    response = orbit_response(twin, Kind.MONITOR, [(corrector, "x")])[0, :, 0]
    before = orbit(twin)
    knobs.set({"ps/rb01": 0.01})
    kick = -1e-4 * twin[bend].BendingAngle
    assert kick > 0
    moved = orbit(twin)[:, 0] - before[:, 0]
    assert np.linalg.norm(moved - kick * response) < 0.2 * np.linalg.norm(kick * response)


def test_a_sextupole_of_two_elements_is_one_magnet(twin: Twin, knobs: Knobs) -> None:
    elements = [int(i) for i in twin.get_uint32_index("s1")[:4]]
    strength = twin[elements[0]].PolynomB[2]
    knobs.set({"ps/s02": 1.0, "ps/k02": 3.0})
    assert [twin[i].PolynomB[2] / strength for i in elements] == pytest.approx([1, 1, 1.01, 1.01])
    lengths = [twin[i].Length for i in elements]
    skew = [twin[i].PolynomA[1] * length for i, length in zip(elements, lengths, strict=True)]
    assert skew[:2] == [0, 0]
    assert sum(skew) == pytest.approx(3 * 0.002)


def test_a_skew_winding_couples(twin: Twin, knobs: Knobs) -> None:
    corrector = int(twin.get_uint32_index("ca")[2])
    into_y = [np.abs(orbit_response(twin, Kind.MONITOR, [(corrector, "x")])[1, :, 0]).max()]
    for strength in (1.0, 2.0):
        knobs.set({"ps/k05": strength})
        into_y.append(np.abs(orbit_response(twin, Kind.MONITOR, [(corrector, "x")])[1, :, 0]).max())
    assert into_y[0] < 1e-9
    assert into_y[2] == pytest.approx(2 * into_y[1], rel=0.05)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"supplies": "ps/x[1-3]"}, "strengths s1: 16 magnets of .*, 3 supplies"),
        ({"change": "octupole"}, "found change 'octupole', expected one of gradient, skew, sextupole"),
        ({"supplies": "ps/*"}, "the pattern 'ps/\\*' matches nothing"),
    ],
)
def test_strengths_that_do_not_fit_are_refused(lattice: Lattice, entry: dict[str, str], expected: str) -> None:
    whole = {"elements": "s1", "change": "sextupole", "supplies": "ps/x[01-16]", "per_unit": 1.0}
    with pytest.raises(ValueError, match=expected):
        resolve(lattice, {**GIVEN, "strengths": [{**whole, **entry}]})


def test_patterns_of_a_server_s_supplies_find_theirs(lattice: Lattice, tmp_path: Path) -> None:
    known = [f"ps/x{i:02d}" for i in range(1, 17)]
    given = {**GIVEN, "strengths": [{"elements": "s1", "change": "skew", "supplies": "ps/x*", "per_unit": 1.0}]}
    mapping = resolve(lattice, given, known=known)
    assert mapping.strengths[0].supplies == tuple(known)
    assert mapping.supplies[: len(mapping.actuators)] == mapping.actuators
    assert all(len(magnet) == 2 for magnet in mapping.strengths[0].magnets)

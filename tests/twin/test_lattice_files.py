# SPDX-License-Identifier: Apache-2.0
"""Lattice files: every element as pyAT has it, from each format, and written back."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import at
import from_pyat
import numpy as np
import pytest
import scipy.io
from compare import differences, elements, info, read
from library import ROOT, call, ffi, library

SHARED = ROOT / "../shared/data/lattices"
MACHINES = Path(str(resources.files("machine_data")))
EXAMPLES = ROOT / "twin/read/examples"
SHIPPED = (
    "dba.mat", "hmba.mat", "err.mat", "noenergy.mat", "noringparam.mat", "esrf.m", "soleil.m", "thomx.m",
    "australian_synchrotron.m",
)  # fmt: skip
OURS = ("elettra2_s6bae.mat", "elettra2_phase1_linear.m")

pytestmark = pytest.mark.filterwarnings("ignore")
needs_shared = pytest.mark.skipif(not SHARED.exists(), reason=f"NO LATTICES AT {SHARED}, so they are not read")

FILES = [pytest.param(MACHINES / name, id=name) for name in SHIPPED] + [
    pytest.param(SHARED / name, id=f"shared {name}", marks=needs_shared) for name in OURS
]


def write(lattice: Any, path: Path) -> None:
    call(library.rm_lattice_write_mat, lattice, str(path).encode())


def assert_same_ring(ours: Any, ring: Any) -> None:
    assert info(ours) == {
        "name": ring.name,
        "particle": str(ring.particle.name),
        "rest_energy_ev": float(ring.particle.rest_energy),
        "charge_e": ring.particle.charge,
        "energy_ev": ring.energy,
        "periodicity": ring.periodicity,
        "harmonic_number": ring.periodicity * getattr(ring, "_cell_harmnumber", 0),
    }


@pytest.mark.parametrize("path", FILES)
def test_reads_what_pyat_reads(path: Path) -> None:
    ours, ring = read(path), at.load_lattice(str(path))
    assert differences(ours, from_pyat.lattice(ring)) == []
    assert_same_ring(ours, ring)


@pytest.mark.parametrize("path", FILES)
def test_writes_what_pyat_and_we_read_back(path: Path, tmp_path: Path) -> None:
    ours = read(path)
    write(ours, tmp_path / "ring.mat")
    again = read(tmp_path / "ring.mat")
    assert differences(ours, again) == []
    assert info(ours) == info(again)
    assert differences(ours, from_pyat.lattice(at.load_lattice(str(tmp_path / "ring.mat")))) == []


def test_a_lattice_without_classes_is_that_with_classes() -> None:
    """Errnoclass.mat, which pyAT refuses for K beside PolynomB, is err.mat less Class; K goes for nothing."""
    ours, with_class = read(MACHINES / "errnoclass.mat"), read(MACHINES / "err.mat")
    assert differences(ours, with_class, but=("kind",)) == []
    kinds = {e["kind"] for e in elements(ours)}
    assert {library.RM_ELEMENT_DIPOLE, library.RM_ELEMENT_MULTIPOLE, library.RM_ELEMENT_CAVITY} <= kinds


@pytest.mark.parametrize("form", ["mat", "m"])
def test_reads_what_pyat_writes(form: str, tmp_path: Path) -> None:
    ring = at.load_lattice(str(MACHINES / "hmba.mat"))
    ring.particle = at.Particle("electron")
    ring[3].T1 = np.array([1e-4, 0, -2e-5, 0, 0, 0])
    ring[3].R1 = np.asfortranarray(np.arange(36.0).reshape(6, 6))
    ring[4].EApertures = [0.01, 0.02]
    ring.enable_6d()
    path = tmp_path / f"ring.{form}"
    at.save_lattice(ring, str(path))
    assert differences(read(path), from_pyat.lattice(at.load_lattice(str(path)))) == []


def every_class() -> at.Lattice:
    """An element of each class and pass, with fields that most lattices do not have."""
    tilted = at.Quadrupole("tilted", 0.3, -1.2, FringeQuadEntrance=2, FringeQuadExit=2)
    tilted.fringeIntM0, tilted.fringeIntP0 = np.arange(5) * 1e-3, np.arange(5) * -1e-3
    tilted.R1, tilted.R2 = np.asfortranarray(np.diag(np.arange(1.0, 7))), np.asfortranarray(np.tri(6))
    harmonics = np.array([[1, 1, 0, 1, 1, 0], [3, 0.1, 0, 3, 3, 0.5]]).T
    passes: dict[str, dict[str, Any]] = {
        "BndMPoleSymplectic4E2Pass": {"H1": 0.1, "H2": -0.2, "FullGap": 0.03, "FringeInt1": 0.5, "FringeInt2": 0.4},
        "BndStrMPoleSymplectic4Pass": {"X0ref": 1e-3, "RefDZ": -2e-5},
        "BendLinearPass": {"EntranceAngle": 0.01},
        "BndMPoleSymplectic4RadPass": {"FringeBendEntrance": 3, "FringeBendExit": 2, "KickAngle": [1e-5, 2e-5]},
    }
    bends = [
        at.Dipole(f"b{i}", 0.8, 0.1, 0.3, PassMethod=name, **more) for i, (name, more) in enumerate(passes.items())
    ]
    return at.Lattice(
        [
            at.Drift("d", 1.0, PassMethod="ExactDriftPass", RApertures=[-0.1, 0.1, -0.2, 0.2], EApertures=[0.1, 0.2]),
            tilted,
            at.Quadrupole("linear", 0.3, 1.2, PassMethod="QuadLinearPass"),
            at.Sextupole("s", 0.2, 30.0, PolynomA=[0, 0, 2.0, 5.0], NumIntSteps=3),
            at.Octupole("o", 0.1, [0, 0, 0, 1.0], [0, 0, 0, 2.0]),
            at.Multipole("m", 0.1, [0.1], [0, 0, 0, 0, 2.0]),
            at.ThinMultipole("t", [0.0, 1e-3], [0, 0, 5.0]),
            at.Corrector("c", 0.1, [1e-4, -1e-4]),
            at.RFCavity("rf", 0.0, 1e6, 5e8, 12, 3e9, PhaseLag=0.1, TimeLag=0.01),
            at.M66("m66", np.asfortranarray(np.arange(36.0).reshape(6, 6))),
            at.Aperture("a", [-0.01, 0.02, -0.03, 0.04]),
            at.Wiggler("w", 1.0, 0.1, 1.5, By=harmonics, Bx=np.zeros((6, 0))),
            *bends,
        ],
        name="every class", energy=3e9, periodicity=4,
    )  # fmt: skip


@pytest.mark.parametrize("form", ["mat", "m"])
def test_reads_and_writes_every_class_of_pyat(form: str, tmp_path: Path) -> None:
    ring = every_class()
    at.save_lattice(ring, str(tmp_path / f"ring.{form}"))
    ours = read(tmp_path / f"ring.{form}")
    assert differences(ours, from_pyat.lattice(ring)) == []
    assert_same_ring(ours, ring)
    write(ours, tmp_path / "again.mat")
    assert differences(from_pyat.lattice(at.load_lattice(str(tmp_path / "again.mat"))), from_pyat.lattice(ring)) == []


def test_reads_every_kind_of_constructor(tmp_path: Path) -> None:
    """The example has what pyAT's reader has not (variables, a solenoid): our own .mat tells it back."""
    ours = read(EXAMPLES / "elements.m")
    kinds = [e["kind"] for e in elements(ours)]
    assert kinds[-2:] == [library.RM_ELEMENT_SOLENOID, library.RM_ELEMENT_WIGGLER]
    found = {e["name"]: e for e in elements(ours)}
    assert found["QF"]["polynom_b"] == (0.0, 5.5)
    assert found["SF"]["polynom_b"] == (0.0, 0.0, 81.0)
    assert found["SF"]["t2"] == (0.0, 0.0, -1e-4, 0.0, 0.0, 0.0)
    assert found["B"]["entrance_angle_rad"] == found["B"]["bending_angle_rad"] / 2
    assert found["C"]["kick_angle_rad"] == (1e-5, -2e-5)
    assert found["X"]["matrix"] == found["X"]["r1"] == tuple(np.eye(6).ravel())
    assert found["S"]["solenoid_strength"] == 0.2
    by = found["W"]["wiggler"][4]
    assert by == {"by": [(1.0, 1.0, 0.0, 1.0, 1.0, 0.0)], "bx": []}
    write(ours, tmp_path / "ring.mat")
    assert differences(ours, read(tmp_path / "ring.mat")) == []


def test_names_and_chooses_variables(tmp_path: Path) -> None:
    one = {"FamName": "D", "PassMethod": "DriftPass", "Length": 1.0, "Energy": 1e9}
    rings = {name: np.array([[one | {"FamName": name}]], dtype=object) for name in ("first", "second")}
    path = tmp_path / "two.mat"
    scipy.io.savemat(path, rings | {"other": 3.0})
    with pytest.raises(RuntimeError, match=r"first \(a lattice\), second \(a lattice\), other"):
        read(path)
    with pytest.raises(RuntimeError, match="third is no lattice"):
        read(path, variable="third")
    assert elements(read(path, variable="second"))[0]["name"] == "second"
    scipy.io.savemat(path, {"THERING": rings["first"], "GLOBVAL": {"E0": 2e9}}, do_compression=True)
    assert info(read(path))["energy_ev"] == 2e9


def test_tells_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "ring.mat"
    drift = {"FamName": "D1", "PassMethod": "DriftPass", "Length": 1.0}
    scipy.io.savemat(path, {"RING": np.array([[drift]], dtype=object)})
    with pytest.raises(RuntimeError, match="at which energy"):
        read(path)
    scipy.io.savemat(path, {"RING": np.array([[drift, drift | {"PassMethod": "IdTablePass"}]], dtype=object)})
    with pytest.raises(RuntimeError, match=r"cell 2 \(D1\): .*IdTablePass"):
        read(path)


MADX = EXAMPLES / "elements.madx"


@pytest.mark.parametrize("use", ["ring", "seq"])
def test_reads_madx_as_pyat_does(use: str, tmp_path: Path) -> None:
    """Less what pyAT reads in another way: a solenoid, install, radiation, and the faces of a bend in -LINE."""
    text = MADX.read_text().replace(", so, ", ", ").split("seqedit")[0].replace(", radiate", "")
    text = text.replace("e2 = 0.02", "e2 = 0.01").replace("fintx = 0.4", "fintx = 0.5")
    path = tmp_path / "elements.madx"
    path.write_text(text)
    assert differences(read(path, sequence=use), from_pyat.lattice(at.load_madx(str(path), use=use))) == []


def test_madx_radiates_installs_and_solenoids() -> None:
    found = elements(read(MADX))
    by_name = {e["name"]: e for e in found}
    assert by_name["so"]["solenoid_strength"] == 0.1
    assert by_name["b1"]["radiation"] == by_name["q1"]["radiation"] == library.RM_RADIATION_CLASSICAL
    assert by_name["rf"]["pass"] == by_name["rf2"]["pass"] == library.RM_PASS_RF_CAVITY
    assert [(e["name"], e["length_m"]) for e in found[:3]] == [("d1", 0.7), ("rf3", 0.0), ("d1", 0.8)]


def test_a_reflected_line_does_not_turn_its_bends() -> None:
    """As in MAD-X, whose matrix of -(d, b) is that of (b, d); pyAT exchanges the faces."""
    bend = next(e for e in elements(read(MADX)) if e["name"] == "b1")
    assert (bend["entrance_angle_rad"], bend["exit_angle_rad"], bend["fringe_int"]) == (0.01, 0.02, (0.5, 0.4))


@needs_shared
def test_the_converted_elettra_is_its_madx(tmp_path: Path) -> None:
    """elettra2_s6bae.mat was made from the MAD-X file: the same, but for the RF's name and rounding of its place."""
    path = tmp_path / "ring.madx"
    name = "elettra2_v15_VADER_2.3T.madx"
    path.write_text(
        "NRJ_GeV = 2.4; ON_RF = 1; ON_SEXT = 1; ON_OCT = 1;\n"
        f'call, file = "{(SHARED / f"optics_{name}").resolve()}";\ncall, file = "{(SHARED / name).resolve()}";\n'
    )
    ours, theirs = elements(read(path)), elements(read(SHARED / "elettra2_s6bae.mat"))
    assert len(ours) == len(theirs) == 3680
    for mine, other in zip(ours, theirs, strict=True):
        assert mine["name"].lower() == other["name"].lower()
        assert mine["length_m"] == pytest.approx(other["length_m"], abs=1e-14)
        assert mine["frequency_hz"] == pytest.approx(other["frequency_hz"], rel=1e-7)
        same = set(mine) - {"name", "length_m", "frequency_hz", "radiation"}
        assert {key: mine[key] for key in same} == {key: other[key] for key in same}
    with pytest.raises(RuntimeError, match="is not defined; set it before"):
        read(SHARED / name)


def test_does_not_leave_half_a_file(tmp_path: Path) -> None:
    ours = read(MACHINES / "dba.mat")
    error = ffi.new("struct rm_error *")
    assert library.rm_lattice_write_mat(ours, str(tmp_path / "no/folder.mat").encode(), error) != library.RM_OK
    assert "no/folder.mat" in ffi.string(error.text).decode()
    assert list(tmp_path.iterdir()) == []

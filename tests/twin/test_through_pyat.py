# SPDX-License-Identifier: Apache-2.0
"""Lattices that come through pyAT: from memory, and from files in formats that the C library does not read."""

import json
import sys
from pathlib import Path
from typing import Any

import from_pyat
import numpy as np
import pytest
from click.testing import CliRunner
from compare import differences

from ringmaster.cli.twin import twin as command
from ringmaster.errors import LatticeAbsent, LatticeInvalid, TwinArgument
from ringmaster.twin import All, Twin, load_lattice

at = pytest.importorskip("at", reason="pyAT (accelerator-toolbox) is not installed: nothing comes through it")
CELLS, ENERGY_EV = 12, 2.4e9
DESIGNS = ("fodo", "double bend")


def cell(design: str) -> Any:
    """A cell of CELLS, with a cavity, and sextupoles that a closed orbit feeds down from."""
    half = np.pi / CELLS
    bend = at.Dipole("B", 1.0, half, 0.0, EntranceAngle=half / 2, ExitAngle=half / 2)
    strengths = {"fodo": (2.2, -2.2), "double bend": (0.91, -1.0)}[design]
    focus, defocus = (at.Quadrupole(name, 0.3, k) for name, k in zip(("QF", "QD"), strengths, strict=True))
    drift = at.Drift("D", 0.6)
    chromatic, monitor = at.Sextupole("SF", 0.1, 12.0), at.Monitor("BPM")
    arcs: dict[str, list[Any]] = {
        "fodo": [focus, drift, bend, chromatic, drift, defocus, monitor, drift, bend, drift],
        "double bend": [drift, defocus, drift, focus, drift, bend, drift, at.Quadrupole("QC", 0.4, 0.69), chromatic,
                        drift, bend, monitor, drift, focus, drift, defocus, drift],
    }  # fmt: skip
    cavity = at.RFCavity("RF", 0.0, 3e5, 1.0, CELLS * 20, ENERGY_EV)
    ring = at.Lattice([*arcs[design], cavity], name=design, energy=ENERGY_EV, periodicity=CELLS)
    ring.set_cavity(Frequency=at.Frf.NOMINAL)
    ring.disable_6d()
    return ring


def assert_same_optics(twin: Twin, ring: Any) -> None:
    ours, theirs = twin.get_optics(All), at.get_optics(ring, at.All)
    for name in ("beta", "alpha", "mu", "dispersion", "closed_orbit", "s_pos"):
        np.testing.assert_allclose(ours[2][name], theirs[2][name], rtol=1e-5, atol=1e-7, err_msg=name)
    np.testing.assert_allclose(ours[1].tune, theirs[1].tune, atol=1e-7)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("in_6d", [False, True])
def test_a_lattice_in_memory_has_pyats_optics(design: str, in_6d: bool) -> None:
    ring = cell(design)
    if in_6d:
        ring.enable_6d()
        ring.set_cavity_phase()
    ring[0].T1, ring[0].T2 = np.array([[1e-5, 0, 0, 0, 0, 0], [-1e-5, 0, 0, 0, 0, 0]])
    twin = Twin(ring)
    assert (twin.lattice.name, twin.lattice.periodicity, len(twin), twin.is_6d) == (design, CELLS, len(ring), in_6d)
    assert differences(twin.lattice.pointer, from_pyat.lattice(ring)) == []
    assert_same_optics(twin, ring)


def test_it_is_copied_as_it_is_at_that_moment() -> None:
    ring = cell("fodo")
    before = Twin(ring)
    ring[0].K *= 1.01
    assert before[0].K == 2.2
    assert Twin(ring)[0].K == 2.2 * 1.01
    assert_same_optics(Twin(ring), ring)


def test_a_class_made_from_pyats_is_pyats() -> None:
    ours = type("Ours", (at.Lattice,), {})
    assert len(Twin(ours(cell("fodo")))) == len(cell("fodo"))
    for thing, found in ((list(cell("fodo")), "list"), (None, "NoneType"), (7, "int")):
        with pytest.raises(TwinArgument, match=f"found a {found}, expected a lattice, pyAT's or ours"):
            Twin(thing)


def test_what_is_not_tracked_is_refused_by_name_and_class(tmp_path: Path) -> None:
    ring = cell("fodo")
    ring.append(at.EnergyLoss("LOSS", 1e5))
    ring.disable_6d()
    words = r', as pyAT .* \(LOSS\): element 11 "LOSS" is of class EnergyLoss, which acts'
    with pytest.raises(LatticeInvalid, match=f"^pyAT's lattice 'fodo'{words}"):
        Twin(ring)
    path = tmp_path / "ring.json"
    ring.save(str(path))
    with pytest.raises(LatticeInvalid, match=f"^{path}{words}"):
        Twin(path)
    ring = cell("fodo")
    ring[1].remark = None
    with pytest.raises(LatticeInvalid, match=r"^pyAT's lattice 'fodo': pyAT cannot write it as .mat: TypeError"):
        Twin(ring)


@pytest.mark.parametrize("design", DESIGNS)
def test_a_json_file_has_pyats_optics(design: str, tmp_path: Path) -> None:
    path = tmp_path / "ring.json"
    cell(design).save(str(path))
    assert_same_optics(Twin(str(path)), cell(design))


def test_an_elegant_file_wants_its_energy(tmp_path: Path) -> None:
    path, ring = tmp_path / "ring.lte", cell("fodo")
    at.save_elegant(ring, str(path), use="CELL")
    with pytest.raises(TwinArgument, match=r"ring\.lte: an elegant file does not tell the energy"):
        Twin(path)
    lattice = load_lattice(path, use="CELL", energy=ENERGY_EV)
    assert lattice.energy == ENERGY_EV
    theirs = at.load_elegant(str(path), use="CELL", energy=ENERGY_EV)
    assert_same_optics(Twin(lattice), theirs)
    said = CliRunner().invoke(command, [str(path), "--use", "CELL", "--energy", str(ENERGY_EV), "--json", "--4d"])
    assert said.exit_code == 0, said.output
    assert json.loads(said.stdout)  # what pyAT prints is not in it
    with pytest.raises(LatticeInvalid, match=r"ring\.lte: pyAT cannot read it: KeyError.*NONE"):
        load_lattice(path, use="NONE", energy=ENERGY_EV)


def test_what_is_wrong_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LatticeAbsent, match=r"nowhere\.json: there is no such file"):
        load_lattice(tmp_path / "nowhere.json")
    cell("fodo").save(str(tmp_path / "ring.mat"))
    with pytest.raises(TwinArgument, match=r"ring\.mat: found an energy for it"):
        load_lattice(tmp_path / "ring.mat", energy=ENERGY_EV)
    path = tmp_path / "ring.json"
    path.write_text("{}")
    with pytest.raises(LatticeInvalid, match=r"ring\.json: pyAT cannot read it: TypeError"):
        load_lattice(path)
    monkeypatch.setitem(sys.modules, "at", None)  # as if it were not installed
    with pytest.raises(TwinArgument, match=r"ring\.json: .* need pyAT: pip install accelerator-toolbox"):
        load_lattice(path)
    assert len(load_lattice(tmp_path / "ring.mat")) == len(cell("fodo"))

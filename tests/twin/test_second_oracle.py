# SPDX-License-Identifier: Apache-2.0
"""Elettra 2.0's MAD-X file, read by us and by MAD-X itself: an oracle that shares nothing with pyAT.

PTC, which comes with MAD-X, can integrate as AT does (drifts and kicks, fourth order, ten slices): the same map, and so
the same optics to rounding. MAD-X's own twiss has closed formulas of thick magnets, which ours come to meet as slices
are added. Its emit, after A. Chao, comes to meet our envelope as magnets are cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from pairs import SHARED, at

from ringmaster.twin import All, Kind, Lattice, Twin, load_lattice, save_mat

cpymad = pytest.importorskip("cpymad.madx", reason="NO MAD-X HERE (cpymad), so it is not compared with the twin")

NAME = "elettra2_v15_VADER_2.3T.madx"
TEXT = f"""NRJ_GeV = 2.4; ON_RF = 1; ON_SEXT = 1; ON_OCT = 1;
call, file = "{SHARED.resolve()}/optics_{NAME}"; call, file = "{SHARED.resolve()}/{NAME}";
"""
COLUMNS = ("betx", "bety", "alfx", "alfy", "dx", "dpx")
PTC_COLUMNS = ("beta11", "beta22", "alfa11", "alfa22", "disp1", "disp2")
CELLS = 12
"""Of the ring: of one `ringgy` each."""

pytestmark = [
    pytest.mark.skipif(not (SHARED / NAME).exists(), reason=f"NO LATTICE {SHARED / NAME}, so MAD-X is not asked"),
    pytest.mark.filterwarnings("ignore"),  # pyAT's, of files that others wrote
]


@contextmanager
def madx(text: str, sequence: str) -> Iterator[Any]:
    """MAD-X, with a sequence to be asked about; it ends with the block, and PTC's file of its own with it."""
    with TemporaryDirectory() as folder, cpymad.Madx(stdout=False, cwd=folder) as program:
        program.input(text)
        program.use(sequence=sequence)
        yield program


def without_radiation(sequence: str) -> str:
    return f"{TEXT} ON_RF = 0; beam, sequence = {sequence}, particle = electron, energy = 2.4, radiate = false;"


@pytest.fixture(scope="module")
def lattice(tmp_path_factory: pytest.TempPathFactory) -> Lattice:
    """Read from the MAD-X file."""
    path = tmp_path_factory.mktemp("madx") / "ring.madx"
    path.write_text(TEXT)
    return load_lattice(path)


@pytest.fixture(scope="module")
def ring(lattice: Lattice, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What we read from it, as pyAT's, by which it is changed."""
    path = tmp_path_factory.mktemp("madx") / "ring.mat"
    save_mat(lattice, path)
    return at.load_mat(str(path))


def twin_of(ring: Any, folder: Path) -> Twin:
    at.save_lattice(ring, str(folder / "ring.mat"))
    return Twin(load_lattice(folder / "ring.mat"))


def sliced(ring: Any, factor: int) -> Any:
    """With so many times the slices."""
    made = ring.deepcopy()
    for element in made:
        if getattr(element, "NumIntSteps", 0) and element.Length:
            element.NumIntSteps *= factor
    return made


def at_exits(table: Any, columns: tuple[str, ...], ours: Lattice, optics: Any) -> tuple[Any, Any]:
    """MAD-X's columns, and our records, at the exits of what has the same name in both (drifts do not)."""
    kept = ("monitor", "quadrupole", "sbend", "multipole", "hkicker", "vkicker")
    rows = [i for i, keyword in enumerate(table["keyword"]) if keyword in kept]
    names = [str(table["name"][i]).split(":")[0] for i in rows]
    kinds = (Kind.MONITOR, Kind.QUADRUPOLE, Kind.DIPOLE, Kind.THIN_MULTIPOLE, Kind.CORRECTOR)
    indices = np.sort(np.concatenate([ours.find(kind=kind) for kind in kinds]))[: len(rows)]
    assert [ours.names[i].lower() for i in indices] == names
    return np.column_stack([np.asarray(table[column])[rows] for column in columns]), optics[indices + 1]


def test_ptc_has_the_same_map(lattice: Lattice) -> None:
    """Tunes, chromaticity, momentum compaction, and optics at every magnet and BPM of a cell."""
    twin = Twin(lattice)
    twin.disable_6d()
    _, summary, optics = twin.linopt6(All, get_chrom=True)
    with madx(without_radiation("ringgy"), "ringgy") as program:
        program.input(
            "ptc_create_universe; ptc_create_layout, model = 1, method = 4, nst = 10, exact = false, time = false;"
            "ptc_twiss, icase = 5, no = 2, closed_orbit, table = ptc_twiss, summary_table = ptc_sum; ptc_end;"
        )
        theirs = {name: float(program.table.ptc_sum[name][0]) for name in ("q1", "q2", "dq1", "dq2", "alpha_c")}
        reference, here = at_exits(program.table.ptc_twiss, PTC_COLUMNS, lattice, optics)
    tunes = optics.mu[-1] / (2 * np.pi)
    whole = CELLS * np.array([theirs["q1"], theirs["q2"]])
    assert np.mod(tunes, 1) == pytest.approx(np.mod(whole, 1), abs=1e-9)
    assert summary.chromaticity == pytest.approx([CELLS * theirs["dq1"], CELLS * theirs["dq2"]], abs=1e-6)
    assert twin.get_mcf() == pytest.approx(theirs["alpha_c"], rel=1e-7)
    assert len(reference) > 150
    ours = np.column_stack([here.beta, here.alpha, here.dispersion[:, :2]])
    assert np.max(np.abs(ours - reference) / np.abs(reference).max(0)) < 1e-8


def test_closed_formulas_are_met_as_slices_are_added(ring: Any, tmp_path: Path) -> None:
    """Fourth order: twice the slices, a sixteenth of the difference."""
    differences = []
    with madx(without_radiation("ring"), "ring") as program:
        table = program.twiss().copy()
        summary = program.table.summ.copy()
    for factor in (1, 2, 4):
        twin = twin_of(sliced(ring, factor), tmp_path)
        twin.disable_6d()
        optics = twin.linopt6(All)[2]
        reference, here = at_exits(table, COLUMNS, twin.lattice, optics)
        ours = np.column_stack([here.beta, here.alpha, here.dispersion[:, :2]])
        tunes = optics.mu[-1] / (2 * np.pi) - [summary["q1"][0], summary["q2"][0]]
        of_optics = np.max(np.abs(ours - reference) / np.abs(reference).max(0))
        differences.append([of_optics, *np.abs(tunes), abs(twin.get_mcf() / summary["alfa"][0] - 1)])
    coarse, fine, finest = np.array(differences)
    assert np.all(finest < [2e-6, 1e-6, 5e-6, 1e-7])
    assert coarse / fine == pytest.approx(16, rel=0.05)
    assert fine / finest == pytest.approx(16, rel=0.05)


def equilibrium(ring: Any, folder: Path) -> Any:
    """By MAD-X's emit: U0, horizontal emittance, energy spread, damping partition, synchrotron tune."""
    path = folder / "ring.seq"
    at.save_madx(ring, str(path))
    cavities = {ring[i].FamName for i in ring.get_uint32_index(at.RFCavity)}
    phased = "".join(f"{name}, lag = 0.5;" for name in cavities)  # pyAT writes none: the beam would be braked
    with madx(f'call, file = "{path}"; {phased}', "ring") as program:
        program.twiss()
        program.input("emit, deltap = 0;")
        beam = program.sequence["ring"].beam
        return np.array([beam.u0 * 1e9, beam.ex, beam.sige, *beam.pdamp, beam.qs])


def cut(ring: Any, pieces: int) -> Any:
    """Every dipole in so many, the slices of each piece as they were."""
    elements: list[Any] = []
    for element in ring:
        whole = not isinstance(element, at.Dipole) or pieces == 1
        elements += [element] if whole else element.divide(np.full(pieces, 1 / pieces))
    return at.Lattice(elements, energy=ring.energy, periodicity=1, particle=ring.particle)


def test_emit_meets_the_envelope_as_magnets_are_cut(lattice: Lattice, ring: Any, tmp_path: Path) -> None:
    """At the frequency of the reference particle. Of whole magnets MAD-X's emittance is 6 % below ours."""
    twin = Twin(lattice)
    twin.enable_6d()
    twin.set_cavity(Frequency=lattice.harmonic_number * lattice.revolution_frequency)
    found: Any = twin.envelope_parameters()
    ours = np.array([found.U0, found.emittances[0], found.sigma_e, *found.J, found.tunes6[2]])
    whole, in_two, in_four, in_ten = (
        np.abs(equilibrium(cut(ring, pieces), tmp_path) / ours - 1) for pieces in (1, 2, 4, 10)
    )
    for coarse, fine in ((whole, in_two), (in_two, in_four), (in_four, in_ten)):
        assert np.all(fine[[1, 2, 3, 5]] < coarse[[1, 2, 3, 5]] / 3)
    # of the synchrotron tune -3e-4 are 1/γ², which coordinates of AT leave out
    assert np.all(in_ten < [1e-6, 2e-4, 1e-4, 2e-4, 1e-6, 2e-4, 4e-4])

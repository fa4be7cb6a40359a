# SPDX-License-Identifier: Apache-2.0
"""What the package says of whole rings, field by field beside pyAT."""

import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pairs import assert_near, at, relative, twin_and_ring

from ringmaster.fabric.structs import check_structs
from ringmaster.twin import All, Kind, OrbitResponseMatrix, Radiation, Twin, linopt2, linopt4, orbit_response
from ringmaster.twin._library import ffi, lib

HALF = {"XYStep": 1.5e-8, "DPStep": 1.5e-6}
RINGS = ("hmba.mat", "elettra2_s6bae.mat", "err.mat")
CHROMATIC_NOISE = 1e-5
"""Second differences of pyAT are no better; ours are compared to their order of magnitude."""
Pair = tuple[Twin, Any]


@pytest.fixture(autouse=True)
def _quiet_peer() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(scope="module", params=RINGS)
def ring_6d(request: pytest.FixtureRequest) -> Pair:
    return twin_and_ring(request.param, in_6d=True)


@pytest.fixture(scope="module", params=["hmba.mat", "elettra2_s6bae.mat", "elettra2_phase1_linear.m"])
def ring_4d(request: pytest.FixtureRequest) -> Pair:
    return twin_and_ring(request.param, in_6d=False)


def places(pair: Pair) -> Any:
    """A hundred points or so, and the end."""
    count = len(pair[1])
    return np.unique([*range(0, count, max(1, count // 100)), count])


def assert_same_optics(ours: Any, coarse: Any, fine: Any, derivatives: bool = False) -> None:
    """Names, order, shapes and values of three results."""
    assert ours[2].dtype.names == coarse[2].dtype.names
    for name in ours[2].dtype.names:
        floor = CHROMATIC_NOISE if name in ("W", "Wp") or (name.startswith("d") and name != "dispersion") else 1e-9
        assert_near(name, ours[2][name], coarse[2][name], fine[2][name], floor)
        scale = float(np.max(np.abs(coarse[2][name])))
        assert_near(f"{name} at the start", ours[0][name], coarse[0][name], fine[0][name], floor, scale)
    assert_near("tune", ours[1].tune, coarse[1].tune, fine[1].tune)
    if derivatives:
        assert_near("chromaticity", ours[1].chromaticity, coarse[1].chromaticity, fine[1].chromaticity, 1e-6)


def test_closed_orbits_and_matrices_in_6d(ring_6d: Pair) -> None:
    twin, ring = ring_6d
    refpts = places(ring_6d)
    for options in ({}, {"df": 50.0}, {"dp": 1e-4}):
        for ours, theirs in zip(
            twin.find_orbit6(refpts, **options), at.find_orbit6(ring, refpts, **options), strict=True
        ):
            assert np.max(np.abs(ours - theirs)) < 1e-11
    matrices = twin.find_m66(refpts), at.find_m66(ring, refpts), at.find_m66(ring, refpts, **HALF)
    for name, *values in zip(("one turn", "to the points"), *matrices, strict=True):
        assert_near(name, *values)


def test_closed_orbits_and_matrices_in_4d(ring_4d: Pair) -> None:
    assert_same_orbits_in_4d(ring_4d)


def test_errors_in_4d() -> None:
    """An orbit beside the axis, and coupled planes."""
    pair = twin_and_ring("err.mat", in_6d=False)
    assert_same_orbits_in_4d(pair)
    twin, ring = pair
    refpts = places(pair)
    assert_same_optics(twin.linopt6(refpts), at.linopt6(ring, refpts), at.linopt6(ring, refpts, **HALF))


def assert_same_orbits_in_4d(pair: Pair) -> None:
    """With their matrices, on and off momentum."""
    twin, ring = pair
    refpts = places(pair)
    cases: list[dict[str, Any]] = [{}, {"dp": 1e-3}, {"dct": 1e-5}]
    for options in cases:
        for ours, theirs in zip(
            twin.find_orbit4(refpts=refpts, **options), at.find_orbit4(ring, refpts=refpts, **options), strict=True
        ):
            assert np.max(np.abs(ours - theirs)) < 1e-11
    matrices = twin.find_m44(1e-3, refpts), at.find_m44(ring, 1e-3, refpts)
    fine = at.find_m44(ring, 1e-3, refpts, XYStep=HALF["XYStep"])
    for name, *values in zip(("one turn", "to the points"), *matrices, fine, strict=True):
        assert_near(name, *values)


def test_optics_in_6d(ring_6d: Pair) -> None:
    twin, ring = ring_6d
    refpts = places(ring_6d)
    fine = at.linopt6(ring, refpts, **HALF)
    assert_same_optics(twin.linopt6(refpts), at.linopt6(ring, refpts), fine)
    np.testing.assert_allclose(twin.linopt6()[1].damping_time, fine[1].damping_time, rtol=1e-4)
    np.testing.assert_allclose(twin.get_tune(), at.get_tune(ring), rtol=1e-7)


@pytest.mark.parametrize("dp", [None, 2e-3])
def test_optics_in_4d(ring_4d: Pair, dp: float | None) -> None:
    twin, ring = ring_4d
    refpts = places(ring_4d)
    assert_same_optics(
        twin.linopt6(refpts, dp), at.linopt6(ring, refpts, dp=dp), at.linopt6(ring, refpts, dp=dp, **HALF)
    )


def test_chromatic_functions(ring_4d: Pair) -> None:
    twin, ring = ring_4d
    refpts = places(ring_4d)
    ours, coarse = twin.linopt6(refpts, get_w=True), at.linopt6(ring, refpts, get_w=True)
    assert_same_optics(ours, coarse, at.linopt6(ring, refpts, get_w=True, **HALF), derivatives=True)
    np.testing.assert_allclose(twin.get_chrom(), at.get_chrom(ring), rtol=1e-5)


def decoupled(optics: Any, point: int, one_turn: Any) -> float:
    """What is left between the modes at a point, once V of gamma and C has taken the planes apart."""
    gamma, c, to = optics.gamma[point], optics.C[point], optics.M[point]
    back = np.array([[c[1, 1], -c[0, 1]], [-c[1, 0], c[0, 0]]])
    v = np.block([[gamma * np.eye(2), c], [-back, gamma * np.eye(2)]])
    modes = np.linalg.inv(v) @ to @ one_turn @ np.linalg.inv(to) @ v
    return float(np.max(np.abs([modes[:2, 2:], modes[2:, :2]])))


@pytest.mark.parametrize(("ours", "theirs"), [(linopt2, at.linopt2), (linopt4, at.linopt4)], ids=["linopt2", "linopt4"])
def test_optics_of_transverse_motion_alone(ring_4d: Pair, ours: Any, theirs: Any) -> None:
    twin, ring = ring_4d
    every = range(len(ring) + 1)
    results = ours(twin, every, get_chrom=True), theirs(ring, refpts=every, get_chrom=True)
    fine = theirs(ring, refpts=every, get_chrom=True, **HALF)
    if ours is linopt4:  # pyAT's C is right at the start alone: ours is where it takes the planes apart
        assert max(decoupled(results[0][2], point, results[0][0].M) for point in places(ring_4d)) < 1e-9
        results[1][2].C = fine[2].C = results[0][2].C
    assert_same_optics(*results, fine, derivatives=True)
    assert twin.get_optics(5, method=ours)[2].beta[0] == pytest.approx(results[0][2].beta[5])


def test_the_coupled_planes_of_linopt4() -> None:
    twin, ring = twin_and_ring("hmba.mat", in_6d=False)
    quadrupole = int(twin.lattice.find(kind=Kind.QUADRUPOLE)[1])
    twin.set_polynom(quadrupole, "A", 1, 0.02)
    ring[quadrupole].PolynomA = np.array([0.0, 0.02])
    every = range(len(ring) + 1)
    ours, coarse = twin.linopt4(every), at.linopt4(ring, refpts=every)
    assert max(decoupled(ours[2], point, ours[0].M) for point in every) < 1e-10
    assert decoupled(coarse[2], 60, coarse[0].M) > 0.1, "pyAT's C is right now: compare it, too"
    coarse[2].C, fine = ours[2].C, at.linopt4(ring, refpts=every, **HALF)
    fine[2].C = ours[2].C
    assert_same_optics(ours, coarse, fine)


def test_the_equilibrium_beam(ring_6d: Pair) -> None:
    twin, ring = ring_6d
    refpts = places(ring_6d)
    start, beam, points = twin.ohmi_envelope(refpts)
    theirs = at.ohmi_envelope(ring, refpts)
    assert points.dtype.names[:-1] == theirs[2].dtype.names
    for name in theirs[2].dtype.names:
        assert relative(points[name], theirs[2][name]) < 1e-5, name
        assert relative(start[name], theirs[0][name]) < 1e-5, name
    for name in ("tunes", "damping_rates", "mode_matrices"):
        assert relative(beam[name], theirs[1][name]) < 1e-4, name
    assert beam.at_mode_emittances[[0, 2]] == pytest.approx(theirs[1].mode_emittances[[0, 2]], rel=1e-5)
    for mode in (0, 2):  # radiation changes them by so little from one magnet to the next
        assert np.ptp(points.emit_eigen[:, mode]) < 1e-4 * beam.mode_emittances[mode]


def test_the_parameters_of_the_ring(ring_6d: Pair) -> None:
    twin, ring = ring_6d
    flat, ring_flat = twin.copy(), ring.disable_6d(copy=True)
    flat.disable_6d()
    np.testing.assert_allclose(flat.get_radiation_integrals(), ring_flat.get_radiation_integrals(), rtol=1e-6)
    assert flat.get_mcf() == pytest.approx(ring_flat.get_mcf(), rel=1e-6)
    assert flat.get_slip_factor() == pytest.approx(ring_flat.get_slip_factor(), rel=1e-6)
    for ours, theirs in (
        (flat.radiation_parameters(), at.radiation_parameters(ring_flat)),
        (twin.envelope_parameters(), at.envelope_parameters(ring)),
    ):
        for name, value in vars(theirs).items():
            mine = getattr(ours, name)
            kept = [0, 2] if name == "emittances" else slice(None)
            # what the beam loses in quadrupoles is in ours alone
            tolerance = 1e-2 if name == "emittances" else 1e-3 if name in ("U0", "phi_s") else 1e-4
            np.testing.assert_allclose(
                np.atleast_1d(mine)[kept], np.atleast_1d(value)[kept], rtol=tolerance, err_msg=name
            )
        assert "sigma_e" in str(ours)


def test_tracking(ring_6d: Pair) -> None:
    twin, ring = ring_6d
    beam = np.asfortranarray(np.random.default_rng(5).normal(0, 1e-5, (6, 20)))
    refpts = [0, 7, len(ring)]
    seen, parameters, data = twin.track(beam, 3, refpts, losses=True, turn=0)
    theirs, _, peer_data = at.lattice_track(ring, beam, 3, refpts, losses=True, turn=0)
    assert seen.shape == theirs.shape == (6, 20, 3, 3)
    assert np.max(np.abs(seen - theirs)) < 1e-12
    assert parameters["rout"].shape == (6, 20)
    assert data["loss_map"].dtype == peer_data["loss_map"].dtype
    assert not data["loss_map"].islost.any()
    np.testing.assert_array_equal(seen[:, :, -1, -1], parameters["rout"])
    assert twin.turn == 3


def test_a_lost_particle_is_found() -> None:
    twin, ring = twin_and_ring("hmba.mat", in_6d=False)
    beam = np.zeros((6, 3), order="F")
    beam[0] = 0.0, 0.5, 1e-4
    _, parameters, data = twin.track(beam, 20, None, losses=True)
    _, _, theirs = at.lattice_track(ring, beam, 20, None, losses=True)
    ours, lost = data["loss_map"], theirs["loss_map"]
    assert ours.islost.tolist() == lost.islost.tolist() == [False, True, False]
    assert (ours.turn[1], ours.elem[1]) == (lost.turn[1], lost.elem[1])
    assert np.isnan(parameters["rout"][:, 1]).all()


def test_the_response_of_the_orbit() -> None:
    twin, ring = twin_and_ring("elettra2_s6bae.mat", in_6d=True)
    steerers = twin.lattice.get_correctors()[::250]
    for plane, cavities in (("h", Kind.CAVITY), ("v", None)):
        ours = OrbitResponseMatrix(twin, plane, Kind.MONITOR, steerers, cavrefs=cavities, steerdelta=1e-7)
        tracked = ours.build_tracking()
        assert relative(ours.build_analytical(), tracked) < 1e-5
        bpms = twin.lattice.get_bpms()
        theirs = at.OrbitResponseMatrix(ring, plane, bpms, steerers, steerdelta=1e-7)
        assert relative(tracked[:, : len(steerers)], theirs.build()) < 1e-4
        assert ours.response.shape == ours.shape == (len(bpms), len(steerers) + (plane == "h"))
        kicks = np.array([*np.linspace(1, 2, len(steerers)) * 1e-6, 0.5])[: ours.shape[1]]
        assert ours.get_correction(ours.response @ kicks) == pytest.approx(-kicks, rel=1e-4)


def test_a_library_of_another_version_is_refused() -> None:
    check_structs(ffi, lib.rm_twin_size_of)
    grown = {b"rm_optics": 8}
    with pytest.raises(ValueError, match="struct rm_optics has .* two versions"):
        check_structs(ffi, lambda name: lib.rm_twin_size_of(name) + grown.get(name, 0))
    assert lib.rm_twin_size_of(b"rm_nonsense") == 0


def misaligned(seed: int, twin: Twin) -> Twin:
    """With errors of its own."""
    random = np.random.default_rng(seed)
    other = twin.copy()
    magnets = other.lattice.find(kind=Kind.QUADRUPOLE)
    count = len(magnets)
    x, y = random.normal(0, 1e-6, (2, count))
    other.set_misalignment(magnets, x, y, roll=random.normal(0, 1e-5, count))
    return other


def everything(twin: Twin) -> list[bytes]:
    """Results of each kind, to the bit."""
    steerers = [(int(i), 0) for i in twin.lattice.get_correctors()[:2]]
    optics, beam = twin.linopt6(All)[2], twin.ohmi_envelope(All)[2]
    fields = [np.ascontiguousarray(table[name]) for table in (optics, beam) for name in table.dtype.names]
    response = orbit_response(twin, [0, 10], steerers)
    beam = np.full((6, 32), 1e-6, order="F")
    tracked = twin.track(beam, 3, turn=0)[0]
    photons = twin.copy()
    photons.set_radiation(Kind.DIPOLE, Radiation.QUANTUM)
    photons.seed(7)
    return [result.tobytes() for result in (*fields, response, tracked, photons.track(beam, 3)[0])]


def test_eight_twins_on_two_threads_share_nothing_but_the_lattice() -> None:
    design, _ = twin_and_ring("hmba.mat", in_6d=True)
    twins = [misaligned(seed, design) for seed in range(8)]
    assert len({twin.linopt6([0])[2].beta[0, 0] for twin in twins}) == 8
    alone, designed = [everything(twin.copy()) for twin in twins], everything(design)
    together: list[list[bytes]] = [[] for _ in twins]
    start = threading.Barrier(2)

    def work(mine: range) -> None:
        start.wait()
        for _ in range(3):
            for i in mine:
                together[i] = everything(twins[i])

    threads = [threading.Thread(target=work, args=(range(first, 8, 2),)) for first in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone
    assert everything(design) == designed


def made_beside(turns: int) -> int:
    """Optics that one thread computes while another is inside a single call, which tracks so many turns."""
    design, _ = twin_and_ring("hmba.mat", in_6d=True)
    other = design.copy()
    begun, ended = threading.Event(), threading.Event()

    def track() -> None:
        beam = np.full((6, 512), 1e-6, order="F")
        begun.set()
        design.track(beam, turns, None)
        ended.set()

    thread = threading.Thread(target=track)
    thread.start()
    begun.wait()
    made = 0
    while not ended.is_set():
        other.linopt6([0])
        made += 1
    thread.join()
    return made


def test_two_twins_compute_at_once() -> None:
    """Calls release Python's lock: however the host shares its cores, a long call leaves time for many others."""
    assert any(made_beside(turns) > 50 for turns in (200, 2_000, 20_000))

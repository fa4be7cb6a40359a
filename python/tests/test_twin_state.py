# SPDX-License-Identifier: Apache-2.0
"""Optics and envelope in one call: what the two calls give, from a guess too; and many strengths at once."""

import numpy as np
import pytest

from ringmaster.errors import TwinArgument, TwinNoAnswer
from ringmaster.twin import Kind, Twin, load_lattice
from ringmaster.twin.machine import Strengths
from ringmaster.twin.state import StateFinder, optics_and_envelope


def ring(error: float = 0.0) -> Twin:
    twin = Twin(load_lattice("elettra2_like"))
    twin.enable_6d()
    twin.set_kick("CF_S01_01", horizontal=2e-5, vertical=1e-5)
    if error:
        twin.set_value_refpts("QF1_S01_01", "K", (1.0 + error) * twin.get_value_refpts("QF1_S01_01", "K"))
    return twin


def test_it_is_what_two_calls_give() -> None:
    twin = ring()
    found = twin.optics_and_envelope(Kind.MONITOR, get_chrom=True)
    _, summary, optics = twin.linopt6(Kind.MONITOR, get_chrom=True)
    _, beam, envelope = twin.ohmi_envelope(Kind.MONITOR)
    assert len(optics) == 168
    for field in optics.dtype.names:
        np.testing.assert_allclose(found.optics[field], optics[field], rtol=1e-12, atol=1e-15)
    for field in envelope.dtype.names:
        np.testing.assert_allclose(found.beam[field], envelope[field], rtol=1e-12, atol=1e-20)
    np.testing.assert_allclose(found.tune, summary.tune, rtol=1e-12)
    np.testing.assert_allclose(found.chromaticity, summary.chromaticity, rtol=1e-12)
    np.testing.assert_allclose(found.emittance, beam.mode_emittances, rtol=1e-12)


@pytest.mark.parametrize("error", [0.0, 1e-6, 1e-3, 0.02])
def test_a_guess_changes_nothing(error: float) -> None:
    """Near or not."""
    twin = ring(error)
    best = optics_and_envelope(twin, Kind.MONITOR)
    for guess in (ring().optics_and_envelope(None).orbit_at_start, np.array([2e-4, 1e-5, 2e-4, 1e-5, 0.0, 0.0])):
        found = optics_and_envelope(twin, Kind.MONITOR, guess=guess)
        np.testing.assert_allclose(found.optics.beta, best.optics.beta, rtol=1e-8)
        np.testing.assert_allclose(found.optics.closed_orbit, best.optics.closed_orbit, atol=1e-12)
        np.testing.assert_allclose(found.emittance, best.emittance, rtol=1e-8)


def test_a_coarser_search_errs_by_what_is_stated() -> None:
    """docs/twin-follow.md: β to 1e-6, tunes to 1e-7, chromaticities to 1e-4 at a convergence of 1e-9."""
    finder = StateFinder(ring(), Kind.MONITOR)
    before = finder.find().orbit_at_start
    for error in (1e-6, 1e-5, 1e-4, 1e-3):
        twin = ring(error)
        exact = twin.optics_and_envelope(Kind.MONITOR, get_chrom=True)
        found = twin.optics_and_envelope(Kind.MONITOR, guess=before, get_chrom=True, convergence=1e-9)
        np.testing.assert_allclose(found.optics.beta, exact.optics.beta, rtol=1e-6)
        np.testing.assert_allclose(found.tune, exact.tune, atol=1e-7)
        np.testing.assert_allclose(found.chromaticity[:2], exact.chromaticity[:2], atol=1e-4)


def test_no_answer_without_stable_motion_and_without_a_cavity() -> None:
    twin = ring()
    twin.set_value_refpts("QF1_*", "K", 30.0)
    with pytest.raises(TwinNoAnswer):
        twin.optics_and_envelope(Kind.MONITOR)
    flat = Twin(load_lattice("elettra2_like"))
    flat.disable_6d()
    with pytest.raises(TwinArgument, match="needs a cavity that is on"):
        flat.optics_and_envelope(Kind.MONITOR)


def test_many_strengths_are_set_at_once() -> None:
    twin, other = ring(), ring()
    names = twin.lattice.names
    quadrupole, corrector = names.index("QF1_S01_01"), names.index("CF_S01_01")
    cavity = int(twin.lattice.get_cavities()[0])
    where = Strengths(
        [(quadrupole, "B", 1), (quadrupole, "A", 1), (corrector, "x", 0), (corrector, "y", 0), (cavity, "Frequency", 0)]
    )
    values = np.array([5.5, 0.01, 3e-5, -1e-5, twin.rf_frequency + 100.0])
    twin.set_strengths(where, values)
    other.set_polynom(quadrupole, "B", 1, 5.5)
    other.set_polynom(quadrupole, "A", 1, 0.01)
    other.set_kick(corrector, horizontal=3e-5, vertical=-1e-5)
    other.set_cavity(Frequency=values[4], cavpts=[cavity])
    for i in (quadrupole, corrector, cavity):
        assert repr(twin[i]) == repr(other[i])
    assert (twin[quadrupole].PolynomB[1], twin[corrector].KickAngle[1], twin[cavity].Frequency) == (
        5.5,
        -1e-5,
        values[4],
    )
    with pytest.raises(TwinArgument, match=r"nan.*finite"):
        twin.set_strengths(where, values * np.nan)
    with pytest.raises(TwinArgument, match="3 values for 5 strengths"):
        twin.set_strengths(where, values[:3])

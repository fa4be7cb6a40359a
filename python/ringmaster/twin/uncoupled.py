# SPDX-License-Identifier: Apache-2.0
"""Linear optics of transverse motion alone, for those who expect them: linopt2 without coupling, linopt4 with it.

Both are of a ring whose cavities are off. linopt4 is after D. Sagan and D. Rubin, Phys. Rev. ST Accel. Beams 2, 074001
(1999); :mod:`ringmaster.twin.optics` is more general than either. Fields are as there, less R; ``mu`` and ``M`` are
(2,) and (4, 4), and linopt4 has ``gamma`` (), ``A``, ``B`` and ``C`` (2, 2) of its normal modes.
"""

from ringmaster.twin._library import lib
from ringmaster.twin.machine import Ring, machine_of
from ringmaster.twin.matrices import DP_STEP
from ringmaster.twin.optics import Asked, Field, Method, Records, optics_by
from ringmaster.twin.orbit import Orbiting, Vector, expect_4d
from ringmaster.twin.points import Refpts

TWISS: tuple[Field, ...] = (("alpha", "alpha", (2,)), ("beta", "beta_m", (2,)), ("mu", "mu_rad", (2,)))
COUPLING: tuple[Field, ...] = (("gamma", "gamma", ()), ("A", "a", (2, 2)), ("B", "b", (2, 2)), ("C", "c", (2, 2)))
REST: tuple[Field, ...] = (
    ("dispersion", "dispersion", (4,)),
    ("closed_orbit", "closed_orbit", (6,)),
    ("M", "m", (4, 4)),
    ("s_pos", "s_m", ()),
)
CHROMATIC: tuple[Field, ...] = (
    ("W", "w", (2,)),
    ("dalpha", "dalpha", (2,)),
    ("dbeta", "dbeta", (2,)),
    ("dmu", "dmu_rad", (2,)),
    ("ddispersion", "ddispersion", (4,)),
)
LINOPT2 = Method(lib.rm_twin_linopt2, "rm_optics4", TWISS + REST, CHROMATIC)
LINOPT4 = Method(lib.rm_twin_linopt4, "rm_optics4", TWISS + COUPLING + REST, CHROMATIC)


def linopt2(
    ring: Ring,
    refpts: Refpts = None,
    dp: float | None = None,
    *,
    dct: float | None = None,
    df: float | None = None,
    orbit: Vector = None,
    get_chrom: bool = False,
    get_w: bool = False,
    DPStep: float = DP_STEP,
) -> tuple[Records, Records, Records]:
    """Linear optics as if the planes were not coupled; arguments and results as linopt6's, less R and A."""
    machine = expect_4d(machine_of(ring), "linopt2")
    asked = Asked(Orbiting(machine, dp, dct, df, orbit), get_chrom, get_w, DPStep)
    return optics_by(LINOPT2, machine, refpts, asked)


def linopt4(
    ring: Ring,
    refpts: Refpts = None,
    dp: float | None = None,
    *,
    dct: float | None = None,
    df: float | None = None,
    orbit: Vector = None,
    get_chrom: bool = False,
    get_w: bool = False,
    DPStep: float = DP_STEP,
) -> tuple[Records, Records, Records]:
    """Linear optics of the coupled planes' normal modes; arguments and results as linopt6's, with gamma, A, B, C."""
    machine = expect_4d(machine_of(ring), "linopt4")
    asked = Asked(Orbiting(machine, dp, dct, df, orbit), get_chrom, get_w, DPStep)
    return optics_by(LINOPT4, machine, refpts, asked)

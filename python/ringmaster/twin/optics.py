# SPDX-License-Identifier: Apache-2.0
"""Linear optics of the whole, coupled motion, by the eigenvectors of the one-turn matrix, after A. Wolski.

Results are record arrays with the fields of the Accelerator Toolbox, for the points and for the start of the ring.

============  ==============  =============================================================================
field         shape           of one point; 4D in parentheses where it differs
============  ==============  =============================================================================
alpha, beta   (2,)            horizontal and vertical; β in m
mu            (3,), (2,)      phase advance of the modes, rad, from the start; points must be nearer than a turn
R             (3,6,6)         of the modes, so that ⟨z zᵀ⟩ = Σ ε_k R_k; ((2,4,4))
A             (6,6)           normalising matrix; ((4,4))
dispersion    (4,)            of x (m), px, y (m), py per δ
closed_orbit  (6,)            x (m), px, y (m), py, δ, ct (m)
M             (6,6)           transfer matrix from the start; ((4,4))
s_pos         ()              m
============  ==============  =============================================================================

and with ``get_w``, per δ: ``W`` and ``Wp`` (2,), the amplitude and phase of the chromatic functions; ``dalpha``,
``dbeta``, ``dmu``, ``dR``, ``ddispersion``, the derivatives of their namesakes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.twin._library import Floats, Points, buffer, call, ffi, lib
from ringmaster.twin.machine import Machine, Ring, machine_of
from ringmaster.twin.matrices import DP_STEP, get_slip_factor
from ringmaster.twin.orbit import Orbiting, Vector
from ringmaster.twin.points import All, Refpts

Records = Any
"""A record array; NumPy's types do not know its fields."""
Field = tuple[str, str, tuple[int, ...]]

FIELDS: tuple[Field, ...] = (
    ("alpha", "alpha", (2,)),
    ("beta", "beta_m", (2,)),
    ("mu", "mu_rad", (3,)),
    ("R", "r", (3, 6, 6)),
    ("A", "a", (6, 6)),
    ("dispersion", "dispersion", (4,)),
    ("closed_orbit", "closed_orbit", (6,)),
    ("M", "m", (6, 6)),
    ("s_pos", "s_m", ()),
)
CHROMATIC: tuple[Field, ...] = (
    ("W", "w", (2,)),
    ("dalpha", "dalpha", (2,)),
    ("dbeta", "dbeta", (2,)),
    ("ddispersion", "ddispersion", (4,)),
)
"""Name in the Accelerator Toolbox, member of `struct rm_optics`, shape."""
FLAT = {"mu": (2,), "R": (2, 4, 4), "A": (4, 4), "M": (4, 4), "dmu": (2,), "dR": (2, 4, 4)}
"""Shapes in 4D, where they differ."""


def layout(struct: str, fields: tuple[Field, ...]) -> np.dtype[Any]:
    """The memory of a C struct as a record, which needs no copy."""
    return np.dtype(
        {
            "names": [name for name, _, _ in fields],
            "formats": [(np.float64, shape) for _, _, shape in fields],
            "offsets": [ffi.offsetof(f"struct {struct}", member) for _, member, _ in fields],
            "itemsize": ffi.sizeof(f"struct {struct}"),
        }
    )


OPTICS = layout("rm_optics", FIELDS)
OPTICS_W = layout("rm_optics", FIELDS + CHROMATIC)


class Asked:
    """One call of rm_twin_linopt6: what was asked, and what came back."""

    def __init__(self, machine: Machine, orbiting: Orbiting, points: Points, chrom: bool, w: bool, step: float) -> None:
        self.table: NDArray[Any] = np.empty(len(points), OPTICS_W if w else OPTICS)
        self.ring: Any = ffi.new("struct rm_optics_summary *")
        options = ffi.new("struct rm_optics_options *")
        options.orbit = orbiting.struct[0]
        options.chromaticity, options.w, options.dp_step = chrom or w, w, step
        out = buffer("struct rm_optics", self.table)
        arguments = buffer("uint32_t", points), len(points), self.ring, out
        call(lib.rm_twin_linopt6, machine.pointer, options, *arguments)


def linopt6(
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
    """Linear optics of coupled motion, 6D or 4D as the ring is, of these elements once (not ``periodicity`` times).

    ``orbit``: where to start the search of the closed orbit. Returns the optics at the start; of the ring ``tune``
    (fractions), ``chromaticity`` (NaN unless asked for), ``damping_time`` (s; NaN without radiation), each of (2,) or
    (3,); and the optics at the points: see the fields above.
    """
    machine = machine_of(ring)
    points = machine.get_uint32_index(refpts)
    ends = [0] if machine.is_6d else [0, len(machine)]
    both = np.union1d(np.array(ends, np.uint32), points).astype(np.uint32)
    orbiting = Orbiting(machine, dp, dct, df, orbit)
    asked = Asked(machine, orbiting, both, get_chrom, get_w, DPStep)
    table = asked.table if machine.is_6d else _flattened(asked.table)
    if get_w:
        table = _completed(machine, orbiting, both, table, DPStep)
    start = table[:1].copy()
    if not machine.is_6d:  # the Accelerator Toolbox keeps the one-turn matrix there
        start["M"], start["s_pos"] = table["M"][-1], table["s_pos"][-1]
    return record(start.reshape(())), _summary(asked.ring, get_chrom or get_w), record(table[rows_among(both, points)])


def rows_among(both: Points, points: Points) -> Any:
    """Where the points are among both, as a slice when that needs no copy."""
    first = int(np.searchsorted(both, points[0])) if len(points) else 0
    if np.array_equal(both[first : first + len(points)], points):
        return slice(first, first + len(points))
    return np.searchsorted(both, points)


def record(table: NDArray[Any]) -> Records:
    """With fields as attributes."""
    return table.view(np.recarray)


def _corner(shape: tuple[int, ...]) -> tuple[Any, ...]:
    return (..., *(slice(length) for length in shape))


def _flattened(table: NDArray[Any]) -> NDArray[Any]:
    """The 4D part alone."""
    assert table.dtype.names is not None
    shapes = {name: FLAT.get(name, table.dtype[name].shape) for name in table.dtype.names}
    out = np.empty(len(table), [(name, np.float64, shape) for name, shape in shapes.items()])
    for name, shape in shapes.items():
        out[name] = table[name][_corner(shape)]
    return out


def _completed(machine: Machine, orbiting: Orbiting, points: Points, table: NDArray[Any], step: float) -> NDArray[Any]:
    """With Wp, dmu and dR, in the Accelerator Toolbox's order."""
    assert table.dtype.names is not None
    shapes = {name: table.dtype[name].shape for name in table.dtype.names}
    order = [*(name for name, _, _ in FIELDS), "W", "Wp", "dalpha", "dbeta", "dmu", "dR", "ddispersion"]
    shapes |= {"Wp": (2,), "dmu": shapes["mu"], "dR": shapes["R"]}
    out = np.empty(len(table), [(name, np.float64, shapes[name]) for name in order])
    for name in table.dtype.names:
        out[name] = table[name]
    out["dmu"], out["dR"] = _differences(machine, orbiting, points, step)
    b = table["dbeta"] / table["beta"]
    out["Wp"] = np.arctan2(table["dalpha"] - table["alpha"] * b, b)
    return out


def _differences(machine: Machine, orbiting: Orbiting, points: Points, step: float) -> tuple[Floats, Floats]:
    """Of mu and R per δ: differences over a step of δ, or of the RF frequency that has that effect."""
    sides = []
    slip = get_slip_factor(machine) * machine.rf_frequency if machine.is_6d else 0.0
    for half in (0.5 * step, -0.5 * step):
        shifted = Orbiting(machine)
        shifted.struct.rf_offset_hz = orbiting.struct.rf_offset_hz + slip * half
        shifted.struct.dp = orbiting.struct.dp + half
        table = Asked(machine, shifted, points, chrom=False, w=False, step=0.0).table
        sides.append(table if machine.is_6d else _flattened(table))
    up, down = sides
    delta = (up["closed_orbit"] - down["closed_orbit"])[0, 4]
    return (up["mu"] - down["mu"]) / delta, (up["R"] - down["R"]) / delta


def _summary(ring: Any, has_chromaticity: bool) -> Records:
    modes = int(ring.modes)
    chromaticity = list(ring.chromaticity)[:modes] if has_chromaticity else [np.nan] * modes
    damping = [time if time else np.nan for time in list(ring.damping_time_s)[:modes]]
    names = ("tune", "chromaticity", "damping_time")
    kind = [(name, np.float64, (modes,)) for name in names]
    return record(np.array((list(ring.tune)[:modes], chromaticity, damping), dtype=kind))


def get_optics(
    ring: Ring, refpts: Refpts = None, dp: float | None = None, **options: Any
) -> tuple[Records, Records, Records]:
    """Linear optics; ``method`` is :func:`linopt6` (as it is without), or linopt2 or linopt4 of uncoupled.py."""
    method = options.pop("method", linopt6)
    result: tuple[Records, Records, Records] = method(ring, refpts, dp, **options)
    return result


def get_tune(
    ring: Ring,
    *,
    dp: float | None = None,
    dct: float | None = None,
    df: float | None = None,
    orbit: Vector = None,
    get_integer: bool = False,
) -> Floats:
    """The tunes of the whole ring: fractions, or with ``get_integer`` whole; (2,) or (3,)."""
    machine = machine_of(ring)
    periodicity = machine.lattice.periodicity
    asked = {"dp": dp, "dct": dct, "df": df, "orbit": orbit}
    if get_integer:
        _, _, every = linopt6(machine, All, **asked)  # type: ignore[arg-type]
        whole: Floats = every.mu[-1] / (2 * np.pi) * periodicity
        return whole
    _, summary, _ = linopt6(machine, None, **asked)  # type: ignore[arg-type]
    fractions: Floats = np.mod(summary.tune * periodicity, 1.0)
    return fractions


def get_chrom(ring: Ring, *, dp: float | None = None, DPStep: float = DP_STEP, **options: Any) -> Floats:
    """The chromaticities of the whole ring, per δ; (2,) or (3,)."""
    machine = machine_of(ring)
    _, summary, _ = linopt6(machine, None, dp, get_chrom=True, DPStep=DPStep, **options)
    chromaticity: Floats = summary.chromaticity * machine.lattice.periodicity
    return chromaticity

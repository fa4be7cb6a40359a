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

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.twin._library import Floats, Points, buffer, call, ffi, lib
from ringmaster.twin.machine import Machine, Ring, machine_of
from ringmaster.twin.matrices import DP_STEP
from ringmaster.twin.orbit import Orbiting, Vector
from ringmaster.twin.points import All, Refpts, with_ends

Records = Any
"""A record array; NumPy's types do not know its fields."""
Field = tuple[str, str, tuple[int, ...]]
"""Name in the Accelerator Toolbox, member of the C struct, shape."""


@dataclass(frozen=True)
class Method:
    """A way to look at optics: the C function, its struct for a point, and that struct's fields."""

    function: Callable[..., int]
    struct: str
    fields: tuple[Field, ...]
    chromatic: tuple[Field, ...]
    """Those that ``get_w`` asks for."""
    has_r: bool = False


LINOPT6 = Method(
    lib.rm_twin_linopt6,
    "rm_optics",
    (
        ("alpha", "alpha", (2,)),
        ("beta", "beta_m", (2,)),
        ("mu", "mu_rad", (3,)),
        ("R", "r", (3, 6, 6)),
        ("A", "a", (6, 6)),
        ("dispersion", "dispersion", (4,)),
        ("closed_orbit", "closed_orbit", (6,)),
        ("M", "m", (6, 6)),
        ("s_pos", "s_m", ()),
    ),
    (
        ("W", "w", (2,)),
        ("dalpha", "dalpha", (2,)),
        ("dbeta", "dbeta", (2,)),
        ("dmu", "dmu_rad", (3,)),
        ("ddispersion", "ddispersion", (4,)),
    ),
    has_r=True,
)
CHROMATIC_ORDER = ("W", "Wp", "dalpha", "dbeta", "dmu", "dR", "ddispersion")
"""The Accelerator Toolbox's."""
FLAT = {"mu": (2,), "R": (2, 4, 4), "A": (4, 4), "M": (4, 4), "dmu": (2,), "dR": (2, 4, 4)}
"""Shapes of linopt6's in 4D, where they differ."""


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


@dataclass(frozen=True)
class Asked:
    """What is asked besides where."""

    orbiting: Orbiting
    chromaticity: bool
    w: bool
    step: float


def optics_by(method: Method, machine: Machine, refpts: Refpts, asked: Asked) -> tuple[Records, Records, Records]:
    """At the start, of the ring, and at the points."""
    points = machine.get_uint32_index(refpts)
    both, rows = with_ends(points, None if machine.is_6d else len(machine))
    ring, table = _found(method, machine, both, asked)
    start = table[:1].copy()
    if not machine.is_6d:  # the Accelerator Toolbox keeps the one-turn matrix there
        start["M"], start["s_pos"] = table["M"][-1], table["s_pos"][-1]
    return record(start.reshape(())), _summary(ring, asked.chromaticity or asked.w), record(table[rows])


def _found(method: Method, machine: Machine, points: Points, asked: Asked) -> tuple[Any, NDArray[Any]]:
    """C's summary, and its table in the Accelerator Toolbox's form."""
    fields = method.fields + (method.chromatic if asked.w else ())
    table: NDArray[Any] = np.empty(len(points), layout(method.struct, fields))
    dr = np.empty((len(points), 3, 6, 6)) if asked.w and method.has_r else None
    ring = ffi.new("struct rm_optics_summary *")
    options = ffi.new("struct rm_optics_options *")
    options.orbit = asked.orbiting.struct[0]
    options.chromaticity, options.w, options.dp_step = asked.chromaticity or asked.w, asked.w, asked.step
    options.dr = ffi.NULL if dr is None else ffi.from_buffer("double[][3][36]", dr)
    out = buffer(f"struct {method.struct}", table)
    call(method.function, machine.pointer, options, buffer("uint32_t", points), len(points), ring, out)
    if not asked.w and machine.is_6d:
        return ring, table
    return ring, _arranged(method, table, dr, flat=method.has_r and not machine.is_6d)


def _arranged(method: Method, table: NDArray[Any], dr: Floats | None, flat: bool) -> NDArray[Any]:
    """A copy with Wp and dR in their places, and in 4D the transverse part alone."""
    assert table.dtype.names is not None
    columns = {name: table[name] for name in table.dtype.names}
    if "W" in columns:
        b = columns["dbeta"] / columns["beta"]
        columns["Wp"] = np.arctan2(columns["dalpha"] - columns["alpha"] * b, b)
    if dr is not None:
        columns["dR"] = dr
    order = (*(name for name, _, _ in method.fields), *CHROMATIC_ORDER)
    names = [name for name in order if name in columns]
    smaller = FLAT if flat else {}
    shapes = {name: smaller.get(name, columns[name].shape[1:]) for name in names}
    out = np.empty(len(table), [(name, np.float64, shapes[name]) for name in names])
    for name in names:
        out[name] = columns[name][_corner(shapes[name])]
    return out


def _corner(shape: tuple[int, ...]) -> tuple[Any, ...]:
    return (..., *(slice(length) for length in shape))


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
    asked = Asked(Orbiting(machine, dp, dct, df, orbit), get_chrom, get_w, DPStep)
    return optics_by(LINOPT6, machine, refpts, asked)


def record(table: NDArray[Any]) -> Records:
    """With fields as attributes."""
    return table.view(np.recarray)


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

# SPDX-License-Identifier: Apache-2.0
"""What a result says: as rows of text, as JSON, and beside the truth where there is one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringmaster.loco.model import Floats
from ringmaster.loco.result import Result
from ringmaster.twin import Twin, TwinNoAnswer

LARGEST = 8
"""Rows of each table."""


@dataclass(frozen=True)
class Optics:
    """Of a twin with the fitted gradients beside the design's, at the BPMs."""

    beating: tuple[float, float]
    """RMS of Δβ/β, x and y."""
    dispersion_m: tuple[float, float]
    """RMS of the difference."""
    tunes: tuple[float, float]
    design_tunes: tuple[float, float]
    beta: Floats
    """[BPM, plane] m, fitted."""
    design_beta: Floats


def apply_gradients(twin: Twin, result: Result, values: Floats | None = None) -> None:
    """Adds the fitted gradients, or others, to a twin as designed."""
    found = result.by_gradient if values is None else values
    for gradient, value in zip(result.gradients, found, strict=True):
        for element in gradient.elements:
            polynom = getattr(twin[element], f"Polynom{gradient.component}")
            design = float(polynom[1]) if len(polynom) > 1 else 0.0
            twin.set_polynom(element, gradient.component, 1, design + float(value))


def optics_of(design: Twin, fitted: Twin, bpms: Sequence[int]) -> Optics:
    """Compares two twins. Raises TwinNoAnswer where one has no optics."""
    _, ring, before = design.get_optics(bpms)
    _, ring_fitted, after = fitted.get_optics(bpms)
    beating = np.sqrt(np.mean((after.beta[:, :2] / before.beta[:, :2] - 1) ** 2, axis=0))
    off = np.sqrt(np.mean((after.dispersion[:, [0, 2]] - before.dispersion[:, [0, 2]]) ** 2, axis=0))
    return Optics(
        (float(beating[0]), float(beating[1])),
        (float(off[0]), float(off[1])),
        (float(ring_fitted.tune[0]), float(ring_fitted.tune[1])),
        (float(ring.tune[0]), float(ring.tune[1])),
        np.asarray(after.beta[:, :2], np.float64),
        np.asarray(before.beta[:, :2], np.float64),
    )


def optics_of_result(result: Result, design: Twin, bpms: Sequence[int]) -> Optics | None:
    """None where the fitted ring is not stable."""
    fitted = design.copy()
    apply_gradients(fitted, result)
    try:
        return optics_of(design, fitted, bpms)
    except TwinNoAnswer:
        return None


def largest_residuals(result: Result, count: int = LARGEST) -> list[tuple[str, str, float]]:
    """Reading, corrector and residual over its error, the largest first."""
    names = (*result.columns, "RF")
    order = np.argsort(-np.abs(result.residual), axis=None)[:count]
    found = [np.unravel_index(at, result.residual.shape) for at in order]
    return [(result.rows[row], names[column], float(result.residual[row, column])) for row, column in found]


def largest_gradients(result: Result, count: int = LARGEST) -> list[int]:
    """Those that are farthest from the design, by their errors."""
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.nan_to_num(np.abs(result.by_gradient / result.by_gradient_sigma))
    return [int(i) for i in np.argsort(-score)[:count]]


def pulls(found: Floats, truth: Floats, sigma: Floats) -> float:
    """RMS of (found − truth) / error, of what was fitted."""
    fitted = np.isfinite(sigma) & (sigma > 0)
    return float(np.sqrt(np.mean(((found - truth)[fitted] / sigma[fitted]) ** 2))) if fitted.any() else float("nan")


def as_json(result: Result, optics: Optics | None) -> dict[str, Any]:
    """All of it."""
    made: dict[str, Any] = {
        "lattice": result.lattice,
        "measurement": result.measurement,
        "chi2": result.chi2,
        "chi2_per_degree": result.reduced,
        "elements": result.elements,
        "parameters": result.parameters,
        "parameters_effective": result.effective,
        "degrees_of_freedom": result.freedom,
        "history": result.history.tolist(),
        "converged": result.converged,
        "singular_values": result.singular_values.tolist(),
        "singular_values_used": result.used,
        "conventions": list(result.conventions),
        "faults": list(result.faults),
        "notes": list(result.notes),
        "gradients": [
            {
                "name": one.label,
                "elements": list(one.elements),
                "design_per_m2": one.design,
                "difference_per_m2": float(value),
                "sigma_per_m2": float(sigma),
            }
            for one, value, sigma in zip(result.gradients, result.by_gradient, result.by_gradient_sigma, strict=True)
        ],
        "readings": {
            name: {"gain": float(a), "gain_sigma": float(b), "cross": float(c), "cross_sigma": float(d)}
            for name, a, b, c, d in zip(
                result.rows, result.own, result.own_sigma, result.cross, result.cross_sigma, strict=True
            )
        },
        "bpm_rolls_rad": result.bpm_roll.tolist(),
        "bpm_crunches": result.bpm_crunch.tolist(),
        "correctors": {
            name: {"gain": float(a), "gain_sigma": float(b), "roll_rad": float(c), "roll_sigma_rad": float(d)}
            for name, a, b, c, d in zip(
                result.columns, result.gain, result.gain_sigma, result.roll, result.roll_sigma, strict=True
            )
        },
        "largest_residuals": [
            {"reading": row, "corrector": column, "sigmas": value} for row, column, value in largest_residuals(result)
        ],
    }
    if optics is not None:
        made["beta_beating_x"], made["beta_beating_y"] = optics.beating
        made["dispersion_off_x_m"], made["dispersion_off_y_m"] = optics.dispersion_m
        made["tunes"], made["design_tunes"] = list(optics.tunes), list(optics.design_tunes)
    return made

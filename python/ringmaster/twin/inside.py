# SPDX-License-Identifier: Apache-2.0
"""Between the ends of elements: what a drawing needs, and the passes do not tell.

An element is taken as the same all along, so that a part of it is a root of its matrix. That is exact in drifts and in
magnets without edges; an edge's focusing is spread over its dipole.
"""

import numpy as np

from ringmaster.twin._library import Floats

PARTS = 8
"""Of each element; a power of two."""
ENOUGH = 12
"""Iterations of a square root: they converge quadratically."""
MOST_RAD = 3.0
"""What advances by nearly π or more has no root that is meant: all its parts are at its entrance."""


def parts(matrices: Floats) -> Floats:
    """From the entrance of each element to its parts, (elements, PARTS, n, n), the first at the entrance.

    ``matrices`` (elements + 1, n, n) are those from the start to each point.
    """
    whole = matrices[1:] @ np.linalg.inv(matrices[:-1])
    still = np.broadcast_to(np.eye(whole.shape[-1]), whole.shape)
    turns = np.max(np.abs(np.angle(np.linalg.eigvals(whole))), axis=1) > MOST_RAD
    root = np.where(turns[:, None, None], still, whole)
    for _ in range(PARTS.bit_length() - 1):
        root = _square_root(root)
    there = [still]
    for _ in range(PARTS - 1):
        there.append(there[-1] @ root)
    return np.stack(there, axis=1)


def _square_root(matrices: Floats) -> Floats:
    """The principal one, of each (E. Denman and A. Beavers, Appl. Math. Comput. 2, 63, 1976)."""
    root: Floats = matrices
    inverse: Floats = np.broadcast_to(np.eye(matrices.shape[-1]), matrices.shape)
    for _ in range(ENOUGH):
        root, inverse = 0.5 * (root + np.linalg.inv(inverse)), 0.5 * (inverse + np.linalg.inv(root))
    return root


def carried(to_parts: Floats, forms: Floats, coordinate: int) -> Floats:
    """One diagonal member of quadratic forms (points, n, n) at all parts and the end: β of a mode, a squared size."""
    rows = to_parts[:, :, coordinate]
    inside = np.einsum("epi,eij,epj->ep", rows, forms[:-1], rows)
    return np.append(inside, forms[-1, coordinate, coordinate])


def places(s_m: Floats) -> Floats:
    """Distances from the start, of all parts and of the end."""
    fractions = np.arange(PARTS) / PARTS
    return np.append(s_m[:-1, None] + np.diff(s_m)[:, None] * fractions, s_m[-1])

# SPDX-License-Identifier: Apache-2.0
"""Points of a ring: how a person says where to look.

A point is the entrance of an element, or the end of the ring, whose index is the number of elements. ``refpts`` may be

- an index, which may be negative as in a list, or a sequence of them in ascending order;
- an array of booleans, one for each element, and one for the end or not;
- a pattern of names with ``*`` and ``?``, or a sequence of such patterns;
- a :class:`~ringmaster.twin.elements.Kind`;
- a function of an element that says whether it is meant;
- :data:`All`, every element and the end; :data:`End`; ``None``, nowhere.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import TwinArgument
from ringmaster.twin._library import Points, buffer, encoded, lib
from ringmaster.twin.elements import Element, Kind

if TYPE_CHECKING:
    from ringmaster.twin.lattice import Lattice


class Where(Enum):
    """Points that every ring has."""

    ALL = "all"
    END = "end"


All = Where.ALL
End = Where.END

Refpts = None | int | str | Kind | Where | Callable[[Element], bool] | Sequence[int] | Sequence[str] | NDArray[Any]


def resolve(lattice: "Lattice", refpts: Refpts, elements: Iterable[Element] | None = None) -> Points:
    """The indices that are meant, ascending. ``elements``: what a function is asked about, if not the lattice's."""
    count = len(lattice)
    if refpts is None:
        return np.empty(0, np.uint32)
    if refpts is Where.ALL:
        return np.arange(count + 1, dtype=np.uint32)
    if refpts is Where.END:
        return np.array([count], np.uint32)
    if isinstance(refpts, Kind):
        return find(lattice, None, refpts)
    if isinstance(refpts, str):
        return _named(lattice, [refpts])
    if callable(refpts):
        asked = lattice if elements is None else elements
        return np.array([i for i, element in enumerate(asked) if refpts(element)], np.uint32)
    values = np.atleast_1d(np.asarray(refpts))
    if values.dtype.kind == "U":
        return _named(lattice, [str(pattern) for pattern in values])
    return _checked(values, count)


def with_ends(points: Points, end: int | None) -> tuple[Points, slice]:
    """With the start, and the end if given, and where the points themselves are in that."""
    before = [] if len(points) and points[0] == 0 else [0]
    after = [] if end is None or (len(points) and points[-1] == end) else [end]
    both = (
        np.concatenate([np.array(before, np.uint32), points, np.array(after, np.uint32)]) if before or after else points
    )
    return both, slice(len(before), len(before) + len(points))


def find(lattice: "Lattice", pattern: str | None, kind: Kind | None = None) -> Points:
    """Indices of the elements whose name matches and that are of this kind."""
    wanted = lib.RM_ELEMENT_KINDS if kind is None else int(kind)
    found = np.empty(len(lattice), np.uint32)
    count = lib.rm_lattice_find(lattice.pointer, encoded(pattern), wanted, buffer("uint32_t", found), len(found))
    return found[:count].copy()


def _named(lattice: "Lattice", patterns: list[str]) -> Points:
    each = [find(lattice, pattern) for pattern in patterns]
    for pattern, found in zip(patterns, each, strict=True):
        if not len(found):
            listed = "`lattice.names`, or `ringmaster twin LATTICE --at '*'`, lists them"
            raise TwinArgument(f"no element of {lattice.name} is named {pattern}; {listed}")
    return np.unique(np.concatenate(each)).astype(np.uint32)


def _checked(values: NDArray[Any], count: int) -> Points:
    if values.size == 0:
        return np.empty(0, np.uint32)
    if values.dtype.kind == "b":
        if len(values) > count + 1:
            raise TwinArgument(f"found {len(values)} booleans, expected at most {count + 1}, one for each point")
        return np.flatnonzero(values).astype(np.uint32)
    if values.dtype.kind not in "iu":
        raise TwinArgument(f"found refpts of type {values.dtype}, expected indices, booleans or names of elements")
    indices = np.where(values < 0, values + count, values).astype(np.int64)
    if indices.min() < 0 or indices.max() > count:
        raise TwinArgument(f"found a point outside 0…{count}, the elements of this lattice and its end")
    if np.any(np.diff(indices) <= 0):
        raise TwinArgument("refpts must be in ascending order, each once")
    return indices.astype(np.uint32)

# SPDX-License-Identifier: Apache-2.0
"""Changes of a model: of its elements, in words, ``QF1_S01_01=+0.01``; of supplies, by files of changes."""

from pathlib import Path

import numpy as np

from ringmaster.errors import TwinArgument
from ringmaster.moving.change import load
from ringmaster.twin.twin import Twin


def change(twin: Twin, text: str) -> str:
    """``QF1_S01_01=+0.01`` changes the gradient of an element (or of those a pattern finds) by 1 %; says what it did.

    ``NAME.dx=1e-4`` (dy, roll) displaces. Raises TwinArgument.
    """
    name, equals, value = text.partition("=")
    name, _, what = name.strip().partition(".")
    try:
        number = float(value)
    except ValueError:
        equals = ""
        number = 0.0
    if not equals:
        raise TwinArgument(f"{text!r}: expected NAME=NUMBER, a relative change of the gradient, or NAME.dx=METRES")
    elements = twin.lattice.find(name)
    if not len(elements):
        raise TwinArgument(f"no element of {twin.lattice.name} is named {name}")
    if what in ("", "k"):
        before = np.asarray(twin.get_value_refpts(elements, "K"), np.float64)
        twin.set_value_refpts(elements, "K", before * (1.0 + number))
        return f"{name}: gradient × {1.0 + number:g} ({len(elements)} elements)"
    if what not in ("dx", "dy", "roll"):
        raise TwinArgument(f"{text!r}: found {what!r} behind the dot, expected k, dx, dy or roll")
    axis = what.removeprefix("d")
    twin.set_misalignment(elements, **{axis: number})
    return f"{name}: {what} = {number:g} ({len(elements)} elements)"


def moves_of(path: Path) -> dict[str, float]:
    """By how much each supply moves where a file's change is applied. Raises ValueError with its place, OSError."""
    return {move.name: move.after - move.before for move in load(path).moves}

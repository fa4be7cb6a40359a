# SPDX-License-Identifier: Apache-2.0
"""The sequential method: BPM after BPM, a corrector takes the beam through the magnet, whose step is looked at.

In each plane the corrector that moves the BPM most goes to some places; at each the magnet steps up and down. The
induced orbit of a quadrupole is a straight line over the BPM's reading, and vanishes at its centre: a line is fitted
for each BPM of the ring, and their zeros are averaged, weighted by their slopes. A sextupole's is a parabola, whose
vertex is its centre. P. Röjsel, Nucl. Instrum. Methods A 343, 374 (1994); G. Portmann et al., PAC 1995, 2693.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ringmaster.bba.magnets import Target
from ringmaster.bba.model import Model
from ringmaster.bba.plant import Floats, Plant

PLACES = 5
SPAN_UM = 100.0
"""To either side."""
READ_S = 0.4


@dataclass(frozen=True)
class Zero:
    """Of one BPM: what it reads where a step of the magnet induces nothing."""

    bpm: int
    magnet: str
    kind: str
    offset_nm: tuple[float, float]


def measure(
    plant: Plant, model: Model, targets: list[Target], steps: list[float], progress: Callable[[float], None]
) -> list[Zero]:
    """``steps``: of the magnets' supplies. Whatever ends it, all is put back."""
    zeros = []
    try:
        for k, (target, step) in enumerate(zip(targets, steps, strict=True)):
            progress(k / len(targets))
            x, y = (_plane(plant, model, target, step, plane) for plane in (0, 1))
            zeros.append(Zero(target.bpm, target.magnet.name, target.magnet.kind, (x, y)))
    finally:
        plant.put_back()
    progress(1.0)
    return zeros


def _plane(plant: Plant, model: Model, target: Target, step: float, plane: int) -> float:
    corrector, amplitude = _corrector(model, target, plane)
    read, induced = [], []
    for share in np.linspace(-1.0, 1.0, PLACES):
        states = []
        for sign in (1.0, -1.0):
            plant.move({corrector: share * amplitude, target.magnet.supply: sign * step})
            states.append(np.nanmean(plant.read(READ_S).values, axis=1))
        read.append(float(np.mean(states, axis=0)[2 * target.bpm + plane]))
        induced.append((states[0] - states[1]) / 2)
    plant.move({corrector: 0.0, target.magnet.supply: 0.0})
    return _zero(np.array(read), np.array(induced), target.magnet.kind, plane)


def _corrector(model: Model, target: Target, plane: int) -> tuple[str, float]:
    """That moves this BPM most, and how far it has to go."""
    names = [name for name, (_, of, _) in model.correctors.items() if of == "xy"[plane]]
    elements, _, scales = zip(*(model.correctors[name] for name in names), strict=True)
    response = model.response([model.bpms[target.bpm]], elements)[plane, 0] * np.array(scales)
    best = int(np.argmax(np.abs(response)))
    return names[best], float(SPAN_UM * 1e-6 / abs(response[best]))


def _zero(read: Floats, induced: Floats, kind: str, plane: int) -> float:
    """Of ``induced``, [place, row]: where straight lines vanish, or the vertex of parabolas."""
    middle = float(read.mean())
    x = read - middle
    if kind == "quadrupole":
        slope, constant = np.polyfit(x, induced[:, plane::2], 1)
        return middle - float(np.sum(slope * constant) / np.sum(slope**2))
    bend, slope, _ = np.polyfit(x, induced[:, 0::2], 2)  # both planes' displacements kick in x: −(x² − y²)
    return middle - float(np.sum(bend * slope) / np.sum(bend**2)) / 2

# SPDX-License-Identifier: Apache-2.0
"""What sextupoles add to an induced orbit while it swings: products of the swing and of the induced orbit itself.

At a displacement x, y a sextupole kicks by −B₂L (x² − y²) and 2 B₂L x y. Of the swing X, Y and an induced orbit ξ, η
the kicks −2 B₂L (X ξ − Y η) and 2 B₂L (X η + Y ξ) change with the steps. They mix the lines: what is induced at rest
comes back at the swing's frequency, and the other way round. The lattice knows them well enough to take them away.
"""

import numpy as np

from ringmaster.bba.lines import LINES, REST, Complexes, Swing
from ringmaster.bba.model import Fields
from ringmaster.bba.plant import Floats

SAMPLES = 64


def second_order(induced: Complexes, waves: Complexes, sextupoles: Fields, swing: Swing, seconds: float) -> Complexes:
    """[plane, bpm, line] m: the orbit by these kicks.

    ``induced``: [plane, sextupole, line] m, the induced orbit in the sextupoles. ``waves``: [sextupole, plane,
    swing] m. ``seconds``: in which there are whole periods of all lines.
    """
    turn = np.exp(2j * np.pi * swing.lines_hz[:, None] * seconds * np.arange(SAMPLES) / SAMPLES)  # [line, sample]
    xi, eta = (induced @ turn).real
    x, y = np.einsum("jps,st->pjt", waves, turn[1:3]).real
    strength = 2 * sextupoles.strength[:, None]
    kicks = np.stack([-strength * (x * xi - y * eta), strength * (x * eta + y * xi)])
    orbit: Floats = sextupoles.columns @ kicks
    lines: Complexes = 2 / SAMPLES * orbit @ turn.conj().T
    lines[:, :, REST] /= 2
    assert lines.shape[2] == LINES
    return lines

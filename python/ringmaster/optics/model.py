# SPDX-License-Identifier: Apache-2.0
"""The optics that a lattice ought to have at its BPMs, by the twin."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringmaster.optics.lines import Floats
from ringmaster.twin import Twin


@dataclass(frozen=True)
class Model:
    """Of BPMs in the order of the ring; the second index is the plane."""

    names: tuple[str, ...]
    beta_m: Floats
    """Shape (BPMs, 2)."""
    phase_rad: Floats
    """Shape (BPMs, 2): from the start of the ring."""
    tune: Floats
    """Shape (2,): of the whole ring, with its whole turns."""
    dispersion_m: Floats
    """Shape (BPMs,): horizontal."""

    def __len__(self) -> int:
        return len(self.names)


def model_of(twin: Twin, bpms: Sequence[int], names: Sequence[str]) -> Model:
    """At these elements, without synchrotron motion."""
    still = twin.copy()
    still.disable_6d()
    _, _, at = still.linopt6([*bpms, len(still)])
    phase = np.asarray(at.mu)
    return Model(
        tuple(names),
        np.asarray(at.beta)[:-1].copy(),
        phase[:-1].copy(),
        phase[-1] / (2 * np.pi),
        np.asarray(at.dispersion)[:-1, 0],
    )


def fractional(tune: float) -> float:
    """As it shows in a spectrum: 0 to 0.5."""
    part = tune % 1.0
    return float(min(part, 1.0 - part))


def whole_tune(tune: float, model_tune: float) -> float:
    """A tune as the spectrum shows it, with the whole turns of the model's, and on its side of a half."""
    whole = float(np.floor(model_tune))
    return whole + (1 - tune if model_tune - whole > 0.5 else tune)

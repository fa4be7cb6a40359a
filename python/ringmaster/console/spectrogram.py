# SPDX-License-Identifier: Apache-2.0
"""How the spectrum of the beam's motion has changed: a row of both planes for each look."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ringmaster.console.spectrum import BeamSpectrum, folded

ROWS = 64
"""That are kept."""
CELLS = 256
"""Of a row: as many as a wide screen has columns, and each the largest of its bins."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Spectrogram:
    """The newest rows, oldest first. Stays as it is when more come."""

    turns: tuple[int, ...] = ()
    """The last turn of each row."""
    x: tuple[Array, ...] = ()
    """Amplitudes, shape (CELLS,): from 0 to half the revolution frequency."""
    y: tuple[Array, ...] = ()

    def with_newest(self, spectrum: BeamSpectrum | None) -> "Spectrogram":
        """With one row more where the spectrum is a new one."""
        if spectrum is None or (self.turns and spectrum.turn == self.turns[-1]):
            return self
        x, y = (folded(plane.amplitude[1:], CELLS) for plane in (spectrum.x, spectrum.y))
        return Spectrogram(
            (*self.turns, spectrum.turn)[-ROWS:],
            (*self.x, x)[-ROWS:],
            (*self.y, y)[-ROWS:],
        )

    def plane(self, name: str) -> tuple[Array, ...]:
        """The rows of "x" or "y"."""
        return self.x if name == "x" else self.y

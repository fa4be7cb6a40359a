# SPDX-License-Identifier: Apache-2.0
"""What an alignment moves and reads: a machine that runs, or a model of one that answers in a moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sine:
    """What swings one corrector: amplitude · sin(2π hz t + phase)."""

    supply: str
    amplitude: float
    """In its unit."""
    hz: float
    phase_rad: float


@dataclass(frozen=True)
class Readings:
    """A stretch of readings of all BPMs."""

    time_s: Floats
    """[sample] since the swing began."""
    values: Floats
    """[row, sample] nm; NaN: none came."""
    noise_nm: Floats
    """[row] RMS of the white noise of a sample."""


class BeamLost(RuntimeError):
    """There is no beam any more. All that was moved is put back."""


class SupplyFailed(RuntimeError):
    """A supply did not go where it was sent."""

    def __init__(self, supply: str, text: str) -> None:
        super().__init__(text)
        self.supply = supply


class Plant(Protocol):
    """What a measurement is made with. Every move counts from where a supply stood before."""

    rows: tuple[str, ...]
    """Readings, in the order of the mapping: x and y of the first BPM, of the second, …"""

    @property
    def machine_s(self) -> float:
        """Time of the machine since it was made."""

    def swing(self, sines: Sequence[Sine]) -> None:
        """Starts them together, ramped up; returns when all have their full amplitude."""

    def still(self) -> None:
        """Ends them."""

    def move(self, offsets: Mapping[str, float]) -> None:
        """All of them together, in their units; returns when the orbit has settled. Raises SupplyFailed, BeamLost."""

    def read(self, seconds: float) -> Readings:
        """From now on. Raises BeamLost."""

    def put_back(self) -> None:
        """All that was moved or swings. Cannot be interrupted."""

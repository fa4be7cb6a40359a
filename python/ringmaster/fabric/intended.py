# SPDX-License-Identifier: Apache-2.0
"""Intended setpoints: what each chain of supplies may have been sent last."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ringmaster.errors import WorkspaceDamaged
from ringmaster.fabric import layout
from ringmaster.fabric.memory import structures
from ringmaster.fabric.segment import ObjectInfo, Segment


@dataclass(frozen=True)
class IntendedSetpoints:
    """A copy of what one chain may have been sent last.

    While the server moves supplies, its members may be of different cycles.
    """

    intended: int
    """Number of the newest setpoints that may have been handed to the port; 0: none."""
    transmitted: int
    """Number of the newest that the port has taken; 0: none."""
    setpoints: npt.NDArray[np.float32]
    """Those with the number ``transmitted``."""
    doubtful: npt.NDArray[np.float32] | None
    """Those with the number ``intended``, where that is another."""


class Intended:
    """The intended setpoints of all chains, in the configuration's order."""

    def __init__(self, segment: Segment, info: ObjectInfo) -> None:
        if info.shape[0] * layout.INTENDED.itemsize > info.size:
            raise WorkspaceDamaged(f"{segment.path}: {info.name!r} is too short for its chains; start its owner anew")
        self.name = info.name
        self._chains = structures(segment.memory, layout.INTENDED, info.offset, info.shape[0])

    def __len__(self) -> int:
        return len(self._chains)

    def read(self, chain: int) -> IntendedSetpoints:
        """The chain with that index."""
        copy = self._chains[chain].copy()
        intended, transmitted, supplies = (int(copy[name]) for name in ("intended", "transmitted", "supplies"))
        if 2 * supplies > copy["value"].size:
            raise WorkspaceDamaged(f"{self.name!r}: no chain has {supplies} supplies; start its owner anew")
        rows = copy["value"][: 2 * supplies].view("<f4").reshape(2, supplies)
        doubtful = rows[intended % 2] if intended != transmitted else None
        return IntendedSetpoints(intended, transmitted, rows[transmitted % 2], doubtful)

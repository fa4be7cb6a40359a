# SPDX-License-Identifier: Apache-2.0
"""The hypotheses of one event: their names, their priors, and what speaks for each."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from ringmaster.postmortem.background import Floats
from ringmaster.postmortem.machine import Machine

SUPPLY, RF, BPM, KICK, LOSS, UNKNOWN = "supply", "rf", "bpm", "kick", "loss", "unknown"
NOTHING, PATTERN, ANYWHERE = "nothing is seen", "another pattern", "a kick from another place"
PRIORS = {SUPPLY: 0.2, RF: 0.15, BPM: 0.15, KICK: 0.15, LOSS: 0.15, UNKNOWN: 0.2}
"""Of a kind; all of one kind share its prior."""
TRUST = 0.75
"""Of the logarithm of a likelihood ratio: noise has heavier tails than what is learnt of it (tests/postmortem)."""
NOTHING_PRIOR = 0.75
"""Of *unknown*: that nothing is seen at all."""


@dataclass(frozen=True)
class Hypotheses:
    """All of them, and the logarithms of their likelihood ratios to noise, to which each view adds."""

    kinds: tuple[str, ...]
    names: tuple[str, ...]
    log_ratio: Floats
    """[cell, hypothesis]."""

    @classmethod
    def of(cls, machine: Machine | None, bpms: list[str], cells: int) -> Self:
        """Those that a machine has; without one lying BPMs, loss and *unknown*."""
        listed = [(UNKNOWN, NOTHING), (UNKNOWN, PATTERN), (LOSS, "beam, at an aperture")]
        if machine is not None:
            listed += [(SUPPLY, actor.name) for actor in machine.actors]
            listed += [(RF, "phase, voltage or frequency")] * machine.has_rf
            listed += [(KICK, kicker.name) for kicker in machine.kickers] + [(UNKNOWN, ANYWHERE)]
        listed += [(BPM, bpm) for bpm in bpms]
        kinds, names = zip(*listed, strict=True)
        return cls(kinds, names, np.zeros((cells, len(listed))))

    def where(self, kind: str, name: str | None = None) -> list[int]:
        """Indices of one kind, or of one."""
        return [i for i, one in enumerate(self.kinds) if one == kind and name in (None, self.names[i])]

    def add(self, log_ratio: Floats, indices: list[int]) -> None:
        """[cell]: what the orbit says for these."""
        self.log_ratio[:, indices] += TRUST * log_ratio[:, None]

    def log_prior(self) -> Floats:
        """[hypothesis]."""
        made = np.empty(len(self.kinds))
        for kind, prior in PRIORS.items():
            indices = self.where(kind)
            made[indices] = np.log(prior / max(1, len(indices)))
        unknown = self.where(UNKNOWN)
        made[unknown] = np.log(PRIORS[UNKNOWN] * (1 - NOTHING_PRIOR) / (len(unknown) - 1))
        made[unknown[0]] = np.log(PRIORS[UNKNOWN] * NOTHING_PRIOR)
        return made


def bpm_of(row: str) -> str:
    """The BPM that a reading is of: "bpm01" of "bpm01/x", "tbt01/2" of "tbt01/y2"."""
    instrument, _, lane = row.rpartition("/")
    return f"{instrument}/{lane[1:]}" if lane[1:] else instrument

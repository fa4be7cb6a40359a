# SPDX-License-Identifier: Apache-2.0
"""How the swing passes BPMs and magnets: what BPMs read of it calibrates them, and tells those that lie."""

from dataclasses import dataclass

import numpy as np

from ringmaster.bba.lines import SWING_X, SWING_Y, Complexes
from ringmaster.bba.magnets import Target
from ringmaster.bba.model import Model, Passing
from ringmaster.bba.plan import Plan
from ringmaster.bba.plant import Floats

NM = 1e9
FAR = 0.25
"""A BPM whose gain differs from the others' by so much, or that reads so much of the other plane, lies."""
ROUNDS = 4
WRONG_SIGN, SWAPPED = "wrong sign", "planes swapped"
REPAIRED = (WRONG_SIGN, SWAPPED)
"""Faults with which a BPM is of use: its gain has them."""


@dataclass(frozen=True)
class Swung:
    """The swing, as the lattice has it with the amplitudes that were read."""

    passing: Passing
    gain: Floats
    """[bpm, reading, plane]: what a BPM reads of the lattice's swing, its own gain, roll and √β over the lattice's."""
    faults: tuple[str, ...]
    """[bpm] what is wrong with it: empty, or in words."""
    amplitude: Complexes
    """[sine] what of it was found over what was asked for."""


def swung(model: Model, plan: Plan, targets: list[Target], read: Complexes) -> Swung:
    """``read``: [row, line] nm, mean over all groups."""
    seen = read.reshape(-1, 2, read.shape[1])[:, :, [SWING_X, SWING_Y]]  # [bpm, reading, swing]
    each = [model.swing([sine], targets) for sine in plan.sines]
    planes = [model.correctors[sine.supply][1] for sine in plan.sines]
    good = np.isfinite(seen).all(axis=(1, 2))
    amplitude = np.ones(len(each), np.complex128)
    passing = _sum(each, amplitude)
    gain = _gains(passing, seen)
    for _ in range(ROUNDS):
        for place, plane in enumerate("xy"):
            chosen = [k for k, of in enumerate(planes) if of == plane]
            basis = np.array([each[k].at_bpms[good, place, place] for k in chosen]).T * NM
            found = np.linalg.lstsq(basis, seen[good, place, place], rcond=None)[0]
            amplitude[chosen] = found
        passing = _sum(each, amplitude)
        gain = _gains(passing, seen)
        good = np.isfinite(seen).all(axis=(1, 2)) & np.array([not fault for fault in _faults(gain)])
    return Swung(passing, gain, tuple(_faults(gain)), amplitude)


def _sum(each: list[Passing], amplitude: Complexes) -> Passing:
    at_bpms = sum(one.at_bpms * a for one, a in zip(each, amplitude, strict=True))
    in_magnets = sum(one.in_magnets * a for one, a in zip(each, amplitude, strict=True))
    in_sextupoles = sum(one.in_sextupoles * a for one, a in zip(each, amplitude, strict=True))
    return Passing(np.asarray(at_bpms), np.asarray(in_magnets), np.asarray(in_sextupoles))


def _gains(passing: Passing, seen: Complexes) -> Floats:
    """[bpm, reading, plane], real: of what was read = gain · (what passed), by least squares over both swings."""
    gains = np.full((len(seen), 2, 2), np.nan)
    for bpm, (passed, read) in enumerate(zip(passing.at_bpms * NM, seen, strict=True)):
        if np.isfinite(read).all():
            of = np.concatenate([passed.real, passed.imag], axis=1)
            to = np.concatenate([read.real, read.imag], axis=1)
            gains[bpm] = np.linalg.lstsq(of.T, to.T, rcond=None)[0].T
    return gains


def _faults(gain: Floats) -> list[str]:
    """[bpm]."""
    return [_fault(one) for one in gain]


def _fault(gain: Floats) -> str:
    if not np.isfinite(gain).all():
        return "does not send"
    own, other = np.diag(gain), np.array([gain[0, 1], gain[1, 0]])
    if np.abs(np.abs(own) - 1).max() < FAR and np.abs(other).max() < FAR:
        wrong = [name for name, value in zip("xy", own, strict=True) if value < 0]
        return f"{WRONG_SIGN} of {' and '.join(wrong)}" if wrong else ""
    if np.abs(np.abs(other) - 1).max() < FAR and np.abs(own).max() < FAR:
        return SWAPPED
    if np.abs(np.abs(own) - 1).max() < FAR:
        planes = (("x", "y"), ("y", "x"))
        told = [f"{to} reads {value:.2f} of the swing in {of}" for (to, of), value in zip(planes, other, strict=True)]
        far = [text for text, value in zip(told, other, strict=True) if abs(value) >= FAR]
        return f"{' and '.join(far)}: it is rolled, or the ring is coupled (`ringmaster loco` corrects that)"
    return f"reads {own[0]:.2g} and {own[1]:.2g} times the swing"

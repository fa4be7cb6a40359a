# SPDX-License-Identifier: Apache-2.0
"""A kick within one turn: a free betatron oscillation that begins at one place.

Turn by turn the transient of each kicker is known but for its size in both planes. What it looks like behind the
background's filter is fitted at every turn. The filter takes the betatron lines away, so all that is left of a kick is
its first turns, and an error of the tune adds up over no more than these. The tune is the machine's own: that of the
line in the readings next to the twin's.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from ringmaster.postmortem.blocks import Block
from ringmaster.postmortem.likelihood import CHANCE, SIZES, TWIN_ERRORS
from ringmaster.postmortem.machine import Kicker, Machine
from ringmaster.postmortem.view import View

Floats = npt.NDArray[np.float64]
TURNS_BEFORE = 6000
"""Without an event, in which a fit shows what it reaches by chance."""
TURNS_BEYOND = 24
"""Of a transient, beyond the filter's length."""
TUNE_SPAN = 0.06
"""So far the machine's tune may be from the twin's."""
ANY_START = 4
"""Coordinates at the start: with all of them free, the kick came from anywhere."""


def machine_tunes(view: View, machine: Machine) -> Floats:
    """[mode]: of the highest line near the twin's tune, in the plane that the mode moves."""
    modes = machine.modes(view.rows)
    values = view.cleaned[: view.end]
    values = values[-8192:] * np.hanning(min(8192, len(values)))[:, None]
    power = np.abs(np.fft.rfft(values, axis=0)) ** 2
    at = np.fft.rfftfreq(len(values))
    found = []
    for u, tune in enumerate(modes.tune % 1.0):
        weight = np.abs(modes.at[:, u]) ** 2
        spectrum = power @ (weight / weight.sum())
        folded = min(tune, 1 - tune)
        near = np.flatnonzero(np.abs(at - folded) < TUNE_SPAN)
        best = float(at[near[np.argmax(spectrum[near])]]) if len(near) else folded
        found.append(best if tune < 0.5 else 1 - best)
    return np.array(found)


def kick_log_ratios(
    view: View, machine: Machine, kickers: Sequence[Kicker], starts: npt.NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Ln P / P(noise) at each start: [start, kicker], and [start] of a kick from anywhere."""
    block = view.moving
    if block is None:
        raise ValueError("a view without betatron motion")
    turns = block.background.order + TURNS_BEYOND
    tune = machine_tunes(view, machine)
    anywhere = _flat(block, _free(view, machine, tune, turns))
    starts = starts[starts + turns <= view.end]
    before = np.arange(max(block.background.order, view.first - TURNS_BEFORE), view.first - turns)
    starts = np.concatenate([starts, before])
    pieces = np.lib.stride_tricks.sliding_window_view(block.left, turns, axis=0)  # [start, row, turn]
    data = pieces[starts].transpose(0, 2, 1).reshape(len(starts), -1)
    energy = np.sum(data**2, axis=1)
    inside4 = np.sum((data @ anywhere) ** 2, axis=1)
    size = turns * block.left.shape[1]
    made = []
    for kicker in kickers:
        columns = _flat(block, machine.kick(kicker, view.rows, turns, tune))
        made.append(_log_ratio(energy, inside4, np.sum((data @ columns) ** 2, axis=1), columns.shape[1], size))
    free = _log_ratio(energy, inside4, inside4, ANY_START, size)
    each = np.stack([*made, free], axis=1)
    usual = each[len(each) - len(before) :].max(axis=0, initial=0.0)
    each = each[: len(each) - len(before)] - CHANCE * usual
    return each[:, :-1], each[:, -1]


def _free(view: View, machine: Machine, tune: Floats, turns: int) -> Floats:
    """[turn, row, start]: both modes with both phases."""
    at = machine.modes(view.rows).at
    phase = np.exp(2j * np.pi * np.outer(np.arange(turns), tune))
    motion = at[None] * phase[:, None, :]
    return np.concatenate([motion.real, motion.imag], axis=2)


def _flat(block: Block, transient: Floats) -> Floats:
    """Orthonormal columns [turn · dimension, column] behind the filter."""
    inside = np.einsum("trk,rd->tdk", transient / block.noise[:, None], block.basis)
    seen = np.einsum("tdk,sd->tsk", block.background.course(inside), block.background.whitener)
    return np.linalg.qr(seen.reshape(-1, transient.shape[2]))[0]


def _log_ratio(energy: Floats, inside4: Floats, inside: Floats, count: int, size: int) -> Floats:
    """As in ``likelihood``: k columns with all of s, the four of any start with a share of ε², all else with less."""
    terms = []
    for error in TWIN_ERRORS:
        rest = 1 + SIZES * error**2 / size
        four = rest + SIZES * error**2 / ANY_START
        full = four + SIZES
        fixed = -0.5 * (count * np.log(full) + (ANY_START - count) * np.log(four) + (size - ANY_START) * np.log(rest))
        gained = 0.5 * (
            np.outer(energy, 1 - 1 / rest)
            + np.outer(np.maximum(inside4 - inside, 0), 1 / rest - 1 / four)
            + np.outer(inside, 1 / rest - 1 / full)
        )
        terms.append(fixed + gained)
    result: Floats = logsumexp(np.stack(terms), axis=(0, 2)) - np.log(len(SIZES) * len(terms))
    return result

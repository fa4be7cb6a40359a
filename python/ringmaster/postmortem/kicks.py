# SPDX-License-Identifier: Apache-2.0
"""A kick within one turn: a free betatron oscillation that begins at one place.

Turn by turn the transient of each kicker is known but for its size in both planes. What it looks like behind the
background's filter is fitted at every turn, to the turns before and after. The beam oscillates all the time, and the
filter takes little of that away: what goes on through these turns is no kick, and is left out. The tune is the
machine's own: that of the line in the readings next to the twin's.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from ringmaster.postmortem.blocks import Block
from ringmaster.postmortem.likelihood import SIZES, beyond_chance
from ringmaster.postmortem.machine import Kicker, Machine
from ringmaster.postmortem.view import View

Floats = npt.NDArray[np.float64]
CHANCE_TURNS, CHANCE_STRIDE = 8000, 4
"""Without an event, in which a fit shows what it reaches by chance."""
TURNS_BEFORE, TURNS_AFTER = 64, 64
"""Looked at: the longer, the better an oscillation is known, and the more it changes by itself."""
STARTS_AT_ONCE = 2048
LIKENESS_TURNS = 16
TUNE_SPAN = 0.06
"""So far the machine's tune may be from the twin's."""
KICK_ERRORS = (0.05, 0.12)
"""ε: of transients. With larger ones a strong kick fits as well some turns beside its own."""
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
    """Ln P / P(noise) at each start: [start, kicker], and [start] of a kick from anywhere.

    A start is the first turn that shows the kick: one after its own, where all BPMs are before the kicker.
    """
    block = view.moving
    if block is None:
        raise ValueError("a view without betatron motion")
    order, turns = block.background.order, TURNS_BEFORE + TURNS_AFTER
    tune = machine_tunes(view, machine)
    going_on = _flat(block, _free(view, machine, tune, order + turns))[order:]
    going_on = np.linalg.qr(going_on.reshape(-1, ANY_START))[0]
    free = _free(view, machine, tune, TURNS_AFTER)
    transients = [(free, free)]
    for kicker in kickers:
        early, anyhow = machine.early(kicker, view.rows), free.copy()
        if len(early) < len(view.rows):
            anyhow[0, early] = 0.0
        transients.append((_seen(view, machine, kicker, TURNS_AFTER, tune), anyhow))
    columns = [tuple(_beside(going_on, _flat(block, one)) for one in both) for both in transients]
    starts = starts[starts + TURNS_AFTER <= view.end]
    first = max(order + TURNS_BEFORE, view.first - CHANCE_TURNS)
    before = np.arange(first, view.first - TURNS_AFTER, CHANCE_STRIDE)
    pieces = np.lib.stride_tricks.sliding_window_view(block.left, turns, axis=0)  # [start, row, turn]
    every = np.concatenate([starts, before]) - TURNS_BEFORE
    parts = [
        _log_ratios(pieces[some].transpose(0, 2, 1).reshape(len(some), -1), going_on, columns)
        for some in np.split(every, range(STARTS_AT_ONCE, len(every), STARTS_AT_ONCE))
    ]
    each = np.concatenate(parts)
    each = each[: len(starts)] - beyond_chance(each[len(starts) :])
    return each[:, 1:], each[:, 0]


def likeness(view: View, machine: Machine) -> Floats:
    """[kicker, kicker]: the correlation of what two of them do in the directions in which that is most alike."""
    seen = [_seen(view, machine, kicker, LIKENESS_TURNS, None) for kicker in machine.kickers]
    columns = [np.linalg.qr((one / view.noise[:, None]).reshape(-1, 2))[0] for one in seen]
    return np.array([[np.linalg.norm(one.T @ other, 2) for other in columns] for one in columns])


def _seen(view: View, machine: Machine, kicker: Kicker, turns: int, tune: Floats | None) -> Floats:
    """[turn, row, plane of the kick], from the first turn on that shows it."""
    made = machine.kick(kicker, view.rows, turns + 1, tune)
    return made[1:] if len(machine.early(kicker, view.rows)) == len(view.rows) else made[:-1]


def _log_ratios(data: Floats, going_on: Floats, columns: Sequence[tuple[Floats, ...]]) -> Floats:
    """[start, kicker]: of each the columns of its kick, and those of any start that is seen as early."""
    energy = np.sum(data**2, axis=1) - np.sum((data @ going_on) ** 2, axis=1)
    size = data.shape[1] - ANY_START
    made = []
    for own, anyhow in columns:
        inside, inside4 = (np.sum((data @ one) ** 2, axis=1) for one in (own, anyhow))
        made.append(_log_ratio(energy, inside4, inside, own.shape[1], size))
    return np.stack(made, axis=1)


def _free(view: View, machine: Machine, tune: Floats, turns: int) -> Floats:
    """[turn, row, start]: both modes with both phases."""
    at = machine.modes(view.rows).at
    phase = np.exp(2j * np.pi * np.outer(np.arange(turns), tune))
    motion = at[None] * phase[:, None, :]
    return np.concatenate([motion.real, motion.imag], axis=2)


def _flat(block: Block, transient: Floats) -> Floats:
    """Columns [turn, dimension, column] behind the filter."""
    inside = np.einsum("trk,rd->tdk", transient / block.noise[:, None], block.basis)
    result: Floats = np.einsum("tdk,sd->tsk", block.background.course(inside), block.background.whitener)
    return result


def _beside(other: Floats, seen: Floats) -> Floats:
    """Orthonormal columns [turn · dimension, column], without what they have of the other ones, which are longer."""
    flat = seen.reshape(-1, seen.shape[2])
    flat = np.concatenate([np.zeros((len(other) - len(flat), flat.shape[1])), flat])
    return np.linalg.qr(flat - other @ (other.T @ flat))[0]


def _log_ratio(energy: Floats, inside4: Floats, inside: Floats, count: int, size: int) -> Floats:
    """As in ``likelihood``: k columns with all of s; errors of the twin with a share ε² of what is seen in these.

    Half of the errors lie in the four columns of any start, as those of phases do, and half anywhere.
    """
    terms = []
    outside, beside = (energy - inside4)[:, None], np.maximum(inside4 - inside, 0)[:, None]
    for error in KICK_ERRORS:
        wrong = error**2 * inside[:, None]  # [start, 1]
        rest = 1 + wrong / size
        four = rest + wrong / ANY_START
        full = four + SIZES  # [start, size]
        fixed = count * np.log(full) + (ANY_START - count) * np.log(four) + (size - ANY_START) * np.log(rest)
        gained = outside * (1 - 1 / rest) + beside * (1 - 1 / four) + inside[:, None] * (1 - 1 / full)
        terms.append(0.5 * (gained - fixed))
    result: Floats = logsumexp(np.stack(terms), axis=(0, 2)) - np.log(len(SIZES) * len(terms))
    return result

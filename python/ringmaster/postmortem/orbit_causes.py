# SPDX-License-Identifier: Apache-2.0
"""What the BPMs of one rate say of each cause.

A pattern that stays (a supply's, the dispersion, a BPM that moves alone) is looked for in the blocks of the rows. Where
turns are averaged a betatron oscillation is any course of its modes' patterns. Turn by turn it is fitted from its first
turn on, and the energy's motion is a series of its own: dispersion less what the betatron modes share with it.
"""

from collections.abc import Sequence

import numpy as np

from ringmaster.postmortem.background import Floats
from ringmaster.postmortem.blocks import Block
from ringmaster.postmortem.cells import Cells, static_log_ratios
from ringmaster.postmortem.hypotheses import ANYWHERE, BPM, KICK, PATTERN, RF, SUPPLY, UNKNOWN, Hypotheses, bpm_of
from ringmaster.postmortem.kicks import kick_log_ratios
from ringmaster.postmortem.likelihood import TWIN_ERRORS, Patterns
from ringmaster.postmortem.machine import Machine
from ringmaster.postmortem.view import View

FAST_STRIDE = 8
"""Turns between two onsets that are tried of what is slower than a turn."""
ENERGY_ORDER = 32
Given = tuple[Floats, list[int]] | tuple[Floats, list[int], Floats]
"""Columns, hypotheses, and by what the machine may be off."""
Sets = list[tuple[Patterns | None, list[list[int]]]]
"""Patterns (None: any), and for each of them the hypotheses that it is of."""


def add_orbit(made: Hypotheses, view: View, machine: Machine | None, cells: Cells) -> None:
    """Adds what this view says."""
    is_fast = view.period_turns == 1
    is_mapped = machine is not None and all(row in machine.places for row in view.rows)
    starts, cell = cells.starts(view, FAST_STRIDE if is_fast else 1)
    block = view.still
    if block.left.shape[1]:
        sets: Sets = [(None, [made.where(UNKNOWN, PATTERN)]), *_lying(made, view, block)]
        if machine is not None and is_mapped:
            sets += _of_twin(made, view, block, machine)
        values = static_log_ratios(view, block, starts, [one for one, _ in sets], is_fast)
        for log_ratio, (_, targets) in zip(values, sets, strict=True):
            gathered = cells.gather(log_ratio, cell)
            for column, target in enumerate(targets):
                made.add(gathered[:, column], target)
    if machine is not None and is_mapped and is_fast:
        _add_energy(made, view, machine, cells)
        _add_kicks(made, view, machine, cells)


def _lying(made: Hypotheses, view: View, block: Block) -> Sets:
    """BPMs that have one row, and those that have two."""
    rows: dict[str, list[int]] = {}
    for i, row in enumerate(view.rows):
        rows.setdefault(bpm_of(row), []).append(i)
    eye = np.diag(view.noise)
    columns = {bpm: eye[:, indices] for bpm, indices in rows.items()}
    return _by_width(block, [(one, made.where(BPM, bpm)) for bpm, one in columns.items()], (0.0,))


def _of_twin(made: Hypotheses, view: View, block: Block, machine: Machine) -> Sets:
    """Supplies, the RF, and an oscillation."""
    targets = [[i] for i in made.where(SUPPLY)]
    supplies = list(zip(machine.columns(view.rows), targets, machine.displaced(view.rows), strict=True))
    columns: list[tuple[Floats, list[int]]] = []
    if machine.has_rf and view.period_turns > 1:
        columns.append((machine.energy(view.rows), made.where(RF)))
    if view.period_turns > 1:
        at = machine.modes(view.rows).at
        columns.append((np.hstack([at.real, at.imag]), [*made.where(KICK), *made.where(UNKNOWN, ANYWHERE)]))
    return _by_width(block, supplies, TWIN_ERRORS) + _by_width(block, columns, TWIN_ERRORS)


def _by_width(block: Block, given: Sequence[Given], errors: tuple[float, ...]) -> Sets:
    """Together those with equally many columns; without those of which the block has too little."""
    by_width: dict[int, list[tuple[Floats, list[int], Floats | None]]] = {}
    for columns, target, *off_by in given:
        seen = block.pattern(columns)
        if seen is not None:
            more = block.pattern(off_by[0], 0.0) if off_by else None
            by_width.setdefault(columns.shape[1], []).append((seen, target, more))
    sets: Sets = []
    for some in by_width.values():
        patterns = Patterns.of([seen for seen, _, _ in some], errors)
        others = [other for _, _, other in some if other is not None]
        sets.append((patterns.off_by(others) if others else patterns, [target for _, target, _ in some]))
    return sets


def energy_block(view: View, machine: Machine) -> Block | None:
    """The energy's motion, turn by turn; None where BPMs see no dispersion that is not in the betatron modes."""
    scale = view.noise[:, None]
    at = machine.modes(view.rows).at / scale
    modes = np.linalg.qr(np.hstack([at.real, at.imag]))[0]
    dispersion = machine.energy(view.rows) / scale
    bare = dispersion - modes @ (modes.T @ dispersion)
    if np.linalg.norm(bare) < 0.05 * np.linalg.norm(dispersion):
        return None
    return view.block("energy", bare / np.linalg.norm(bare), ENERGY_ORDER)


def _add_energy(made: Hypotheses, view: View, machine: Machine, cells: Cells) -> None:
    block = energy_block(view, machine) if machine.has_rf else None
    if block is None:
        return
    starts, cell = cells.starts(view, FAST_STRIDE)
    values = static_log_ratios(view, block, starts, [None], True)[0]
    made.add(cells.gather(values[:, 0], cell), [*made.where(RF), *made.where(UNKNOWN, PATTERN)])


def _add_kicks(made: Hypotheses, view: View, machine: Machine, cells: Cells) -> None:
    starts, cell = cells.starts(view)
    each, anywhere = kick_log_ratios(view, machine, machine.kickers, starts)
    cell = cell[: len(anywhere)]
    for i, place in enumerate(made.where(KICK)):
        made.add(cells.gather(each[:, i], cell), [place])
    made.add(cells.gather(anywhere, cell), made.where(UNKNOWN, ANYWHERE))

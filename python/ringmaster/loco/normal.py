# SPDX-License-Identifier: Apache-2.0
"""Normal equations of LOCO, by blocks: a gain touches one row or one column, a gradient all of them as a product."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ringmaster.loco.model import Answers, Factors, Floats, Group, State, partner

BLOCK = 16
"""Columns of a dense block: what of it is in memory at once is some 50 MB."""


@dataclass(frozen=True)
class Parts:
    """What the derivatives are made of, at one point."""

    factors: Factors
    kicked: Floats
    """[row, column + RF] what the beam does: the derivative by a BPM's own gain."""
    by_gain: Floats
    """[row, column] by a corrector's gain, as read."""
    by_roll: Floats
    by_energy: Floats
    """[row, column]"""
    weights: Floats
    """[row, column + RF] 1/σ²."""


def parts_of(factors: Factors, answers: Answers, state: State, weights: Floats) -> Parts:
    """``weights``: 1/σ²."""

    def read(moved: Floats) -> Floats:
        return np.asarray(state.own[:, None] * moved + state.cross[:, None] * partner(moved), np.float64)

    turned = answers.main + state.roll * answers.other
    energy = np.outer(answers.rf, state.energy)
    kicked = np.concatenate([state.gain * turned + energy, answers.rf[:, None]], axis=1)
    by_energy = np.repeat(read(answers.rf[:, None]), turned.shape[1], axis=1)
    return Parts(factors, kicked, read(turned), read(state.gain * answers.other), by_energy, weights)


def gradient_of(parts: Parts, residual: Floats) -> Floats:
    """Jᵀ W r: how χ²/2 falls, in the order of a state's vector."""
    weighted = parts.weights * residual
    return np.concatenate(
        [
            _by_gradients(parts.factors, weighted),
            (weighted * parts.kicked).sum(axis=1),
            (weighted * partner(parts.kicked)).sum(axis=1),
            (weighted[:, :-1] * parts.by_gain).sum(axis=0),
            (weighted[:, :-1] * parts.by_roll).sum(axis=0),
            (weighted[:, :-1] * parts.by_energy).sum(axis=0),
        ]
    )


def _by_gradients(factors: Factors, weighted: Floats) -> Floats:
    """Sums of a dense derivative times a matrix, without the dense derivative."""
    made = np.zeros(factors.count)
    for group in factors.groups:
        made[group.at] = (_through_left(group, weighted) * group.right).sum(axis=(1, 2))
    return made


def _through_left(group: Group, weighted: Floats) -> Floats:
    """[gradient, rank, column]: leftᵀ · weighted, as one product."""
    count, rows, rank = group.left.shape
    return np.asarray((group.left.transpose(0, 2, 1).reshape(-1, rows) @ weighted).reshape(count, rank, -1))


def normal_matrix(parts: Parts) -> Floats:
    """Jᵀ W J, of all parameters."""
    weights, gradients = parts.weights, parts.factors.count
    rows, columns = parts.by_gain.shape
    of_row = [parts.kicked, partner(parts.kicked)]
    of_column = [parts.by_gain, parts.by_roll, parts.by_energy]
    edges = np.cumsum([0, gradients, rows, rows, columns, columns, columns])
    spans = [slice(a, b) for a, b in pairwise(edges)]
    made = np.zeros((edges[-1], edges[-1]))
    for i, one in enumerate(of_row):
        for k, two in enumerate(of_row):
            _diagonal(made, spans[1 + i], spans[1 + k], (weights * one * two).sum(axis=1))
        for k, two in enumerate(of_column):
            _both(made, spans[1 + i], spans[3 + k], weights[:, :-1] * one[:, :-1] * two)
    for i, one in enumerate(of_column):
        for k, two in enumerate(of_column):
            _diagonal(made, spans[3 + i], spans[3 + k], (weights[:, :-1] * one * two).sum(axis=0))
    if gradients:
        made[spans[0], spans[0]] = _of_gradients(parts)
        for i, one in enumerate(of_row):
            _both(made, spans[0], spans[1 + i], _with_rows(parts.factors, weights * one))
        for i, one in enumerate(of_column):
            _both(made, spans[0], spans[3 + i], _with_columns(parts.factors, weights[:, :-1] * one))
    return made


def _diagonal(made: Floats, one: slice, two: slice, values: Floats) -> None:
    made[np.arange(one.start, one.stop), np.arange(two.start, two.stop)] = values


def _both(made: Floats, one: slice, two: slice, values: Floats) -> None:
    made[one, two], made[two, one] = values, values.T


def _of_gradients(parts: Parts) -> Floats:
    """The one block that needs the dense derivative, some columns at a time."""
    groups, (rows, columns) = parts.factors.groups, parts.kicked.shape
    root = np.sqrt(parts.weights)
    order = np.concatenate([group.at for group in groups])
    edges = np.cumsum([0, *(len(group.at) for group in groups)])
    made, room = np.zeros((len(order), len(order))), np.empty((len(order), rows, BLOCK))
    for begin in range(0, columns, BLOCK):
        some = slice(begin, min(columns, begin + BLOCK))
        dense = room if some.stop - begin == BLOCK else np.empty((len(order), rows, some.stop - begin))
        for group, first, last in zip(groups, edges[:-1], edges[1:], strict=True):
            np.matmul(group.left, group.right[..., some], out=dense[first:last])
        dense *= root[:, some]
        flat = dense.reshape(len(order), -1)
        made += flat @ flat.T
    back = np.argsort(order)
    return made[np.ix_(back, back)]


def _with_rows(factors: Factors, weighted: Floats) -> Floats:
    """[gradient, row]"""
    made = np.empty((factors.count, len(weighted)))
    for group in factors.groups:
        count, rank, columns = group.right.shape
        through = (group.right.reshape(-1, columns) @ weighted.T).reshape(count, rank, -1)
        made[group.at] = (through * group.left.transpose(0, 2, 1)).sum(axis=1)
    return made


def _with_columns(factors: Factors, weighted: Floats) -> Floats:
    """[gradient, column]"""
    made = np.empty((factors.count, weighted.shape[1]))
    for group in factors.groups:
        made[group.at] = (_through_left(group, weighted) * group.right[..., :-1]).sum(axis=1)
    return made


def dense_jacobian(parts: Parts) -> NDArray[np.float64]:
    """[parameter, row, column + RF] all of it, unweighted: for tests, and for small machines."""
    gradients = parts.factors.dense() if parts.factors.count else np.zeros((0, *parts.kicked.shape))
    rows, width = parts.kicked.shape
    made = np.zeros((len(gradients) + 2 * rows + 3 * (width - 1), rows, width))
    made[: len(gradients)] = gradients
    at = len(gradients)
    for derivative in (parts.kicked, partner(parts.kicked)):
        made[at + np.arange(rows), np.arange(rows)] = derivative
        at += rows
    for derivative in (parts.by_gain, parts.by_roll, parts.by_energy):
        for column in range(width - 1):
            made[at + column, :, column] = derivative[:, column]
        at += width - 1
    return made

# SPDX-License-Identifier: Apache-2.0
"""Boxes and arrows laid out in layers: where each box stands, and by which points each arrow passes.

A few steps of K. Sugiyama, S. Tagawa, M. Toda (IEEE Trans. Syst. Man Cybern. 11, 109, 1981): arrows that lead back are
turned round, each box stands below all that lead to it, boxes of a layer are ordered by the mean of their neighbours,
and their places are those of least squares with the room that they need. The text of an arrow is a small box of its own
below the one that the arrow leaves.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

Size = tuple[float, float]
"""Width and height."""
Point = tuple[float, float]

SWEEPS, STARTS = 12, 20
GAP_X, GAP_Y = 18.0, 16.0
"""Between boxes of a layer, and between layers."""
BESIDE = 40.0
"""Between boxes that no arrows join."""
PORT = 12.0
"""Between two arrows at one side of a box, at most."""
STIFF = 8.0
"""Weight of a bend of a long arrow: it should be straight before boxes stand in the middle."""


@dataclass(frozen=True)
class Arrow:
    """From one box to another."""

    source: str
    target: str
    label: Size
    """Room for its text."""


@dataclass(frozen=True)
class Layout:
    """Places, of the middles; y goes down."""

    boxes: Mapping[str, Point]
    labels: Mapping[int, Point]
    """Of each arrow, by its place in the list."""
    ways: Mapping[int, Sequence[Point]]
    """Of each arrow: the points that it passes, from box to box."""
    width: float
    height: float


@dataclass
class _Piece:
    """What stands in a layer: a box, the text of an arrow, or a bend of one."""

    size: Size
    layer: int
    weight: float = 1.0
    x: float = 0.0
    y: float = 0.0


def lay_out(sizes: Mapping[str, Size], arrows: Sequence[Arrow]) -> Layout:
    """Boxes by name, in this order; those that no arrows join stand side by side."""
    parts = [_lay_out_joined({name: sizes[name] for name in names}, arrows) for names in _joined(list(sizes), arrows)]
    boxes: dict[str, Point] = {}
    labels: dict[int, Point] = {}
    ways: dict[int, list[Point]] = {}
    right = 0.0
    for part in parts:
        boxes |= {name: (x + right, y) for name, (x, y) in part.boxes.items()}
        labels |= {number: (x + right, y) for number, (x, y) in part.labels.items()}
        ways |= {number: [(x + right, y) for x, y in way] for number, way in part.ways.items()}
        right += part.width + BESIDE
    return Layout(boxes, labels, ways, right - BESIDE, max(part.height for part in parts))


def _joined(names: Sequence[str], arrows: Sequence[Arrow]) -> list[list[str]]:
    """Groups of boxes, each in the order of the names."""
    group = {name: name for name in names}
    for arrow in arrows:
        source, target = group[arrow.source], group[arrow.target]
        group = {name: source if its == target else its for name, its in group.items()}
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        found[group[name]].append(name)
    return list(found.values())


def _lay_out_joined(sizes: Mapping[str, Size], all_arrows: Sequence[Arrow]) -> Layout:
    arrows = {number: arrow for number, arrow in enumerate(all_arrows) if arrow.source in sizes}
    ranks = _ranks(list(sizes), list(arrows.values()))
    pieces = {name: _Piece(size, 2 * ranks[name]) for name, size in sizes.items()}
    chains = {number: _chain(number, arrow, pieces) for number, arrow in arrows.items()}
    links = [pair for chain in chains.values() for pair in pairwise(chain)]
    layers = _ordered(pieces, links)
    _place_across(pieces, layers, links)
    _place_down(pieces, layers)
    return Layout(
        {name: (pieces[name].x, pieces[name].y) for name in sizes},
        {number: (pieces[_label(number)].x, pieces[_label(number)].y) for number in arrows},
        _ways(chains, arrows, pieces),
        max(piece.x + piece.size[0] / 2 for piece in pieces.values()),
        max(piece.y + piece.size[1] / 2 for piece in pieces.values()),
    )


def _label(number: int) -> str:
    return f"\0label {number}"


def _ranks(names: Sequence[str], arrows: Sequence[Arrow]) -> dict[str, int]:
    """Of each box: one more than the greatest of those that lead to it, by arrows that do not lead back."""
    nexts: dict[str, list[str]] = defaultdict(list)
    for arrow in arrows:
        nexts[arrow.source].append(arrow.target)
    order: list[str] = []
    seen: set[str] = set()
    forward: list[tuple[str, str]] = []

    def visit(name: str, above: frozenset[str]) -> None:
        seen.add(name)
        for target in nexts[name]:
            if target in above:  # it leads back
                continue
            forward.append((name, target))
            if target not in seen:
                visit(target, above | {target})
        order.append(name)

    for name in names:
        if name not in seen:
            visit(name, frozenset({name}))
    ranks = dict.fromkeys(names, 0)
    for name in reversed(order):
        for source, target in forward:
            if source == name:
                ranks[target] = max(ranks[target], ranks[name] + 1)
    return ranks


def _chain(number: int, arrow: Arrow, pieces: dict[str, _Piece]) -> list[str]:
    """The pieces of an arrow from the upper box to the lower one; its text and bends are made."""
    source, target = pieces[arrow.source], pieces[arrow.target]
    if source.layer == target.layer:  # to itself
        pieces[_label(number)] = _Piece(arrow.label, source.layer + 1)
        return [arrow.source, _label(number)]
    down = source.layer < target.layer
    upper, lower = (arrow.source, arrow.target) if down else (arrow.target, arrow.source)
    chain = [upper]
    text_at = source.layer + 1 if down else source.layer - 1
    for layer in range(pieces[upper].layer + 1, pieces[lower].layer):
        name = _label(number) if layer == text_at else f"\0bend {number} {layer}"
        pieces[name] = _Piece(arrow.label if layer == text_at else (4.0, 4.0), layer, STIFF)
        chain.append(name)
    return [*chain, lower]


def _ordered(pieces: Mapping[str, _Piece], links: Sequence[tuple[str, str]]) -> list[list[str]]:
    """The names of each layer from left to right, with few crossings: the best of some starts."""
    layers: list[list[str]] = [[] for _ in range(1 + max(piece.layer for piece in pieces.values()))]
    for name, piece in pieces.items():
        layers[piece.layer].append(name)
    draw = Random(1)
    best, fewest = layers, _crossings(layers, links)
    for _ in range(STARTS):
        if fewest == 0:
            break
        tried = _improved(layers, links)
        crossings = _crossings(tried, links)
        if crossings < fewest:
            best, fewest = tried, crossings
        layers = [draw.sample(layer, len(layer)) for layer in layers]
    return best


def _improved(layers: Sequence[list[str]], links: Sequence[tuple[str, str]]) -> list[list[str]]:
    """By the mean of the neighbours in the layer above, then below, and so on."""
    tried = [list(layer) for layer in layers]
    above, below = _neighbours(links)
    for sweep in range(SWEEPS):
        neighbours = above if sweep % 2 == 0 else below
        for layer in tried if sweep % 2 == 0 else reversed(tried):
            places = {name: index for each in tried for index, name in enumerate(each)}
            layer.sort(key=lambda name: _mean([places[other] for other in neighbours[name]], places[name]))
    _exchange(tried, links)
    return tried


def _exchange(layers: Sequence[list[str]], links: Sequence[tuple[str, str]]) -> None:
    """Neighbours change places where that takes a crossing away."""
    fewest = _crossings(layers, links)
    for layer in layers:
        for index in range(len(layer) - 1):
            layer[index], layer[index + 1] = layer[index + 1], layer[index]
            crossings = _crossings(layers, links)
            if crossings < fewest:
                fewest = crossings
            else:
                layer[index], layer[index + 1] = layer[index + 1], layer[index]


def _neighbours(links: Sequence[tuple[str, str]]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    above: dict[str, list[str]] = defaultdict(list)
    below: dict[str, list[str]] = defaultdict(list)
    for upper, lower in links:
        above[lower].append(upper)
        below[upper].append(lower)
    return above, below


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(layers: Sequence[Sequence[str]], links: Sequence[tuple[str, str]]) -> int:
    places = {name: (number, index) for number, layer in enumerate(layers) for index, name in enumerate(layer)}
    by_layer: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for upper, lower in links:
        by_layer[places[upper][0]].append((places[upper][1], places[lower][1]))
    return sum(
        (a[0] - b[0]) * (a[1] - b[1]) < 0
        for pairs in by_layer.values()
        for i, a in enumerate(pairs)
        for b in pairs[i + 1 :]
    )


def _place_across(
    pieces: Mapping[str, _Piece], layers: Sequence[Sequence[str]], links: Sequence[tuple[str, str]]
) -> None:
    above, below = _neighbours(links)
    for layer in layers:
        _spread([pieces[name] for name in layer], [0.0] * len(layer))
    for sweep in range(2 * SWEEPS):
        for layer in layers if sweep % 2 == 1 else reversed(layers):
            one_side = (below, above)[sweep % 2]
            near = {name: one_side.get(name) or (*above[name], *below[name]) for name in layer}
            aims = [_mean([pieces[other].x for other in near[name]], pieces[name].x) for name in layer]
            _spread([pieces[name] for name in layer], aims)
    left = min(piece.x - piece.size[0] / 2 for piece in pieces.values())
    for piece in pieces.values():
        piece.x -= left


def _spread(layer: Sequence[_Piece], aims: Sequence[float]) -> None:
    """Places of least squares about the aims, in this order and with room: groups that touch move as one."""
    offsets = [0.0]
    for left, right in pairwise(layer):
        offsets.append(offsets[-1] + (left.size[0] + right.size[0]) / 2 + GAP_X)
    groups: list[list[float]] = []  # [sum of weighted aims, weight, pieces]
    for piece, aim, offset in zip(layer, aims, offsets, strict=True):
        groups.append([piece.weight * (aim - offset), piece.weight, 1])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            last = groups.pop()
            groups[-1] = [mine + its for mine, its in zip(groups[-1], last, strict=True)]
    at = 0
    for total, weight, count in groups:
        for index in range(at, at + int(count)):
            layer[index].x = total / weight + offsets[index]
        at += int(count)


def _place_down(pieces: Mapping[str, _Piece], layers: Sequence[Sequence[str]]) -> None:
    top = 0.0
    for layer in layers:
        height = max((pieces[name].size[1] for name in layer), default=0.0)
        for name in layer:
            pieces[name].y = top + height / 2
        top += height + GAP_Y


def _ways(
    chains: Mapping[int, Sequence[str]], arrows: Mapping[int, Arrow], pieces: Mapping[str, _Piece]
) -> dict[int, list[Point]]:
    """From the edge of the one box to the edge of the other; arrows at one edge stand beside each other."""
    edges: dict[tuple[str, bool], list[tuple[float, int]]] = defaultdict(list)
    for number, chain in chains.items():
        edges[chain[0], True].append((pieces[chain[1]].x, number))
        if len(chain) > 2:
            edges[chain[-1], False].append((pieces[chain[-2]].x, number))
    ends: dict[tuple[int, bool], Point] = {}
    for (name, is_lower_edge), ways in edges.items():
        box = pieces[name]
        gap = min(PORT, box.size[0] / (len(ways) + 1))
        for place, (_, number) in enumerate(sorted(ways)):
            x = box.x + (place - (len(ways) - 1) / 2) * gap
            ends[number, is_lower_edge] = (x, box.y + box.size[1] / 2 * (1 if is_lower_edge else -1))
    found: dict[int, list[Point]] = {}
    for number, chain in chains.items():
        inner = [(pieces[name].x, pieces[name].y) for name in (chain[1:-1] if len(chain) > 2 else chain[1:])]
        way = [ends[number, True], *inner, *([ends[number, False]] if len(chain) > 2 else [])]
        found[number] = way if chain[0] == arrows[number].source else way[::-1]
    return found

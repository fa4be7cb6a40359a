# SPDX-License-Identifier: Apache-2.0
"""What was found, for people, for scripts, and against the truth of a virtual ring."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ringmaster.bba.analyse import Found, Offset
from ringmaster.bba.plant import Floats

UM = 1e-3
"""µm of a nm."""
STRONG = 0.2
"""By which a strength may differ from what was expected."""
FAR_UM = 5000.0
"""No pick-up is so far off."""


@dataclass(frozen=True)
class Truth:
    """Of a BPM."""

    magnet: str
    offset_nm: tuple[float, float]


@dataclass(frozen=True)
class Score:
    """Of offsets of one kind of magnet, against what they truly are. Pairs are x and y."""

    kind: str
    count: int
    rms_um: tuple[float, float]
    mean_um: tuple[float, float]
    worst_um: tuple[float, float]
    pull: tuple[float, float]
    """RMS of the error over its own estimate."""


def as_json(found: Found, rows: Sequence[str]) -> dict[str, Any]:
    """All of it, in µm."""
    return {
        "bpms": [_offset_json(one, rows) for one in found.offsets],
        "missing": {rows[2 * bpm]: why for bpm, why in found.missing.items()},
        "shaken_nm": found.shaken_nm,
        "swing": [{"found": abs(one), "phase_rad": float(np.angle(one))} for one in found.swung.amplitude.tolist()],
    }


def _offset_json(one: Offset, rows: Sequence[str]) -> dict[str, Any]:
    return {
        "rows": [rows[2 * one.bpm], rows[2 * one.bpm + 1]],
        "magnet": one.magnet,
        "kind": one.kind,
        "supply": one.supply,
        "distance_m": one.distance_m,
        "offset_um": [value * UM for value in one.offset_nm],
        "sigma_um": [value * UM for value in one.sigma_nm],
        "systematic_um": {name: [value * UM for value in pair] for name, pair in one.systematic_nm.items()},
        "total_um": [value * UM for value in one.total_nm],
        "away_um": [value * UM for value in one.away_nm],
        "strength": one.strength,
        "chi2": one.chi2,
        "doubts": list(doubts(one)),
    }


def doubts(one: Offset) -> Iterator[str]:
    """What speaks against an offset, in words."""
    if one.fault:
        yield one.fault
    if abs(one.strength - 1) > STRONG:
        yield f"its step acted {one.strength:.2f} times as strongly as expected"
    if max(np.abs(one.offset_nm)) * UM > FAR_UM:
        yield f"an offset of {max(np.abs(one.offset_nm)) * UM:.0f} µm"


def usable(found: Found) -> list[Offset]:
    """Those that nothing speaks against, but wrong signs and swapped planes, which the gain has."""
    from ringmaster.bba.swing import REPAIRED

    return [one for one in found.offsets if all(why.startswith(REPAIRED) for why in doubts(one))]


def tell(found: Found, rows: Sequence[str], whole: bool = False) -> Iterator[str]:
    """Lines."""
    for kind in ("quadrupole", "sextupole"):
        some = [one for one in found.offsets if one.kind == kind]
        if some:
            yield from _tell_kind(kind, some)
    if found.offsets:
        yield f"magnets shake by {found.shaken_nm:.2g} nm RMS within a state"
    for one in found.offsets:
        why = "; ".join(doubts(one))
        if why:
            yield f"{rows[2 * one.bpm]}, {rows[2 * one.bpm + 1]} ({one.magnet}): {why}"
    for bpm, why in found.missing.items():
        yield f"{rows[2 * bpm]}: not measured: {why}"
    if whole:
        yield from _table(found, rows)


def _tell_kind(kind: str, some: Sequence[Offset]) -> Iterator[str]:
    offsets, away = (np.array([getattr(one, name) for one in some]) * UM for name in ("offset_nm", "away_nm"))
    sigma, total = (np.array([getattr(one, name) for one in some]) * UM for name in ("sigma_nm", "total_nm"))
    yield f"{len(some)} BPMs to {kind}s: offsets {_pair(_rms(offsets))} µm RMS, beam {_pair(_rms(away))} µm off centres"
    terms = ", ".join(
        f"{name} {_pair(np.median([one.systematic_nm[name] for one in some], axis=0) * UM)}"
        for name in some[0].systematic_nm
    )
    yield f"  errors (median): {_pair(np.median(total, axis=0))} µm: noise {_pair(np.median(sigma, axis=0))}, {terms}"
    strengths = np.array([one.strength for one in some])
    yield f"  steps acted {strengths.mean():.3f} ± {strengths.std():.3f} times as expected"


def _table(found: Found, rows: Sequence[str]) -> Iterator[str]:
    yield f"{'BPM':12} {'magnet':14} {'at m':>6} {'x µm':>9} {'±':>6} {'y µm':>9} {'±':>6} {'strength':>9}"
    for one in found.offsets:
        (x, y), (dx, dy) = np.array(one.offset_nm) * UM, np.array(one.total_nm) * UM
        name = rows[2 * one.bpm]
        values = f"{one.distance_m:6.2f} {x:9.1f} {dx:6.1f} {y:9.1f} {dy:6.1f} {one.strength:9.3f}"
        yield f"{name:12} {one.magnet:14} {values}"


def _rms(values: Floats) -> Floats:
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)), np.float64)


def _pair(values: Floats) -> str:
    return f"{values[0]:.3g} and {values[1]:.3g}"


# ---- the truth of a virtual ring


def truth_of(path: Path, bpms: Sequence[int]) -> dict[int, Truth]:
    """By BPM, of the file that --truth of `ringmaster virtual` writes; ``bpms``: their elements. Raises ValueError."""
    try:
        listed = json.loads(path.read_text())["bpms"]
        return {bpms.index(one["element"]): _truth(one) for one in listed if one["element"] in bpms and "magnet" in one}
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: no truth of a virtual ring with a machine: {error}") from None


def _truth(one: Mapping[str, Any]) -> Truth:
    """As it is read: electronics may swap planes, and then invert them."""
    x, y = float(one["magnet_x_m"]) * 1e9, float(one["magnet_y_m"]) * 1e9
    if one["swapped"]:
        x, y = y, x
    return Truth(str(one["magnet"]), (-x if one["inverted_x"] else x, -y if one["inverted_y"] else y))


def score(offsets: Sequence[Offset], truth: Mapping[int, Truth]) -> list[Score]:
    """By kind. Offsets to another magnet than the truth's are left out."""
    scores = []
    for kind in ("quadrupole", "sextupole"):
        of_kind = [one for one in offsets if one.kind == kind and one.bpm in truth]
        some = [one for one in of_kind if truth[one.bpm].magnet == one.magnet]
        if not some:
            continue
        wrong = np.array([np.array(one.offset_nm) - truth[one.bpm].offset_nm for one in some]) * UM
        pull = wrong / (np.array([one.total_nm for one in some]) * UM)
        scores.append(
            Score(kind, len(some), *(_two(v) for v in (_rms(wrong), wrong.mean(0), np.abs(wrong).max(0), _rms(pull))))
        )
    return scores


def _two(values: Floats) -> tuple[float, float]:
    return float(values[0]), float(values[1])

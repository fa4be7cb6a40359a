# SPDX-License-Identifier: Apache-2.0
"""What is moved, how much, at which frequency and when: made, told, kept in a file.

In mode ``users`` the largest excursion of all sines together is a tenth of the beam's size at each BPM in each plane.
In mode ``machine`` the orbit moves by 30 µm RMS in each plane. Within that each corrector gets the amplitude by which
all answers have the same RMS, and no supply leaves its limits or exceeds its slew.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ruamel.yaml import YAML

from ringmaster.machine.server_file import read_yaml
from ringmaster.response import crest
from ringmaster.response.expected import Expected
from ringmaster.response.frequencies import Mains, around, choose, window_records
from ringmaster.response.plants import response_of
from ringmaster.response.sines import TAPER, taper

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
MODES = ("users", "machine")
SIZE_SHARE = 0.1
"""Of the beam's size, that the users' mode may take."""
ORBIT_NM = 30e3
"""RMS, that the machine's mode may take."""
OF_SLEW = 0.9
OF_LIMIT = 0.9
_HALVINGS = 20
SETTLE_S = 0.3
"""Of full amplitude, before the window: the supplies and the beam have followed."""
_KIND = "ringmaster response plan 1"
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Tone:
    """The sine of one supply."""

    supply: str
    periods: int
    """In the window."""
    amplitude: float
    """In the supply's unit."""
    phase: float


@dataclass(frozen=True)
class Plan:
    """All of it. Groups are moved one after the other, and all supplies of a group together."""

    mode: str
    rate_hz: float
    """Of readings, to which steps of the application are equal."""
    period_turns: int
    records: int
    """Of the window, of each group."""
    ramp_s: float
    groups: tuple[tuple[Tone, ...], ...]
    mains: Mains = field(default_factory=Mains)

    @property
    def window_s(self) -> float:
        """Of each group."""
        return self.records / self.rate_hz

    @property
    def full_s(self) -> float:
        """At full amplitude, of each group."""
        return self.window_s + SETTLE_S

    @property
    def seconds(self) -> float:
        """Of all, with ramps."""
        return len(self.groups) * (self.full_s + 2 * self.ramp_s)

    @property
    def supplies(self) -> tuple[str, ...]:
        """In their order."""
        return tuple(tone.supply for group in self.groups for tone in group)

    def hz(self, tone: Tone) -> float:
        """Of one."""
        return tone.periods * self.rate_hz / self.records


def make_plan(
    expected: Expected,
    mode: str,
    seconds: float,
    band_hz: tuple[float, float],
    *,
    mains: Mains | None = None,
    groups: int = 1,
    at_hz: float | None = None,
    ramp_s: float = 0.1,
    stands: Mapping[str, float] | None = None,
    seed: int = 1,
    progress: Progress = lambda _: None,
) -> Plan:
    """Of all supplies of ``expected``; ``seconds`` are those of all windows. Raises ValueError."""
    if mode not in MODES:
        raise ValueError(f"found mode {mode!r}, expected one of {', '.join(MODES)}")
    if not 1 <= groups <= len(expected.columns):
        raise ValueError(f"{groups} groups of {len(expected.columns)} supplies: expected 1 to {len(expected.columns)}")
    mains = mains or Mains()
    records = window_records(seconds / groups, expected.rate_hz)
    made = []
    for number in range(groups):
        columns = expected.columns[number::groups]
        part = expected.of(columns)
        if at_hz is None:
            bins = choose(len(columns), records, expected.rate_hz, band_hz, mains)
        else:
            bins = around(len(columns), at_hz, records, expected.rate_hz, band_hz, mains)
        bins = _dealt(bins, part, seed + number)
        share = (number / groups, 1 / groups)
        made.append(_group(part, mode, bins, records, stands or {}, seed + number, within(progress, *share)))
    return Plan(mode, expected.rate_hz, expected.period_turns, records, ramp_s, tuple(made), mains)


def within(progress: Progress, begin: float, length: float) -> Progress:
    """Of a part: it is so long, and begins there."""
    return lambda share: progress(begin + length * share)


def _dealt(bins: Sequence[int], expected: Expected, seed: int) -> list[int]:
    """The lowest frequency to the RF, which cannot move fast; the others by lot: so no place has noisy ones only."""
    order = [int(number) for number in np.random.default_rng(seed).permutation(sorted(bins))]
    if expected.rf is not None:
        at, lowest = expected.columns.index(expected.rf[0]), order.index(min(order))
        order[at], order[lowest] = order[lowest], order[at]
    return order


def _group(
    expected: Expected,
    mode: str,
    bins: Sequence[int],
    records: int,
    stands: Mapping[str, float],
    seed: int,
    progress: Progress,
) -> tuple[Tone, ...]:
    numbers = np.array(bins)
    hz = numbers * expected.rate_hz / records
    answer = expected.matrix * response_of(expected.families, expected.columns, hz)
    most = _most_by_supply(expected, hz, stands)
    shape = _shape(expected, answer)
    budget = SIZE_SHARE * expected.size_nm if mode == "users" else np.full(len(expected.rows), ORBIT_NM)
    amplitude, phases = np.empty(len(shape)), np.empty(len(shape))
    powers = crest.POWERS if mode == "users" else crest.POWERS[:1]  # the RMS is the budget, and has no phases
    for number, (plane, columns) in enumerate(_by_plane(expected)):
        rows = expected.row_planes == plane
        moved, own = answer[np.ix_(rows, columns)], numbers[columns]
        phases[columns] = crest.optimised(
            moved * shape[columns], own, 1 / budget[rows], seed, within(progress, number / 2, 1 / 2), powers
        )
        turned = moved * np.exp(1j * phases[columns])
        used = _used(mode, turned, own, budget[rows])
        amplitude[columns] = _filled(shape[columns], most[columns], used)
    tones = zip(expected.columns, bins, amplitude, phases, strict=True)
    return tuple(Tone(name, int(b), float(a), float(p)) for name, b, a, p in tones)


def _by_plane(expected: Expected) -> list[tuple[str, NDArray[np.bool_]]]:
    """Planes that are moved, and their columns. The RF moves x."""
    planes = expected.column_planes
    both = [("x", (planes == "x") | (planes == "rf")), ("y", planes == "y")]
    return [(plane, columns) for plane, columns in both if columns.any()]


def _used(mode: str, moved: Complexes, bins: NDArray[np.int64], budget: Floats) -> Callable[[Floats], float]:
    """Of amplitudes, the share of the budget that they take: by the largest excursion, or by RMS."""
    if mode == "users":
        return lambda amplitude: crest.largest(moved * amplitude, bins, 1 / budget)
    power = np.mean(np.square(np.abs(moved) / budget[:, None]), axis=0)
    return lambda amplitude: float(np.sqrt(0.5 * np.sum(power * amplitude**2)))


def _shape(expected: Expected, answer: Floats | Complexes) -> Floats:
    """[column] amplitudes by which all columns are told with the same relative error in their own plane."""
    size = np.empty(len(expected.columns))
    planes, rows = expected.column_planes, expected.row_planes
    for i, plane in enumerate(planes):
        own = rows == ("x" if plane == "rf" else plane)
        size[i] = np.sqrt(np.mean(np.square(np.abs(answer[own, i]) / expected.size_nm[own])))
    return np.asarray(1 / np.maximum(size, 1e-12 * size.max()), np.float64)


def _most_by_supply(expected: Expected, hz: Floats, stands: Mapping[str, float]) -> Floats:
    """Within limits, from where each stands (0), and within slews."""
    at = np.array([stands.get(name, 0.0) for name in expected.columns])
    room = np.minimum(expected.highest - at, at - expected.lowest)
    if (room <= 0).any():
        name = expected.columns[int(np.argmin(room))]
        raise ValueError(
            f"{name} stands at its limit, so it cannot be moved up and down: leave it out, or move it away"
        )
    return np.asarray(np.minimum(OF_LIMIT * room, OF_SLEW * expected.slew / (2 * np.pi * hz)), np.float64)


def _filled(shape: Floats, most: Floats, used: Callable[[Floats], float]) -> Floats:
    """So many times the shape, none above its most, that what is used of the budget is 1, or all are at their most."""
    low = 1 / used(shape)
    if (low * shape <= most).all():
        return low * shape
    high = float(np.max(most[np.isfinite(most)] / shape[np.isfinite(most)]))
    if used(np.minimum(high * shape, most)) <= 1:
        return np.minimum(high * shape, most)
    low = 0.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if used(np.minimum(middle * shape, most)) <= 1 else (low, middle)
    return np.minimum(low * shape, most)


@dataclass(frozen=True)
class Forecast:
    """What a plan will come to, told before it begins."""

    orbit_um: Mapping[str, float]
    """RMS of the orbit's motion by plane."""
    size_share: Mapping[str, float]
    """By plane, the largest excursion at any BPM over the beam's size there."""
    crest: float
    """Largest excursion over RMS, of the BPM at which it is largest."""
    relative: Mapping[str, float]
    """By plane of correctors, and "rf": error of an element over the RMS of its column; the median."""
    worst: Mapping[str, float]
    """The same, of the column that is told worst."""
    at_most: int
    """Supplies that their own limits or slews hold back."""


def forecast(expected: Expected, plan: Plan, noise_nm: float = 200.0) -> Forecast:
    """By the twin, and by readings whose noise is white."""
    orbit, share, peak, relative = {"x": 0.0, "y": 0.0}, {"x": 0.0, "y": 0.0}, 0.0, dict[str, list[float]]()
    held = 0
    for group in plan.groups:
        part = expected.of([tone.supply for tone in group])
        bins, hz = np.array([t.periods for t in group]), np.array([plan.hz(t) for t in group])
        amplitude = np.array([t.amplitude for t in group])
        moved = part.matrix * response_of(part.families, part.columns, hz) * amplitude
        excursion = crest.excursions(moved * np.exp(1j * np.array([t.phase for t in group])), bins)
        rms = np.sqrt(0.5 * np.square(np.abs(moved)).sum(axis=1))
        sigma = noise_nm * np.sqrt(2 * loss(plan.records) / plan.records)
        for plane in "xy":
            rows = part.row_planes == plane
            orbit[plane] = max(orbit[plane], 1e-3 * float(np.sqrt(np.mean(rms[rows] ** 2))))
            share[plane] = max(share[plane], float(np.max(excursion[rows] / part.size_nm[rows])))
        worst = int(np.argmax(excursion / part.size_nm))
        peak = max(peak, float(excursion[worst] / max(rms[worst], 1e-300)))
        for i, plane in enumerate(part.column_planes):
            own = part.row_planes == ("x" if plane == "rf" else plane)
            relative.setdefault(str(plane), []).append(sigma / float(np.sqrt(np.mean(np.abs(moved[own, i]) ** 2))))
        held += int(np.count_nonzero(amplitude >= 0.999 * _most_by_supply(part, hz, {})))
    return Forecast(
        orbit,
        share,
        peak,
        {plane: float(np.median(errors)) for plane, errors in relative.items()},
        {plane: float(np.max(errors)) for plane, errors in relative.items()},
        held,
    )


def loss(records: int) -> float:
    """By how much the variance is larger than that of even weights."""
    weights = taper(records, TAPER)
    return float(records * np.square(weights).sum() / weights.sum() ** 2)


def save(path: Path, plan: Plan) -> None:
    """Writes it, a tone a line."""
    yaml = YAML()
    yaml.width = 200
    mains = plan.mains
    about = {
        "kind": _KIND,
        "mode": plan.mode,
        "rate_hz": plan.rate_hz,
        "period_turns": plan.period_turns,
        "records": plan.records,
        "ramp_s": plan.ramp_s,
        "mains": {
            "hz": mains.hz,
            "wander": mains.wander,
            "clear_hz": mains.clear_hz,
            "others": list(mains.others),
        },
    }
    text = io.StringIO()
    yaml.dump(about, text)
    lines = ["groups:"]
    for group in plan.groups:
        for number, tone in enumerate(group):
            lead = "  - - " if number == 0 else "    - "
            lines.append(
                f"{lead}{{supply: {tone.supply}, periods: {tone.periods}, amplitude: {tone.amplitude:.9g}, "
                f"phase: {tone.phase:.6f}}} # {plan.hz(tone):.4f} Hz"
            )
    path.write_text(text.getvalue() + "\n".join(lines) + "\n", encoding="utf-8")


def load(path: Path) -> Plan:
    """Reads it. Raises ValueError for a file that is none, OSError."""
    read = read_yaml(path)
    if not isinstance(read, dict) or read.get("kind") != _KIND:
        raise ValueError(f"{path}: no plan of `ringmaster response plan`: expected the key `kind: {_KIND}`")
    try:
        given: dict[str, Any] = read["mains"]
        mains = Mains(given["hz"], given["wander"], given["clear_hz"], tuple(given["others"]))
        groups = tuple(
            tuple(Tone(str(t["supply"]), int(t["periods"]), float(t["amplitude"]), float(t["phase"])) for t in group)
            for group in read["groups"]
        )
        whole = (str(read["mode"]), float(read["rate_hz"]), int(read["period_turns"]), int(read["records"]))
        return Plan(*whole, float(read["ramp_s"]), groups, mains)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: a plan with a key that is missing or wrong: {error}") from None

# SPDX-License-Identifier: Apache-2.0
"""Design the catalog of decimation filters and write it as src/filter/coefficients.c.

    python3 src/filter/design.py           design all and write coefficients.c (needs scipy)
    python3 src/filter/design.py --check   exit 1 unless the committed coefficients.c keeps every promise

src/filter/response.py prints and draws what they do.

Frequencies are in cycles per input of a filter, for rates in cycles per turn.

The sharp filters come from the Remez exchange, whose last bits depend on the version of scipy. The taps in
coefficients.c are therefore the master: --check does not design again. It reads them, holds them against the
specification (ripple, rejection, symmetry, gain, zeros), and asks that the file be byte for byte what this script
prints for those taps. It needs nothing but Python.
"""

from __future__ import annotations

import argparse
import math
import re
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src/filter/coefficients.c"

DECIMATIONS = (2, 3, 4, 5, 6, 8, 10, 12)
TURN_RATE_HZ = 1.157e6  # Elettra

LOW_LATENCY_DELAY_LIMIT_S = 12e-6  # at the first rate

SHARP_OVERLAP = 18  # outputs that an input belongs to: 18 · decimation - 1 taps
SHARP_PASS = 0.4  # of the output rate
SHARP_STOP = 0.6
SHARP_RIPPLE_DB = 0.1
SHARP_REJECTION_DB = 80.0
# 80 dB against 0.1 dB asks for 20 to 80 times as much accuracy in the stopband; 64 leaves both limits some margin.
SHARP_STOP_WEIGHT = 64
# Of a filter with another behind it only the lowest part of the passband is left (1/10 of it behind a decimation by
# 10). Ten times as flat there, filters in a row ripple hardly more than the last of them alone.
SHARP_FLAT = 0.05
SHARP_FLAT_WEIGHT = 10

GRID = 1000  # frequencies per output rate at which a response is judged

# The default rates (src/config/rates.c): the filter, and the decimations from the turn rate on.
RATES = {
    "low_latency": ("low_latency", (12,)),
    "loop_low_latency": ("low_latency", (12, 10)),
    "slow_low_latency": ("low_latency", (12, 10, 10, 10, 10)),
    "fast": ("sharp", (12,)),
    "loop": ("sharp", (12, 10)),
    "slow": ("sharp", (12, 10, 10, 10, 10)),
}

Taps = list[float]


@dataclass(frozen=True)
class Filter:
    """A linear-phase filter; `taps` are f32 values, the first for the oldest input."""

    name: str
    decimation: int
    taps: Taps

    @property
    def centre(self) -> int:
        """Index of the middle tap: the group delay in inputs."""
        return (len(self.taps) - 1) // 2

    @property
    def overlap(self) -> int:
        """Outputs that one group of `decimation` inputs belongs to."""
        return (len(self.taps) + 1) // self.decimation

    @property
    def gain(self) -> float:
        """Gain at 0 Hz: the sum of the taps, rounded once."""
        return math.fsum(self.taps)

    def response(self, frequency: float) -> float:
        """Gain at `frequency`, referred to the centre, where a symmetric filter has no phase but a sign."""
        step = 2 * math.pi * frequency
        wings = (self.taps[self.centre + k] * math.cos(step * k) for k in range(1, self.centre + 1))
        return self.taps[self.centre] + 2 * math.fsum(wings)

    def level_db(self, share: float) -> float:
        """Level at `share` of the output rate."""
        return decibel(self.response(share / self.decimation))

    def index(self, phase: int, age: int) -> int:
        """Which tap an input of `phase` meets in the output that closes `age` groups after its own; -1 for none."""
        return len(self.taps) - 1 - (self.decimation - 1 - phase) - self.decimation * age

    def table(self) -> list[list[float]]:
        """The taps as the decimator wants them: [phase][age], 0 where there is no tap."""
        return [
            [self.taps[i] if (i := self.index(phase, age)) >= 0 else 0.0 for age in range(self.overlap)]
            for phase in range(self.decimation)
        ]


@dataclass(frozen=True)
class Row:
    """Filters in a row: one rate."""

    name: str
    stages: list[Filter]

    @property
    def period(self) -> int:
        """Turns from one output to the next."""
        return math.prod(stage.decimation for stage in self.stages)

    def steps(self) -> Iterator[tuple[int, Filter]]:
        """Each filter with the period of its inputs."""
        period = 1
        for stage in self.stages:
            yield period, stage
            period *= stage.decimation

    @property
    def delay(self) -> int:
        """Group delay, and closing delay, in turns."""
        return sum(period * stage.centre for period, stage in self.steps())

    @property
    def gain(self) -> float:
        """Gain at 0 Hz."""
        return math.prod(stage.gain for stage in self.stages)

    def response(self, frequency: float) -> float:
        """Gain at `frequency` in cycles per turn, wherever it folds to on the way."""
        return math.prod(stage.response(frequency * period) for period, stage in self.steps())

    def level_db(self, share: float) -> float:
        """Level at `share` of the output rate."""
        return decibel(self.response(share / self.period))


def decibel(response: float) -> float:
    """-inf at an exact zero."""
    return 20 * math.log10(abs(response)) if response else -math.inf


def f32(value: float) -> float:
    """`value` rounded to single precision."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def normalised(name: str, decimation: int, taps: Taps) -> Filter:
    """Taps in f32 with a sum as near to 1 as the last bit of the middle tap allows."""
    scale = 1 / math.fsum(taps)
    rounded = [f32(tap * scale) for tap in taps]
    centre = (len(taps) - 1) // 2
    rounded[centre] = f32(rounded[centre] + 1 - math.fsum(rounded))
    return Filter(name, decimation, rounded)


def design_low_latency(decimation: int) -> Filter:
    """Two boxcars, one after the other.

    Zeros of second order at every multiple of the output rate, with the least delay that has them.
    """
    rising = [float(k) for k in range(1, decimation + 1)]
    return normalised("low_latency", decimation, rising + rising[-2::-1])


def design_sharp(decimation: int) -> Filter:
    """The equiripple filter, flat at its foot."""
    from scipy.signal import remez  # type: ignore[import-untyped,import-not-found,unused-ignore]  # only to design

    count = SHARP_OVERLAP * decimation - 1
    shares = (0, SHARP_FLAT, SHARP_FLAT + 0.01, SHARP_PASS, SHARP_STOP)
    bands = [*(share / decimation for share in shares), 0.5]
    weights = [SHARP_FLAT_WEIGHT, 1, SHARP_STOP_WEIGHT]
    taps = remez(count, bands, [1, 1, 0], weight=weights, fs=1, maxiter=400, grid_density=32)
    symmetric = [(a + b) / 2 for a, b in zip(taps, taps[::-1], strict=True)]
    return normalised("sharp", decimation, symmetric)


def c_number(value: float) -> str:
    """`value` with the nine digits that give the same f32 back."""
    text = f"{value:.9g}"
    return (text if "." in text or "e" in text else text + ".0") + "f"


def c_table(design: Filter) -> Iterator[str]:
    yield f"static float const {design.name}_{design.decimation}[{design.decimation}][{design.overlap}] = {{"
    for row in design.table():
        numbers = [c_number(value) for value in row]
        lines = [", ".join(numbers[i : i + 6]) for i in range(0, len(numbers), 6)]
        yield "    {" + ",\n     ".join(lines) + "},"
    yield "};"


def c_entry(design: Filter) -> Iterator[str]:
    yield "    {"
    yield f'        .name = "{design.name}",'
    yield f"        .decimation = {design.decimation},"
    yield f"        .taps = {len(design.taps)},"
    yield f"        .centre = {design.centre},"
    yield f"        .overlap = {design.overlap},"
    yield f"        .gain = {design.gain:.17g},"
    yield f"        .coefficient = &{design.name}_{design.decimation}[0][0],"
    yield "    },"


def c_source(filters: list[Filter]) -> str:
    """The whole of coefficients.c."""
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        "/** Written by src/filter/design.py, which also checks it: change that. [phase][age], see design.h. */",
        '#include "filter/design.h"',
        "",
        "// clang-format off",
    ]
    for design in filters:
        lines += ["", *c_table(design)]
    lines += ["", "struct rm_fir_design const rm_fir_designs[RM_FIR_DESIGNS] = {"]
    for design in filters:
        lines += c_entry(design)
    return "\n".join([*lines, "};"]) + "\n"


def committed() -> list[Filter]:
    """The filters that coefficients.c holds."""
    text = SOURCE.read_text()
    found = []
    pattern = r"float const ([a-z_]+)_(\d+)\[\d+\]\[(\d+)\] = \{(.*?)\};"
    for name, decimation_text, overlap_text, body in re.findall(pattern, text, re.DOTALL):
        decimation, overlap = int(decimation_text), int(overlap_text)
        values = [f32(float(number)) for number in re.findall(r"[-+.\de]+(?=f)", body)]
        design = Filter(name, decimation, [0.0] * (overlap * decimation - 1))
        for place, value in enumerate(values):
            tap = design.index(*divmod(place, overlap))
            if tap >= 0:
                design.taps[tap] = value
        found.append(design)
    return found


def rates(filters: list[Filter]) -> list[Row]:
    """The default rates, of these filters."""
    catalog = {(design.name, design.decimation): design for design in filters}
    return [Row(name, [catalog[form, factor] for factor in factors]) for name, (form, factors) in RATES.items()]


def grid(first: float, last: float) -> list[float]:
    """Shares of the output rate from `first` to `last`, both included."""
    steps = max(1, math.ceil((last - first) * GRID))
    return [first + (last - first) * i / steps for i in range(steps + 1)]


def levels_db(of: Filter | Row, first: float, last: float) -> tuple[float, float]:
    """The lowest and the highest level between two shares of the output rate."""
    levels = [of.level_db(share) for share in grid(first, last)]
    return min(levels), max(levels)


def ripple_db(of: Filter | Row) -> float:
    return max(abs(level) for level in levels_db(of, 0, SHARP_PASS))


def rejection_db(design: Filter) -> float:
    return -levels_db(design, SHARP_STOP, design.decimation / 2)[1]


def row_rejection_db(row: Row) -> float:
    """What holds for every frequency from 0.6 of the output rate on.

    It lies in the stopband of the filter that would fold it under that, and every other one lifts it by its ripple at
    most.
    """
    lifts = math.fsum(levels_db(stage, 0, SHARP_STOP)[1] for stage in row.stages[:-1])
    return min(rejection_db(stage) for stage in row.stages) - lifts


def zeros_db(design: Filter) -> float:
    """At the multiples of the output rate; only the rounding of the taps keeps it from being infinite."""
    return -max(design.level_db(k) for k in range(1, design.decimation // 2 + 1))


def half_last_bit(value: float) -> float:
    return math.ldexp(1, math.frexp(value)[1] - 25)


def promises(filters: list[Filter]) -> Iterator[tuple[str, bool]]:
    """Every promise as a sentence and whether it is kept."""
    for design in filters:
        name = f"{design.name} {design.decimation}"
        yield f"{name}: symmetric", design.taps == design.taps[::-1]
        tolerance = half_last_bit(design.taps[design.centre])
        yield f"{name}: gain within {tolerance:.2g} of 1", abs(design.gain - 1) <= tolerance
        yield f"{name}: closes on the last input of a group", design.centre % design.decimation == design.decimation - 1
        if design.name == "low_latency":
            yield f"{name}: two cascaded boxcars, to the last bit", design == design_low_latency(design.decimation)
            yield f"{name}: zeros (120 dB) at multiples of the output rate", zeros_db(design) >= 120
        else:
            yield f"{name}: {SHARP_OVERLAP} taps per output", design.overlap == SHARP_OVERLAP
            yield f"{name}: ±0.1 dB to 0.4 of the output rate", ripple_db(design) <= SHARP_RIPPLE_DB
            yield f"{name}: 80 dB from 0.6 of the output rate", rejection_db(design) >= SHARP_REJECTION_DB
    for row in rates(filters):
        if row.name == "low_latency":
            yield "low_latency: delay at most 12 µs at 1.157 MHz", row.delay / TURN_RATE_HZ <= LOW_LATENCY_DELAY_LIMIT_S
        if row.stages[0].name == "sharp":
            yield f"{row.name}: ±0.1 dB to 0.4 of the output rate", ripple_db(row) <= SHARP_RIPPLE_DB
            yield f"{row.name}: 80 dB from 0.6 of the output rate", row_rejection_db(row) >= SHARP_REJECTION_DB


def check() -> int:
    """1 when coefficients.c breaks a promise, with a line for each; 0 when it keeps all."""
    filters = committed()
    found = [(design.name, design.decimation) for design in filters]
    if found != [(name, decimation) for name in ("low_latency", "sharp") for decimation in DECIMATIONS]:
        print(
            f"{SOURCE}: expected low_latency and sharp, each for {DECIMATIONS}, found {found}; run "
            f"{Path(__file__).name}"
        )
        return 1
    broken = [promise for promise, kept in promises(filters) if not kept]
    if c_source(filters) != SOURCE.read_text():
        broken.append("file: byte for byte what design.py prints for these taps")
    for promise in broken:
        print(f"{SOURCE}: broken promise: {promise}")
    return 1 if broken else 0


def write() -> int:
    """Design all filters and write coefficients.c."""
    forms = (design_low_latency, design_sharp)
    SOURCE.write_text(c_source([form(decimation) for form in forms for decimation in DECIMATIONS]))
    return check()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="check the committed taps and write nothing")
    return check() if parser.parse_args().check else write()


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Design the two decimation filters and write them as src/filter/coefficients.c.

    python3 src/filter/design.py           design both and write coefficients.c (needs scipy)
    python3 src/filter/design.py --check   exit 1 unless the committed coefficients.c keeps every promise
    python3 src/filter/design.py --report  print the figures that docs/filters.md states, of the committed taps
    python3 src/filter/design.py --plot    draw docs/filters/*.svg from the committed taps (needs matplotlib)

Frequencies are in cycles per turn; a turn is one input of a filter, DECIMATION turns one output.

The sharp filter comes from the Remez exchange, whose last bits depend on the version of scipy. The taps in
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "src/filter/coefficients.c"
PLOTS = ROOT / "docs/filters"

DECIMATION = 12
TURN_RATE_HZ = 1.157e6  # Elettra
OUTPUT_RATE = 1 / DECIMATION  # of the filters, in cycles per turn

PROMPT_BOXCARS = 2
PROMPT_DELAY_LIMIT_S = 12e-6

SHARP_TAPS = 215
SHARP_PASS = 0.4 * OUTPUT_RATE
SHARP_STOP = 0.6 * OUTPUT_RATE
SHARP_RIPPLE_DB = 0.1
SHARP_REJECTION_DB = 80.0
# 80 dB against 0.1 dB asks for 20 to 80 times as much accuracy in the stopband; 64 leaves both limits some margin.
SHARP_STOP_WEIGHT = 64

GAIN_TOLERANCE = 4e-9  # half the last bit of the middle tap
BETATRON_LINES = {"horizontal": 0.9204042414, "vertical": 0.1654425993}  # tunes of the Elettra 2.0 lattice S6BA-E
GRID = 6000  # frequencies from 0 to 0.5 at which a response is judged: 1/1000 of the output rate apart

Taps = list[float]


@dataclass(frozen=True)
class Filter:
    """A linear-phase filter; `taps` are f32 values, the first for the oldest input."""

    name: str
    taps: Taps

    @property
    def centre(self) -> int:
        """Index of the middle tap: the group delay in turns."""
        return (len(self.taps) - 1) // 2

    @property
    def overlap(self) -> int:
        """Outputs that one group of DECIMATION inputs belongs to."""
        return (len(self.taps) + 1) // DECIMATION

    @property
    def gain(self) -> float:
        """Gain at 0 Hz: the sum of the taps, rounded once."""
        return math.fsum(self.taps)

    def response(self, frequency: float) -> float:
        """Gain at `frequency`, referred to the centre, where a symmetric filter has no phase but a sign."""
        step = 2 * math.pi * frequency
        wings = (self.taps[self.centre + k] * math.cos(step * k) for k in range(1, self.centre + 1))
        return self.taps[self.centre] + 2 * math.fsum(wings)

    def level_db(self, frequency: float) -> float:
        """Magnitude of the response in dB; -inf at an exact zero."""
        magnitude = abs(self.response(frequency))
        return 20 * math.log10(magnitude) if magnitude else -math.inf

    def index(self, phase: int, age: int) -> int:
        """Which tap an input of `phase` meets in the output that closes `age` groups after its own; -1 for none."""
        return len(self.taps) - 1 - (DECIMATION - 1 - phase) - DECIMATION * age

    def table(self) -> list[list[float]]:
        """The taps as the decimator wants them: [phase][age], 0 where there is no tap."""
        return [
            [self.taps[i] if (i := self.index(phase, age)) >= 0 else 0.0 for age in range(self.overlap)]
            for phase in range(DECIMATION)
        ]


def f32(value: float) -> float:
    """`value` rounded to single precision."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def normalised(name: str, taps: Taps) -> Filter:
    """Taps in f32 with a sum as near to 1 as the last bit of the middle tap allows."""
    scale = 1 / math.fsum(taps)
    rounded = [f32(tap * scale) for tap in taps]
    centre = (len(taps) - 1) // 2
    rounded[centre] = f32(rounded[centre] + 1 - math.fsum(rounded))
    return Filter(name, rounded)


def triangle() -> Taps:
    """Two boxcars of DECIMATION, one after the other."""
    rising = [float(k) for k in range(1, DECIMATION + 1)]
    return rising + rising[-2::-1]


def design_prompt() -> Filter:
    """Zeros of second order at every multiple of the output rate, with the least delay that has them."""
    return normalised("prompt", triangle())


def design_sharp() -> Filter:
    """The equiripple filter of SHARP_TAPS taps."""
    from scipy.signal import remez  # type: ignore[import-untyped,import-not-found,unused-ignore]  # only to design

    bands = [0, SHARP_PASS, SHARP_STOP, 0.5]
    taps = remez(SHARP_TAPS, bands, [1, 0], weight=[1, SHARP_STOP_WEIGHT], fs=1, maxiter=200, grid_density=32)
    symmetric = [(a + b) / 2 for a, b in zip(taps, taps[::-1], strict=True)]
    return normalised("sharp", symmetric)


def c_number(value: float) -> str:
    """`value` with the nine digits that give the same f32 back."""
    text = f"{value:.9g}"
    return (text if "." in text or "e" in text else text + ".0") + "f"


def c_table(design: Filter) -> Iterator[str]:
    yield f"static float const {design.name}_coefficient[{DECIMATION}][{design.overlap}] = {{"
    for row in design.table():
        numbers = [c_number(value) for value in row]
        lines = [", ".join(numbers[i : i + 6]) for i in range(0, len(numbers), 6)]
        yield "    {" + ",\n     ".join(lines) + "},"
    yield "};"
    yield ""
    yield f"struct rm_fir_design const rm_fir_{design.name} = {{"
    yield f'    .name = "{design.name}",'
    yield f"    .decimation = {DECIMATION},"
    yield f"    .taps = {len(design.taps)},"
    yield f"    .centre = {design.centre},"
    yield f"    .overlap = {design.overlap},"
    yield f"    .gain = {design.gain:.17g},"
    yield f"    .coefficient = &{design.name}_coefficient[0][0],"
    yield "};"


def c_source(filters: list[Filter]) -> str:
    """The whole of coefficients.c."""
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        "/** Written by src/filter/design.py, which also checks it: change that. [phase][age], see decimator.h. */",
        '#include "filter/decimator.h"',
        "",
        "// clang-format off",
    ]
    for design in filters:
        lines += ["", *c_table(design)]
    return "\n".join(lines) + "\n"


def committed() -> list[Filter]:
    """The filters that coefficients.c holds."""
    text = SOURCE.read_text()
    found = []
    pattern = r"(\w+)_coefficient\[\d+\]\[(\d+)\] = \{(.*?)\};"
    for name, overlap_text, body in re.findall(pattern, text, re.DOTALL):
        overlap = int(overlap_text)
        values = [f32(float(number)) for number in re.findall(r"[-+.\de]+(?=f)", body)]
        design = Filter(name, [0.0] * (overlap * DECIMATION - 1))
        for place, value in enumerate(values):
            tap = design.index(*divmod(place, overlap))
            if tap >= 0:
                design.taps[tap] = value
        found.append(design)
    return found


def grid(first: float, last: float) -> list[float]:
    """Frequencies from `first` to `last`, both included."""
    steps = math.ceil((last - first) / 0.5 * GRID)
    return [first + (last - first) * i / steps for i in range(steps + 1)]


def sharp_ripple_db(design: Filter) -> float:
    return max(abs(design.level_db(f)) for f in grid(0, SHARP_PASS))


def sharp_rejection_db(design: Filter) -> float:
    return -max(design.level_db(f) for f in grid(SHARP_STOP, 0.5))


def prompt_rejection_db(design: Filter) -> float:
    """At the multiples of the output rate; only the rounding of the taps keeps it from being infinite."""
    return -max(design.level_db(k * OUTPUT_RATE) for k in range(1, DECIMATION // 2 + 1))


def promises(prompt: Filter, sharp: Filter) -> Iterator[tuple[str, bool]]:
    """Every promise as a sentence and whether it is kept."""
    for design in (prompt, sharp):
        yield f"{design.name}: symmetric", design.taps == design.taps[::-1]
        yield f"{design.name}: gain within {GAIN_TOLERANCE} of 1", abs(design.gain - 1) <= GAIN_TOLERANCE
        yield f"{design.name}: closes on the last turn of a group", design.centre % DECIMATION == DECIMATION - 1
    yield "prompt: two cascaded boxcars of 12, to the last bit", prompt == design_prompt()
    yield "prompt: delay at most 12 µs at 1.157 MHz", prompt.centre / TURN_RATE_HZ <= PROMPT_DELAY_LIMIT_S
    yield "prompt: zeros (120 dB) at multiples of the output rate", prompt_rejection_db(prompt) >= 120
    yield "sharp: 215 taps", len(sharp.taps) == SHARP_TAPS
    yield "sharp: ±0.1 dB to 0.4 of the output rate", sharp_ripple_db(sharp) <= SHARP_RIPPLE_DB
    yield "sharp: 80 dB from 0.6 of the output rate", sharp_rejection_db(sharp) >= SHARP_REJECTION_DB


def check() -> int:
    """1 when coefficients.c breaks a promise, with a line for each; 0 when it keeps all."""
    filters = committed()
    names = [design.name for design in filters]
    if names != ["prompt", "sharp"]:
        print(f"{SOURCE}: expected the tables of prompt and sharp, found {names}; run {Path(__file__).name}")
        return 1
    broken = [promise for promise, kept in promises(*filters) if not kept]
    if c_source(filters) != SOURCE.read_text():
        broken.append("file: byte for byte what design.py prints for these taps")
    for promise in broken:
        print(f"{SOURCE}: broken promise: {promise}")
    return 1 if broken else 0


def report() -> int:
    """Print the figures of docs/filters.md."""
    prompt, sharp = committed()
    for design in (prompt, sharp):
        delay_us = design.centre / TURN_RATE_HZ * 1e6
        print(f"{design.name}: {len(design.taps)} taps, delay {design.centre} turns = {delay_us:.2f} µs")
        print(f"  gain - 1 = {design.gain - 1:.2g}; noise gain {math.sqrt(math.fsum(t * t for t in design.taps)):.4f}")
        for share in (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
            print(f"  {share:4} of the output rate: {design.level_db(share * OUTPUT_RATE):8.3f} dB")
        for plane, tune in BETATRON_LINES.items():
            line = abs(tune - round(tune))
            alias = abs(line - round(line / OUTPUT_RATE) * OUTPUT_RATE) * TURN_RATE_HZ
            print(f"  {plane} betatron line {line:.4f}: {design.level_db(line):7.1f} dB, folds to {alias:.0f} Hz")
    print(f"prompt: at multiples of the output rate {prompt_rejection_db(prompt):.0f} dB down")
    print(f"sharp: ripple {sharp_ripple_db(sharp):.4f} dB, rejection {sharp_rejection_db(sharp):.2f} dB")
    return 0


def plot() -> int:
    """Draw response.svg (everything) and passband.svg (what stays)."""
    import matplotlib  # type: ignore[import-untyped,import-not-found,unused-ignore]  # only to draw

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "ringmaster", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot  # type: ignore[import-untyped,import-not-found,unused-ignore]

    def draw(name: str, last_share: float, levels_db: tuple[float, float], title: str) -> None:
        figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
        shares = [last_share * i / 900 for i in range(901)]
        for design, colour in zip(committed(), ("#c1440e", "#1f5f8b"), strict=True):
            levels = [max(design.level_db(share * OUTPUT_RATE), levels_db[0] - 10) for share in shares]
            axes.plot(shares, levels, color=colour, label=design.name, linewidth=1)
        for tune in BETATRON_LINES.values():
            axes.axvline(abs(tune - round(tune)) * DECIMATION, color="#777777", linestyle=":", linewidth=1)
        axes.set(xlim=(0, last_share), ylim=levels_db, title=title, ylabel="level, dB")
        axes.set_xlabel("frequency of the input, in output rates (12 turns)")
        axes.legend(loc="upper right")
        axes.grid(alpha=0.3)
        figure.savefig(PLOTS / name, metadata={"Date": None})

    PLOTS.mkdir(parents=True, exist_ok=True)
    draw("response.svg", 6, (-120, 5), "Prompt and sharp decimation by 12 (dotted: betatron lines of S6BA-E)")
    draw("passband.svg", 0.7, (-6, 0.5), "The same, where the outputs keep it")
    return 0


def write() -> int:
    """Design both filters and write coefficients.c."""
    SOURCE.write_text(c_source([design_prompt(), design_sharp()]))
    return check()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_mutually_exclusive_group()
    actions.add_argument("--check", action="store_const", const=check, dest="action")
    actions.add_argument("--report", action="store_const", const=report, dest="action")
    actions.add_argument("--plot", action="store_const", const=plot, dest="action")
    action: Callable[[], int] = parser.parse_args().action or write
    return action()


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""What the committed filters do, alone and in the rows of the default rates.

    python3 src/filter/response.py         print the figures that docs/filters.md states
    python3 src/filter/response.py --plot  draw docs/filters/*.svg (needs matplotlib)

Frequencies are in output rates or, where a figure says so, in hertz at Elettra's turn rate.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

from design import (
    ROOT,
    SHARP_PASS,
    TURN_RATE_HZ,
    Row,
    committed,
    decibel,
    levels_db,
    rates,
    rejection_db,
    ripple_db,
    row_rejection_db,
    zeros_db,
)

PLOTS = ROOT / "docs/filters"
BETATRON_LINES = {"horizontal": 0.9204042414, "vertical": 0.1654425993}  # tunes of the Elettra 2.0 lattice S6BA-E


def in_time(turns: float) -> str:
    """Turns as time, in the unit that suits."""
    seconds = turns / TURN_RATE_HZ
    unit, scale = ("µs", 1e6) if seconds < 1e-3 else ("ms", 1e3) if seconds < 1 else ("s", 1.0)
    return f"{seconds * scale:.4g} {unit}"


def report_rate(row: Row) -> None:
    taps = " × ".join(f"÷{stage.decimation} ({len(stage.taps)} taps)" for stage in row.stages)
    print(f"{row.name}: {TURN_RATE_HZ / row.period:.5g} Hz, {taps}")
    print(f"  delay {row.delay} turns = {in_time(row.delay)}, gain - 1 = {row.gain - 1:.2g}")
    for share in (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        print(f"  {share:4} of the output rate: {row.level_db(share):8.3f} dB")
    if row.stages[0].name == "sharp":
        print(f"  ripple {ripple_db(row):.4f} dB, rejection at least {row_rejection_db(row):.2f} dB")
    for plane, tune in BETATRON_LINES.items():
        line = abs(tune - round(tune))
        alias = abs(line - round(line * row.period) / row.period) * TURN_RATE_HZ
        print(f"  {plane} betatron line {line:.4f}: {decibel(row.response(line)):7.1f} dB, folds to {alias:.4g} Hz")


def report() -> int:
    """Print the figures of docs/filters.md."""
    filters = committed()
    for design in filters:
        noise = math.sqrt(math.fsum(tap * tap for tap in design.taps))
        text = f"{design.name:6} ÷{design.decimation:<2} {len(design.taps):3} taps, delay {design.centre:3} inputs, "
        text += f"gain - 1 = {design.gain - 1:8.1g}, white noise × {noise:.4f}, "
        if design.name == "sharp":
            low, high = levels_db(design, 0, SHARP_PASS)
            text += f"passband {low:.3f} to {high:+.3f} dB, rejection {rejection_db(design):.2f} dB"
        else:
            text += f"{design.level_db(0.4):.2f} dB at 0.4, zeros {zeros_db(design):.0f} dB"
        print(text)
    for row in rates(filters):
        report_rate(row)
    return 0


def plot() -> int:
    """Draw response.svg (everything), passband.svg (what stays) and rates.svg (all rates)."""
    import matplotlib  # type: ignore[import-untyped,import-not-found,unused-ignore]  # only to draw

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "ringmaster", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot  # type: ignore[import-untyped,import-not-found,unused-ignore]

    rows = {row.name: row for row in rates(committed())}
    colours = {"low_latency": "#c1440e", "sharp": "#1f5f8b"}

    def draw(name: str, last_share: float, limits_db: tuple[float, float], title: str) -> None:
        """The two rates of 12 turns, up to `last_share` of their rate."""
        figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
        shares = [last_share * i / 900 for i in range(901)]
        for row in (rows["low_latency"], rows["fast"]):
            levels = [max(row.level_db(share), limits_db[0] - 10) for share in shares]
            axes.plot(shares, levels, color=colours[row.stages[0].name], label=row.name, linewidth=1)
        for tune in BETATRON_LINES.values():
            axes.axvline(abs(tune - round(tune)) * 12, color="#777777", linestyle=":", linewidth=1)
        axes.set(xlim=(0, last_share), ylim=limits_db, title=title, ylabel="level, dB")
        axes.set_xlabel("frequency of the input, in output rates (12 turns)")
        finish(figure, axes, name, "upper right")

    def draw_rates(name: str) -> None:
        """All rates in Hz, each up to its own output rate."""
        figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
        for row in rows.values():
            form, rate_hz = row.stages[0].name, TURN_RATE_HZ / row.period
            hertz = [rate_hz ** (i / 800) for i in range(801)]
            levels = [max(row.level_db(f / rate_hz), -130) for f in hertz]
            sharp = form == "sharp"
            label = form if row.stages[1:] == [] else None  # one for each form
            axes.semilogx(hertz, levels, "-" if sharp else "--", color=colours[form], label=label, linewidth=1)
            axes.text(0.4 * rate_hz, -60 if sharp else -45, row.name, color=colours[form], ha="right")
        axes.set(ylim=(-120, 5), title="All rates at 1.157 MHz, each up to its own", ylabel="level, dB")
        axes.set_xlabel("frequency, Hz")
        finish(figure, axes, name, "lower left")

    def finish(figure: Any, axes: Any, name: str, place: str) -> None:
        axes.legend(loc=place)
        axes.grid(alpha=0.3)
        figure.savefig(PLOTS / name, metadata={"Date": None})

    PLOTS.mkdir(parents=True, exist_ok=True)
    draw("response.svg", 6, (-120, 5), "Low-latency and sharp decimation by 12 (dotted: betatron lines of S6BA-E)")
    draw("passband.svg", 0.7, (-6, 0.5), "The same, where the outputs keep it")
    draw_rates("rates.svg")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", action="store_true", help="draw instead of printing")
    return plot() if parser.parse_args().plot else report()


if __name__ == "__main__":
    sys.exit(main())

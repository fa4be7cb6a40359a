# SPDX-License-Identifier: Apache-2.0
"""Numbers for people: short, with their unit, and never cut."""

import math

NOTHING = "–"
"""What is shown where there is no number."""
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
_WHOLE = 100_000
"""Counts below this are shown to the last digit."""


def count(number: int) -> str:
    """A count in at most six characters: "99999", "1.234M"; two more above 10^15."""
    if abs(number) < _WHOLE:
        return str(number)
    return quantity(float(number), "", 4).replace(" ", "")


def quantity(value: float, unit: str, digits: int = 4) -> str:
    """A value with ``digits`` significant digits and a prefix on its unit: "1.157 MHz", "12.30 µs", "0 Hz"."""
    if not math.isfinite(value):
        return NOTHING
    if value == 0:
        return f"0 {unit}".rstrip()
    rounded = float(f"{value:.{digits - 1}e}")
    scale, prefix = next((pair for pair in _PREFIXES if abs(rounded) >= pair[0]), _PREFIXES[-1])
    number = rounded / scale
    decimals = max(0, digits - 1 - max(0, math.floor(math.log10(abs(number)) + 1e-9)))
    return f"{number:.{decimals}f} {prefix}{unit}".rstrip()


def hertz(rate: float) -> str:
    """A rate in at most nine characters."""
    return quantity(rate, "Hz")


def duration_ns(nanoseconds: float) -> str:
    """A duration in at most eight characters: "12.3 µs"."""
    return quantity(nanoseconds * 1e-9, "s", 3)


def share(part: float) -> str:
    """A share of 1 in per cent, with more digits where it is small: "12 %", "0.0031 %"."""
    if not math.isfinite(part):
        return NOTHING
    percent = 100 * part
    if percent == 0 or percent >= 9.95:
        return f"{percent:.0f} %"
    return f"{percent:.1f} %" if percent >= 0.1 else f"{percent:.2g} %"


def length(value: float, unit: str, digits: int = 3) -> str:
    """A position: nanometres get the prefix that suits them, any other unit stays as it is."""
    if unit == "nm":
        return quantity(value * 1e-9, "m", digits)
    return f"{without_exponent(value, digits)} {unit}".rstrip()


def without_exponent(value: float, digits: int = 4) -> str:
    """A number with so many significant digits where it is not whole, and never with an exponent where people read it.

    Below a millionth, and from 10^9 on, an exponent is what is read more easily.
    """
    if not math.isfinite(value):
        return NOTHING
    if value != 0 and not 1e-6 <= abs(value) < 1e9:
        return f"{value:.{digits}g}"
    decimals = digits if value == 0 else digits - 1 - math.floor(math.log10(abs(value)))
    text = f"{value:.{max(0, decimals)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def several(number: int, thing: str) -> str:
    """A count and its thing: "1 BPM", "14 BPMs"."""
    return f"{count(number)} {thing}" + ("" if number == 1 else "s")


def nice_above(value: float) -> float:
    """A scale that seldom changes: the smallest of 1, 2, 3, 4, 5, 6, 8 times a power of ten that holds ``value``."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(
        (step * power for step in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0) if step * power >= value * (1 - 1e-9)),
        10.0 * power,
    )

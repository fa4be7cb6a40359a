# SPDX-License-Identifier: Apache-2.0
"""Charts drawn as SVG for a page, by matplotlib.

Text stays text, in the page's type (see svg.py). The names of the series are the page's legend, which wraps and never
covers a curve.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ringmaster.report.section import Bars, Chart, Lines, Quantiles
from ringmaster.report.sketch import known
from ringmaster.report.svg import FAINT, INK, for_page, looks, stand_in
from ringmaster.report.verdicts import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

WIDTH_IN, HEIGHT_IN, BAR_IN, ROOM_IN = 6.6, 3.9, 0.2, 1.0
MARKED = 30
"""Points of a line, at most, that are marked one by one."""
TICKED = 8
"""Places on an axis, at most, that are labelled one by one."""
LEAST_SHARE = 1e-7
SETTINGS: dict[str, Any] = {
    "text.parse_math": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "svg.fonttype": "none",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.8,
    "lines.markersize": 4,
}


def can_draw() -> bool:
    """Whether matplotlib is here."""
    try:
        import matplotlib  # noqa: F401 only asked for
    except ImportError:
        return False
    return True


def draw(chart: Chart, paired: bool = False) -> str | None:
    """An <svg> element; None where there is no figure to draw. Needs matplotlib.

    Paired: of curves, two that follow each other are one colour, the second dashed.
    """
    if isinstance(chart, Bars):
        height_in = ROOM_IN + BAR_IN * _rows(chart)
        return _svg(chart.title, height_in, lambda axes: _bars(axes, chart)) if _has_bars(chart) else None
    series = {name: known(points) for name, points in chart.series.items()}
    if isinstance(chart, Quantiles):
        series = {name: [(x, y) for x, y in points if x > 0] for name, points in series.items()}
    if not any(series.values()):
        return None
    styles = looks(len(series), paired)
    curves = [_Curve(points, *style) for points, style in zip(series.values(), styles, strict=True) if points]
    if isinstance(chart, Quantiles):
        return _svg(chart.title, HEIGHT_IN, lambda axes: _quantiles(axes, chart, curves))
    return _svg(chart.title, HEIGHT_IN, lambda axes: _lines(axes, chart, curves))


@dataclass(frozen=True)
class _Curve:
    points: list[tuple[float, float]]
    colour: int
    is_dashed: bool

    @property
    def x(self) -> list[float]:
        return [x for x, _ in self.points]

    @property
    def y(self) -> list[float]:
        return [y for _, y in self.points]

    @property
    def style(self) -> dict[str, Any]:
        return {"color": stand_in(self.colour), "linestyle": "--" if self.is_dashed else "-"}


def _svg(title: str, height_in: float, plot: Callable[["Axes"], None]) -> str:
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context(SETTINGS | {"svg.hashsalt": title}):  # type: ignore[arg-type]
        figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
        plot(figure.add_subplot())
        out = StringIO()
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None})  # type: ignore[no-untyped-call]
    return for_page(out.getvalue(), title)


def _logarithmic(axis: "Axis", values: Sequence[float]) -> None:
    """Labels at powers of ten, and between them where there are few; as plain numbers. One value is above 0."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    positive = [value for value in values if value > 0]
    few = max(positive) < 100 * min(positive)
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=7))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axis.set_minor_locator(NullLocator())


def _quantiles(axes: "Axes", chart: Quantiles, curves: Sequence[_Curve]) -> None:
    from matplotlib.ticker import NullLocator

    least = max(LEAST_SHARE, min((share for curve in curves for share in curve.y if share > 0), default=0.1))
    bottom = 10.0 ** math.floor(math.log10(least) + 1e-9)
    for curve in curves:
        larger = [max(share, bottom) for share in curve.y]
        axes.plot(curve.x, larger, **curve.style)
        axes.plot(curve.x[-1:], larger[-1:], "o", color=stand_in(curve.colour), clip_on=False)
    axes.set(
        xscale="log", yscale="log", ylim=(bottom, 1.0), xlabel=chart.unit, ylabel="share of values that are larger"
    )
    _logarithmic(axes.xaxis, [x for curve in curves for x in curve.x])
    ticks = [10.0**-i for i in range(round(-math.log10(bottom)) + 1)]
    axes.set_yticks(ticks, [f"{100 * tick:.6g} %" for tick in ticks])
    axes.yaxis.set_minor_locator(NullLocator())
    beside = axes.secondary_yaxis("right")
    beside.set_yticks(ticks[1:-1], [f"p{100 * (1 - tick):.8g}" for tick in ticks[1:-1]])
    beside.yaxis.set_minor_locator(NullLocator())


def _lines(axes: "Axes", chart: Lines, curves: Sequence[_Curve]) -> None:
    for curve in curves:
        axes.plot(curve.x, curve.y, marker="o" if len(curve.points) <= MARKED else "", **curve.style)
    axes.set(xlabel=chart.x, ylabel=chart.y)
    across, up = [x for curve in curves for x in curve.x], [y for curve in curves for y in curve.y]
    _scale(axes.xaxis, axes.set_xscale, across, chart.x_logarithmic)
    _scale(axes.yaxis, axes.set_yscale, up, chart.y_logarithmic)
    if not chart.y_logarithmic and min(up) >= 0:
        axes.set_ylim(bottom=0)
    _tick_the_places(axes, sorted(set(across)), chart.x_logarithmic)


def _scale(axis: "Axis", choose: Callable[[str], None], values: Sequence[float], is_logarithmic: bool) -> None:
    if is_logarithmic and max(values) > 0:
        choose("log")
        _logarithmic(axis, values)
    else:
        _plain(axis)


def _plain(axis: "Axis") -> None:
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))


def _tick_the_places(axes: "Axes", places: list[float], is_log: bool) -> None:
    """Labels each x that was measured, where they are few and stand apart."""
    if is_log and places[0] <= 0:
        return
    where = [math.log(x) for x in places] if is_log else places
    apart = min((b - a for a, b in pairwise(where)), default=0.0)
    if len(places) <= TICKED and apart > 0.06 * (where[-1] - where[0]):
        axes.set_xticks(places, [number(x) for x in places])


def _has_bars(chart: Bars) -> bool:
    return any(math.isfinite(value) for row in chart.series.values() for value in row)


def _rows(chart: Bars) -> float:
    return len(chart.categories) * (2.0 if chart.stacked else len(chart.series) + 1.0)


def _bars(axes: "Axes", chart: Bars) -> None:
    """They lie, so that long names have room."""
    count = len(chart.categories)
    left = [0.0] * count
    height = 0.66 if chart.stacked else 0.84 / len(chart.series)
    for i, values in enumerate(chart.series.values()):
        shown = [value if math.isfinite(value) else 0.0 for value in values]
        offset = 0.0 if chart.stacked else (i - (len(chart.series) - 1) / 2) * height
        bars = axes.barh([k + offset for k in range(count)], shown, height, left, color=stand_in(i))
        if chart.stacked:
            left = [a + b for a, b in zip(left, shown, strict=True)]
        else:
            axes.bar_label(bars, [number(v) if math.isfinite(v) else "" for v in values], padding=3, fontsize=8)
    axes.set_yticks(range(count), chart.categories)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(chart.y)
    positive = [v for row in chart.series.values() for v in row if math.isfinite(v) and v > 0]
    if chart.y_logarithmic and positive:
        axes.set_xscale("log")
        axes.set_xlim(left=min(positive) / 2)
        _logarithmic(axes.xaxis, positive)
    else:
        _plain(axes.xaxis)
    axes.margins(x=0.03 if chart.stacked else 0.12)

# SPDX-License-Identifier: Apache-2.0
"""What all plots into files have in common. By matplotlib, which only they and the reports need."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
COLOURS = {"x": "#1f5f8b", "y": "#c1440e"}
MEASURED, PREDICTED, LIMIT, QUIET = "#c1440e", "#1f5f8b", "#777777", "#9a9a9a"


def check(path: Path | None) -> None:
    """Says at once what a long measurement would otherwise end with. Raises ValueError."""
    if path is None:
        return
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"{path}: found suffix {path.suffix!r}, expected {', '.join(SUFFIXES)}")
    _need_matplotlib()


def figure(width: float, height: float) -> "Figure":
    """An empty one."""
    _need_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _need_matplotlib() -> None:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: F401 says now whether it is there
    except ImportError:
        raise ValueError("plots need matplotlib: install `ringmaster[plot]`, or matplotlib itself") from None


def save(made: "Figure", path: Path) -> None:
    """Writes the file."""
    made.savefig(path, dpi=150)

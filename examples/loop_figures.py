# SPDX-License-Identifier: Apache-2.0
"""What the shipped loop reaches in simulated time, as tables.

The files are those of configs/, of which the machine's disturbances are replaced by those that a figure is about.
"""

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

import matplotlib
import numpy as np

from ringmaster.errors import SimulationError
from ringmaster.feedback.matrix import load_csv
from ringmaster.simulation import Simulation, line, simulate
from ringmaster.virtual.loop import ELETTRA2, make_matrix

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
LINES_HZ = (50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 900)
CLOSED_S, SETTLED_S, SECONDS = 0.3, 1.5, 3.5
MOVED = 0.05
"""A mode that a line moves by less than this share of what it moves the most is asked nothing: what other modes leave
behind is seen in it, too, for the machine's modes are not the model's."""


def ring(folder: Path, disturbances: str, noise_um: float = 0.02) -> Path:
    """A folder with the shipped files, and these disturbances."""
    for name in ("feedback.yaml", "feedback-elettra2.yaml", "feedback-ring.yaml", "tune-elettra2.yaml"):
        shutil.copy(CONFIGS / name, folder)
    make_matrix(folder, ELETTRA2)
    text = (folder / "feedback-ring.yaml").read_text()
    text = text[: text.index("  disturbances:")] + f"  disturbances: {disturbances}\n"
    text = re.sub("(betatron|excitation)_um: [0-9.]+", r"\1_um: 0", text).replace(
        "noise_um: 0.2", f"noise_um: {noise_um}"
    )
    (folder / "feedback-ring.yaml").write_text(text)
    return folder


def run(folder: Path, name: str, seconds: float, *at: str) -> Simulation:
    """Simulates what is in the folder."""
    files = (folder / "feedback.yaml", folder / "feedback-ring.yaml")
    return simulate(*files, "feedback", folder / name, seconds=seconds, at=at, record="reported,readings,setpoints")


def mains(factor: float = 1.0, wander: float = 0.0) -> str:
    """All thirteen lines, 30 µm each, off their frequencies by a factor."""
    lines = ", ".join(f"{{hz: {hz * factor:.6g}, orbit_um: 30}}" for hz in LINES_HZ)
    return f"{{mains: [{lines}], mains_wander: {wander}}}"


def model(of: Simulation, plane: str) -> tuple[np.ndarray, list[int]]:
    """Response of the design, of the fast correctors of a plane, and where those are among the actuators."""
    matrix = load_csv(of.folder.parent / ELETTRA2.matrix)
    rows = [list(matrix.rows).index(name) for name in of.rows(plane)]
    names = [name for name in matrix.columns if name.startswith(f"sr/ps/cf{plane}")]
    columns = [list(matrix.columns).index(name) for name in names]
    return np.asarray(matrix.values)[np.ix_(rows, columns)], [of.actuators.index(name) for name in names]


def attenuation(before: Simulation, after: Simulation, plane: str, hz: float) -> np.ndarray:
    """dB, of each mode of the model that the line moves."""
    basis = np.linalg.svd(model(after, plane)[0], full_matrices=False)[0]
    part = after.between(SETTLED_S)
    was, now = (np.abs(line(one.orbit(plane)[part] @ basis, one.rate_hz, hz)) for one in (before, after))
    moved = was > MOVED * was.max()
    found: np.ndarray = 20 * np.log10(now[moved] / was[moved])
    return found


def lines(folder: Path, plot: str | None) -> None:
    """The thirteen lines where they should be, and a thousandth beside it."""
    found: dict[tuple[str, float, int], np.ndarray] = {}
    for factor in (1.0, 0.999, 1.001):
        ring(folder, mains(factor))
        before = run(folder, "open", SECONDS)
        after = run(folder, "closed", SECONDS, "0:feedback/track=0", f"{CLOSED_S}:feedback/loop=1")
        for plane in "xy":
            for hz in LINES_HZ:
                found[plane, factor, hz] = attenuation(before, after, plane, hz * factor)
    print("| line | x worst | x median | modes | x ± 0.1 % | y worst | y median | modes | y ± 0.1 % |")
    print("|---|---|---|---|---|---|---|---|---|")
    for hz in LINES_HZ:
        words = [f"{hz} Hz"]
        for plane in "xy":
            on = found[plane, 1.0, hz]
            off = np.concatenate([found[plane, 0.999, hz], found[plane, 1.001, hz]])
            words += [f"{on.max():.0f} dB", f"{np.median(on):.0f} dB", f"{len(on)}"]
            words += [f"{off.max():.0f}, {np.median(off):.0f} dB"]
        print("| " + " | ".join(words) + " |")
    if plot is not None:
        draw(found, plot)


def draw(found: dict[tuple[str, float, int], np.ndarray], plot: str) -> None:
    """A dot for each mode at each line."""
    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.2), sharey=True)
    for ax, plane in zip(axes, "xy", strict=True):
        for factor, colour, name in ((0.999, "#c78b52", "0.1 % below"), (1.0, "#2b6ca3", "on the line")):
            x = [hz for hz in LINES_HZ for _ in found[plane, factor, hz]]
            y = np.concatenate([found[plane, factor, hz] for hz in LINES_HZ])
            ax.plot(x, y, ".", color=colour, markersize=4, label=name)
        ax.axhline(-40, color="#2b6ca3", linewidth=0.6)
        ax.axhline(-20, color="#c78b52", linewidth=0.6)
        ax.set(title=f"modes of {plane}", xlabel="Hz", ylim=(-80, 0))
    axes[0].set_ylabel("closed over open, dB")
    axes[1].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(plot)


def wander(folder: Path, _: str | None) -> None:
    """Lines that wander by ± 0.1 %, not followed and followed; and lines a thousandth off, followed."""
    print("| mains | resonators | x | y | tells |\n|---|---|---|---|---|")
    for words, disturbances in (
        ("wander by ± 0.1 %", mains(1, 0.001)), ("0.1 % low", mains(0.999)), ("0.1 % high", mains(1.001)),
    ):  # fmt: skip
        ring(folder, disturbances)
        for track in (0, 1):
            of = run(folder, "closed", 7, f"0:feedback/track={track}", f"{CLOSED_S}:feedback/loop=1")
            part = of.between(4)
            moves = [1e-3 * np.sqrt(np.mean(of.orbit(plane)[part].std(axis=0) ** 2)) for plane in "xy"]
            hz = of.reported("mains_hz")[part]
            print(f"| {words} | {'follow' if track else 'stay'} | {moves[0]:.2f} µm | {moves[1]:.2f} µm "
                  f"| {hz.min():.3f} to {hz.max():.3f} Hz |", flush=True)  # fmt: skip


def floor(folder: Path, _: str | None) -> None:
    """Slow random motion of all quadrupoles: what is left, beside what the correctors cannot do."""
    ring(folder, "{ground: {rms_nm: 500, corner_hz: 0.5}}")
    before = run(folder, "open", 6)
    after = run(folder, "closed", 6, f"{CLOSED_S}:feedback/loop=1")
    print("| plane | floor of the fast family | of all correctors | reached |\n|---|---|---|---|")
    for plane in "xy":
        part = before.between(2.5)
        was, now = (one.orbit(plane)[part] - one.orbit(plane)[part].mean(axis=0) for one in (before, after))
        true = before.response(plane)
        own = [i for i, name in enumerate(before.actuators) if name.startswith("sr/ps/") and name[8] == plane]
        least = [projected_db(was, true[:, kind]) for kind in (model(before, plane)[1], own)]
        reached = 20 * np.log10(np.linalg.norm(now) / np.linalg.norm(was))
        print(f"| {plane} | {least[0]:.1f} dB | {least[1]:.1f} dB | {reached:.1f} dB |", flush=True)


def projected_db(orbit: np.ndarray, response: np.ndarray) -> float:
    """What is left of an orbit when correctors of this response have done all that they can."""
    basis = np.linalg.svd(response, full_matrices=False)[0]
    left = orbit - orbit @ basis @ basis.T
    return float(20 * np.log10(np.linalg.norm(left) / np.linalg.norm(orbit)))


def unload(folder: Path, _: str | None) -> None:
    """What the fast family holds goes to the sextupoles' windings."""
    ring(folder, "{}")
    edit = folder / "feedback-ring.yaml"
    edit.write_text(edit.read_text().replace("bpm_offset_um: 20", "bpm_offset_um: 1"))
    after = run(folder, "closed", 14, "0:feedback/unload=0", "0.2:feedback/loop=1", "2.5:feedback/unload=1")
    print("| plane | fast before | fast after | largest transient at a BPM |\n|---|---|---|---|")
    for plane in "xy":
        names = model(after, plane)[1]
        held, at_last = (
            np.abs(after.setpoints[part][:, names]).mean() for part in (after.between(2.3, 2.5), after.between(13.8))
        )
        orbit = after.orbit(plane)
        smooth = np.cumsum(orbit[after.between(2.5)] - orbit[after.between(2.2, 2.5)].mean(axis=0), axis=0)
        moved = (smooth[100:] - smooth[:-100]) / 100
        print(f"| {plane} | {held:.3f} A | {at_last:.3f} A | {np.abs(moved).max() * 1e-3:.2f} µm |", flush=True)


def main() -> None:
    """One table."""
    tables = {"lines": lines, "wander": wander, "floor": floor, "unload": unload}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=tables, help="which of them")
    parser.add_argument("plot", nargs="?", metavar="PLOT.svg", help="draws the lines, too")
    asked = parser.parse_args()
    if asked.plot and asked.table != "lines":
        parser.error(f"{asked.table} has no plot, expected: lines {asked.plot}")
    with tempfile.TemporaryDirectory() as folder:
        try:
            tables[asked.table](Path(folder), asked.plot)
        except SimulationError as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main()

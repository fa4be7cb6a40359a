# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench bba`: the fast alignment beside the sequential one, on model rings with hidden offsets.

Both have the same ring, the same BPMs, steps and reading time. Orbits of the ring are closed orbits of the lattice with
its errors, nonlinear, so what is found is compared with what was drawn. The lattice that both know is the ring's as a
fit of LOCO leaves it, or with --optics design the one without errors.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from time import perf_counter

import click
import numpy as np

from ringmaster.bba import sequential
from ringmaster.bba.analyse import Offset, analyse
from ringmaster.bba.kicks import Doubt
from ringmaster.bba.magnets import Target
from ringmaster.bba.measure import Taken, measure
from ringmaster.bba.model import Model
from ringmaster.bba.model_plant import Errors, ModelPlant
from ringmaster.bba.plan import Settings, make_plan
from ringmaster.bench.measurement import Measurement
from ringmaster.bench.options import COUNT, option
from ringmaster.machine.mapping import Mapping, read_mapping, resolve
from ringmaster.places import CONFIGS
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline
from ringmaster.twin import Kind, Twin, load_lattice

LATTICE, MAPPING = "elettra2_like", "mappings/optics.yaml"
FITTED = 2e-4
"""What a fit leaves of gradients, relative."""
SLOW = ("cs", "cl")
"""Of names of supplies: the correctors that may swing the orbit."""
SECONDS, ERROR_UM = 90.0, 5.0
"""Targets."""
BPMS = 168
A_BPM_S = 0.6
"""Both methods, of one core."""


@dataclass(frozen=True)
class Options:
    """Of which ring."""

    rounds: int = option(1, "Rings, each with errors of its own.", COUNT)
    bpms: int = option(BPMS, "The first so many.", click.IntRange(14, BPMS))
    optics: str = option("fitted", "What the lattice knows of the ring.", click.Choice(["fitted", "design"]))
    seed: int = option(1, "Of the first ring.", click.IntRange(0))


@dataclass(frozen=True)
class Row:
    """One method on one ring. Pairs are x and y."""

    peer: str
    seed: int
    bpms: int
    machine_s: float
    """Of the machine, supplies and settling included."""
    cpu_s: float
    error_um: tuple[float, float]
    """RMS of offsets less the truth."""
    worst_um: tuple[float, float]
    quadrupole_um: tuple[float, float]
    sextupole_um: tuple[float, float]
    pull: float
    """RMS of the error over its own estimate; NaN where there is none."""
    beta_beat: float
    orbit_um: tuple[float, float]
    """RMS of the beam's distance from the centres."""

    @property
    def words(self) -> str:
        """On one line."""
        x, y = self.error_um
        return f"{self.peer}: {self.bpms} BPMs in {self.machine_s:.0f} s of the machine, {x:.1f} and {y:.1f} µm RMS"


class BeamBasedAlignment(Measurement[Options, Row]):
    """Measure the fast beam-based alignment beside the sequential one, on model rings with hidden offsets.

    Time is the machine's: what supplies, settling and reading take. Errors are against the truth.
    """

    name, title, options_type = "bba", "Beam-based alignment", Options
    examples = ("", "--rounds 3 --json > bba.json", "--bpms 28 --optics design")
    about = (
        "Offsets of BPMs against magnets' centres: the orbit swings and groups of magnets step, beside one BPM after "
        "the other. A model ring with magnets 30 µm off, BPMs 200 µm, gains 3 %, ground motion, noise of 0.2 µm."
    )

    @classmethod
    def peers(cls, _options: Options) -> Sequence[str]:
        """Both methods."""
        return ("fast", "sequential")

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """Fewer BPMs."""
        return Options(bpms=max(14, min(BPMS, int(seconds / A_BPM_S) // 14 * 14)))

    def take(self, peer: str) -> Row:
        """One of them."""
        number = sum(row.peer == peer for row in self.rows)
        return _Ring(self.options, self.options.seed + number).measured(peer)

    def _figure(self, peer: str, value: str, plane: int | None = None) -> Figure | None:
        seen = [getattr(row, value) for row in self.rows if row.peer == peer]
        return of_values((one if plane is None else one[plane] for one in seen), "rings")

    def headlines(self) -> list[Headline]:
        """Time of the machine and errors."""
        whole = self.options.bpms == BPMS
        made = [
            Headline(
                "seconds", self._figure("fast", "machine_s"), "s", SECONDS if whole else None, about="fast method"
            ),
            Headline(
                "seconds_sequential", self._figure("sequential", "machine_s"), "s", about="one BPM after the other"
            ),
        ]
        for peer, more in (("fast", ""), ("sequential", "_sequential")):
            for plane, name in enumerate("xy"):
                target = ERROR_UM if peer == "fast" and self.options.optics == "fitted" else None
                figure = self._figure(peer, "error_um", plane)
                about = f"{peer}, RMS of the offsets less the truth"
                made.append(Headline(f"offset_error_um{more}.{name}", figure, "µm", target, about=about))
        return made

    def tables(self) -> list[Table]:
        """By method and ring."""

        def pair(values: tuple[float, float]) -> str:
            return f"{values[0]:.2f}, {values[1]:.2f}"

        columns: Columns = {
            "method": lambda row: row.peer,
            "ring": lambda row: str(row.seed),
            "machine, s": lambda row: f"{row.machine_s:.0f}",
            "computing, s": lambda row: f"{row.cpu_s:.1f}",
            "error x, y, µm RMS": lambda row: pair(row.error_um),
            "at most": lambda row: pair(row.worst_um),
            "to quadrupoles": lambda row: pair(row.quadrupole_um),
            "to sextupoles": lambda row: pair(row.sextupole_um),
            "pull": lambda row: "–" if np.isnan(row.pull) else f"{row.pull:.2f}",
            "β-beat": lambda row: f"{100 * row.beta_beat:.1f} %",
            "beam to centres": lambda row: pair(row.orbit_um),
        }
        return [Table.of("Methods", self.rows, columns)] if self.rows else []

    def data(self) -> dict[str, object]:
        """Every turn."""
        return {"turns": [asdict(row) for row in self.rows]}


def mapping_of_ring() -> tuple[Twin, Mapping]:
    """The ring that we ship, 6D, and its mapping."""
    lattice = load_lattice(LATTICE)
    twin = Twin(lattice)
    twin.enable_6d()
    return twin, resolve(lattice, read_mapping(CONFIGS / MAPPING))


class _Ring:
    """One ring, and what is known of it."""

    def __init__(self, options: Options, seed: int) -> None:
        self.design, self.mapping = mapping_of_ring()
        self.seed, self.options = seed, options
        self.plant = ModelPlant(self.design.lattice, self.mapping, Errors(), seed)
        known = self.design if options.optics == "design" else fitted_twin(self.plant, seed)
        self.model = Model(known, self.mapping)
        slow = [name for name in self.model.correctors if name.rpartition("/")[2].startswith(SLOW)]
        self.plan = make_plan(self.model, Settings(), may_swing=slow, bpms=range(options.bpms))

    def measured(self, peer: str) -> Row:
        """By one method."""
        begun = perf_counter()
        offsets, pulls = self._fast() if peer == "fast" else self._sequential()
        cpu_s = perf_counter() - begun
        targets = {target.bpm: target for group in self.plan.groups for target in group.targets}
        wrong = {
            bpm: (np.array(offset) * 1e-9 - self.plant.truth_m(targets[bpm])) * 1e6 for bpm, offset in offsets.items()
        }
        everything = np.array(list(wrong.values()))
        by_kind = {
            kind: _rms(np.array([one for bpm, one in wrong.items() if targets[bpm].magnet.kind == kind]))
            for kind in ("quadrupole", "sextupole")
        }
        return Row(
            peer,
            self.seed,
            len(wrong),
            self.plant.machine_s,
            cpu_s,
            _rms(everything),
            _pair(np.abs(everything).max(axis=0)),
            by_kind["quadrupole"],
            by_kind["sextupole"],
            _pull(wrong, pulls),
            self._beta_beat(),
            _rms(self.plant.orbit_to_centres_m() * 1e6),
        )

    def _fast(self) -> tuple[dict[int, tuple[float, float]], Sequence[Offset]]:
        taken: list[Taken] = []
        measure(self.plant, self.plan, taken.append)
        found = analyse(self.model, self.plan, taken, Doubt()).offsets
        return {one.bpm: one.offset_nm for one in found}, found

    def _sequential(self) -> tuple[dict[int, tuple[float, float]], Sequence[Offset]]:
        targets: list[Target] = [target for group in self.plan.groups for target in group.targets]
        steps = [abs(step) for group in self.plan.groups for step in group.steps]
        zeros = sequential.measure(self.plant, self.model, targets, steps, lambda _: None)
        return {one.bpm: one.offset_nm for one in zeros}, ()

    def _beta_beat(self) -> float:
        _, _, true = self.plant.twin.get_optics(list(self.mapping.bpms))
        _, _, known = self.model.twin.get_optics(list(self.mapping.bpms))
        return float(np.sqrt(np.mean((true.beta[:, :2] / known.beta[:, :2] - 1) ** 2)))


def fitted_twin(plant: ModelPlant, seed: int) -> Twin:
    """The ring's lattice with a little of its gradients wrong, as after a fit."""
    twin, random = plant.twin.copy(), np.random.default_rng(seed)
    for i in twin.lattice.find(kind=Kind.QUADRUPOLE):
        gradient = float(twin[int(i)].PolynomB[1])
        twin.set_polynom(int(i), "B", 1, gradient * (1 + FITTED * float(random.normal())))
    return twin


def _rms(values: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> tuple[float, float]:
    return _pair(np.sqrt(np.mean(values**2, axis=0))) if len(values) else (float("nan"), float("nan"))


def _pair(values: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> tuple[float, float]:
    return float(values[0]), float(values[1])


def _pull(wrong: dict[int, "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"], offsets: Sequence[Offset]) -> float:
    if not offsets:
        return float("nan")
    pulls = [wrong[one.bpm] / (np.array(one.total_nm) * 1e-3) for one in offsets]
    return float(np.sqrt(np.mean(np.square(pulls))))

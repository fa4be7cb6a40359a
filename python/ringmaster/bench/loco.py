# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench loco`: fits of machines whose errors are known, what is left after correction, and SPEAR3's data.

The machines are twins of elettra2_like with 10 % of β-beating, magnets off by their prior widths, errors of all BPMs
and correctors, and the noise of ten seconds in two modes: `machine` (30 µm RMS of orbit) and `users` (some per cent of
the beam size). Each round has another seed.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any, ClassVar

import click
import numpy as np

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import Measurement
from ringmaster.bench.options import COUNT, option
from ringmaster.loco import jacobian
from ringmaster.loco.correct import correct
from ringmaster.loco.fit import Fit, Fitter
from ringmaster.loco.fit import Options as FitOptions
from ringmaster.loco.gradients import Gradient, magnets, usual
from ringmaster.loco.matlab import load_loco
from ringmaster.loco.model import Model, State
from ringmaster.loco.report import pulls
from ringmaster.loco.result import result_of
from ringmaster.loco.trial import Errors, Machine, beating_of, beta_of, gauged, made, measured, model_of
from ringmaster.machine.knobs import Knobs
from ringmaster.machine.mapping import Group, Mapping, Strengths
from ringmaster.report.headlines import Figure, of_values
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline
from ringmaster.twin import Kind, Twin, load_lattice

LATTICE = "elettra2_like"
MODES = ("machine", "users")
SUPPLIES = ("Q*", "RB*")
SKEW = ("SH_*", "SF1_*")
LEAST_RATIO, MOST_MACHINE, MOST_USERS, SPEAR3_CHI2 = 1000.0, 0.001, 0.005, 1056.5616
PULLS = (0.9, 1.1)
SHIPPED = Path("../shared/data/loco/spear3_loco.mat")


@dataclass(frozen=True)
class Options:
    """Of what."""

    data: Path | None = option(
        None, "A file of MATLAB's LOCO to fit, too.", click.Path(exists=True, path_type=Path), metavar="FILE.mat"
    )
    rounds: int = option(1, "Machines, each with another seed.", COUNT)
    tracked: int = option(4, "Derivatives that are tracked for comparison.", COUNT)


@dataclass(frozen=True)
class FitRow:
    """One machine in one mode. Seconds are of a core."""

    mode: str
    seed: int
    seconds: float
    chi2: float
    pull_rms: float
    """Of gradients."""
    pull_vectors: float
    """Along the singular vectors of the gradients' covariance."""
    pull_gains: float
    """Of BPM and corrector gains, by the convention of the null direction."""
    beating_before: float
    beating_known: float
    """Of the true machine beside the fitted one."""
    beating_after: float
    """Of the true machine beside the design, after its supplies were moved."""
    parameters: int
    peer: ClassVar[str] = "fit"

    @property
    def words(self) -> str:
        """On one line."""
        before, after = 100 * self.beating_before, 100 * self.beating_after
        return f"{self.mode}: χ² {self.chi2:.3f}, β-beating {before:.2f} % → {after:.3f} %, {self.seconds:.1f} s"


@dataclass(frozen=True)
class JacobianRow:
    """All derivatives, and some by tracking. Seconds are of a core."""

    seconds: float
    products_seconds: float
    tracking_seconds: float
    ratio: float
    ratio_products: float
    difference: float
    gradients: int
    peer: ClassVar[str] = "jacobian"

    @property
    def words(self) -> str:
        """On one line."""
        return f"{self.gradients} derivatives in {self.seconds:.2f} s, by tracking {self.ratio:.0f} times as long"


@dataclass(frozen=True)
class DataRow:
    """A file of MATLAB's LOCO."""

    name: str
    seconds: float
    chi2: float
    stored_chi2: float
    off_rms: float
    """Of its stored gradients, over their errors."""
    peer: ClassVar[str] = "data"

    @property
    def words(self) -> str:
        """On one line."""
        return f"{self.name}: χ² {self.chi2:.2f}, stored {self.stored_chi2:.2f}, {self.seconds:.1f} s"


class Loco(Measurement[Options, Any]):
    """Fit machines whose errors are known, correct them, and fit measured data.

    Pulls and what is left of the β-beating, in machine and in users' mode; how much faster the derivatives are than by
    tracking; and the χ² of SPEAR3's response, where ../shared/data has it or --data names such a file.
    """

    name, title, options_type = "loco", "LOCO", Options
    examples = ("", "--json > loco.json", "--rounds 3", "--data spear3_loco.mat")
    about = (
        "elettra2_like with errors that are known, from 10 % β-beating: 168 BPMs, 192 correctors of each plane and "
        "dispersion, noise of ten seconds. What is left of the β-beating is that of the true machine."
    )

    @classmethod
    def peers(cls, _options: Options) -> Sequence[str]:
        """Both modes, the derivatives, and measured data."""
        return (*MODES, "jacobian", "data")

    @classmethod
    def fitted(cls, seconds: float) -> Options:
        """One machine takes half a minute in each mode."""
        return Options(rounds=max(1, min(5, int(seconds / 90))))

    def take(self, peer: str) -> Any:
        """One of them."""
        if peer == "jacobian":
            return jacobian_row(self.options.tracked)
        if peer == "data":
            return data_row(self.options.data)
        seed = 1 + sum(isinstance(row, FitRow) and row.mode == peer for row in self.rows)
        return fit_row(peer, seed)

    def of(self, mode: str) -> list[FitRow]:
        """Its machines."""
        return [row for row in self.rows if isinstance(row, FitRow) and row.mode == mode]

    def _figure(self, kind: type[Any], value: Any, mode: str = "") -> Figure | None:
        rows = [row for row in self.rows if isinstance(row, kind) and (not mode or row.mode == mode)]
        return of_values(map(value, rows), "rounds") if rows else None

    def headlines(self) -> list[Headline]:
        """Pulls, β-beating, ratio, χ²."""

        def of_fit(name: str, mode: str, value: Any, unit: str, most: float | None, about: str) -> Headline:
            return Headline(name, self._figure(FitRow, value, mode), unit, most, about=about)

        return [
            of_fit("pull_rms", "machine", lambda row: row.pull_rms, "σ", PULLS[1], "of gradients, machine mode"),
            of_fit("pull_rms_users", "users", lambda row: row.pull_rms, "σ", PULLS[1], "of gradients, users' mode"),
            of_fit("pull_vectors", "machine", lambda row: row.pull_vectors, "σ", PULLS[1], "along singular vectors"),
            of_fit("pull_gains", "machine", lambda row: row.pull_gains, "σ", None, "of BPM and corrector gains"),
            of_fit("pull_gains_users", "users", lambda row: row.pull_gains, "σ", PULLS[1], "the same, users' mode"),
            of_fit("beta_beating_machine", "machine", lambda row: row.beating_known, "", MOST_MACHINE,
                   "RMS of the true β beside the fitted one"),
            of_fit("beta_beating_users", "users", lambda row: row.beating_known, "", MOST_USERS,
                   "the same, users' mode"),
            of_fit("beta_beating_corrected_machine", "machine", lambda row: row.beating_after, "", MOST_MACHINE,
                   "RMS of the true β beside the design, corrected by 192 supplies"),
            of_fit("beta_beating_corrected_users", "users", lambda row: row.beating_after, "", MOST_USERS,
                   "the same, users' mode"),
            of_fit("seconds", "users", lambda row: row.seconds, "s", None, "of a core, a fit in users' mode"),
            of_fit("seconds_machine", "machine", lambda row: row.seconds, "s", None, "the same, machine mode"),
            Headline("ratio_to_tracking", self._figure(JacobianRow, lambda row: row.ratio_products), "×", LEAST_RATIO,
                     at_most=False, about="time of all derivatives by tracking to ours, as products"),
            Headline("ratio_to_tracking_written_out", self._figure(JacobianRow, lambda row: row.ratio), "×",
                     about="the same to ours with each product written out"),
            Headline("chi2_data", self._figure(DataRow, lambda row: row.chi2), "", self._stored(),
                     about="of measured data, per degree of freedom; target: as stored in the file"),
            Headline("seconds_data", self._figure(DataRow, lambda row: row.seconds), "s", about="of a core, its fit"),
        ]  # fmt: skip

    def _stored(self) -> float | None:
        rows = [row for row in self.rows if isinstance(row, DataRow)]
        return rows[-1].stored_chi2 if rows else None

    def tables(self) -> list[Table]:
        """Each machine."""
        columns: Columns = {
            "mode": lambda row: row.mode,
            "seed": lambda row: str(row.seed),
            "χ²": lambda row: f"{row.chi2:.4f}",
            "pulls": lambda row: f"{row.pull_rms:.2f}",
            "along vectors": lambda row: f"{row.pull_vectors:.2f}",
            "gains": lambda row: f"{row.pull_gains:.2f}",
            "β before, %": lambda row: f"{100 * row.beating_before:.2f}",
            "β unknown, %": lambda row: f"{100 * row.beating_known:.3f}",
            "β corrected, %": lambda row: f"{100 * row.beating_after:.3f}",
            "s": lambda row: f"{row.seconds:.1f}",
        }
        rows = [row for mode in MODES for row in self.of(mode)]
        return [Table.of("Machines", rows, columns)] if rows else []

    def data(self) -> dict[str, object]:
        """Every turn."""
        return {"turns": [{"of": row.peer, **asdict(row)} for row in self.rows]}


def machine_twin() -> Twin:
    """As designed, with radiation and cavities."""
    twin = Twin(load_lattice(LATTICE))
    twin.enable_6d()
    return twin


def mapping_of(model: Model) -> Mapping:
    """Supplies of all quadrupoles and reverse bends, and of the skew windings."""
    lattice = model.twin.lattice
    kinds = (Kind.QUADRUPOLE, Kind.DIPOLE, Kind.SEXTUPOLE)
    strengths = []
    for change, patterns, per_unit in (("gradient", SUPPLIES, 1e-3), ("skew", SKEW, 1e-4)):
        for pattern in patterns:
            found = tuple(magnets(lattice, pattern, kinds))
            names = tuple(f"{change}/{lattice.names[one[0]]}" for one in found)
            strengths.append(Strengths(found, change, names, per_unit))
    rows = tuple(f"bpm{i}/{plane}" for i in range(len(model.bpms)) for plane in "xy")
    groups = tuple(Group((one.element,), "xy"[one.plane], (one.supply,), one.rad_per_unit) for one in model.columns)
    return Mapping(model.bpms, rows, groups, None, tuple(strengths))


def fit_row(mode: str, seed: int) -> FitRow:
    """Draws a machine, measures, fits, corrects."""
    design = machine_twin()
    gradients = usual(design.lattice)
    model = model_of(design, gradients)
    machine = made(model, Errors(), seed)
    drawn = scaled_priors(gradients, model, machine)
    model = model_of(design, drawn)
    data = measured(model, machine, mode == "users", 100 + seed)
    begin = process_time()
    found = Fitter(model, data, FitOptions()).run()
    seconds = process_time() - begin
    after = corrected(found, design, machine)
    return _row(mode, seed, seconds, found, machine, after)


def scaled_priors(gradients: Sequence[Gradient], model: Model, machine: Machine) -> list[Gradient]:
    """Prior widths as the errors truly are, by one scale of normal and one of skew gradients: pulls need that."""
    size = {}
    for component in "BA":
        some = [i for i, one in enumerate(model.gradients) if one.component == component]
        shares = [machine.state.gradients[i] / model.gradients[i].sigma for i in some]
        size[component] = float(np.sqrt(np.mean(np.square(shares)))) if shares else 1.0
    return [replace(one, sigma=one.sigma * size[one.component]) for one in gradients]


def corrected(found: Fit, design: Twin, machine: Machine) -> float:
    """RMS of the β-beating that the supplies leave of the true machine."""
    mapping = mapping_of(found.model)
    change = correct(result_of(found, [], LATTICE, "", ""), design, mapping)
    model = Model(design, found.model.bpms, found.model.columns, found.model.gradients)
    ideal = beta_of(model, np.zeros(len(model.gradients)))
    model.put(machine.state.gradients)
    Knobs(model.twin, mapping, orbit_held=True).set(change.values)
    _, _, optics = model.twin.get_optics(model.bpms)
    return float(np.sqrt(np.mean((optics.beta[:, :2] / ideal - 1) ** 2)))


def _row(mode: str, seed: int, seconds: float, found: Fit, machine: Machine, after: float) -> FitRow:
    state, sigma, model = found.state, found.sigma, found.model
    held = [plane for plane, one in enumerate(found.conventions) if "mean corrector gain" in one]
    truth: State = gauged(machine.state, model, held)
    count = len(model.gradients)
    values, vectors = np.linalg.eigh(found.covariance[:count, :count])
    along = vectors.T @ (state.gradients - truth.gradients) / np.sqrt(np.maximum(values, 1e-30))
    gains = [np.concatenate([getattr(one, name) for name in ("own", "gain")]) for one in (state, truth, sigma)]
    true_beta = beta_of(model, truth.gradients)
    return FitRow(
        mode=mode,
        seed=seed,
        seconds=seconds,
        chi2=found.reduced,
        pull_rms=pulls(state.gradients, truth.gradients, sigma.gradients),
        pull_vectors=float(np.sqrt(np.mean(along**2))),
        pull_gains=pulls(gains[0], gains[1], gains[2]),
        beating_before=machine.beating,
        beating_known=beating_of(model, state.gradients, true_beta),
        beating_after=after,
        parameters=found.parameters,
    )


def jacobian_row(tracked: int) -> JacobianRow:
    """All derivatives of the machine's gradients, and some by tracking."""
    model = model_of(machine_twin(), usual(load_lattice(LATTICE)))
    products = jacobian.products_seconds(model)
    values, seconds = jacobian.timed(model)
    beside = jacobian.compared(jacobian.Jacobian(model, values, (), seconds), tracked)
    return JacobianRow(
        seconds, products, beside.seconds, beside.ratio, beside.seconds / products, beside.difference, len(values)
    )


def data_row(path: Path | None) -> DataRow:
    """The fit of a file. Raises NotMeasured where there is none."""
    chosen = path or SHIPPED
    if not chosen.exists():
        raise NotMeasured(f"measured data: {chosen} is not here; name a file of MATLAB's LOCO by --data")
    file = load_loco(chosen)
    begin = process_time()
    found = Fitter(file.model, file.data, file.options, file.begin).run()
    seconds = process_time() - begin
    last, first = file.stored[-1], file.stored[0]
    off = (found.state.gradients + first.values - last.values) / last.sigma
    return DataRow(chosen.stem, seconds, found.reduced, last.chi2, float(np.sqrt(np.nanmean(off**2))))

# SPDX-License-Identifier: Apache-2.0
"""A fit from its files: measurement, lattice and mapping; with diagnosis before it and after it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from ringmaster.loco import diagnose
from ringmaster.loco.data import Data, data_of
from ringmaster.loco.diagnose import Fault
from ringmaster.loco.fit import Fit, Fitter, Options
from ringmaster.loco.gradients import Gradient, Priors, chosen, usual
from ringmaster.loco.model import Model, State
from ringmaster.machine.mapping import Mapping, read_mapping, resolve
from ringmaster.response.measured import MeasuredResponse
from ringmaster.twin import Lattice, Twin

FAULTS = ("exclude", "repair", "keep")
"""What is done with readings and correctors that are not what their names say."""
ROUNDS = 3
"""Fits at most after the first one, each without what the one before found at fault."""
Progress = Callable[[str, int, float], None]
"""Of what runs, iteration and χ² per degree of freedom."""


@dataclass(frozen=True)
class Choice:
    """Which gradients may differ. Patterns with a width each; without any, the usual ones."""

    gradients: tuple[tuple[str, float], ...] = ()
    """Relative widths."""
    skews: tuple[tuple[str, float], ...] = ()
    """Widths in 1/m²."""
    priors: Priors = field(default_factory=Priors)
    with_skew: bool = True


def parameters(lattice: Lattice, choice: Choice) -> list[Gradient]:
    """Raises ValueError for a pattern that finds no magnet."""
    if not choice.gradients and not choice.skews:
        return usual(lattice, choice.priors, choice.with_skew)
    found = [one for pattern, sigma in choice.gradients for one in chosen(lattice, pattern, "B", sigma)]
    return found + [one for pattern, sigma in choice.skews for one in chosen(lattice, pattern, "A", sigma)]


def mapping_of(lattice: Lattice, path: Path, measured: MeasuredResponse | None = None) -> Mapping:
    """A mapping file whose patterns are those of the measurement's names."""
    rows, columns = ((), ()) if measured is None else (measured.rows, measured.columns)
    return resolve(lattice, read_mapping(path), rows, columns)


def run(
    twin: Twin,
    mapping: Mapping,
    measured: MeasuredResponse,
    choice: Choice | None = None,
    options: Options | None = None,
    faults: str = FAULTS[0],
    progress: Progress = lambda _what, _n, _chi2: None,
) -> tuple[Fit, list[Fault]]:
    """Raises ValueError for names that do not match, TwinNoAnswer for a lattice without an orbit."""
    data = data_of(measured, mapping)
    model = Model(twin, mapping.bpms, data.columns, parameters(twin.lattice, choice or Choice()))
    return diagnosed(model, data, options or Options(), faults, progress)


def diagnosed(
    model: Model, data: Data, options: Options, faults: str, progress: Progress = lambda _what, _n, _chi2: None
) -> tuple[Fit, list[Fault]]:
    """The fit of data whose faults are put right or left out, and these faults."""
    rows, columns = model.shape
    ideal = State.ideal(len(model.gradients), rows // 2, columns)
    first, later = diagnose.before_fit(data, model.answers(ideal.gradients)), list[Fault]()
    fit = Fitter(model, _treated(data, first, faults), options).run(partial(progress, "fit"))
    if faults == "keep":
        return fit, diagnose.confirmed(first, data, fit) + diagnose.again(fit)
    for _ in range(ROUNDS):
        kept, more = diagnose.confirmed(first, data, fit), _new(diagnose.again(fit), first + later)
        back = sum(one.excludes for one in first) - sum(one.excludes for one in kept)
        first, out = kept, sum(one.excludes for one in more)
        if not back and not out:
            break
        later += more
        # after the fit a swap may be one of neighbours that are almost alike: it is left out and not guessed
        treated = _treated(_treated(data, first, faults), later, "exclude")
        word = f"fit again, {back} back" if back else f"fit again, without {out} more"
        fit = Fitter(model, treated, options, replace(fit.state)).run(partial(progress, word))
    return fit, first + later


def _new(faults: Sequence[Fault], known: Sequence[Fault]) -> list[Fault]:
    seen = {(one.column, one.at) for one in known if one.excludes}
    return [one for one in faults if (one.column, one.at) not in seen]


def _treated(data: Data, faults: Sequence[Fault], treatment: str) -> Data:
    if treatment == "keep" or not faults:
        return data
    return diagnose.repaired(data, faults) if treatment == "repair" else diagnose.excluded(data, faults)

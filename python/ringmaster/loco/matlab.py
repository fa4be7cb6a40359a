# SPDX-License-Identifier: Apache-2.0
"""Files of MATLAB's LOCO (G. Portmann, J. Safranek, X. Huang, A. Terebilo): lattice, response, flags and stored fits.

What its flags mean is as its loco.m and locoresponsematrix.m have it: columns are orbit changes in mm of kicks in mrad,
the last one of a step of the RF; weights are one over the noise of a BPM, and of dispersion times a weight that the χ²
that it tells does not have. That is divided by elements less parameters.
"""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
from numpy.typing import NDArray
from scipy.io.matlab import MatReadError

from ringmaster.loco.data import Data
from ringmaster.loco.fit import Options
from ringmaster.loco.gradients import Gradient
from ringmaster.loco.model import Column, Floats, Model, State
from ringmaster.twin import Lattice, Twin, load_mat
from ringmaster.twin.lattice import LIGHT_M_S

MM = MRAD = 1e-3
NEEDED = ("RINGData", "LocoMeasData", "BPMData", "CMData", "FitParameters", "LocoFlags")
_CAVITY_WORDS = ("RF", "CAV")


@dataclass(frozen=True)
class Stored:
    """The fit of one iteration that the file has."""

    iteration: int
    chi2: float
    """Per degree of freedom."""
    values: Floats
    """[gradients] 1/m²."""
    sigma: Floats
    state: State


@dataclass(frozen=True)
class LocoFile:
    """All that a fit needs, and what the file's own came to."""

    path: Path
    lattice: Lattice
    model: Model
    data: Data
    begin: State
    """Before the first iteration."""
    options: Options
    stored: tuple[Stored, ...]
    notes: tuple[str, ...]


def is_loco_file(path: Path) -> bool:
    """Whether it is a .mat file with the variables of LOCO."""
    try:
        return path.suffix.lower() == ".mat" and set(NEEDED) <= {name for name, *_ in scipy.io.whosmat(path)}
    except (OSError, ValueError, NotImplementedError, MatReadError):
        return False


def load_loco(path: Path) -> LocoFile:
    """Reads it. Raises ValueError for a file that lacks something, and names it."""
    try:
        read = scipy.io.loadmat(path, squeeze_me=True, struct_as_record=False)
    except NotImplementedError:
        raise ValueError(f"{path}: MATLAB 7.3 files are not read; save it with -v7") from None
    except (ValueError, TypeError, MatReadError) as error:
        raise ValueError(f"{path}: no MATLAB file: {error}") from None
    missing = [name for name in NEEDED if name not in read]
    if missing:
        raise ValueError(f"{path}: no file of LOCO: it lacks {', '.join(missing)}")
    try:
        return _Reader(path, read).file()
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: a file of LOCO with another layout than expected: {error}") from None


class _Reader:
    def __init__(self, path: Path, read: dict[str, Any]) -> None:
        self.path, self.read = path, read
        self.flags = _all(read["LocoFlags"])[-1]
        self.notes: list[str] = []

    def file(self) -> LocoFile:
        bpms, correctors = _all(self.read["BPMData"]), _all(self.read["CMData"])
        parameters = _all(self.read["FitParameters"])
        lattice = self._lattice()
        twin = Twin(lattice)
        values = [np.atleast_1d(np.asarray(one.Values, float)) for one in parameters]
        gradients = self._gradients(lattice, parameters[-1], values[0])
        for one, value in zip(gradients, values[0], strict=True):
            for element in one.elements:
                twin.set_polynom(element, one.component, 1, float(value))
        columns = self._columns(correctors[0])
        at = [int(i) - 1 for i in np.atleast_1d(bpms[0].BPMIndex)]
        both = str(self._flag("DispersionMeasurement", "bidirectional")).lower() == "bidirectional"
        step_hz = _number(_first(self.read["FitParameters"]).DeltaRF) * (0.5 if both else 1.0)
        model = Model(twin, at, columns, gradients, vertical_path=False, rf_step_hz=abs(step_hz))
        states = [self._state(b, c, v - values[0]) for b, c, v in zip(bpms, correctors, values, strict=False)]
        return LocoFile(
            path=self.path,
            lattice=lattice,
            model=model,
            data=self._data(bpms[0], correctors[0], columns),
            begin=states[0],
            options=self._options(bpms[0], correctors[0]),
            stored=tuple(self._stored(parameters, values, states)),
            notes=tuple(self.notes),
        )

    def _flag(self, name: str, usual: Any) -> Any:
        found = getattr(self.flags, name, usual)
        return usual if isinstance(found, np.ndarray) and found.size == 0 else found

    def _lattice(self) -> Lattice:
        """Through our reader, from a file of its elements; with a cavity in step where the path's length is kept."""
        ring = self.read["RINGData"]
        elements = [_plain(element) for element in np.atleast_1d(ring.Lattice)]
        length = sum(_number(element.get("Length", 0.0)) for element in elements)
        if str(self._flag("ClosedOrbitType", "fixedpathlength")).lower() == "fixedpathlength":
            cavities = [one for one in elements if _is_cavity(one)]
            if not cavities:
                raise ValueError(f"{self.path}: the lattice has no cavity, and its flags keep the path's length")
            for one in cavities:
                one["PassMethod"] = "RFCavityPass"
                one["HarmNumber"] = float(ring.CavityHarmNumber)
                one["Frequency"] = float(ring.CavityHarmNumber) * LIGHT_M_S / length
        cell = np.empty((1, len(elements)), object)
        cell[0, :] = elements
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / self.path.name
            scipy.io.savemat(path, {"RING": cell})
            return load_mat(path)

    def _gradients(self, lattice: Lattice, parameters: Any, begin: Floats) -> list[Gradient]:
        made: list[Gradient] = []
        for group, value in zip(np.atleast_1d(parameters.Params), begin, strict=True):
            fields = [(int(one.ElemIndex) - 1, _field(one)) for one in np.atleast_1d(group)]
            components = {component for _, component in fields}
            if len(components) != 1 or not components <= {"A", "B"}:
                told = ", ".join(sorted({str(one.FieldName) for one in np.atleast_1d(group)}))
                raise ValueError(
                    f"{self.path}: parameter {len(made) + 1} changes {told}; "
                    "here only K, PolynomB and PolynomA of order 1 can be fitted"
                )
            elements = tuple(sorted({element for element, _ in fields}))
            name = lattice.names[elements[0]]
            number = sum(one.name.split("#")[0] == name for one in made) + 1
            span = float(sum(lattice[i].Length for i in elements))
            made.append(Gradient(f"{name}#{number}", components.pop(), elements, span, float(value), np.inf))
        return made

    def _columns(self, data: Any) -> list[Column]:
        """Kicks are per mrad here, so that a gain is a kick."""
        index = {plane: np.atleast_1d(getattr(data, f"{word}CMIndex")) for plane, word in enumerate("HV")}
        return [
            Column(f"{word}CM{number:02d}", int(element) - 1, plane, MRAD)
            for plane, word in enumerate("HV")
            for number, element in enumerate(index[plane], 1)
        ]

    def _state(self, bpms: Any, correctors: Any, gradients: Floats) -> State:
        count = len(np.atleast_1d(bpms.BPMIndex))
        own, cross = np.ones(2 * count), np.zeros(2 * count)
        for plane, word in enumerate("HV"):
            at = plane * count + np.atleast_1d(getattr(bpms, f"{word}BPMIndex")).astype(int) - 1
            own[at] = getattr(bpms, f"{word}BPMGain")
            cross[at] = getattr(bpms, f"{word}BPMCoupling")
        gain = np.concatenate([np.atleast_1d(getattr(correctors, f"{word}CMKicks")) for word in "HV"]).astype(float)
        roll = np.concatenate([np.atleast_1d(getattr(correctors, f"{word}CMCoupling")) for word in "HV"]).astype(float)
        return State(np.asarray(gradients, float), own, cross, gain, roll, np.zeros(len(gain)))

    def _data(self, bpms: Any, correctors: Any, columns: list[Column]) -> Data:
        measured = self.read["LocoMeasData"]
        count, wide = len(np.atleast_1d(bpms.BPMIndex)), len(columns)
        values, sigma = np.zeros((2 * count, wide + 1)), np.full((2 * count, wide + 1), np.inf)
        horizontal = len(np.atleast_1d(bpms.HBPMIndex))
        good = [np.atleast_1d(getattr(correctors, f"{word}CMGoodDataIndex")).astype(int) - 1 for word in "HV"]
        kept = np.concatenate([good[0], good[1] + len(np.atleast_1d(correctors.HCMIndex))])
        with_dispersion = _yes(self._flag("Dispersion", "no"))
        step_hz = _number(_first(self.read["FitParameters"]).DeltaRF)
        noise = np.asarray(measured.BPMSTD, float)
        for plane, word in enumerate("HV"):
            wanted = np.atleast_1d(getattr(bpms, f"{word}BPMGoodDataIndex")).astype(int) - 1
            at = plane * count + np.atleast_1d(getattr(bpms, f"{word}BPMIndex")).astype(int)[wanted] - 1
            of = plane * horizontal + wanted
            values[np.ix_(at, kept)] = np.asarray(measured.M, float)[np.ix_(of, kept)] * MM
            sigma[np.ix_(at, kept)] = noise[of, None] * MM
            if with_dispersion:
                values[at, -1] = np.asarray(measured.Eta, float)[of] * MM / step_hz
                sigma[at, -1] = noise[of] * MM / step_hz
        if not _yes(self._flag("Coupling", "no")):
            planes = np.array([one.plane for one in columns])
            sigma[:count, :-1][:, planes == 1] = np.inf
            sigma[count:, :-1][:, planes == 0] = np.inf
            sigma[count:, -1] = np.inf
        rows = tuple(f"BPM{number:02d}/{plane}" for plane in "xy" for number in range(1, count + 1))
        return Data(rows, tuple(columns), values, sigma)

    def _options(self, bpms: Any, correctors: Any) -> Options:
        method = str(getattr(self._flag("Method", None), "Name", "Gauss-Newton"))
        if method != "Gauss-Newton":
            self.notes.append(f"the file's method is {method}; here Gauss-Newton with its threshold is taken")
        if not _yes(getattr(self._flag("Normalization", None), "Flag", "yes")):
            self.notes.append("the file does not normalise its parameters; here they are")
        threshold = self._flag("SVmethod", 1e-5)
        if not isinstance(threshold, int | float) or isinstance(threshold, bool):
            threshold = 1e-5
            self.notes.append(f"the file chooses singular values by hand; here those above {threshold:g} are taken")
        shifts = _yes(getattr(correctors, "FitHCMEnergyShift", "no")) or _yes(
            getattr(correctors, "FitVCMEnergyShift", "no")
        )
        weights = [float(self._flag(f"{word}DispersionWeight", 1)) for word in ("Horizontal", "Vertical")]
        return Options(
            gains=_yes(bpms.FitGains),
            cross=_yes(bpms.FitCoupling),
            kicks=_yes(correctors.FitKicks),
            rolls=_yes(correctors.FitCoupling),
            energy=shifts,
            cut=float(threshold),
            gauge=False,
            dispersion_weights=(weights[0], weights[1]),
            outliers=float(self._flag("OutlierFactor", 10)),
        )

    def _stored(self, parameters: list[Any], values: list[Floats], states: list[State]) -> Iterable[Stored]:
        models = _all(self.read.get("LocoModel", []))
        for at, (one, model) in enumerate(zip(parameters, models, strict=False)):
            sigma = np.atleast_1d(np.asarray(getattr(one, "ValuesSTD", np.nan), float))
            sigma = sigma if len(sigma) == len(values[at]) else np.full(len(values[at]), np.nan)
            yield Stored(at, float(getattr(model, "ChiSquare", np.nan)), values[at], sigma, states[at])


def _first(thing: Any) -> Any:
    return thing.flat[0] if isinstance(thing, np.ndarray) else thing


def _all(thing: Any) -> list[Any]:
    return list(np.atleast_1d(thing))


def _yes(word: Any) -> bool:
    return str(word).lower() == "yes"


def _number(value: Any) -> float:
    return float(np.asarray(value, float).reshape(-1)[0])


def _plain(element: Any) -> dict[str, Any]:
    """A struct as savemat takes it; empty fields are left out."""
    found = {name: getattr(element, name) for name in element._fieldnames}
    return {
        name: value if isinstance(value, str) else np.asarray(value, float)
        for name, value in found.items()
        if isinstance(value, str) or (_numeric(value) and np.size(value))
    }


def _numeric(value: Any) -> bool:
    array: NDArray[Any] = np.asarray(value)
    return array.dtype.kind in "fiub"


def _is_cavity(element: dict[str, Any]) -> bool:
    return "Frequency" in element and "Voltage" in element


def _field(parameter: Any) -> str:
    """The component, "B" of K and PolynomB[1], "A" of PolynomA[1]; else what it is called."""
    name = str(parameter.FieldName)
    if name == "K":
        return "B"
    order = [int(i) for i in np.atleast_1d(parameter.FieldIndex)][-1:]
    return name[-1] if name in ("PolynomA", "PolynomB") and order == [2] else name

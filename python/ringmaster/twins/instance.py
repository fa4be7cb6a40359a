# SPDX-License-Identifier: Apache-2.0
"""Instances of models, as a file describes them: docs/twin-follow.md has the keys."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from ringmaster.machine.server_file import Part, read_marked_yaml
from ringmaster.twins.loops import OrbitLoop, TuneLoop
from ringmaster.twins.supplies import Crosstalk, Mismatch, Neighbours, SupplyErrors

SOURCES = ("setpoint", "readback")
T = TypeVar("T")


@dataclass(frozen=True)
class Instance:
    """One model beside the machine."""

    name: str
    lattice: str
    """A file, or the name of one that we ship."""
    mapping: str
    changes: tuple[str, ...] = ()
    """ELEMENT=±SHARE, ELEMENT.dx=METRES, …"""
    apply: tuple[str, ...] = ()
    """Files of changes: the model stands as if they had been applied, beside what the machine shows."""
    undo: tuple[str, ...] = ()
    """The same, as if undone: a correction that a fit proposes, undone, is the errors that it found."""
    source: str = "setpoint"
    rate: str | None = None
    """Of the BPM streams; None: fast, or what there is."""
    hz: float = 10.0
    core: int | None = None
    chromaticity_every: int = 5
    """Updates; 0: never."""
    convergence: float = 1e-9
    """Of the closed orbit, m and 1."""
    flat: bool = False
    """Cavities and radiation off."""
    relative: bool = False
    """The first prediction error counts as zero."""
    supplies: SupplyErrors = field(default_factory=SupplyErrors)
    orbit: OrbitLoop | None = None
    tune: TuneLoop | None = None

    @property
    def text(self) -> str:
        """All of it, from which another process can make the same: see ``instance_of``."""
        return json.dumps(asdict(self))


def instance_of(text: str) -> Instance:
    """From ``Instance.text``."""
    read = json.loads(text)
    errors = read["supplies"]
    orbit, tune = read["orbit"], read["tune"]
    if orbit is not None:
        orbit["supplies"] = tuple(orbit["supplies"])
    if tune is not None:
        tune["tunes"] = None if tune["tunes"] is None else (float(tune["tunes"][0]), float(tune["tunes"][1]))
    read |= {key: tuple(read[key]) for key in ("changes", "apply", "undo")}
    read["supplies"] = SupplyErrors(
        tuple(Mismatch(**entry) for entry in errors["mismatches"]),
        tuple(Crosstalk(**entry) for entry in errors["crosstalk"]),
        tuple(Neighbours(**entry) for entry in errors["neighbours"]),
    )
    read["orbit"] = None if orbit is None else OrbitLoop(**orbit)
    read["tune"] = None if tune is None else TuneLoop(**tune)
    return Instance(**read)


def read_instances(path: Path) -> tuple[Instance, ...]:
    """All of a file. Raises ValueError with its place in the file, OSError."""
    read = read_marked_yaml(path)
    whole = _part(path, "", read, f"{path}: found no key `twins`, expected a list of instances there")
    whole.check_keys(("twins",))
    listed = read.get("twins")
    if not isinstance(listed, list) or not listed:
        raise ValueError(f"{path}: found no key `twins`, expected a list of instances there")
    instances: list[Instance] = []
    for i, entry in enumerate(listed):
        part = _part(path, f"twins[{i}]", entry, f"{path}: twins[{i}]: found {entry!r}, expected keys")
        made = _instance(part)
        if made.name in [other.name for other in instances]:
            raise part.error("name", f"there are two instances {made.name!r}; give each a name of its own")
        instances.append(made)
    return tuple(instances)


def with_lattice(instance: Instance, folder: Path) -> Instance:
    """Its files found from a folder."""

    def found(name: str) -> str:
        return str((folder / name).resolve()) if (folder / name).exists() else name

    orbit = instance.orbit
    if orbit is not None and orbit.matrix is not None:
        orbit = replace(orbit, matrix=found(orbit.matrix))
    return replace(
        instance,
        lattice=found(instance.lattice),
        mapping=found(instance.mapping),
        apply=tuple(map(found, instance.apply)),
        undo=tuple(map(found, instance.undo)),
        orbit=orbit,
    )


def _part(path: Path, key: str, values: Any, wrong: str) -> Part:
    if not isinstance(values, dict):
        raise ValueError(wrong)
    return Part(path, key, values)


KEYS = (
    *(it.name for it in fields(Instance) if it.name not in ("orbit", "tune", "flat")),
    "4d",
    "crosstalk",
    "neighbours",
    "feedbacks",
)


def _instance(part: Part) -> Instance:
    part.check_keys(KEYS)
    for key in ("name", "lattice", "mapping"):
        if not isinstance(part.values.get(key), str):
            raise part.error(key, f"found {part.values.get(key)!r}, expected a text: {key} is missing")
    feedbacks = _inner(part, "feedbacks", ("orbit", "tune"))
    given = Instance(
        name=part.values["name"],
        lattice=part.values["lattice"],
        mapping=part.values["mapping"],
        changes=_texts(part, "changes"),
        apply=_texts(part, "apply"),
        undo=_texts(part, "undo"),
        source=str(part.values.get("source", "setpoint")),
        rate=None if part.values.get("rate") is None else str(part.values["rate"]),
        hz=_number(part, "hz", 10.0, above=0.0),
        core=None if part.values.get("core") is None else int(_number(part, "core", 0, least=0)),
        chromaticity_every=int(_number(part, "chromaticity_every", 5, least=0)),
        convergence=_number(part, "convergence", 1e-9, above=0.0),
        flat=_truth(part, "4d", False),
        relative=_truth(part, "relative", False),
        supplies=SupplyErrors(
            tuple(_made(Mismatch, entry) for entry in _entries(part, "supplies")),
            tuple(_made(Crosstalk, entry) for entry in _entries(part, "crosstalk")),
            tuple(_made(Neighbours, entry) for entry in _entries(part, "neighbours")),
        ),
        orbit=None if feedbacks is None else _orbit(_inner(feedbacks, "orbit", _names(OrbitLoop))),
        tune=None if feedbacks is None else _tune(_inner(feedbacks, "tune", _names(TuneLoop))),
    )
    if given.source not in SOURCES:
        raise part.error("source", f"found {given.source!r}, expected one of {', '.join(SOURCES)}")
    return with_lattice(given, part.path.parent)


def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(it.name for it in fields(kind))


def _inner(part: Part, key: str, known: Sequence[str]) -> Part | None:
    values = part.values.get(key)
    if values is None:
        return None
    if not isinstance(values, dict):
        raise part.error(key, f"found {values!r}, expected keys")
    inner = Part(part.path, f"{part.key}.{key}", values)
    inner.check_keys(tuple(known))
    return inner


def _entries(part: Part, key: str) -> list[Part]:
    listed = part.values.get(key) or []
    if not isinstance(listed, list):
        raise part.error(key, f"found {listed!r}, expected a list")
    return [
        _part(part.path, f"{part.key}.{key}[{i}]", entry, f"{part.path}: {part.key}.{key}[{i}]: expected keys")
        for i, entry in enumerate(listed)
    ]


def _made(kind: type[T], part: Part) -> T:
    """One entry: texts where the class has texts, numbers else."""
    part.check_keys(_names(kind))
    values: dict[str, Any] = {}
    for it in fields(kind):  # type: ignore[arg-type]
        if it.type in (str, "str"):
            value = part.values.get(it.name)
            if not isinstance(value, str):
                raise part.error(it.name, f"found {value!r}, expected names of supplies")
            values[it.name] = value
        elif it.name in part.values:
            values[it.name] = _number(part, it.name, 0.0)
    if kind is not Mismatch and "share" not in values:
        raise part.error("share", "it is missing: expected which share of the current is felt")
    for name in ("delay_ms", "bandwidth_hz", "hysteresis"):
        if values.get(name, 0.0) < 0:
            raise part.error(name, f"found {values[name]:g}, expected 0 or more")
    return kind(**values)


def _orbit(part: Part | None) -> OrbitLoop | None:
    if part is None:
        return None
    supplies = _texts(part, "supplies")
    if not supplies:
        raise part.error("supplies", "expected names or patterns of the correctors that it moves")
    matrix = part.values.get("matrix")
    return OrbitLoop(
        supplies,
        _number(part, "integral_hz", None, above=0.0),
        _number(part, "gain", 1.0, least=0.0),
        _truth(part, "on", True),
        _number(part, "tikhonov", 0.0, least=0.0),
        int(_number(part, "modes", 0, least=0)),
        None if matrix is None else str(matrix),
    )


def _tune(part: Part | None) -> TuneLoop | None:
    if part is None:
        return None
    families = part.values.get("families")
    if not isinstance(families, dict) or len(families) < 2:
        raise part.error("families", f"found {families!r}, expected two families or more, as qf: 'sr/ps/qf1_*'")
    tunes = part.values.get("tunes")
    if tunes is not None and not (
        isinstance(tunes, list) and len(tunes) == 2 and all(isinstance(v, int | float) and 0 < v < 0.5 for v in tunes)
    ):
        raise part.error("tunes", f"found {tunes!r}, expected two fractional tunes, x and y, between 0 and 0.5")
    return TuneLoop(
        {str(name): str(pattern) for name, pattern in families.items()},
        _number(part, "integral_hz", None, above=0.0),
        _number(part, "gain", 1.0, least=0.0),
        _truth(part, "on", True),
        None if tunes is None else (float(tunes[0]), float(tunes[1])),
    )


def _texts(part: Part, key: str) -> tuple[str, ...]:
    value = part.values.get(key) or []
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
        raise part.error(key, f"found {value!r}, expected a text or a list of texts")
    return tuple(map(str, listed))


def _number(
    part: Part, key: str, usual: float | None, *, least: float | None = None, above: float | None = None
) -> float:
    value = part.values.get(key, usual)
    good = isinstance(value, int | float) and not isinstance(value, bool)
    if not good or (least is not None and value < least) or (above is not None and value <= above):
        bound = "" if least is None and above is None else f" of {least:g} or more" if least is not None else (
            f" above {above:g}"
        )  # fmt: skip
        raise part.error(key, f"found {value!r}, expected a number{bound}")
    return float(value)


def _truth(part: Part, key: str, usual: bool) -> bool:
    value = part.values.get(key, usual)
    if not isinstance(value, bool):
        raise part.error(key, f"found {value!r}, expected true or false")
    return value


def chosen_of(instances: Sequence[Instance], only: str | None) -> tuple[Instance, ...]:
    """Those that shall run. Raises ValueError for a name that none has."""
    found = tuple(it for it in instances if only in (None, it.name))
    if not found:
        raise ValueError(f"no instance is named {only!r}; there are: {', '.join(it.name for it in instances)}")
    return found


def summary(instance: Instance) -> Mapping[str, str]:
    """What is told of it at its start."""
    words = {"lattice": instance.lattice, "source": f"{instance.source}s", "rate": f"{instance.hz:g} Hz"}
    if instance.orbit is not None:
        words["orbit feedback"] = "on" if instance.orbit.on else "off"
    if instance.tune is not None:
        words["tune feedback"] = "on" if instance.tune.on else "off"
    return words

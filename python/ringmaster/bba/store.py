# SPDX-License-Identifier: Apache-2.0
"""The file of a measurement: what it was made with, and what each group has left, written as they come. HDF5."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ringmaster.bba.measure import Taken

KIND = "ringmaster alignment 1"
ABOUT = ("lattice", "mapping", "settings", "may_swing", "bpms", "sines", "workspace")
"""Of what it was made with: what makes the same plan again."""


@dataclass(frozen=True)
class Measured:
    """A file, read."""

    about: Mapping[str, Any]
    rows: tuple[str, ...]
    taken: tuple[Taken, ...]

    @property
    def machine_s(self) -> float:
        """Of all groups."""
        return sum(one.machine_s for one in self.taken)


def begin(path: Path, about: Mapping[str, Any], rows: tuple[str, ...]) -> None:
    """Makes the file, without groups; one that is there is replaced."""
    part = path.with_name(path.name + ".part")
    with h5py.File(part, "w") as file:
        file.attrs["kind"] = KIND
        file.attrs["about"] = json.dumps(dict(about))
        file.create_dataset("rows", data=list(rows), dtype=h5py.string_dtype())
    part.replace(path)


def add(path: Path, taken: Taken) -> None:
    """One group more."""
    with h5py.File(path, "r+") as file:
        name = f"group{taken.group:03d}"
        if name in file:
            del file[name]
        group = file.create_group(name)
        group.attrs["supplies"] = json.dumps(taken.supplies)
        group.attrs["failed"] = json.dumps(taken.failed)
        group.attrs["machine_s"] = taken.machine_s
        group.create_dataset("steps", data=taken.steps)
        group.create_dataset("states", data=taken.states)
        group.create_dataset("noise_nm", data=taken.noise_nm)
        file.flush()


def load(path: Path) -> Measured:
    """Reads it. Raises ValueError for a file that is none, OSError."""
    if not path.exists():
        raise FileNotFoundError(2, "no such file", str(path))
    try:
        with h5py.File(path) as file:
            if file.attrs.get("kind") != KIND:
                raise ValueError(f"{path}: its kind is {file.attrs.get('kind')!r}, expected {KIND!r}")
            about = json.loads(str(file.attrs["about"]))
            rows = tuple(name.decode() for name in file["rows"][...])
            taken = tuple(_taken(name, file[name]) for name in sorted(file) if name.startswith("group"))
    except (KeyError, OSError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: no measurement of `ringmaster bba measure`: {error}") from None
    return Measured(about, rows, taken)


def _taken(name: str, group: Any) -> Taken:
    return Taken(
        int(name.removeprefix("group")),
        tuple(json.loads(str(group.attrs["supplies"]))),
        np.asarray(group["steps"][...], np.float64),
        np.asarray(group["states"][...], np.complex128),
        np.asarray(group["noise_nm"][...], np.float64),
        tuple(json.loads(str(group.attrs["failed"]))),
        float(group.attrs["machine_s"]),
    )

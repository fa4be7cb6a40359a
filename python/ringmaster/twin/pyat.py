# SPDX-License-Identifier: Apache-2.0
"""Lattices by pyAT, where it is installed: those in memory, and files in formats that the C library does not read.

pyAT writes them as .mat into memory, which the C library reads as any file: there is one reader, and it decides what
can be tracked. Nothing here imports pyAT before it is needed.
"""

import contextlib
import io
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from ringmaster.errors import LatticeAbsent, LatticeInvalid, TwinArgument

ELEGANT = ".lte"
SUFFIXES = (".json", ELEGANT)
"""Not .lat, which is MAD-X here and Tracy there, and not .repr, which is a program in Python."""


def reads(path: str | os.PathLike[str]) -> bool:
    """Whether the file is of a format that pyAT reads for us."""
    return Path(path).suffix.lower() in SUFFIXES


def is_lattice(thing: Any) -> bool:
    """Whether it is pyAT's Lattice, or of a class made from it."""
    bases = type(thing).__mro__
    return any(base.__name__ == "Lattice" and base.__module__.split(".")[0] == "at" for base in bases)


def load(path: str | os.PathLike[str], use: str | None, energy: float | None) -> Any:
    """What pyAT makes of a file, its Lattice. What pyAT prints goes to stderr."""
    if not Path(path).is_file():
        raise LatticeAbsent(f"{path}: there is no such file; name a lattice file that can be read")
    if energy is None and Path(path).suffix.lower() == ELEGANT:
        raise TwinArgument(
            f"{path}: an elegant file does not tell the energy, and pyAT would take 1 GeV; give energy, eV"
        )
    given = {name: value for name, value in (("use", use), ("energy", energy)) if value is not None}
    try:
        import at
    except ImportError:
        raise TwinArgument(
            f"{path}: such files need pyAT: pip install accelerator-toolbox, or `ringmaster[pyat]`"
        ) from None
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return at.load_lattice(path, **given)
    except Exception as error:  # by any reader of pyAT's, of any class
        raise LatticeInvalid(f"{path}: pyAT cannot read it: {type(error).__name__}: {error}") from error


def as_mat(ring: Any, said: str) -> bytes:
    """The .mat file of pyAT's Lattice. `said` is what errors call it."""
    from at import save_mat

    written = io.BytesIO()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # private fields are left out, which only elements that we refuse need
            save_mat(ring, written)
    except Exception as error:  # an attribute of any type
        raise LatticeInvalid(f"{said}: pyAT cannot write it as .mat: {type(error).__name__}: {error}") from error
    return written.getvalue()

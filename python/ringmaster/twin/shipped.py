# SPDX-License-Identifier: Apache-2.0
"""Lattices that come with Ringmaster, by their short names: ``elettra2_like``.

In a checkout they lie in twin/lattices, installed in share/ringmaster/lattices: beside this package, of the Python that
runs, or of what $XDG_DATA_DIRS names. They are looked for in this order.
"""

import os
import sys
from pathlib import Path

from ringmaster.errors import LatticeAbsent
from ringmaster.places import CHECKOUT

INSTALLED = Path("ringmaster/lattices")


def shipped_lattices() -> dict[str, Path]:
    """Files by short name."""
    data = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    shares = [Path(sys.prefix) / "share", *(Path(share) for share in data.split(":") if share)]
    folders = [CHECKOUT / "twin/lattices", CHECKOUT / "lattices", *(share / INSTALLED for share in shares)]
    found: dict[str, Path] = {}
    for path in (path for folder in folders for path in sorted(folder.glob("*.m"))):
        found.setdefault(path.stem, path)
    return found


def lattice_path(name: str | os.PathLike[str]) -> Path:
    """The file that is meant: this one, or, where there is none and the name has no suffix, the lattice that we ship.

    Raises LatticeAbsent for a name that neither has.
    """
    path = Path(name)
    if path.suffix or len(path.parts) != 1 or path.exists():
        return path
    found = shipped_lattices()
    if path.name not in found:
        names = ", ".join(found) or "none: is it installed?"
        raise LatticeAbsent(f"{path} is neither a file nor a lattice that comes with Ringmaster ({names})")
    return found[path.name]

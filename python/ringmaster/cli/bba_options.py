# SPDX-License-Identifier: Apache-2.0
"""What the commands of `ringmaster bba` share."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ringmaster.bba.analyse import Found
    from ringmaster.bba.model import Model

file_argument = click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
lattice_option = click.option("--lattice", metavar="LATTICE", help="Another than that of the measurement.")
mapping_option = click.option(
    "--mapping", type=click.Path(path_type=Path), metavar="FILE", help="Another than that of the measurement."
)


def found_in(file: Path, lattice: str | None, mapping: Path | None) -> "tuple[Found, Model, float]":
    """What a file of `bba measure` has, by its lattice, and the machine's time. Raises ValueError."""
    from ringmaster.bba import session, store
    from ringmaster.bba.kicks import Doubt

    measured = store.load(file)
    if not any(one.supplies for one in measured.taken):
        raise ValueError(f"{file}: no group of magnets was measured; go on with `bba measure --continue`")
    model = session.model_of(lattice or measured.about["lattice"], mapping or Path(measured.about["mapping"]))
    return session.analysed(measured, model, Doubt()), model, measured.machine_s

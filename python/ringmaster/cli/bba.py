# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bba`: beam-based alignment."""

import click

from ringmaster.cli.bba_correct import correct
from ringmaster.cli.bba_measure import measure
from ringmaster.cli.bba_report import report


@click.group()
def bba() -> None:
    """Measure what BPMs read where the beam goes through the centres of magnets, and make it the golden orbit.

    `measure` swings the orbit by correctors and steps quadrupoles and sextupoles, several at once; `report` tells
    offsets with their errors; `correct` writes them as a change for `ringmaster change apply`, and as a table of
    calibrations.
    """


bba.add_command(measure)
bba.add_command(report)
bba.add_command(correct)

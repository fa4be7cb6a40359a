# SPDX-License-Identifier: Apache-2.0
"""`ringmaster tune`: what the tune tells once something is moved."""

import click

from ringmaster.cli.tune_chromaticity import chromaticity
from ringmaster.cli.tune_coupling import coupling
from ringmaster.cli.tune_damping import damping
from ringmaster.cli.tune_synchrotron import synchrotron


@click.group()
def tune() -> None:
    """Measure chromaticity, synchrotron tune, damping and coupling, beside those of a lattice.

    The tunes themselves are told by the application `tune`: docs/tune.md. docs/tune-measurements.md goes through these
    commands.
    """


tune.add_command(chromaticity)
tune.add_command(damping)
tune.add_command(synchrotron)
tune.add_command(coupling)

# SPDX-License-Identifier: Apache-2.0
"""`ringmaster sequence`: sequences of states, on the command line."""

import click

from ringmaster.cli.options import examples
from ringmaster.cli.sequence_check import check, plot
from ringmaster.cli.sequence_run import abort, run, status
from ringmaster.cli.sequence_simulate import simulate


@click.group(
    epilog=examples(
        "ringmaster sequence check configs/sequence-elettra2.yaml",
        "ringmaster sequence plot configs/sequence-elettra2.yaml degauss -o degauss.svg",
        "ringmaster sequence simulate configs/sequence.yaml configs/sequence-ring.yaml degauss --plot degauss.png",
        "ringmaster sequence run tune_knob --set qx=0.002",
        "ringmaster sequence status",
        "ringmaster sequence abort",
    ),
    no_args_is_help=True,
)
def sequence() -> None:
    """Let sequences of states run at the rate of the loop: check, simulate, run, abort them (docs/sequences.md)."""


for command in (check, simulate, run, status, abort, plot):
    sequence.add_command(command)

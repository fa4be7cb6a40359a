# SPDX-License-Identifier: Apache-2.0
"""`ringmaster gateway`: a workspace for programs that speak another protocol."""

import click

from ringmaster.cli.gateway_epics import epics
from ringmaster.cli.gateway_fast_archiver import fast_archiver
from ringmaster.cli.gateway_metrics import metrics
from ringmaster.cli.gateway_tango import tango
from ringmaster.cli.options import examples


@click.group(
    epilog=examples(
        "ringmaster gateway epics",
        "ringmaster gateway fast-archiver configs/fast-archiver.yaml",
        "ringmaster gateway metrics",
        "ringmaster gateway tango --port 10001",
    ),
    no_args_is_help=True,
)
def gateway() -> None:
    """Serve a workspace to programs that speak another protocol."""


for command in (epics, fast_archiver, metrics, tango):
    gateway.add_command(command)

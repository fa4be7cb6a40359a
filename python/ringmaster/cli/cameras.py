# SPDX-License-Identifier: Apache-2.0
"""`ringmaster cameras`: frames of cameras."""

import click

from ringmaster.cli.cameras_virtual import virtual
from ringmaster.cli.options import examples


@click.group(
    epilog=examples("ringmaster cameras virtual cameras.yaml --cameras virtual.yaml"),
    no_args_is_help=True,
)
def cameras() -> None:
    """Send frames of virtual cameras."""


cameras.add_command(virtual)

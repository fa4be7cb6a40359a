# SPDX-License-Identifier: Apache-2.0
"""`ringmaster cameras virtual`: cameras without hardware, which send what a machine's file describes."""

import click

from ringmaster.cli.options import examples
from ringmaster.cli.programs import become, option_of


@click.command(
    epilog=examples(
        "ringmaster cameras virtual cameras.yaml",
        "ringmaster cameras virtual cameras.yaml --cameras virtual.yaml",
        "ringmaster cameras virtual cameras.yaml --cameras virtual.yaml --check",
        "ringmaster cameras virtual cameras.yaml --cameras virtual.yaml --frames 1000 --json",
    )
)
@click.argument("file", type=click.Path())
@click.option(
    "--cameras",
    "overlay",
    type=click.Path(),
    metavar="OVERLAY",
    help="What only virtual cameras have: rate, picture, pace, control, faults.",
)
@click.option("--check", "check_only", is_flag=True, help="Only check both files and say what would be sent.")
@click.option("--frames", metavar="N", help="End after so many frames of each camera.")
@click.option("--seconds", metavar="S", help="End after so long.")
@click.option("--json", "as_json", is_flag=True, help="Print what was sent as JSON, and nothing else.")
def virtual(file: str, overlay: str | None, check_only: bool, as_json: bool, **given: str | None) -> None:
    """Send frames of the cameras that FILE describes, until stopped by Ctrl-C.

    FILE is the machine's own: virtual cameras are the other end of its ports. A line for each says what it sends, and
    in the end how much it was, with every fault that OVERLAY asked for. docs/virtual-cameras.md has OVERLAY's keys.
    """
    files = [file] if overlay is None else [file, overlay]
    if check_only:
        become("ringmaster-virtual-cameras", "check", *files)
    options = [word for name, value in given.items() if value is not None for word in (option_of(name), value)]
    become("ringmaster-virtual-cameras", "run", *files, *options, *(["--json"] if as_json else []))

# SPDX-License-Identifier: Apache-2.0
"""`ringmaster gateway fast-archiver`: the protocol of Diamond's fast archiver; a program of its own, written in C."""

import click

from ringmaster.cli.options import examples
from ringmaster.cli.programs import become


@click.command(
    "fast-archiver",
    epilog=examples(
        "ringmaster gateway fast-archiver configs/fast-archiver.yaml",
        "ringmaster gateway fast-archiver configs/fast-archiver.yaml --check",
    ),
)
@click.argument("config", type=click.Path())
@click.option("--check", "check_only", is_flag=True, help="Only check CONFIG and say what it amounts to.")
@click.option("--json", "as_json", is_flag=True, help="Print what came of it as JSON in the end.")
def fast_archiver(config: str, check_only: bool, as_json: bool) -> None:
    """Serve streams and an archive to clients of Diamond's fast archiver, as CONFIG says, until it is stopped.

    CONFIG says which lanes are which ids. docs/fast-archiver.md has its keys, and all commands that clients may send.
    """
    if check_only:
        become("ringmaster-fast-archiver", "check", config)
    become("ringmaster-fast-archiver", "run", config, *(["--json"] if as_json else []))

# SPDX-License-Identifier: Apache-2.0
"""`ringmaster reload`: roles of a running server move between cores."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import ServerFile, examples, json_option, print_json

if TYPE_CHECKING:
    from ringmaster.programs.reload import Move


@click.command(
    epilog=examples(
        "ringmaster reload configs/demo.yaml --check",
        "ringmaster reload configs/demo.yaml",
        "ringmaster reload configs/standby.yaml@a --json",
        "ringmaster get server/roles",
    )
)
@click.argument("config", type=ServerFile())
@click.option("--check", is_flag=True, help="Only say what would move.")
@json_option
def reload(config: Path, check: bool, as_json: bool) -> None:
    """Move roles of the running server to the cores that CONFIG now gives them, without a restart.

    CONFIG is the server's own file, or a copy, with other numbers at `core` in `roles`, or with its roles in another
    order. Cores must be those that roles or `spare_cores` named when the server started. Nothing else may differ: then
    nothing moves, and the keys that do are named. Ports stay open, and their queues keep what comes meanwhile.
    """
    from ringmaster.programs.reload import reload as reload_roles

    moves = reload_roles(config, check)
    if as_json:
        print_json({"moved": not check, "moves": [asdict(move) for move in moves]})
        return
    for move in moves:
        click.echo(_line(move))
    if not moves:
        click.echo("no role is to move" if check else "every role is on its core already, and in its order")


def _line(move: "Move") -> str:
    way = f"roles[{move.role}] {move.kind:<15} core {move.before} → core {move.after}"
    return way if move.stood_ns is None else f"{way}   stood still for {move.stood_ns / 1e3:.1f} µs"

# SPDX-License-Identifier: Apache-2.0
"""`ringmaster clean`: remove what programs that have ended left behind."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import examples, json_option, print_json

if TYPE_CHECKING:
    from ringmaster.programs.remains import Remains


@click.command(
    epilog=examples("ringmaster clean --list", "ringmaster clean", "ringmaster clean --yes --json | jq .bytes")
)
@click.option("--list", "only_list", is_flag=True, help="Only say what there is.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def clean(only_list: bool, yes: bool, as_json: bool) -> None:
    """Remove what programs that have ended left behind.

    That is: the workspaces of servers that have ended, and folders of killed virtual rings and interrupted benches.
    What a living program owns stays. A server takes over the rings of one that was killed; after this it begins with
    empty ones.
    """
    from ringmaster.programs.remains import find_remains

    found = find_remains()
    if not as_json:
        _print(found)
    removed: list[Remains] = []
    failed: list[str] = []
    if found and not only_list:
        if not yes and not _agreed(found):
            sys.exit(1)
        removed, failed = _remove(found)
    if as_json:
        print_json(
            {
                "found": [_as_json(one) for one in found],
                "removed": [str(one.path) for one in removed],
                "bytes": sum(one.bytes for one in removed),
                "failed": failed,
            }
        )
    elif removed:
        click.echo(f"removed {len(removed)} of {len(found)}, {_size(sum(one.bytes for one in removed))}")
    if failed:
        sys.exit(1)


def _agreed(found: "list[Remains]") -> bool:
    """A person says so; a script has --yes for it."""
    if not sys.stdin.isatty():
        raise click.UsageError("this is no terminal, so nothing can be asked: --yes removes, --list lists")
    return click.confirm(f"Remove {'it' if len(found) == 1 else f'these {len(found)}'}?")


def _remove(found: "list[Remains]") -> "tuple[list[Remains], list[str]]":
    """Those that are gone, and the complaints of those that are not."""
    from ringmaster.programs.remains import StillOwned, remove_remains

    removed, failed = [], []
    for one in found:
        try:
            remove_remains(one)
            removed.append(one)
        except (StillOwned, OSError) as error:
            failed.append(str(error))
            print(f"ringmaster: {one.path} stays: {error}", file=sys.stderr)
    return removed, failed


def _print(found: "list[Remains]") -> None:
    if not found:
        click.echo("nothing was left behind")
    for one in found:
        click.echo(f"{_size(one.bytes):>10}  {one.what:<14}  {one.path}  of {', '.join(one.owners)}")


def _as_json(one: "Remains") -> dict[str, Any]:
    return {**asdict(one), "path": str(one.path)}


def _size(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"

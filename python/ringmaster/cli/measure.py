# SPDX-License-Identifier: Apache-2.0
"""`ringmaster measure`: what a receive role costs per packet, in a table."""

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import click

from ringmaster.cli.options import examples, json_option
from ringmaster.cli.programs import become, locate


@click.command(
    epilog=examples(
        "ringmaster measure configs/measure.yaml",
        "ringmaster measure configs/measure.yaml --simd avx2 --order turn",
        "ringmaster measure configs/measure.yaml --datagrams 4096 --json | jq '.figures[0].added_ns.median'",
    )
)
@click.argument("config", type=click.Path())
@click.option("--datagrams", type=int, metavar="N", help="Of a fill; without it 1024 (hot) and 262144 (cold).")
@click.option("--rounds", type=int, metavar="N", help="That count; 21 unless given.")
@click.option("--lanes", type=int, metavar="N", help="Of every instrument, instead of those in CONFIG.")
@click.option("--simd", type=click.Choice(["scalar", "avx2", "avx512"]), help="Of the filters; the best unless given.")
@click.option("--order", type=click.Choice(["random", "turn"]), help="Of each turn's datagrams; random unless given.")
@json_option
def measure(config: str, as_json: bool, **options: int | str | None) -> None:
    """Measure what the first receive role of CONFIG costs per packet on this machine.

    Needs no sender and one core: the role's port is of kind ring, which gives back what is sent into it. Fills of N
    datagrams are drained by the role, or given back unread ("poll and free"), by turns.
    """
    given = [f"--{name}={value}" for name, value in options.items() if value is not None]
    if as_json:
        become("ringmaster-measure", *given, config)
    done = subprocess.run([locate("ringmaster-measure"), *given, config], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    _print(json.loads(done.stdout))


def _print(report: Mapping[str, Any]) -> None:
    pages = "huge pages" if report["huge_pages"] else "ordinary pages"
    click.echo(
        f"{report['instruments']} instruments in {report['order']} order, frames of {report['frame_bytes']} bytes, "
        f"{report['simd']}, {report['rounds']} rounds\n"
        f"rates {', '.join(report['rates'])}\n"
        f"rings of {report['ring_bytes'] / 2**20:.0f} MiB, packet buffers on {pages}\n\n"
        f"{'ns per packet (quartiles)':28s}{'poll and free':>24s}{'the whole role':>24s}{'the role adds':>24s}"
    )
    for figure in report["figures"]:
        size = f"{figure['name']:6s}{figure['datagrams']:7d} in {figure['touched_bytes'] / 2**20:.2f} MiB"
        click.echo(
            f"{size:28s}" + "".join(f"{_spread(figure[key]):>24s}" for key in ("poll_ns", "full_ns", "added_ns"))
        )


def _spread(ns: Mapping[str, float]) -> str:
    return f"{ns['median']:.1f} ({ns['low']:.1f}–{ns['high']:.1f})"

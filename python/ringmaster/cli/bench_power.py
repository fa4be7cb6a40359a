# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench power`."""

from pathlib import Path

import click

from ringmaster.cli.bench_output import report_option, show
from ringmaster.cli.options import Finite, examples, json_option


@click.command(
    epilog=examples(
        "ringmaster bench power",
        "ringmaster bench power --json > power.json",
        "ringmaster bench power --load 1 --rounds 5 --report power",
    )
)
@click.option("--seconds", type=Finite(0.1), default=1.0, show_default=True, help="Of each window.")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Of all states, by turns.")
@click.option(
    "--load",
    type=Finite(0, 1, min_open=True),
    default=0.1,
    show_default=True,
    help="Share of Elettra's full rate, where loaded.",
)
@report_option
@json_option
def power(seconds: float, rounds: int, load: float, report: Path | None, as_json: bool) -> None:
    """Measure what the machine takes: idle and loaded, adaptive polling on and off.

    Package energy by RAPL where the machine shows it (root may read it), and joules per datagram; else busy share,
    frequency and idle states, and a word on what cannot be had. Starts a server and a virtual ring of its own on two
    cores. Ctrl-C prints what was measured so far.
    """
    from ringmaster.bench.power import Options, measure, steps

    options = Options(seconds, rounds, load)
    show("power", steps(options), lambda say, step: measure(options, say, step), as_json, report)

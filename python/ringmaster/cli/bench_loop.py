# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench loop`."""

from pathlib import Path

import click

from ringmaster.cli.bench_output import report_option, show
from ringmaster.cli.options import Finite, examples, json_option

RINGS = ("elettra", "elettra2")
"""As ringmaster.bench.loop has them, which `--help` need not import."""


@click.command(
    epilog=examples(
        "ringmaster bench loop",
        "ringmaster bench loop --ring elettra2 --seconds 20 --json > loop.json",
        "ringmaster bench loop --turn-rate 800000 --report out",
    )
)
@click.option(
    "--ring",
    type=click.Choice(RINGS),
    default="elettra",
    show_default=True,
    help="elettra: 96 BPMs, 164 correctors, eight electronics that send every turn; elettra2: 168, 528 and two.",
)
@click.option("--seconds", type=Finite(1), default=60.0, show_default=True, help="With the loop closed.")
@click.option(
    "--turn-rate",
    type=Finite(10_000, 2_000_000),
    metavar="HZ",
    help="Send at this rate instead of the highest that is carried.",
)
@report_option
@json_option
def loop(ring: str, seconds: float, turn_rate: float | None, report: Path | None, as_json: bool) -> None:
    """Close the orbit feedback on a living machine, and count the cycles that it missed.

    Beside that stands what no program on these cores can help: how much of their time they are away for longer than a
    cycle waits, while nothing but a clock runs on them. Starts a server, its feedback and a virtual ring of its own on
    two cores. Ctrl-C prints what was measured so far.
    """
    from ringmaster.bench.loop import Options, measure, steps

    options = Options(ring, seconds, turn_rate)
    show("loop", steps(options), lambda say, step: measure(options, say, step), as_json, report)

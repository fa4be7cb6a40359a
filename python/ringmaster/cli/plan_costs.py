# SPDX-License-Identifier: Apache-2.0
"""`ringmaster plan costs`: what work costs on a core of this machine."""

import json
from pathlib import Path
from typing import Any

import click

from ringmaster.cli.options import examples


@click.command(
    "costs",
    epilog=examples(
        "ringmaster plan costs -o costs.json",
        "ringmaster plan ring.yaml --costs costs.json",
    ),
)
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Writes them there.")
@click.option("--rounds", type=click.IntRange(3, 1000), default=21, show_default=True, help="Of each receive cost.")
def costs(out: Path, rounds: int) -> None:
    """Measure what `ringmaster plan` needs to know of this machine: receiving, sending setpoints, core to core.

    Takes some two minutes of an idle machine, and says so where others had the cores meanwhile. What cannot be measured
    here, as the way between sockets on a machine of one, is taken from the machine that Ringmaster was developed on;
    the file says which.
    """
    from ringmaster.bench.log import NotMeasured
    from ringmaster.bench.plan_costs import put_together, steps
    from ringmaster.programs.program import ProgramFailed

    found: dict[str, Any] = {}
    missing = ["burst", "spreading", "application"]
    planned = list(steps(rounds))
    for number, step in enumerate(planned, 1):
        click.echo(f"{number}/{len(planned)} {step.name} …", err=True)
        try:
            for name, value in step.run().items():
                found[name] = {**found.get(name, {}), **value} if isinstance(value, dict) else value
        except (NotMeasured, ProgramFailed) as error:
            missing.append(step.name)
            click.secho(f"  not measured: {error}", fg="yellow", err=True)
    if "receive_ns" not in found:
        raise click.ClickException(f"{out} was not written: what it costs to receive could not be measured")
    if "low_latency_ns" not in found:
        missing.append("low-latency filters alone")
    made = put_together(found, missing)
    out.write_text(json.dumps({"costs": made.as_json()}, indent=1) + "\n")
    table = ", ".join(f"{count} instruments {cost.median:.0f} ns" for count, cost in made.receive_ns.items())
    click.echo(f"a packet: {table}; written to {out}")

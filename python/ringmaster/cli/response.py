# SPDX-License-Identifier: Apache-2.0
"""`ringmaster response`: response matrix and dispersion by many sines at once."""

from pathlib import Path
from typing import Any

import click

from ringmaster.cli.options import examples, json_option, print_json
from ringmaster.cli.response_measure import measure
from ringmaster.cli.response_options import Asked, of_a_plan, plan_json, server_of, tell_plan
from ringmaster.cli.response_show import compare, show


@click.group(
    epilog=examples(
        "ringmaster response plan elettra2_like --mapping configs/mappings/optics.yaml --server configs/optics.yaml",
        "ringmaster response measure elettra2_like --mapping configs/mappings/optics.yaml --mode machine -o all.h5",
        "ringmaster response show all.h5 --plot all.png",
        "ringmaster response compare all.h5 --lattice elettra2_like --mapping configs/mappings/optics.yaml",
    ),
    no_args_is_help=True,
)
def response() -> None:
    """Measure how the orbit answers to all correctors and to the RF, in ten seconds, during users' time too.

    Each supply is moved by a sine of a frequency of its own; all answers are told apart in one fit, with their errors.
    docs/response.md says how, and what limits it.
    """


@response.command(
    epilog=examples(
        "ringmaster response plan elettra2_like --mapping configs/mappings/optics.yaml --server configs/optics.yaml",
        "ringmaster response plan ring.mat --mapping ring.yaml --mode machine --seconds 30 -o plan.yaml",
        "ringmaster response plan ring.mat --mapping ring.yaml --groups 24 --at 60 --seconds 48",
        "ringmaster response plan ring.mat --mapping ring.yaml --mains 60 --avoid 87.5 --json | jq .relative_error",
    )
)
@of_a_plan
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE.yaml", help="Keep it, for measure --plan."
)
@json_option
def plan(output: Path | None, as_json: bool, **options: Any) -> None:
    """Choose frequencies, amplitudes and phases, and tell which errors they will give. Nothing is moved."""
    from ringmaster.response.plan import forecast, save

    asked = Asked(**options)
    expected = asked.expect(server_of(asked))
    made = asked.make(expected)
    if output is not None:
        save(output, made)
    if as_json:
        print_json(plan_json(made, forecast(expected, made, 1e3 * asked.noise_um)))
        return
    tell_plan(made, expected, asked.noise_um)
    if output is not None:
        click.echo(f"plan written to {output}")


response.add_command(measure)
response.add_command(show)
response.add_command(compare)

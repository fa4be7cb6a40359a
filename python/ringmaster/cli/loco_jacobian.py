# SPDX-License-Identifier: Apache-2.0
"""`ringmaster loco jacobian`: derivatives of the response by gradients, and what they cost."""

from pathlib import Path

import click

from ringmaster.cli.loco_options import flat_option, mapping_option, twin_of
from ringmaster.cli.options import examples, json_option, print_json
from ringmaster.programs.threads import keep_to_one_thread


@click.command(
    epilog=examples(
        "ringmaster loco jacobian elettra2_like --mapping configs/mappings/optics.yaml -o jacobian.h5",
        "ringmaster loco jacobian elettra2_like --mapping configs/mappings/optics.yaml --check 5 --json",
    )
)
@click.argument("lattice")
@mapping_option
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE.h5", help="Write them there.")
@click.option("--no-skew", is_flag=True, help="Of normal gradients alone.")
@click.option(
    "--check",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Compare N of them with tracked orbits, and the time.",
)
@flat_option
@json_option
def jacobian(
    lattice: str, mapping: Path | None, output: Path | None, no_skew: bool, check: int, flat: bool, as_json: bool
) -> None:
    """Compute derivatives of the orbit response of LATTICE by all its gradients, as `fit` uses them.

    The file has `jacobian` [gradient, reading, corrector], m per rad and per 1/m², with the RF's last, m per Hz and
    1/m²; and the names `gradients`, `readings`, `correctors`.
    """
    if mapping is None:
        raise click.UsageError("give --mapping: which element is which reading and supply")
    keep_to_one_thread()
    from ringmaster.loco.jacobian import compared, computed, save
    from ringmaster.loco.session import mapping_of
    from ringmaster.twin import load_lattice

    ring = load_lattice(lattice)
    made = computed(twin_of(ring, flat), mapping_of(ring, mapping), not no_skew)
    beside = compared(made, check) if check else None
    if output is not None:
        save(output, made)
    shape = made.values.shape
    if as_json:
        print_json(
            {
                "gradients": shape[0],
                "readings": shape[1],
                "correctors": shape[2] - 1,
                "seconds": made.seconds,
                "tracking_seconds": None if beside is None else beside.seconds,
                "ratio_to_tracking": None if beside is None else beside.ratio,
                "max_relative_difference": None if beside is None else beside.difference,
            }
        )
        return
    click.echo(f"{shape[0]} gradients, {shape[1]} readings, {shape[2] - 1} correctors and the RF: {made.seconds:.3g} s")
    if beside is not None:
        click.echo(
            f"by tracking all of them take {beside.seconds:.4g} s, {beside.ratio:.0f} times as long; "
            f"{check} differ by {beside.difference:.1g} of their largest element at most"
        )
    if output is not None:
        click.echo(f"derivatives written to {output}")

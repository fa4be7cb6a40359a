# SPDX-License-Identifier: Apache-2.0
"""`ringmaster loco correct`: of a fit, the change of supplies that makes the optics those of the design."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringmaster.cli.loco_options import mapping_option, result_argument, twin_of
from ringmaster.cli.options import examples, json_option, print_json, workspace_option
from ringmaster.programs.threads import keep_to_one_thread

MARGIN = 0.99
"""Of the way to a supply's limit."""

if TYPE_CHECKING:
    from ringmaster.loco.correct import Correction
    from ringmaster.moving.change import Change

CHANGES = ("gradient", "skew")


@click.command(
    epilog=examples(
        "ringmaster loco correct fit.h5 -o optics.yaml",
        "ringmaster change apply optics.yaml && ringmaster change undo optics.yaml",
        "ringmaster loco correct fit.h5 --what gradient --singular-values 60 -o optics.yaml",
        "ringmaster loco correct fit.h5 --from-zero --json | jq .after",
    )
)
@result_argument
@mapping_option
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="CHANGE.yaml", help="Write the change there.")
@click.option(
    "--method",
    type=click.Choice(["optics", "gradients"]),
    default="optics",
    show_default=True,
    help="Least squares on β, dispersion and coupling; or each magnet takes back what was fitted of it.",
)
@click.option("--what", "changes", multiple=True, type=click.Choice(CHANGES), help="Which supplies; both by default.")
@click.option("--singular-values", type=click.IntRange(1), metavar="N", help="Of each kind of supply; else by size.")
@click.option("--from-zero", is_flag=True, help="Ask no server: all supplies stand at 0.")
@workspace_option
@json_option
def correct(
    fit_file: Path,
    mapping: Path | None,
    output: Path | None,
    method: str,
    changes: tuple[str, ...],
    singular_values: int | None,
    from_zero: bool,
    workspace: str | None,
    as_json: bool,
) -> None:
    """Make of FIT.h5 a change of gradients and skew gradients, which `ringmaster change apply` applies.

    The change goes from where the supplies stand now, in the server's workspace, and keeps their limits: where one
    supply is at its end, others do what they can. What cannot be reached is told:
    sextupoles feed down gradients, and there are more of them than quadrupoles.
    """
    keep_to_one_thread()
    from ringmaster.cli.tune_options import progress_bar
    from ringmaster.loco.correct import correct as corrected
    from ringmaster.loco.result import load
    from ringmaster.loco.session import mapping_of
    from ringmaster.twin import load_lattice

    result = load(fit_file)
    path = mapping or (Path(result.mapping) if result.mapping else None)
    if path is None:
        raise click.UsageError("give --mapping: the result does not say which supply is which magnet")
    ring = load_lattice(result.lattice)
    twin, resolved = twin_of(ring, not result.is_6d), mapping_of(ring, path)
    alone = from_zero or (as_json and output is None)
    limits = {} if alone else _limits([name for one in resolved.strengths for name in one.supplies], workspace)
    with progress_bar("matrix of the optics") as progress:
        found = corrected(
            result,
            twin,
            resolved,
            method=method,
            changes=changes or CHANGES,
            singular_values=singular_values,
            limits=limits,
            progress=progress,
        )
    change = _change(fit_file, found, from_zero, workspace) if output is not None or not as_json else None
    if output is not None and change is not None:
        change.save(output)
    if as_json:
        print_json(_as_json(found))
        return
    _tell(found, change, output)


def _limits(supplies: Sequence[str], workspace: str | None) -> dict[str, tuple[float, float]]:
    """How far each may still move, down and up."""
    from ringmaster.fabric.workspace import attach

    left = {}
    with attach(workspace) as ws:
        for name in supplies:
            if name not in ws.supplies:
                continue
            setpoint = ws.supplies[name].setpoint
            low, high, stands = setpoint.limits.control_low, setpoint.limits.control_high, setpoint.number
            if low is not None and high is not None and low <= stands <= high:
                left[name] = (MARGIN * (low - stands), MARGIN * (high - stands))
    return left


def _change(fit_file: Path, found: "Correction", from_zero: bool, workspace: str | None) -> "Change":
    from ringmaster.fabric.workspace import attach
    from ringmaster.moving.change import Change, Move, propose

    title, made_by = f"optics of {fit_file.name}", f"ringmaster loco correct {fit_file}"
    if from_zero:
        return Change(title, made_by, tuple(Move(name, 0.0, value, "A") for name, value in found.values.items()))
    with attach(workspace) as ws:
        return propose(ws, title, made_by, found.values, relative=True)


def _tell(found: "Correction", change: "Change | None", output: Path | None) -> None:
    for kind, values in found.singular_values.items():
        click.echo(f"{kind}: {len(values)} singular values, {found.used[kind]} used")
    largest = sorted(found.values.items(), key=lambda item: -abs(item[1]))[:5]
    click.echo(f"{len(found.values)} supplies move, most of all " + ", ".join(f"{n} by {v:+.3g}" for n, v in largest))
    for line in found.unreached:
        click.echo(line)
    if output is not None and change is not None:
        click.echo(f"{len(change.moves)} moves written to {output}: ringmaster change apply {output}")


def _as_json(found: "Correction") -> dict[str, object]:
    return {
        "supplies": dict(found.values),
        "before": {"beta_beating": list(found.before.beating), "dispersion_off_m": list(found.before.dispersion_m)},
        "after": {"beta_beating": list(found.after.beating), "dispersion_off_m": list(found.after.dispersion_m)},
        "coupling_before": found.coupling[0],
        "coupling_after": found.coupling[1],
        "singular_values": {kind: values.tolist() for kind, values in found.singular_values.items()},
        "singular_values_used": dict(found.used),
        "told": list(found.unreached),
    }

# SPDX-License-Identifier: Apache-2.0
"""`ringmaster plan watch`: a running server beside its prediction, and one move at a time."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import ServerFile, examples, json_option, print_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ringmaster.plan.roles import Role
    from ringmaster.plan.watch import Beside, Move

File = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command(
    "watch",
    epilog=examples(
        "ringmaster plan watch configs/demo.yaml",
        "ringmaster plan watch ring.yaml -w ring --costs costs.json --seconds 10",
        "ringmaster plan watch ring.yaml --apply",
        "ringmaster plan watch ring.yaml --json | jq '.move.reason'",
    ),
)
@click.argument("config", type=ServerFile())
@click.option("-w", "--workspace", metavar="NAME", help="Of the running server; else as CONFIG names it.")
@click.option("--machine", type=File, metavar="FILE", help="hwloc's XML, or a machine in YAML; else this host.")
@click.option("--costs", type=File, metavar="FILE", help="What `ringmaster plan costs` wrote.")
@click.option("--linux", metavar="LIST", help="CPUs that are Linux's, such as 0-3; else the first core or chiplet.")
@click.option(
    "--limit", type=click.FloatRange(0.05, 1.0), default=0.7, show_default=True, help="Highest load of a core."
)
@click.option(
    "--seconds", type=click.FloatRange(0.1, 3600), default=2.0, show_default=True, help="Measures for so long."
)
@click.option("--apply", "apply_it", is_flag=True, help="Write the move into CONFIG, and have the server reload it.")
@json_option
def watch(
    config: Path,
    workspace: str | None,
    machine: Path | None,
    costs: Path | None,
    linux: str | None,
    limit: float,
    seconds: float,
    apply_it: bool,
    as_json: bool,
) -> None:
    """Compare the load of a running server's cores with what is predicted, and propose the one move that helps most.

    It only reads the server's counters. With --apply it writes CONFIG with the role on its new core, and
    `ringmaster reload CONFIG` moves it while the server runs. Look again after a move: its load is then measured.
    """
    from ringmaster.fabric.workspace import attach
    from ringmaster.plan import watch as watching
    from ringmaster.plan.costs import DEFAULT, read_costs
    from ringmaster.plan.demand import read_demand
    from ringmaster.plan.place import Rules, linux_cpus
    from ringmaster.plan.predict import predict
    from ringmaster.plan.roles import dealt_by_file, written_roles
    from ringmaster.plan.setting import cpus, machine_of

    demand, known = read_demand(config), machine_of(machine, None)
    rules = Rules(limit=limit, linux=cpus(linux), keep_queues=True)
    roles, dealt = written_roles(demand), dealt_by_file(demand)
    known.check_cpus([role.core for role in roles], f"{config}: roles")
    prediction = predict(known, demand, read_costs(costs) if costs else DEFAULT, roles, dealt)
    with attach(workspace or demand.workspace) as ws:
        seen = watching.look(ws, seconds)
    rows = watching.compare(prediction, seen)
    move = watching.propose_for(known, demand, rows, seen, linux_cpus(known, rules), rules)
    if as_json:
        print_json(_json(rows, move))
    else:
        _print(rows, move, apply_it)
    if move is not None and apply_it:
        _apply(config, watching.moved(roles, move), dealt, move)


def _json(rows: "Sequence[Beside]", move: "Move | None") -> dict[str, object]:
    from ringmaster.plan.watch import agreement

    return {
        "cores": {
            str(one.core): {
                "roles": [role.name for role in one.roles],
                "predicted": one.predicted,
                "measured": one.measured,
                "packets_per_s": one.packets_per_s,
                "expected_packets_per_s": one.expected_packets_per_s,
                "ratio": one.ratio,
            }
            for one in rows
        },
        "ratio": agreement(rows),
        "move": None
        if move is None
        else {"role": move.role.name, "core": move.core, "reason": move.reason, "kept": move.kept},
    }


def _print(rows: "Sequence[Beside]", move: "Move | None", apply_it: bool) -> None:
    from ringmaster.doctor.show import console
    from ringmaster.plan.show import beside_table, move_lines

    out = console()
    out.print(beside_table(rows))
    out.print()
    for line in move_lines(rows, move, apply_it):
        out.print(line)


def _apply(config: Path, roles: "Sequence[Role]", dealt: "Mapping[str, int]", move: "Move") -> None:
    """The file first: a server that is started anew shall come up with the move."""
    from ringmaster.errors import WorkspaceError
    from ringmaster.fabric.commands import CommandRefused
    from ringmaster.fabric.config_file import split
    from ringmaster.plan.apply import planned_text
    from ringmaster.programs.reload import reload

    if split(config)[1] is not None:
        raise click.ClickException(f"{config} is of one of two servers: write the move into the file by hand")
    text = planned_text(config, roles, dealt)
    before = config.with_name(config.name + ".before")
    before.write_text(config.read_text())
    config.write_text(text)
    click.echo(f"{config} is written, {before} is as it was", err=True)
    if not move.kept:
        click.echo("the server has to be started anew for it: it keeps no such core", err=True)
        return
    try:
        done = reload(config)
    except (CommandRefused, WorkspaceError) as error:
        before.replace(config)
        raise click.ClickException(f"{config} is as it was: the server did not make the move: {error}") from None
    for one in done:
        click.echo(f"{one.kind} has moved from core {one.before} to core {one.after}", err=True)

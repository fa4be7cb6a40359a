# SPDX-License-Identifier: Apache-2.0
"""`ringmaster plan`: which core does what, how loaded it will be, and what does not fit."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringmaster.cli.first_word import or_command
from ringmaster.cli.options import ServerFile, examples, json_option, plot_option, print_json, print_plot
from ringmaster.cli.plan_costs import costs as costs_command
from ringmaster.cli.plan_watch import watch

if TYPE_CHECKING:
    from ringmaster.plan.demand import Demand
    from ringmaster.plan.judge import Judged

MEANINGS = """\b
Exit codes:
  0 it fits   1 it does not, or a file is wrong   2 wrong usage

"""
File = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command(
    cls=or_command(watch, costs_command),
    epilog=MEANINGS
    + examples(
        "ringmaster plan configs/demo.yaml",
        "ringmaster plan configs/machines/elettra2.yaml --machine configs/machines/epyc-9755-dual.yaml --plot plan.png",
        "lstopo --of xml server.xml                # there; then here:",
        "ringmaster plan ring.yaml --machine server.xml --cards cards.yaml --apply planned.yaml",
        "ringmaster plan costs -o costs.json        # on a machine of the kind",
        "ringmaster plan ring.yaml --costs costs.json --json | jq '.receive_cores, .load'",
        "ringmaster plan watch planned.yaml",
    ),
)
@click.argument("config", type=ServerFile())
@click.option("--machine", type=File, metavar="FILE", help="hwloc's XML, or a machine in YAML; else this host.")
@click.option("--cards", type=File, metavar="FILE", help="YAML: cards, slots and memory that the topology lacks.")
@click.option("--costs", type=File, metavar="FILE", help="What `ringmaster plan costs` wrote there.")
@click.option("--linux", metavar="LIST", help="CPUs that are Linux's, such as 0-3; else the first core or chiplet.")
@click.option("--beside", type=File, multiple=True, metavar="CONFIG", help="Another server of that host; may repeat.")
@click.option(
    "--limit", type=click.FloatRange(0.05, 1.0), default=0.7, show_default=True, help="Highest load of a core."
)
@click.option(
    "--apply", "out", type=click.Path(path_type=Path), metavar="OUT", help="Write CONFIG with roles as planned."
)
@plot_option
@json_option
def plan(
    config: Path,
    machine: Path | None,
    cards: Path | None,
    costs: Path | None,
    linux: str | None,
    beside: tuple[Path, ...],
    limit: float,
    out: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Plan which core does what: receive cores on their card's socket and chiplet, none of Linux's cores, no second
    hardware thread of a polling core, a loop's parts in one cache.

    It predicts the load of each core, bytes a second of memory, links and slots, and latency; says what does not fit,
    why, and what it would cost to add. CONFIG is not changed, nor anything of the host: --apply writes another file,
    with `spare_cores` beside the roles: `ringmaster reload` may move roles there while the server runs.

    `ringmaster plan watch CONFIG` compares the prediction with a server that runs, and proposes one move at a time.
    """
    judged = _judged(config, machine, cards, costs, linux, beside, limit)
    if plot is not None:
        from ringmaster.plan.draw import draw

        draw(judged, plot)
    if out is not None:
        _apply(judged, config, out)
    if as_json:
        print_json(_json(judged))
    else:
        _print(judged)
        print_plot(plot)
        if out is not None:
            click.echo(f"configuration written to {out}")
    if not judged.fits:
        sys.exit(1)


def _judged(
    config: Path,
    machine: Path | None,
    cards: Path | None,
    costs: Path | None,
    linux: str | None,
    beside: tuple[Path, ...],
    limit: float,
) -> "Judged":
    from ringmaster.plan.costs import DEFAULT, read_costs
    from ringmaster.plan.demand import read_demand
    from ringmaster.plan.judge import judge
    from ringmaster.plan.place import Rules, make_plan
    from ringmaster.plan.setting import cpus, machine_of

    demand = read_demand(config)
    taken, said = _others(demand, beside, here=machine is None)
    rules = Rules(limit=limit, linux=cpus(linux), taken=taken)
    made = make_plan(machine_of(machine, cards), demand, read_costs(costs) if costs else DEFAULT, rules, said)
    return judge(made)


def _others(demand: "Demand", beside: tuple[Path, ...], here: bool) -> tuple[tuple[int, ...], list[str]]:
    from ringmaster.plan import others

    planned, said = others.planned(demand, beside)
    running, also = others.running(demand) if here else ({}, [])
    return tuple(sorted({*planned, *running})), said + also


def _apply(judged: "Judged", config: Path, out: Path) -> None:
    from ringmaster.plan.apply import planned_text, spare_cores

    if not judged.fits:
        raise click.ClickException(
            f"{out} was not written: {judged.misfits[0].what} does not fit ({judged.misfits[0].why}); "
            f"`ringmaster plan {config}` says what to add"
        )
    out.write_text(planned_text(config, judged.plan.roles, judged.plan.dealt, spare_cores(judged.plan)))


def _json(judged: "Judged") -> dict[str, object]:
    from ringmaster.plan.show import as_json

    return as_json(judged)


def _print(judged: "Judged") -> None:
    from ringmaster.doctor.show import console
    from ringmaster.plan import show

    out = console()
    for line in (*show.head(judged), *show.misfits(judged)):
        out.print(line)
    for table in (show.cores_table(judged), show.flows_table(judged)):
        out.print()
        out.print(table)
    out.print()
    for line in show.tail(judged):
        out.print(line)

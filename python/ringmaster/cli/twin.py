# SPDX-License-Identifier: Apache-2.0
"""`ringmaster twin`: what a lattice amounts to."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ringmaster.cli.first_word import or_command
from ringmaster.cli.options import examples, json_option, plot_option, print_json, print_plot
from ringmaster.cli.twin_follow import follow
from ringmaster.cli.twin_whatif import what_if

if TYPE_CHECKING:
    from rich.table import Table

    from ringmaster.twin.lattice import Lattice
    from ringmaster.twin.report import Report


def _load(path: str, use: str | None, variable: str | None, energy: float | None) -> "Lattice":
    from ringmaster.twin.lattice import load_lattice

    return load_lattice(path, use=use, variable=variable, energy=energy)


def _complete_lattice(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the lattices that we ship, and files."""
    from ringmaster.twin.shipped import shipped_lattices

    words = [follow.name or "", what_if.name or "", *shipped_lattices()]
    names = [CompletionItem(name) for name in words if name.startswith(incomplete)]
    return [*names, CompletionItem(incomplete, type="file")]


def _complete_element(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the lattice's elements. Of an unfinished line click leaves LATTICE among the arguments."""
    given = context.params
    path = given.get("lattice") or next(iter(context.args), None)
    if path is None:
        return []
    try:
        families = _load(path, given.get("use"), given.get("variable"), given.get("energy")).families
    except (OSError, RuntimeError):
        return []
    return [CompletionItem(name) for name in families if name.startswith(incomplete)]


@click.command(
    cls=or_command(follow, what_if),
    epilog=examples(
        "ringmaster twin elettra2_like",
        "ringmaster twin elettra2.mat --plot optics.png",
        "ringmaster twin elettra2.mat --at 'BPM*' --at IDMARK",
        "ringmaster twin ring.madx --use RING --4d",
        "ringmaster twin ring.lte --use RING --energy 2.4e9",
        "ringmaster twin elettra2.mat --json | jq .envelope.emittances",
        "ringmaster twin follow --help",
        "ringmaster twin what-if --help",
    ),
)
@click.argument("lattice", type=click.Path(), shell_complete=_complete_lattice)
@click.option("--4d", "flat", is_flag=True, help="Cavities and radiation off.")
@click.option("--use", metavar="SEQUENCE", help="Of MAD-X, elegant, xsuite: the sequence or line to take.")
@click.option("--energy", type=float, metavar="EV", help="Of a .lte file, which does not tell it.")
@click.option("--variable", metavar="NAME", help="Of a .mat file: the variable that holds the lattice.")
@click.option(
    "--at", "patterns", multiple=True, metavar="PATTERN", shell_complete=_complete_element, help="Elements to look at."
)
@plot_option
@json_option
def twin(
    lattice: str,
    flat: bool,
    use: str | None,
    energy: float | None,
    variable: str | None,
    patterns: tuple[str, ...],
    plot: Path | None,
    as_json: bool,
) -> None:
    """Compute the parameters and the optics of LATTICE: a .mat, .m, .madx, .seq or .lat file, or elettra2_like.

    Where pyAT is installed, .json (pyAT, xsuite) and .lte (elegant) files, too.

    With a cavity in 6D with radiation, else, or with --4d, in 4D. --at adds a table of the optics at the entrance of
    every element whose name matches, --plot draws β, dispersion, closed orbit and beam sizes along the ring.

    `ringmaster twin follow LATTICE` follows a running machine instead; `ringmaster twin what-if LATTICE` tells what a
    change of supplies would do.
    """
    from ringmaster.twin import Twin
    from ringmaster.twin.plot import draw
    from ringmaster.twin.report import Report

    machine = Twin(_load(lattice, use, variable, energy))
    if flat or not len(machine.lattice.get_cavities()):
        machine.disable_6d()
    else:
        machine.enable_6d()
    report = Report.of(machine)
    chosen = report.named(patterns)
    if plot is not None:
        draw(report, plot)
    if as_json:
        print_json(report.as_json(chosen))
        return
    _print(report, [report.point(int(i)) for i in chosen])
    print_plot(plot)


def _print(report: "Report", points: list[dict[str, Any]]) -> None:
    import sys

    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    lattice = report.twin.lattice
    console.print(f"[bold]{lattice.name or 'lattice'}[/]  {_kinds(lattice)}")
    console.print(_parameters(report))
    if not report.twin.is_6d:
        console.print("4D: no cavity is on, so there is no synchrotron motion and no equilibrium beam")
    if points:
        console.print(_points(points))


def _kinds(lattice: "Lattice") -> str:
    from ringmaster.twin.elements import Kind

    shown = {"BPMs": Kind.MONITOR, "correctors": Kind.CORRECTOR, "cavities": Kind.CAVITY}
    counts = [f"{len(lattice.find(kind=kind))} {name}" for name, kind in shown.items()]
    return ", ".join([f"{len(lattice)} elements", *counts])


def _table(*columns: str) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column.removeprefix(">"), justify="right" if column.startswith(">") else "left", no_wrap=True)
    return table


def _parameters(report: "Report") -> "Table":
    lattice, integrals, envelope = report.twin.lattice, report.integrals, report.envelope
    table = _table("\nPARAMETER", ">\nBY INTEGRALS", *([] if envelope is None else [">\nBY ENVELOPE"]), "\nUNIT")

    def row(name: str, unit: str, first: Any, second: Any = None, scale: float = 1.0, form: str = ".6g") -> None:
        cells = [_cell(first, scale, form), *([] if envelope is None else [_cell(second, scale, form)])]
        table.add_row(name, *cells, unit)

    def both(name: str, unit: str, key: str, scale: float = 1.0, form: str = ".6g") -> None:
        row(name, unit, getattr(integrals, key), getattr(envelope, key, None), scale, form)

    row("energy", "GeV", lattice.energy, scale=1e-9)
    row("circumference", "m", lattice.circumference, form=".9g")
    row("revolution frequency", "MHz", lattice.revolution_frequency, scale=1e-6, form=".9g")
    row("tunes x, y, s", "", integrals.tunes, getattr(envelope, "tunes6", None), form=".6f")
    row("with integers", "", integrals.fulltunes, form=".6f")
    row("chromaticities x, y", "", integrals.chromaticities, form=".4f")
    both("momentum compaction", "10⁻⁶", "alphac", 1e6)
    both("energy loss per turn", "keV", "U0", 1e-3)
    first, second = (None if way is None else way.emittances for way in (integrals, envelope))
    row("emittances x, y", "pm rad", None if first is None else first[:2], None if second is None else second[:2], 1e12)
    row("emittance s", "µm rad", None if first is None else first[2], None if second is None else second[2], 1e6)
    both("energy spread", "10⁻³", "sigma_e", 1e3)
    both("bunch length", "mm", "sigma_l", 1e3)
    both("damping times x, y, s", "ms", "Tau", 1e3, ".5g")
    both("damping partition x, y, s", "", "J", form=".5f")
    both("voltage", "MV", "voltage", 1e-6)
    both("synchronous phase", "rad", "phi_s")
    both("synchrotron frequency", "kHz", "f_s", 1e-3)
    units = ("m", "1/m", "1/m²", "1/m", "1/m")
    for i, unit in enumerate(units, 1):
        row(f"radiation integral I{i}", unit, getattr(integrals, f"i{i}"))
    return table


def _cell(value: Any, scale: float, form: str) -> str:
    """A number or several; – where there is none."""
    if value is None:
        return ""
    numbers = [float(number) * scale for number in ([value] if isinstance(value, int | float) else value)]
    return "  ".join("–" if number != number else format(number, f"z{form}") for number in numbers)


def _points(points: list[dict[str, Any]]) -> "Table":
    """A row for each; what this ring does not have is no column."""
    columns: dict[str, tuple[tuple[str, str], float, str]] = {
        "beta_m": ((">βx\nm", ">βy\nm"), 1.0, ".4f"),
        "alpha": ((">αx\n", ">αy\n"), 1.0, ".4f"),
        "phase_turns": ((">µx\n2π", ">µy\n2π"), 1.0, ".5f"),
        "dispersion_m": ((">Dx\nmm", ">Dy\nmm"), 1e3, ".3f"),
        "orbit_m": ((">x\nµm", ">y\nµm"), 1e6, ".2f"),
        "size_m": ((">σx\nµm", ">σy\nµm"), 1e6, ".2f"),
    }
    given = {key: column for key, column in columns.items() if points[0][key] is not None}
    table = _table("\nELEMENT", ">\nINDEX", ">s\nm", *(name for names, _, _ in given.values() for name in names))
    for point in points:
        cells = [point["name"], str(point["index"]), f"{point['s_m']:.4f}"]
        for key, (_, scale, form) in given.items():
            cells += [_cell(value, scale, form) for value in point[key]]
        table.add_row(*cells)
    return table

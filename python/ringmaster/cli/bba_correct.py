# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bba correct`."""

from pathlib import Path

import click

from ringmaster.cli.bba_options import file_argument, found_in, lattice_option, mapping_option
from ringmaster.cli.options import examples, workspace_option


@click.command(
    epilog=examples(
        "ringmaster bba correct bba.h5 --change golden.yaml",
        "ringmaster change apply golden.yaml",
        "ringmaster change undo golden.yaml",
        "ringmaster bba correct bba.h5 --golden golden.csv",
        "ringmaster bba correct bba.h5 --table calibration.csv --before old.csv",
    )
)
@file_argument
@lattice_option
@mapping_option
@click.option("--change", type=click.Path(path_type=Path), metavar="FILE", help="The golden orbit, as a change.")
@click.option(
    "--golden",
    "orbit",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="An orbit, for `orbit correct` (NAME,nm).",
)
@click.option("--application", default="feedback", show_default=True, metavar="NAME", help="Whose golden orbit.")
@click.option("--table", "out", type=click.Path(path_type=Path), metavar="FILE", help="A table of calibrations (CSV).")
@click.option(
    "--before", type=click.Path(path_type=Path, exists=True), metavar="FILE", help="The table that is to get them."
)
@click.option(
    "--most", "most_um", type=click.FloatRange(0), default=20.0, show_default=True, help="Error of an offset, µm."
)
@workspace_option
def correct(
    file: Path,
    lattice: str | None,
    mapping: Path | None,
    change: Path | None,
    orbit: Path | None,
    application: str,
    out: Path | None,
    before: Path | None,
    most_um: float,
    workspace: str | None,
) -> None:
    """Write the offsets in FILE as a change of the golden orbit, as an orbit to correct to, as a table of calibrations.

    Nothing is moved: `ringmaster change apply` puts the change in, and `ringmaster change undo` takes it back. A
    server reads the table when it starts. Offsets that something speaks against, or with larger errors, stay out. Use
    one of both: calibrated readings have their zero in the centre, golden orbits are of raw ones.
    """
    from ringmaster.programs.threads import keep_to_one_thread

    keep_to_one_thread()
    from ringmaster.bba.correct import golden, read_table, save_orbit, table
    from ringmaster.bba.report import UM, usable

    if change is None and out is None and orbit is None:
        raise click.UsageError("nothing to write: give --change FILE, --golden FILE, --table FILE, or several")
    found, model, _ = found_in(file, lattice, mapping)
    rows = model.mapping.rows
    chosen = [one for one in usable(found) if max(one.total_nm) * UM <= most_um]
    left_out = len(rows) // 2 - len(chosen)
    if out is not None:
        text = table(read_table(before), chosen, rows, str(before))
        out.write_text(text, encoding="utf-8")
        click.echo(f"{out}: offsets of {len(chosen)} BPMs; check it by `ringmaster calibration check`")
    if orbit is not None:
        save_orbit(orbit, chosen, rows, f"centres of magnets by {file}, nm")
        click.echo(f"{orbit}: orbit through the centres at {len(chosen)} BPMs")
    if change is not None:
        from ringmaster.fabric.workspace import attach
        from ringmaster.moving.change import propose

        with attach(workspace) as ws:
            values = golden(ws, application, chosen, rows)
            made = propose(ws, "golden orbit by beam-based alignment", f"ringmaster bba correct {file}", values)
        made.save(change)
        click.echo(f"{change}: {len(made.moves)} readings; `ringmaster change apply {change}` puts them in")
    if left_out:
        click.echo(f"{left_out} BPMs stay as they are: `ringmaster bba report {file}` says why")

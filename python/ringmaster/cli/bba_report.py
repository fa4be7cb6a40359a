# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bba report`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringmaster.cli.bba_options import file_argument, found_in, lattice_option, mapping_option
from ringmaster.cli.options import examples, json_option, plot_option, print_json, print_plot

if TYPE_CHECKING:
    from ringmaster.bba.report import Score


@click.command(
    epilog=examples(
        "ringmaster bba report bba.h5",
        "ringmaster bba report bba.h5 --all --plot offsets.png",
        "ringmaster bba report bba.h5 --truth truth.json --json | jq .score",
    )
)
@file_argument
@lattice_option
@mapping_option
@click.option("--all", "whole", is_flag=True, help="Every BPM.")
@click.option(
    "--truth", type=click.Path(path_type=Path, exists=True), metavar="FILE", help="Of a virtual ring: how wrong it is."
)
@plot_option
@json_option
def report(
    file: Path,
    lattice: str | None,
    mapping: Path | None,
    whole: bool,
    truth: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Tell the offsets in FILE, their errors by cause, and what speaks against some of them.

    An offset is what a BPM reads where the beam goes through the centre of its magnet, which is named.
    """
    from ringmaster.programs.threads import keep_to_one_thread

    keep_to_one_thread()
    from ringmaster.bba.draw import draw
    from ringmaster.bba.report import as_json as plain
    from ringmaster.bba.report import score, tell, truth_of

    found, model, machine_s = found_in(file, lattice, mapping)
    rows = model.mapping.rows
    known = None if truth is None else truth_of(truth, model.mapping.bpms)
    scores = [] if known is None else score(found.offsets, known)
    if plot is not None:
        draw(found, plot, known)
    if as_json:
        scored = {} if known is None else {"score": [vars(one) for one in scores]}
        print_json({**plain(found, rows), "machine_s": machine_s, **scored})
        return
    for line in tell(found, rows, whole):
        click.echo(line)
    for one in scores:
        click.echo(_words(one))
    print_plot(plot)


def _words(one: "Score") -> str:
    (x, y), (worst_x, worst_y), (pull_x, pull_y) = one.rms_um, one.worst_um, one.pull
    return (
        f"truth: {one.count} to {one.kind}s are off by {x:.2f} and {y:.2f} µm RMS, {worst_x:.1f} and {worst_y:.1f} µm "
        f"at most; pulls {pull_x:.2f} and {pull_y:.2f}"
    )

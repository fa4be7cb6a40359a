# SPDX-License-Identifier: Apache-2.0
"""`ringmaster premortem`: thresholds of detectors, from what they saw while nothing happened."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import examples, json_option, print_json, workspace_option

if TYPE_CHECKING:
    from ringmaster.premortem.blocks import Blocks

MISSING_MOST = 0.1


@click.group(epilog=examples("ringmaster premortem thresholds --per-day 1 --seconds 9000"), no_args_is_help=True)
def premortem() -> None:
    """Set up detectors that act before the beam is lost (docs/premortem.md)."""


@premortem.command(epilog=examples("ringmaster premortem mask 3 --seconds 2"))
@click.argument("detector", type=click.IntRange(0))
@click.option("--seconds", type=click.FloatRange(0), required=True, help="From the last step on; 0 ends a mask.")
@workspace_option
def mask(detector: int, seconds: float, workspace: str | None) -> None:
    """Mask DETECTOR, by its index from 0, so that it does not alarm for some time."""
    from ringmaster.errors import RequestRefused
    from ringmaster.fabric.workspace import attach
    from ringmaster.premortem import masks

    with attach(workspace) as ws:
        try:
            until = masks.mask(ws, detector, seconds)
        except RequestRefused as error:
            raise click.ClickException(str(error)) from None
    click.echo(f"detector {detector} does not alarm before turn {until}")


@premortem.command(
    epilog=examples(
        "ringmaster premortem thresholds --per-day 1 --seconds 9000",
        "ringmaster premortem thresholds quiet.h5 --per-day 1 --turn-rate 1157000",
        "ringmaster premortem thresholds run --per-day 100 --block 0.01",
    )
)
@click.argument("recording", required=False, type=click.Path(exists=True, path_type=Path))
@workspace_option
@click.option(
    "--per-day", type=click.FloatRange(0, min_open=True), required=True, help="False alarms of each detector."
)
@click.option(
    "--block",
    "block_s",
    type=click.FloatRange(0, min_open=True),
    default=0.1,
    show_default=True,
    metavar="SECONDS",
    help="Time in which several crossings are one; longer than any detector remembers.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    help="How long to watch a workspace.",
)
@click.option("--turn-rate", type=click.FloatRange(0, min_open=True), metavar="HZ", help="The machine's; for a file.")
@click.option(
    "--detectors",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE.yaml",
    help="The application's own file: for the detectors' names.",
)
@json_option
def thresholds(
    recording: Path | None,
    workspace: str | None,
    per_day: float,
    block_s: float,
    seconds: float,
    turn_rate: float | None,
    detectors: Path | None,
    as_json: bool,
) -> None:
    """Propose thresholds that are crossed so often while nothing happens.

    RECORDING is an HDF5 export of the stream NAME/levels, or the folder that `ringmaster simulate --out` left. Without
    one, the premortem of a workspace is watched for --seconds. What happened in that time must be ordinary: real
    events make thresholds too high.

    Assumed is that the machine will be as quiet as it was, that blocks are independent, and that the tail of the
    largest levels goes on as it begins (a generalized Pareto distribution). Exits 1 where the data are too few for
    the rate that is asked for.
    """
    blocks = _blocks(recording, workspace, seconds, turn_rate, block_s)
    if blocks.missing > MISSING_MOST:
        raise click.ClickException(
            f"{100 * blocks.missing:.0f} % of the records are missing: of what is left nothing is concluded"
        )
    rows = _rows(blocks, per_day, _names(detectors))
    if as_json:
        hours = max((len(largest) for largest in blocks.largest.values()), default=0) * blocks.block_s / 3600
        print_json({"per_day": per_day, "block_s": blocks.block_s, "hours": hours, "detectors": rows})
    else:
        _print_table(rows, per_day)
    if any("refused" in row for row in rows):
        sys.exit(1)


def _blocks(
    recording: Path | None, workspace: str | None, seconds: float, turn_rate: float | None, block_s: float
) -> "Blocks":
    from ringmaster.fabric.workspace import attach
    from ringmaster.premortem.blocks import from_file, from_simulation, from_workspace

    if recording is not None and workspace is not None:
        raise click.UsageError("RECORDING and --workspace are two sources: say one of them")
    if recording is not None and recording.is_dir():
        return from_simulation(recording, block_s)
    if recording is not None:
        return from_file(recording, turn_rate, block_s)
    with attach(workspace) as ws:
        return from_workspace(ws, seconds, block_s)


def _names(detectors: Path | None) -> list[str]:
    from ruamel.yaml import YAML

    if detectors is None:
        return []
    written = YAML(typ="safe", pure=True).load(detectors)
    try:
        return [str(detector["name"]) for detector in written["detectors"]]
    except (TypeError, KeyError):
        raise click.ClickException(f"{detectors}: no `detectors` with a `name` each: not a file of premortem") from None


def _rows(blocks: "Blocks", per_day: float, names: list[str]) -> list[dict[str, Any]]:
    from ringmaster.premortem.tail import TooFewError, threshold

    if not blocks.largest:
        raise click.ClickException("no detector had a level: they were learning, or blind")
    rows: list[dict[str, Any]] = []
    for lane, largest in blocks.largest.items():
        index = int(lane[1:])
        row: dict[str, Any] = {"index": index, "name": names[index] if index < len(names) else lane}
        try:
            rows.append(row | asdict(threshold(largest, blocks.block_s, per_day)))
        except TooFewError as error:
            rows.append(row | {"refused": str(error)})
    return rows


def _print_table(rows: list[dict[str, Any]], per_day: float) -> None:
    head = ("DETECTOR", "LARGEST", "THRESHOLD", "90 % WITHIN", "A DAY, 90 %", "SHAPE")
    table = [head] + [_cells(row) for row in rows if "refused" not in row]
    widths = [max(len(cells[i]) for cells in table) for i in range(len(head))]
    click.echo(f"thresholds of {per_day:g} false alarms a day, if the machine stays as it was:")
    for cells in table:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())
    for row in rows:
        if "refused" in row:
            click.echo(f"{row['name']}: none: {row['refused']}")
        elif not row["stationary"]:
            click.echo(f"{row['name']}: its largest levels are not spread evenly over the recording: was it quiet?")


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        row["name"],
        f"{row['largest']:.4g}",
        f"{row['threshold']:.4g}",
        f"{row['low']:.4g} … {row['high']:.4g}",
        f"{row['rate_low_per_day']:.2g} … {row['rate_high_per_day']:.2g}",
        f"{row['shape']:+.2f}",
    )

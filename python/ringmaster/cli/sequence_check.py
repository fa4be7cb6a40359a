# SPDX-License-Identifier: Apache-2.0
"""`ringmaster sequence check` and `plot`: what a file of sequences amounts to, before any machine."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import examples, json_option, print_json, print_plot

if TYPE_CHECKING:
    from ringmaster.sequence.described import Group, Sequence, SequenceFile, State, Variable

NAME_WIDTH, DO_WIDTH = 14, 58
file_argument = click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))


@contextmanager
def errors_by_line() -> Iterator[None]:
    """What is wrong with a file stands on a line each, and ends the command with status 1."""
    from ringmaster.sequence.described import SequenceErrors

    try:
        yield
    except SequenceErrors as error:
        for line in error.lines:
            click.echo(line, err=True)
        raise click.ClickException(
            f"{error.path}: {error.count} error{'s' if error.count != 1 else ''}, listed above"
        ) from None


@click.command(
    epilog=examples(
        "ringmaster sequence check configs/sequence-elettra2.yaml",
        "ringmaster sequence check mine.yaml --json | jq '.sequences[].cost'",
    )
)
@file_argument
@json_option
def check(file: Path, as_json: bool) -> None:
    """Say what the sequences in FILE do: states, actions, ways, timeouts, limits; and all that is wrong.

    It needs no machine. Refused are states that nothing leads to or that cannot reach an end, states without a timeout,
    two writers of one supply, setpoints beyond the limits of a group, unknown names. `ringmaster check CONFIG` also
    holds the file against the inputs and supplies of a server's configuration.
    """
    from ringmaster.sequence.described import compile_file, read_sequences

    if as_json:
        compiled = compile_file(file)
        print_json(compiled)
        sys.exit(1 if compiled["error_count"] else 0)
    with errors_by_line():
        read = read_sequences(file)
    for line in lines_of(read):
        click.echo(line)


def lines_of(file: "SequenceFile") -> list[str]:
    """The screen."""
    states = sum(len(sequence.states) for sequence in file.sequences)
    most = max(sequence.cost for sequence in file.sequences)
    lines = [f"{file.path}: {len(file.sequences)} sequences, {states} states; a step takes {most} operations at most"]
    for sequence in file.sequences:
        lines += ["", *_of_sequence(sequence)]
    lines += ["", "supplies", *map(_of_group, file.groups)]
    if file.inputs or file.parameters:
        looked = [*file.inputs.items(), *file.parameters.items()]
        lines += ["", "looks at", *(f"  {name:<{NAME_WIDTH}} {what}" for name, what in looked)]
    if file.variables:
        lines += ["", "variables", *map(_of_variable, file.variables)]
    if file.beam_lost:
        lines += ["", f"any of them aborts when {file.beam_lost}"]
    if file.remarks:
        lines += ["", "to think about:", *(f"  {remark}" for remark in file.remarks)]
    return lines


def _of_sequence(sequence: "Sequence") -> list[str]:
    longest = "" if sequence.timeout_s is None else f", at most {sequence.timeout_s:g} s"
    head = [f"{sequence.number} {sequence.name}{longest}, {sequence.cost} operations a step"]
    if sequence.description:
        head.append(f"  {sequence.description}")
    if sequence.enable:
        head.append(f"  while {sequence.enable}")
    out = sequence.abort or "ends at once, supplies stay"
    head.append(f"  abort, timeout, lost enable or beam → {out}")
    return [*head, *(line for state in sequence.states for line in _of_state(state))]


def _of_state(state: "State") -> list[str]:
    """Actions on the left, ways out on the right."""
    ways = [f"→ {way.to}" + ("" if way.when == "done" else f" when {way.when}") for way in state.then]
    if state.on_timeout:
        ways.append(f"→ {state.on_timeout} after its timeout")
    if state.end:
        ways = [f"end: {state.end}"]
    within = "" if state.timeout_s is None else f"{state.timeout_s:g} s"
    done = [line for words in state.do for line in wrap(words, DO_WIDTH, subsequent_indent="  ")]
    rows = max(len(done), len(ways), 1)
    lines = []
    for row in range(rows):
        name = state.name if row == 0 else ""
        do = done[row] if row < len(done) else ""
        way = ways[row] if row < len(ways) else ""
        lines.append(f"    {name:<{NAME_WIDTH}} {within if row == 0 else '':>6}  {do:<{DO_WIDTH}}  {way}".rstrip())
    return lines


def _of_group(group: "Group") -> str:
    low, high = ("" if limit is None else f"{limit:g}" for limit in (group.low, group.high))
    limits = f"{low or 'their own'} … {high or 'their own'}" if low or high else "their own limits"
    return f"  {group.name:<{NAME_WIDTH}} {', '.join(group.supplies):<40} {limits}"


def _of_variable(one: "Variable") -> str:
    unit = f" {one.unit}" if one.unit else ""
    return f"  {one.name:<{NAME_WIDTH}} {one.value:g}{unit}, {one.low:g} … {one.high:g}: {one.description}"


@click.command(
    epilog=examples("ringmaster sequence plot configs/sequence-elettra2.yaml injection_bump -o injection_bump.svg")
)
@file_argument
@click.argument("name", metavar="SEQUENCE")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE.svg", help="Or .png, .pdf."
)
def plot(file: Path, name: str, output: Path) -> None:
    """Draw the chart of a SEQUENCE in FILE: its states, what they do, and where they lead.

    The first state and the ends have double frames. The state that an abort leads to is red.
    """
    from ringmaster import plots
    from ringmaster.sequence.chart import draw
    from ringmaster.sequence.described import read_sequences

    plots.check(output)
    with errors_by_line():
        draw(read_sequences(file).sequence(name), output)
    print_plot(output)

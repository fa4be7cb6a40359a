# SPDX-License-Identifier: Apache-2.0
"""Man pages of the commands, from their own help: command_pages.py FOLDER VERSION DATE PROGRAM…

One page for `ringmaster`, one for each of its commands and their commands, made of what click knows of them; and one
for each PROGRAM, which is a path: what `PROGRAM --help` prints.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
from roff import bold, definition, escaped, example, heading, page

KEPT = "\b"
"""Begins a paragraph of a help that keeps its lines."""


class Edition(NamedTuple):
    """What stands at the foot of every page."""

    version: str
    date: str


def contexts(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[click.Context]:
    """A command, and all below it."""
    context = click.Context(command, info_name=name, parent=parent, **command.context_settings)
    yield context
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            if found is not None and not found.hidden:
                yield from contexts(found, below, context)


def page_name(context: click.Context) -> str:
    """The name under which `man` finds it."""
    return context.command_path.replace(" ", "-")


def command_page(context: click.Context, edition: Edition) -> str:
    """The page of one command."""
    command = context.command
    name = page_name(context)
    lines = [page(name, "1", *edition), heading("Name")]
    lines.append(f"{escaped(name)} \\- {escaped(_first_sentence(command.help or ''))}")
    lines += [heading("Synopsis"), bold(context.command_path), escaped(" ".join(command.collect_usage_pieces(context)))]
    described, titled = _paragraphs(f"{command.help or ''}\n\n{command.epilog or ''}")
    lines += [heading("Description"), *described]
    options = [record for one in command.get_params(context) if (record := one.get_help_record(context))]
    if options:
        lines.append(heading("Options"))
        lines += [line for term, text in options for line in definition(term, text)]
    if isinstance(command, click.Group):
        lines += [heading("Commands"), *_commands(context, command)]
    for title, example_lines in titled:
        lines += [heading(title), *example(example_lines)]
    if context.parent:
        lines += [heading("See also"), f".BR {escaped(page_name(context.parent))} (1)"]
    return "\n".join(lines) + "\n"


def _first_sentence(text: str) -> str:
    words = " ".join(text.split("\n\n")[0].replace(KEPT, " ").split())
    return words.split(". ")[0].rstrip(".:")


def _paragraphs(text: str) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """What describes the command; and titled lists, such as examples, each of which is a section."""
    described: list[str] = []
    titled: list[tuple[str, list[str]]] = []
    for block in text.replace("\f", "").split("\n\n"):
        lines = [line for line in block.split("\n") if line.strip() not in ("", KEPT)]
        if not lines:
            continue
        if KEPT not in block:
            described += [".PP", *(escaped(line.strip()) for line in lines)]
        elif lines[0].rstrip().endswith(":"):
            indent = min((len(line) - len(line.lstrip()) for line in lines[1:]), default=0)
            titled.append((lines[0].strip(" :"), [line[indent:] for line in lines[1:]]))
        else:
            described += example(lines)
    return described, titled


def _commands(context: click.Context, group: click.Group) -> Iterator[str]:
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if found is not None and not found.hidden:
            yield from (".TP", f"\\fB{escaped(f'{page_name(context)}-{name}')}\\fR(1)")
            yield escaped(_first_sentence(found.help or ""))


def program_page(program: Path, edition: Edition) -> str:
    """The page of a C program: its help as it is."""
    told = subprocess.run([program, "--help"], check=True, capture_output=True, text=True, timeout=60).stdout
    name = program.name
    lines = [page(name, "1", *edition), heading("Name"), f"{escaped(name)} \\- a program of Ringmaster"]
    lines += [heading("Description"), *example(told.rstrip("\n").split("\n"))]
    lines += [heading("See also"), ".BR ringmaster (1)"]
    return "\n".join(lines) + "\n"


def main(folder: Path, edition: Edition, programs: list[Path]) -> None:
    """Writes all pages into the folder."""
    from ringmaster.cli.main import cli

    folder.mkdir(parents=True, exist_ok=True)
    for context in contexts(cli, "ringmaster"):
        (folder / f"{page_name(context)}.1").write_text(command_page(context, edition))
    for program in programs:
        (folder / f"{program.name}.1").write_text(program_page(program, edition))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Edition(sys.argv[2], sys.argv[3]), [Path(name) for name in sys.argv[4:]])

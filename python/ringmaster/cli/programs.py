# SPDX-License-Identifier: Apache-2.0
"""Commands that are programs of their own, written in C: this process becomes them."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import click

from ringmaster.cli.options import examples


class ProgramMissing(click.ClickException):
    """A program of ours is not where it should be; the exit code is the shell's own for this."""

    exit_code = 127


def locate(program: str) -> str:
    """Path of ``program`` in $RINGMASTER_LIBEXEC, or on the PATH."""
    from ringmaster.places import ProgramNotFound, find_program

    try:
        return find_program(program)
    except ProgramNotFound as error:
        raise ProgramMissing(str(error)) from error


def become(program: str, *arguments: str) -> NoReturn:
    """Replaces this process by ``program``."""
    path = locate(program)
    sys.stdout.flush()
    os.execv(path, [program, *arguments])


@click.command(epilog=examples("ringmaster run configs/demo.yaml"))
@click.argument("config", type=click.Path())
def run(config: str) -> None:
    """Run the server described in CONFIG until it is stopped; FILE@NAME is one of the two servers of a pair's file."""
    become("ringmaster-server", "run", config)


@click.command(epilog=examples("ringmaster check configs/demo.yaml"))
@click.argument("config", type=click.Path())
def check(config: str) -> None:
    """Check CONFIG and say what it amounts to, without starting anything; a pair's file for both of its servers."""
    become("ringmaster-server", "check", config)


@click.command(
    epilog=examples(
        "ringmaster virtual configs/demo.yaml configs/demo-ring.yaml",
        "ringmaster virtual configs/demo.yaml configs/demo-ring.yaml --check",
        "ringmaster virtual configs/loopback.yaml --turn-rate 1000 --seconds 5 --json",
        "ringmaster virtual configs/supplies.yaml --ports supplies",
    )
)
@click.argument("config", type=click.Path())
@click.argument("overlay", type=click.Path(), required=False)
@click.option("--check", "check_only", is_flag=True, help="Only check both files and say what they amount to.")
@click.option("--ports", metavar="LIST", help="Be the other end of these ports of CONFIG alone, with commas between.")
@click.option("--turn-rate", metavar="HZ", help="Instead of CONFIG's; 0: as fast as the link takes it.")
@click.option("--turns", metavar="N", help="End after so many turns.")
@click.option("--seconds", metavar="S", help="End after so long.")
@click.option("--core", metavar="N", help="Run on this CPU, instead of OVERLAY's.")
@click.option("--truth", type=click.Path(), metavar="FILE", help="Write all drawn errors there, for a test to score.")
@click.option(
    "--checkpoint",
    type=click.Path(),
    metavar="FILE",
    help="Of a living machine: go on from FILE, if it is there, and write it in the end.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary at the end as JSON.")
def virtual(
    config: str, overlay: str | None, check_only: bool, ports: str | None, as_json: bool, **given: str | None
) -> None:
    """Send the datagrams of the machine that CONFIG describes until stopped.

    CONFIG is the server's own file: the virtual ring is the other end of its ports, and has its instruments and chains.
    Of a pair's file it is the other end of both servers, and FILE@NAME is of one of them.
    OVERLAY says what only a virtual ring has: its beam, its faults, what its supplies are like, the lattice behind it.
    """
    files = [config] if overlay is None else [config, overlay]
    chosen = [] if ports is None else ["--ports", ports]
    if check_only:
        become("ringmaster-instruments", "check", *files, *chosen)
    options = [word for name, value in given.items() if value is not None for word in (option_of(name), value)]
    become("ringmaster-instruments", "run", *files, *chosen, *options, *(["--json"] if as_json else []))


def option_of(name: str) -> str:
    """The option's name on the command line."""
    return "--" + name.replace("_", "-")


@click.command(epilog=examples("ringmaster application configs/supplies.yaml ramp"))
@click.argument("config", type=click.Path())
@click.argument("name")
@click.option("--fresh", is_flag=True, help="Begin with CONFIG's settings, also after a crash.")
def application(config: str, name: str, fresh: bool) -> None:
    """Run the application NAME of the server's CONFIG, in a process of its own, until it is stopped."""
    become("ringmaster-application", config, name, *(["--fresh"] if fresh else []))


@click.command(
    epilog=examples("ringmaster record configs/record.yaml", "ringmaster record configs/record.yaml --check")
)
@click.argument("config", type=click.Path())
@click.option("--check", "check_only", is_flag=True, help="Only check CONFIG and say what it amounts to.")
@click.option("--json", "as_json", is_flag=True, help="Print what came of it as JSON in the end.")
def record(config: str, check_only: bool, as_json: bool) -> None:
    """Record streams and events of a workspace into an archive, as CONFIG says, until it is stopped.

    --check refuses all that the start of the recorder or of `ringmaster postmortem watch` would refuse in CONFIG.
    """
    if not check_only:
        become("ringmaster-record", "run", config, *(["--json"] if as_json else []))
    checked = subprocess.run([locate("ringmaster-record"), "check", config], check=False).returncode
    if checked != 0:
        sys.exit(checked)
    from ringmaster.postmortem.checking import check as check_postmortem

    for line in check_postmortem(Path(config)):
        click.echo(line)

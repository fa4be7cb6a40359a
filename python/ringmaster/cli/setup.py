# SPDX-License-Identifier: Apache-2.0
"""`ringmaster setup`: what this host needs for a configuration; applies it, undoes it."""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import examples, json_option, print_json

if TYPE_CHECKING:
    from ringmaster.doctor.host import Host
    from ringmaster.setup.plan import Plan
    from ringmaster.setup.run import Outcome
    from ringmaster.setup.writer import Writer

USES = ("try", "ingest", "feedback")
"""As ringmaster.doctor.uses has them."""


@click.command(
    epilog="""\b
Exit codes:
  0 shown, or all done   1 something failed or is refused   2 wrong usage

"""
    + examples(
        "ringmaster setup /etc/ringmaster/ring.yaml",
        "sudo ringmaster setup /etc/ringmaster/ring.yaml --apply",
        "sudo ringmaster setup --undo",
        "ringmaster setup ring.yaml --json | jq '.steps[] | select(.state == \"to do\")'",
        "ringmaster setup ring.yaml --root /mnt/image --apply",
    )
)
@click.argument("config", required=False, type=click.Path(path_type=Path), metavar="[CONFIG]")
@click.option("--apply", "wants_apply", is_flag=True, help="Make the changes. Each is written down first.")
@click.option("--undo", "wants_undo", is_flag=True, help="Put back all that --apply changed, also half way.")
@click.option("--boot", "wants_boot", is_flag=True, hidden=True, help="As ringmaster-host.service does at each boot.")
@click.option("--for", "use", type=click.Choice(USES), help="What the host is for; else as CONFIG has it.")
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path("/"),
    metavar="DIR",
    help="A folder with a host's files instead of this host; its commands are listed, and not run.",
)
@click.option("-v", "--verbose", is_flag=True, help="Say of each step why, and all its changes.")
@json_option
def setup(
    config: Path | None,
    wants_apply: bool,
    wants_undo: bool,
    wants_boot: bool,
    use: str | None,
    root: Path,
    verbose: bool,
    as_json: bool,
) -> None:
    """Show what this host needs for a server's CONFIG, and what it has; --apply changes it, --undo puts it back.

    Large pages, cards for DPDK, isolated cores without ticks and interrupts, governors, kernel parameters, limits, and
    the unit ringmaster@NAME. Never takes a card that must stay. What needs a reboot says so.
    """
    if wants_apply + wants_undo + wants_boot > 1:
        raise click.UsageError("--apply and --undo were given, expected one of them")
    if config is None and not (wants_undo or wants_boot):
        raise click.UsageError("no CONFIG, expected the server's configuration; --undo alone needs none")
    host, writer = _host(root), _writer(root)
    if (wants_apply or wants_undo or wants_boot) and not writer.is_tree and os.geteuid() != 0:
        raise click.ClickException("changing a host needs root: sudo ringmaster setup …; without --apply it is shown")
    if wants_undo or wants_boot:
        _undo_or_boot(host, writer, config, wants_boot, as_json)
    elif config is not None:
        _show_or_apply(host, writer, _plan(host, config, use), wants_apply, verbose, as_json)


def _host(root: Path) -> "Host":
    from ringmaster.doctor.host import Host

    if root == Path("/"):
        return Host()
    from ringmaster.setup.tree import Silent, no_wait

    return Host(root, Silent(), no_wait)


def _writer(root: Path) -> "Writer":
    from ringmaster.setup.writer import Writer

    return Writer(is_tree=root != Path("/"))


def _plan(host: "Host", config: Path, use: str | None) -> "Plan":
    from ringmaster.doctor.setting import read_setting
    from ringmaster.doctor.uses import Use
    from ringmaster.fabric.config_file import split
    from ringmaster.setup.journal import read
    from ringmaster.setup.needs import huge_bytes
    from ringmaster.setup.plan import make_plan
    from ringmaster.setup.staying import ssh_connection

    try:
        setting = read_setting(config, host)
        setting = replace(setting, use=Use(use) if use else setting.use)
        name = split(config)[0].stem
        takes = huge_bytes(config, host, len(setting.cards))
        return make_plan(host, str(config.absolute()), name, setting, read(host), ssh_connection(), takes)
    except (OSError, ValueError) as error:
        raise click.UsageError(str(error)) from error


def _show_or_apply(
    host: "Host", writer: "Writer", plan: "Plan", wants_apply: bool, verbose: bool, as_json: bool
) -> None:
    from ringmaster.setup.journal import read
    from ringmaster.setup.run import apply
    from ringmaster.setup.show import print_plan

    if not wants_apply:
        journal = read(host)
        if as_json:
            print_json(_plan_json(plan) | {"half_applied": journal is not None and not journal.complete})
        else:
            print_plan(plan, journal, verbose)
        return
    try:
        outcomes = apply(host, writer, plan, _teller(as_json))
    except KeyboardInterrupt:
        raise click.ClickException("half applied: --apply goes on, ringmaster setup --undo puts all back") from None
    _end(outcomes, writer, as_json, plan)


def _undo_or_boot(host: "Host", writer: "Writer", config: Path | None, wants_boot: bool, as_json: bool) -> None:
    from ringmaster.setup.journal import read
    from ringmaster.setup.run import put_back, undo

    journal = read(host)
    if config is not None and journal is not None and journal.config != str(config.absolute()):
        raise click.ClickException(f"this host is set up for {journal.config}, not for {config}; nothing was changed")
    act = put_back if wants_boot else undo
    _end(act(host, writer, _teller(as_json)), writer, as_json, None)


def _teller(as_json: bool) -> "Callable[[Outcome], None]":
    from ringmaster.setup.show import print_outcome

    return (lambda _: None) if as_json else print_outcome


def _plan_json(plan: "Plan") -> dict[str, object]:
    return {
        "config": plan.config,
        "use": plan.setting.use,
        "cores": plan.setting.cores,
        "linux": plan.linux,
        "cards": plan.setting.cards,
        "reboot": plan.reboots,
        "refused": plan.refused,
        "steps": [step.as_json() for step in plan.steps],
    }


def _end(outcomes: "list[Outcome]", writer: "Writer", as_json: bool, plan: "Plan | None") -> None:
    """Says what is left to do. Exits with 1 where something failed."""
    from ringmaster.setup.run import End
    from ringmaster.setup.show import print_start

    failed = sum(outcome.end is End.FAILED for outcome in outcomes)
    boots = any(outcome.step == "command-line" or outcome.end is End.LATER for outcome in outcomes)
    if as_json:
        commands = [" ".join(command) for command in writer.not_run]
        changes = [outcome.as_json() for outcome in outcomes]
        print_json({"changes": changes, "failed": failed, "reboot": boots, "not_run": commands})
    else:
        for command in writer.not_run:
            click.echo(f"not run in a folder: {' '.join(command)}")
        done = sum(outcome.end is End.DONE for outcome in outcomes)
        click.echo(f"{done} changes made, {failed} failed" if outcomes else "nothing to do")
        if boots:
            click.echo("reboot: the kernel's command line, or a card, waits for it")
        elif plan is not None and not failed:
            print_start(plan)
    if failed:
        sys.exit(1)

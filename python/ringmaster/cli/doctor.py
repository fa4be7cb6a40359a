# SPDX-License-Identifier: Apache-2.0
"""`ringmaster doctor`: is this host fit for its use?"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from ringmaster.cli.options import examples, json_option, print_json

if TYPE_CHECKING:
    from ringmaster.doctor.findings import Finding
    from ringmaster.doctor.host import Host
    from ringmaster.doctor.setting import Setting

USES = ("try", "ingest", "feedback")
"""As ringmaster.doctor.uses has them."""
MEANINGS = """\b
Uses:
  try       a laptop or a virtual machine with virtual devices
  ingest    a server with network cards that takes every packet
  feedback  hard real time: a loop is closed on isolated cores

\b
Exit codes:
  0 nothing is wrong for this use   1 something is   2 wrong usage

"""


def _complete_check(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from ringmaster.doctor.examine import AREAS, NAMES

    return [CompletionItem(name) for name in (*AREAS, *NAMES) if name.startswith(incomplete)]


@click.command(
    epilog=MEANINGS
    + examples(
        "ringmaster doctor",
        "ringmaster doctor --for feedback --cores 2-5 --cards 0000:03:00.0,0000:03:00.1",
        "ringmaster doctor --config configs/demo.yaml",
        "ringmaster doctor hugepages governor --for ingest",
        "ringmaster doctor --for ingest --script > mend.sh",
        "ringmaster doctor --for ingest --json | jq '.findings[] | select(.verdict == \"wrong\")'",
    )
)
@click.argument("checks", metavar="[CHECK]…", nargs=-1, shell_complete=_complete_check)
@click.option("--for", "use", type=click.Choice(USES), help="What the host is for; else as CONFIG has it, or try.")
@click.option("--config", type=click.Path(path_type=Path), metavar="CONFIG", help="Takes cores, cards and use from it.")
@click.option(
    "--cores", metavar="LIST", help="The server's, such as 2-5,8; else the isolated ones, or all but the first."
)
@click.option("--cards", metavar="CARD,…", help="By address those of DPDK, by interface those of the kernel; else all.")
@click.option("-v", "--verbose", is_flag=True, help="Say of each why it matters, and the commands that mend it.")
@click.option("--script", "as_script", is_flag=True, help="Print the commands as a script of the shell, and no more.")
@click.option("--strict", is_flag=True, help="Exit with 1 also when something could be better.")
@json_option
def doctor(
    checks: tuple[str, ...],
    use: str | None,
    config: Path | None,
    cores: str | None,
    cards: str | None,
    verbose: bool,
    as_script: bool,
    strict: bool,
    as_json: bool,
) -> None:
    """Examine this host: what is, what should be, why, and the command that mends it. Changes nothing.

    CHECK is the name of a check or of an area, as the table has them; it is then told at length.
    """
    from ringmaster.doctor.examine import choose_cores, examine
    from ringmaster.doctor.findings import Verdict, count, summary
    from ringmaster.doctor.host import Host
    from ringmaster.doctor.script import script
    from ringmaster.doctor.stalls import measure

    if as_json and as_script:
        raise click.UsageError("--json and --script print to the same place, expected one of them")
    host = Host()
    wanted = _known(checks)
    try:
        setting = _setting(config, host, use, cores, cards)
        our_cores = choose_cores(host, setting.cores)
        watched = measure(setting.workspace, setting.watched) if setting.watched else ()
        everything = examine(host, setting.use, setting.cores, setting.cards, watched=watched)
    except (OSError, ValueError) as error:  # what this host has not; 1 would say that something is wrong with it
        raise click.UsageError(str(error)) from error
    findings = [finding for finding in everything if not wanted or {finding.name, finding.area} & wanted]
    if as_script:
        click.echo(script(findings, setting.use), nl=False)
        return
    if as_json:
        print_json(
            {
                "use": setting.use,
                "cores": our_cores,
                "summary": summary(findings),
                "findings": [finding.as_json() for finding in findings],
            }
        )
    else:
        _print(setting, our_cores, findings, verbose or bool(wanted), str(config or "CONFIG"))
    counted = count(findings)
    if counted[Verdict.WRONG] or (strict and counted[Verdict.BETTER]):
        sys.exit(1)


def _known(checks: Sequence[str]) -> set[str]:
    from ringmaster.doctor.examine import AREAS, NAMES

    for name in checks:
        if name not in (*AREAS, *NAMES):
            near = get_close_matches(name, (*NAMES, *AREAS), 1)
            hint = f" (did you mean {near[0]}?)" if near else f", expected some of {', '.join((*AREAS, *NAMES))}"
            raise click.BadParameter(f"no check or area {name!r}{hint}", param_hint="CHECK")
    return set(checks)


def _setting(config: Path | None, host: "Host", use: str | None, cores: str | None, cards: str | None) -> "Setting":
    """What the configuration says, and over it what the options say."""
    from ringmaster.doctor import cpu_list
    from ringmaster.doctor.setting import Setting, read_setting
    from ringmaster.doctor.uses import Use

    read = read_setting(config, host) if config else Setting(Use.TRY, (), ())
    listed = cpu_list.parse(cores) if cores is not None else read.cores
    if listed is None or (cores is not None and not listed):
        raise click.BadParameter(f"found {cores!r}, expected a list of cores such as 2-5,8", param_hint="--cores")
    named = read.cards if cards is None else tuple(card for part in cards.split(",") if (card := part.strip()))
    return replace(read, use=Use(use) if use else read.use, cores=listed, cards=named)


def _print(
    setting: "Setting", cores: Sequence[int], findings: "Sequence[Finding]", at_length: bool, config: str
) -> None:
    from ringmaster.doctor import cpu_list
    from ringmaster.doctor.show import print_details, print_head, print_summary, print_table

    chosen = "" if setting.cores else ", unless --cores says others"
    cards = "" if setting.cards else "; all Ethernet cards, unless --cards names some"
    print_head(f"for {setting.use}: {setting.use.about}", f"the server's: {cpu_list.words(cores)}{chosen}{cards}")
    (print_details if at_length else print_table)(findings)
    print_summary(setting.use, findings, hint=not at_length, config=config)

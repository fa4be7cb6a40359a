# SPDX-License-Identifier: Apache-2.0
"""`ringmaster demo`: a virtual ring and its server, live."""

import sys
from time import monotonic, sleep
from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import examples, print_json

if TYPE_CHECKING:
    from ringmaster.demo import Demo, Report

DEFAULT_S = 20.0


@click.command(epilog=examples("ringmaster demo", "DEMO_SECONDS=20 ringmaster demo", "ringmaster demo --seconds 5"))
@click.option("--seconds", type=float, envvar="DEMO_SECONDS", help="Run that long, then print JSON. [env DEMO_SECONDS]")
@click.option("--turn-rate", type=float, metavar="HZ", help="Send at this rate instead of the highest that is carried.")
def demo(seconds: float | None, turn_rate: float | None) -> None:
    """Run a virtual ring of seven BPM electronics, a BLM and an LLRF, and a server that takes all its datagrams.

    On a terminal it is live until `q`. With --seconds, or without a terminal, it runs that long (20 s) and its last
    line is one JSON object. It fails when anything was lost or wrong.
    """
    from ringmaster import demo as ring

    rate = turn_rate or _find_rate()
    with ring.start(rate) as running:
        _say(_hint(running))
        if seconds is None and sys.stdout.isatty():
            _live(running)
        else:
            _run(running, seconds or DEFAULT_S)
        report = running.finish()
    _conclude(report, live=seconds is None and sys.stdout.isatty())


def _say(text: str) -> None:
    if text:
        click.echo(f"demo: {text}", err=True)


def _find_rate() -> float:
    from ringmaster.demo import FULL_TURN_RATE_HZ, find_turn_rate

    _say(f"trying the full turn rate, {FULL_TURN_RATE_HZ / 1e3:.0f} kHz × 9 instruments …")
    rate, achieved = find_turn_rate()
    if rate == FULL_TURN_RATE_HZ:
        _say("this machine carries it")
    else:
        _say(
            f"this machine does not carry it: the turn rate is lowered from {FULL_TURN_RATE_HZ / 1e3:.0f} kHz to "
            f"{rate / 1e3:.0f} kHz, by {1 - rate / FULL_TURN_RATE_HZ:.0%} "
            f"(the last trial sent {achieved / 1e3:.0f} kHz)"
        )
    return rate


def _hint(running: "Demo") -> str:
    return "\n".join(line.partition(": ")[2] for line in running.server.words.splitlines() if "no huge pages" in line)


def _live(running: "Demo") -> None:
    from ringmaster.cli.console import Console

    Console(running.ws).run()


def _run(running: "Demo", seconds: float) -> None:
    """Lets it run; a progress bar where somebody looks. Ctrl-C ends it early and keeps what was counted."""
    from rich.console import Console
    from rich.progress import Progress

    begin = monotonic()
    try:
        with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as progress:
            task = progress.add_task("running", total=seconds)
            while (elapsed := monotonic() - begin) < seconds:
                progress.update(task, completed=elapsed)
                running.check()
                sleep(min(0.2, seconds - elapsed))
    except KeyboardInterrupt:
        _say("interrupted; this is what there was:")


def _conclude(report: "Report", live: bool) -> None:
    if report.turn_rate_hz < 0.95 * report.set_turn_rate_hz:
        _say(
            f"the machine became slower: of {report.set_turn_rate_hz / 1e3:.0f} kHz it carried "
            f"{report.turn_rate_hz / 1e3:.0f} kHz, and the ring is {report.behind_turns} turns behind; "
            f"nothing is lost by that"
        )
    for fault in report.faults:
        _say(f"wrong: {fault}")
    if live:
        click.echo(
            f"{report.packets} datagrams at {report.rate_pps / 1e6:.2f} M/s, {report.lost} lost, {report.duplicate} "
            f"duplicate, {report.late} late, {report.refused} refused; turn rate {report.turn_rate_hz / 1e3:.0f} of "
            f"{report.full_turn_rate_hz / 1e3:.0f} kHz"
        )
    else:
        print_json(report.as_json())
    if report.faults:
        sys.exit(1)

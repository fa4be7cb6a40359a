# SPDX-License-Identifier: Apache-2.0
"""`ringmaster demo`: a virtual ring and its server, live, and the orbit feedback between them."""

import sys
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import examples, print_json
from ringmaster.cli.signals import left_in_order

if TYPE_CHECKING:
    from ringmaster.cli.console import Console
    from ringmaster.demo.closed import Closed
    from ringmaster.demo.report import Report
    from ringmaster.demo.tune import DemoTune
    from ringmaster.virtual.loop import Loop
    from ringmaster.virtual.ring import VirtualRing

DEFAULT_S = 20.0
RINGS = ("both", "turns", "loop")
FULL_RATE_HZ = 1_157_000.0
"""ringmaster.virtual.ring.FULL_TURN_RATE_HZ, which is dear to import."""


@click.command(
    epilog=examples(
        "ringmaster demo", "DEMO_SECONDS=20 ringmaster demo", "ringmaster demo --ring turns", "ringmaster demo --pair"
    )
)
@click.option("--seconds", type=float, envvar="DEMO_SECONDS", help="Run that long, then print JSON. [env DEMO_SECONDS]")
@click.option("--turn-rate", type=float, metavar="HZ", help="Send at this rate instead of the highest that is carried.")
@click.option(
    "--ring",
    type=click.Choice(RINGS),
    default="both",
    help="turns: nine electronics that send every turn; loop: a ring like Elettra 2.0 and its orbit feedback; "
    "both: half of the time for each. Live it is the loop. [default: both]",
)
@click.option(
    "--archive",
    type=click.Path(path_type=Path, file_okay=False),
    help="Record into this folder, and leave it there; without it what was recorded goes with the demo.",
)
@click.option("--pair", is_flag=True, help="Two servers; a key kills the one that sends.")
def demo(seconds: float | None, turn_rate: float | None, ring: str, archive: Path | None, pair: bool) -> None:
    """Run a virtual ring and a server that takes all its datagrams, and close the orbit feedback between them.

    On a terminal it is live until `q`: the page of the feedback, with 168 BPMs at 10 kHz, 528 correctors, and the ten
    other pages of the console. `l` closes the loop and opens it, `n` switches the resonators, `d` the disturbances. `b`
    trips the RF: the beam is lost, and `ringmaster postmortem open`, in another terminal, shows what was kept of it.
    `8` is the page of the tune, in whose own spectrum the ripple of a quadrupole shows.

    Where this machine does not carry the loop in real time, the ring waits for it: SIMULATED TIME stands on the screen
    and in the report, and a busy host costs time instead of cycles.

    With --pair two servers drive the ring, at a fiftieth of its rate: `k` kills the active one, the other takes over,
    and the orbit stays. The killed one is started again, and joins. Without a terminal that happens by itself, and a
    planned switch ends it.

    With --seconds, or without a terminal, it runs that long (20 s): first the highest rate, with nine electronics that
    send every turn, then the loop, open and closed. Its last line is one JSON object. It fails when anything was
    lost or wrong; that the host was late is said, and is no failure.
    """
    with left_in_order():
        if pair:
            from ringmaster.cli.demo_pair import demonstrate_pair

            demonstrate_pair(seconds is None and sys.stdout.isatty(), _say)
            return
        _demonstrate(seconds, turn_rate, ring, archive)


def _demonstrate(seconds: float | None, turn_rate: float | None, ring: str, archive: Path | None) -> None:
    if seconds is None and sys.stdout.isatty():
        _live_turns(turn_rate) if ring == "turns" else _live_loop(turn_rate, archive)
        return
    seconds = seconds or DEFAULT_S
    from ringmaster.programs.program import ProgramFailed

    share = seconds / 2 if ring == "both" else seconds
    report = None if ring == "loop" else _turns(share, turn_rate)
    try:
        closed, faults = None if ring == "turns" else _loop(share, turn_rate), []
    except ProgramFailed as error:  # what the other half showed is not lost by it
        closed, faults = None, [str(error)]
    _conclude(report, closed, faults)


def _end_as(console: "Console") -> None:
    """What was started is stopped, when a signal has ended the page."""
    if console.return_code:
        raise SystemExit(console.return_code)


def _say(text: str) -> None:
    if text:
        click.echo(f"demo: {text}", err=True)


def _hint(running: "VirtualRing") -> str:
    return "\n".join(line.partition(": ")[2] for line in running.server.words.splitlines() if "no huge pages" in line)


def _say_rate(rate: float, achieved: float) -> None:
    from ringmaster.virtual.ring import FULL_TURN_RATE_HZ

    if rate == FULL_TURN_RATE_HZ:
        _say("this machine carries it")
    else:
        _say(
            f"this machine does not carry it: the turn rate is lowered from {FULL_TURN_RATE_HZ / 1e3:.0f} kHz to "
            f"{rate / 1e3:.0f} kHz, by {1 - rate / FULL_TURN_RATE_HZ:.0%} "
            f"(the last trial sent {achieved / 1e3:.0f} kHz)"
        )


def _turns_rate() -> float:
    from ringmaster.virtual.ring import FULL_TURN_RATE_HZ, find_turn_rate

    _say(f"trying the full turn rate, {FULL_TURN_RATE_HZ / 1e3:.0f} kHz × 9 instruments …")
    rate, achieved = find_turn_rate()
    _say_rate(rate, achieved)
    return rate


def _live_turns(turn_rate: float | None) -> None:
    from ringmaster.cli.console import Console
    from ringmaster.demo.report import finish
    from ringmaster.virtual import ring

    with ring.start(turn_rate or _turns_rate()) as running:
        _say(_hint(running))
        console = Console(running.attach())
        console.run()
        _end_as(console)
        report = finish(running)
    for fault in report.faults:
        _say(f"wrong: {fault}")
    click.echo(_summary(report))
    if report.faults:
        sys.exit(1)


def _turns(seconds: float, turn_rate: float | None) -> "Report":
    from ringmaster.demo.report import finish
    from ringmaster.virtual import ring

    with ring.start(turn_rate or _turns_rate()) as running:
        _say(_hint(running))
        _run(running, seconds)
        return finish(running)


def _run(running: "VirtualRing", seconds: float) -> None:
    """Lets it run; a progress bar on a terminal. Ctrl-C ends it early and keeps what was counted."""
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


def _live_loop(turn_rate: float | None, archive: Path | None) -> None:
    from ringmaster.demo.recording import recorded
    from ringmaster.virtual import loop as virtual_loop

    if not _is_enough(turn_rate):
        _live_turns(turn_rate)
        return
    with virtual_loop.prepare() as directory:
        rate = turn_rate or FULL_RATE_HZ
        with virtual_loop.start(directory, rate, simulated=_is_simulated(directory, rate)) as loop:
            _say(_hint(loop))
            loop.figures()
            with recorded(directory, virtual_loop.ELETTRA2, archive and archive.resolve()) as recording:
                _show(loop)
                troubles = recording.troubles
            for trouble in troubles:
                _say(trouble)
            loop.follow()
            figures = loop.figures()
        x, y = figures.rms_um
        click.echo(f"the loop was {figures.mostly.name.lower()}; orbit rms {x:.3g} µm in x, {y:.3g} µm in y")


def _show(loop: "Loop") -> None:
    """The console; meanwhile the orbit that there is becomes the golden one, which takes some seconds."""
    from concurrent.futures import ThreadPoolExecutor

    from ringmaster.cli.console import DEFAULT_RATE_HZ, Console
    from ringmaster.virtual import loop as virtual_loop

    loop.soften()
    rate_hz = DEFAULT_RATE_HZ if loop.simulated else virtual_loop.stable_rate_hz() or DEFAULT_RATE_HZ
    with ThreadPoolExecutor(1) as pool:
        golden = pool.submit(loop.take_golden)
        console = Console(loop.attach(), page="feedback", rate_hz=rate_hz)
        console.run()
        golden.result()
    _end_as(console)


def _is_simulated(directory: Path, turn_rate: float) -> bool:
    """Whether the ring has to wait for the loop, as this machine does not carry it in real time."""
    from ringmaster.virtual.loop import ELETTRA2
    from ringmaster.virtual.rate import CARRIES, add_delay, try_real_time

    _say("a ring like Elettra 2.0: trying 168 BPMs and 528 correctors at 9.6 kHz in real time …")
    carried = try_real_time(directory, turn_rate)
    if carried.enough:
        add_delay(directory / ELETTRA2.feedback, carried.answers_after_us)
        _say(
            f"this machine carries it: {carried.share:.1%} of the cycles were whole. "
            f"The loop's model gets {carried.answers_after_us:.0f} µs more delay: so long an answer takes here"
        )
        return False
    _say(
        f"real time does not carry it here: {carried.share:.0%} of the cycles were whole, and the loop needs "
        f"{CARRIES:.0%}"
    )
    _say("SIMULATED TIME: the ring waits for the loop, so that a busy host costs time and no cycles")
    return True


def _is_enough(turn_rate: float | None) -> bool:
    """Whether the loop may be tried at this rate: one that is not known yet may be."""
    from ringmaster.virtual.loop import LEAST_TURN_RATE_HZ

    if turn_rate is None or turn_rate >= LEAST_TURN_RATE_HZ:
        return True
    _say(f"no loop at this turn rate: its tuning is for {LEAST_TURN_RATE_HZ / 1e3:.0f} kHz and more")
    return False


def _loop(seconds: float, turn_rate: float | None) -> "Closed | None":
    from ringmaster.virtual import loop as virtual_loop

    if not _is_enough(turn_rate):
        return None
    rate = turn_rate or FULL_RATE_HZ
    with virtual_loop.prepare() as directory:
        simulated = _is_simulated(directory, rate)
        closed = _measured(directory, rate, seconds, simulated)
        if closed.host_was_late:
            _say(f"the host became busy: {closed.whole_share:.0%} of the cycles were whole. Again, in SIMULATED TIME")
            closed = _measured(directory, rate, seconds, True)
    _say_closed(closed)
    return closed


def _measured(directory: Path, turn_rate: float, seconds: float, simulated: bool) -> "Closed":
    from ringmaster.demo.closed import measure
    from ringmaster.virtual import loop as virtual_loop

    with virtual_loop.start(directory, turn_rate, simulated=simulated) as loop:
        loop.figures()
        if not simulated:
            virtual_loop.stable_rate_hz()
        loop.take_golden()
        loop.soften()
        return measure(loop, 0.35 * seconds, 0.65 * seconds)


def _say_closed(closed: "Closed") -> None:
    if closed.simulated_time:
        _say(f"SIMULATED TIME, {closed.real_time_ratio:.2f} of real time")
    for plane in "xy":
        before, after = closed.orbit_rms_um_open[plane], closed.orbit_rms_um_closed[plane]
        moved, moves = closed.motion_rms_um_open[plane], closed.motion_rms_um_closed[plane]
        _say(
            f"{plane}: orbit rms {before:.3g} µm open, {after:.3g} µm closed; motion {moved:.3g} and {moves:.3g} µm; "
            f"50 Hz less by {closed.attenuation_50_hz_db[plane]:.1f} dB"
        )
    if closed.tune is not None:
        _say_tune(closed.tune)


def _say_tune(found: "DemoTune") -> None:
    for plane in "xy":
        ripple = "; ".join(
            f"{one.hz:g} Hz {one.amplitude:.3g} (simulated {one.simulated:.3g})"
            for one in found.ripple
            if one.plane == plane
        )
        _say(
            f"{plane}: tune {found.tune[plane]:.6f} (simulated {found.simulated[plane]:.6f}), "
            f"{found.delay_s * 1e3:.1f} ms late; its ripple, corrected for the window: {ripple}"
        )
    for doubt in found.doubts:
        _say(doubt)


def _conclude(report: "Report | None", closed: "Closed | None", faults: list[str]) -> None:
    if report and report.turn_rate_hz < 0.95 * report.set_turn_rate_hz:
        _say(
            f"the machine became slower: of {report.set_turn_rate_hz / 1e3:.0f} kHz it carried "
            f"{report.turn_rate_hz / 1e3:.0f} kHz, and the ring is {report.behind_turns} turns behind; "
            f"nothing is lost by that"
        )
    faults = [*(report.faults if report else []), *(closed.faults if closed else []), *faults]
    for fault in faults:
        _say(f"wrong: {fault}")
    print_json({**(report.as_json() if report else {}), "feedback": closed.as_json() if closed else None})
    if faults:
        sys.exit(1)


def _summary(report: "Report") -> str:
    return (
        f"{report.packets} datagrams at {report.rate_pps / 1e6:.2f} M/s, {report.lost} lost, {report.duplicate} "
        f"duplicate, {report.out_of_order} out of order, {report.refused} refused; turn rate "
        f"{report.turn_rate_hz / 1e3:.0f} of "
        f"{report.full_turn_rate_hz / 1e3:.0f} kHz"
    )

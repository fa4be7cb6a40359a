# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench`: measure what this machine can do, each figure beside a peer."""

from pathlib import Path

import click

from ringmaster.cli.bench_compare import compare
from ringmaster.cli.bench_interval import interval
from ringmaster.cli.bench_jitter import jitter
from ringmaster.cli.bench_loop import loop
from ringmaster.cli.bench_output import ended_as_by_ctrl_c, give, keep_numpy_to_one_thread, measuring, report_option
from ringmaster.cli.bench_power import power
from ringmaster.cli.bench_rtt import rtt
from ringmaster.cli.bench_suite import suite
from ringmaster.cli.bench_throughput import throughput
from ringmaster.cli.options import Finite, SomeOf, examples, json_option

PARTS = ("added", "instructions", "windows", "load", "polling", "sizes")
"""As ringmaster.bench.ingest has them, which `--help` need not import."""

MEANINGS = """\b
Parts:
  added         time per packet beyond polling and freeing it
  instructions  the same in instructions, by callgrind
  windows       highest rate without loss over memif, ours and testpmd's
  load          the Elettra load, held
  polling       adaptive polling, on and off
  sizes         cost over instruments, rings, queues, pages

"""


TWIN_FUNCTIONS = (
    *("linopt6", "refresh", "ohmi_envelope", "orbit_response_6d", "orbit_response_tracked"),
    *("orbit_response_analytic_against_tracking", "tracking", "tracking_radiation"),
)
"""As ringmaster.bench.twin has them."""


@click.group(
    epilog=examples(
        "ringmaster bench suite --report out",
        "ringmaster bench ingest",
        "ringmaster bench compare monday.json tuesday.json",
        "ringmaster bench twin --json > twin.json",
    )
)
@click.pass_context
def bench(context: click.Context) -> None:
    """Measure what this machine can do."""
    context.with_resource(ended_as_by_ctrl_c())


for command in (rtt, jitter, throughput, interval, power, loop, compare, suite):
    bench.add_command(command)


@bench.command(
    epilog=MEANINGS
    + examples(
        "ringmaster bench ingest",
        "ringmaster bench ingest --json > ingest.json",
        "ringmaster bench ingest --parts windows --windows 10",
        "ringmaster bench ingest --parts added,instructions --rounds 51 --json",
    )
)
@click.option("--parts", default=",".join(PARTS), type=SomeOf(PARTS), metavar="PART,…", help="Of: " + ", ".join(PARTS))
@click.option("--windows", type=click.IntRange(min=1), default=12, show_default=True, help="Pairs per frame size.")
@click.option("--seconds", type=Finite(0.1), default=1.0, show_default=True, help="Length of a window.")
@click.option("--load-seconds", type=Finite(1), default=60.0, show_default=True, help="To hold the load for.")
@click.option("--rounds", type=click.IntRange(min=3), default=21, show_default=True, help="Of each added cost.")
@report_option
@json_option
def ingest(
    parts: tuple[str, ...],
    windows: int,
    seconds: float,
    load_seconds: float,
    rounds: int,
    as_json: bool,
    report: Path | None,
) -> None:
    """Measure what one receive core costs and carries, beside dpdk-testpmd behind the same sender.

    Uses two cores: a sender on the first, the receiver on the second. The shipped server runs with all its counters
    on. Ctrl-C prints what was measured so far.
    """
    from ringmaster.bench.ingest import Options, measure
    from ringmaster.report.verdicts import bar

    options = Options(parts, windows, seconds, load_seconds, rounds)
    with bar("ingest", len(parts)) as (say, step):
        made = measure(options, say, step)
    from ringmaster.bench.tables import section_of

    give(section_of(made), made.as_json() if as_json else None, report)


@bench.command(
    epilog=examples(
        "ringmaster bench twin",
        "ringmaster bench twin --lattices ../shared/data/lattices --json > twin.json",
        "ringmaster bench twin --lattices elettra2.mat --functions linopt6,refresh --rounds 9",
    )
)
@click.option(
    "--lattices",
    "paths",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    metavar="PATH",
    help="A lattice (.mat, .m) or a folder of them, besides one that pyAT brings along.",
)
@click.option(
    "--functions",
    default=",".join(TWIN_FUNCTIONS),
    type=SomeOf(TWIN_FUNCTIONS),
    metavar="NAME,…",
    help="Of: " + ", ".join(TWIN_FUNCTIONS),
)
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True, help="Pairs of each function.")
@report_option
@json_option
def twin(paths: tuple[Path, ...], functions: tuple[str, ...], rounds: int, as_json: bool, report: Path | None) -> None:
    """Measure the twin beside pyAT: same lattice, one core, one process, by turns.

    Every timed call follows a change of a quadrupole. Ctrl-C prints what was measured so far.
    """
    keep_numpy_to_one_thread()
    from ringmaster.bench.log import NotMeasured
    from ringmaster.bench.twin import measure, steps
    from ringmaster.report.verdicts import bar

    try:
        with bar("twin", steps(paths, functions)) as (say, step):
            made = measure(paths, functions, rounds, say, step)
    except NotMeasured as error:
        raise click.ClickException(str(error)) from error
    from ringmaster.bench.twin_table import section_of

    lattices = "".join(f" --lattices {path}" for path in paths)
    command = f"ringmaster bench twin{lattices} --functions {','.join(functions)} --rounds {rounds}"
    give(section_of(made, command), made.as_json() if as_json else None, report)


WINDOWS_HELP = "Of each figure; the median and its spread are theirs."


@bench.command(
    epilog=examples(
        "ringmaster bench parameters",
        "ringmaster bench parameters --json > parameters.json",
        "ringmaster bench parameters --windows 3 --seconds 0.2",
    )
)
@click.option("--windows", type=click.IntRange(min=1), default=12, show_default=True, help=WINDOWS_HELP)
@click.option("--seconds", type=Finite(0.05), default=0.5, show_default=True, help="Of each peer's window.")
@report_option
@json_option
def parameters(windows: int, seconds: float, as_json: bool, report: Path | None) -> None:
    """Measure what a parameter costs: to read, to write, to be seen by another core, to be set by its owner.

    Beside it EPICS PVAccess get and put on loopback, by p4p where that is installed, on the same cores and by turns in
    the same run. Ctrl-C prints what was measured so far.
    """
    from ringmaster.bench.parameters import Options, measure

    with measuring("parameters", windows) as (say, step):
        made = measure(Options(windows, seconds), say, step)
    give(made.section(), made.as_json() if as_json else None, report)


@bench.command(
    epilog=examples(
        "ringmaster bench feedback",
        "ringmaster bench feedback --json > feedback.json",
        "ringmaster bench feedback --cycles 10000 --windows 2",
    )
)
@click.option(
    "--cycles", type=click.IntRange(min=100), default=1_000_000, show_default=True, help="Of each size, in all windows."
)
@click.option("--windows", type=click.IntRange(min=1), default=10, show_default=True, help=WINDOWS_HELP)
@report_option
@json_option
def feedback(cycles: int, windows: int, as_json: bool, report: Path | None) -> None:
    """Measure the orbit feedback: from the last BPM seen to the setpoint vector.

    264 outputs of 168 BPMs, and both planes of such a ring, with thirteen resonators per channel: the feedback in its
    host, on one core, its BPMs written by the other; and its arithmetic alone, beside OpenBLAS sgemv of the same sizes.
    Beside each a loop that only looks at the clock, by turns in the same run. Ctrl-C prints what was measured so far.
    """
    from ringmaster.bench.feedback import Options, measure

    with measuring("feedback", windows) as (say, step):
        made = measure(Options(cycles, windows), say, step)
    give(made.section(), made.as_json() if as_json else None, report)


SETPOINT_PARTS = ("guard", "rate", "latency")
"""As ringmaster.bench.setpoints has them."""
SETPOINT_MEANINGS = """\b
Parts:
  guard    what the guard takes for a row and for a cycle of 1248 supplies
  rate     datagrams a second from one core, ours and testpmd's
  latency  from a vector's commit to its first datagram

"""


@bench.command(
    epilog=SETPOINT_MEANINGS
    + examples(
        "ringmaster bench setpoints",
        "ringmaster bench setpoints --json > setpoints.json",
        "ringmaster bench setpoints --parts rate --windows 5",
    )
)
@click.option(
    "--parts",
    default=",".join(SETPOINT_PARTS),
    type=SomeOf(SETPOINT_PARTS),
    metavar="PART,…",
    help="Of: " + ", ".join(SETPOINT_PARTS),
)
@click.option("--windows", type=click.IntRange(min=1), default=12, show_default=True, help=WINDOWS_HELP)
@click.option("--seconds", type=Finite(0.05), default=0.5, show_default=True, help="Length of a window.")
@report_option
@json_option
def setpoints(parts: tuple[str, ...], windows: int, seconds: float, as_json: bool, report: Path | None) -> None:
    """Measure setpoints from an application's setpoint vector to the link: guard, rate, latency.

    The rate stands beside dpdk-testpmd's `txonly` over the same link, with frames of the same size and the same
    receiver, by turns. The latency stands beside what a cache line takes between the same cores in the same window.
    Uses two cores. Ctrl-C prints what was measured so far.
    """
    from ringmaster.bench.setpoints import Options, measure, steps

    options = Options(parts, windows, seconds)
    with measuring("setpoints", steps(options)) as (say, step):
        made = measure(options, say, step)
    give(made.section(), made.as_json() if as_json else None, report)


@bench.command(
    epilog=examples(
        "ringmaster bench latency",
        "ringmaster bench latency --seconds 60 --plot step.png",
        "ringmaster bench latency --json > latency.json",
    )
)
@click.option("--seconds", type=Finite(0.1), default=10.0, show_default=True, help="Of each variant.")
@click.option(
    "--turn-rate",
    type=Finite(20_000, 2_000_000),
    default=200_000.0,
    show_default=True,
    metavar="HZ",
    help="Turns of the ring in a second: the BPM tells each.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE.png",
    help="Draw the step and the histograms.",
)
@report_option
@json_option
def latency(seconds: float, turn_rate: float, plot: Path | None, as_json: bool, report: Path | None) -> None:
    """Measure end to end: a square wave on one setpoint, seen back in the data of a BPM.

    From the commit of a setpoint to the arrival of the first BPM datagram that shows half of its step. Twice: with a
    supply that follows at once, which leaves what software and links add, and with one as a machine has it, beside the
    40–50 µs that were published. Starts a server, the application square_wave and a virtual ring of its own on two
    cores. Ctrl-C prints what was measured so far.
    """
    if plot is not None and plot.suffix.lower() not in (".png", ".svg"):
        raise click.BadParameter(f"{plot}: found suffix {plot.suffix!r}, expected .png or .svg", param_hint="--plot")
    from ringmaster.bench.latency import Options, draw, measure, steps
    from ringmaster.bench.log import NotMeasured

    with measuring("latency", steps()) as (say, step):
        made = measure(Options(seconds, turn_rate), say, step)
    give(made.section(), made.as_json() if as_json else None, report)
    if plot is not None:
        try:
            draw(made, plot)
        except NotMeasured as error:
            raise click.ClickException(str(error)) from error

# SPDX-License-Identifier: Apache-2.0
"""`ringmaster simulate`: an application and a virtual ring in simulated time."""

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from ringmaster.cli.options import examples, plot_option, print_json
from ringmaster.cli.programs import become, locate

EVENTS = """\b
At a time may happen:
  APPLICATION/SETTING=V  a client sets a parameter; SETTING[I]=V one element of an array
  machine/KNOB=V         the living machine: mains, ground, beam, …, a magnet's strength
  drop=INSTRUMENT        its datagrams are lost; freeze=INSTRUMENT: it says the same for ever; back=INSTRUMENT
  trip=SUPPLY            it goes off; reset=SUPPLY
  event=EVENT            of the ring, as in its overlay: "event=kick, x_um: 100", "event=rf_trip, for_turns: 50000"

"""
RECORDS = ("readings", "setpoints", "sent", "currents", "streams", "reported")


def _complete_application(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the applications of the server's configuration."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    from ringmaster.fabric.config_file import read_text

    given = (context.params.get("files") or context.args or [None])[0]
    try:
        applications = YAML(typ="safe").load(read_text(str(given)))["applications"]
        names = [str(item["name"]) for item in applications]
    except (OSError, ValueError, YAMLError, KeyError, TypeError):
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command(
    epilog=EVENTS
    + examples(
        "ringmaster simulate configs/feedback.yaml configs/feedback-ring.yaml feedback --seconds 3 --out run \\",
        "    --at 1:feedback/loop=1 --plot run.png",
        "ringmaster simulate configs/feedback.yaml configs/feedback-ring.yaml feedback --seconds 3 --out dropped \\",
        "    --at 1:feedback/loop=1 --at 2:drop=bpm07 --at 2.5:trip=sr/ps/cfx_01_01",
        "ringmaster simulate configs/feedback.yaml configs/feedback-ring.yaml feedback --replay run --shuffle 1 \\",
        "    --out again && cmp run/setpoints.f64 again/setpoints.f64",
        "ringmaster simulate configs/supplies.yaml ramp --cycles 10000 --out ramp --record all,decisions --json",
        "ringmaster simulate configs/supplies.yaml ramp --archive ramp/recorded",
    )
)
@click.argument("files", metavar="CONFIG [OVERLAY]", type=click.Path(), nargs=-1, required=True)
@click.argument("application", shell_complete=_complete_application)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Where the results go.")
@click.option("--seconds", type=click.FloatRange(0, min_open=True), metavar="S", help="Of simulated time.")
@click.option("--cycles", type=click.IntRange(min=1), metavar="N", help="Steps of the application.")
@click.option("--until", metavar="READING:V[:S]", help="End S seconds (0) after this reading is V or more.")
@click.option("--at", multiple=True, metavar="T:NAME=VALUE", help="What happens at T seconds; as often as you like.")
@click.option("--events", type=click.Path(), metavar="FILE", help="The same as a file.")
@click.option("--shuffle", type=click.IntRange(min=1), metavar="SEED", help="Records arrive in an order drawn anew.")
@click.option("--replay", type=click.Path(), metavar="DIR", help="Feed what an earlier simulation has recorded.")
@click.option("--archive", type=click.Path(), metavar="DIR", help="Replay recorded streams, and compare each step.")
@click.option("--latency-us", type=click.FloatRange(0), metavar="US", help="From the row to the supplies; 10.")
@click.option("--refresh-ms", type=click.FloatRange(0), metavar="MS", help="Of the machine's background; 0: never.")
@click.option("--record", metavar="LIST", help=f"Only these: {','.join(RECORDS)}, all, decisions; or none.")
@click.option("--truth", type=click.Path(), metavar="FILE", help="Write all drawn errors there, for a test to score.")
@plot_option
@click.option("--split", type=click.FloatRange(0), metavar="S", help="--plot: before and after; the first --at.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, for scripts.")
def simulate(
    files: tuple[str, ...],
    application: str,
    out: Path | None,
    at: tuple[str, ...],
    plot: Path | None,
    split: float | None,
    as_json: bool,
    **options: str | float | None,
) -> None:
    """Run one application of CONFIG with the virtual ring of the same file, in simulated time.

    OVERLAY says what only a virtual ring has, as for `ringmaster virtual`.

    There is no network, no server and no clock: in every cycle APPLICATION, the same shared object as on a machine, is
    given the ring's readings of that turn, steps, and its setpoints pass the server's guard and reach the ring's
    supplies after the latency. The same command gives the same numbers, to the bit.

    With --archive it replays recorded streams of a machine or of a simulation, and obeys the decision record that each
    step has left. It says whether all steps are the same to the bit, or the first that is not. DIR is the archive of
    `ringmaster record`, or what a simulation left in OUT/recorded.

    docs/simulation.md says what lies in --out, and how to look at it from Python. Ctrl-C ends it early and keeps what
    was done.
    """
    from ringmaster.simulation.run import PROGRAM, arguments

    if len(files) > 2:
        raise click.UsageError("expected CONFIG APPLICATION, or CONFIG OVERLAY APPLICATION")
    config, overlay = files[0], files[1] if len(files) == 2 else None
    command = arguments(config, overlay, application, out, at=at, **options)  # type: ignore[arg-type]
    if plot is None or out is None:
        become(PROGRAM, *command, *(["--json"] if as_json else []))
    locate(PROGRAM)
    _run_and_draw(command, out, plot, _split(split, at), as_json)


def _split(split: float | None, at: tuple[str, ...]) -> float:
    """Where before ends and after begins."""
    if split is not None:
        return split
    try:
        return min((float(event.split(":")[0]) for event in at), default=0.0)
    except ValueError:
        return 0.0


def _run_and_draw(command: list[str], out: Path, plot: Path, split: float, as_json: bool) -> None:
    import subprocess

    from ringmaster.places import find_program
    from ringmaster.simulation.plot import draw
    from ringmaster.simulation.run import PROGRAM, Simulation

    done = subprocess.run([find_program(PROGRAM), *command], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise click.exceptions.Exit(done.returncode)
    run = Simulation.load(out)
    draw(run, plot, split)
    if as_json:
        print_json(dict(run.summary))
        return
    click.echo(f"{done.stdout.strip()}\nplot written to {plot}")

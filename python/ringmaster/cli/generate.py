# SPDX-License-Identifier: Apache-2.0
"""`ringmaster generate`: the packet generator, live or by scripts."""

import sys
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import ServerFile, examples, print_json
from ringmaster.cli.signals import left_in_order

if TYPE_CHECKING:
    from ringmaster.programs.program import Program
    from ringmaster.traffic.configuration import PortSpec
    from ringmaster.traffic.session import Session
    from ringmaster.traffic.watch import GeneratorWatch

TICK_S = 0.05
"""How often scripts go on, and figures are looked at, where no page is shown."""
LONGEST_FRAME = 1518


def _read_ports(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> "list[PortSpec]":
    from ringmaster.traffic.configuration import parse_port

    try:
        ports = [parse_port(text) for text in texts]
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    names = [port.name for port in ports]
    if len(set(names)) < len(names):
        raise click.BadParameter(f"two ports have one name, found {', '.join(names)}; expected each once")
    return ports


@click.command(
    epilog=examples(
        "ringmaster generate --port p0=af_packet:veth0 --command 'set 0 rate 20' --command 'start 0'",
        "ringmaster generate --port p0=ring --script traffic.pkt --seconds 5 --json",
        "ringmaster generate --port p0=memif:/run/left.sock --port p1=memif-client:/run/right.sock --core 2 --core 3",
        "ringmaster generate -c machine.yaml",
        "ringmaster generate --attach demo",
    )
)
@click.option(
    "--port",
    "ports",
    multiple=True,
    callback=_read_ports,
    metavar="NAME=KIND:WHERE",
    help="A port: memif:SOCKET, memif-client:SOCKET, af_packet:INTERFACE, af_xdp:INTERFACE, tap:INTERFACE, "
    "pci:ADDRESS, vhost:SOCKET, virtio_user:SOCKET, ring or null; up to eight.",
)
@click.option(
    "--core", "cores", type=int, multiple=True, metavar="N", help="A core to poll; ports are dealt out to all."
)
@click.option(
    "-c",
    "--config",
    type=ServerFile(),
    metavar="FILE",
    help="A configuration with roles that generate, instead of --port and --core.",
)
@click.option("--attach", metavar="WORKSPACE", help="The generator of a server that runs, by its name or path.")
@click.option(
    "--script",
    "scripts",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="Lines of commands, to begin with.",
)
@click.option("--command", "commands", multiple=True, metavar="TEXT", help="One such line, after the scripts.")
@click.option(
    "--seconds", type=click.FloatRange(min=0), help="End so long after the last command. [default: at `quit` or Ctrl-C]"
)
@click.option(
    "--longest-frame",
    type=click.IntRange(64, 9600),
    default=LONGEST_FRAME,
    metavar="BYTES",
    help=f"That a --port sends and takes, without checksum. [default: {LONGEST_FRAME}]",
)
@click.option("--json", "as_json", is_flag=True, help="Show no page, and print what was sent as JSON at the end.")
def generate(
    ports: "list[PortSpec]",
    cores: tuple[int, ...],
    config: Path | None,
    attach: str | None,
    scripts: tuple[Path, ...],
    commands: tuple[str, ...],
    seconds: float | None,
    longest_frame: int,
    as_json: bool,
) -> None:
    """Send packets and count what comes back: a live page with a command line, in the words of Pktgen-DPDK.

    It starts a server whose roles generate, on the ports that are given here or in a configuration, or attaches to one.
    On a terminal it shows the page: `help` lists the commands, `quit` ends it. Without a terminal it does what scripts
    and commands say, and prints what was sent at the end; Ctrl-C ends it early and keeps what was counted. The first
    line that is refused ends it, with status 1.
    """
    from ringmaster.traffic.configuration import workspace_of
    from ringmaster.traffic.server import attached, made, started
    from ringmaster.traffic.session import quoted

    if sum((bool(ports), config is not None, attach is not None)) != 1:
        raise click.UsageError("expected one of --port, --config and --attach: the ports to send from")
    if cores and not ports:
        raise click.UsageError("--core belongs to --port; a configuration has its roles' cores")
    lines = [*(f"load {quoted(str(path.absolute()))}" for path in scripts), *commands]
    with ExitStack() as stack:
        stack.enter_context(left_in_order())
        watch: GeneratorWatch
        server: Program | None = None
        if attach is not None:
            watch = stack.enter_context(attached(attach))
        elif config is not None:
            watch, server = stack.enter_context(started(config, workspace_of(config)))
        else:
            watch, server = stack.enter_context(made(ports, cores, longest_frame))
        _run(watch, server, lines, seconds, as_json)


def _run(
    watch: "GeneratorWatch", server: "Program | None", lines: list[str], seconds: float | None, as_json: bool
) -> None:
    from ringmaster.traffic.report import as_json as report_json
    from ringmaster.traffic.report import as_text
    from ringmaster.traffic.session import Session

    session = Session(watch)
    session.queue(lines)
    begun = monotonic()
    watch.look()
    if sys.stdout.isatty() and not as_json:
        _show(session, server, seconds)
    else:
        _follow(session, server, seconds)
    took_s = monotonic() - begun
    if server is not None:  # what is on its way then arrives, and nothing more is sent
        watch.commands.run("stop all")
        sleep(TICK_S)
    ports = watch.look()
    if as_json:
        print_json(report_json(ports, took_s))
    else:
        click.echo("\n".join(as_text(ports, took_s)))


def _show(session: "Session", server: "Program | None", seconds: float | None) -> None:
    from ringmaster.cli.generator_console import GeneratorConsole

    console = GeneratorConsole(session, seconds, server.check if server else lambda: None)
    console.run()
    if console.failed:
        raise console.failed
    if console.return_code:
        sys.exit(console.return_code)


def _follow(session: "Session", server: "Program | None", seconds: float | None) -> None:
    """Does what there is to do, and goes on for so long."""
    from ringmaster.errors import WorkspaceDead

    ends_at_s = None
    try:
        while not session.ended and (ends_at_s is None or monotonic() < ends_at_s):
            if server:
                server.check()
            for text in session.go_on():
                click.echo(text)
            session.watch.look()
            if session.watch.trouble:  # nobody is there to see it come again
                raise WorkspaceDead(session.watch.trouble)
            if session.idle and ends_at_s is None and seconds is not None:
                ends_at_s = monotonic() + seconds
            sleep(TICK_S)
    except KeyboardInterrupt:
        click.echo("generate: interrupted; this is what there was:", err=True)

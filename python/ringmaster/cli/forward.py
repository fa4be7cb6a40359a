# SPDX-License-Identifier: Apache-2.0
"""`ringmaster forward`: the router, live."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import click

from ringmaster.cli.options import ServerFile, examples, print_json
from ringmaster.cli.signals import left_in_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from ringmaster.programs.program import Program
    from ringmaster.router.configuration import Wanted
    from ringmaster.router.watch import RouterWatch

TICK_S = 0.1
"""How often it is looked at whether the server runs, where no page is shown."""
WIDTH = 120
"""Columns of a page that goes into a file or a pipe."""
COMMANDS_S = 60.0
"""So long a server may take from being there to taking commands."""


@click.command(
    epilog=examples(
        "ringmaster forward -c configs/router.yaml",
        "ringmaster forward --port p0=af_packet:veth0 --port p1=af_packet:veth1 --address p0=10.0.1.1/24 "
        "--address p1=10.0.2.1/24 --route '10.9.0.0/16 via 10.0.2.2'",
        "ringmaster forward --port p0=memif:/run/0.sock --port p1=memif:/run/1.sock --mode io",
        "ringmaster forward --attach demo --command 'route show'",
    )
)
@click.option(
    "-c",
    "--config",
    type=ServerFile(),
    metavar="FILE",
    help="A configuration with roles that forward.",
)
@click.option("--attach", metavar="WORKSPACE", help="The router of a server that runs, by its name or path.")
@click.option(
    "--port",
    "ports",
    multiple=True,
    metavar="NAME=KIND:WHERE",
    help="A port: memif:SOCKET, memif-client:SOCKET, af_packet:INTERFACE, af_xdp:INTERFACE, pci:ADDRESS, …",
)
@click.option(
    "--address",
    "addresses",
    multiple=True,
    metavar="PORT=ADDRESS/LENGTH",
    help="An address of ours on a port, or in a VLAN of it: p0.100=10.0.0.1/24.",
)
@click.option("--route", "routes", multiple=True, metavar="'PREFIX via ADDRESS'", help="A route.")
@click.option(
    "--kernel-interface",
    "kernels",
    multiple=True,
    metavar="PORT=NAME",
    help="Makes a kernel interface beside the port, whose routes the router follows.",
)
@click.option("--mode", type=click.Choice(["route", "io", "macswap", "l2"]), default="route", help="[default: route]")
@click.option("--core", "cores", type=int, multiple=True, metavar="N", help="A core that forwards.")
@click.option("--naps", is_flag=True, help="Cores nap while there is nothing to forward: for laptops and tests.")
@click.option("--command", "commands", multiple=True, metavar="TEXT", help="A command to begin with: 'route show'.")
@click.option("--seconds", type=click.FloatRange(min=0), help="End after so long. [default: at q or Ctrl-C]")
@click.option("--json", "as_json", is_flag=True, help="Show no page, and print the counts as JSON at the end.")
def forward(
    config: Path | None,
    attach: str | None,
    seconds: float | None,
    as_json: bool,
    commands: tuple[str, ...],
    **keys: Any,
) -> None:
    """Route packets between ports: a live page of rates, drops, neighbours and routes.

    It starts a server whose roles forward, by a configuration or by the ports that are given here, or attaches to one.
    On a terminal it shows the page, and q ends it. Without a terminal it prints the page when it ends: after --seconds,
    or at Ctrl-C. Commands are done first, and their answers printed. With --attach and commands it ends after them.
    """
    wanted = _wanted(**keys)
    if sum((bool(wanted.ports), config is not None, attach is not None)) != 1:
        raise click.UsageError("expected one of --config, --port and --attach: the ports to forward between")
    with ExitStack() as stack:
        stack.enter_context(left_in_order())
        if attach is not None:
            watch, server = stack.enter_context(_attached(attach)), None
        else:
            watch, server = stack.enter_context(_started(config, wanted))
        for text in commands:
            click.echo("\n".join(watch.run(text)))
        if attach is None or not commands:
            _run(watch, server.check if server else lambda: None, seconds, as_json)


def _wanted(
    ports: tuple[str, ...],
    addresses: tuple[str, ...],
    routes: tuple[str, ...],
    kernels: tuple[str, ...],
    mode: str,
    cores: tuple[int, ...],
    naps: bool,
) -> "Wanted":
    from ringmaster.programs.cores import cores as default_cores
    from ringmaster.router.configuration import Wanted, parse_pair, parse_route
    from ringmaster.traffic.configuration import parse_port

    try:
        return Wanted(
            [parse_port(text) for text in ports],
            mode,
            [parse_pair(text, "address of a port", "PORT=ADDRESS/LENGTH: p0=10.0.0.1/24") for text in addresses],
            [parse_route(text) for text in routes],
            dict(parse_pair(text, "kernel interface", "PORT=NAME: p0=rm0") for text in kernels),
            cores or default_cores()[1:],
            naps,
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from None


@contextmanager
def _attached(name: str) -> "Iterator[RouterWatch]":
    from ringmaster.fabric.workspace import attach
    from ringmaster.router.watch import RouterWatch

    watch = RouterWatch(attach(name))
    try:
        yield watch
    finally:
        watch.close()


@contextmanager
def _started(config: Path | None, wanted: "Wanted") -> "Iterator[tuple[RouterWatch, Program]]":
    """A server of our own, which ends with us."""
    import os

    from ringmaster.programs.program import Program, attach_to
    from ringmaster.programs.remains import release_workspace, scratch_folder
    from ringmaster.router.configuration import configuration
    from ringmaster.router.watch import RouterWatch
    from ringmaster.traffic.configuration import workspace_of

    with ExitStack() as stack:
        path = config
        if path is None:
            workspace = f"forward-{os.getpid()}"
            path = Path(stack.enter_context(scratch_folder("forward"))) / "forward.yaml"
            path.write_text(configuration(workspace, wanted))
            stack.callback(release_workspace, workspace)
        else:
            workspace = workspace_of(path)
        server = stack.enter_context(Program("ringmaster-server", "run", path))
        watch = RouterWatch(attach_to(workspace, server))
        stack.callback(watch.close)
        if config is not None or wanted.mode == "route":
            _wait_for_commands(watch, server)
        yield watch, server


def _wait_for_commands(watch: "RouterWatch", server: "Program") -> None:
    """The server takes them a moment after it is there; a plain mode never does."""
    give_up = monotonic() + (COMMANDS_S if watch.look().control else 0)
    while not watch.routes_packets and monotonic() < give_up:
        server.check()
        sleep(TICK_S)


def _run(watch: "RouterWatch", check: "Callable[[], None]", seconds: float | None, as_json: bool) -> None:
    from ringmaster.router.page import text

    if sys.stdout.isatty() and not as_json:
        from ringmaster.cli.router_console import RouterConsole

        console = RouterConsole(watch, check, seconds)
        console.run()
        sys.exit(console.return_code or 0)
    ends = monotonic() + seconds if seconds is not None else float("inf")
    try:
        watch.look()
        while monotonic() < ends:
            check()
            sleep(min(TICK_S, max(0.0, ends - monotonic())))
    except KeyboardInterrupt:
        click.echo("forward: interrupted; this is what there was:", err=True)
    look = watch.look()
    if as_json:
        print_json({**asdict(look), "ports": [{**port._asdict(), "dropped": port.dropped} for port in look.ports]})
    else:
        click.echo(text(look, WIDTH))

# SPDX-License-Identifier: Apache-2.0
"""`ringmaster replay`: recorded turn-by-turn data, sent as the instruments' datagrams."""

import os
from pathlib import Path

import click

from ringmaster.cli.options import examples
from ringmaster.cli.programs import become
from ringmaster.fabric.naming import counted

NEEDED = {"udp": "to", "af_packet": "interface", "memif": "socket"}
"""Which option says where to send, for each kind of port."""


@click.command(
    epilog=examples(
        "ringmaster replay beam.h5 --describe >> server.yaml",
        "ringmaster replay beam.sdds --describe",
        "ringmaster replay beam.h5 --rate 11245 --to 127.0.0.1:4660",
        "ringmaster replay beam.h5 --rate 11245 --port-kind af_packet --interface veth1 --to 10.0.0.1:4660",
    )
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--describe", is_flag=True, help="Print the `instruments` of a matching server configuration, send nothing."
)
@click.option("--rate", type=click.FloatRange(0, min_open=True), metavar="HZ", help="Turns per second.")
@click.option("--port-kind", type=click.Choice(list(NEEDED)), default="udp", show_default=True, help="How to send.")
@click.option("--to", metavar="ADDRESS:PORT", help="Where the server listens.")
@click.option("--interface", metavar="NAME", help="af_packet: the network interface to send from.")
@click.option("--socket", metavar="PATH", help="memif: the server's socket.")
@click.option("--source", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="The instruments' address.")
@click.option("--port-name", default="local", show_default=True, metavar="NAME", help="--describe: the server's port.")
@click.option("--turns", type=click.IntRange(min=1), metavar="N", help="Take only the first N recorded turns.")
@click.option("--first-turn", type=click.IntRange(min=0), default=0, metavar="N", help="Turn number of the first turn.")
@click.option("--loop", is_flag=True, help="Begin again at the end, with growing turn numbers, until stopped.")
def replay(
    file: Path,
    describe: bool,
    rate: float | None,
    port_kind: str,
    to: str | None,
    interface: str | None,
    socket: str | None,
    source: str,
    port_name: str,
    turns: int | None,
    first_turn: int,
    loop: bool,
) -> None:
    """Send the recorded beam in FILE as its instruments would, one datagram per instrument and turn.

    FILE is an LHC DOROS recording (HDF5), what `ringmaster get` or `ringmaster archive export` wrote (HDF5), SDDS of
    the LHC or the SPS, or NumPy (.npz with arrays named bpm01/x1). Turns that it misses are sent as zeros.
    """
    from ringmaster.recordings import recording

    instruments = recording.read_recording(file)
    if describe:
        click.echo(recording.configuration(instruments, source, port_name))
        return
    if rate is None:
        raise click.UsageError("--rate is missing: how many turns per second to send")
    where = {"to": to, "interface": interface, "socket": socket}
    if where[NEEDED[port_kind]] is None:
        raise click.UsageError(f"--{NEEDED[port_kind]} is missing: {port_kind} needs it")
    missing = sum(int((~it.ok).sum()) for it in instruments if it.ok is not None)
    if missing:
        click.echo(
            f"ringmaster: warning: {file}: {counted(missing, 'record')} missing; zeros are sent instead", err=True
        )
    descriptor = os.memfd_create("ringmaster-replay", flags=0)  # inherited by the program that this one becomes
    with os.fdopen(descriptor, "wb", closefd=False) as memory:
        recording.write_replay(memory, instruments, source, first_turn, turns)
    options = [word for name, value in where.items() if value is not None for word in (f"--{name}", value)]
    become(
        "ringmaster-instruments",
        "replay",
        f"/proc/self/fd/{descriptor}",
        "--rate",
        f"{rate:g}",
        "--port-kind",
        port_kind,
        *options,
        *(["--loop"] if loop else []),
    )

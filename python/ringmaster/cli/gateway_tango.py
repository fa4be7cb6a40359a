# SPDX-License-Identifier: Apache-2.0
"""`ringmaster gateway tango`: parameters and streams as attributes of devices."""

import os
import sys
from pathlib import Path

import click

from ringmaster.cli.options import examples, workspace_option
from ringmaster.cli.signals import end_asked


@click.command(
    epilog=examples(
        "ringmaster gateway tango --port 10001",
        "TANGO_HOST=control:10000 ringmaster gateway tango",
        "ringmaster gateway tango configs/gateways/elettra2-tango.yaml -w commissioning",
    )
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@click.option("--port", type=click.IntRange(1, 65535), help="Serve on this TCP port, without a database.")
@click.option("--address", help="Where to listen. [default: 127.0.0.1 with --port, else 0.0.0.0]")
@click.option("--instance", help="Of the server, as the database knows it. [default: the workspace's name]")
@workspace_option
def tango(
    file: Path | None, port: int | None, address: str | None, instance: str | None, workspace: str | None
) -> None:
    """Serve every parameter as an attribute of a TANGO device, until it is ended.

    FILE says under which names, and who may put what; without it a supply is a device of its own, all else is
    WORKSPACE/KIND/NAME, and nothing may be put. The database is that of TANGO_HOST: the gateway registers its devices
    there. With --port there is none, and clients write tango://HOST:PORT/DEVICE#dbase=no. docs/tango.md has all of it.
    """
    from ringmaster.gateways.gateway import say
    from ringmaster.gateways.settings import Settings, read_settings
    from ringmaster.gateways.tango_server import Place, serve

    with end_asked() as over:
        settings = Settings() if file is None else read_settings(file)
        again = serve(settings, workspace, Place(port, address, instance), over, say)
    if again:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # TANGO's library starts once in a process

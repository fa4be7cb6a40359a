# SPDX-License-Identifier: Apache-2.0
"""`ringmaster cameras control`: the control channel of GigE Vision cameras."""

import click

from ringmaster.cli.options import examples
from ringmaster.cli.programs import ProgramMissing, become


@click.command(epilog=examples("ringmaster cameras control cameras.yaml"))
@click.argument("file", type=click.Path())
def control(file: str) -> None:
    """Start the GigE Vision cameras that FILE describes, and keep them sending until stopped by Ctrl-C.

    Each camera with an address is opened by Aravis, its `features` are set in their order, and its stream is sent to
    the port that its receiver polls. Control goes through the kernel's interface, also beside a packet port. Start the
    receiver first: `ringmaster cameras run FILE`.
    """
    try:
        become("ringmaster-camera-control", file)
    except ProgramMissing as error:
        raise ProgramMissing(f"{error.message} (with libaravis-dev and libusb-1.0-0-dev installed)") from None

# SPDX-License-Identifier: Apache-2.0
"""Asks a server's telemetry socket: ask.py WORKSPACE COMMAND…; prints a line of JSON for each command.

The guest's Python runs it without NumPy or our package, which take an emulated core many seconds to load.
"""

import socket
import sys


def main() -> None:
    """Each answer as the server wrote it."""
    workspace, *commands = sys.argv[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link:
        link.connect(f"/var/run/dpdk/rm-{workspace}/dpdk_telemetry.v2")
        link.recv(1024)
        for command in commands:
            link.send(command.encode())
            print(link.recv(1 << 16).decode())


main()

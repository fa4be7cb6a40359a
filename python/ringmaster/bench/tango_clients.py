# SPDX-License-Identifier: Apache-2.0
"""What the TANGO part of `bench gateway` runs beside itself, each a process: a plain device server, and a client.

    python -m ringmaster.bench.tango_clients serve PORT          a device that keeps what is written, without a database
    python -m ringmaster.bench.tango_clients put DEVICE SECONDS  prints the times of writes

The client is the same for the gateway and for the device server, and so are the names.
"""

import json
import os
import sys
from typing import Any

from ringmaster.bench.pvaccess import TIMEOUT_S, times_of_calls

DEVICE, ATTRIBUTE = "bench/server/server", "put"


def serve(port: int) -> None:
    """Serves until it is ended."""
    from tango.server import Device, attribute, run

    class Plain(Device):  # type: ignore[misc]
        """One attribute, in memory."""

        value = 0.0

        def read(self, _attribute: Any = None) -> float:
            return self.value

        def write(self, value: Any) -> None:
            self.value = value

        put = attribute(dtype=float, fget="read", fset="write", unit="A")

    place = ["-nodb", "-dlist", DEVICE, "-ORBendPoint", f"giop:tcp:127.0.0.1:{port}"]
    run([Plain], args=["Plain", "bench", *place])


def put(device: str, seconds: float) -> dict[str, float]:
    """Writes one after the other, once it is warm."""
    import tango

    proxy = tango.DeviceProxy(device)
    proxy.set_timeout_millis(round(TIMEOUT_S * 1e3))
    return dict(vars(times_of_calls(lambda number: proxy.write_attribute(ATTRIBUTE, number), seconds)))


def main(arguments: list[str]) -> None:
    """As the module's text says."""
    if arguments[0] == "serve":
        serve(int(arguments[1]))
        return
    print(json.dumps(put(arguments[1], float(arguments[2]))), flush=True)
    os._exit(0)  # TANGO's threads need not be waited for


if __name__ == "__main__":
    main(sys.argv[1:])

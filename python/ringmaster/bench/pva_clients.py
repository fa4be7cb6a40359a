# SPDX-License-Identifier: Apache-2.0
"""What `bench gateway` runs beside itself, each a process: an owner of many parameters, and p4p's client.

    python -m ringmaster.bench.pva_clients own WORKSPACE PVS HZ      owns them, and changes all so often
    python -m ringmaster.bench.pva_clients monitor SECONDS PVS       prints how many updates came in a second
    python -m ringmaster.bench.pva_clients monitor SECONDS NAME      the same of all PVs that this inventory has
    python -m ringmaster.bench.pva_clients put SECONDS               prints the times of puts

The client is the same for the gateway and for the IOC, and so are the names.
"""

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from threading import Event, Lock
from time import monotonic, process_time, sleep
from typing import Any

from ringmaster.bench.pvaccess import TIMEOUT_S, times_of_calls

PARAMETER, PV = "server/p{:05d}", "bench:server:p{:05d}"
PUT = "bench:server:put"
WARM_S = 1.0
"""After all PVs are connected."""


def own(workspace: str, pvs: int, hz: float) -> None:
    """Owns them until standard input ends with the process that started this."""
    from threading import Thread

    from ringmaster.fabric.owner import Owner

    owner = Owner("server", workspace)
    owned = [owner.parameter(PARAMETER.format(i), 0.0, "A") for i in range(pvs)]
    owner.parameter("server/put", 0.0, "A", writable=True)
    over = Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        over.set()

    Thread(target=wait_for_end, daemon=True).start()
    with owner:
        print("ready", flush=True)
        value, due = 0.0, monotonic()
        while not over.is_set():
            value, due = value + 1, due + 1 / hz
            for parameter in owned:
                parameter.write(value)
            while (left := due - monotonic()) > 0:
                owner.serve(timeout=left)


class _Count:
    """Updates of all PVs."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.updates = 0
        self.connected: set[str] = set()

    def monitor(self, context: Any, name: str) -> Any:
        """Counts those of one more."""
        held: list[Any] = []

        def come() -> None:
            while held and (value := held[0].pop()) is not None:
                if not isinstance(value, Exception):
                    with self._lock:
                        self.updates += 1
                        self.connected.add(name)

        held.append(context.monitor(name, come))
        come()
        return held[0]


def inventory(name: str) -> list[str]:
    """The names in it."""
    from p4p.client.thread import Context

    with Context("pva") as context:
        return list(context.get(name, timeout=TIMEOUT_S).value.name)


def monitor(seconds: float, names: Sequence[str]) -> dict[str, float]:
    """Updates per second of all PVs, and what the client took of a core."""
    from p4p.client.raw import Context

    count = _Count()
    context = Context("pva", useenv=True, nt=False)  # values as they came: they are counted, not looked at
    kept = [count.monitor(context, name) for name in names]
    give_up = monotonic() + TIMEOUT_S
    while len(count.connected) < len(kept) and monotonic() < give_up:
        sleep(0.05)
    sleep(WARM_S)
    begin, before, taken = monotonic(), count.updates, process_time()
    sleep(seconds)
    passed = monotonic() - begin
    return {
        "updates_per_s": (count.updates - before) / passed,
        "client_cores": (process_time() - taken) / passed,
        "pvs": len(count.connected),
    }


def put(seconds: float) -> dict[str, float]:
    """Puts one after the other, once it is warm."""
    from p4p.client.thread import Context

    with Context("pva") as context:
        return dict(vars(times_of_calls(lambda number: context.put(PUT, number, timeout=TIMEOUT_S), seconds)))


def main(arguments: list[str]) -> None:
    """As the module's text says."""
    what, *rest = arguments
    if what == "own":
        with suppress(KeyboardInterrupt):
            own(rest[0], int(rest[1]), float(rest[2]))
        return
    if what == "put":
        found = put(float(rest[0]))
    else:
        names = [PV.format(i) for i in range(int(rest[1]))] if rest[1].isdigit() else inventory(rest[1])
        found = monitor(float(rest[0]), names)
    print(json.dumps(found), flush=True)
    os._exit(0)  # closing thousands of subscriptions is nothing that is measured


if __name__ == "__main__":
    main(sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""EPICS PVAccess on loopback, by p4p: one scalar, a server process and a client process, a core each.

It runs by itself as either of them, apart from the process that measures, for its threads are many:

    python -m ringmaster.bench.pvaccess serve CORE              prints where it is found, and serves until it is ended
    python -m ringmaster.bench.pvaccess get|put CORE SECONDS    the other end: reads that on its standard input
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from time import monotonic, perf_counter_ns
from typing import Any

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.printed import Times, printed

NAME = "ringmaster:bench:value"
INSTALL = "p4p is not installed (pip install p4p==4.3.0): no PVAccess beside our figures"
WARM = 50
TIMEOUT_S = 20.0
BEYOND_WINDOW_S = 60.0
"""A client that takes so much longer than its window is given up."""


def times_of(samples: list[int]) -> Times:
    """Of calls, at least one."""
    ordered = sorted(samples)
    p99 = ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]
    return Times(ordered[len(ordered) // 2], ordered[0], ordered[-1], p99, ordered[-1], len(ordered))


def times_of_calls(call: Callable[[float], object], seconds: float) -> Times:
    """Calls one after the other for so long, once it is warm; each gets another number."""
    samples: list[int] = []
    end = monotonic()
    for i in range(-WARM, sys.maxsize):
        if i == 0:
            end = monotonic() + seconds
        begin = perf_counter_ns()
        call(float(i))
        if i >= 0:
            samples.append(perf_counter_ns() - begin)
            if monotonic() > end:
                break
    return times_of(samples)


def has_p4p() -> bool:
    """Whether there is a peer to measure beside us."""
    return find_spec("p4p") is not None


@dataclass(frozen=True)
class Peer:
    """A server that runs."""

    conf: str
    """JSON: the settings by which a client finds it."""
    core: int
    """Of the clients."""

    def window(self, what: str, seconds: float) -> Times:
        """Calls of "get" or "put", one after the other for so long. Raises NotMeasured."""
        command = [sys.executable, "-m", "ringmaster.bench.pvaccess", what, str(self.core), f"{seconds:g}"]
        said = printed(f"PVAccess {what}", command, seconds + BEYOND_WINDOW_S, self.conf)
        return Times(**json.loads(said))


@contextmanager
def pva_server(server_core: int, client_core: int) -> Iterator[Peer]:
    """Starts one on loopback, with ports of its own, and ends it. Raises NotMeasured where there is no p4p."""
    if not has_p4p():
        raise NotMeasured(INSTALL)
    command = [sys.executable, "-m", "ringmaster.bench.pvaccess", "serve", str(server_core)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            conf = server.stdout.readline() if server.stdout else ""
            if not conf:
                raise NotMeasured("the PVAccess server did not start")
            yield Peer(conf, client_core)
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired):
                server.wait(TIMEOUT_S)
            server.kill()


def serve(core: int) -> None:
    """Serves one double until standard input ends, which it does with the process that started this."""
    from p4p.nt import NTScalar
    from p4p.server import Server
    from p4p.server.thread import SharedPV

    os.sched_setaffinity(0, {core})
    value = SharedPV(nt=NTScalar("d"), initial=0.0)

    def put(pv: Any, operation: Any) -> None:
        pv.post(operation.value())
        operation.done()

    value.put(put)

    with Server(providers=[{NAME: value}], isolate=True) as server:
        print(json.dumps(server.conf()), flush=True)
        sys.stdin.read()


def call(what: str, core: int, seconds: float) -> Times:
    """Calls for so long, once it is warm."""
    from p4p.client.thread import Context

    os.sched_setaffinity(0, {core})
    with Context("pva", conf=json.loads(sys.stdin.readline()), useenv=False) as context:
        if what == "get":
            return times_of_calls(lambda _: context.get(NAME, timeout=TIMEOUT_S), seconds)
        return times_of_calls(lambda number: context.put(NAME, number, timeout=TIMEOUT_S), seconds)


def main(arguments: list[str]) -> None:
    """As the module's text says."""
    if arguments[0] == "serve":
        with suppress(KeyboardInterrupt):
            serve(int(arguments[1]))
        return
    print(json.dumps(vars(call(arguments[0], int(arguments[1]), float(arguments[2])))))


if __name__ == "__main__":
    main(sys.argv[1:])

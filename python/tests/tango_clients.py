# SPDX-License-Identifier: Apache-2.0
"""The TANGO gateway as its own process, and programs with PyTango's client, each a process too."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gateway_clients import TIMEOUT_S, Scene, free_ports, scene

PREPARED = """
import time
import tango
from tango import DevFailed, EventType

def device(name):
    proxy = tango.DeviceProxy(WHERE % name)
    proxy.set_timeout_millis(60_000)
    return proxy

def refusal(work, *arguments):
    try:
        work(*arguments)
    except DevFailed as failure:
        return failure.args[0].desc
    return "it was done"

def refusal_or(work):
    try:
        return work()
    except DevFailed as failure:
        return failure.args[0].desc

def wait_for(there):
    give_up = time.monotonic() + TIMEOUT_S
    while not there():
        assert time.monotonic() < give_up, "waited in vain"
        time.sleep(0.05)

def heard(proxy, attribute, kind=EventType.CHANGE_EVENT):
    events = []
    def told(event):
        if not event.err and event.attr_value is not None:
            events.append((event.attr_value.value, str(event.attr_value.quality)))
    proxy.subscribe_event(attribute, kind, told)
    return events
"""
"""How a program with PyTango begins."""


def without_database(port: int) -> str:
    """The name of a device of a server that no database knows."""
    return f"tango://127.0.0.1:{port}/%s#dbase=no"


ENDS = "import os, sys\nsys.stdout.flush()\nos._exit(0)\n"
"""And how it ends: PyTango aborts where an event comes while Python ends."""


def code_of(where: str, code: str) -> str:
    """A whole program."""
    return f"WHERE, TIMEOUT_S = {where!r}, {TIMEOUT_S}\n{PREPARED}\n{code}\n{ENDS}"


@contextmanager
def tango_scene(folder: Path, settings: str) -> Iterator[tuple[Scene, str]]:
    """A gateway without a database, and how its devices are called."""
    (port,) = free_ports(1)
    with scene(folder, settings, ("tango", "--port", str(port)), "devices with") as made:
        yield made, without_database(port)

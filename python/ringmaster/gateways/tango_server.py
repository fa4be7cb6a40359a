# SPDX-License-Identifier: Apache-2.0
"""The TANGO gateway: a device server, with the database of TANGO_HOST or without any."""

import os
import signal
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from threading import Event
from typing import Any

from ringmaster.fabric.naming import counted
from ringmaster.gateways.gateway import Gateway, Say
from ringmaster.gateways.packages import PackagesMissing
from ringmaster.gateways.settings import Settings
from ringmaster.gateways.tango_classes import CLASS
from ringmaster.gateways.tango_device import LOCAL, device_class
from ringmaster.gateways.tango_names import LEGAL
from ringmaster.gateways.tango_sink import Tango

EVERYWHERE = "0.0.0.0"
INSTALL = "pip install 'ringmaster[tango]', or `make gateways` in a checkout"


@dataclass(frozen=True)
class Place:
    """Where clients find it."""

    port: int | None = None
    """Of TCP, without a database; None: the database of TANGO_HOST knows."""
    address: str | None = None
    """Where it listens; None: on this host alone without a database, everywhere with one."""
    instance: str | None = None
    """Of the server, as the database knows it; None: the name of the workspace."""


def serve(settings: Settings, workspace: str | None, place: Place, over: Event, say: Say) -> bool:
    """Serves until ``over`` is set; or, and returns True, until the workspace has other objects, so that it must start
    anew, as another process. It must be called by the main thread.

    Raises PackagesMissing, what ``attach`` raises, ValueError for names that cannot be, OSError where the database does
    not answer or the port is taken.
    """
    if find_spec("tango") is None:
        raise PackagesMissing(f"the TANGO gateway needs pytango: {INSTALL}")
    with closing(Gateway(settings, workspace, LEGAL, say)) as gateway, closing(Tango(gateway, over)) as sink:
        classes = sink.classes()
        instance = place.instance or gateway.workspace.name
        if place.port is None:
            words = register(f"{CLASS}/{instance}", classes, settings.properties)
        else:
            words = f"tango://{place.address or LOCAL}:{place.port}/DEVICE#dbase=no"
        _run(gateway, sink, _arguments(place, instance, classes), over, lambda: say(_ready(gateway, classes, words)))
        if sink.outdated:
            say(f"{gateway.workspace.name} has other objects than before: starts anew")
        return sink.outdated


def _ready(gateway: Gateway, classes: Mapping[str, str], words: str) -> str:
    puts = gateway.settings.puts
    rights = f"{counted(len(puts), 'rule')} for puts" if puts else "read-only"
    return (
        f"{counted(len(classes), 'device')} with {counted(len(gateway.points), 'attribute')} of "
        f"{gateway.workspace.name}, {rights}; {words}"
    )


def _arguments(place: Place, instance: str, classes: Mapping[str, str]) -> list[str]:
    address = place.address or (EVERYWHERE if place.port is None else LOCAL)
    host = "" if address == EVERYWHERE else address  # events would be announced as coming from 0.0.0.0
    where = ["-ORBendPoint", f"giop:tcp:{host}:{place.port or ''}"]
    if place.port is None:
        return [CLASS, instance, *where]
    return [CLASS, instance, "-nodb", "-dlist", ",".join(f"{kind}::{name}" for name, kind in classes.items()), *where]


def _run(gateway: Gateway, sink: Tango, arguments: list[str], over: Event, ready: Callable[[], None]) -> None:
    """TANGO serves by threads of its own, and calls ``loop`` by the main one until that returns True."""
    import tango
    from tango.server import run

    def loop() -> bool:
        for number in (signal.SIGTERM, signal.SIGINT):  # TANGO has taken them away
            signal.signal(number, lambda *_: over.set())
        sink.start()
        ready()
        gateway.run(over)
        sink.close()
        if sink.killed:
            gateway.close()
            os._exit(0)  # to end it once more would be a segmentation fault
        return True

    classes = [device_class(sink, name) for name in sorted(set(sink.classes().values()))]
    try:
        run(classes, args=arguments, event_loop=loop, msg_stream=None, raises=True)
    except tango.DevFailed as failure:
        raise OSError(f"TANGO cannot serve: {failure.args[0].desc}") from None
    except RuntimeError:  # "unknown", of omniORB
        raise OSError(
            f"TANGO cannot listen at {arguments[-1]}: is another program there? choose another --port"
        ) from None


def register(server: str, classes: Mapping[str, str], properties: Mapping[str, Mapping[str, str]]) -> str:
    """Makes the database of TANGO_HOST know these devices as this server's, and no others; returns where that is.

    Raises ValueError for a device that is another server's, OSError where the database does not answer.
    """
    import tango

    try:
        database = tango.Database()
        known = list(database.get_device_class_list(server))[0::2]
        ours = {name.casefold() for name in classes}
        if others := [words for name in classes if (words := _others(database, server, name, known))]:
            more = f"; and {len(others) - 1} more" if others[1:] else ""
            raise ValueError(f"{others[0]}{more}; give it another name, or take it out of the database")
        for name in known:
            if name.casefold() not in ours and not name.casefold().startswith("dserver/"):
                database.delete_device(name)
        database.add_server(server, [_device_info(server, *it) for it in classes.items()], with_dserver=True)
        for device, given in properties.items():
            database.put_device_property(device, {name: [value] for name, value in given.items()})
    except tango.DevFailed as failure:
        host = os.environ.get("TANGO_HOST", "none is named by TANGO_HOST")
        words = failure.args[-1].desc
        raise OSError(
            f"the TANGO database ({host}) does not answer: {words}; start it, or serve without one by --port"
        ) from None
    return f"{server} in the database of {database.get_db_host()}:{database.get_db_port()}"


def _device_info(server: str, name: str, kind: str) -> Any:
    import tango

    info = tango.DbDevInfo()
    info.name, info._class, info.server = name, kind, server
    return info


def _others(database: Any, server: str, name: str, known: Iterable[str]) -> str:
    """Says so where a device is another server's."""
    import tango

    if name.casefold() in {other.casefold() for other in known}:
        return ""
    try:
        holder = database.get_device_info(name).ds_full_name
    except tango.DevFailed:
        return ""
    return "" if holder.casefold() == server.casefold() else f"{name} is a device of {holder} already"

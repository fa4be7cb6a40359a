# SPDX-License-Identifier: Apache-2.0
"""Ringmaster: the instruments of a synchrotron, turn by turn, in plain memory.

::

    import ringmaster

    with ringmaster.attach() as ws:
        stream = ws.streams["bpm01/turn"]
        window = stream.latest(8192)
        print(ringmaster.find_tune(window.values("x1")))

Everything is imported when it is first used, so that the command line starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ringmaster.clock import Clock as Clock
    from ringmaster.clock import ClockReading as ClockReading
    from ringmaster.conversion import Conversion as Conversion
    from ringmaster.counters import CounterBlock as CounterBlock
    from ringmaster.errors import ObjectNotFound as ObjectNotFound
    from ringmaster.errors import OwnerBusy as OwnerBusy
    from ringmaster.errors import RequestRefused as RequestRefused
    from ringmaster.errors import RequestUnanswered as RequestUnanswered
    from ringmaster.errors import UnitUnknown as UnitUnknown
    from ringmaster.errors import WorkspaceAbsent as WorkspaceAbsent
    from ringmaster.errors import WorkspaceDamaged as WorkspaceDamaged
    from ringmaster.errors import WorkspaceDead as WorkspaceDead
    from ringmaster.errors import WorkspaceError as WorkspaceError
    from ringmaster.errors import WorkspaceHalfMade as WorkspaceHalfMade
    from ringmaster.errors import WorkspaceStopped as WorkspaceStopped
    from ringmaster.errors import WorkspaceVersion as WorkspaceVersion
    from ringmaster.grant import Grant as Grant
    from ringmaster.group import Group as Group
    from ringmaster.group import GroupReading as GroupReading
    from ringmaster.histogram import Histogram as Histogram
    from ringmaster.layout import ApplicationState as ApplicationState
    from ringmaster.layout import InstrumentKind as InstrumentKind
    from ringmaster.layout import LaneType as LaneType
    from ringmaster.layout import ObjectKind as ObjectKind
    from ringmaster.layout import Refusal as Refusal
    from ringmaster.layout import Severity as Severity
    from ringmaster.layout import SupplyState as SupplyState
    from ringmaster.orbit import Orbit as Orbit
    from ringmaster.orbit import read_orbit as read_orbit
    from ringmaster.owner import Owner as Owner
    from ringmaster.owner import Request as Request
    from ringmaster.parameter import Limits as Limits
    from ringmaster.parameter import Parameter as Parameter
    from ringmaster.parameter import ParameterReading as ParameterReading
    from ringmaster.setpoints import Setpoints as Setpoints
    from ringmaster.stream import Lane as Lane
    from ringmaster.stream import Stream as Stream
    from ringmaster.supply import Chain as Chain
    from ringmaster.supply import Supply as Supply
    from ringmaster.tune import find_tune as find_tune
    from ringmaster.tune import read_tunes as read_tunes
    from ringmaster.tune import spectrum as spectrum
    from ringmaster.window import ReadResult as ReadResult
    from ringmaster.window import View as View
    from ringmaster.window import Window as Window
    from ringmaster.workspace import Workspace as Workspace
    from ringmaster.workspace import attach as attach

__version__ = "0.1.0"

_MODULE_OF = {
    "ApplicationState": "layout",
    "Chain": "supply",
    "Clock": "clock",
    "ClockReading": "clock",
    "Conversion": "conversion",
    "CounterBlock": "counters",
    "Grant": "grant",
    "Group": "group",
    "GroupReading": "group",
    "Histogram": "histogram",
    "InstrumentKind": "layout",
    "Lane": "stream",
    "LaneType": "layout",
    "Limits": "parameter",
    "ObjectKind": "layout",
    "ObjectNotFound": "errors",
    "Orbit": "orbit",
    "Owner": "owner",
    "OwnerBusy": "errors",
    "Parameter": "parameter",
    "ParameterReading": "parameter",
    "ReadResult": "window",
    "Refusal": "layout",
    "Request": "owner",
    "RequestRefused": "errors",
    "RequestUnanswered": "errors",
    "Setpoints": "setpoints",
    "Severity": "layout",
    "Stream": "stream",
    "Supply": "supply",
    "SupplyState": "layout",
    "UnitUnknown": "errors",
    "View": "window",
    "Window": "window",
    "Workspace": "workspace",
    "WorkspaceAbsent": "errors",
    "WorkspaceDamaged": "errors",
    "WorkspaceDead": "errors",
    "WorkspaceError": "errors",
    "WorkspaceHalfMade": "errors",
    "WorkspaceStopped": "errors",
    "WorkspaceVersion": "errors",
    "attach": "workspace",
    "find_tune": "tune",
    "read_orbit": "orbit",
    "read_tunes": "tune",
    "spectrum": "tune",
}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'ringmaster' has no attribute {name!r}")
    return getattr(import_module(f"ringmaster.{_MODULE_OF[name]}"), name)

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
    from ringmaster.archive.archive import Archive as Archive
    from ringmaster.archive.window import ArchiveWindow as ArchiveWindow
    from ringmaster.archive.window import ReducedWindow as ReducedWindow
    from ringmaster.beam.orbit import Orbit as Orbit
    from ringmaster.beam.orbit import read_orbit as read_orbit
    from ringmaster.beam.tune import find_tune as find_tune
    from ringmaster.beam.tune import read_tunes as read_tunes
    from ringmaster.beam.tune import spectrum as spectrum
    from ringmaster.errors import ArchiveAbsent as ArchiveAbsent
    from ringmaster.errors import ArchiveArgument as ArchiveArgument
    from ringmaster.errors import ArchiveDamaged as ArchiveDamaged
    from ringmaster.errors import ArchiveError as ArchiveError
    from ringmaster.errors import FramesHeld as FramesHeld
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
    from ringmaster.fabric.clock import Clock as Clock
    from ringmaster.fabric.clock import ClockReading as ClockReading
    from ringmaster.fabric.conversion import Conversion as Conversion
    from ringmaster.fabric.counters import CounterBlock as CounterBlock
    from ringmaster.fabric.frame import Frame as Frame
    from ringmaster.fabric.frame import Geometry as Geometry
    from ringmaster.fabric.grant import Grant as Grant
    from ringmaster.fabric.group import Group as Group
    from ringmaster.fabric.group import GroupReading as GroupReading
    from ringmaster.fabric.histogram import Histogram as Histogram
    from ringmaster.fabric.images import Frames as Frames
    from ringmaster.fabric.images import camera_names as camera_names
    from ringmaster.fabric.images import frames as frames
    from ringmaster.fabric.layout import ApplicationState as ApplicationState
    from ringmaster.fabric.layout import ImageStatus as ImageStatus
    from ringmaster.fabric.layout import InstrumentKind as InstrumentKind
    from ringmaster.fabric.layout import LaneType as LaneType
    from ringmaster.fabric.layout import ObjectKind as ObjectKind
    from ringmaster.fabric.layout import Refusal as Refusal
    from ringmaster.fabric.layout import Severity as Severity
    from ringmaster.fabric.layout import SupplyState as SupplyState
    from ringmaster.fabric.owner import Owner as Owner
    from ringmaster.fabric.owner import Request as Request
    from ringmaster.fabric.parameter import Limits as Limits
    from ringmaster.fabric.parameter import Parameter as Parameter
    from ringmaster.fabric.parameter import ParameterReading as ParameterReading
    from ringmaster.fabric.setpoints import Setpoints as Setpoints
    from ringmaster.fabric.stream import Lane as Lane
    from ringmaster.fabric.stream import Stream as Stream
    from ringmaster.fabric.supply import Chain as Chain
    from ringmaster.fabric.supply import Supply as Supply
    from ringmaster.fabric.window import ReadResult as ReadResult
    from ringmaster.fabric.window import View as View
    from ringmaster.fabric.window import Window as Window
    from ringmaster.fabric.workspace import Workspace as Workspace
    from ringmaster.fabric.workspace import attach as attach

__version__ = "0.1.0"

_MODULE_OF = {
    "ApplicationState": "fabric.layout",
    "Archive": "archive.archive",
    "ArchiveAbsent": "errors",
    "ArchiveArgument": "errors",
    "ArchiveDamaged": "errors",
    "ArchiveError": "errors",
    "ArchiveWindow": "archive.window",
    "Chain": "fabric.supply",
    "Clock": "fabric.clock",
    "ClockReading": "fabric.clock",
    "Conversion": "fabric.conversion",
    "CounterBlock": "fabric.counters",
    "Frame": "fabric.frame",
    "Frames": "fabric.images",
    "FramesHeld": "errors",
    "Geometry": "fabric.frame",
    "Grant": "fabric.grant",
    "Group": "fabric.group",
    "GroupReading": "fabric.group",
    "Histogram": "fabric.histogram",
    "ImageStatus": "fabric.layout",
    "InstrumentKind": "fabric.layout",
    "Lane": "fabric.stream",
    "LaneType": "fabric.layout",
    "Limits": "fabric.parameter",
    "ObjectKind": "fabric.layout",
    "ObjectNotFound": "errors",
    "Orbit": "beam.orbit",
    "Owner": "fabric.owner",
    "OwnerBusy": "errors",
    "Parameter": "fabric.parameter",
    "ParameterReading": "fabric.parameter",
    "ReadResult": "fabric.window",
    "Refusal": "fabric.layout",
    "Request": "fabric.owner",
    "ReducedWindow": "archive.window",
    "RequestRefused": "errors",
    "RequestUnanswered": "errors",
    "Setpoints": "fabric.setpoints",
    "Severity": "fabric.layout",
    "Stream": "fabric.stream",
    "Supply": "fabric.supply",
    "SupplyState": "fabric.layout",
    "UnitUnknown": "errors",
    "View": "fabric.window",
    "Window": "fabric.window",
    "Workspace": "fabric.workspace",
    "WorkspaceAbsent": "errors",
    "WorkspaceDamaged": "errors",
    "WorkspaceDead": "errors",
    "WorkspaceError": "errors",
    "WorkspaceHalfMade": "errors",
    "WorkspaceStopped": "errors",
    "WorkspaceVersion": "errors",
    "attach": "fabric.workspace",
    "camera_names": "fabric.images",
    "find_tune": "beam.tune",
    "frames": "fabric.images",
    "read_orbit": "beam.orbit",
    "read_tunes": "beam.tune",
    "spectrum": "beam.tune",
}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'ringmaster' has no attribute {name!r}")
    return getattr(import_module(f"ringmaster.{_MODULE_OF[name]}"), name)

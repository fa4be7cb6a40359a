# SPDX-License-Identifier: Apache-2.0
"""Attaching to a workspace, and finding what is in it."""

import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from ringmaster.errors import (
    ObjectNotFound,
    WorkspaceAbsent,
    WorkspaceDamaged,
    WorkspaceDead,
    WorkspaceError,
    WorkspaceHalfMade,
    WorkspaceStopped,
    WorkspaceWarning,
)
from ringmaster.fabric.calibration import Calibration, read_units
from ringmaster.fabric.clock import Clock
from ringmaster.fabric.counters import CounterBlock
from ringmaster.fabric.grant import Grant
from ringmaster.fabric.group import Group
from ringmaster.fabric.histogram import Histogram
from ringmaster.fabric.intended import Intended
from ringmaster.fabric.layout import ObjectKind, SegmentState
from ringmaster.fabric.memory import text
from ringmaster.fabric.naming import Named
from ringmaster.fabric.parameter import Parameter, ParameterReading
from ringmaster.fabric.replies import Replies
from ringmaster.fabric.rows import Rows
from ringmaster.fabric.segment import ObjectInfo, Segment, is_finished, owner_lives
from ringmaster.fabric.setpoints import Setpoints
from ringmaster.fabric.standby import StandbyOrders, StandbyState, StateBytes
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.supply import Chain, Supply, find_chains, find_supplies

if TYPE_CHECKING:
    from ringmaster.fabric.request import Requester, Wanted

T = TypeVar("T")

DAMAGE = (ValueError, OverflowError, IndexError, TypeError, MemoryError)
"""What numbers without sense in a segment lead to; never what a caller did."""

SERVER = "server"
CAMERAS = "cameras"
"""The owner of images: the receiver of cameras."""
STARTED_BY = {SERVER: "ringmaster run CONFIG.yaml", CAMERAS: "ringmaster cameras run CONFIG.yaml"}
REQUESTS_FOLDER = "requests"
"""Of a workspace: who asks for a parameter to be set has a segment here while it asks; readers leave it alone."""
SUPPLY_NAMES = "supply/names"
"""A text: all supplies in the order of the configuration, one in a line."""
ANSWER_TIMEOUT_S = 10.0
"""How long the owner of a parameter has to answer. The server itself waits up to 5 s for a role without its core."""


COMMON_ROOT = Path("/dev/shm/ringmaster")
"""Workspaces of all who may write there; it is root who makes it."""


def workspaces_roots() -> list[Path]:
    """Where workspaces are: in $RINGMASTER_WORKSPACES, or in the common folder and in the user's own."""
    if chosen := os.environ.get("RINGMASTER_WORKSPACES"):
        return [Path(chosen)]
    own = COMMON_ROOT.with_name(f"{COMMON_ROOT.name}-{os.geteuid()}")
    return [COMMON_ROOT, own] if _is_mine(own) else [COMMON_ROOT]


def _is_mine(path: Path) -> bool:
    try:
        return path.lstat().st_uid == os.geteuid()
    except FileNotFoundError:
        return True


def attach(name: str | None = None, dead: bool = False) -> "Workspace":
    """Attaches read-only to the workspace ``name``: the server's segment, and those of all other owners that are whole.

    A name with a slash is taken as a path. Without a name it is the only workspace there is, or the only one whose
    server lives. ``dead=True`` also takes one whose server has ended or is stopped, to read what it left.

    Raises WorkspaceAbsent, WorkspaceHalfMade, WorkspaceVersion, WorkspaceDead, WorkspaceStopped, each with its own text
    and all of them a WorkspaceError; OSError where the operating system refuses.
    """
    return Workspace(directory_of(name), dead)


def directory_of(name: str | None, owner: str = SERVER) -> Path:
    """The directory of a workspace, named as in ``attach``. Without a name, of the only one that has this owner."""
    if name is None:
        return _only_workspace(workspaces_roots(), owner)
    if "/" in name:
        return Path(name)
    places = [root / name for root in workspaces_roots()]
    found = [place for place in places if place.is_dir()]
    if len(found) > 1:
        raise WorkspaceAbsent(
            f"workspace {name!r} is in two places, {found[0].parent} and {found[1].parent}: stop one and let "
            f"`ringmaster clean` remove what it left, or say which by its path"
        )
    return found[0] if found else places[0]


def _only_workspace(roots: list[Path], owner: str) -> Path:
    found = sorted(path.parent for root in roots for path in root.glob(f"*/{owner}.segment"))
    living = [path for path in found if owner_lives(path, owner)]
    for candidates in (living, found):
        if len(candidates) == 1:
            return candidates[0]
    where = " or ".join(map(str, roots))
    if not found:
        raise WorkspaceAbsent(f"no workspace in {where}: start one with `{STARTED_BY[owner]}`")
    names = ", ".join(path.name for path in living or found)
    raise WorkspaceAbsent(f"several workspaces in {where}: {names}; say which one (`-w NAME` on the command line)")


class Workspace:
    """An attached workspace; use it in a ``with`` statement, or ``close()`` it.

    Everything is mapped read-only: a reader can do no harm, and may end at any instant.
    """

    def __init__(self, directory: Path, dead: bool = False) -> None:
        """See ``attach``."""
        self.path = directory
        self.name = directory.name
        self._server = _server_segment(directory)
        if not dead:
            try:
                self._check(self._server)
            except WorkspaceError:
                self._server.close()
                raise
        self._files = _segment_files(directory)
        others = [path for path in sorted(self._files) if path.name != f"{SERVER}.segment"]
        self._requester: Requester | None = None
        self.left_out: dict[str, str] = {}
        """Segments of other owners that are damaged, or not for us to read: file and reason."""
        self._half_made: list[Path] = []
        self._segments = [self._server, *filter(None, map(self._whole_segment, others))]

    def _whole_segment(self, path: Path) -> Segment | None:
        """Another owner's segment. None when it cannot be read: then it is named, and the rest works."""
        try:
            return Segment(path)
        except FileNotFoundError:
            return None
        except (WorkspaceError, OSError) as error:
            self.left_out[str(path)] = str(error)
            if isinstance(error, WorkspaceHalfMade):
                self._half_made.append(path)
            if isinstance(error, WorkspaceHalfMade | PermissionError):  # it may be ready in a moment, or is not ours
                return None
            warnings.warn(f"{path.name.removesuffix('.segment')} is left out: {error}", WorkspaceWarning, stacklevel=4)
            return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<workspace {self.path}: {len(self.objects)} objects>"

    def close(self) -> None:
        """Detaches. Streams, views and other objects that are still referenced keep their memory, and stay readable."""
        for name in [name for name in vars(self) if isinstance(vars(self)[name], Named | Clock)]:
            delattr(self, name)
        for segment in self._segments:
            segment.close()
        if self._requester is not None:
            self._requester.close()
            self._requester = None

    @property
    def alive(self) -> bool:
        """Whether the server lives and keeps this segment; one system call. If not, attach again."""
        return self._server.alive

    def check(self, owner: str = SERVER) -> None:
        """Whether what an owner says is of now. Raises WorkspaceDead where it has ended, WorkspaceHalfMade where it is
        starting, WorkspaceStopped where its process is stopped, ObjectNotFound where there is none of that name.
        """
        if owner not in self.segments:
            raise ObjectNotFound(f"workspace {self.name!r} has no owner {owner!r}")
        self._check(self.segments[owner])

    def _check(self, segment: Segment) -> None:
        is_server = segment.owner == SERVER
        what = "the server" if is_server else f"{segment.owner!r}"
        if not segment.alive:
            begins = segment.state in (SegmentState.BUILDING, SegmentState.LIVE)
            if begins and owner_lives(segment.path.parent, segment.owner):
                raise WorkspaceHalfMade(
                    f"{what} of workspace {self.name!r} is starting just now; try again in a moment"
                )
            raise WorkspaceDead(
                f"{what} of workspace {self.name!r} has ended; start it again, or read what it left (`ringmaster get "
                f"--dead`, in Python dead=True)"
            )
        if segment.stopped:
            raise WorkspaceStopped(
                f"{what} of workspace {self.name!r} is stopped (process {segment.owner_pid}, by SIGSTOP or a "
                f"debugger), so nothing that it says is of now; `kill -CONT {segment.owner_pid}` lets it go on"
            )

    @property
    def outdated(self) -> bool:
        """Whether other owners' segments have come, gone, been replaced or finished since: attach again to see them."""
        return _segment_files(self.path) != self._files or any(map(is_finished, self._half_made))

    @cached_property
    def objects(self) -> Mapping[str, ObjectInfo]:
        """Everything there is, by whole name: kind, unit, shape, description."""
        objects: dict[str, ObjectInfo] = {}
        for segment in self._segments:
            for info in segment.objects:
                objects.setdefault(info.name, info)  # what the server publishes, no other owner can hide
        return objects

    @property
    def segments(self) -> Mapping[str, Segment]:
        """The segments by owner, "server" first: who is alive, since when, in which generation."""
        return {segment.owner: segment for segment in self._segments}

    @cached_property
    def streams(self) -> Named[Stream]:
        """Streams by name: "bpm01/turn", "bpm01/fast", "bpm01/low_latency"."""
        make = partial(Stream, find_calibration=self._calibration)
        return self._named("stream", "stream/", ObjectKind.STREAM, make)

    @cached_property
    def rows(self) -> Named[Rows]:
        """Row rings by name: "tune/spectrum_x"."""
        return self._named("row ring", "rows/", ObjectKind.ROWS, Rows)

    def _calibration(self, instrument: str) -> Calibration | None:
        """The calibration of an instrument, or None where there is none."""
        name = f"calibration/{instrument}"
        if name not in self.parameters or f"{name}/units" not in self.texts:
            return None
        values = np.atleast_1d(np.asarray(self.parameters[name].value, np.float64))
        return Calibration(values, read_units(self.texts[f"{name}/units"]))

    @cached_property
    def parameters(self) -> Named[Parameter]:
        """Parameters by name: "server/turn_rate_hz"."""
        return self._named("parameter", "", ObjectKind.PARAMETER, Parameter)

    def put(
        self, name: str, value: "Wanted", unit: str | None = None, timeout: float = ANSWER_TIMEOUT_S, first: int = 0
    ) -> ParameterReading:
        """Asks the owner of a parameter to set it, waits until that is done, and returns what it is then.

        Of an array ``value`` may be a part, from element ``first`` on. The first call makes a small segment of our own
        in the workspace's folder ``requests``, so that is where one needs the right to write.

        Raises RequestRefused with the owner's reason, RequestUnanswered when it does not answer within ``timeout``
        seconds, WorkspaceDead when it has ended, ValueError for what is no value of that parameter.
        """
        from ringmaster.fabric.request import packed

        parameter = self.parameters[name]
        values = packed(parameter, value, unit, first)
        self._ask().put(parameter, values, first, timeout)
        return parameter.read(unit)

    def put_together(self, values: Mapping[str, "Wanted"], timeout: float = ANSWER_TIMEOUT_S) -> dict[str, str]:
        """Asks for several parameters at once, as ``put`` does for one, and waits for all.

        An application takes what one requester asks for within 0.3 ms as one change between two steps: settings that
        only go together are set so. Returns for each name why it was refused, "" where it was done. Raises what ``put``
        raises, but for RequestRefused.
        """
        from ringmaster.fabric.request import packed

        wanted = [(self.parameters[name], packed(self.parameters[name], value)) for name, value in values.items()]
        return dict(zip(values, self._ask().put_together(wanted, timeout), strict=True))

    def _ask(self) -> "Requester":
        """What we ask with, from the first request on."""
        from ringmaster.fabric.request import Requester

        if self._requester is None:
            self._requester = Requester(self.path)
        return self._requester

    @cached_property
    def groups(self) -> Named[Group]:
        """Groups of parameters that change together, by name: "ramp/settings"."""
        return self._named("group", "", ObjectKind.GROUP, partial(Group, find_members=self._members))

    def _members(self, group: str) -> list[Parameter]:
        return [parameter for parameter in self.parameters.values() if parameter.group == group]

    @cached_property
    def setpoints(self) -> Named[Setpoints]:
        """Setpoint vectors by owner: "ramp"; "sent" is what the server sent to all supplies."""

        def make(segment: Segment, info: ObjectInfo) -> Setpoints:
            return Setpoints(segment, info, self._actuators(info.name.removeprefix("setpoints/")))

        return self._named("setpoints object", "setpoints/", ObjectKind.SETPOINTS, make)

    @cached_property
    def intended(self) -> Intended:
        """What each chain of supplies may have been sent last: for a killed server's successor."""
        return self._named("setpoints object", "setpoints/", ObjectKind.INTENDED, Intended)["intended"]

    @cached_property
    def grants(self) -> Named[Grant]:
        """What the server allows each application, by name, and the "operator"."""

        def make(segment: Segment, info: ObjectInfo) -> Grant:
            return Grant(segment, info, self._actuators(info.name.removeprefix("grant/")))

        return self._named("grant", "grant/", ObjectKind.GRANT, make)

    @cached_property
    def standby(self) -> Named[StandbyState]:
        """What the server is, where it is one of two: "standby/state". Empty where it is the only one."""
        return self._named("standby state", "", ObjectKind.STANDBY_STATE, StandbyState)

    @cached_property
    def standby_orders(self) -> Named[StandbyOrders]:
        """What it may do, as `ringmaster-standby` says: "standby/orders"."""
        return self._named("standby orders", "", ObjectKind.STANDBY_ORDERS, StandbyOrders)

    @cached_property
    def states(self) -> Named[StateBytes]:
        """States of applications as bytes, by whole name: "state/ramp", and the peer's, "peer/state/ramp"."""
        return self._named("state", "", ObjectKind.STATE, StateBytes)

    @cached_property
    def replies(self) -> Named[Replies]:
        """What owners have answered to requests, by name: "ramp/replies"."""
        return self._named("replies object", "", ObjectKind.REPLIES, Replies)

    def _actuators(self, application: str) -> tuple[str, ...]:
        """Supplies in the order of an application's setpoint vector, where it says them, or of the server's."""
        own = f"{application}/supplies"
        text = own if own in self.texts else SUPPLY_NAMES
        return tuple(self.texts[text].split()) if text in self.texts else ()

    @cached_property
    def supplies(self) -> Named[Supply]:
        """Power supplies by name: "sr/ps/ch_s01_01"."""
        names = tuple(self.texts[SUPPLY_NAMES].split()) if SUPPLY_NAMES in self.texts else ()
        return find_supplies(names, self.parameters)

    @cached_property
    def chains(self) -> Named[Chain]:
        """Daisy chains of supplies by name: "c01"."""
        return find_chains(self.counter_blocks, self.streams)

    @cached_property
    def counter_blocks(self) -> Named[CounterBlock]:
        """Counter blocks by name: "stream/bpm01", "port/ring", "core/1", "clock", "sender/bpm01"."""
        return self._named("counter block", "counters/", ObjectKind.COUNTERS, CounterBlock)

    def counters(self, name: str) -> CounterBlock:
        """One counter block: ``ws.counters("stream/bpm01")["accepted"]``."""
        return self.counter_blocks[name]

    @cached_property
    def histograms(self) -> Named[Histogram]:
        """Histograms by name."""
        return self._named("histogram", "", ObjectKind.HISTOGRAM, partial(Histogram, clock=self._clock))

    @cached_property
    def texts(self) -> Named[str]:
        """Constant texts by name: "server/config"."""
        return self._named("text", "", ObjectKind.TEXT, _read_text)

    @property
    def clock(self) -> Clock:
        """The clocks. Raises ObjectNotFound where the server publishes none."""
        if self._clock is None:
            raise ObjectNotFound(f"workspace {self.name!r} has no clock")
        return self._clock

    @cached_property
    def _clock(self) -> Clock | None:
        clocks = self._named("clock", "", ObjectKind.CLOCK, Clock)
        return next(iter(clocks.values()), None)

    def _named(self, what: str, prefix: str, kind: ObjectKind, make: Callable[[Segment, ObjectInfo], T]) -> Named[T]:
        makers: dict[str, Callable[[], T]] = {}
        for segment in self._segments:
            for info in segment.objects:
                if info.kind == kind:
                    makers.setdefault(info.name.removeprefix(prefix), partial(_made, make, segment, info))
        return Named(what, makers)


def _made(make: Callable[[Segment, ObjectInfo], T], segment: Segment, info: ObjectInfo) -> T:
    """What reads an object. Raises WorkspaceDamaged where its owner has written nonsense."""
    try:
        return make(segment, info)
    except DAMAGE as error:
        raise WorkspaceDamaged(f"{segment.path}: {info.name!r} is damaged ({error}); start its owner anew") from None


def _server_segment(directory: Path) -> Segment:
    path = directory / f"{SERVER}.segment"
    try:
        return Segment(path)
    except FileNotFoundError:
        pass
    if owner_lives(directory, SERVER):
        raise WorkspaceHalfMade(f"{directory}: the server is still making it; try again in a moment")
    raise WorkspaceAbsent(
        f"no server has made a workspace in {directory}; start one with `ringmaster run CONFIG.yaml`, "
        f"or see `ls {directory.parent}` for others"
    )


def _segment_files(directory: Path) -> dict[Path, tuple[int, int]]:
    """Inode and size of every segment file: those in the workspace, and those of owners with a folder of their own."""
    files = {}
    folders = [path for path in directory.glob("*/*.segment") if path.stem == path.parent.name != REQUESTS_FOLDER]
    for path in [*directory.glob("*.segment"), *folders]:
        with suppress(FileNotFoundError, PermissionError):
            status = path.lstat() if path.is_symlink() and not path.exists() else path.stat()
            files[path] = (status.st_ino, status.st_size)
    return files


def _read_text(segment: Segment, info: ObjectInfo) -> str:
    return text(segment.memory[info.offset : info.offset + info.size])

# SPDX-License-Identifier: Apache-2.0
"""Frames of cameras, read in shared memory.

::

    for frame in ringmaster.frames("cam01"):
        print(frame.number, frame.image.mean())

The protocol is that of include/ringmaster/images.h, and the C library reads: a frame is leased while it is looked at.
"""

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Self

from ringmaster.errors import FramesHeld, WorkspaceDead
from ringmaster.fabric._library import call, ffi, lib
from ringmaster.fabric._library import text as c_text
from ringmaster.fabric.frame import Frame
from ringmaster.fabric.workspace import CAMERAS, directory_of

SLICE_S = 0.1
"""So long the C library waits at a time; then Python looks for an interrupt, and for frames that other threads left."""
NO_LEASE_S = 1.0
"""So long a reader asks for a lease while all are held."""
AGAIN_S = 0.002


def frames(camera: str, workspace: str | None = None) -> "Frames":
    """The frames of a camera, from the next one on. The workspace is named as in ``attach``.

    Without a name it is the only one that has cameras, or the only one whose receiver lives.
    Raises WorkspaceError: WorkspaceAbsent, ObjectNotFound and others.
    """
    return Frames(camera, directory_of(workspace, CAMERAS))


def camera_names(workspace: str | None = None) -> list[str]:
    """The cameras of a workspace."""
    memory = _attach(directory_of(workspace, CAMERAS))
    objects = (lib.rm_workspace_object(memory, i, ffi.NULL) for i in range(lib.rm_workspace_object_count(memory)))
    names = [c_text(found.name) for found in objects if found.kind == lib.RM_OBJECT_IMAGES]
    return [name.removeprefix("images/") for name in names]


def _attach(directory: Path) -> Any:
    """All of a workspace, mapped as long as the result is referenced; it may have no server."""
    made = ffi.new("struct rm_workspace **")
    call(lib.rm_workspace_attach, os.fsencode(directory.absolute()), lib.RM_ATTACH_SERVERLESS, made)
    return ffi.gc(made[0], lib.rm_workspace_detach)


class _Reader:
    """A reader of the C library, which is for one thread. Arrays may die in any, so leases come back by a queue."""

    def __init__(self, directory: Path, camera: str) -> None:
        self.memory = _attach(directory)
        view, made = ffi.new("struct rm_images_view *"), ffi.new("struct rm_images_reader **")
        call(lib.rm_workspace_images, self.memory, camera.encode(), view)
        call(lib.rm_images_reader_new, view, made)
        self.most_bytes, self.most_fragments = int(view.frame_bytes), 8 * int(view.map_bytes)
        self.leases = int(view.lease_count)
        self.held = 0
        self._pointer = ffi.gc(made[0], lib.rm_images_reader_free)
        self._release = lib.rm_images_release
        self._process = os.getpid()
        self._lock = Lock()
        self._back: deque[Any] = deque()

    def take(self, newest: bool, timeout_s: float) -> tuple[int, Any]:
        """One call of the C library: its verdict, and what it leased."""
        leased = ffi.new("struct rm_frame *")
        function = lib.rm_images_newest if newest else lib.rm_images_next
        self._give_back_all()
        with self._lock:
            verdict = function(self._pointer, int(timeout_s * 1e9), leased)
            self.held += verdict == lib.RM_FRAME_OK
        self._give_back_all()
        return verdict, leased

    def give_back(self, leased: Any) -> None:
        """A lease ends. A fork shares the locks of its parent, and must not end what that still reads."""
        if os.getpid() == self._process:
            self._back.append(leased)
            self._give_back_all()

    def _give_back_all(self) -> None:
        """Where the lock is taken, the thread that has it looks here again."""
        while self._back and self._lock.acquire(blocking=False):
            try:
                while self._back:
                    self._release(self._pointer, self._back.popleft())
                    self.held -= 1
            finally:
                self._lock.release()


class _Lease:
    """Ends when the frame and all arrays that look into it are gone."""

    def __init__(self, reader: _Reader, leased: Any) -> None:
        self._reader, self._leased = reader, leased

    def __del__(self) -> None:
        self._reader.give_back(self._leased)


class Frames:
    """A reader of one camera: iterate over it, or ask for the next frame or the newest. For one thread.

    Other readers read the same frames. One that keeps too many is told so by FramesHeld, and disturbs no other.
    """

    def __init__(self, camera: str, directory: Path) -> None:
        """See ``frames``."""
        self.camera = camera
        self._directory = directory
        self._reader: _Reader | None = _Reader(directory, camera)

    def __repr__(self) -> str:
        return f"<frames of {self.camera} in {self._directory}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends reading. Frames and arrays that are still referenced stay valid."""
        self._reader = None

    def __iter__(self) -> Iterator[Frame]:
        """Frame after frame, each released when the loop goes on. Ends when the receiver has ended."""
        while True:
            try:
                frame = self.next()
            except WorkspaceDead:
                return
            assert frame is not None  # it waits for one
            with frame:
                yield frame

    def next(self, timeout: float | None = None) -> Frame | None:
        """The frame after the one that was had last, or the oldest still there if that is gone.

        Waits ``timeout`` seconds, or for ever; None when there is none in this time. Raises WorkspaceDead when the
        receiver has ended and nothing more lies there; FramesHeld.
        """
        return self._wait(False, timeout)

    def newest(self, timeout: float | None = None) -> Frame | None:
        """The newest frame, if it was not had yet; else as ``next``. Those between count as passed over."""
        return self._wait(True, timeout)

    def _wait(self, newest: bool, timeout: float | None) -> Frame | None:
        reader = self._reader
        if reader is None:
            raise ValueError(f"reading of {self.camera} was closed")
        begin = had_lease = monotonic()
        end = begin + timeout if timeout is not None else float("inf")
        while True:
            now = monotonic()
            verdict, leased = reader.take(newest, max(0.0, min(SLICE_S, end - now)))
            if verdict == lib.RM_FRAME_OK:
                lease = _Lease(reader, leased)
                return Frame(self.camera, lease, leased, reader.most_bytes, reader.most_fragments)
            if verdict == lib.RM_FRAME_ENDED:
                raise WorkspaceDead(
                    f"{self._directory}: the receiver of {self.camera} has ended; start it, and read anew"
                )
            now = monotonic()
            if now >= end:
                return None
            if verdict != lib.RM_FRAME_NO_LEASE:
                had_lease = now
                continue
            if now - had_lease >= NO_LEASE_S:
                raise FramesHeld(
                    f"{self.camera}: all {reader.leases} leases are held, {reader.held} of them here; let go of frames "
                    f"and their arrays, and copy what is to be kept (`frame.image.copy()`)"
                )
            sleep(AGAIN_S)

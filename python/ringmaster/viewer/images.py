# SPDX-License-Identifier: Apache-2.0
"""Frames of the fabric for the viewer: a reader of each camera of a workspace."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import WorkspaceDead, WorkspaceError
from ringmaster.fabric import frame as fabric
from ringmaster.fabric.images import Frames, camera_names, frames
from ringmaster.fabric.parameter import Parameter
from ringmaster.fabric.segment import Segment
from ringmaster.fabric.workspace import CAMERAS, directory_of
from ringmaster.viewer.frame import Frame, Head, Pixels
from ringmaster.viewer.source import ReceiverEnded

TSC_RATE = "cameras/tsc_hz"
"""Parameter of the receiver: rate of the CPU's time stamp counter."""
BAYER = "Bayer"


class LeasedFrame:
    """A frame of the fabric as a ``Frame`` of the viewer."""

    def __init__(self, leased: "fabric.Frame", tsc_hz: float) -> None:
        self._leased = leased
        self.head = _head(leased, tsc_hz)
        self._mask = (1 << self.head.bits) - 1

    def lines(self, rows: NDArray[np.intp]) -> Pixels:
        """As ``Frame.lines``."""
        geometry = self._leased.geometry
        assert geometry is not None
        if geometry.pixel_bytes == 0:
            return self._leased.unpacked(rows)
        picked: Pixels = self._leased.image[rows]
        if self.head.bits < 8 * geometry.pixel_bytes:
            picked &= self._mask  # a camera may send anything in the bits above
        return picked

    def arrived(self) -> NDArray[np.bool_]:
        """As ``Frame.arrived``."""
        return ~self._leased.missing


def _head(leased: "fabric.Frame", tsc_hz: float) -> Head:
    geometry = leased.geometry if _has_image(leased) else None
    name = geometry.pixel_format if geometry else "unknown"
    ticks = leased.published_tsc - leased.last_tsc
    return Head(
        sequence=leased.sequence,
        number=leased.number,
        width=geometry.width if geometry else 0,
        height=geometry.height if geometry else 0,
        format_name=name,
        bits=geometry.bits if geometry else 0,
        pattern=name.removeprefix(BAYER)[:2] if name.startswith(BAYER) else "",
        line_bytes=geometry.line_bytes + geometry.padding_x if geometry else 0,
        pixel_bits=8 * geometry.line_bytes // geometry.width if geometry else 8,
        status=int(leased.status),
        fragments=leased.fragments,
        placed=leased.placed,
        fragment_bytes=leased.fragment_bytes,
        resent=leased.resent,
        turn=leased.turn,
        published_us=max(0, ticks) / tsc_hz * 1e6 if tsc_hz > 0 else None,
        first_tai_ns=leased.tai_ns,
    )


def _has_image(leased: "fabric.Frame") -> bool:
    """Whether its geometry is there, known, and filled by its bytes."""
    try:
        leased.unpacked(np.arange(0))
    except ValueError:
        return False
    return True


class Images:
    """The cameras of a workspace in which a receiver lives."""

    def __init__(self, workspace: str | None = None) -> None:
        """The workspace is named as in ``ringmaster.frames``. Raises WorkspaceError."""
        self._directory: Path = directory_of(workspace, CAMERAS)
        self._tsc_hz = 0.0
        self._readers: dict[str, Frames] = {}
        self._attach()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of all cameras."""
        for reader in self._readers.values():
            reader.close()
        self._readers = {}

    @property
    def workspace(self) -> str:
        """Its name."""
        return self._directory.name

    @property
    def names(self) -> Sequence[str]:
        """As ``Source.names``, in the order of the receiver's file."""
        return tuple(self._readers)

    @contextmanager
    def frame(self, name: str, following: bool = False) -> Iterator[Frame | None]:
        """As ``Source.frame``."""
        reader = self._readers[name]
        try:
            leased = reader.next(0) if following else reader.newest(0)
        except WorkspaceDead as error:
            raise ReceiverEnded(str(error)) from None
        if leased is None:
            yield None
            return
        with leased:
            yield LeasedFrame(leased, self._tsc_hz)

    def attach_again(self) -> bool:
        """As ``Source.attach_again``."""
        try:
            self._attach()
        except WorkspaceError:
            return False
        return True

    def _attach(self) -> None:
        self.close()
        path = str(self._directory.absolute())
        self._readers = {name: frames(name, path) for name in camera_names(path)}
        for reader in self._readers.values():
            if (leased := reader.newest(0)) is not None:  # raises WorkspaceDead, where all is left of a dead one
                leased.release()
        self._tsc_hz = _tsc_hz(self._directory)


def _tsc_hz(directory: Path) -> float:
    """Of a receiver; 0 where it does not say."""
    segment = Segment(directory / f"{CAMERAS}.segment")
    try:
        found = [info for info in segment.objects if info.name == TSC_RATE]
        return float(np.asarray(Parameter(segment, found[0]).read().value)) if found else 0.0
    finally:
        segment.close()

# SPDX-License-Identifier: Apache-2.0
"""A receiver's cameras, looked at again and again: what each did since the look before."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import numpy as np
import numpy.typing as npt

from ringmaster.cameras.leases import held
from ringmaster.errors import WorkspaceAbsent, WorkspaceDamaged, WorkspaceDead
from ringmaster.fabric import layout
from ringmaster.fabric.counters import CounterBlock
from ringmaster.fabric.layout import ObjectKind
from ringmaster.fabric.memory import structure, structures
from ringmaster.fabric.parameter import Parameter
from ringmaster.fabric.segment import ObjectInfo, Segment
from ringmaster.fabric.workspace import CAMERAS

PREFIX = "images/"
LOST = ("skipped", "dropped", "unread")
"""Counters of frames that no reader was given. One that was skipped and came after all is out of order, too."""


@dataclass(frozen=True)
class CameraStatus:
    """One camera. Counts are since the receiver's start, rates since the look before."""

    name: str
    width: int
    height: int
    """Of the newest frame, pixels; 0 while none came, or none told its geometry."""
    bits: int
    """Of a pixel as it is sent, as PFNC has them."""
    fps: float
    """Published frames per second."""
    bytes_per_s: float
    whole: int
    incomplete: int
    """Delivered, with zeros or the frame before where something is missing."""
    lost: int
    """Delivered to nobody: nothing of them came, or they were dropped."""
    resent_packets: int
    """Packets that were asked for again."""
    refused: int
    """Datagrams that were no sound part of a frame."""
    latency_us: float | None
    """From the last fragment's arrival to the frame in readers' hands: median of those that lie there."""
    latency_most_us: float | None
    leased: int | None
    """Frames that readers hold just now; None where that may not be asked."""
    leases: int


class CameraWatch:
    """The receiver of one workspace."""

    def __init__(self, directory: Path) -> None:
        """Raises WorkspaceAbsent, or what opening a segment raises."""
        path = directory / f"{CAMERAS}.segment"
        try:
            self._segment = Segment(path)
        except FileNotFoundError:
            raise WorkspaceAbsent(
                f"{directory.name}: no cameras are received there; start that with `ringmaster cameras run CONFIG.yaml`"
            ) from None
        self._leases = path.with_suffix(".leases")
        objects = {info.name: info for info in self._segment.objects}
        self._cameras = [_Camera(self._segment, objects, name) for name in objects if name.startswith(PREFIX)]
        self._tsc_hz = float(Parameter(self._segment, objects["cameras/tsc_hz"]).read().value)

    def look(self) -> list[CameraStatus]:
        """Raises WorkspaceDead when the receiver has ended."""
        if not self._segment.alive:
            raise WorkspaceDead(f"{self._segment.path.parent.name}: its receiver of cameras has ended; start it again")
        return [camera.look(self._leases, self._tsc_hz) for camera in self._cameras]


class _Camera:
    def __init__(self, segment: Segment, objects: Mapping[str, ObjectInfo], whole_name: str) -> None:
        self._name = whole_name.removeprefix(PREFIX)
        info = objects[whole_name]
        counters = objects.get(f"counters/camera/{self._name}")
        if info.kind != ObjectKind.IMAGES or counters is None:
            raise WorkspaceDamaged(f"{segment.path}: {whole_name!r} is no images with counters; start {CAMERAS} anew")
        self._counters = CounterBlock(segment, counters)
        self._images = structure(segment.memory, layout.IMAGES, info.offset)
        head = self._images[0]
        self._slots = structures(
            segment.memory, layout.IMAGE_SLOT, info.offset + int(head["slots_offset"]), int(head["slot_count"])
        )
        self._before = dict(self._counters)
        self._before_s = monotonic()

    def look(self, leases: Path, tsc_hz: float) -> CameraStatus:
        now, now_s = dict(self._counters), monotonic()
        seconds = max(now_s - self._before_s, 1e-3)
        rates = {name: (now[name] - self._before[name]) / seconds for name in ("published", "bytes")}
        self._before, self._before_s = now, now_s
        newest, latencies_us = self._newest(), self._latencies_us(tsc_hz)
        head = self._images[0]
        lease_count = int(head["lease_count"])
        return CameraStatus(
            name=self._name,
            width=int(newest["width"]),
            height=int(newest["height"]),
            bits=int(newest["pixel_format"]) >> 16 & 255,
            fps=rates["published"],
            bytes_per_s=rates["bytes"],
            whole=now["whole"],
            incomplete=now["incomplete"] + now["filled"],
            lost=max(0, sum(now[name] for name in LOST) - now["out_of_order"]),
            resent_packets=now["resend_packets"],
            refused=_refused(now),
            latency_us=float(np.median(latencies_us)) if latencies_us.size else None,
            latency_most_us=float(latencies_us.max()) if latencies_us.size else None,
            leased=held(leases, int(head["lease_base"]), lease_count),
            leases=lease_count,
        )

    def _newest(self) -> np.void:
        newest: np.void = self._slots[int(np.argmax(self._slots["sequence"]))].copy()
        return newest

    def _latencies_us(self, tsc_hz: float) -> npt.NDArray[np.float64]:
        """Of the frames that lie there and stayed while they were looked at."""
        sequence = self._slots["sequence"].copy()
        ticks = (self._slots["published_tsc"] - self._slots["last_tsc"]).astype(np.int64)
        stayed = (sequence != 0) & (self._slots["sequence"] == sequence)
        latencies_us: npt.NDArray[np.float64] = ticks[stayed] / tsc_hz * 1e6
        return latencies_us


def _refused(counts: Mapping[str, int]) -> int:
    names = list(counts)
    first, end = names.index("misplaced"), names.index("gathered")
    return sum(counts[name] for name in names[first:end])

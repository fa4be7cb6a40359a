# SPDX-License-Identifier: Apache-2.0
"""An owner of images, as the receiver of cameras is one, by include/ringmaster/images.h: for tests of readers."""

import fcntl
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from ringmaster.fabric import layout
from ringmaster.fabric._library import call, ffi, lib
from ringmaster.fabric.layout import ImageMarks
from ringmaster.fabric.segment import LOCK
from ringmaster.fabric.workspace import CAMERAS, directory_of

MONO8, MONO12, MONO12P = 0x01080001, 0x01100005, 0x010C0047


class Camera:
    """The images of one camera in a workspace that has no server. It closes with the test, or by ``close``."""

    def __init__(
        self, name: str = "cam01", workspace: str = "demo", slots: int = 8, leases: int = 3, frame_bytes: int = 4096
    ) -> None:
        """All slots are its own."""
        directory = directory_of(workspace)
        owner = ffi.new("struct rm_owner **")
        call(lib.rm_owner_new, os.fsencode(directory), CAMERAS.encode(), owner)
        self._owner = owner[0]
        texts = [ffi.new("char[]", text) for text in (name.encode(), b"a camera")]
        plan: dict[str, Any] = {"name": texts[0], "description": texts[1], "slots": slots, "leases": leases}
        plan |= {"frame_bytes": frame_bytes, "fragments_max": 100}
        index = lib.rm_owner_images(self._owner, ffi.new("struct rm_images_plan *", plan))
        call(lib.rm_owner_open, self._owner)
        start = lib.rm_owner_memory(self._owner, index)
        self._images = np.frombuffer(ffi.buffer(start, layout.IMAGES.itemsize), layout.IMAGES)[0]
        images = self._images
        whole = int(images["bytes_offset"]) + slots * int(images["frame_bytes"])
        memory = np.frombuffer(ffi.buffer(start, whole), np.uint8)
        begin, end = int(images["slots_offset"]), int(images["maps_offset"])
        self.slots = memory[begin:end].view(layout.IMAGE_SLOT)
        self.maps = memory[end : end + slots * int(images["map_bytes"])].reshape(slots, -1)
        self.bytes = memory[int(images["bytes_offset"]) :].reshape(slots, -1)
        self.own = list(range(slots))
        self.published: list[int] = []
        self._leases = os.open(directory / f"{CAMERAS}.leases", os.O_RDWR)
        assert all(self._lock(slot, fcntl.F_WRLCK) for slot in self.own)

    def _lock(self, slot: int, kind: int) -> bool:
        byte = int(self._images["lease_base"]) + slot
        try:
            fcntl.fcntl(self._leases, fcntl.F_OFD_SETLK, LOCK.pack(kind, os.SEEK_SET, byte, 1, 0))
        except BlockingIOError:
            return False
        return True

    def _free_slot(self) -> int:
        if self.own:
            return self.own.pop(0)
        slot = next(slot for slot in self.published[:-1] if self._lock(slot, fcntl.F_WRLCK))
        self.published.remove(slot)
        self.slots[slot]["sequence"] = 0
        return slot

    def publish(self, content: npt.NDArray[np.generic], pixel_format: int = MONO8, **members: object) -> int:
        """The next frame; ``content`` is its lines with their padding. Readers that sleep look again by themselves."""
        slot = self._free_slot()
        raw = np.ascontiguousarray(content).view(np.uint8).ravel()
        self.bytes[slot][: raw.size] = raw
        self.maps[slot] = 255
        description = self.slots[slot]
        description["flags"], description["turn"] = ImageMarks.HAS_GEOMETRY, layout.TURN_NONE
        description["pixel_format"], description["length"] = pixel_format, raw.size
        description["height"], description["width"] = content.shape
        description["fragments"] = description["placed"] = 10
        for member in ("status", "padding_x", "resent"):
            description[member] = 0
        for member, value in members.items():
            description[member] = value
        sequence = int(self._images["newest"]) + 1
        description["sequence"] = sequence
        assert self._lock(slot, fcntl.F_UNLCK)
        self._images["place"][sequence % 64] = sequence << 8 | slot
        self._images["newest"], self._images["bell"] = sequence, sequence
        self.published.append(slot)
        return sequence

    def close(self) -> None:
        """Ends in good order; the segment goes where nothing else is in the workspace."""
        os.close(self._leases)
        lib.rm_owner_close(self._owner)

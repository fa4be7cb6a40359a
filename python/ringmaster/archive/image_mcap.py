# SPDX-License-Identifier: Apache-2.0
"""Frames of cameras in an MCAP file: a channel for each camera, topic /cam01, of JSON messages.

A message is a foxglove.RawImage, so that viewers show it, with a few fields more. ``encoding`` is "mono8" or
"mono16" (least significant byte first), of Bayer patterns "bayer_rggb8" and so on, or "16UC1". ``data`` is base64, as
JSON has it. Both times of a message are the arrival of the frame's first fragment, in UTC.
"""

import base64
import json
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from ringmaster.archive.images import StoredFrame
from ringmaster.errors import ArchiveArgument

SCHEMA_NAME = "foxglove.RawImage"
_WHOLE = {"type": "integer", "minimum": 0}
SCHEMA: dict[str, Any] = {
    "title": SCHEMA_NAME,
    "description": "A frame of a camera, unpacked; the fields from number on are Ringmaster's",
    "type": "object",
    "properties": {
        "timestamp": {"type": "object", "title": "time", "properties": {"sec": _WHOLE, "nsec": _WHOLE}},
        "frame_id": {"type": "string", "description": "the camera"},
        "width": _WHOLE,
        "height": _WHOLE,
        "encoding": {"type": "string"},
        "step": {"type": "integer", "minimum": 0, "description": "bytes of a line"},
        "data": {"type": "string", "contentEncoding": "base64"},
        "number": {"type": "integer", "minimum": 0, "description": "of the frame, as the camera counts"},
        "turn": {"type": ["integer", "null"], "description": "of the exposure, or of the first fragment's arrival"},
        "device_time": {"type": "integer", "minimum": 0, "description": "the camera's time stamp, in its own units"},
        "pixel_format": {"type": "string", "description": "as the camera sent it, by GenICam's name"},
        "status": {"enum": ["whole", "incomplete", "filled"]},
        "missing": {"type": "integer", "minimum": 0, "description": "fragments that did not come"},
    },
}
_BAYER = {"GR": "grbg", "RG": "rggb", "GB": "gbrg", "BG": "bggr"}


class McapImages:
    """Writes frames into a new file."""

    def __init__(self, path: Path) -> None:
        try:
            from mcap.writer import Writer
        except ImportError:
            raise ArchiveArgument("MCAP needs the package mcap: install `ringmaster[archive]`") from None
        self._file = path.open("xb")
        self._writer: Any = Writer(self._file)
        self._writer.start(library="ringmaster")
        self._schema = self._writer.register_schema(SCHEMA_NAME, "jsonschema", json.dumps(SCHEMA).encode())
        self._channels: dict[str, int] = {}

    def __enter__(self) -> "McapImages":
        return self

    def __exit__(self, kind: type[BaseException] | None, it: BaseException | None, at: TracebackType | None) -> None:
        self._writer.finish()
        self._file.close()

    def append(self, frame: StoredFrame) -> bool:
        """One more frame, where its pixels are known."""
        try:
            pixels = frame.unpacked()
        except ValueError:
            return False
        if frame.camera not in self._channels:
            topic = f"/{frame.camera}"
            self._channels[frame.camera] = self._writer.register_channel(topic, "json", self._schema)
        self._writer.add_message(
            self._channels[frame.camera],
            log_time=frame.utc_ns,
            publish_time=frame.utc_ns,
            sequence=frame.sequence & 0xFFFFFFFF,
            data=json.dumps(message_of(frame, pixels)).encode(),
        )
        return True


def message_of(frame: StoredFrame, pixels: np.typing.NDArray[np.uint16]) -> dict[str, Any]:
    """A frame as a message."""
    geometry = frame.geometry
    assert geometry is not None, "it has pixels"
    values = pixels.astype(np.uint8 if geometry.bits == 8 else "<u2")
    return {
        "timestamp": {"sec": frame.utc_ns // 10**9, "nsec": frame.utc_ns % 10**9},
        "frame_id": frame.camera,
        "width": geometry.width,
        "height": geometry.height,
        "encoding": encoding_of(geometry.pixel_format, geometry.bits),
        "step": geometry.width * values.itemsize,
        "data": base64.b64encode(values.tobytes()).decode(),
        "number": frame.number,
        "turn": frame.turn,
        "device_time": frame.device_time,
        "pixel_format": geometry.pixel_format,
        "status": frame.status.name.lower(),
        "missing": frame.fragments - frame.placed,
    }


def encoding_of(pixel_format: str, bits: int) -> str:
    """What foxglove.RawImage calls unpacked pixels of a format."""
    if not pixel_format.startswith("Bayer"):
        return "mono8" if bits == 8 else "mono16"
    return f"bayer_{_BAYER[pixel_format[5:7]]}8" if bits == 8 else "16UC1"

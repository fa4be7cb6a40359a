# SPDX-License-Identifier: Apache-2.0
"""Aravis' library as a client of GigE Vision cameras, as far as tests need it."""

import ctypes
import ctypes.util
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import pytest

WAIT_US = 60_000_000
WITHOUT_PACKET_SOCKET = 1
"""Of a stream: by an ordinary socket. On a busy host the other one's ring is read while the kernel writes it."""
POINTERS = (
    *("arv_camera_new", "arv_camera_create_stream", "arv_stream_timeout_pop_buffer", "arv_buffer_new_allocate"),
    "arv_buffer_get_data",
)


class _Error(ctypes.Structure):
    """GLib's GError."""

    _fields_ = (("domain", ctypes.c_uint32), ("code", ctypes.c_int), ("message", ctypes.c_char_p))


@dataclass(frozen=True)
class Frame:
    """A buffer of Aravis, copied. ``status`` 0: it is whole."""

    number: int
    status: int
    time_ns: int
    data: bytes


def library() -> ctypes.CDLL:
    """Aravis; where there is none, the test is skipped."""
    name = ctypes.util.find_library("aravis-0.8")
    if name is None:
        pytest.skip("no Aravis, so nobody but ourselves opens the camera (apt install aravis-tools)")
    loaded = ctypes.CDLL(name)
    for pointer in POINTERS:
        getattr(loaded, pointer).restype = ctypes.c_void_p
    loaded.arv_camera_get_float.restype = ctypes.c_double
    loaded.arv_camera_get_string.restype = ctypes.c_char_p
    loaded.arv_buffer_get_frame_id.restype = loaded.arv_buffer_get_timestamp.restype = ctypes.c_uint64
    return loaded


class Camera:
    """A camera that Aravis has opened and controls; leaving it gives it back."""

    def __init__(self, address: str) -> None:
        self._aravis = library()
        self._camera: int = self._call("arv_camera_new", address.encode(), camera=False)
        self._stream = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        objects = ctypes.CDLL(ctypes.util.find_library("gobject-2.0"))
        for thing in filter(None, (self._stream, self._camera)):
            objects.g_object_unref(ctypes.c_void_p(thing))

    def _call(self, name: str, *arguments: Any, camera: bool = True) -> Any:
        error = ctypes.POINTER(_Error)()
        first = (ctypes.c_void_p(self._camera),) if camera else ()
        result = getattr(self._aravis, name)(*first, *arguments, ctypes.byref(error))
        if error:
            raise OSError(error.contents.message.decode())
        return result

    def text(self, feature: str) -> str:
        """Value of a string or enumeration."""
        value: bytes = self._call("arv_camera_get_string", feature.encode())
        return value.decode()

    def number(self, feature: str) -> float:
        """Value of a float."""
        return float(self._call("arv_camera_get_float", feature.encode()))

    def whole(self, feature: str) -> int:
        """Value of a whole number."""
        return int(self._call("arv_camera_get_integer", feature.encode()))

    def put(self, feature: str, value: str | float) -> None:
        """Sets a feature by the kind of its value."""
        if isinstance(value, str):
            self._call("arv_camera_set_string", feature.encode(), value.encode())
        elif isinstance(value, int):
            self._call("arv_camera_set_integer", feature.encode(), ctypes.c_int64(value))
        else:
            self._call("arv_camera_set_float", feature.encode(), ctypes.c_double(value))

    def start(self, buffers: int = 20) -> None:
        """Begins the stream."""
        size = int(self._call("arv_camera_get_payload"))
        self._aravis.arv_camera_gv_set_stream_options(ctypes.c_void_p(self._camera), WITHOUT_PACKET_SOCKET)
        self._stream = self._call("arv_camera_create_stream", None, None)
        for _ in range(buffers):
            self._push(self._aravis.arv_buffer_new_allocate(ctypes.c_size_t(size)))
        self._call("arv_camera_start_acquisition")

    def stop(self) -> None:
        """Ends it."""
        self._call("arv_camera_stop_acquisition")

    def _push(self, buffer: int) -> None:
        self._aravis.arv_stream_push_buffer(ctypes.c_void_p(self._stream), ctypes.c_void_p(buffer))

    def frame(self) -> Frame:
        """The next frame, whole or not."""
        buffer = self._aravis.arv_stream_timeout_pop_buffer(ctypes.c_void_p(self._stream), ctypes.c_uint64(WAIT_US))
        assert buffer, "no frame came"
        at, length = ctypes.c_void_p(buffer), ctypes.c_size_t()
        data = self._aravis.arv_buffer_get_data(at, ctypes.byref(length))
        frame = Frame(
            self._aravis.arv_buffer_get_frame_id(at),
            self._aravis.arv_buffer_get_status(at),
            self._aravis.arv_buffer_get_timestamp(at),
            ctypes.string_at(data, length.value),
        )
        self._push(buffer)
        return frame

# SPDX-License-Identifier: Apache-2.0
"""A consumer of GenTL that lets the producer allocate its buffers.

`gentl_consumer.py CTI CAMERA FRAMES BUFFERS hold|give` prints a line of JSON for each frame. With `hold` it never
queues a buffer again, and stays until it is killed.
"""

import ctypes
import hashlib
import json
import signal
import sys
from ctypes import byref, c_char_p, c_int32, c_size_t, c_uint64, c_void_p

BASE, SIZE_FILLED, FRAMEID = 0, 9, 16
NEW_BUFFER, EXCLUSIVE, START = 1, 4, 0x130
FOREVER = 2**64 - 1


class Consumer:
    """A camera of a producer, opened."""

    def __init__(self, path: str, camera: str) -> None:
        self._library = ctypes.CDLL(path)
        system, interface, device, port = c_void_p(), c_void_p(), c_void_p(), c_void_p()
        self.stream, self.event = c_void_p(), c_void_p()
        self.call("GCInitLib")
        self.call("TLOpen", byref(system))
        self.call("TLOpenInterface", system, c_char_p(b"cameras"), byref(interface))
        self.call("IFOpenDevice", interface, c_char_p(camera.encode()), c_int32(EXCLUSIVE), byref(device))
        self.call("DevGetPort", device, byref(port))
        self.call("DevOpenDataStream", device, c_char_p(b"images"), byref(self.stream))
        self.call("GCRegisterEvent", self.stream, c_int32(NEW_BUFFER), byref(self.event))
        self.port = port

    def call(self, name: str, *arguments: object) -> None:
        """Ends with the producer's words where it fails."""
        if getattr(self._library, name)(*arguments) == 0:
            return
        text, code = ctypes.create_string_buffer(512), c_int32()
        self._library.GCGetLastError(byref(code), text, byref(c_size_t(512)))
        sys.exit(f"{name}: {code.value}: {text.value.decode()}")

    def start(self, buffers: int) -> None:
        """With so many buffers of the size that the camera's frames have."""
        size = c_uint64()
        self.call("GCReadPort", self.port, c_uint64(0x128), byref(size), byref(c_size_t(8)))
        for _ in range(buffers):
            buffer = c_void_p()
            self.call("DSAllocAndAnnounceBuffer", self.stream, c_size_t(size.value), None, byref(buffer))
            self.queue(buffer)
        self.call("DSStartAcquisition", self.stream, c_int32(0), c_uint64(FOREVER))
        self.call("GCWritePort", self.port, c_uint64(START), byref(c_uint64(1)), byref(c_size_t(8)))

    def next(self) -> c_void_p:
        """The buffer of the next frame."""
        data = (c_void_p * 2)()
        self.call("EventGetData", self.event, data, byref(c_size_t(ctypes.sizeof(data))), c_uint64(FOREVER))
        return c_void_p(data[0])

    def number(self, buffer: c_void_p, command: int) -> int:
        """What is known of a buffer."""
        value = c_uint64()
        self.call("DSGetBufferInfo", self.stream, buffer, c_int32(command), None, byref(value), byref(c_size_t(8)))
        return value.value

    def queue(self, buffer: c_void_p) -> None:
        """Gives it back."""
        self.call("DSQueueBuffer", self.stream, buffer)


def main() -> None:
    path, camera, frames, buffers, what = sys.argv[1:]
    consumer = Consumer(path, camera)
    consumer.start(int(buffers))
    for _ in range(int(frames)):
        buffer = consumer.next()
        data = ctypes.string_at(consumer.number(buffer, BASE), consumer.number(buffer, SIZE_FILLED))
        line = {"number": consumer.number(buffer, FRAMEID), "digest": hashlib.sha256(data).hexdigest()}
        print(json.dumps(line), flush=True)
        if what == "give":
            consumer.queue(buffer)
    if what == "hold":
        signal.pause()
    consumer.call("GCCloseLib")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Frames as heaps of SPEAD, put together by spead2 on one core: the peer of `ringmaster bench frames`.

A process of its own, which prints JSON: `python -m ringmaster.bench.spead2_heaps BYTES CPU ROUNDS`. The heaps have the
bytes of our frames, in packets of so many bytes. spead2's own sender writes them; its receiver reads them from memory,
as its documentation has it for tests, and from a capture file in the page cache, which libpcap reads.
"""

import json
import os
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

HEAPS = 8
PORT = 8888
PAYLOAD_LENGTH = 0x04
"""Of the item that tells how much payload a packet has."""
IMMEDIATE = 1 << 63
ADDRESS_BITS = 48


def packets_of(heap_bytes: int, packet_bytes: int) -> bytes:
    """Heaps, and the packet that ends a stream, as spead2 sends them."""
    import spead2.send

    stream = spead2.send.BytesStream(spead2.ThreadPool(), spead2.send.StreamConfig(max_packet_size=packet_bytes))
    group = spead2.send.ItemGroup(flavour=spead2.Flavour(4, 64, ADDRESS_BITS))
    group.add_item(0x1000, "frame", "", shape=(heap_bytes,), dtype=np.uint8)
    for number in range(HEAPS):
        group["frame"].value = np.full(heap_bytes, number, np.uint8)
        stream.send_heap(group.get_heap(descriptors="none", data="all"))
    stream.send_heap(group.get_end())
    return bytes(stream.getvalue())


def split(packets: bytes) -> Iterator[bytes]:
    """Packet by packet: a head of 8 bytes, items of 8, and as much payload as an item tells."""
    at = 0
    while at < len(packets):
        count = struct.unpack_from(">H", packets, at + 6)[0]
        items = struct.unpack_from(f">{count}Q", packets, at + 8)
        wanted = IMMEDIATE | PAYLOAD_LENGTH << ADDRESS_BITS
        payload = next(item ^ wanted for item in items if item >> ADDRESS_BITS == wanted >> ADDRESS_BITS)
        length = 8 + 8 * count + payload
        yield packets[at : at + length]
        at += length


def capture(packets: bytes) -> Iterator[bytes]:
    """A capture file of them as UDP datagrams."""
    yield struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for packet in split(packets):
        udp = struct.pack(">HHHH", PORT, PORT, 8 + len(packet), 0)
        ip = struct.pack(">BBHHHBBHII", 0x45, 0, 28 + len(packet), 0, 0x4000, 64, 17, 0, 0x0A630001, 0x0A630002)
        frame = bytes(12) + b"\x08\x00" + ip + udp + packet
        yield struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame


def gbits_per_s(cpu: int, heap_bytes: int, add: Callable[[Any], None]) -> float:
    """Of all heaps, from the first packet to the last heap."""
    import spead2.recv

    memory = spead2.MemoryPool(heap_bytes, heap_bytes + 4096, HEAPS, HEAPS)
    config = spead2.recv.StreamConfig(max_heaps=4, memory_allocator=memory)
    stream = spead2.recv.Stream(spead2.ThreadPool(1, [cpu]), config)
    begin = perf_counter()
    add(stream)
    heaps = sum(1 for _ in stream)
    took = perf_counter() - begin
    if heaps != HEAPS:
        raise SystemExit(f"spead2 put {heaps} of {HEAPS} heaps together")
    return 8e-9 * HEAPS * heap_bytes / took


def main() -> None:
    """Both readers by turns."""
    import spead2

    heap_bytes, packet_bytes, cpu, rounds = map(int, sys.argv[1:])
    packets = packets_of(heap_bytes, packet_bytes)
    os.sched_setaffinity(0, {cpu})
    with TemporaryDirectory() as folder:
        file = Path(folder) / "heaps.pcap"
        with file.open("wb") as out:
            out.writelines(capture(packets))
        ways: dict[str, Callable[[Any], None]] = {
            "memory": lambda stream: stream.add_buffer_reader(packets),
            "pcap": lambda stream: stream.add_udp_pcap_file_reader(str(file)),
        }
        for add in ways.values():
            gbits_per_s(cpu, heap_bytes, add)
        found: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(rounds):
            for way, add in ways.items():
                found[way].append(gbits_per_s(cpu, heap_bytes, add))
    print(json.dumps({"version": spead2.__version__, "gbits_per_s": found}))


if __name__ == "__main__":
    main()

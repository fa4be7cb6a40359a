# SPDX-License-Identifier: Apache-2.0
"""Virtual cameras and their receiver at the ends of a memif, which loses nothing: every pixel and fault is counted."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from harness import SERVER_CORE, TIMEOUT_S, server, unique_name, wait_for

from ringmaster import frames
from ringmaster.fabric.counters import CounterBlock
from ringmaster.fabric.segment import Segment
from ringmaster.programs.program import Program, attach_to

WIDTH, HEIGHT, BITS, PICTURES = 640, 400, 12, 4
FRAMES = 24
CAMERAS = ("cam01", "cam02")
PAYLOAD_PACKETS = {"cam01": -(-WIDTH * HEIGHT * 3 // 2 // 1464), "cam02": -(-WIDTH * HEIGHT * 3 // 2 // 1408)}


def machine(root: Path, name: str) -> Path:
    """A GigE Vision camera and one of ours, which come in by a memif."""
    path = root / f"{name}.yaml"
    path.write_text(
        f"workspace: {name}\npolling: {{naps: true}}\n"
        f"ports: [{{name: cameras, kind: memif, socket: {root}/{name}.sock, role: server, udp_port: 20001}}]\n"
        "cameras:\n"
        f"  - {{name: cam01, port: cameras, address: 10.30.0.11, slots: 32, {GEOMETRY}}}\n"
        f"  - {{name: cam02, port: cameras, address: 10.30.0.12, slots: 32, {GEOMETRY}, format: fragments, id: 2}}\n"
    )
    return path


GEOMETRY = f"pixel_format: Mono12p, width: {WIDTH}, height: {HEIGHT}, deadline_ms: 60000, resend_percent: 0"


def received(root: Path, name: str) -> dict[str, dict[str, int]]:
    """The receiver's counters of both cameras."""
    segment = Segment(root / name / "cameras.segment")
    objects = {info.name: info for info in segment.objects}
    return {camera: dict(CounterBlock(segment, objects[f"counters/camera/{camera}"])) for camera in CAMERAS}


def sent(file: Path, overlay: Path) -> dict[str, Any]:
    """What virtual cameras say that they have sent, when they have sent their frames."""
    with Program("ringmaster-virtual-cameras", "run", file, overlay, "--frames", str(FRAMES), "--json") as program:
        assert program.wait(TIMEOUT_S) == 0, program.words
        counts: dict[str, Any] = json.loads(program.words.splitlines()[-1])["cameras"]
        return counts


def receiver(file: Path) -> Program:
    """One that is ready."""
    program = Program("ringmaster-cameras", file)
    wait_for(lambda: "is ready" in program.words or not program.running, "the receiver")
    program.check()
    return program


def counter_picture(number: int) -> npt.NDArray[np.int64]:
    """What pattern `counter` shows in frame `number`, which is from 1 on."""
    return (np.arange(WIDTH * HEIGHT).reshape(HEIGHT, WIDTH) + (number - 1) % PICTURES) & ((1 << BITS) - 1)


def test_every_pixel_arrives(root: Path) -> None:
    name = unique_name("pixels")
    file, overlay = machine(root, name), root / f"{name}-virtual.yaml"
    overlay.write_text("cameras: [{pattern: counter, rate_hz: 20, exposure_us: 500}]\n")
    with receiver(file), frames("cam01", name) as one, frames("cam02", name) as two:
        counts = sent(file, overlay)
        for reader in (one, two):
            for _ in range(FRAMES):
                frame = reader.next(TIMEOUT_S)
                assert frame is not None
                with frame:
                    np.testing.assert_array_equal(frame.unpacked(), counter_picture(frame.number))
            assert frame is not None
            assert frame.number == FRAMES
        assert frame is not None
        assert frame.exposure_ns is not None
        assert frame.exposure_ns[1] - frame.exposure_ns[0] == 500_000
        assert frame.device_time == frame.exposure_ns[0]
        for camera, counted in received(root, name).items():
            assert counted["whole"] == FRAMES
            assert counted["received"] == counts[camera]["packets"]
            assert counts[camera]["packets"] == FRAMES * (PAYLOAD_PACKETS[camera] + (2 if camera == "cam01" else 1))


def test_faults_are_counted_at_both_ends(root: Path) -> None:
    """A camera's counts of its faults are the receiver's of their consequences."""
    name = unique_name("faulty")
    file, overlay = machine(root, name), root / f"{name}-virtual.yaml"
    overlay.write_text(
        "seed: 3\ncameras:\n  - rate_hz: 20\n    faults:\n"
        "      - {kind: lose, probability: 0.01, end: 8}\n"
        "      - {kind: duplicate, every: 40}\n"
        "      - {kind: reorder, every: 23}\n"
        "      - {kind: beyond, every: 3, first: 8}\n"
        "      - {kind: corrupt, every: 500}\n"
    )
    with receiver(file):
        counts = sent(file, overlay)
        wait_for(
            lambda: all(received(root, name)[camera]["received"] == counts[camera]["packets"] for camera in CAMERAS),
            lambda: f"all datagrams: {received(root, name)}, sent {counts}",
        )
        for camera, counted in received(root, name).items():
            faults = counts[camera]["faults"]
            informing = 2 if camera == "cam01" else 1
            packets = FRAMES * (PAYLOAD_PACKETS[camera] + informing)
            assert faults["lose"] > 0
            assert counts[camera]["packets"] == packets - faults["lose"] + faults["duplicate"] + faults["beyond"]
            assert counted["beyond"] + counted["bad_place"] == faults["beyond"] > 0
            assert counted["begun"] == FRAMES
            kinds = ("placed", "informed", "duplicate", "late", "trailing", "beyond", "bad_place")
            assert sum(counted[kind] for kind in kinds) == counted["received"]


def test_a_spot_follows_the_ring(root: Path) -> None:
    """A camera of ours sends the turn of the position that its spot is at, which the server has published."""
    name = unique_name("spot")
    file, overlay = root / f"{name}.yaml", root / f"{name}-virtual.yaml"
    file.write_text(
        f"workspace: {name}\nturn_rate_hz: 2000\npolling: {{naps: true}}\n"
        f"ports:\n  - {{name: ring, kind: memif, socket: {root}/{name}-ring.sock, role: server}}\n"
        f"  - {{name: cameras, kind: memif, socket: {root}/{name}.sock, role: server, udp_port: 20001}}\n"
        "buffers: {turn_records: 65536, fast_records: 1024}\n"
        "instruments: [{name: bpm, kind: bpm, id: 1, port: ring, source: 10.20.0.1}]\n"
        f"roles: [{{role: receive, core: {SERVER_CORE}, ports: [ring]}}]\n"
        f"cameras: [{{name: cam01, port: cameras, format: fragments, id: 1, {GEOMETRY}}}]\n"
    )
    overlay.write_text(
        "cameras: [{pattern: spot, rate_hz: 20, spot: {follow: bpm/turn, noise: 0, background: 0, "
        "pixels_per_unit: 0.001}}]\n"
    )
    with (
        server(file) as running,
        Program("ringmaster-instruments", "run", file),
        attach_to(name, running) as ws,
        receiver(file),
        frames("cam01", name) as camera,
        Program("ringmaster-virtual-cameras", "run", file, overlay),
    ):
        for frame in camera:
            image = frame.unpacked().astype(float)
            if frame.turn_sent:  # at first the stream may be empty
                break
        seen = (image.sum(axis=0) @ np.arange(WIDTH)) / image.sum()
        assert frame.turn is not None
        record = ws.streams["bpm/turn"].read(frame.turn, 1)
        wanted = (WIDTH - 1) / 2 + 0.001 * float(record["x1"][0])
    assert abs(seen - wanted) < 0.2

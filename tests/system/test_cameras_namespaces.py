# SPDX-License-Identifier: Apache-2.0
"""GigE Vision cameras in one network namespace, their receiver in another, by a socket and by packet ports.

Aravis' camera comes bit for bit as Aravis receives it; our virtual camera comes whole where 1 % is lost on the way.
"""

import json
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from harness import ROOT, TIMEOUT_S, again_if_starved, unique_name, wait_for
from networks import Host, address, host, link, pings

import ringmaster
from ringmaster.fabric.counters import CounterBlock
from ringmaster.fabric.segment import Segment
from ringmaster.fabric.workspace import CAMERAS, directory_of
from ringmaster.programs.program import Program

FAKE_CAMERA = "arv-fake-gv-camera-0.8"
ARAVIS_RECEIVE = ROOT / "build/tests/aravis/aravis-receive"
CAMERA, RECEIVER = "10.30.0.11", "10.31.0.1"
UDP_PORT = 20001
PORTS = {
    "udp": f'{{name: hall, kind: udp, address: "{RECEIVER}:{UDP_PORT}"}}',
    "af_packet": "{name: hall, kind: af_packet, interface: host0}",
    "af_xdp": "{name: hall, kind: af_xdp, interface: host0}",
}
FRAMES = 20
LOSSY_FRAMES = 40
WIDTH, HEIGHT = 640, 480
RATE_HZ = 10
RESEND_PERCENT = 10
DEADLINE_MS = 2000
PACKET_BYTES = 1464
"""Of a frame in each GVSP packet of 1500 bytes of IP."""


class Picture(NamedTuple):
    """A frame as it came."""

    pixel_format: int
    width: int
    height: int
    data: bytes


@dataclass(frozen=True)
class Network:
    """The camera's host and the receiver's, and a router between them."""

    camera: Host
    between: Host
    receiver: Host


@pytest.fixture(scope="module")
def network() -> Iterator[Network]:
    """Three namespaces in a row."""
    if not ARAVIS_RECEIVE.exists() or shutil.which(FAKE_CAMERA) is None:
        pytest.skip("NO ARAVIS HERE, so nothing is compared with it: it needs libaravis-dev and aravis-tools")
    with host("camera") as camera, host("between") as between, host("receiver") as receiver:
        link(camera, "cam0", between, "mid0")
        link(between, "mid1", receiver, "host0")
        address(camera, "cam0", f"{CAMERA}/24")
        address(between, "mid0", "10.30.0.1/24")
        address(between, "mid1", "10.31.0.2/24")
        address(receiver, "host0", f"{RECEIVER}/24")
        between.run("sysctl -qw net.ipv4.ip_forward=1")
        camera.run("ip route add default via 10.30.0.1")
        receiver.run("ip route add default via 10.31.0.2")
        pings(receiver, CAMERA)
        yield Network(camera, between, receiver)


@contextmanager
def loses(network: Network) -> Iterator[Callable[[], int]]:
    """One in a hundred datagrams is lost on the way, either way: how many so far."""
    if shutil.which("nft") is None:
        pytest.skip("NO nft HERE, so nothing is lost: it needs nftables")
    network.between.run(
        "nft add table inet loss && nft 'add chain inet loss way { type filter hook forward priority 0; }' && "
        "nft add rule inet loss way meta l4proto udp numgen random mod 100 == 0 counter drop"
    )

    def lost() -> int:
        listed = json.loads(network.between.run("nft -j list chain inet loss way"))["nftables"]
        rule = next(entry["rule"] for entry in listed if "rule" in entry)
        return int(next(part["counter"]["packets"] for part in rule["expr"] if "counter" in part))

    try:
        yield lost
    finally:
        network.between.run("nft delete table inet loss")


@contextmanager
def program_in(there: Host, ready: str, name: str, *words: str | Path) -> Iterator[Program]:
    """A program of ours there, which has said that it is ready."""
    with Program(name, *words, prefix=there.enter) as program:
        wait_for(lambda: ready in program.words or not program.running, lambda: f"{name}: {program.words}")
        program.check()
        yield program


@contextmanager
def fake_camera(network: Network) -> Iterator[None]:
    """Aravis' own camera, whose frames count from the beginning."""
    with network.camera.start(f"{FAKE_CAMERA} -i cam0") as process:
        try:
            ready = "ss -Hlun 'sport = :3956' | grep -q . && echo there"
            wait_for(lambda: "there" in network.camera.run(ready, expect=None), "Aravis' camera")
            yield
        finally:
            process.terminate()


@contextmanager
def virtual_camera(network: Network, folder: Path) -> Iterator[Program]:
    """Ours, as a device that is controlled."""
    file = folder / "virtual.yaml"
    file.write_text(
        f"workspace: {unique_name('virtual')}\nports:\n  - {PORTS['udp']}\n"
        f"cameras:\n  - {{name: cam01, port: hall, address: {CAMERA}}}\n"
    )
    overlay = folder / "overlay.yaml"
    overlay.write_text(
        f"cameras:\n  - {{name: cam01, pixel_format: Mono8, width: {WIDTH}, height: {HEIGHT}, rate_hz: {RATE_HZ}, "
        "pattern: ramp, control: true}\n"
    )
    with program_in(network.camera, "cam01", "ringmaster-virtual-cameras", "run", file, overlay) as program:
        yield program


def machine(folder: Path, kind: str) -> tuple[str, Path]:
    """The receiver's file, and its workspace."""
    name, file = unique_name(f"cameras-{kind}"), folder / "cameras.yaml"
    file.write_text(
        f"workspace: {name}\npolling: {{naps: true}}\nports:\n  - {PORTS[kind]}\ncameras:\n"
        f"  - {{name: cam01, port: hall, address: {CAMERA}, udp_port: {UDP_PORT}, frame_bytes: 1048576, slots: 32,\n"
        f"     leases: 24, deadline_ms: {DEADLINE_MS}, resend_percent: {RESEND_PERCENT}}}\n"
    )
    return name, file


@contextmanager
def received(network: Network, folder: Path, kind: str) -> Iterator["tuple[str, ringmaster.Frames]"]:
    """A receiver, a reader of its camera, and the camera under control: frames come."""
    name, file = machine(folder, kind)
    with ExitStack() as stack:
        stack.enter_context(program_in(network.receiver, "is ready", "ringmaster-cameras", file))
        frames = stack.enter_context(ringmaster.frames("cam01", name))
        sending = f"sends to {RECEIVER}:{UDP_PORT}"
        stack.enter_context(program_in(network.receiver, sending, "ringmaster-camera-control", file))
        yield name, frames


def counters_of(name: str) -> dict[str, int]:
    """What became of the camera's datagrams and frames."""
    segment = Segment(directory_of(name, CAMERAS) / f"{CAMERAS}.segment")
    info = next(info for info in segment.objects if info.name == "counters/camera/cam01")
    return dict(CounterBlock(segment, info))


def by_aravis(network: Network, folder: Path, count: int) -> tuple[dict[int, Picture], dict[str, int]]:
    """What Aravis receives of the camera: its whole frames by their numbers, and what it says of all."""
    file = folder / "aravis"
    command = [*network.receiver.enter, str(ARAVIS_RECEIVE), CAMERA, RECEIVER, str(count), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    pictures, data, at = {}, file.read_bytes(), 0
    head = struct.Struct("<QIIII")
    while at < len(data):
        number, pixel_format, width, height, size = head.unpack_from(data, at)
        at += head.size + size
        pictures[number] = Picture(pixel_format, width, height, data[at - size : at])
    return pictures, json.loads(done.stdout)


@pytest.mark.parametrize("kind", PORTS)
@again_if_starved
def test_frames_of_aravis_camera_are_bit_for_bit_as_aravis_receives_them(
    root: Path, network: Network, tmp_path: Path, kind: str
) -> None:
    """What its camera sends depends on the frame's number alone, exposure and gain being the same: so each is begun
    anew, and frames of the same number are compared.
    """
    ours: dict[int, Picture] = {}
    with fake_camera(network), received(network, tmp_path, kind) as (name, frames):
        while len(ours) < FRAMES:
            frame = frames.next(TIMEOUT_S)
            assert frame is not None
            with frame:
                geometry = frame.geometry
                assert geometry is not None
                assert frame.status.name == "WHOLE"
                ours[frame.number] = Picture(
                    geometry.pixel_format_number, geometry.width, geometry.height, frame.bytes.tobytes()
                )
        assert counters_of(name)["incomplete"] == 0
    with fake_camera(network):
        theirs, _ = by_aravis(network, tmp_path, FRAMES + 5)
    common = sorted(ours.keys() & theirs.keys())
    assert len(common) >= FRAMES // 2, (sorted(ours), sorted(theirs))
    for number in common:
        assert ours[number] == theirs[number], f"frame {number} differs"
    assert len({ours[number].data for number in common}) == len(common), "each frame differs from the others"


def pixels_of(number: int) -> "np.ndarray[tuple[int, int], np.dtype[np.uint8]]":
    """The ramp of our virtual camera, which counts from 1."""
    y, x = np.indices((HEIGHT, WIDTH))
    return ((x + y + (number - 1) % 4) % 256).astype(np.uint8)


def missing(numbers: set[int]) -> set[int]:
    """Between the first and the last: a frame may come behind the next."""
    return set(range(min(numbers), max(numbers))) - numbers


@pytest.mark.parametrize("kind", PORTS)
@again_if_starved
def test_every_frame_is_whole_where_1_percent_is_lost(root: Path, network: Network, tmp_path: Path, kind: str) -> None:
    packets = ceil(WIDTH * HEIGHT / PACKET_BYTES) + 2
    with (
        virtual_camera(network, tmp_path),
        loses(network) as lost,
        received(network, tmp_path, kind) as (name, frames),
    ):
        numbers: set[int] = set()
        resent = 0
        while len(numbers) < LOSSY_FRAMES or missing(numbers):
            frame = frames.next(TIMEOUT_S)
            assert frame is not None
            with frame:
                numbers.add(frame.number)
                assert frame.status.name == "WHOLE", f"frame {frame.number}: {frame.resent} packets asked for again"
                assert np.array_equal(frame.image, pixels_of(frame.number)), f"frame {frame.number} differs"
                assert frame.resent <= ceil(packets * RESEND_PERCENT / 100)
                resent += frame.resent
            assert len(numbers) < 2 * LOSSY_FRAMES, f"missing: {missing(numbers)}"
        gone = lost()
        counters = counters_of(name)
    assert gone > LOSSY_FRAMES // 2, "1 % of some 200 packets a frame"
    assert resent >= gone // 2
    assert counters["resend_packets"] >= resent
    assert counters["resend_over_budget"] == 0


@again_if_starved
def test_aravis_has_our_camera_whole_where_1_percent_is_lost(root: Path, network: Network, tmp_path: Path) -> None:
    with virtual_camera(network, tmp_path), loses(network) as lost:
        pictures, said = by_aravis(network, tmp_path, LOSSY_FRAMES)
        assert lost() > LOSSY_FRAMES // 2
    print(f"Aravis: {said}")
    assert said["resent"] > 0
    assert said["whole"] == LOSSY_FRAMES
    for number, picture in pictures.items():
        assert picture.data == pixels_of(number).tobytes(), f"frame {number} differs"

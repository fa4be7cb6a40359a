# SPDX-License-Identifier: Apache-2.0
"""The GenTL producer, as programs of others use it: by harvesters, and by a consumer that has buffers allocated."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fragment_camera import MONO12P, FragmentCamera, sending
from harness import ROOT, TIMEOUT_S, free_udp_port, kill_at_once, unique_name, wait_for

from ringmaster.programs.program import Program

PRODUCER = ROOT / "build/gateways/gentl/ringmaster.cti"
CLIENTS = ROOT / ".venv/clients/bin/python"
CONSUMER = Path(__file__).with_name("gentl_consumer.py")
FRAMES = 20
CAMERAS = [FragmentCamera(1), FragmentCamera(2, pixel_format=MONO12P)]
NAMES = ["cam01", "cam02"]
HARVEST = """
import hashlib, json, sys
from harvesters.core import Harvester

producer, camera, frames, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
harvester = Harvester()
harvester.add_file(producer)
harvester.update()
print(json.dumps([info.id_ for info in harvester.device_info_list]), flush=True)
acquirer = harvester.create({"id_": camera})
for _ in range(rounds):
    acquirer.start()
    nodes = acquirer.remote_device.node_map
    names = ("Width", "Height", "OffsetX", "OffsetY", "PixelFormat", "PayloadSize")
    told = {name: getattr(nodes, name).value for name in names}
    print(json.dumps(told), flush=True)
    left = frames
    while left:
        buffer = acquirer.fetch()
        if buffer is None:
            continue  # a frame that is not whole
        left -= 1
        with buffer:
            component = buffer.payload.components[0]
            data = buffer.module.raw_buffer[: buffer.module.size_filled]
            print(json.dumps({"number": buffer.module.frame_id, "digest": hashlib.sha256(data).hexdigest(),
                              "time": buffer.module.timestamp, "size": [component.width, component.height],
                              "format": component.data_format, "offset": [component.x_offset, component.y_offset]}),
                  flush=True)
    acquirer.stop()
acquirer.destroy()
harvester.reset()
"""


@dataclass
class Site:
    """Cameras that send, and a receiver of them."""

    workspace: str
    file: Path
    receiver: Program


def write_configuration(folder: Path, workspace: str, udp_port: int) -> Path:
    """Of both cameras."""
    file = folder / f"{workspace}.yaml"
    cameras = "".join(
        f"  - {{name: {name}, port: lan, format: fragments, id: {camera.number}, frame_bytes: 65536}}\n"
        for name, camera in zip(NAMES, CAMERAS, strict=True)
    )
    file.write_text(
        f"workspace: {workspace}\nturn_rate_hz: 1.157e6\npolling: {{naps: true}}\n"
        f'ports:\n  - {{name: lan, kind: udp, address: "127.0.0.1:{udp_port}"}}\ncameras:\n{cameras}'
    )
    return file


@contextmanager
def receiving(folder: Path, word: str) -> Iterator[Site]:
    """The receiver as a process of its own."""
    workspace, udp_port = unique_name(word), free_udp_port()
    file = write_configuration(folder, workspace, udp_port)
    with Program("ringmaster-cameras", file) as receiver, sending(CAMERAS, udp_port):

        def ready() -> bool:
            receiver.check()
            return "is ready" in receiver.words

        wait_for(ready, lambda: f"the receiver: {receiver.words}")
        yield Site(workspace, file, receiver)


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A receiver that all tests share."""
    with receiving(tmp_path_factory.mktemp("gentl"), "gentl") as made:
        yield made


def lines(done: "subprocess.CompletedProcess[str]") -> list[Any]:
    """What a program printed in JSON."""
    assert done.returncode == 0, f"{done.args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def run(source: str | Path, *command: str | Path) -> "subprocess.CompletedProcess[str]":
    """A program whose producer has these cameras."""
    environment = {**os.environ, "RINGMASTER_CAMERAS": str(source)}
    words = [*map(str, command)]
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=2 * TIMEOUT_S)


def harvest(source: str | Path, camera: str, rounds: int = 1) -> list[Any]:
    """What harvesters finds and fetches."""
    if not CLIENTS.exists():
        pytest.skip("no .venv/clients: `make test` installs harvesters there")
    if run(source, CLIENTS, "-c", "import genicam, harvesters").returncode != 0:
        pytest.skip("harvesters or genicam is not in .venv/clients: there is no wheel of genicam for this Python")
    return lines(run(source, CLIENTS, "-c", HARVEST, PRODUCER, camera, str(FRAMES), str(rounds)))


def consumer(site: Site, camera: str, frames: int, buffers: int, what: str) -> list[str]:
    """The words that run a consumer with allocated buffers."""
    words = ["env", f"RINGMASTER_CAMERAS={site.workspace}", sys.executable, CONSUMER]
    return [*map(str, [*words, PRODUCER, camera, frames, buffers, what])]


def fetch(site: Site, camera: str) -> list[Any]:
    """Frames that a consumer with three allocated buffers gets."""
    return lines(run(site.workspace, *consumer(site, camera, FRAMES, 3, "give")))


def check_frames(frames: list[Any], camera: FragmentCamera) -> None:
    """Bit for bit, in their order, each once."""
    assert len(frames) == FRAMES
    numbers = [frame["number"] for frame in frames]
    assert numbers == sorted(set(numbers))
    assert [frame["digest"] for frame in frames] == [camera.digest(number) for number in numbers]


@pytest.mark.parametrize(("name", "index", "pixels"), [("cam01", 0, "Mono8"), ("cam02", 1, "Mono12p")])
def test_harvesters_fetches_frames_bit_for_bit_and_again(site: Site, name: str, index: int, pixels: str) -> None:
    names, *told = harvest(site.workspace, name, rounds=2)
    assert names == NAMES
    camera = CAMERAS[index]
    for round_told in (told[: FRAMES + 1], told[FRAMES + 1 :]):
        nodes, *frames = round_told
        size = {"Width": camera.width, "Height": camera.height, "PayloadSize": camera.length}
        assert nodes == {**size, "OffsetX": 4, "OffsetY": 8, "PixelFormat": pixels}
        check_frames(frames, camera)
        for frame in frames:
            assert (frame["format"], frame["size"]) == (pixels, [camera.width, camera.height])
            assert (frame["time"], frame["offset"]) == (1000 * frame["number"], [4, 8])
    assert told[FRAMES]["number"] < told[-FRAMES]["number"]


def test_allocated_buffers_have_the_same_bits(site: Site) -> None:
    check_frames(fetch(site, "cam02"), CAMERAS[1])


def test_two_consumers_at_once(site: Site) -> None:
    with ExitStack() as stack:
        both = [stack.enter_context(Program(*consumer(site, "cam01", FRAMES, buffers, "give"))) for buffers in (2, 5)]
        for one in both:
            assert one.wait(TIMEOUT_S) == 0, one.words
            check_frames([json.loads(line) for line in one.words.splitlines()], CAMERAS[0])


def test_a_consumer_that_never_releases_and_one_that_is_killed_stop_nobody(site: Site) -> None:
    held = 4
    with Program(*consumer(site, "cam01", held, 2 * held, "hold")) as holder:
        wait_for(lambda: len(holder.words.splitlines()) == held, lambda: f"{held} frames: {holder.words}")
        check_frames(fetch(site, "cam01"), CAMERAS[0])
        holder.check()
        kill_at_once(holder.pid)
    for _ in range(3):
        check_frames(fetch(site, "cam01"), CAMERAS[0])
    assert site.receiver.running


def test_a_file_is_received_in_the_consumers_own_process(root: Path, tmp_path: Path) -> None:
    udp_port = free_udp_port()
    file = write_configuration(tmp_path, unique_name("gentl-own"), udp_port)
    with sending(CAMERAS, udp_port):
        _, _, *frames = harvest(file, "cam01")
    check_frames(frames, CAMERAS[0])


def test_the_end_of_the_receiver_is_told(root: Path, tmp_path: Path) -> None:
    with receiving(tmp_path, "gentl-end") as mine:
        endless = Program(*consumer(mine, "cam01", 10**9, 3, "give"))
        with endless:
            wait_for(lambda: endless.words, "a frame")
            mine.receiver.stop()
            assert endless.wait(TIMEOUT_S) == 1
            assert "the receiver of cam01 has ended; start it, and open the system again" in endless.words


def test_a_workspace_that_is_not_there_is_told(root: Path) -> None:
    done = run("no-such-workspace", sys.executable, CONSUMER, PRODUCER, "cam01", "1", "1", "give")
    assert done.returncode == 1
    assert "RINGMASTER_CAMERAS=no-such-workspace: " in done.stderr

# SPDX-License-Identifier: Apache-2.0
"""Cameras as people run them: a receiver as a process, readers in C, and a server beside them."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest
from camera_frames import PythonCamera
from harness import (
    ROOT,
    SERVER_CORE,
    TIMEOUT_S,
    free_udp_port,
    kill_at_once,
    ringmaster,
    ringmaster_json,
    server,
    terminate,
    unique_name,
    wait_for,
)

import ringmaster as ringmaster_package
from ringmaster.programs.program import Program, attach_to

LOCAL = '  - {{name: local, kind: udp, address: "127.0.0.1:{}"}}'
FRAMES = 12
"""Fewer than a receiver keeps, so that a slow reader misses none."""


def describe(folder: Path, name: str, udp_port: int) -> Path:
    """A file of two cameras on one socket of loopback."""
    path = folder / f"{name}.yaml"
    path.write_text(
        f"workspace: {name}\nturn_rate_hz: 1157000\npolling: {{naps: true}}\n"
        f'ports:\n  - {{name: wire, kind: udp, address: "127.0.0.1:{udp_port}"}}\n'
        "cameras:\n"
        "  - {name: cam01, port: wire, format: fragments, id: 1, frame_bytes: 65536, deadline_ms: 60000}\n"
        "  - {name: cam02, port: wire, format: fragments, id: 2, frame_bytes: 65536, deadline_ms: 60000}\n"
    )
    return path


@contextmanager
def receiver(file: Path) -> Iterator[Program]:
    """A receiver that is ready."""
    with Program("ringmaster-cameras", file) as program:
        wait_for(lambda: "is ready" in program.words or not program.running, "the receiver")
        program.check()
        yield program


@contextmanager
def reading(file: Path, count: int) -> Iterator[Program]:
    """The example in C, which waits for so many frames."""
    with Program(str(ROOT / "build/examples/frames"), file, str(count)) as program:
        wait_for(lambda: "ready" in program.words or not program.running, "the reader")
        program.check()
        yield program


def lines_of(reader: Program) -> list[str]:
    """What it printed of frames, when it has had all."""
    assert reader.wait(TIMEOUT_S) == 0, reader.words
    return reader.words.splitlines()[1:]


def camera_of(workspace: str, name: str) -> Any:
    """What `ringmaster cameras list` says of a camera."""
    listed = ringmaster_json("cameras", "list", workspace, "--json")
    return next(camera for camera in listed["cameras"] if camera["name"] == name)


def line_of(name: str, camera: PythonCamera, number: int, turn: int = -1) -> str:
    """What the reader prints of a whole frame."""
    total = int(camera.pixels(number).sum(dtype=np.uint32))
    return f"{name} {number} whole {camera.width}x{camera.height} turn {turn} sum {total}"


@pytest.fixture
def file(root: Path, tmp_path: Path) -> Path:
    """A file of this test's own."""
    return describe(tmp_path, unique_name("cameras"), free_udp_port())


@pytest.fixture
def cameras(file: Path) -> tuple[PythonCamera, PythonCamera]:
    """Who sends."""
    to = ("127.0.0.1", int(file.read_text().partition("127.0.0.1:")[2].partition('"')[0]))
    return PythonCamera(1, to), PythonCamera(2, to, width=100, height=300, time_is_turn=True)


def test_frames_come_whole_to_several_readers(file: Path, cameras: tuple[PythonCamera, PythonCamera]) -> None:
    """Two readers of two cameras each see every frame, bit for bit; and a receiver that is stopped ends well."""
    one, two = cameras
    with receiver(file) as program:
        with reading(file, FRAMES) as first, reading(file, FRAMES) as second:
            for number in range(1, FRAMES // 2 + 1):
                one.send(number)
                two.send(number)
            wanted = [line_of("cam01", one, n) for n in range(1, FRAMES // 2 + 1)]
            wanted += [line_of("cam02", two, n, 1000 * n) for n in range(1, FRAMES // 2 + 1)]
            assert sorted(lines_of(first)) == sorted(wanted)
            assert sorted(lines_of(second)) == sorted(wanted)
        assert terminate(program) == 0
    assert program is not None


def test_one_receives_and_a_second_is_told_so(file: Path) -> None:
    with receiver(file), Program("ringmaster-cameras", file) as second:
        assert second.wait(TIMEOUT_S) == 1
        assert "is ready" not in second.words


def test_without_a_receiver_a_reader_receives_itself(file: Path, cameras: tuple[PythonCamera, PythonCamera]) -> None:
    """And another one reads what that receives."""
    one, _ = cameras
    with reading(file, FRAMES + 1) as first, reading(file, FRAMES) as second:
        for number in range(1, FRAMES + 1):
            one.send(number)
        assert lines_of(second) == [line_of("cam01", one, n) for n in range(1, FRAMES + 1)]
        wait_for(lambda: first.words.count("whole") == FRAMES, "the same frames")
        one.send(FRAMES + 1)
        assert lines_of(first)[-1] == line_of("cam01", one, FRAMES + 1)


def test_readers_that_begin_at_once_have_one_receiver(file: Path) -> None:
    """Whichever is first takes a while to make its memory, and the others wait for it."""
    file.write_text(file.read_text().replace("65536", str(4 << 20)))
    example = str(ROOT / "build/examples/frames")
    with ExitStack() as stack:
        readers = [stack.enter_context(Program(example, file, "1")) for _ in range(3)]
        wait_for(lambda: all("ready" in r.words or not r.running for r in readers), "the readers")
        for reader in readers:
            reader.check()


def test_a_receiver_that_is_killed_is_followed_by_another(
    file: Path, cameras: tuple[PythonCamera, PythonCamera]
) -> None:
    """Readers of the first hear of its end; those that begin then see the frames of the second."""
    one, _ = cameras
    with Program("ringmaster-cameras", file) as program:
        wait_for(lambda: "is ready" in program.words, "the receiver")
        with reading(file, 2) as reader:
            one.send(1)
            wait_for(lambda: "whole" in reader.words, "the first frame")
            kill_at_once(program.pid)
            assert reader.wait(TIMEOUT_S) == 1
            assert "the receiver has ended" in reader.words
    with receiver(file), reading(file, 1) as reader:
        one.send(2)
        assert lines_of(reader) == [line_of("cam01", one, 2)]


def test_a_reader_that_is_killed_holds_nothing(file: Path, cameras: tuple[PythonCamera, PythonCamera]) -> None:
    """Whatever it had leased, frames go on, and others read them."""
    one, _ = cameras
    with receiver(file):
        with reading(file, 1000) as victim:
            one.send(1)
            wait_for(lambda: "whole" in victim.words, "the first frame")
            kill_at_once(victim.pid)
        for number in range(2, 50):
            one.send(number)
        wait_for(lambda: camera_of(file.stem, "cam01")["whole"] == 49, "all frames")
        with reading(file, 1) as reader:
            one.send(50)
            assert lines_of(reader) == [line_of("cam01", one, 50)]


def test_help_and_wrong_files(tmp_path: Path) -> None:
    program = ROOT / "build/libexec/ringmaster-cameras"
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 0
    assert "Examples:" in done.stdout
    empty = tmp_path / "empty.yaml"
    empty.write_text(
        "workspace: none\nturn_rate_hz: 1e6\nports:\n  - {name: wire, kind: ring}\n"
        "instruments:\n  - {name: bpm01, kind: bpm, id: 1, port: wire, source: 10.0.0.1}\n"
    )
    done = subprocess.run([program, empty], capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 1
    assert 'the key "cameras" is missing' in done.stderr


def test_the_list_shows_what_cameras_do(file: Path, cameras: tuple[PythonCamera, PythonCamera]) -> None:
    one, two = cameras
    assert "cameras are received" in ringmaster("cameras", "list", file.stem, expect=3).stderr
    with receiver(file) as program:
        nothing = camera_of(file.stem, "cam01")
        assert (nothing["whole"], nothing["latency_us"], nothing["leases"], nothing["leased"]) == (0, None, 8, 0)
        for number in (1, 2, 5):
            one.send(number, without=frozenset({3} if number == 2 else ()))
        two.send(1)
        wait_for(lambda: camera_of(file.stem, "cam01")["whole"] == 2, "whole frames")
        seen = camera_of(file.stem, "cam01")
        assert (seen["width"], seen["height"], seen["bits"]) == (320, 200, 8)
        assert (seen["incomplete"], seen["lost"], seen["refused"]) == (1, 2, 0)
        assert 0 < seen["latency_us"] <= seen["latency_most_us"]
        with ringmaster_package.frames("cam02", file.stem) as frames:
            two.send(2)
            frame = frames.next(TIMEOUT_S)
            assert frame is not None
            assert np.array_equal(frame.image.ravel(), two.pixels(2))
            assert frame.turn == 2000
            assert frame.turn_sent
            assert camera_of(file.stem, "cam02")["leased"] == 1
            table = ringmaster("cameras", "list", file.stem, "--once").stdout
            assert "cam02" in table
            assert "100x300, 8 bit" in table
            assert "1/8" in table
            frame.release()
        wait_for(lambda: camera_of(file.stem, "cam02")["leased"] == 0, "the release")
        terminate(program)
    assert "cameras are received" in ringmaster("cameras", "list", file.stem, expect=3).stderr


def test_a_server_beside_gives_frames_their_turn(root: Path, tmp_path: Path) -> None:
    """Of the same file: the server leaves the cameras' port alone. It comes later, and the receiver finds it."""
    name, udp_port = unique_name("beside"), free_udp_port()
    file = describe(tmp_path, name, udp_port)
    file.write_text(
        file.read_text().replace("1157000", "5000").replace("ports:", f"ports:\n{LOCAL.format(free_udp_port())}")
        + "instruments:\n  - {name: bpm01, kind: bpm, id: 1, port: local, source: 127.0.0.1}\n"
        + "buffers: {turn_records: 65536, fast_records: 8192}\n"
        + f"roles:\n  - {{role: receive, core: {SERVER_CORE}, ports: [local]}}\n"
    )
    camera = PythonCamera(1, ("127.0.0.1", udp_port))
    with receiver(file), ringmaster_package.frames("cam01", name) as frames:
        number = 1
        assert _next(frames, camera, number).turn is None
        with (
            server(file) as program,
            attach_to(name, program) as ws,
            Program(sys.executable, "-m", "ringmaster", "virtual", file),
        ):
            wait_for(lambda: ws.clock.read().anchored, "the turn clock")
            turn = None
            give_up = monotonic() + TIMEOUT_S
            while turn is None:
                assert monotonic() < give_up, "no frame has a turn"
                number += 1
                turn = _next(frames, camera, number).turn
            stream = ws.streams["cam01/frames"]
            wait_for(lambda: stream.head is not None, "the frame's record")
            window = stream.read(turn // 1000 * 1000, 1)
            assert window.ok.all()
            assert window["number"][0] == number


def _next(frames: "ringmaster_package.Frames", camera: PythonCamera, number: int) -> "ringmaster_package.Frame":
    """Sends a frame, and takes it."""
    camera.send(number)
    frame = frames.next(TIMEOUT_S)
    assert frame is not None
    with frame:
        assert frame.number == number
        return frame

# SPDX-License-Identifier: Apache-2.0
"""A camera looks at the beam of a virtual ring: its images' spot is where the ring's BPM says, turn by turn."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from harness import free_udp_port, server, unique_name, wait_for

from ringmaster.fabric.workspace import Workspace
from ringmaster.places import ProgramNotFound, find_program
from ringmaster.programs.program import Program, attach_to

CENTRE = (160.0, 120.0)
PIXELS_PER_NM = 0.001
SIGMA = (8.0, 5.0)
MOVED_PIXELS, COMPARED = 10.0, 8
"""The test waits until the spot was seen so far apart, and so often."""
NEAR_PIXELS = 0.3


def machine_text(name: str, ring_port: int, eye_port: int) -> str:
    """A BPM, and a camera that looks at the same beam."""
    return (
        f"workspace: {name}\nturn_rate_hz: 10000\npolling: {{naps: true}}\n"
        f'ports:\n  - {{name: ring, kind: udp, address: "127.0.0.1:{ring_port}"}}\n'
        f'  - {{name: eye, kind: udp, address: "127.0.0.1:{eye_port}"}}\n'
        "instruments:\n  - {name: bpm01, kind: bpm, id: 1, port: ring, source: 127.0.0.1}\n"
        "cameras:\n  - {name: cam01, port: eye, format: fragments, id: 1, frame_bytes: 131072, profile: true, "
        "record_turns: 1, deadline_ms: 60000}\n"
        "roles:\n  - {role: receive, core: 0, ports: [ring]}\n"
    )


RING = "beam: {orbit_um: 0, betatron_um: 0, synchrotron_um: 0, mains_um: 20, drift_um: 0, noise_um: 0}\n"
CAMERA = (
    "cameras:\n  - {name: cam01, rate_hz: 20, width: 320, height: 240, pattern: spot, spot: {"
    f"centre_x: {CENTRE[0]}, centre_y: {CENTRE[1]}, sigma_x: {SIGMA[0]}, sigma_y: {SIGMA[1]}, "
    f"follow: bpm01/turn, pixels_per_unit: {PIXELS_PER_NM}}}}}\n"
)


@contextmanager
def machine(root: Path) -> Iterator[Workspace]:
    """Server, ring, receiver and camera."""
    try:
        find_program("ringmaster-virtual-cameras")
    except ProgramNotFound as error:
        pytest.skip(str(error))
    name = unique_name("profile")
    file, ring, camera = (root / f"{name}{what}.yaml" for what in ("", "-ring", "-camera"))
    file.write_text(machine_text(name, free_udp_port(), free_udp_port()))
    ring.write_text(RING)
    camera.write_text(CAMERA)
    with ExitStack() as stack:
        running = stack.enter_context(server(file))
        attach_to(name, running).close()
        stack.enter_context(Program("ringmaster-instruments", "run", file, ring))
        receiver = stack.enter_context(Program("ringmaster-cameras", file))
        wait_for(lambda: "is ready" in receiver.words or not receiver.running, "the receiver")
        sending = stack.enter_context(Program("ringmaster-virtual-cameras", "run", file, camera))
        ws = stack.enter_context(attach_to(name, running, ("server", "cameras")))
        wait_for(lambda: ws.streams["cam01/profile"].head is not None or not sending.running, lambda: sending.words)
        yield ws


def test_the_spot_is_where_the_bpm_says_at_each_turn(root: Path) -> None:
    seen: list[float] = []
    with machine(root) as ws:
        profile, bpm = ws.streams["cam01/profile"], ws.streams["bpm01/turn"]
        turns = set[int]()

        def look() -> bool:
            turn = profile.head
            if turn is None or turn in turns:
                return False
            turns.add(turn)
            spots, positions = profile.read(turn, 1), bpm.read(turn, 1)
            if not spots.ok[0] or not positions.ok[0]:
                return False  # the ring has gone on: a host that is starved
            for lane, of_bpm, centre in (("x", "x1", CENTRE[0]), ("y", "y1", CENTRE[1])):
                wanted = centre + PIXELS_PER_NM * positions.values(of_bpm)[0]
                assert spots.values(lane)[0] == pytest.approx(wanted, abs=NEAR_PIXELS), (turn, lane)
            assert spots.values("sigma_major")[0] == pytest.approx(SIGMA[0], abs=NEAR_PIXELS)
            assert spots.values("sigma_minor")[0] == pytest.approx(SIGMA[1], abs=NEAR_PIXELS)
            assert spots.values("marks")[0] == 0
            seen.append(float(spots.values("x")[0]))
            return len(seen) >= COMPARED and max(seen) - min(seen) > MOVED_PIXELS

        wait_for(look, lambda: f"a spot that moves: {seen}")

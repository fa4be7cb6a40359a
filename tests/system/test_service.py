# SPDX-License-Identifier: Apache-2.0
"""The server under a service manager: that it is ready, lives, ends. The manager is this test's socket."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from harness import SERVER_CORE, free_udp_port

from ringmaster.places import find_program

CONFIG = """
workspace: service
turn_rate_hz: 10000
polling: {naps: true}
ports: [{name: door, kind: udp, address: "127.0.0.1:PORT"}]
instruments: [{name: bpm01, kind: bpm, id: 1, port: door, source: 127.0.0.1}]
roles: [{role: receive, core: CORE, ports: [door]}]
buffers: {turn_records: 16384, fast_records: 1024}
"""
LONGEST_S = 60.0


def command(folder: Path) -> list[str]:
    """Runs a small server."""
    config = folder / "service.yaml"
    config.write_text(CONFIG.replace("PORT", str(free_udp_port())).replace("CORE", str(SERVER_CORE)))
    return [find_program("ringmaster-server"), "run", str(config)]


@pytest.mark.parametrize("watchdog_us", ["200000", None])
def test_a_manager_hears_that_the_server_is_ready_lives_and_ends(
    root: Path, tmp_path: Path, watchdog_us: str | None
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(LONGEST_S)
        environment = os.environ | {"NOTIFY_SOCKET": str(tmp_path / "notify")}
        environment |= {"WATCHDOG_USEC": watchdog_us} if watchdog_us else {}
        server = subprocess.Popen(command(tmp_path), env=environment)
        try:
            assert manager.recv(256) == b'READY=1\nSTATUS=workspace "service": 1 instruments on 1 ports'
            for _ in range(3 if watchdog_us else 0):
                assert manager.recv(256) == b"WATCHDOG=1"
            server.send_signal(signal.SIGTERM)
            heard = b"WATCHDOG=1"
            while heard == b"WATCHDOG=1":
                heard = manager.recv(256)
            assert heard == b"STOPPING=1"
            assert server.wait(LONGEST_S) == 0
        finally:
            server.kill()
            server.wait()


def test_a_server_runs_on_without_the_manager_that_it_was_given(root: Path, tmp_path: Path) -> None:
    environment = os.environ | {"NOTIFY_SOCKET": "nowhere"}
    with subprocess.Popen(command(tmp_path), env=environment, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        lines = iter(server.stderr.readline, "")
        assert any('$NOTIFY_SOCKET is "nowhere", expected a path or @name' in line for line in lines)
        server.send_signal(signal.SIGTERM)
        assert server.wait(LONGEST_S) == 0

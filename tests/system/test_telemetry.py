# SPDX-License-Identifier: Apache-2.0
"""The server's commands on DPDK's telemetry socket, as DPDK's own client and plain sockets see them."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from harness import (
    RING_CORE,
    SERVER_CORE,
    TIMEOUT_S,
    assert_sums_hold,
    kill_at_once,
    server,
    terminate,
    unique_name,
    wait_for,
    wait_until_still,
)

from ringmaster import Workspace
from ringmaster.programs.program import Program, attach_to

CLIENT = shutil.which("dpdk-telemetry.py")
needs_client = pytest.mark.skipif(CLIENT is None, reason="dpdk-telemetry.py is not here; Debian's dpdk-dev has it")
INSTRUMENTS = 70
PAGE = 64
TURNS = 500
REPLY_BYTES = 16384
CONNECTIONS = 10


def directory_of(prefix: str) -> Path:
    """DPDK's, for this user."""
    if os.getuid() == 0:
        return Path("/var/run/dpdk") / prefix
    return Path(os.environ.get("XDG_RUNTIME_DIR", "/tmp")) / "dpdk" / prefix


def written(root: Path, name: str, telemetry: bool = True) -> Path:
    """A configuration of one port, on which many instruments send."""
    config = root / f"{name}.yaml"
    config.write_text(
        f"workspace: {name}\nturn_rate_hz: 1000\npolling: {{naps: true}}\n"
        + ("dpdk_telemetry: true\n" if telemetry else "")
        + f"ports: [{{name: ring, kind: memif, socket: {root}/{name}.sock, role: server}}]\n"
        "buffers: {turn_records: 16384, fast_records: 1024}\n"
        "rates: [{name: fast, filter: sharp, decimation: 12}]\n"
        f"roles: [{{role: receive, core: {SERVER_CORE}, ports: [ring]}}]\n"
        f"instruments: [{{name: bpm, kind: bpm, id: 1, port: ring, source: 10.20.0.1, count: {INSTRUMENTS}}}]\n"
    )
    return config


@contextmanager
def served(root: Path, word: str, telemetry: bool = True) -> Iterator[tuple[str, Program, Workspace]]:
    name = unique_name(word)
    with server(written(root, name, telemetry)) as running, attach_to(name, running) as ws:
        if telemetry:  # the socket is there before the commands are
            wait_for(lambda: "/ringmaster/info" in asked(name, "/")["/"], "the server's commands")
        yield name, running, ws
    assert not directory_of(f"rm-{name}").exists()


def by_dpdk(name: str, *commands: str) -> list[Any]:
    """What dpdk-telemetry.py prints to each command."""
    done = subprocess.run(
        [str(CLIENT), "-f", f"rm-{name}"],
        input="\n".join(commands),
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT_S,
    )
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def connected(name: str) -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.settimeout(TIMEOUT_S)
    try:
        client.connect(str(directory_of(f"rm-{name}") / "dpdk_telemetry.v2"))
    except OSError:
        client.close()
        raise
    return client


def greeted(name: str) -> socket.socket | None:
    """A client, or None where there are too many."""
    client = connected(name)
    with suppress(ConnectionResetError):
        if b"max_output_len" in client.recv(1024):
            return client
    client.close()
    return None


def asked(name: str, command: str | bytes) -> Any:
    """What a client of its own gets."""
    found: list[socket.socket] = []

    def one_is_taken() -> bool:
        found.extend(client for client in [greeted(name)] if client is not None)
        return bool(found)

    wait_for(one_is_taken, "clients that have gone to be known to have gone")
    with found[0] as client:
        client.send(command if isinstance(command, bytes) else command.encode())
        return json.loads(client.recv(REPLY_BYTES))


@needs_client
def test_the_tool_of_dpdk_reads_what_the_workspace_counts(root: Path) -> None:
    with ExitStack() as stack:
        name, _, ws = stack.enter_context(served(root, "telemetry"))
        overlay = root / f"{name}-ring.yaml"
        overlay.write_text(f"core: {RING_CORE}\n")
        config = root / f"{name}.yaml"
        with Program("ringmaster-instruments", "run", config, overlay, "--turns", str(TURNS)) as ring:
            assert ring.wait(TIMEOUT_S) == 0, ring.words
        wait_until_still(ws, "ring")
        assert_sums_hold(ws)
        info, cores, ports, port, first, rest, clock, help_ = by_dpdk(
            name,
            "/ringmaster/info",
            "/ringmaster/cores",
            "/ringmaster/ports",
            "/ringmaster/counters,port/ring",
            "/ringmaster/instruments",
            f"/ringmaster/instruments,{PAGE}",
            "/ringmaster/histograms",
            "/help,/ringmaster/instruments",
        )
        counts = ws.counters("port/ring")
        assert counts["received"] == INSTRUMENTS * TURNS
        assert port["/ringmaster/counters"] == dict(counts)
        table = ports["/ringmaster/ports"]
        assert (table["name"], table["kind"], table["received"]) == (["ring"], ["memif"], [counts["received"]])
        assert info["/ringmaster/info"]["workspace"] == name
        assert info["/ringmaster/info"]["instruments"] == INSTRUMENTS
        assert cores["/ringmaster/cores"]["core"] == [SERVER_CORE]
        assert cores["/ringmaster/cores"]["roles"] == ["receive housekeeping"]
        assert 0 < cores["/ringmaster/cores"]["busy_ppm"][0] <= 1_000_000
        pages = [page["/ringmaster/instruments"] for page in (first, rest)]
        assert [page["next"] for page in pages] == [PAGE, INSTRUMENTS]
        accepted = {n: a for page in pages for n, a in zip(page["name"], page["accepted"], strict=True)}
        assert accepted == {n: ws.counters(f"stream/{n}")["accepted"] for n in accepted}
        assert len(accepted) == INSTRUMENTS
        durations = clock["/ringmaster/histograms"]
        assert durations["name"] == ["latency/receive/0"]
        assert durations["count"] == [ws.histograms["latency/receive/0"].read().total]
        assert 0 < durations["p50_ns"][0] <= durations["p99_ns"][0] <= durations["max_ns"][0]
        assert "64 a page" in help_["/help"]["/ringmaster/instruments"]


@needs_client
def test_the_tool_of_dpdk_finds_servers_side_by_side(root: Path) -> None:
    with served(root, "telemetry-a") as (one, _, _), served(root, "telemetry-b") as (other, _, _):
        done = subprocess.run([str(CLIENT), "-l"], capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
        for name in (one, other):
            assert f"rm-{name}\n" in done.stdout
            assert by_dpdk(name, "/ringmaster/info")[0]["/ringmaster/info"]["workspace"] == name


def test_without_the_key_there_is_no_socket(root: Path) -> None:
    with served(root, "telemetry-not", telemetry=False) as (name, _, _):
        assert list(directory_of(f"rm-{name}").iterdir()) == []


def test_the_socket_of_a_killed_server_is_the_next_ones(root: Path) -> None:
    name = unique_name("telemetry-killed")
    config = written(root, name)
    with server(config) as running:
        attach_to(name, running).close()
        kill_at_once(running.pid)
        assert running.wait(TIMEOUT_S) == -signal.SIGKILL
    left = directory_of(f"rm-{name}")
    assert [file.name for file in left.iterdir()] == ["dpdk_telemetry.v2"]
    with pytest.raises(ConnectionRefusedError):
        connected(name)
    with server(config) as running:
        attach_to(name, running).close()
        wait_for(lambda: "/ringmaster/info" in asked(name, "/")["/"], "the server's commands")
        assert terminate(running) == 0
    assert not left.exists()


def test_hostile_clients_disturb_nothing(root: Path) -> None:
    with ExitStack() as stack:
        name, running, ws = stack.enter_context(served(root, "telemetry-hostile"))
        core = ws.counters(f"core/{SERVER_CORE}")
        dice = random.Random(1)
        with connected(name) as client:
            client.recv(1024)
            for _ in range(300):
                words = dice.choice([b"/ringmaster/instruments,", b"/ringmaster/counters,", b"/", b"", b","])
                client.send(words + dice.randbytes(dice.randrange(1, 1000)))
                assert client.recv(REPLY_BYTES)
        long_one = asked(name, "/ringmaster/counters," + "x" * 900)["/ringmaster/counters"]
        assert long_one == {"error": "the parameter has 900 bytes, expected at most 127"}
        wrong = asked(name, b"/ringmaster/counters,port/\xff\x01")["/ringmaster/counters"]
        assert wrong == {"error": 'no counters "port/??"; /ringmaster/counters lists them'}
        assert [*asked(name, "/ringmaster/" + "x" * 56).values()] == [None]

        silent = [*iter(lambda: greeted(name), None)]
        for one in silent:
            stack.enter_context(one)
        assert 0 < len(silent) <= CONNECTIONS
        silent[0].close()
        assert asked(name, "/ringmaster/info")["/ringmaster/info"]["workspace"] == name

        silent[1].setblocking(False)  # a client that does not read
        with suppress(BlockingIOError):
            while True:
                silent[1].send(b"/ringmaster/counters,port/ring")
        assert asked(name, "/ringmaster/info")["/ringmaster/info"]["workspace"] == name
        loops = core["loops"]
        wait_for(lambda: core["loops"] > loops, "the server to poll")
        assert terminate(running) == 0  # with clients that stay

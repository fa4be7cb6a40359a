# SPDX-License-Identifier: Apache-2.0
"""Programs of others in a Python of their own, .venv/clients: a scan by Bluesky, aioca, and p4p's gateway."""

import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest
from gateway_clients import Scene, free_ports, program, scene, wait_for

from ringmaster.fabric.owner import Owner

ROOT = Path(__file__).parents[2]
CLIENTS = ROOT / ".venv/clients/bin/python"
pytestmark = pytest.mark.skipif(not CLIENTS.exists(), reason="no .venv/clients: `make test` installs these clients")
SETTINGS = 'every_ms: 20\nputs: [{to: "demo:*"}]\n'
NM_PER_A = (1000, -500)
"""What a corrector of 1 A does to the two BPMs."""


@contextmanager
def beam(made: Scene) -> Iterator[None]:
    """Turns come, and the orbit follows the bump's current."""
    over = Event()

    def run() -> None:
        turn = 0
        while not over.wait(0.005):
            current = made.bump.current.number
            for name, nm in zip(("bpm01/turn", "bpm02/turn"), NM_PER_A, strict=True):
                for at in range(turn, turn + 64):
                    made.server.store(name, at, struct.pack("<ii", round(nm * current), 7))
                made.server.publish(name, turn + 63, 0)
            turn += 64

    thread = Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_scan_of_a_corrector_against_the_orbit(tmp_path: Path) -> None:
    with scene(tmp_path, SETTINGS) as made, beam(made):
        code = str(ROOT / "examples/scans/corrector.py")
        said = made.client(str(CLIENTS), code, "demo:bump:current", "demo", "--", "-2", "0", "3", "6")
        points = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        assert [point["corrector"] for point in points] == [-2.0, 0.0, 3.0, 6.0]
        assert [point["x"] for point in points] == [[nm * point["corrector"] for nm in NM_PER_A] for point in points]


def test_a_refusal_ends_the_scan_with_the_owners_words(tmp_path: Path) -> None:
    with scene(tmp_path, SETTINGS) as made, beam(made):
        code = str(ROOT / "examples/scans/corrector.py")
        said = made.client(str(CLIENTS), code, "demo:bump:current", "demo", "1", "12", expect=1)
        assert "bump/current: 12 A is above the control limit of 10 A" in said


def test_aioca_reads_puts_and_is_refused(tmp_path: Path) -> None:
    code = """
import asyncio
from aioca import DBR_CHAR_STR, FORMAT_CTRL, CANothing, caget, caput
async def main():
    value = await caget("demo:bump:current", format=FORMAT_CTRL, timeout=60)
    print(float(value), value.units, value.upper_ctrl_limit, value.upper_alarm_limit, value.precision)
    await caput("demo:bump:current", 3.5, wait=True, timeout=60)
    print(float(await caget("demo:bump:current", timeout=60)))
    try:
        await caput("demo:bump:current", 30.0, wait=True, timeout=60)
    except CANothing as error:
        print(error)
    print(await caget("demo:bump:current:REFUSAL", datatype=DBR_CHAR_STR, timeout=60))
    print((await caget("demo:bump:weights", timeout=60)).tolist())
asyncio.run(main())
"""
    with scene(tmp_path, SETTINGS) as made:
        said = made.client(str(CLIENTS), "-c", code).splitlines()
    assert said[:2] == ["2.0 A 10.0 9.0 4", "3.5"]
    assert "Channel write request failed" in said[2]
    assert said[3:5] == ["bump/current: 30 A is above the control limit of 10 A", str([float(i) for i in range(8)])]


def test_a_monitor_of_channel_access_goes_on_where_an_owner_comes_with_other_objects(tmp_path: Path) -> None:
    code = """
import asyncio
from aioca import camonitor
async def main():
    camonitor("demo:bump:actual", lambda value: print(float(value), flush=True))
    await asyncio.Event().wait()
asyncio.run(main())
"""
    with scene(tmp_path, SETTINGS) as made, program([str(CLIENTS), "-u", "-c", code], made.environment) as monitor:
        monitor.wait_for("^0.0$")
        for count in (4, 6):
            owner = Owner("extra", str(made.path), answers=False)
            owner.parameter("extra/values", np.zeros(count), "A")
            with owner:
                _wait_for_elements(made, count)
        made.bump.actual.value = 3.75
        monitor.wait_for("^3.75$")


def _wait_for_elements(made: Scene, count: int) -> None:
    form = ("get", "--format", "{response.data_count}", "demo:extra:values")
    wait_for(lambda: made.caproto(*form).strip() == str(count), lambda: made.caproto(*form))


def test_many_clients_behind_p4ps_gateway_are_one_client_of_ours(tmp_path: Path) -> None:
    with scene(tmp_path, SETTINGS) as made:
        tcp, udp = free_ports(2)
        file = tmp_path / "pvagw.json"
        servers = "EPICS_PVA_NAME_SERVERS"
        upstream = {"name": "up", "autoaddrlist": False, servers: made.environment[servers]}
        downstream = {
            "name": "down",
            "clients": ["up"],
            "interface": ["127.0.0.1"],
            "serverport": tcp,
            "bcastport": udp,
            "autoaddrlist": False,
        }
        file.write_text(json.dumps({"version": 2, "clients": [upstream], "servers": [downstream]}))
        beyond = made.environment | {servers: f"127.0.0.1:{tcp}", "EPICS_PVA_BROADCAST_PORT": str(udp)}
        code = """
import sys, threading
from p4p.client.thread import Context
contexts = [Context("pva") for _ in range(20)]
left = threading.Semaphore(0)
def show(value):
    if float(value) == 6.25:
        left.release()
kept = [context.monitor("demo:bump:actual", show) for context in contexts]
print("value", float(contexts[0].get("demo:bump:actual", timeout=60)), flush=True)
for _ in contexts:
    left.acquire()
print("all 20", flush=True)
"""
        with program([sys.executable, "-m", "p4p.gw", str(file)], made.environment):
            with program([sys.executable, "-u", "-c", code], beyond) as clients:
                clients.wait_for("^value 0.0")
                made.bump.actual.value = 6.25
                clients.wait_for("^all 20")
            ours = int(made.environment["EPICS_PVAS_SERVER_PORT"])
            assert connections(ours) <= 2


def connections(port: int) -> int:
    """How many clients a server on loopback has."""
    said = subprocess.run(
        ["ss", "-Htn", "state", "established", f"( sport = :{port} )"], capture_output=True, text=True, check=True
    )
    return len(said.stdout.splitlines())

# SPDX-License-Identifier: Apache-2.0
"""The EPICS gateway of a server that receives and commands: a p4p client moves a supply, sees it move, and turns."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest
from harness import TIMEOUT_S, wait_for
from living import BPMS, LIMIT_A, ROUNDING_A, Machine, machine

from ringmaster import Workspace, attach
from ringmaster.bench.gateway_epics import epics_gateway
from ringmaster.bench.gateway_peers import loopback

p4p = pytest.importorskip("p4p", reason="p4p is not installed: `make gateways` installs it")
pytest.importorskip("caproto", reason="caproto is not installed: `make gateways` installs it")
SUPPLY = "ps/c02_01"
TURNS = 1024
"""Of the pictures of turns."""
PLACES = (1, 2)
"""That each instrument measures."""


@dataclass
class Client:
    """Of p4p, in this process."""

    workspace: str
    context: Any

    def name(self, source: str) -> str:
        """As the gateway gives it."""
        return f"{self.workspace}:{source.replace('/', ':')}"

    def get(self, source: str) -> Any:
        """Once."""
        return self.context.get(self.name(source), timeout=TIMEOUT_S)

    def put(self, source: str, value: float) -> None:
        """Waits for the owner's answer."""
        self.context.put(self.name(source), value, timeout=TIMEOUT_S)

    @contextmanager
    def monitor(self, source: str) -> Iterator[list[Any]]:
        """What comes meanwhile."""
        came: list[Any] = []
        subscription = self.context.monitor(self.name(source), came.append)
        try:
            yield came
        finally:
            subscription.close()


@pytest.fixture(scope="module")
def living(root: Path) -> Iterator[tuple[Machine, Client]]:
    """A machine, and a client of its gateway."""
    from p4p.client.thread import Context

    environment = loopback()
    server = f"127.0.0.1:{environment['EPICS_PVAS_SERVER_PORT']}"  # searched by TCP, as many others hear datagrams
    with ExitStack() as stack:
        made = stack.enter_context(machine(root, "epics"))
        folder = root / "gateway"
        folder.mkdir()
        stack.enter_context(epics_gateway(folder, made.name, environment))
        conf = {"EPICS_PVA_NAME_SERVERS": server, "EPICS_PVA_ADDR_LIST": "", "EPICS_PVA_AUTO_ADDR_LIST": "NO"}
        context = stack.enter_context(Context("pva", conf=conf, useenv=False))
        yield made, Client(made.name, context)


def test_a_put_moves_the_supply_and_its_readback_comes(living: tuple[Machine, Client]) -> None:
    _, client = living
    with client.monitor(f"{SUPPLY}/readback") as came:
        client.put(f"{SUPPLY}/setpoint", 1.5)  # the guard leads there by the supply's slew
        wait_for(lambda: came and abs(float(came[-1]) - 1.5) <= ROUNDING_A, lambda: f"1.5 A: {came[-5:]}")
    limits = client.get(f"{SUPPLY}/setpoint").raw
    assert (limits.control.limitLow, limits.control.limitHigh, limits.display.units) == (-LIMIT_A, LIMIT_A, "A")


def test_what_the_server_refuses_is_the_error_of_the_put(living: tuple[Machine, Client]) -> None:
    _, client = living
    with pytest.raises(Exception, match=f"{SUPPLY}: 11 A is above its upper limit of 10 A"):
        client.put(f"{SUPPLY}/setpoint", 11.0)
    with pytest.raises(Exception, match="server/turn_rate_hz"):
        client.put("server/turn_rate_hz", 1.0)


def test_turns_come_as_a_picture_that_the_streams_have(living: tuple[Machine, Client]) -> None:
    made, client = living
    with attach(made.name) as ws:
        for plane in "xy":
            expected, image = _same_turns(ws, client, plane)
            assert image.shape == (len(BPMS) * len(PLACES), TURNS)
            np.testing.assert_array_equal(np.asarray(image, np.float64), expected)


def _same_turns(ws: Workspace, client: Client, plane: str) -> tuple[Any, Any]:
    """A picture and the records of its turns; where these were overwritten meanwhile, of other turns."""
    give_up = monotonic() + TIMEOUT_S
    while True:
        assert monotonic() < give_up, "records were overwritten before they could be compared"
        image = client.get(f"orbit/turns_{plane}")
        last = int(image.raw.turn)
        windows = [ws.streams[f"{bpm}/turn"].read(last - TURNS + 1, TURNS) for bpm in BPMS]
        if all(window.ok.all() for window in windows):
            return np.array([window.values(f"{plane}{place}") for window in windows for place in PLACES]), image


def test_slow_records_and_the_orbit_go_on(living: tuple[Machine, Client]) -> None:
    _, client = living
    for source in (f"{BPMS[0]}/slow/x1", "orbit/x"):
        with client.monitor(source) as came:
            wait_for(lambda came=came: len({value.raw.turn for value in came}) >= 3, f"three turns of {source}")  # type: ignore[misc]
            turns = [int(value.raw.turn) for value in came if value.raw.alarm.severity == 0]
            assert turns == sorted(turns)


def test_a_server_that_ends_and_comes_again_is_seen_by_the_same_clients(living: tuple[Machine, Client]) -> None:
    made, client = living
    with client.monitor("server/turn_rate_hz") as came, client.monitor(f"{SUPPLY}/readback") as moved:
        wait_for(lambda: came and moved, "first values")
        made.end()
        wait_for(lambda: came[-1].raw.alarm.severity == 3, lambda: f"INVALID: {came[-1]}")
        made.start()
        wait_for(lambda: came[-1].raw.alarm.severity == 0, lambda: f"no alarm: {came[-1]}")
        wait_for(lambda: client_moves(client, moved), lambda: f"the supply to move: {moved[-1]}")


def client_moves(client: Client, moved: list[Any]) -> bool:
    """Whether a put to the new server reaches the supply."""
    try:
        client.put(f"{SUPPLY}/setpoint", -0.5)
    except Exception:  # the chain has not joined yet, so the server refuses
        return False
    return abs(float(moved[-1]) + 0.5) <= ROUNDING_A

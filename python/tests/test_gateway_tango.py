# SPDX-License-Identifier: Apache-2.0
"""The TANGO gateway without a database, as PyTango's own client sees it."""

import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Thread

import fabric
import numpy as np
import pytest
from gateway_clients import TIMEOUT_S, TURN, Bump, Scene, free_ports, program, server_of
from tango_clients import code_of, tango_scene, without_database

from ringmaster.fabric.layout import ElementType
from ringmaster.fabric.owner import Owner

pytest.importorskip("tango", reason="pytango is not installed: `make gateways` installs it")

SETTINGS = """
every_ms: 20
names:
  - {match: bump/mode, name: "{device}/{attribute}", choices: [off, on, hold]}
  - {match: "*", name: "{device}/{attribute}"}
puts:
  - {to: "demo/application/*", hosts: 127.0.0.1}
"""
BUMP = "demo/application/bump"

Run = Callable[[str], str]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Scene, str]]:
    """One for all tests that leave it as it was."""
    with tango_scene(tmp_path_factory.mktemp("gateway"), SETTINGS) as made:
        yield made


@pytest.fixture
def live(both: tuple[Scene, str]) -> Scene:
    """Its scene."""
    return both[0]


@pytest.fixture
def run(both: tuple[Scene, str]) -> Run:
    """Runs a program with PyTango against it, and returns what that printed."""
    scene, where = both
    return lambda code: scene.client(sys.executable, "-c", code_of(where, code)).strip()


def test_an_attribute_has_value_unit_limits_time_and_turn(run: Run) -> None:
    code = f"""
bump = device({BUMP!r})
begun = time.time()
bump.current = 3.5
read, config = bump.read_attribute("current"), bump.get_attribute_config("current")
print(read.value, read.w_value, read.quality, config.unit, config.description, config.format)
print(config.min_value, config.max_value, config.alarms.max_warning, config.alarms.max_alarm, bump.Turn)
print(begun - 1 < read.time.totime() < time.time() + 1)
"""
    assert run(code).splitlines() == [
        "3.5 3.5 ATTR_VALID A where it shall go %.4f",
        f"-10.0 10.0 8.0 9.0 {TURN}",
        "True",
    ]


def test_there_are_arrays_texts_choices_and_pictures(run: Run) -> None:
    code = f"""
import json
bump, orbit = device({BUMP!r}), device("demo/beam/orbit")
print(json.dumps([bump.weights.tolist(), bump.comment, int(bump.mode), bump.counts.dtype.str]))
print(list(bump.get_attribute_config("mode").enum_labels))
print(orbit.get_attribute_config("turns_x").data_format, orbit.get_attribute_config("x").max_dim_x)
print(orbit.read_attribute("x").quality, device("demo/server/server").turn_rate_hz)
"""
    first, labels, orbit, quality = run(code).splitlines()
    assert json.loads(first) == [[float(i) for i in range(8)], "fine", 1, "<u8"]
    assert labels == "['off', 'on', 'hold']"
    assert orbit == "IMAGE 2"
    assert quality == "ATTR_INVALID 1000.0"


def test_the_quality_and_the_state_tell_of_alarms(run: Run) -> None:
    code = f"""
bump = device({BUMP!r})
for value in (8.5, 9.5, 2.0):
    bump.current = value
    print(bump.read_attribute("current").quality, bump.state())
"""
    assert run(code).splitlines() == ["ATTR_WARNING ALARM", "ATTR_ALARM ALARM", "ATTR_VALID ON"]


def test_change_events_tell_what_an_owner_changes(live: Scene, run: Run) -> None:
    """The owner changes it while the client waits, which says when it listens."""
    code = f"""
bump = device({BUMP!r})
events = heard(bump, "actual")
bump.comment = "listening"
wait_for(lambda: (6.25, "ATTR_VALID") in events)
"""
    with program([sys.executable, "-c", code_of(_where(live), code)], live.environment) as client:
        live.gateway.wait_for('→ "listening"')
        live.bump.actual.value = 6.25
        client.process.wait()
    assert client.process.returncode == 0, client.text
    live.bump.actual.value = 0.0


def test_change_events_tell_of_orbits_and_pictures(tmp_path: Path) -> None:
    """They are computed once a client has subscribed, and there is something."""
    code = """
orbit = device("demo/beam/orbit")
orbits, pictures = heard(orbit, "x"), heard(orbit, "turns_x")
print(orbits, pictures, flush=True)
valid = lambda: orbits[-1][1] == pictures[-1][1] == "ATTR_VALID"
wait_for(lambda: valid() and (orbits[-1][0] == orbits[-1][0]).all())  # one BPM is filled after the other
print(orbits[-1][0].tolist(), pictures[-1][0].shape, orbit.Turn)
"""
    with (
        tango_scene(tmp_path, "every_ms: 20") as (scene, where),
        program([sys.executable, "-c", code_of(where, code)], scene.environment) as client,
    ):
        client.wait_for(r"\[\(None, 'ATTR_INVALID'\)\]")
        for bpm in ("bpm01", "bpm02"):
            scene.server.fill(f"{bpm}/turn", 0, 2047)
        client.process.wait()
    assert client.process.returncode == 0, client.text
    assert client.lines[-1] == "[1535.5, 1535.5] (2, 1024) 2047"


def test_periodic_events_come_of_an_attribute_that_is_polled(run: Run) -> None:
    code = f"""
bump = device({BUMP!r})
print(refusal(bump.subscribe_event, "rate", EventType.PERIODIC_EVENT, print))
bump.poll_attribute("rate", 100)
events = heard(bump, "rate", EventType.PERIODIC_EVENT)
wait_for(lambda: len(events) > 2)
bump.stop_poll_attribute("rate")
"""
    assert run(f'print(heard(device({BUMP!r}), "rate", EventType.ARCHIVE_EVENT)[:1])') == "[(5.0, 'ATTR_VALID')]"
    assert "polling (necessary to send events) for the attribute rate is not started" in run(code)


def test_a_put_reaches_the_owner_and_is_logged(live: Scene, run: Run) -> None:
    before = len(live.bump.asked)
    assert run(f"bump = device({BUMP!r})\nbump.current = 7.25\nprint(bump.current)\nbump.current = 2.0") == "7.25"
    assert [request.values[0] for request in live.bump.asked[before:]] == [7.25, 2.0]
    live.gateway.wait_for(rf"put {BUMP}/current by nobody@127.0.0.1 by TANGO: .* → 7.25$")


def test_what_an_owner_refuses_is_the_failure_of_the_write(run: Run) -> None:
    code = f"""
bump = device({BUMP!r})
bump.rate = 13.0
print(refusal(bump.write_attribute, "rate", 5.0))
print(refusal(bump.write_attribute, "comment", "x" * 100))
print(refusal(bump.write_attribute, "weights", [1.0, 2.0]))
print(refusal(bump.write_attribute, "weights", [1.0] * 9))
print(refusal(bump.write_attribute, "current", float("nan")))
print(refusal(bump.write_attribute, "current", 40.0))
print(refusal(bump.write_attribute, "actual", 1.0))
print(refusal(bump.read_attribute, "nothing"))
try:
    bump.write_attribute("current", "much")
except TypeError:
    print("no number")
print(bump.current)
"""
    told = run(code).splitlines()
    assert "not at 13" in told[0]
    assert "bump/comment has room for 63 bytes" in told[1]
    assert told[2].endswith("weights: 2 elements were given, expected 8")
    assert "greater than the max defined for attribute weights" in told[3]
    assert "current is a NaN or INF" in told[4]
    assert "above the maximum authorized" in told[5]
    assert "actual is not writable" in told[6]
    assert "nothing" in told[7]
    assert told[-2:] == ["no number", "2.0"]


def test_who_has_no_right_is_told(tmp_path: Path) -> None:
    settings = 'puts:\n  - {to: "demo/application/*", hosts: 10.1.2.3}\n'
    with tango_scene(tmp_path, settings) as (scene, where):
        code = f"print(refusal(device({BUMP!r}).write_attribute, 'current', 1.0))"
        said = scene.client(sys.executable, "-c", code_of(where, code))
        assert "no rule of the gateway's `puts` lets nobody@127.0.0.1 by TANGO put it" in said
        assert not scene.bump.asked


def test_without_a_rule_nothing_can_be_written(tmp_path: Path) -> None:
    with tango_scene(tmp_path, "") as (scene, where):
        code = f"print(refusal(device({BUMP!r}).write_attribute, 'current', 1.0))"
        assert "current is not writable" in scene.client(sys.executable, "-c", code_of(where, code))
        assert "read-only" in scene.gateway.text


def test_clients_that_say_nothing_or_rubbish_hinder_no_other(live: Scene, run: Run) -> None:
    host, port = _where(live).removeprefix("tango://").partition("/")[0].split(":")
    rubbish = (b"", b"G", b"GET / HTTP/1.0\r\n\r\n", b"GIOP\x01\x02\x00\x00\xff\xff\xff\x00", bytes(1000))
    with ExitStack() as stack:
        for i in range(300):
            client = stack.enter_context(socket.create_connection((host, int(port))))
            client.sendall(rubbish[i % len(rubbish)])
        assert run(f"print(device({BUMP!r}).read_attribute('rate').quality)") == "ATTR_VALID"
    assert run(f"print(device({BUMP!r}).read_attribute('rate').quality)") == "ATTR_VALID"


def test_an_owner_that_ends_makes_it_invalid_until_it_comes_again(tmp_path: Path) -> None:
    code = f"""
bump = device({BUMP!r})
events = heard(bump, "current")
states = heard(bump, "State")
bump.comment = "listening"
wait_for(lambda: events[-1:] == [(None, "ATTR_INVALID")])
wait_for(lambda: str(states[-1][0]) == "UNKNOWN")
print(bump.read_attribute("current").quality, bump.state(), bump.status(), flush=True)
wait_for(lambda: events[-1] == (2.0, "ATTR_VALID"))
wait_for(lambda: str(states[-1][0]) == "ON")
"""
    with tango_scene(tmp_path, SETTINGS) as (scene, where):
        with program([sys.executable, "-c", code_of(where, code)], scene.environment) as client:
            scene.gateway.wait_for('→ "listening"')
            scene.bump.end()
            client.wait_for("ATTR_INVALID UNKNOWN bump has ended or is stopped")
            scene.bump = Bump(scene.path)
            client.process.wait()
        scene.bump.end()
    assert client.process.returncode == 0, client.text


def test_a_server_that_comes_again_with_others_changes_what_its_device_shows(tmp_path: Path) -> None:
    code = """
server = device("demo/server/server")
wait_for(lambda: server.read_attribute("turn_rate_hz").quality == tango.AttrQuality.ATTR_INVALID)
print("it has ended", flush=True)
wait_for(lambda: "more" in refusal_or(server.get_attribute_list))
print(server.more, refusal(server.read_attribute, "turn_rate_hz"), flush=True)
"""
    with tango_scene(tmp_path, SETTINGS) as (scene, where):
        with program([sys.executable, "-c", code_of(where, code)], scene.environment) as client:
            scene.server.die()
            client.wait_for("it has ended")
            more = fabric.parameter("server/more", np.array([5.0]), "Hz", ElementType.F64)
            again = fabric.Owner(scene.path, [more], header={"generation": 2})
            client.process.wait()
        again.die()
    assert client.process.returncode == 0, client.text
    assert client.text.startswith("it has ended\n5.0 ")


@contextmanager
def feedback(path: Path) -> Iterator[list[tuple[str, float]]]:
    """An application with a loop, which is ready until it is switched on; what it was asked for."""
    over, ready = Event(), Event()
    asked: list[tuple[str, float]] = []

    def serve() -> None:
        owner = Owner("feedback", str(path))
        for name in ("feedback/loop", "feedback/reset"):
            owner.parameter(name, 0.0, writable=True)
        state = owner.parameter("feedback/state", 1.0)
        with owner:
            ready.set()
            while not over.is_set():
                for request in owner.serve(timeout=0.02):
                    value = float(request.values[0])
                    asked.append((request.parameter, value))
                    state.value = 4.0 if request.parameter == "feedback/reset" else {0: 1.0, 1: 2.0, 2: 3.0}[int(value)]

    thread = Thread(target=serve)
    thread.start()
    assert ready.wait(60)
    try:
        yield asked
    finally:
        over.set()
        thread.join()


def test_a_loop_is_a_device_with_a_state_and_commands(tmp_path: Path) -> None:
    """The state changes once the owner has done what it was asked for."""
    code = """
loop = device("demo/application/feedback")
print(loop.state(), loop.status(), loop.get_command_list()[-4:])
states = heard(loop, "State")
for word, state in (("On", "ON"), ("Hold", "DISABLE"), ("Off", "STANDBY"), ("Reset", "FAULT")):
    loop.command_inout(word)
    wait_for(lambda: str(loop.state()) == state and str(states[-1][0]) == state)
print([word for word in ("On", "Off") if word in device("demo/server/server").get_command_list()])
"""
    with feedback(tmp_path / "demo") as asked, tango_scene(tmp_path, SETTINGS) as (scene, where):
        first, last = scene.client(sys.executable, "-c", code_of(where, code)).splitlines()
    assert first.startswith("STANDBY the loop is ready; `ringmaster feedback why` says why")
    assert first.endswith("['On', 'Off', 'Hold', 'Reset']")
    assert last == "[]"
    loop, reset = "feedback/loop", "feedback/reset"
    assert asked == [(loop, 1.0), (loop, 2.0), (loop, 0.0), (reset, 1.0)]


def test_a_command_needs_the_right_to_put(tmp_path: Path) -> None:
    code = 'print(refusal(device("demo/application/feedback").On))'
    with feedback(tmp_path / "demo") as asked, tango_scene(tmp_path, "") as (scene, where):
        said = scene.client(sys.executable, "-c", code_of(where, code))
    assert "demo/application/feedback/loop: this gateway is read-only" in said
    assert not asked


def test_it_has_its_port_for_itself_and_ends_by_the_command_of_its_admin_device(tmp_path: Path) -> None:
    settings = tmp_path / "gateway.yaml"
    server = server_of(tmp_path / "demo")
    (port,) = free_ports(1)
    variables = os.environ | {"RINGMASTER_WORKSPACES": str(tmp_path)}
    settings.write_text("")
    command = [sys.executable, "-m", "ringmaster", "gateway", "tango", str(settings), "--port", str(port)]
    try:
        with program(command, variables) as gateway:
            gateway.wait_for("devices with")
            with program(command, variables) as other:
                assert other.process.wait(TIMEOUT_S) == 1, other.text
            assert f"TANGO cannot listen at giop:tcp:127.0.0.1:{port}: is another program there?" in other.text
            code = 'device("dserver/Ringmaster/demo").Kill()'
            with program([sys.executable, "-c", code_of(without_database(port), code)], variables) as client:
                client.process.wait()
            assert gateway.process.wait(TIMEOUT_S) == 0, gateway.text
    finally:
        server.die()


def _where(scene: Scene) -> str:
    line = next(line for line in scene.gateway.lines if "tango://" in line)
    return f"tango://{line.partition('tango://')[2]}".replace("DEVICE", "%s")

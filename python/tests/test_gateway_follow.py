# SPDX-License-Identifier: Apache-2.0
"""Updates over PV Access, posted by the library and posted from Python: monitors see the same, once each."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from gateway_clients import TURN, Program, Scene, program, scene, server_of, wait_for

from ringmaster.fabric.owner import Owner
from ringmaster.gateways import pva_follow
from ringmaster.places import find_library

pytest.importorskip("p4p", reason="p4p is not installed: `make gateways` installs it")
pytest.importorskip("caproto", reason="caproto is not installed: `make gateways` installs it")

SETTINGS = """
every_ms: 10
names:
  - {match: kinds/choice, name: "{workspace}:{name}", choices: [off, on, hold]}
  - {match: "*", name: "{workspace}:{name}"}
puts: [{to: "*"}]
views:
  - {name: "demo:bump:current_ma", of: bump/current, scale: 1000, offset: 0.5, unit: mA}
  - {name: "demo:bump:same", of: bump/current}
  - {name: "demo:rate_khz", of: server/turn_rate_hz, scale: 1.0e-3, unit: kHz}
  - {name: "demo:rate", of: server/turn_rate_hz}
  - {name: "demo:cavities", value: 4}
"""
FROM_PYTHON = "from ringmaster.gateways import pva_follow; pva_follow.NAME = 'libnone.so'"
MONITOR = """
import json, sys, threading
from p4p.client.thread import Context
context = Context("pva", nt=False)
one_at_a_time = threading.Lock()
def show(name):
    def told(value):
        content = value.value
        content = content.index if hasattr(content, "index") and not isinstance(content, (str, list)) else content
        content = content.tolist() if hasattr(content, "tolist") else content
        stamp = value.timeStamp.secondsPastEpoch + value.timeStamp.nanoseconds / 1e9
        alarm = [value.alarm.severity, value.alarm.message]
        with one_at_a_time:
            print(json.dumps([name, content, *alarm, value.turn, stamp]), flush=True)
    return told
kept = [context.monitor(name, show(name)) for name in sys.argv[1:]]
threading.Event().wait()
"""


@pytest.fixture(scope="module", params=["library", "Python"])
def live(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A gateway that posts by the one or by the other."""
    by_library = request.param == "library"
    if by_library and not Path(find_library(pva_follow.NAME)).exists():
        pytest.skip(f"{pva_follow.NAME} is not built: `make gateways` builds it")
    with scene(tmp_path_factory.mktemp("follow"), SETTINGS, before="" if by_library else FROM_PYTHON) as made:
        assert ("PV Access posts from Python" in made.gateway.text) is not by_library
        yield made


@contextmanager
def monitor(live: Scene, *names: str) -> Iterator[Program]:
    """A client that prints each update of these."""
    command = [sys.executable, "-c", MONITOR, *(f"demo:{name.replace('/', ':')}" for name in names)]
    with program(command, live.environment) as client:
        yield client


def updates(client: Program, name: str) -> list[list[object]]:
    """Value, severity, message, turn and time of each that came so far."""
    found = [json.loads(line) for line in tuple(client.lines) if line.startswith("[")]
    return [rest for which, *rest in found if which == f"demo:{name.replace('/', ':')}"]


def wait_for_value(client: Program, name: str, value: object) -> list[object]:
    """The first update with that value."""

    def found() -> list[list[object]]:
        return [update for update in updates(client, name) if update[0] == value]

    wait_for(found, lambda: f"{name} = {value}: {client.text}")
    return found()[0]


def test_numbers_of_every_kind_and_choices_come_with_turn_and_time(live: Scene) -> None:
    owner = Owner("kinds", str(live.path), answers=False)
    codes = ("f8", "f4", "i8", "i4", "u8", "u4", "u1")
    owned = {code: owner.parameter(f"kinds/{code}", np.ones(1, code)) for code in codes}
    owned |= {f"a{code}": owner.parameter(f"kinds/a{code}", np.ones(40, code)) for code in codes}
    choice = owner.parameter("kinds/choice", 0)
    names = [f"kinds/{each}" for each in owned]
    with owner:
        wait_for(lambda: "kinds:choice" in live.pvget("demo:inventory"), "the gateway to find them")
        with monitor(live, *names, "kinds/choice") as client:
            for name in (*names, "kinds/choice"):
                wait_for(lambda name=name: updates(client, name), f"{name}: {client.text}")  # type: ignore[misc]
            for which, parameter in owned.items():
                parameter.write(np.arange(7, 47) if which.startswith("a") else 7, turn=TURN)
            choice.write(2, turn=TURN)
            for which in owned:
                expected = list(range(7, 47)) if which.startswith("a") else 7
                update = wait_for_value(client, f"kinds/{which}", expected)
                assert update[1:4] == [0, "", TURN]
                assert owner_time(live, f"kinds/{which}") == pytest.approx(update[4], abs=1e-6)
            assert wait_for_value(client, "kinds/choice", 2)[3] == TURN


def owner_time(live: Scene, name: str) -> float:
    """When a parameter was changed, in seconds of UTC."""
    said = live.python(f"print(repr(context.get({'demo:' + name.replace('/', ':')!r}).timestamp))")
    return float(said)


def test_an_alarm_comes_and_goes_with_its_words(live: Scene) -> None:
    with monitor(live, "bump/actual") as client:
        expected = []
        for value, severity, message in (
            (1.0, 0, ""),
            (8.5, 1, "minor HIGH"),
            (8.625, 1, "minor HIGH"),
            (9.5, 2, "major HIHI"),
            (2.0, 0, ""),
            (3.0, 0, ""),
        ):
            live.bump.actual.value = value
            update = wait_for_value(client, "bump/actual", value)
            assert update[1:3] == [severity, message]
            expected.append(value)
        values = [update[0] for update in updates(client, "bump/actual")]
        assert [value for value, _ in groupby(values)][-6:] == expected  # one again, where it attaches anew
    live.bump.actual.value = 0.0


def test_a_change_is_told_once_by_whatever_way_it_came(live: Scene) -> None:
    with monitor(live, "bump/current") as client:
        wait_for(lambda: updates(client, "bump/current"), client.text)
        before = len(updates(client, "bump/current"))
        for value in (3.5, 4.5):
            live.python(f"context.put('demo:bump:current', {value})")
            wait_for_value(client, "bump/current", value)
        live.bump.current.value = 5.5
        wait_for_value(client, "bump/current", 5.5)
        assert [update[0] for update in updates(client, "bump/current")][before:] == [3.5, 4.5, 5.5]


def test_clients_that_come_to_the_same_pvs_at_once_all_get_them(live: Scene) -> None:
    code = """
from threading import Semaphore
names = [f"demo:bump:{name}" for name in ("current", "rate", "actual", "mode", "weights", "comment", "counts")]
for _ in range(12):
    came, contexts = Semaphore(0), [Context("pva") for _ in range(6)]
    kept = [each.monitor(name, lambda _: came.release()) for name in names for each in contexts]
    for _ in kept:
        assert came.acquire(timeout=60)
    for each in contexts:
        each.close()
print("all")
"""
    assert "all" in live.python(code).splitlines()


def test_views_are_told_with_their_source_in_their_unit(live: Scene) -> None:
    with monitor(live, "bump/current", "bump/current_ma", "bump/same", "cavities") as client:
        assert wait_for_value(client, "cavities", 4.0)[1:3] == [0, ""]
        for value in (1.25, 8.25, 1.5):
            live.bump.current.value = value
            told = [wait_for_value(client, f"bump/{name}", value) for name in ("current", "same")]
            told.append(wait_for_value(client, "bump/current_ma", value * 1000 + 0.5))
            assert [update[1:] for update in told] == [told[0][1:]] * 3
            assert told[0][1] == (1 if value > 8 else 0)
    said = live.pvget("demo:bump:current_ma")
    assert 'units = "mA"' in said
    assert "highAlarmLimit = 9000.5" in said.replace("double ", "")


def test_a_put_of_a_view_reaches_the_owner_and_is_told_under_all_names(live: Scene) -> None:
    with monitor(live, "bump/current", "bump/current_ma", "bump/same") as client:
        for name, value in (("current_ma", 4250.5), ("same", 4.5), ("current", 4.75)):
            live.python(f"context.put('demo:bump:{name}', {value})")
            amperes = (value - 0.5) / 1000 if name == "current_ma" else value
            assert live.bump.current.value == amperes
            for which in ("current", "same"):
                wait_for_value(client, f"bump/{which}", amperes)
            wait_for_value(client, "bump/current_ma", amperes * 1000 + 0.5)
    refused = "try:\n    context.put('demo:{}', {})\nexcept RemoteError as error:\n    print(error)"
    assert "above the control limit of 10 A" in live.python(refused.format("bump:current_ma", 20000.0))
    assert "it is a reading" in live.python(refused.format("cavities", 5.0))


def test_all_names_of_an_owner_that_ends_are_invalid_and_come_back(live: Scene) -> None:
    names = {"server/turn_rate_hz": 1000.0, "rate": 1000.0, "rate_khz": 1.0}
    with monitor(live, *names) as client:
        for name, value in names.items():
            assert wait_for_value(client, name, value)[1] == 0
        live.server.die()
        for name, value in names.items():
            _wait_for_last(client, name, [value, 3, "server has ended or is stopped"])
        live.server = server_of(live.path)
        for name, value in names.items():
            _wait_for_last(client, name, [value, 0, ""])


def _wait_for_last(client: Program, name: str, expected: list[object]) -> None:
    wait_for(lambda: updates(client, name)[-1][:3] == expected, lambda: f"{name}: {expected}: {client.text}")

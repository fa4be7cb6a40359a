# SPDX-License-Identifier: Apache-2.0
"""Updates over PV Access, posted by the library and posted from Python: monitors see the same, once each."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from gateway_clients import TURN, Program, Scene, program, scene, wait_for

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
        assert [update[0] for update in updates(client, "bump/actual")][-6:] == expected
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

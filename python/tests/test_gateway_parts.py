# SPDX-License-Identifier: Apache-2.0
"""What gateways share: names and rights by their file, times, causes of alarms, and queues of puts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import fabric
import numpy as np
import pytest
from command import ringmaster
from conftest import MakeOwner

from ringmaster import Limits, attach
from ringmaster.fabric.layout import ElementType, Severity
from ringmaster.fabric.owner import Owner
from ringmaster.gateways import point
from ringmaster.gateways.epics import LEGAL
from ringmaster.gateways.names import USUAL, NameRule, Names
from ringmaster.gateways.point import beyond, point_of, state_of
from ringmaster.gateways.puts import Put, Puts
from ringmaster.gateways.rights import Client, PutRule, forbidden
from ringmaster.gateways.settings import read_settings
from ringmaster.values.time_format import utc_ns

ALICE = Client("alice", "control-room", "10.1.0.7", "PVA")


def epics_names(*rules: NameRule) -> Names:
    return Names(rules or (USUAL,), "demo", LEGAL)


def test_names_are_the_workspace_and_colons() -> None:
    assert epics_names().of(["bump/current", "server/turn_rate_hz"]) == {
        "bump/current": "demo:bump:current",
        "server/turn_rate_hz": "demo:server:turn_rate_hz",
    }


def test_the_first_rule_that_matches_names_and_an_empty_name_leaves_out() -> None:
    rules = (NameRule("sr/ps/*/setpoint", "SR:PS:{1}:SP"), NameRule("server/*", ""), NameRule("*", "RM:{name}"))
    assert epics_names(*rules).of(["sr/ps/ch_s01_01/setpoint", "server/version", "bump/rate"]) == {
        "sr/ps/ch_s01_01/setpoint": "SR:PS:ch_s01_01:SP",
        "bump/rate": "RM:bump:rate",
    }


@pytest.mark.parametrize(
    ("rule", "sources", "words"),
    [
        (NameRule("*", "same"), ["a", "b"], "b and a would both be 'same'"),
        (NameRule("*", "{name}"), ["a", "a/TURN"], "would both be 'a:TURN'"),
        (NameRule("*", "x.{name}"), ["a"], "has a character that is none of"),
        (NameRule("*", "x{workspace}µ{name}"), ["a"], "has a character that is none of"),
        (NameRule("*", "{name}"), ["a" * 55], "is longer than 52 characters"),
    ],
)
def test_names_that_clash_or_are_illegal_are_refused(rule: NameRule, sources: list[str], words: str) -> None:
    with pytest.raises(ValueError, match="write a rule of `names`") as told:
        epics_names(rule).of(sources)
    assert words in str(told.value)


def test_many_faults_are_counted_and_not_all_told() -> None:
    with pytest.raises(ValueError, match="and 12 more"):
        epics_names(NameRule("*", "{name}!")).of([f"p{i}" for i in range(20)])


def test_nothing_may_be_put_without_a_rule() -> None:
    assert "read-only" in forbidden((), ALICE, "demo:a")


def test_a_rule_names_users_hosts_and_names() -> None:
    rules = (PutRule(to=("SR:*",), users=("op*", "alice"), hosts=("10.1.*",)),)
    assert forbidden(rules, ALICE, "SR:PS:SP") == ""
    bob = Client("bob", "control-room", "10.1.0.7", "PVA")
    for client, name in ((ALICE, "demo:a"), (bob, "SR:PS:SP")):
        assert f"no rule of the gateway's `puts` lets {client} put it" in forbidden(rules, client, name)
    assert forbidden(rules, Client("operator", "control-room", "10.1.9.9", "CA"), "SR:PS:SP") == ""
    assert forbidden(rules, Client("operator", "control-room", "192.168.0.1", "CA"), "SR:PS:SP")


def test_the_shipped_file_is_read() -> None:
    settings = read_settings(Path(__file__).parents[2] / "configs/gateways/epics.yaml")
    assert settings.puts
    assert settings.names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("colour: red", "1:9: colour: there is no key 'colour'"),
        ("every_ms: soon", "1:11: every_ms: 'soon', expected a number from 1 to 60000"),
        ("names: {match: a}", "names: "),
        ("names:\n  - {match: a}", "2:5: names[0].name: None, expected text"),
        ("puts:\n  - {users: root}", "2:5: puts[0].to: is missing"),
        ("puts:\n  - {to: '*', hosts: [10]}", "puts[0].hosts: [10], expected texts"),
        ("windows: {records: 3}", "windows.records: 3, expected a number from 16"),
        ("- a", "no mapping"),
        ("names: [", "expected"),
    ],
)
def test_a_wrong_file_is_named_with_line_and_key(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text(text)
    with pytest.raises(ValueError, match="gateway.yaml") as told:
        read_settings(file)
    assert words in str(told.value)


def test_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch, make_owner: MakeOwner) -> None:
    make_owner([fabric.parameter("server/turn_rate_hz", np.array([1.0]), "Hz", ElementType.F64)])
    monkeypatch.setattr("ringmaster.gateways.epics.find_spec", lambda _: None)
    said = ringmaster("gateway", "epics", expect=1)
    assert "needs p4p and caproto: pip install 'ringmaster[epics]'" in said.stderr


def test_names_that_cannot_be_end_the_command(make_owner: MakeOwner, tmp_path: Path) -> None:
    make_owner([fabric.parameter("server/a.b", np.array([1.0]), "Hz", ElementType.F64)])
    said = ringmaster("gateway", "epics", expect=1)
    assert "server/a.b would be 'demo:server:a.b', which has a character" in said.stderr


@pytest.mark.parametrize("leap_s", [0, 37])
def test_times_are_utc_whatever_the_kernel_knows_of_leap_seconds(
    leap_s: int, monkeypatch: pytest.MonkeyPatch, make_owner: MakeOwner
) -> None:
    tai_ns = 1_795_659_157_123_456_789
    assert utc_ns(tai_ns, leap_s) == tai_ns - leap_s * 10**9
    monkeypatch.setattr("ringmaster.values.time_format.tai_minus_utc_s", lambda: leap_s)
    spec = fabric.parameter("server/a", np.array([1.0]), "Hz", ElementType.F64, timestamp_tai_ns=tai_ns)
    make_owner([spec])
    with attach("demo") as ws:
        parameter = ws.parameters["server/a"]
        assert state_of(parameter, parameter.read(), True).utc_ns == tai_ns - leap_s * 10**9
    assert utc_ns(0, leap_s) == 0


def test_an_alarm_says_beyond_which_limit() -> None:
    limits = Limits(major_low=-9, minor_low=-8, minor_high=8, major_high=9)
    values = (10.0, 8.5, 0.0, -8.5, -10.0)
    assert [beyond(limits, value) for value in values] == ["HIHI", "HIGH", "", "LOW", "LOLO"]
    assert beyond(limits, np.array([0.0, 8.5])) == "HIGH"
    assert beyond(limits, "text") == ""


def test_precision_shows_a_millionth_of_the_range(make_owner: MakeOwner) -> None:
    ranges = {"server/a": 20.0, "server/b": 2e-3, "server/c": 1e9}
    make_owner(
        [
            fabric.parameter(name, np.array([0.0]), "", ElementType.F64, {"display_low": 0.0, "display_high": wide})
            for name, wide in ranges.items()
        ]
        + [fabric.parameter("server/d", np.array([0.0]), "", ElementType.F64)]
    )
    with attach("demo") as ws:
        found = [point_of(name, parameter).precision for name, parameter in ws.parameters.items()]
    assert found == [4, 8, 0, point.USUAL_PRECISION]


def test_what_an_ended_owner_says_is_invalid(make_owner: MakeOwner) -> None:
    make_owner([fabric.parameter("server/a", np.array([1.0]), "Hz", ElementType.F64)])
    with attach("demo") as ws:
        parameter = ws.parameters["server/a"]
        state = state_of(parameter, parameter.read(), owner_lives=False)
    assert (state.severity, state.cause, state.value) == (Severity.INVALID, "ENDED", 1.0)


# ---- puts


@contextmanager
def counting(every_s: float = 0.0) -> Iterator[list[float]]:
    """An owner that writes down what it is asked for, and refuses what is above 1000."""
    owner = Owner("count", "demo")
    owner.parameter("count/value", 0.0, writable=True, limits=Limits(control_high=1000.0))
    over, ready = Event(), Event()
    asked: list[float] = []

    def serve() -> None:
        with owner:
            ready.set()
            while not over.is_set():
                asked.extend(float(request.values[0]) for request in owner.serve(timeout=0.02))
                over.wait(every_s)

    thread = Thread(target=serve)
    thread.start()
    ready.wait()
    try:
        yield asked
    finally:
        over.set()
        thread.join()


def answers(puts: Puts, values: list[float], parameter: Callable[[], object]) -> list[str]:
    """What becomes of puts that all come at once."""
    left, said = Event(), ["?"] * len(values)
    waiting = set(range(len(values)))

    for i, value in enumerate(values):

        def done(why: str, i: int = i) -> None:
            said[i] = why
            waiting.discard(i)
            if not waiting:
                left.set()

        puts.put(Put(parameter(), value, done))  # type: ignore[arg-type]
    assert left.wait(60)
    return said


def test_many_more_puts_than_an_owner_takes_are_all_done_in_order(make_owner: MakeOwner, root: Path) -> None:
    make_owner([])
    with counting(every_s=0.001) as asked, attach("demo") as ws:
        puts = Puts(root / "demo")
        values = [float(i) for i in range(100)]
        assert answers(puts, values, lambda: ws.parameters["count/value"]) == [""] * 100
        puts.close()
    assert asked == values


def test_a_refusal_is_told_and_ends_nothing(make_owner: MakeOwner, root: Path) -> None:
    make_owner([])
    with counting() as asked, attach("demo") as ws:
        puts = Puts(root / "demo")
        said = answers(puts, [1.0, 2000.0, float("nan"), 2.0], lambda: ws.parameters["count/value"])
        puts.close()
    assert (said[0], said[3], asked) == ("", "", [1.0, 2.0])
    assert said[1] == "count/value: 2000 is above the control limit of 1000"
    assert "count/value" in said[2]


def test_a_queue_that_is_full_refuses(make_owner: MakeOwner, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_owner([])
    monkeypatch.setattr("ringmaster.gateways.puts.QUEUED_MAX", 0)
    with counting(), attach("demo") as ws:
        puts = Puts(root / "demo")
        said = answers(puts, [1.0], lambda: ws.parameters["count/value"])
        puts.close()
    assert "0 puts wait for count already" in said[0]

# SPDX-License-Identifier: Apache-2.0
"""Parts of the TANGO gateway that need no TANGO: names, values, who asks."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ringmaster import Limits
from ringmaster.fabric.layout import InstrumentKind, Severity
from ringmaster.gateways.names import NameRule, Names
from ringmaster.gateways.point import Point, State
from ringmaster.gateways.tango_classes import classes_of
from ringmaster.gateways.tango_device import client_of
from ringmaster.gateways.tango_names import LEGAL, words_of
from ringmaster.gateways.tango_values import content, described, latin


def names(*rules: NameRule, words: dict[str, str] | None = None) -> Names:
    given = {"device": "demo/bpm/bpm01", "attribute": "x", "kind": "bpm"} if words is None else words
    return Names(rules, "demo", LEGAL, lambda _: given)


@pytest.mark.parametrize(
    ("rule", "sources", "words"),
    [
        (NameRule("*", "a/b/{name}"), ["x"], "is not DOMAIN/FAMILY/MEMBER/ATTRIBUTE"),
        (NameRule("*", "a/b/c/d/{name}"), ["x"], "is not DOMAIN/FAMILY/MEMBER/ATTRIBUTE"),
        (NameRule("*", "a/b/c/Status"), ["x"], "none of State, Status, Turn"),
        (NameRule("*", "a/b/c/turn"), ["x"], "none of State, Status, Turn"),
        (NameRule("*", "a/b/c/{name}"), ["x", "X"], "X and x would both be 'a/b/c/X'"),
        (NameRule("*", "a/b c/d/x"), ["x"], "has a character that is none of"),
        (NameRule("*", "a/b/c/2x"), ["x"], "is not DOMAIN/FAMILY/MEMBER/ATTRIBUTE"),
        (NameRule("*", "a//c/x"), ["x"], "is not DOMAIN/FAMILY/MEMBER/ATTRIBUTE"),
    ],
)
def test_names_that_tango_cannot_have_are_refused(rule: NameRule, sources: list[str], words: str) -> None:
    with pytest.raises(ValueError, match="write a rule of `names`") as told:
        names(rule).of(sources)
    assert words in str(told.value)


def test_a_rule_may_use_the_usual_device_and_the_kind() -> None:
    assert names().of(["bpm01/slow/x"]) == {"bpm01/slow/x": "demo/bpm/bpm01/x"}
    assert names(NameRule("*", "sr/{kind}/1/{attribute}")).of(["x"]) == {"x": "sr/bpm/1/x"}


def test_what_tango_cannot_carry_is_left_out() -> None:
    assert latin("µrad → Ω²") == "µrad ? ?²"
    point = Point("a/b/c/d", "d", np.dtype("i4"), limits=Limits(control_low=1.0, control_high=1.0, minor_high=np.inf))
    assert not {"min_value", "max_value", "max_warning"} & described(point).keys()


@pytest.mark.parametrize(
    ("told", "address"),
    [
        ("giop:tcp:10.1.0.7:43720", "10.1.0.7"),
        ("giop:tcp:[fe80::1]:43720", "fe80::1"),
        ("giop:unix:/tmp/omni-operator/000012345", "127.0.0.1"),
    ],
)
def test_a_client_is_known_by_its_address(told: str, address: str) -> None:
    client = client_of(SimpleNamespace(client_ip=told))
    assert (client.user, client.host, client.address) == ("", address, address)


def test_a_value_that_is_not_of_now_is_none() -> None:
    point = Point("a/b/c/d", "d", np.dtype("f8"))
    values: list[Any] = [
        content(point, State(value, severity))
        for value, severity in ((1.0, Severity.NONE), (1.0, Severity.INVALID), (None, Severity.NONE))
    ]
    assert values == [1.0, None, None]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("sr/ps/ch_01/setpoint", "sr/ps/ch_01/setpoint"),
        ("ps/c1/readback", "demo/supply/ps_c1/readback"),
        ("bpm01/slow/x1", "demo/bpm/bpm01/slow_x1"),
        ("orbit/x", "demo/beam/orbit/x"),
        ("server/turn_rate_hz", "demo/server/server/turn_rate_hz"),
        ("supply/state", "demo/server/supply/state_value"),
        ("feedback/state", "demo/application/feedback/state_value"),
        ("alone", "demo/application/alone/alone"),
    ],
)
def test_what_has_no_rule_is_named_by_its_kind(source: str, name: str) -> None:
    stream = SimpleNamespace(instrument="bpm01", instrument_kind=InstrumentKind.BPM)
    workspace: Any = SimpleNamespace(
        name="demo", supplies={"sr/ps/ch_01": None, "ps/c1": None}, streams={"bpm01/slow": stream}
    )
    assert Names((), "demo", LEGAL, words_of(workspace)).of([source]) == {source: name}


def test_devices_that_differ_in_an_attribute_are_of_two_classes() -> None:
    def devices(*kinds: str) -> dict[str, list[Point]]:
        return {f"a/b/{i}": [Point(f"a/b/{i}/x", "x", np.dtype(kind))] for i, kind in enumerate(kinds)}

    assert classes_of(devices("f8", "i4", "f8"), lambda _: False) == {
        "a/b/0": "Ringmaster",
        "a/b/1": "Ringmaster2",
        "a/b/2": "Ringmaster",
    }
    written = classes_of(devices("f8", "f8"), lambda point: point.name == "a/b/1/x")
    assert written == {"a/b/0": "Ringmaster", "a/b/1": "Ringmaster2"}

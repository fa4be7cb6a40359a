# SPDX-License-Identifier: Apache-2.0
"""The console says how many events there are, and how to look at the newest."""

import fabric
import numpy as np
from conftest import MakeOwner

import ringmaster
from ringmaster.console.lines import plain
from ringmaster.console.pages import page_named
from ringmaster.console.view import View
from ringmaster.console.watch import Wanted, Watch
from ringmaster.fabric.layout import ElementType


def overview() -> str:
    with ringmaster.attach("demo") as ws:
        frame = Watch(ws).look(Wanted("overview"))
        return "\n".join(plain(line) for line in page_named("overview").draw(frame, View("overview"), 120, None))


def words(name: str, text: str) -> fabric.Spec:
    return fabric.parameter(
        f"postmortem/{name}", np.frombuffer(text.encode().ljust(64, b"\0"), "u1"), "utf-8", ElementType.U8
    )


def number(name: str, value: int) -> fabric.Spec:
    return fabric.parameter(f"postmortem/{name}", np.array([value], "<i8"), "", ElementType.I64)


def test_events_stand_on_the_overview_while_a_watch_runs(make_owner: MakeOwner) -> None:
    make_owner([fabric.clock()])
    assert "post-mortem" not in overview()
    watch = [number("events", 3), number("to_review", 2), words("last", "20261125T201725.6Z"), words("directory", "/a")]
    owner = make_owner(watch, name="postmortem", folder="postmortem")
    said = overview()
    assert "post-mortem" in said
    assert "3 events, 2 to review   20261125T201725.6Z: `ringmaster postmortem open`" in said
    owner.die()
    assert "its watch has ended" in overview()

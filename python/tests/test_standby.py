# SPDX-License-Identifier: Apache-2.0
"""`ringmaster standby` and its page: who sends, what keeps the standby from READY, what a reset of terms removes."""

import json
import re
from pathlib import Path

import fabric
import pytest
from command import ringmaster
from conftest import MakeOwner
from pair_memory import PERIOD_TURNS, TURN_RATE_HZ, make_server, of_link, write_file

import ringmaster as package
from ringmaster.console import screen
from ringmaster.console.lines import plain, width_of
from ringmaster.console.pages import page_named
from ringmaster.console.view import Action, View
from ringmaster.console.watch import Wanted, Watch
from ringmaster.fabric import layout
from ringmaster.fabric.layout import InstrumentKind, StandbyReason, StandbyRole
from ringmaster.fabric.parameter import ParameterReading
from ringmaster.fabric.workspace import Workspace, attach
from ringmaster.monitor.monitor import Monitor
from ringmaster.monitor.standby import SOON_CYCLES, presses, read_standby_look
from ringmaster.places import CONFIGS
from ringmaster.standby.file import NoPair, find_server, read_pair
from ringmaster.standby.names import REASONS, role_of

ACTIVE, READY, JOINING = StandbyRole.ACTIVE, StandbyRole.READY, StandbyRole.JOINING
UNACKNOWLEDGED = fabric.standby_orders(peer_unacknowledged=1)


def test_every_reason_has_words() -> None:
    assert set(REASONS) == set(StandbyReason)
    assert [role_of(float(role)) for role in StandbyRole] == list(StandbyRole)
    assert role_of(-1) is None


def test_a_file_is_two_servers(tmp_path: Path) -> None:
    file = write_file(tmp_path)
    a, b = read_pair(file)
    assert (a.workspace, b.workspace) == ("ring-a", "ring-b")
    assert (a.number, b.number) == (1, 2)
    assert b.terms == tmp_path / "b.terms"
    assert find_server(f"{file}@b") == b
    with pytest.raises(NoPair, match=r"found the name 'c', expected .*pair.yaml@a or .*pair.yaml@b"):
        find_server(f"{file}@c")
    file.write_text("workspace: ring\n")
    with pytest.raises(NoPair, match="no `standby` with two `servers`"):
        read_pair(file)


def test_both_stand_side_by_side(make_owner: MakeOwner, tmp_path: Path) -> None:
    file = write_file(tmp_path)
    make_server(make_owner, ACTIVE, StandbyReason.TOOK_OVER, 1, of_link(), swap_cycles=4, unacknowledged=1)
    make_server(make_owner, READY, StandbyReason.COPIED, 2, of_link(ACTIVE))
    lines = ringmaster("standby", "status", str(file)).stdout.splitlines()
    rows = {line[:16].strip(): line[16:].split() for line in lines if line}
    assert rows["role"] == ["ACTIVE", "READY"]
    assert rows["term"] == ["5", "6"]
    assert rows["sends"] == ["yes,", "5", "of", "5", "chains", "with", "it", "no"]
    assert rows["lag"] == ["–", "2", "cycles"]
    assert rows["last swap"] == ["4", "cycles", "–"]
    told = json.loads(ringmaster("standby", "status", str(file), "--json").stdout)
    assert (told["active"], told["ready"]) == ("a", True)
    assert told["servers"]["a"]["swap_cycles"] == 4
    assert told["servers"]["b"]["link"]["peer_role"] == "active"


def test_a_peer_on_another_host_is_shown_as_the_link_tells(make_owner: MakeOwner, tmp_path: Path) -> None:
    file = write_file(tmp_path)
    make_server(make_owner, READY, StandbyReason.COPIED, 2, of_link(ACTIVE))
    for word in (str(file), "ring-b", f"{file}@b"):
        told = json.loads(ringmaster("standby", "status", word, "--json").stdout)
        assert told["active"] == "a"
        assert told["servers"]["a"] == {"role": "active", "term": 6, "by": "told by the link of b"}


@pytest.mark.parametrize(("role", "code"), [(ACTIVE, 0), (READY, 10), (JOINING, 10)])
def test_a_script_asks_who_sends(make_owner: MakeOwner, tmp_path: Path, role: StandbyRole, code: int) -> None:
    """Keepalived's question: configs/keepalived.conf."""
    file = write_file(tmp_path)
    ringmaster("standby", "status", f"{file}@a", "--quiet", expect=3)
    make_server(make_owner, role)
    done = ringmaster("standby", "status", f"{file}@a", "--quiet", expect=code)
    assert done.stdout == ""
    assert "say which one" in ringmaster("standby", "status", str(file), "--quiet", expect=2).stderr


def test_the_shipped_track_script_asks_that(make_owner: MakeOwner, tmp_path: Path) -> None:
    script = re.search(r'script "/\S+/ringmaster (.*) (\S+)@a"', (CONFIGS / "keepalived.conf").read_text())
    assert script is not None
    words = script[1].split()
    file = write_file(tmp_path)
    make_server(make_owner, READY, server=1)
    ringmaster(*words, f"{file}@a", expect=10)


def test_a_server_that_is_alone_says_so(make_owner: MakeOwner) -> None:
    make_owner()
    assert "is not one of two" in ringmaster("standby", "status", expect=7).stderr


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ({"link": None}, "a is alone: the process of its link does not run"),
        ({"link": of_link(None)}, "b is not heard: is it on"),
        ({"link": of_link(JOINING, "feedback: copying")}, "feedback: copying"),
        ({"link": of_link(StandbyRole.MAINTENANCE)}, "b is held by an operator"),
        ({"link": of_link(None, bad_key=3)}, "3 datagrams of the link were not made with this key"),
        ({"role": StandbyRole.FAULT, "reason": StandbyReason.NO_TERM, "link": of_link()}, "terms are at their end"),
        ({"role": JOINING, "in_step": False, "link": of_link(ACTIVE)}, "ramp is not in step: 3 steps came to other"),
        ({"role": JOINING, "link": of_link(None)}, "there is no active server to copy from"),
        ({"unacknowledged": 1, "link": of_link()}, "waits for `ringmaster standby acknowledge`"),
        ({"role": READY, "link": [*of_link(ACTIVE), UNACKNOWLEDGED]}, "b took over by itself, which nobody has"),
        ({"link": of_link(READY, "different builds")}, "different builds"),
        ({"role": READY, "link": of_link(ACTIVE, "different builds")}, "different builds"),
    ],
)
def test_why_says_what_is_missing(make_owner: MakeOwner, what: dict[str, object], words: str) -> None:
    make_server(make_owner, **what)  # type: ignore[arg-type]
    assert words in ringmaster("standby", "why", "ring-a", expect=1).stdout


def test_why_is_content_with_a_whole_pair(make_owner: MakeOwner) -> None:
    make_server(make_owner, link=of_link())
    assert "nothing is missing" in ringmaster("standby", "why").stdout


def test_a_switch_is_for_the_active_server(make_owner: MakeOwner) -> None:
    make_server(make_owner, READY, server=2, link=of_link(ACTIVE))
    assert "b does not send, it is READY: ask its peer a" in ringmaster("standby", "switch", expect=1).stderr


def chain(name: str) -> list[fabric.Spec]:
    """A chain that answers."""
    answers = fabric.stream(f"{name}/raw", capacity=256, period=PERIOD_TURNS, kind=InstrumentKind.POWER_SUPPLY)
    return [answers, fabric.counters(f"chain/{name}", "chain"), fabric.counters(f"stream/{name}", "stream")]


@pytest.mark.parametrize(
    ("holes", "doubled", "said"),
    [
        ({"c01": (), "c02": ()}, 0, "of 64 cycles around it 0 missing, 0 doubled"),
        ({"c01": (2000,), "c02": (1990,)}, 0, "of 64 cycles around it 0 missing, 0 doubled"),
        ({"c01": (2000, 2010), "c02": (2000, 2010)}, 0, "of 64 cycles around it 2 missing, 0 doubled"),
        ({"c01": (), "c02": ()}, 1, "of 64 cycles around it 0 missing, 1 doubled"),
    ],
)
def test_a_switch_counts_in_the_chains_answers(
    make_owner: MakeOwner,
    monkeypatch: pytest.MonkeyPatch,
    holes: dict[str, tuple[int, ...]],
    doubled: int,
    said: str,
) -> None:
    """A cycle is missing which no chain has answered: one answer may be lost on its way."""
    more = [spec for name in holes for spec in chain(name)]
    owner = make_server(make_owner, link=of_link(ACTIVE), more=more)

    def hand_over(ws: Workspace, name: str, value: float, **_more: object) -> ParameterReading:
        assert (name, value) == ("standby/switch", 1000 + TURN_RATE_HZ // 2)
        for one, missing in holes.items():
            for turn in range(1000, 2500, PERIOD_TURNS):
                if turn not in missing:
                    owner.store(f"{one}/raw", turn)
            owner.publish(f"{one}/raw", 2490, first=1000)
        owner.set_counter("stream/c01", "duplicate", doubled)
        owner.set_word("standby/state", layout.STANDBY_STATE, "since_turn", 2000)
        owner.set_word("standby/state", layout.STANDBY_STATE, "role", READY)
        return ws.parameters[name].read()

    monkeypatch.setattr(Workspace, "put", hand_over)
    done = ringmaster("standby", "switch", expect=int("64 cycles around it 0 missing, 0" not in said))
    assert done.stdout.splitlines() == ["b sends from turn 2000 on", said]


def test_a_switch_whose_turn_has_passed_says_so(make_owner: MakeOwner, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = make_server(make_owner, link=of_link(READY))

    def agree(ws: Workspace, name: str, _value: float, **_more: object) -> ParameterReading:
        owner.set_word("standby/state", layout.STANDBY_STATE, "turn", 100_000)
        return ws.parameters[name].read()

    monkeypatch.setattr(Workspace, "put", agree)
    assert "has passed; a is ACTIVE, b is READY: try again" in ringmaster("standby", "switch", expect=1).stderr


def test_terms_are_reset_where_nothing_runs(make_owner: MakeOwner, tmp_path: Path) -> None:
    file = write_file(tmp_path)
    (tmp_path / "a.terms").write_text("65535\n")
    make_server(make_owner, server=2)
    assert "pair.yaml@b` runs" in ringmaster("standby", "reset", str(file), expect=1).stderr
    assert (tmp_path / "a.terms").exists()


def test_terms_are_reset_with_what_ended_servers_left(make_owner: MakeOwner, tmp_path: Path) -> None:
    file = write_file(tmp_path)
    (tmp_path / "a.terms").write_text("65535\n")
    owner = make_owner(workspace="ring-a")
    owner.die()
    said = ringmaster("standby", "reset", str(file)).stdout
    assert "would be removed" in said
    assert "switch 2 chains off and on: c01, c02" in said
    assert (tmp_path / "a.terms").exists()
    ringmaster("standby", "reset", str(file), "--yes")
    assert not (tmp_path / "a.terms").exists()
    assert not (tmp_path / "ring-a").exists()


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_the_page_says_who_sends_and_what_is_missing(make_owner: MakeOwner, size: tuple[int, int]) -> None:
    link = of_link(JOINING, "copying states")
    make_server(make_owner, ACTIVE, StandbyReason.TOOK_OVER, link=link, swap_cycles=4, unacknowledged=1)
    with package.attach("ring-a") as ws:
        watch = Watch(ws)
        frame = watch.look(Wanted("standby"))
        lines = screen.draw(frame, View("standby"), *size)
        assert max(map(width_of, lines)) <= size[0]
        shown = "\n".join(map(plain, lines))
        whole = page_named("standby").draw(frame, View("standby"), size[0] - 2, None)
        assert max(map(width_of, whole)) <= size[0] - 2
        overview = "\n".join(map(plain, screen.draw(frame, View("overview"), *size)))
        keys = plain(lines[-1])
    for words in (
        "ACTIVE",
        "5 of 5 chains answer its term",
        "4 cycles after the other's last setpoints",
        "copying states",
    ):
        assert words in shown
    assert "a ACTIVE  term 5   b JOINING" in overview
    assert "a acknowledge" in keys
    assert "s switch" not in keys


def test_a_standby_that_is_not_ready_is_a_fault_of_the_active_server(make_owner: MakeOwner) -> None:
    make_server(make_owner, link=of_link(JOINING), server=1)
    make_server(make_owner, READY, link=of_link(ACTIVE), server=2)
    for workspace, counters in (("ring-a", ["not_ready"]), ("ring-b", [])):
        with attach(workspace) as ws:
            assert [fault.counter for fault in Monitor(ws).look(beam=False).faults] == counters


def test_keys_ask_as_the_command_does(make_owner: MakeOwner) -> None:
    make_server(make_owner, link=of_link(), unacknowledged=1)
    with attach("ring-a") as ws:
        look = read_standby_look(ws)
        frame = Watch(ws).look()
        view = View("standby")
        assert view.press("a", "a", (page_named("standby"),), frame) == Action.ASK
        assert view.asked == [("standby/acknowledge", 1.0)]
    assert look is not None
    assert presses(look, "s") == [("standby/switch", 1000.0 + SOON_CYCLES * PERIOD_TURNS)]
    assert presses(look, "h") == [], "the active server hands over first"
    assert presses(look, "x") == []

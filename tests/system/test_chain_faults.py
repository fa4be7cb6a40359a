# SPDX-License-Identifier: Apache-2.0
"""Supplies and chains that go wrong on purpose: what the server makes of each, and what people are shown of it."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from harness import ringmaster, server, unique_name, wait_for
from living import (
    Machine,
    assert_never_hurt,
    assert_nothing_was_lost,
    cycles_go_on,
    head,
    joined,
    machine,
    server_text,
)

from ringmaster import Workspace
from ringmaster.errors import RequestRefused
from ringmaster.fabric.layout import Severity
from ringmaster.programs.program import attach_to

TRIPPED, SATURATED, DEVIATES, LOST, JOINING = 1, 2, 4, 8, 16
BEGIN_A = 2.0
"""Where all supplies stand when the server comes."""
CHAIN, SUPPLY = "c02", "ps/c02_02"
"""The one that suffers, of the operator's chain."""
LATER_S = 6.0
"""After the ring's start: the chains have long joined."""


def state(ws: Workspace, supply: str) -> int:
    """What the server makes of a supply."""
    names = ws.texts["supply/names"].split()
    return int(np.atleast_1d(np.asarray(ws.parameters["supply/state"].value))[names.index(supply)])


def value(ws: Workspace, name: str) -> float:
    return float(np.asarray(ws.parameters[name].value, np.float64))


def until(ws: Workspace, supply: str, bits: int) -> None:
    """Waits until the server has said all of this of a supply."""
    wait_for(lambda: state(ws, supply) & bits == bits, lambda: f"{supply} to be {bits:b}, is {state(ws, supply):b}")


def until_free(ws: Workspace, supply: str, bits: int) -> None:
    wait_for(lambda: not state(ws, supply) & bits, lambda: f"{supply} to lose {bits:b}, is {state(ws, supply):b}")


def until_at(ws: Workspace, supply: str, current: float) -> None:
    """Waits until a supply says that it is there."""
    name = f"{supply}/readback"
    wait_for(lambda: abs(value(ws, name) - current) < 0.01, lambda: f"{supply} at {current} A: {value(ws, name)}")


def ask(ws: Workspace, supply: str, current: float) -> None:
    """Asks for a current. What a starved host has just lost is asked once more when it has joined again."""

    def taken() -> bool:
        try:
            ws.put(f"{supply}/setpoint", current)
        except RequestRefused:
            if state(ws, supply) & TRIPPED:
                raise
            return False
        return True

    wait_for(taken, lambda: f"{supply} to take {current} A, is {state(ws, supply):b}")


def ask_until(ws: Workspace, supply: str, current: float, there: Callable[[], bool]) -> None:
    """Asks for a current, and waits for what comes of it.

    A chain that a starved host loses meanwhile joins again where it stands, and wants no more: it is asked once more.
    """
    counters = ws.counters(f"chain/{supply.removeprefix('ps/').partition('_')[0]}")  # as they are at each look
    while not there():
        lost = counters["lost"]
        ask(ws, supply, current)
        wait_for(
            lambda: there() or counters["lost"] != lost,  # noqa: B023
            lambda: f"what comes of {current} A: {supply} is {state(ws, supply):b}",
        )


def ask_until_at(ws: Workspace, supply: str, current: float) -> None:
    """Asks for a current until the supply says that it is there."""
    ask_until(ws, supply, current, lambda: abs(value(ws, f"{supply}/readback") - current) < 0.01)


def page(facility: Machine) -> str:
    """The console's page of supplies."""
    return ringmaster("top", "-w", facility.name, "--once", "--page", "supplies").stdout


def line_of(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if name in line.split())


def faults(*entries: str) -> str:
    """The ring's faults; all supplies begin at BEGIN_A."""
    return "".join(f"    - {{{entry}}}\n" for entry in entries)


def test_where_no_chain_has_answered_nobody_is_reported_of_a_current(root: Path) -> None:
    name = unique_name("nobody")
    config = root / f"{name}.yaml"
    config.write_text(server_text(name, root, "hold", "ramp"))
    with server(config) as running, attach_to(name, running) as ws:
        for what in ("setpoint", "readback"):
            reading = ws.parameters[f"{SUPPLY}/{what}"].read()
            assert np.isnan(reading.value)
            assert reading.severity == Severity.INVALID
    shutil.rmtree(root / name, ignore_errors=True)
    shutil.rmtree(Path("/var/run/dpdk") / f"rm-{name}", ignore_errors=True)


def test_a_supply_that_trips_is_followed_and_goes_on_from_where_it_is(root: Path) -> None:
    with (
        machine(root, "trips", faults=faults(f"chain: {CHAIN}, fault: trip, supply: 2, from_s: {LATER_S}")) as facility,
        attach_to(facility.name, facility.running) as ws,
    ):
        until(ws, SUPPLY, TRIPPED)
        until_at(ws, SUPPLY, 0.0)
        wait_for(lambda: abs(value(ws, f"{SUPPLY}/setpoint")) < 0.01, "its setpoint to follow")
        assert ws.counters(f"chain/{CHAIN}")["trips"] == 1
        assert ws.counters("chain/c01")["trips"] == 0
        with pytest.raises(RequestRefused, match="has tripped"):
            ws.put(f"{SUPPLY}/setpoint", 1.0)
        assert ws.counters("guard/operator")["refused_fault"] > 0
        text = page(facility)
        assert "tripped" in line_of(text, SUPPLY)
        assert "1 tripped" in text
        assert value(ws, "ps/c02_01/setpoint") == pytest.approx(BEGIN_A)  # its neighbours know nothing of it
        tripped_at = cycles_go_on(ws)
        os.kill(facility.ring.pid, signal.SIGUSR2)
        until_free(ws, SUPPLY, TRIPPED)
        ask_until_at(ws, SUPPLY, 1.5)
        assert_never_hurt(ws, tripped_at)
        assert_nothing_was_lost(ws)


def test_a_supply_that_saturates_is_reported_of(root: Path) -> None:
    fault = f"chain: {CHAIN}, fault: saturate, supply: 2, limit: 2.5"
    with (
        machine(root, "saturates", faults=faults(fault)) as facility,
        attach_to(facility.name, facility.running) as ws,
    ):
        first = head(ws)
        assert not state(ws, SUPPLY) & (SATURATED | DEVIATES)
        both = SATURATED | DEVIATES
        ask_until(ws, SUPPLY, 4.0, lambda: state(ws, SUPPLY) & both == both)
        assert value(ws, f"{SUPPLY}/readback") == pytest.approx(2.5)
        counted = ws.counters(f"chain/{CHAIN}")
        for times in (counted["saturations"], counted["deviations"]):
            assert 1 <= times <= 1 + counted["lost"]
        shown = line_of(page(facility), SUPPLY)
        assert "saturated" in shown  # which is why it deviates
        ask_until_at(ws, SUPPLY, 2.25)
        until_free(ws, SUPPLY, both)
        assert_never_hurt(ws, first)


def page_of_a_deviation(facility: Machine, ws: Workspace) -> str:
    """Made while the chain was not lost: a starved host may lose it between any two steps."""
    counters = ws.counters(f"chain/{CHAIN}")
    while True:
        lost = counters["lost"]
        ask_until(ws, SUPPLY, 4.0, lambda: bool(state(ws, SUPPLY) & DEVIATES))
        text = page(facility)
        if counters["lost"] == lost:
            assert 1 <= counters["deviations"] <= 1 + lost
            return text


def test_a_chain_that_does_not_obey_deviates(root: Path) -> None:
    with (
        machine(root, "deaf", faults=faults(f"chain: {CHAIN}, fault: deaf")) as facility,
        attach_to(facility.name, facility.running) as ws,
    ):
        text = page_of_a_deviation(facility, ws)
        assert value(ws, f"{SUPPLY}/readback") == pytest.approx(BEGIN_A)
        assert not state(ws, "ps/c02_01") & DEVIATES  # nobody told it to move
        assert "deviates" in line_of(text, SUPPLY)
        assert "1 deviates" in text


def test_a_chain_that_was_without_power_joins_again_where_it_stands(root: Path) -> None:
    """It forgets whom it obeyed, listens, and goes on without a step; the ring's judge looks at what it obeys."""
    fault = f"chain: {CHAIN}, fault: power_cycle, from_s: {LATER_S}, for_s: 1"
    with (
        machine(root, "power", faults=faults(fault)) as facility,
        attach_to(facility.name, facility.running, ("server", "ring")) as ws,
    ):
        first = head(ws)
        chain = ws.counters(f"supply/{CHAIN}")
        wait_for(lambda: chain["power_cycles"] == 1, "the chain to be switched on again")
        wait_for(lambda: joined(ws), "the chain to join again")
        cycles_go_on(ws)
        assert value(ws, f"{SUPPLY}/setpoint") == pytest.approx(BEGIN_A)
        ask_until_at(ws, SUPPLY, 1.0)
        assert_never_hurt(ws, first)
        for name in ("c01", CHAIN):
            judged = ws.counters(f"supply/{name}")
            assert [judged[found] for found in ("two_masters", "over_limit", "over_slew")] == [0, 0, 0], name


UNHEARD = {"c02": "silent", "c03": "other_id, id: 1", "c04": "other_id, id: 9"}
STRAYS = {"unknown_source": "c03", "unknown_instrument": "c04"}
"""Counters of the port, and the chain whose answers are there: one says that it is c01, one that nobody is."""


def test_chains_that_are_not_heard_are_lost_and_join_again_without_a_step(root: Path) -> None:
    """An answer that says it is another chain's is as good as none, and is counted by the port that it came to."""
    entries = [f"chain: {chain}, fault: {fault}, from_s: {LATER_S}, for_s: 8" for chain, fault in UNHEARD.items()]
    with (
        machine(root, "unheard", faults=faults(*entries)) as facility,
        attach_to(facility.name, facility.running, ("server", "ring")) as ws,
    ):
        first = head(ws)
        counted, port = {chain: ws.counters(f"chain/{chain}") for chain in UNHEARD}, ws.counters("port/supplies")
        supplies = [f"ps/{chain}_02" for chain in UNHEARD]
        for supply in supplies:
            until(ws, supply, LOST)
        for supply in supplies:
            with pytest.raises(RequestRefused, match="lost"):
                ws.put(f"{supply}/setpoint", 1.0)
        text = page(facility)
        for supply in supplies:
            shown = line_of(text, supply)
            assert "lost" in shown or joined(ws), shown  # a host on which the page takes longer than the fault
        assert not state(ws, "ps/c01_02") & (LOST | JOINING)
        wait_for(lambda: joined(ws), "the chains to join again")
        for counters in counted.values():
            assert counters["unanswered"] > 0
            assert counters["wrong_answer"] == 0
            assert counters["lost"] >= 1
        sent = {name: ws.counters(f"supply/{chain}") for name, chain in STRAYS.items()}
        assert all(counters["fault_other"] > 0 for counters in sent.values())
        wait_for(lambda: all(port[name] == sent[name]["fault_other"] for name in STRAYS), "the port to count strays")
        cycles_go_on(ws)
        for supply in supplies:
            assert value(ws, f"{supply}/setpoint") == pytest.approx(BEGIN_A)
            ask_until_at(ws, supply, 1.0)
        assert_never_hurt(ws, first)
        assert_nothing_was_lost(ws)

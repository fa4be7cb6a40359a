# SPDX-License-Identifier: Apache-2.0
"""The guard against applications that go wrong: no supply beyond its limits or its slew, whatever they write."""

import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import sleep

import numpy as np
import pytest
from harness import ROOT, TIMEOUT_S, kill_at_once, wait_for
from living import (
    CHAINS,
    CYCLE_S,
    LIMIT_A,
    PERIOD_TURNS,
    ROUNDING_A,
    SAFE_A,
    SLEW_A,
    SUPPLIES,
    Floats,
    Machine,
    assert_never_hurt,
    assert_nothing_was_lost,
    cycles_go_on,
    head,
    joined,
    machine,
    readbacks,
    repeats,
)

from ringmaster import Workspace, attach
from ringmaster.fabric.layout import ApplicationState
from ringmaster.programs.program import Program, attach_to

ROGUE = ROOT / "build/tests/rogue/rogue"

# What each of the rogue's ways must be counted under.
WRONGS = {
    "no-number": "refused_number",
    "beyond": "refused_high",
    "to-and-fro": "slew_limited",
    "old-grant_number": "refused_grant",
    "stale": "refused_stale",
    "future": "refused_future",
    "any-number": "refused_number",
    "garbage": None,
    "layout": None,
}


@pytest.fixture(scope="module")
def holding(root: Path) -> Iterator[Machine]:
    with machine(root, "holding", "hold") as made:
        yield made


@pytest.fixture(scope="module")
def ramping(root: Path) -> Iterator[Machine]:
    with machine(root, "ramping", "ramp") as made:
        yield made


def rogue(facility: Machine, wrong: str, seconds: float, vectors_per_s: float = 0, value: float = 0) -> Program:
    return Program(
        str(ROGUE), facility.name, "mover", str(SUPPLIES), wrong, str(seconds), str(vectors_per_s), str(value)
    )


def currents(ws: Workspace) -> Floats:
    """Where the application's supplies are now."""
    newest = ws.streams["c01/raw"].head or 0
    now: Floats = readbacks(ws, "c01", newest - 4 * PERIOD_TURNS, newest)[1][-1]
    return now


def stopped(ws: Workspace, chain: str) -> int:
    """How often a chain has seen that setpoints had stopped."""
    return ws.counters(f"supply/{chain}")["stops"]


def truth(ws: Workspace) -> Floats:
    """Where the supplies are, once they stand still: as they know it themselves."""
    current = ws.parameters["supply/current"]

    def still() -> bool:
        before = current.read()
        wait_for(lambda: current.read().changes >= before.changes + 2, "the supplies to tell where they are")
        return bool(np.all(np.asarray(before.value) == np.asarray(current.value)))

    wait_for(still, "the supplies to stand still")
    return np.asarray(current.value, np.float64)


def naps(pid: int, thread: str) -> int:
    """How often a thread has given up its core by itself."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended since
            words = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines())
            if words["Name"].strip().startswith(thread):
                return int(words["voluntary_ctxt_switches"])
    raise AssertionError(f"process {pid} has no thread {thread}")


def test_cores_are_left_to_others_where_there_is_nothing_to_do(root: Path) -> None:
    """As the configuration has it: more than once in a cycle."""
    with machine(root, "naps") as facility, attach_to(facility.name, facility.running) as ws:
        threads = ((facility.running.pid, "rm-core"), (facility.ring.pid, "ringmaster-inst"))
        before = [naps(*thread) for thread in threads]
        first = head(ws)
        cycles = (cycles_go_on(ws, 100) - first) // PERIOD_TURNS
        for thread, earlier in zip(threads, before, strict=True):
            assert naps(*thread) - earlier > cycles / 2, thread  # a busy host may take a cycle's whole time away


@pytest.mark.parametrize("vectors_per_s", [2000.0, 0.0], ids=["paced", "as-fast-as-it-can"])
@pytest.mark.parametrize("wrong", WRONGS)
def test_a_rogue_moves_nothing_beyond_what_is_allowed(holding: Machine, wrong: str, vectors_per_s: float) -> None:
    with attach(holding.name) as ws:
        begin, before = cycles_go_on(ws), dict(ws.counters("guard/mover"))
        under = WRONGS[wrong]

        def judged() -> bool:
            with rogue(holding, wrong, 0.5, vectors_per_s) as running:
                assert running.wait(TIMEOUT_S) == 0, running.words
            return under is None or ws.counters("guard/mover")[under] > before[under]

        if vectors_per_s:  # a host that takes the server's core away for so long has it judge nothing: then once more
            wait_for(judged, f"the guard to count {under}")
        else:  # vectors that come too fast are never whole, so few are judged at all
            judged()
        cycles_go_on(ws)
        assert_never_hurt(ws, begin)
        assert_nothing_was_lost(ws)
        if under in ("refused_grant", "refused_stale", "refused_future"):
            assert ws.counters("guard/mover")["taken"] == before["taken"]
        others = readbacks(ws, "c02", begin, head(ws))[1]
        assert np.ptp(others, axis=0).max() == 0, "a supply moved that is not the application's"


def test_a_good_application_gets_what_it_wants(holding: Machine) -> None:
    with attach(holding.name) as ws:
        begin = cycles_go_on(ws)
        with rogue(holding, "good", 2.0, 1000, 3.0) as running:
            wait_for(lambda: np.allclose(currents(ws), 3.0), lambda: f"3 A: {currents(ws)} {running.words}")
            assert running.wait(TIMEOUT_S) == 0, running.words
        assert_never_hurt(ws, begin)


def test_the_last_offence_is_reported(holding: Machine) -> None:
    with attach(holding.name) as ws:
        with rogue(holding, "beyond", 0.3, 1000) as running:
            assert running.wait(TIMEOUT_S) == 0, running.words
        offence = ws.grants["mover"].read().offence
        assert offence is not None
        assert abs(offence.value) > LIMIT_A
        assert abs(offence.limit) == LIMIT_A


def test_another_user_cannot_write_an_applications_memory(holding: Machine, root: Path) -> None:
    """Rights are the operating system's: what is written by one user is not opened for writing by another."""
    if os.getuid() != 0:
        pytest.skip("ONLY ROOT CAN TRY IT AS ANOTHER USER")
    with attach(holding.name), rogue(holding, "good", 0.5, 100) as running:
        segments = list((root / holding.name).rglob("*.segment"))
        assert len(segments) >= 3, segments
        code = (
            "import sys\n"
            "for path in sys.argv[1:]:\n"
            "    open(path, 'rb').close()\n"
            "    try:\n"
            "        open(path, 'r+b')\n"
            "    except PermissionError:\n"
            "        continue\n"
            "    sys.exit(path)\n"
        )
        root.chmod(0o755)
        command = ["setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", code, *map(str, segments)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=TIMEOUT_S)
        assert done.returncode == 0, done.stderr
        running.wait(TIMEOUT_S)


def moving(ws: Workspace) -> bool:
    """Whether vectors of the application have been taken lately."""
    before = ws.counters("guard/mover")["taken"]
    sleep(5 * CYCLE_S)
    return ws.counters("guard/mover")["taken"] > before


def kills_and_resumes(facility: Machine, ws: Workspace, begin: int, goal: float, after_s: float) -> int:
    """One life of an application, from its start to kill -9; returns the newest turn that was looked at."""
    with rogue(facility, "good", 1000, 1000, goal) as running:
        wait_for(lambda: moving(ws), lambda: f"vectors to be taken: {running.words}")
        sleep(after_s)
        kill_at_once(running.pid)
        running.wait(TIMEOUT_S)
    held_from = cycles_go_on(ws, 10)
    held = readbacks(ws, "c01", held_from, cycles_go_on(ws, 10))[1]
    assert np.ptp(held, axis=0).max() == 0, "a supply moved after its application was killed"
    return assert_never_hurt(ws, begin)


def test_a_killed_application_holds_and_resumes_without_a_step(holding: Machine) -> None:
    """Kill -9 at any instant: its supplies stay where they are; the next instance begins there."""
    chance = random.Random(6)
    with attach(holding.name) as ws:
        begin = cycles_go_on(ws)
        for number in range(repeats(15)):
            begin = kills_and_resumes(holding, ws, begin, 2.0 if number % 2 else -2.0, chance.uniform(0, 0.05))
        assert_nothing_was_lost(ws)


def test_a_killed_application_ramps_to_safe_values(ramping: Machine) -> None:
    with attach(ramping.name) as ws:
        begin = cycles_go_on(ws)
        with rogue(ramping, "good", 1000, 1000, 2.0) as running:
            wait_for(lambda: np.allclose(currents(ws), 2.0), lambda: f"2 A: {currents(ws)} {running.words}")
            kill_at_once(running.pid)
            running.wait(TIMEOUT_S)
        wait_for(lambda: np.allclose(currents(ws), SAFE_A), lambda: f"safe values: {currents(ws)}")
        assert_never_hurt(ws, begin)
        assert_nothing_was_lost(ws)


def test_a_frozen_application_is_seen_and_comes_back(holding: Machine) -> None:
    with attach(holding.name) as ws:
        begin, stalls = cycles_go_on(ws), ws.counters("guard/mover")["stalls"]
        with rogue(holding, "good", 1000, 1000, 1.0) as running:
            wait_for(lambda: moving(ws), lambda: f"vectors to be taken: {running.words}")
            os.kill(running.pid, 19)
            wait_for(lambda: ws.counters("guard/mover")["stalls"] > stalls, "the stall to be seen")
            wait_for(lambda: ws.grants["mover"].read().state == ApplicationState.STALLED, "the stall to be shown")
            still_from = cycles_go_on(ws, 10)
            still = readbacks(ws, "c01", still_from, cycles_go_on(ws, 10))[1]
            assert np.ptp(still, axis=0).max() == 0
            os.kill(running.pid, 18)
            wait_for(lambda: moving(ws), "vectors to be taken again")
            kill_at_once(running.pid)
        assert_never_hurt(ws, begin)


def lives_on(facility: Machine, number: int, after_s: float) -> None:
    """Kills the server while an application moves supplies, and starts another."""
    with attach(facility.name) as ws, rogue(facility, "good", 1000, 1000, 2.0 + number % 2) as running:
        begin = cycles_go_on(ws)
        wait_for(lambda: moving(ws), lambda: f"vectors to be taken: {running.words}")
        seen = {chain: stopped(ws, chain) for chain in CHAINS}
        sleep(after_s)
        kill_at_once(facility.running.pid)
        facility.running.wait(TIMEOUT_S)
        wait_for(lambda: all(stopped(ws, chain) > seen[chain] for chain in CHAINS), "the supplies to see it")
        before = truth(ws)
        kill_at_once(running.pid)
        running.wait(TIMEOUT_S)
    facility.start()
    with attach_to(facility.name, facility.running, ("server", "ring")) as ws:
        wait_for(lambda: joined(ws), "the chains to join")
        cycles_go_on(ws)
        moved = np.abs(truth(ws) - before)
        assert moved.max() <= ROUNDING_A, f"by {moved} A; one cycle's slew is {SLEW_A} A"
        assert_never_hurt(ws, begin)
        assert_nothing_was_lost(ws)


def test_a_killed_server_is_followed_by_one_that_begins_where_the_supplies_stand(root: Path) -> None:
    """Kill -9 at any instant of a cycle: no supply makes the smallest step."""
    chance = random.Random(7)
    with machine(root, "killed") as facility:
        for number in range(repeats(3)):
            lives_on(facility, number, chance.uniform(0, 5 * CYCLE_S))

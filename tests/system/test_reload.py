# SPDX-License-Identifier: Apache-2.0
"""Roles go from core to core while datagrams come and supplies are driven: each datagram is in one count, the
application keeps its grant, and what a reload may not change is refused.
"""

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from harness import (
    OUTCOMES,
    RING_CORE,
    ROOT,
    SERVER_CORE,
    assert_sums_hold,
    nonzero,
    ringmaster,
    server,
    terminate,
    unique_name,
    wait_for,
    wait_for_all,
)

from ringmaster import Workspace
from ringmaster.programs.program import Program, attach_to
from ringmaster.programs.reload import placement, reload

TURN_RATE_HZ = 2_000
MOVES = 6
"""There and back, as often as that."""
ROLES = "roles:\n  - {{role: receive, core: {0}, ports: [ring]}}\n"
ROLES += "  - {{role: transmit, core: {1}}}\n  - {{role: application, core: {0}, application: square}}\n"


def write_config(root: Path, name: str, first: int, second: int, change: tuple[str, str] = ("", "")) -> Path:
    """The shipped server with an application inside, and a link of its own; `change` is made in its text."""
    text = (ROOT / "configs/application.yaml").read_text().replace("/run/ringmaster", str(root))
    text = re.sub(r"^workspace: .*$", f"workspace: {name}", text, flags=re.MULTILINE)
    text = text.replace("turn_rate_hz: 10000", f"turn_rate_hz: {TURN_RATE_HZ}")
    text = text[: text.index("roles:\n")] + ROLES.format(first, second)
    text += f'polling: {{naps: true}}\nspare_cores: "{RING_CORE}"\n'
    assert change[0] in text
    file = root / f"{name}.yaml"
    file.write_text(text.replace(*change))
    return file


def cores_of(ws: Workspace) -> dict[str, int]:
    return {placed.kind: placed.core for placed in placement(ws)}


def steps(ws: Workspace) -> int:
    return ws.counters("application/square")["steps"]


def wait_for_more(count: Callable[[], int], most: int, what: str) -> None:
    before = count()
    wait_for(lambda: count() > before + most, what)


def move_to_and_fro(ws: Workspace, root: Path, name: str) -> None:
    port = ws.counters("port/ring")
    for number in range(MOVES):
        first, second = (RING_CORE, SERVER_CORE) if number % 2 == 0 else (SERVER_CORE, RING_CORE)
        file = write_config(root, name, first, second)
        would = reload(file, check=True)
        moved = reload(file)
        assert [replace(move, stood_ns=None) for move in moved] == would
        assert (moved[0].role, moved[0].kind, moved[0].after) == (0, "receive", first)
        assert all(move.stood_ns for move in moved), moved
        follow = dict.fromkeys(("receive", "application", "housekeeping"), first)
        assert cores_of(ws) == {**follow, "transmit": second}
        assert str(ws.parameters["server/steering"].value).splitlines()[0].split()[4] == str(first)
        wait_for_more(lambda: port["received"], 20, "datagrams on the new core")
        wait_for_more(lambda: steps(ws), 1, "steps on the new core")
    assert {placed.kind: placed.moves for placed in placement(ws)}["receive"] == MOVES


def test_roles_move_and_nothing_is_lost(root: Path) -> None:
    name = unique_name("reload")
    file = write_config(root, name, SERVER_CORE, SERVER_CORE)
    with server(file) as running:
        with attach_to(name, running, ("server", "square")) as ws:
            spare = ws.counters(f"core/{RING_CORE}")
            assert spare["busy_loops"] == 0, "a core without roles has nothing to do"
            with Program("ringmaster-instruments", "run", file, "--json") as ring:
                wait_for(lambda: ws.counters("port/ring")["received"] > 100, "datagrams")
                grant = ws.grants["square"].read().grant_number
                move_to_and_fro(ws, root, name)
                assert ws.grants["square"].read().grant_number == grant
                ask_two_at_a_time(ws, root, name)
                terminate(ring)
                sent = json.loads(ring.words.splitlines()[-1])
            port, bpm = ws.counters("port/ring"), ws.counters("stream/bpm01")
            whole = sent["sent"] + sent["answers"]
            wait_for_all(port, "received", whole)
            assert port["received"] == whole, nonzero(port)
            assert sum(bpm[outcome] for outcome in OUTCOMES) == sent["sent"], nonzero(bpm)
            assert_sums_hold(ws)
            assert spare["packets"] > 0
            assert spare["packets"] + ws.counters(f"core/{SERVER_CORE}")["packets"] == whole
            refuse(ws, root, name)
        assert f"roles[0] (receive) moved from core {SERVER_CORE} to core {RING_CORE}" in running.words


def ask_two_at_a_time(ws: Workspace, root: Path, name: str) -> None:
    """The one is answered after the other: all roles are where one of the files has them."""
    cores = ((SERVER_CORE, RING_CORE), (RING_CORE, SERVER_CORE))
    files = [write_config(root, name, *both).rename(root / f"{both[0]}.yaml") for both in cores]
    with ThreadPoolExecutor(2) as clients:
        list(clients.map(reload, files * 2))
    placed = cores_of(ws)
    assert (placed["receive"], placed["transmit"]) in cores
    assert placed["application"] == placed["receive"]


def refuse(ws: Workspace, root: Path, name: str) -> None:
    """What differs in more than cores moves nothing, and is named."""
    before = cores_of(ws)
    first, second = before["transmit"], before["receive"]
    changes = {
        'queue 0 of port "ring" is already polled by roles[0]': (
            "ports: [ring]}\n",
            f"ports: [ring]}}\n  - {{role: receive, core: {second}, ports: [ring/0]}}\n",
        ),
        "polling.naps": ("naps: true", "naps: false"),
        "setpoints.period_turns": ("period_turns: 10}", "period_turns: 20}"),
        "roles[0].core: core 1023": (f"core: {first}, ports", "core: 1023, ports"),
    }
    for said, change in changes.items():
        file = write_config(root, name, first, second, change)
        assert said in ringmaster("reload", str(file), expect=1).stderr
    assert cores_of(ws) == before

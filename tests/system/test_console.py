# SPDX-License-Identifier: Apache-2.0
"""`ringmaster top` in a terminal multiplexer, by what the screen shows."""

import os
import re
import shlex
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from harness import SERVER_CORE, TIMEOUT_S, command_line, kill_at_once, ringmaster, server, unique_name, wait_for
from terminals import Terminal, needs_tmux, shown

from ringmaster.programs.program import attach_to
from ringmaster.programs.remains import release_workspace
from ringmaster.virtual import ring

pytestmark = needs_tmux

TURN_RATE_HZ = 20_000
SIZES = ((80, 24), (200, 60))
PAGES = {
    "1": ("Clock and beam", "turn rate", "tune", "orbit rms", "9 of 9 instruments send", "bpm07", "llrf01"),
    "2": ("PACKETS/S", "RECEIVED", "What became of the packets of ring", "decoded"),
    "3": ("NAME", "RATE", "LOST", "bpm01", "blm01", "llrf01"),
    "4": ("BUSY", "BURST/AIM", "GAP", "Latency of receive/0", "p99.9", "┴"),
    "5": ("Exception path", "ANSWERED", "Mirrored networks", "Steering"),
    "7": ("14 BPMs", "most", "█"),
    "8": ("tune 0.29", "tune 0.16", "▼0.29", "▼0.16", "┴0.5"),
}
"""What each key's page shows at least, on a screen of any size."""


def child_of(shell: int) -> int:
    """The program that a shell runs."""
    return int(Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0])


def terminal(size: tuple[int, int], *arguments: str, **environment: str) -> AbstractContextManager[Terminal]:
    """`ringmaster top` in a terminal."""
    return shown(size, command_line("top", *arguments), **environment)


@pytest.fixture(scope="module")
def live(root: Path) -> Iterator[ring.VirtualRing]:
    """A ring and its server, with more than enough turns to look at."""
    with ring.start(TURN_RATE_HZ, naps=True) as running:
        stream = running.ws.streams["bpm01/turn"]
        wait_for(lambda: len(stream.latest(10_000)) == 10_000, "10 000 turns")
        yield running
        running.check()


@pytest.mark.parametrize("size", SIZES)
def test_every_page_fills_the_screen_and_fits(live: ring.VirtualRing, size: tuple[int, int]) -> None:
    with terminal(size) as top:
        for key, words in PAGES.items():
            top.press(key)
            screen = top.until(*words)
            rows = screen.rstrip("\n").split("\n")
            assert len(rows) == size[1]
            assert max(map(len, rows)) < size[0]
            assert rows[0].startswith(" ringmaster demo")
            assert "8 tune" in rows[1]
            assert " q quit" in rows[-1]
        top.press("6")
        top.until("Faults" if "!" in top.screen.split("\n")[1] else "nothing is wrong")
        top.press("q")
        wait_for(lambda: top.ended, "its end")


def test_a_signal_leaves_the_terminal_as_it_was(live: ring.VirtualRing) -> None:
    words = shlex.join(map(str, command_line("top")))
    with shown((80, 24), ["sh", "-c", f"{words}; echo ended with $?; sleep {TIMEOUT_S:.0f}"]) as top:
        top.until("Clock and beam")
        os.kill(child_of(top.pid), signal.SIGTERM)
        top.until("ended with 143")
        assert top.do("list-panes", "-F", "#{alternate_on} #{cursor_flag}").stdout.split() == ["0", "1"]


def test_arrows_tab_and_enter_lead_to_an_instrument(live: ring.VirtualRing) -> None:
    with terminal((80, 24), "--page", "ports") as top:
        top.until("What became of")
        top.press("Right")
        top.until("Instruments")
        top.press("Down", "Enter")
        screen = top.until("bpm02  id 2, sent from 10.20.0.2", "bpm02/turn", "Newest record", "status 0x0000")
        assert re.search(r"x1 +-?\d+ nm", screen)
        top.press("End")
        top.until("unanchored")
        top.press("Escape")
        top.until("Instruments")
        top.press("BTab")
        top.until("What became of")


def test_filter_sort_freeze_and_help(live: ring.VirtualRing) -> None:
    with terminal((80, 24), "--page", "streams") as top:
        top.until("bpm07", "by order")
        top.press("/", "b", "l", "m", "Enter")
        top.until("only /blm", "blm01")
        wait_for(lambda: "bpm07" not in top.screen, "the others to go")
        top.press("Escape")
        top.until("bpm07")
        top.press("s")
        top.until("by rate", "bpm07")
        top.press("S")
        top.until("by rate, reversed")
        top.press("Space")
        top.until("FROZEN")  # of which a part may not be drawn yet
        wait_for(lambda: top.stands_still(1.0), "the figures to stand still")
        frozen = top.screen
        top.press("Space")
        wait_for(lambda: "FROZEN" not in top.screen and top.screen != frozen, "the figures to go on")
        top.press("?")
        top.until("The page of streams", "Keys", "freeze what is shown")


def test_an_orbit_is_compared_with_a_reference(live: ring.VirtualRing) -> None:
    with terminal((120, 40), "--page", "orbit") as top:
        top.until("14 BPMs")
        top.press("o")
        top.until("difference to turn")
        top.press("O")
        wait_for(lambda: "difference" not in top.screen, "the orbit itself")


def test_colours_are_the_terminals_own_sixteen_or_none(live: ring.VirtualRing) -> None:
    with terminal((200, 60)) as top:
        top.until("Clock and beam", "tune")
        wait_for(lambda: {"32", "36", "35"} <= top.escapes, "green, cyan, magenta")
        assert not [code for code in top.escapes if code.startswith(("38;", "48;"))]
    with terminal((200, 60), NO_COLOR="1") as top:
        top.until("Clock and beam", "tune")
        assert not [code for code in top.escapes if re.search(r"(^|;)[349][0-8]\b", code)]


def test_it_keeps_off_the_servers_core(live: ring.VirtualRing) -> None:
    with terminal((80, 24)) as top:
        top.until("Clock and beam")
        free = os.sched_getaffinity(0) - {SERVER_CORE}
        if not free:
            pytest.skip("ONE CPU FOR ALL: nothing to keep off to")
        for task in Path(f"/proc/{top.pid}/task").iterdir():
            assert os.sched_getaffinity(int(task.name)) == free


def test_it_outlives_a_restart_of_the_server(root: Path, tmp_path: Path) -> None:
    config = ring.adapted("demo.yaml", tmp_path, TURN_RATE_HZ, SERVER_CORE, naps=True)
    name = unique_name("console")
    config.write_text(config.read_text().replace("workspace: demo", f"workspace: {name}"))
    with server(config) as first:
        attach_to(name, first).close()
        with terminal((80, 24), "--workspace", name) as top:
            top.until(f"ringmaster {name}", "not anchored yet")
            kill_at_once(first.pid)
            top.until("these are its last figures", "ended")
            with server(config) as second:
                attach_to(name, second).close()
                top.until("the server was restarted at")
                wait_for(lambda: "last figures" not in top.screen, "new figures")
                top.press("q")
                wait_for(lambda: top.ended, "its end")
    release_workspace(name)


def test_a_demo_counts_after_its_console_has_ended(tmp_path: Path) -> None:
    """Which lets go of the memory that it looked at."""
    words = command_line("demo", "--ring", "turns", "--turn-rate", str(TURN_RATE_HZ))
    command = ["sh", "-c", f"{shlex.join(words)}; echo ended with $?; sleep {TIMEOUT_S:.0f}"]
    with shown((80, 24), command, RINGMASTER_WORKSPACES=str(tmp_path)) as live:
        live.until("Clock and beam")
        live.press("8")
        live.until("tune 0.29")
        live.press("q")
        assert "0 lost, 0 duplicate" in " ".join(live.until("ended with").split())
        assert "ended with 0" in live.screen


def test_without_a_server_it_says_so_and_ends(root: Path) -> None:
    done = ringmaster("top", "--workspace", "nowhere", expect=3)
    assert "no server has made a workspace" in done.stderr
    assert done.stdout == ""

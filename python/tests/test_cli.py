# SPDX-License-Identifier: Apache-2.0
"""The command line: help, errors, completion, and what it reads of a workspace."""

import json
import re
import subprocess
import sys
from pathlib import Path

import fabric
import numpy as np
import pytest
from command import PACKAGE, in_a_process, ringmaster
from conftest import MakeOwner

from ringmaster.fabric.layout import ABI_VERSION, ElementType


@pytest.fixture
def ring(make_owner: MakeOwner) -> None:
    """A small workspace with something of each kind."""
    owner = make_owner(
        [
            fabric.stream("bpm01/turn", capacity=16384),
            fabric.stream("bpm01/fast", period=12),
            fabric.parameter("server/turn_rate_hz", np.array([1157000.0]), "Hz", ElementType.F64),
            fabric.parameter("c01/readback", np.array([np.float32(0.1)], "<f8"), "A", ElementType.F64),
            fabric.text("server/config", "workspace: demo\n"),
            fabric.counters("stream/bpm01", "stream", accepted=9990, out_of_order=2, skipped=12, duplicate=1),
            fabric.counters("port/ring", "port", received=10000, decoded=9993),
            fabric.counters("core/1", "core", core=1, longest_gap_ticks=5000),
            fabric.counters("sender/bpm01", "sender", sent=10000, waits=3, longest_wait_ticks=2000),
            fabric.counters("supply/c01", "supply", setpoints=66),
            fabric.clock(anchored=1, ticks_per_turn_bits=2000.0, tsc_hz_bits=2e9, tai_ns=10**18),
            fabric.histogram("latency/ring", {100: 10}, 1000),
        ]
    )
    owner.fill("bpm01/turn", 1, 9999)


@pytest.mark.parametrize(
    "command",
    [
        *(
            [],
            ["ls"],
            ["get"],
            ["top"],
            ["view"],
            ["replay"],
            ["run"],
            ["check"],
            ["virtual"],
            ["calibration"],
            ["align"],
        ),
        *(["put"], ["monitor"], ["save"], ["diff"], ["restore"]),
        *(["doctor"], ["bench"], ["bench", "ingest"], ["bench", "twin"], ["twin"], ["twin", "follow"]),
        *(["feedback", *rest] for rest in ([], ["status"], ["why"], ["on"], ["off"], ["hold"], ["reset"], ["set"])),
        *(["feedback", name] for name in ("mask", "golden", "bump", "predict", "sensitivity", "spectrum")),
        *(["feedback", "matrix", name] for name in ("twin", "convert", "measure", "show")),
    ],
)
def test_every_command_has_help_with_examples(command: list[str]) -> None:
    shown = ringmaster(*command, "--help").stdout
    assert "Examples:\n    ringmaster " in shown


def test_help_imports_none_of_the_heavy_libraries() -> None:
    heavy = "('numpy', 'h5py', 'rich', 'textual', 'cffi')"
    code = f"import sys, ringmaster.cli.main; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE)
    assert done.stdout == "[]\n"


def test_the_version_is_the_packages() -> None:
    import ringmaster as package

    assert in_a_process("--version").stdout.strip() == package.__version__


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["ls", "-w", "nowhere"], 3, "no server has made a workspace"),
        (["ls"], 3, "no workspace in"),
        (["nonsense"], 2, "No such command"),
        (["get"], 2, "`ringmaster get --help` shows how"),
        (["replay", "/nonexistent.h5"], 1, "ringmaster: /nonexistent.h5: no such file or directory\n"),
        (["run", "demo.yaml"], 127, "ringmaster-server is not in"),
    ],
)
def test_an_error_is_one_line_on_stderr(arguments: list[str], code: int, message: str) -> None:
    done = in_a_process(*arguments, expect=code, RINGMASTER_LIBEXEC="/nonexistent")
    assert message in done.stderr
    assert done.stderr.startswith("ringmaster: ")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_each_unusable_workspace_has_its_own_exit_code(make_owner: MakeOwner) -> None:
    make_owner(workspace="half", header={"magic": 0})
    make_owner(workspace="other", header={"abi_version": ABI_VERSION + 1})
    make_owner([fabric.clock()], workspace="dead").die()
    make_owner(workspace="damaged", header={"segment_bytes": 1 << 40})
    for workspace, code in (("half", 4), ("other", 5), ("dead", 6), ("damaged", 8)):
        ringmaster("ls", "-w", workspace, expect=code)
    ringmaster("ls", "-w", "dead", "--dead")


@pytest.mark.usefixtures("ring")
def test_ls_shows_what_there_is() -> None:
    shown = ringmaster("ls").stdout
    for word in ("bpm01/turn", "1.000 MHz", "9999", "x1[nm]", "server/turn_rate_hz", "1157000.0", "accepted 9990"):
        assert word in shown
    listed = json.loads(ringmaster("ls", "--json").stdout)
    assert (listed["workspace"], listed["alive"]) == ("demo", True)
    turn = listed["objects"][0]
    assert (turn["name"], turn["head_turn"], turn["period_turns"]) == ("stream/bpm01/turn", 9999, 1)
    assert turn["lanes"][0] == {"name": "x1", "unit": "nm", "type": "i32"}


@pytest.mark.usefixtures("ring")
def test_get_reads_one_object_or_many() -> None:
    assert ringmaster("get", "server/turn_rate_hz").stdout == "server/turn_rate_hz = 1157000.0 Hz\n"
    assert ringmaster("get", "c01/readback").stdout == "c01/readback = 0.1 A\n"  # of single precision
    assert ringmaster("get", "server/config").stdout == "server/config:\nworkspace: demo\n\n"
    both = json.loads(ringmaster("get", "bpm01/*", "counters/port/*", "--json").stdout)
    assert list(both) == ["stream/bpm01/turn", "stream/bpm01/fast", "counters/port/ring"]
    assert both["stream/bpm01/turn"]["lanes"] == {"x1": 9999, "y1": -9999}
    assert both["stream/bpm01/fast"] == {"turn": None}
    assert both["counters/port/ring"]["decoded"] == 9993
    assert json.loads(ringmaster("get", "latency/*", "clock", "--json").stdout)["clock"]["turn_rate_hz"] == 1e6
    assert re.search(r"^  y1 +-9999 nm$", ringmaster("get", "bpm01/turn").stdout, re.MULTILINE)
    assert re.search(r"^  decoded +9993 packets$", ringmaster("get", "counters/port/*").stdout, re.MULTILINE)
    assert re.search(r"^  turn_rate_hz +1000000.0 Hz$", ringmaster("get", "clock").stdout, re.MULTILINE)
    for key in ("turn_tsc", "tai_tsc", "measured_ticks_per_turn"):
        assert re.search(rf"^  {key} .* ticks$", ringmaster("get", "clock").stdout, re.MULTILINE)
    # A counter has the name of what a vector of setpoints is under.
    assert re.search(r"^  setpoints +66 datagrams$", ringmaster("get", "counters/supply/c01").stdout, re.MULTILINE)
    missing = ringmaster("get", "bpm01/trun", expect=7)
    assert "did you mean 'bpm01/turn'" in missing.stderr


@pytest.mark.usefixtures("ring")
def test_top_prints_figures_once() -> None:
    figures = json.loads(ringmaster("top", "--json").stdout)
    stream = figures["streams"][0]
    assert (stream["name"], stream["lost"], stream["duplicate"], stream["out_of_order"]) == ("bpm01", 10, 1, 2)
    assert figures["ports"][0]["refused"] == 7
    assert figures["cores"][0]["longest_gap_us"] == 2.5
    assert figures["senders"][0]["longest_wait_us"] == 1.0
    assert figures["orbit"]["names"] == ["bpm01"]
    assert figures["turn_rate_hz"] == 1e6
    assert figures["tunes_simulated"] is None
    assert figures["latency_ns"]["latency/ring"]["count"] == 10
    assert figures["schema"] == 1
    assert figures["streams"][0]["streams"][1]["period_turns"] == 12
    assert figures["links"] == {
        "ports": [{"name": "ring"} | dict.fromkeys(EXCEPTION_PATH, 0)],
        "networks": [],
        "steering": [],
    }
    assert {fault["counter"] for fault in figures["faults"]} == {"lost", "out_of_order", "duplicate", "silent"}
    assert all(fault["means"] and fault["advice"] for fault in figures["faults"])


EXCEPTION_PATH = (
    *("punted", "punt_full", "answered", "to_kernel", "from_kernel", "kernel_full", "spread_full"),
    *("fragment", "reassembled", "fragment_expired"),
)


@pytest.mark.usefixtures("ring")
@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("overview", ("ringmaster demo", "records", "10 turns", "orbit rms", "bpm01")),
        ("ports", ("REFUSED", "ring", "10000")),
        ("streams", ("LOST", "bpm01", "9992", "turn fast")),
        ("cores", ("BUSY", "2.50 µs", "Latency of ring")),
        ("links", ("PUNTED", "none: no instrument is configured on two ports")),
        ("faults", ("instrument bpm01  lost  10 turns", "→ ")),
        ("orbit", ("1 BPM,", "rms")),
        ("tune", ("tune 0.", "┴0.5")),
    ],
)
def test_top_prints_a_page_once(page: str, words: tuple[str, ...]) -> None:
    shown = ringmaster("top", "--once", "--page", page).stdout
    for word in words:
        assert word in shown
    assert all(len(row) <= 120 for row in shown.splitlines())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_each_shell(shell: str) -> None:
    assert "_RINGMASTER_COMPLETE" in ringmaster("completion", shell).stdout


@pytest.mark.usefixtures("ring")
def test_names_of_objects_are_completed() -> None:
    done = in_a_process(
        _RINGMASTER_COMPLETE="bash_complete", COMP_WORDS="ringmaster get bpm01/", COMP_CWORD="2", expect=0
    )
    assert done.stdout.splitlines() == ["plain,bpm01/turn", "plain,bpm01/fast"]


@pytest.mark.parametrize(
    ("arguments", "program"),
    [
        (["run", "a b.yaml"], "ringmaster-server run a b.yaml"),
        (["check", "x.yaml"], "ringmaster-server check x.yaml"),
        (["virtual", "demo.yaml"], "ringmaster-instruments run demo.yaml"),
        (["virtual", "demo.yaml", "ring.yaml", "--check"], "ringmaster-instruments check demo.yaml ring.yaml"),
        (
            ["virtual", "demo.yaml", "ring.yaml", "--ports", "a,b", "--turn-rate", "1000", "--seconds", "5", "--json"],
            "ringmaster-instruments run demo.yaml ring.yaml --ports a,b --turn-rate 1000 --seconds 5 --json",
        ),
    ],
)
def test_c_programs_take_over_the_process(tmp_path: Path, arguments: list[str], program: str) -> None:
    for name in ("ringmaster-server", "ringmaster-instruments"):
        script = tmp_path / name
        script.write_text(f'#!/bin/sh\necho {name} "$@"\nexit 5\n')
        script.chmod(0o755)
    assert in_a_process(*arguments, RINGMASTER_LIBEXEC=str(tmp_path), expect=5).stdout == f"{program}\n"


def test_texts_of_refusals_and_counters_are_plain_sentences() -> None:
    from ringmaster.fabric._counters import COUNTERS
    from ringmaster.fabric.grant import _WORDS

    assert "is in the future; now is turn" in " ".join(_WORDS.values())
    texts = {counter.name: counter.text for counter in COUNTERS["guard"]}
    assert texts["overrun"].startswith("vectors overwritten before they were sent")

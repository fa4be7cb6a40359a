# SPDX-License-Identifier: Apache-2.0
"""What a person does, in the order of the README: the demo, the commands on a running server, the examples."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import ROOT, TIMEOUT_S, ringmaster, ringmaster_json, wait_for

from ringmaster.virtual import ring

TURN_RATE_HZ = 40_000
RATES = ("turn", "low_latency", "fast", "loop_low_latency", "loop", "slow_low_latency", "slow")
INSTRUMENTS = [*(f"bpm{i:02d}" for i in range(1, 8)), "blm01", "llrf01"]

REPORT = {
    "packets",
    "rate_pps",
    "turn_rate_hz",
    "lost",
    "duplicate",
    "out_of_order",
    "refused",
    "tune_found",
    "tune_simulated",
    "latency_ns",
    "longest_sender_wait_us",
}
"""What the demo's line of JSON has at least."""


def test_the_demo_ends_in_a_report_of_no_loss_and_the_right_tune(root: Path) -> None:
    done = ringmaster("demo", "--seconds", "3", "--turn-rate", str(TURN_RATE_HZ))
    report = json.loads(done.stdout.splitlines()[-1])
    assert report.keys() >= REPORT
    assert [report[fault] for fault in ("lost", "duplicate", "out_of_order", "refused")] == [0, 0, 0, 0]
    assert report["packets"] == report["sent"] > len(INSTRUMENTS) * TURN_RATE_HZ
    assert report["set_turn_rate_hz"] == TURN_RATE_HZ
    assert report["turn_rate_hz"] * report["seconds"] * len(INSTRUMENTS) == pytest.approx(report["packets"], rel=0.1)
    for plane, tune in (("x", 0.2994), ("y", 0.1612)):
        assert report["tune_simulated"][plane] == tune
        assert report["tune_found"][plane] == pytest.approx(tune, abs=1e-4)
    assert report["latency_ns"].keys() >= {"p50", "p99", "max"}
    assert not list(root.glob("*/*.sock"))


@pytest.fixture(scope="module")
def live(root: Path) -> Iterator[ring.VirtualRing]:
    """A ring and its server, in the workspace "demo", with more than enough turns to look at."""
    with ring.start(TURN_RATE_HZ, naps=True) as running:
        stream = running.ws.streams["bpm01/turn"]
        wait_for(lambda: len(stream.latest(20_000)) == 20_000, "20 000 turns")
        yield running
        running.check()


@pytest.mark.parametrize("config", ["demo.yaml", "loopback.yaml"])
def test_check_says_what_a_configuration_amounts_to(root: Path, config: str) -> None:
    shown = ringmaster("check", ROOT / "configs" / config).stdout
    assert f"workspace {config.removesuffix('.yaml')}" in shown.replace('"', "").replace(":", "")
    assert "MiB" in shown


def test_ls_lists_everything(live: ring.VirtualRing) -> None:
    listed = ringmaster_json("ls", "--json")
    assert (listed["workspace"], listed["alive"]) == ("demo", True)
    streams = {entry["name"]: entry for entry in listed["objects"] if entry["kind"] == "stream"}
    assert streams.keys() == {f"stream/{name}/{rate}" for name in INSTRUMENTS for rate in RATES}
    turn = streams["stream/bpm01/turn"]
    assert turn["rate_hz"] == pytest.approx(TURN_RATE_HZ, rel=0.5), "of a ring that may not get its core"
    assert [streams[f"stream/bpm01/{rate}"]["period_turns"] for rate in ("fast", "loop", "slow")] == [12, 120, 120000]
    assert turn["head_turn"] > turn["first_turn"]
    assert {entry["owner"] for entry in listed["objects"]} == {"server", "ring"}
    shown = ringmaster("ls").stdout
    for word in (*streams, "x1[nm]", "loss10[counts]", "port/ring", "server/config"):
        assert word.removeprefix("stream/") in shown


def test_get_reads_what_is_there(live: ring.VirtualRing) -> None:
    got = ringmaster_json("get", "--json", "bpm01/*", "server/turn_rate_hz", "counters/stream/bpm01", "ring/tune_x")
    assert got["server/turn_rate_hz"]["value"] == TURN_RATE_HZ
    assert got["ring/tune_x"]["value"] == 0.2994
    assert got["counters/stream/bpm01"]["accepted"] > 20_000
    assert got["stream/bpm01/turn"]["ok"] is True
    assert {"x1", "y1", "sum1", "q2"} <= got["stream/bpm01/fast"]["lanes"].keys()
    assert "bpm01/turn" in ringmaster("get", "bpm01/trun", expect=7).stderr


def test_top_looks_once(live: ring.VirtualRing) -> None:
    seen = ringmaster_json("top", "--once", "--json")
    assert [stream["name"] for stream in seen["streams"]] == INSTRUMENTS
    assert all(stream["rate_hz"] > 0 and stream["lost"] == 0 for stream in seen["streams"])
    assert seen["ports"][0]["rate_pps"] > 0
    assert 0 < seen["cores"][0]["busy_share"] <= 1
    assert seen["tunes"][0] == pytest.approx(0.2994, abs=1e-3)
    assert len(seen["orbit"]["x"]) == 14
    shown = ringmaster("top", "--once").stdout
    assert all(name in shown for name in INSTRUMENTS)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make install` puts into a system."""
    prefix = tmp_path_factory.mktemp("installed")
    command = ["meson", "install", "-C", str(ROOT / "build"), "--no-rebuild", "--quiet", "--destdir", str(prefix)]
    subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT_S)
    return prefix


def test_the_c_example_needs_headers_and_library_alone(live: ring.VirtualRing, installed: Path, tmp_path: Path) -> None:
    description = next(installed.rglob("ringmaster.pc"))
    library = next(installed.rglob("libringmaster.so")).parent
    environment = os.environ | {
        "PKG_CONFIG_PATH": str(description.parent),
        "PKG_CONFIG_SYSROOT_DIR": str(installed),
        "LD_LIBRARY_PATH": str(library),
    }
    asked = ["pkg-config", "--cflags", "--libs", "ringmaster"]
    flags = subprocess.run(asked, check=True, capture_output=True, text=True, env=environment, timeout=TIMEOUT_S).stdout
    assert "rte" not in flags
    assert "dpdk" not in flags
    program = tmp_path / "orbit_rms"
    source = ROOT / "examples/orbit_rms.c"
    subprocess.run(["cc", "-O2", source, *flags.split(), "-o", program], check=True, timeout=TIMEOUT_S)
    linked = subprocess.run(["ldd", program], check=True, capture_output=True, text=True, env=environment, timeout=10)
    assert f"{library}/libringmaster.so" in linked.stdout
    assert "librte" not in linked.stdout
    done = subprocess.run(
        [program, "demo", "1"], check=True, capture_output=True, text=True, env=environment, timeout=TIMEOUT_S
    )
    words = done.stdout.split()
    assert words[:1] + words[2:7] == ["turn", "7", "of", "7", "BPMs", "x1"], done.stdout
    assert 0 < float(words[8]) < 1e6
    assert words[9] == "nm"


def test_the_python_example_prints_the_orbit(live: ring.VirtualRing) -> None:
    command = [sys.executable, str(ROOT / "examples/orbit_rms.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        lines = [running.stdout.readline() for _ in range(2)]
        running.terminate()
    turns = [int(line.split()[1].rstrip(":")) for line in lines]
    assert turns[1] > turns[0] > 0
    for line in lines:
        assert 0 < float(line.split()[2]) < math.inf
        assert line.endswith(" RMS\n")

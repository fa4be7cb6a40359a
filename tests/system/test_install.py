# SPDX-License-Identifier: Apache-2.0
"""`make install` and `make uninstall`, below a folder of their own: what is there works, and then nothing is left."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import ROOT, TIMEOUT_S, wait_for

from ringmaster.virtual import ring

PREFIX = "/opt/ringmaster"


def tool(destdir: Path, *options: str) -> None:
    """What the Makefile runs, without another build."""
    command = [sys.executable, str(ROOT / "tools/install.py"), "--destdir", str(destdir), PREFIX, *options]
    subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT_S * 5)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The prefix; afterwards nothing of it is left, but what others put there."""
    destdir = tmp_path_factory.mktemp("system")
    tool(destdir)
    yield Path(f"{destdir}{PREFIX}")
    other = Path(f"{destdir}{PREFIX}/bin/other")
    other.write_text("")
    tool(destdir, "--uninstall")
    assert [path for path in destdir.rglob("*") if path.is_file()] == [other]


def run(installed: Path, *command: str | Path, cwd: Path | None = None, status: int = 0) -> str:
    """With what is installed, and nothing of the checkout or of this Python. What it says, of both outputs."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "RINGMASTER_LIBEXEC")
    }
    environment["PATH"] = f"{installed / 'bin'}:/usr/bin:/bin"
    environment["PKG_CONFIG_PATH"] = str(next(installed.rglob("ringmaster.pc")).parent)
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=cwd, env=environment, timeout=TIMEOUT_S
    )
    assert done.returncode == status, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def test_the_command_line_runs_with_its_own_programs_and_configurations(installed: Path, tmp_path: Path) -> None:
    assert "demo" in run(installed, "ringmaster", "--help", cwd=tmp_path)
    share = installed / "share/ringmaster"
    checked = run(installed, "ringmaster", "check", share / "configs/demo.yaml", cwd=tmp_path)
    assert "workspace demo" in checked
    script = "from ringmaster.virtual import ring; print(ring.__file__, ring.CONFIGS.exists())"
    path = f"{share / 'python'}:{installed / 'lib/ringmaster/python'}"
    told = run(installed, "env", f"PYTHONPATH={path}", "/usr/bin/python3", "-c", script, cwd=tmp_path)
    assert told == f"{share / 'python/ringmaster/virtual/ring.py'} True\n"
    assert "168 BPMs" in run(installed, "ringmaster", "twin", "elettra2_like", cwd=tmp_path)
    for completion in ("bash-completion/completions/ringmaster", "zsh/site-functions/_ringmaster"):
        assert "_RINGMASTER_COMPLETE" in (installed / "share" / completion).read_text()
    manual = installed / "share/man"
    assert "ringmaster plan" in (manual / "man1/ringmaster-plan.1").read_text()
    assert "ringmaster\\-server" in (manual / "man1/ringmaster-server.1").read_text()
    assert (manual / "man3/rm_stream_read.3").read_text() == ".so man3/ringmaster-stream.3\n"


def test_a_page_is_made_of_the_templates_that_are_installed(installed: Path, tmp_path: Path) -> None:
    figure = {"median": 2.0, "low": 1.0, "high": 3.0, "quantiles": None, "count": 5, "of": "rounds"}
    measured = tmp_path / "measured.json"
    measured.write_text(json.dumps({"spreads": {"rtt_us": figure}}))
    run(installed, "ringmaster", "bench", "compare", measured, measured, "--report", tmp_path / "beside")
    assert "rtt_us" in (tmp_path / "beside/compare.html").read_text()


def test_the_example_compiles_with_pkg_config_alone_and_runs(installed: Path, tmp_path: Path, root: Path) -> None:
    source = installed / "share/ringmaster/examples/orbit_rms.c"
    run(installed, "sh", "-c", f"cc {source} $(pkg-config --cflags --libs ringmaster) -o by_pkg_config", cwd=tmp_path)
    run(installed, "sh", "-c", f"cc {source} $(ringmaster flags --libs) -o by_flags", cwd=tmp_path)
    with ring.start(40_000, naps=True) as live:
        wait_for(lambda: live.ws.streams["bpm01/fast"].head, "the first records")
        for program in ("by_pkg_config", "by_flags"):
            assert "7 of 7 BPMs  x1 RMS" in run(installed, tmp_path / program, "demo", "1")
    linked = run(installed, "ldd", tmp_path / "by_pkg_config")
    assert str(installed) in linked


def test_the_gentl_producer_finds_its_library_where_it_lies(installed: Path) -> None:
    linked = run(installed, "ldd", next(installed.rglob("ringmaster.cti")))
    assert f"libringmaster-frames.so.1 => {installed}" in linked


def test_the_template_builds_and_knows_nothing_of_pkg_config(installed: Path, tmp_path: Path) -> None:
    copy = tmp_path / "mine"
    shutil.copytree(installed / "share/ringmaster/template", copy)
    run(installed, "make", "PKG_CONFIG=false", cwd=copy)
    assert (copy / "template.so").exists()
    assert "ringmaster_application" in run(installed, "nm", "-D", copy / "template.so")
    built = tmp_path / "of_a_checkout"
    shutil.copytree(ROOT / "apps/template", built)
    subprocess.run(["make", f"RINGMASTER={ROOT / 'ringmaster'}"], check=True, cwd=built, timeout=TIMEOUT_S)


SERVER = """workspace: template
turn_rate_hz: 10000
ports: [{name: ring, kind: memif, socket: /nonexistent/ring.sock, answer: 10.20.255.1}]
instruments: [{name: bpm01, kind: bpm, id: 1, port: ring, source: 10.20.0.1}]
setpoints: {period_turns: 12}
chains:
  - {name: c, id: 1, port: ring, address: 10.30.0.1,
     supplies: [{name: ps/q, count: 2, unit: A, limits: [-1, 1], slew: 1}]}
applications:
  - {name: mine, code: ./template.so, period_turns: 12, inputs: [bpm01/fast], supplies: ["ps/*"],
     configuration: mine.yaml}
buffers: {turn_records: 65536, fast_records: 8192}
roles: [{role: receive, core: 1, ports: [ring]}, {role: transmit, core: 1}]
"""
"""With an application that reads a file of its own."""

WRONG_FILES = {
    "phase_deg: 90\nlan: x1\n": 'mine.yaml:2:1: unknown key "lan", expected one of: lane, phase_deg '
    '(did you mean "lane"?)',
    "phase_deg: much\n": 'mine.yaml:1:12: phase_deg: found "much", expected a number',
    "phase_deg: 200\n": "mine.yaml:1:12: phase_deg: found 200, expected -180 to 180",
    "lane: x9\n": 'mine.yaml: lane: the input bpm01/fast has no lane "x9"',
}
"""What the template's own file may have wrong, and what is said of it."""


def test_an_application_built_elsewhere_says_what_is_wrong_with_its_file(installed: Path, tmp_path: Path) -> None:
    source = installed / "share/ringmaster/template/template.c"
    build = f"cc -shared -fPIC {source} $(pkg-config --cflags --libs ringmaster) -o template.so"
    run(installed, "sh", "-c", build, cwd=tmp_path)
    assert str(installed) in run(installed, "ldd", tmp_path / "template.so")
    server, own = tmp_path / "server.yaml", tmp_path / "mine.yaml"
    server.write_text(SERVER)
    own.write_text("phase_deg: 90\nlane: x1\n")
    assert "mine" in run(installed, "ringmaster", "check", server)
    for text, said in WRONG_FILES.items():
        own.write_text(text)
        assert said in run(installed, "ringmaster", "check", server, status=1)


def test_a_second_installation_replaces_the_first(installed: Path) -> None:
    old = installed / "share/ringmaster/configs/demo.yaml"
    old.write_text("changed\n")
    destdir = Path(str(installed).removesuffix(PREFIX))
    tool(destdir)
    assert old.read_text() == (ROOT / "configs/demo.yaml").read_text()

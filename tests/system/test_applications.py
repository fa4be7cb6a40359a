# SPDX-License-Identifier: Apache-2.0
"""Applications as a person meets them: the shipped ramp with its supplies. The template: test_install.py."""

import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from harness import (
    LIBEXEC,
    NOBODY,
    RING_CORE,
    ROOT,
    SERVER_CORE,
    TIMEOUT_S,
    kill_at_once,
    ringmaster,
    server,
    unique_name,
    wait_for,
)

from ringmaster import Workspace
from ringmaster.errors import ObjectNotFound, WorkspaceError
from ringmaster.programs.program import Program, attach_to


def adapted(file: str, folder: Path, name: str, core: int) -> Path:
    """A shipped file with a workspace, a socket and a core of this test's own."""
    text = (ROOT / "configs" / file).read_text().replace("/run/ringmaster", str(folder))
    text = re.sub(r"^workspace: .*$", f"workspace: {name}", text, flags=re.MULTILINE)
    path = folder / file
    path.write_text(re.sub(r"\bcore: \d+", f"core: {core}", text) + "\npolling: {naps: true}\n")
    return path


def value(ws: Workspace, name: str) -> float:
    return float(np.asarray(ws.parameters[name].value))


def is_allowed(ws: Workspace, application: str) -> tuple[float, float]:
    """Its permission, and why it has none."""
    return value(ws, f"{application}/enable"), value(ws, f"{application}/withdrawn")


def test_no_permission_outlives_the_server(root: Path) -> None:
    """By kill -9 of the server, once: its hosted application has died with it, the other one has lived on."""
    name = unique_name("permission")
    config = adapted("application.yaml", root, name, SERVER_CORE)
    owners = ("server", "ramp", "square")
    with server(config) as running:
        attach_to(name, running).close()
        with Program("ringmaster-application", config, "ramp") as ramp:
            with attach_to(name, running, owners) as ws:
                for setting in ("ramp/enable", "square/enable"):
                    ringmaster("put", "-w", name, setting, "1")
                ringmaster("put", "-w", name, "ramp/target", "4")
                ringmaster("put", "-w", name, "square/amplitude", "0.5")
                assert [is_allowed(ws, one) for one in ("ramp", "square")] == [(1.0, 0.0), (1.0, 0.0)]
                saved = ringmaster("save", "-w", name, "-").stdout
                assert "ramp/target" in saved
                assert "enable" not in saved
            kill_at_once(running.pid)
            running.wait(TIMEOUT_S)
            with server(config) as again:
                with attach_to(name, again, owners) as ws:
                    wait_for(lambda: is_allowed(ws, "ramp") == (0.0, 2.0), lambda: f"ramp: {is_allowed(ws, 'ramp')}")
                    assert is_allowed(ws, "square") == (0.0, 1.0)
                    assert (value(ws, "ramp/target"), value(ws, "square/amplitude")) == (4.0, 0.5)
                said = "it may not act any more, because the server ended"
                wait_for(lambda: said in ramp.words, lambda: ramp.words)
    shutil.rmtree(root / name, ignore_errors=True)
    shutil.rmtree(Path("/var/run/dpdk") / f"rm-{name}", ignore_errors=True)


def status_of(pid: int, key: str) -> list[str]:
    """A line of /proc/PID/status."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split()[1:] for line in lines if line.startswith(f"{key}:"))


def assert_all_survive_a_cut(name: str, running: Program) -> None:
    """The user of one application cuts its segment; who has it mapped reads zeros, and goes on."""
    watching = ["-m", "ringmaster", "monitor", "-w", name, "server/turn_rate_hz", "ramp/target"]
    with attach_to(name, running, ("server", "ramp")) as ws, Program(sys.executable, *watching) as monitor:
        wait_for(lambda: "ramp/target" in monitor.words, "the monitor to read it")
        cut = ws.segments["ramp"].path
        subprocess.run([*NOBODY, "truncate", "--size=0", cut], check=True)
        with suppress(WorkspaceError, ObjectNotFound):
            assert value(ws, "ramp/target") == 0.0
        assert ws.segments["ramp"].cut
        assert ws.parameters["server/turn_rate_hz"].number > 0
        wait_for(lambda: "ramp has ended" in monitor.words, lambda: f"the monitor to notice: {monitor.words}")
        assert (monitor.running, running.running) == (True, True)
        ringmaster("get", "-w", name, "square/amplitude")


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT ROOT HERE: nobody can be another user")
def test_an_application_becomes_its_user(root: Path, tmp_path: Path) -> None:
    """Started by root, before its code is loaded: code that only root may read it cannot load."""
    name = unique_name("user")
    root.chmod(0o755)
    config = adapted("application.yaml", root, name, SERVER_CORE)
    config.write_text(config.read_text().replace("    code: ramp\n", "    code: ramp\n    user: nobody\n"))
    who = pwd.getpwnam("nobody")
    with server(config) as running:
        attach_to(name, running).close()
        with Program("ringmaster-application", config, "ramp") as ramp:
            attach_to(name, running, ("server", "ramp")).close()
            assert set(status_of(ramp.pid, "Uid")) == {str(who.pw_uid)}
            assert set(status_of(ramp.pid, "Gid")) == {str(who.pw_gid)}
            assert "0" not in status_of(ramp.pid, "Groups")
            assert status_of(ramp.pid, "CapPrm") == ["0" * 16]
            assert status_of(ramp.pid, "NoNewPrivs") == ["1"]
            assert_all_survive_a_cut(name, running)
        as_daemon = ("setpriv", "--reuid=daemon", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all")
        refused = Program("ringmaster-application", config, "ramp", prefix=as_daemon)
        assert refused.wait(TIMEOUT_S) == 1
        assert 'it is to run as user "nobody"' in refused.words
        secret = tmp_path / "ramp.so"
        shutil.copy(LIBEXEC / "ramp.so", secret)
        secret.chmod(0o600)
        config.write_text(config.read_text().replace("code: ramp\n", f"code: {secret}\n"))
        hidden = Program("ringmaster-application", config, "ramp")
        assert hidden.wait(TIMEOUT_S) == 1
        assert "ermission denied" in hidden.words
    shutil.rmtree(root / name, ignore_errors=True)
    shutil.rmtree(Path("/var/run/dpdk") / f"rm-{name}", ignore_errors=True)


def state_of(name: str) -> str:
    """What the server says of the application "ramp"."""
    found = re.search(r"state +(\w+)", ringmaster("get", "-w", name, "grant/ramp").stdout)
    assert found is not None
    return found[1]


HANGS = """
#include <unistd.h>
#include <ringmaster/application.h>
static enum rm_step_result step(struct rm_application_setup const *setup, void *state, struct rm_step const *given,
                                struct rm_command *command) {
    (void)setup, (void)state, (void)given, (void)command;
    for (;;)
        pause();
}
struct rm_application_code const ringmaster_application = {
    .abi_version = RM_ABI_VERSION, .state_bytes = 8, .step = step};
"""


@pytest.mark.skipif(RING_CORE == SERVER_CORE, reason="ONE CORE HERE: supplies need one, and their server another")
def test_one_that_hangs_in_its_first_step_has_stalled(root: Path, tmp_path: Path) -> None:
    """It never had a row that could stop, and counts as stalled all the same; its supplies go where `stop` says."""
    name = unique_name("hangs")
    (tmp_path / "hangs.c").write_text(HANGS)
    command = ("cc", "-shared", "-fPIC", "-I", ROOT / "include", "-o", tmp_path / "hangs.so", tmp_path / "hangs.c")
    subprocess.run(command, check=True)
    config = adapted("application.yaml", root, name, SERVER_CORE)
    text = config.read_text().replace("    code: ramp\n", f"    code: {tmp_path}/hangs.so\n")
    config.write_text(text.replace("    settings: [{name: rate, value: 2}]\n", ""))
    with server(config) as running:
        attach_to(name, running).close()
        with (
            Program("ringmaster-instruments", "run", config, "--core", str(RING_CORE)),
            Program("ringmaster-application", config, "ramp") as ramp,
        ):
            wait_for(
                lambda: state_of(name) == "stalled", lambda: f"the server to see it: {state_of(name)} {ramp.words}"
            )
            assert ramp.running
            with attach_to(name, running) as ws:
                assert ws.grants["ramp"].read().stalls == 1
            kill_at_once(ramp.pid)
    shutil.rmtree(root / name, ignore_errors=True)
    shutil.rmtree(Path("/var/run/dpdk") / f"rm-{name}", ignore_errors=True)


@pytest.mark.skipif(RING_CORE == SERVER_CORE, reason="ONE CORE HERE: supplies need one, and their server another")
def assert_restored_together(name: str, ws: Workspace, file: Path) -> None:
    """Members of a group are one change. A host that takes our core away between two requests has them apart: again."""
    settings = ws.groups["ramp/settings"]
    ringmaster("save", "-w", name, str(file), "ramp/*")
    saved = (value(ws, "ramp/rate"), value(ws, "ramp/target"))

    def in_one_change() -> bool:
        ringmaster("put", "-w", name, "ramp/rate", "5")
        ringmaster("put", "-w", name, "ramp/target", "1")
        before = settings.changes
        assert "2 set" in ringmaster("restore", "-w", name, str(file)).stderr
        assert (value(ws, "ramp/rate"), value(ws, "ramp/target")) == saved
        return settings.changes == before + 1

    wait_for(in_one_change, "both settings to be restored in one change")


def test_the_shipped_ramp(root: Path, tmp_path: Path) -> None:
    """It brings its supplies to a target; killed, and started again, it has its settings, but does not act unasked."""
    name = unique_name("application")
    config = adapted("application.yaml", root, name, SERVER_CORE)
    with server(config) as running:
        attach_to(name, running).close()
        with (
            Program("ringmaster-instruments", "run", config, "--core", str(RING_CORE)),
            Program("ringmaster-application", config, "ramp") as ramp,
        ):
            with attach_to(name, running, ("server", "ramp")) as ws:
                wait_for(lambda: value(ws, "ramp/position") == 0.0 and state_of(name) == "running", "its first steps")
                ringmaster("put", "-w", name, "ramp/rate", "20")
                ringmaster("put", "-w", name, "ramp/target", "4")
                ringmaster("put", "-w", name, "ramp/enable", "1")
                wait_for(lambda: value(ws, "sr/ps/ch_s01_04/readback") == 4.0, "its supplies to arrive")
                refused = ringmaster("put", "-w", name, "ramp/target", "12", expect=1).stderr
                assert "is not within the limits -10 … 10 A of sr/ps/ch_s01_01" in refused
                assert_restored_together(name, ws, tmp_path / "saved.yaml")
            os.kill(ramp.pid, signal.SIGKILL)
            wait_for(lambda: state_of(name) == "dead", "the server to see that it was killed")
            with Program("ringmaster-application", config, "ramp"):
                wait_for(lambda: state_of(name) == "running", "its next life")
                with attach_to(name, running, ("server", "ramp")) as ws:
                    assert value(ws, "ramp/target") == 4.0
                    assert (value(ws, "ramp/enable"), value(ws, "ramp/withdrawn")) == (0.0, 1.0)
                    ringmaster("put", "-w", name, "ramp/enable", "1")
                    assert value(ws, "ramp/withdrawn") == 0.0
                    wait_for(lambda: value(ws, "sr/ps/ch_s01_04/readback") == 4.0, "its supplies to come back")
    shutil.rmtree(root / name, ignore_errors=True)
    shutil.rmtree(Path("/var/run/dpdk") / f"rm-{name}", ignore_errors=True)

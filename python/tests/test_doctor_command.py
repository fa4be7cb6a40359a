# SPDX-License-Identifier: Apache-2.0
"""`ringmaster doctor`, as a person and as a script run it."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from fake_host import CPU, DPDK, KERNEL, PCI, host, perfect, write

from ringmaster.cli.main import cli
from ringmaster.doctor.examine import AREAS, NAMES
from ringmaster.doctor.findings import Verdict

Doctor = Callable[..., Result]
CARD = ("--cards", DPDK)


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """The folder of a host with nothing to mend."""
    write(tmp_path, perfect())
    return tmp_path


@pytest.fixture
def doctor(server: Path, monkeypatch: pytest.MonkeyPatch) -> Doctor:
    """Runs the command on that host."""
    monkeypatch.setattr("ringmaster.doctor.host.Host", lambda: host(server))

    def run(*arguments: str) -> Result:
        done = CliRunner().invoke(cli, ["doctor", *arguments])
        assert done.exception is None or isinstance(done.exception, SystemExit | click.UsageError), done.exception
        return done

    return run


def test_a_perfect_server_passes_also_the_strict_doctor(doctor: Doctor) -> None:
    done = doctor("--for", "feedback", "--strict", *CARD)
    assert done.exit_code == 0
    assert "for feedback: 2 cannot be told" in done.stdout


def test_exit_codes_follow_the_worst_verdict(doctor: Doctor, server: Path) -> None:
    write(server, {"/sys/kernel/mm/ksm/run": "1\n"})
    assert doctor("--for", "feedback", *CARD).exit_code == 0
    assert doctor("--for", "feedback", "--strict", *CARD).exit_code == 1
    write(server, {f"{CPU}/isolated": "\n"})
    assert doctor("--for", "feedback", "--cores", "4-7", *CARD).exit_code == 1
    assert doctor("--for", "ingest", "--cores", "4-7", *CARD).exit_code == 0
    assert doctor("--for", "feedback", "--cores", "4-7", "ksm", *CARD).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["governer"], "no check or area 'governer' (did you mean governor?)"),
        (["--for", "fun"], "'fun' is not one of 'try', 'ingest', 'feedback'"),
        (["--cores", "4-"], "found '4-', expected a list of cores such as 2-5,8"),
        (["--cores", "88"], "core 88 is not online on this host, expected cores out of 0-7"),
        (["--cards", "eth9"], "no Ethernet card 'eth9' on the PCI bus, expected one of: 0000:81:00.0"),
        (["--json", "--script"], "--json and --script print to the same place"),
        (["--config", "/nonexistent.yaml"], "/nonexistent.yaml"),
    ],
)
def test_wrong_usage_is_reported_apart_from_a_wrong_host(doctor: Doctor, arguments: list[str], message: str) -> None:
    done = doctor(*arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


CONFIG = """
ports:
  - {name: fast, kind: pci, device: "0000:81:00.0,representor=0"}
  - {name: lan, kind: af_xdp, interface: eth1}
  - {name: test, kind: af_packet, interface: veth0}
roles:
  - {role: receive, core: 5, ports: [fast]}
  - {role: transmit, core: 6}
  - {role: housekeeping, core: 0}
"""


def test_a_configuration_tells_cores_cards_and_use(doctor: Doctor, server: Path) -> None:
    config = server / "server.yaml"
    write(server, {"/sys/class/net/eth1/device/uevent": "", f"{CPU}/isolated": "\n"})
    config.write_text(CONFIG)
    said = json.loads(doctor("--config", str(config), "--json").stdout)
    assert (said["use"], said["cores"]) == ("ingest", [5, 6])
    found = {finding["name"]: finding for finding in said["findings"]}
    assert found["isolated"]["boot"] == ["isolcpus=managed_irq,domain,5-6"]
    assert found["driver"]["is_now"] == "0000:81:00.0: vfio-pci, 0000:82:00.0 (eth1): ice"
    config.write_text(CONFIG + "applications: [{name: feedback}]\n")
    assert json.loads(doctor("--config", str(config), "--json").stdout)["use"] == "feedback"
    assert json.loads(doctor("--config", str(config), "--for", "try", "--cores", "2", "--json").stdout)["cores"] == [2]


@pytest.mark.parametrize("text", ["", "[1, 2]", "ports: [", "ports: []\nroles: [{role: receive}]", "workspace: demo"])
def test_what_is_no_configuration_is_refused(doctor: Doctor, server: Path, text: str) -> None:
    (server / "server.yaml").write_text(text)
    done = doctor("--config", str(server / "server.yaml"))
    assert done.exit_code == 2
    assert "server.yaml: " in " ".join(done.stderr.split())


def test_a_check_by_name_is_reported_at_length(doctor: Doctor, server: Path) -> None:
    write(server, {f"{CPU}/cpu6/cpufreq/scaling_governor": "powersave\n"})
    shown = doctor("governor", "--for", "feedback").stdout
    assert "✗ governor: wrong" in shown
    assert "for cpu in 6; do echo performance > /sys/devices/system/cpu/cpu$cpu/cpufreq/scaling_governor; done" in shown
    assert "hugepages" not in shown
    assert "hugepages-1g" in doctor("memory", "--for", "feedback").stdout


def test_the_table_shows_the_ill_with_what_should_be_and_names_the_others(doctor: Doctor, server: Path) -> None:
    write(server, {"/sys/kernel/mm/ksm/run": "1\n"})
    lines = doctor("--for", "feedback", *CARD).stdout.split("\n")
    row = next(line for line in lines if "! ksm" in line)
    assert row.split() == ["memory", "!", "ksm", "merges", "equal", "pages", "off"]
    assert all(any(name in line for line in lines) for name in NAMES)
    assert max(map(len, lines)) <= 130


BAD = {
    "/sys/kernel/mm/ksm/run": "1\n",
    f"{CPU}/isolated": "\n",
    f"{CPU}/cpu6/cpufreq/scaling_governor": "powersave\n",
    f"{CPU}/cpu6/cpuidle/state2/disable": "0\n",
    "/proc/irq/30/effective_affinity_list": "6\n",
    "/proc/mounts": "",
    "/proc/sys/net/core/rmem_max": "1\n",
    "/proc/sys/kernel/nmi_watchdog": "1\n",
    "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "0\n",
}


def test_the_script_is_one_of_the_shell_and_changes_nothing_when_printed(doctor: Doctor, server: Path) -> None:
    write(server, BAD)
    before = {path: path.read_bytes() for path in server.rglob("*") if path.is_file()}
    done = doctor("--for", "feedback", "--cores", "4-7", "--script", "--cards", "0000:82:00.0")
    assert done.exit_code == 0
    assert done.stderr == ""
    text = done.stdout
    assert text.startswith("#!/bin/sh\n")
    assert "\nset -eu\n" in text
    subprocess.run(["sh", "-n"], input=text, text=True, check=True)
    for command in (
        "echo 0 > /sys/kernel/mm/ksm/run",
        "sysctl -w net.core.rmem_max=16777216",
        "echo 'net.core.rmem_max = 16777216' > /etc/sysctl.d/90-ringmaster-net-core-rmem_max.conf",
        "arguments='isolcpus=managed_irq,domain,4-7 irqaffinity=0-3 default_hugepagesz=1G hugepagesz=1G hugepages=4'",
    ):
        assert command in text.split("\n")
    binding = [line for line in text.split("\n") if "dpdk-devbind" in line]
    assert binding != []
    assert all(line.startswith("#") for line in binding), "nobody shall lose the card that he is logged in by"
    after = {path: path.read_bytes() for path in server.rglob("*") if path.is_file()}
    counters = {server / "proc/interrupts", server / "proc/stat"}
    assert {path for path in after if after[path] != before.get(path)} <= counters


def test_every_step_of_the_script_has_its_reason(doctor: Doctor, server: Path) -> None:
    write(server, BAD)
    arguments = ("--for", "feedback", "--cores", "4-7", *CARD)
    found = json.loads(doctor(*arguments, "--json").stdout)["findings"]
    text = doctor(*arguments, "--script").stdout
    for finding in found:
        ill = finding["verdict"] in (Verdict.WRONG, Verdict.BETTER)
        assert (f"\n# {finding['name']}, {finding['verdict']}: " in text) == ill
        assert all(f"\n{command}\n" in text for command in finding["mend"] + finding["keep"])


def test_the_script_of_a_perfect_server_does_nothing(doctor: Doctor) -> None:
    text = doctor("--for", "feedback", "--script", *CARD).stdout
    subprocess.run(["sh", "-n"], input=text, text=True, check=True)
    assert text.endswith("# Nothing to do.\n")


def test_this_machine_can_be_examined() -> None:
    command = [sys.executable, "-m", "ringmaster", "doctor", "--for", "ingest", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode in (0, 1), done.stderr) == (True, "")
    said = json.loads(done.stdout)
    assert sorted(finding["name"] for finding in said["findings"]) == sorted(NAMES)
    assert {finding["area"] for finding in said["findings"]} == set(AREAS)
    assert {finding["verdict"] for finding in said["findings"]} <= set(map(str, Verdict))
    assert all(
        set(finding) >= {"is_now", "should_be", "mend", "keep", "boot", "why", "source"} for finding in said["findings"]
    )


STUBS = {
    "id": "echo 0",
    "sysctl": 'name=${2%%=*}; echo "${2#*=}" > "$ROOT/proc/sys/$(echo "$name" | tr . /)"',
    "mountpoint": "exit 1",
    "mount": 'echo "$3 $4 $2 rw 0 0" > "$ROOT/proc/mounts"',
    "update-grub": 'cp "$ROOT/etc/default/grub.d/90-ringmaster.cfg" "$ROOT/updated"',
}
"""What the script's programs do to a host that is a folder."""


def test_the_script_mends_what_it_says(doctor: Doctor, server: Path) -> None:
    write(server, {"/proc/irq/30/effective_affinity_list": None, "/etc/fstab": "", f"{PCI}/{KERNEL}": None} | {**BAD})
    write(server, {"/proc/irq/30/effective_affinity_list": None, "/proc/irq/30/smp_affinity_list": "6\n"})
    write(server, {"/proc/sys/vm/swappiness": "60\n", "/sys/kernel/mm/transparent_hugepage/enabled": "[always] never"})
    arguments = ("--for", "feedback", "--cores", "4-7", *CARD)
    text = re.sub(r"(?<=[ ='])/(?=(?:sys|proc|etc|dev)/)", f"{server}/", doctor(*arguments, "--script").stdout)
    for name, body in STUBS.items():
        write(server, {f"/stubs/{name}": f"#!/bin/sh\n{body}\n"})
        (server / "stubs" / name).chmod(0o755)
    environment = {"PATH": f"{server}/stubs:/usr/bin:/bin", "ROOT": str(server)}
    for _ in range(2):  # a second time does no harm
        subprocess.run(["sh"], input=text, text=True, check=True, env=environment)
    assert (server / "updated").read_text() == (
        'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX isolcpus=managed_irq,domain,4-7 irqaffinity=0-3 default_hugepagesz=1G '
        'hugepagesz=1G hugepages=4"\n'
    )
    assert (server / "etc/fstab").read_text() == f"hugetlbfs {server}/dev/hugepages hugetlbfs defaults 0 0\n"
    assert (server / "etc/tmpfiles.d/90-ringmaster-c-states.conf").read_text().split("\n")[:2] == [
        f"w {server}{CPU}/cpu4/cpuidle/state2/disable - - - - 1",
        f"w {server}{CPU}/cpu5/cpuidle/state2/disable - - - - 1",
    ]
    write(server, {"/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never"})  # as the kernel shows it
    found = {finding["name"]: finding for finding in json.loads(doctor(*arguments, "--json").stdout)["findings"]}
    still = {name for name, finding in found.items() if finding["verdict"] in (Verdict.WRONG, Verdict.BETTER)}
    assert still == {"isolated", "hugepages-1g"}, "what only a boot can mend"

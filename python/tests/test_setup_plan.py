# SPDX-License-Identifier: Apache-2.0
"""What a setup shows of a host, and what it refuses: cards that must stay, kernels without vfio, cores that are not."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command import ringmaster
from fake_host import CPU, DPDK, PCI, Files, write
from setup_host import CONFIG, ROUTES, Kernel, Killed, apply_to, bare, plan_of, snapshot, steps_of, tree

from ringmaster.doctor.cards import find_cards
from ringmaster.doctor.host import Host
from ringmaster.doctor.memory import GIB
from ringmaster.doctor.setting import read_setting
from ringmaster.setup.needs import CARD_BYTES, huge_bytes
from ringmaster.setup.plan import make_plan
from ringmaster.setup.run import apply
from ringmaster.setup.staying import why_it_stays
from ringmaster.setup.step import State

HOST_FILES = Path(__file__).parents[2] / "packaging/host"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a host to which nothing was done; its disk is quick, and nobody is logged in."""
    monkeypatch.setattr("os.fsync", lambda _: None)
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    write(tmp_path, bare())
    return tmp_path


def route(interface: str, network: str, mask: str) -> str:
    """A line of /proc/net/route, its numbers as x86 shows them."""
    return f"{interface}\t{network}\t00000000\t0001\t0\t0\t0\t{mask}\t0\t0\t0\n"


LAN = route("eth0", "0000140A", "0000FFFF")  # 10.20.0.0/16
ELSEWHERE = route("eth1", "00000000", "00000000")
SSH_V4 = "  0: 0200140A:0016 0700140A:D431 01 00000000:00000000"
SSH_V6 = "  0: B80D0120000000000000000002000000:0016 B80D0120000000000000000007000000:D431 01 00000000:00000000"
DISK = "0000:00:17.0"
STAYS: dict[str, tuple[Files, str | None, str]] = {
    "an SSH connection of the person who asks": (
        {"/proc/net/route": ROUTES + ELSEWHERE + LAN}, "10.20.0.7 54321 10.20.0.2 22",
        "0000:81:00.0 (eth0) carries the SSH connection of 10.20.0.7"),
    "an SSH connection that sudo hides": (
        {"/proc/net/route": ROUTES + ELSEWHERE + LAN, "/proc/net/tcp": f"  sl\n{SSH_V4}\n"}, None,
        "carries the SSH connection of 10.20.0.7"),
    "an SSH connection by IPv6": (
        {"/proc/net/tcp6": f"  sl\n{SSH_V6}\n",
         "/proc/net/if_inet6": "20010db8000000000000000000000002 02 40 00 80     eth0\n"}, None,
        "carries the SSH connection of 2001:db8::2"),
    "the default route": (
        {"/proc/net/route": ROUTES + route("eth0", "00000000", "00000000")}, None, "has the default route"),
    "an address": ({"/proc/net/route": ROUTES + LAN}, None, "an address and routes; if nothing needs them: ip"),
    "an IPv6 address": (
        {"/proc/net/if_inet6": "20010db8000000000000000000000002 02 40 00 80     eth0\n"}, None, "has an address"),
    "a bond with an address": (
        {"/proc/net/route": ROUTES + route("bond0", "0000140A", "0000FFFF"),
         "/sys/class/net/eth0/upper_bond0": "-> x"}, None, "0000:81:00.0 (bond0, eth0) has an address"),
    "the root file system": (
        {"/proc/net/route": ROUTES + ELSEWHERE + LAN,
         "/proc/mounts": "10.20.0.9:/root / nfs4 rw,vers=4.2,addr=10.20.0.9 0 0\nh /dev/hugepages hugetlbfs rw 0 0\n"},
        None, "carries the file system at /, from 10.20.0.9"),
    "an IOMMU group with the disk of /": (
        {f"/sys/kernel/iommu_groups/12/devices/{DISK}": "", f"{PCI}/{DISK}/class": "0x010601\n",
         f"{PCI}/{DISK}/driver": "-> /sys/bus/pci/drivers/ahci", "/proc/mounts": "/dev/sda1 / ext4 rw 0 0\n",
         f"/sys/devices/pci0000:00/{DISK}/ata1/sda1/dev": "8:1\n",
         "/sys/class/block/sda1": f"-> ../../devices/pci0000:00/{DISK}/ata1/sda1"}, None,
        "0000:81:00.0 shares IOMMU group 12 with 0000:00:17.0 (ahci), which holds /: vfio takes all of a group"),
}  # fmt: skip


@pytest.mark.parametrize("what", STAYS)
def test_a_card_that_must_stay_is_refused_with_its_reason(server: Path, what: str) -> None:
    files, ssh, reason = STAYS[what]
    write(server, files)
    before = snapshot(server)
    plan = plan_of(server, ssh=ssh)
    assert [reason in text for text in plan.refused] == [True], plan.refused
    with pytest.raises(RuntimeError, match=r"nothing was changed: 0000:81:00\.0"):
        apply(tree(server), Kernel(server), plan, lambda _: None)
    assert snapshot(server) == before


def test_what_others_do_beside_the_card_is_no_reason(server: Path) -> None:
    bridge = "0000:80:01.0"
    write(server, {
        "/proc/net/route": ROUTES + ELSEWHERE,
        "/proc/net/tcp": "  sl\n  0: 0200140A:1F90 0700140A:D431 01 0:0\n  1: 0200140A:0016 00000000:0000 0A 0:0\n",
        "/proc/net/if_inet6": "fe80000000000000021122fffe334455 02 40 20 80     eth0\n",
        f"/sys/kernel/iommu_groups/12/devices/{bridge}": "",
        f"{PCI}/{bridge}/class": "0x060400\n",
        f"{PCI}/{bridge}/driver": "-> /sys/bus/pci/drivers/pcieport",
    })  # fmt: skip
    assert plan_of(server, ssh="10.20.0.7 54321 10.20.0.2 22").refused == []


def test_ports_of_a_card_in_one_iommu_group_go_together(server: Path) -> None:
    other = f"{DPDK[:-1]}1"
    write(server, {
        f"/sys/kernel/iommu_groups/12/devices/{other}": "",
        f"{PCI}/{other}/class": "0x020000\n",
        f"{PCI}/{other}/driver": "-> /sys/bus/pci/drivers/ixgbe",
    })  # fmt: skip
    on = tree(server)
    (card,) = find_cards(on, (DPDK,))
    assert f"shares IOMMU group 12 with {other} (ixgbe)" in str(why_it_stays(on, card))
    assert why_it_stays(on, card, beside=(DPDK, other)) is None


def test_a_card_of_mlx5_stays_with_its_driver(server: Path) -> None:
    write(server, {f"{PCI}/{DPDK}/driver": "-> /sys/bus/pci/drivers/mlx5_core", "/proc/net/route": ROUTES + LAN})
    plan = plan_of(server)
    assert plan.refused == []
    assert steps_of(server)["driver"].state is State.DONE


def test_a_kernel_without_vfio_is_refused(server: Path) -> None:
    write(server, {"/boot/config-6.1.0": "CONFIG_HZ=250\nCONFIG_NO_HZ_FULL=y\n"})
    assert plan_of(server).refused == ["this kernel has no vfio-pci (CONFIG_VFIO_PCI is not set)"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({f"{CPU}/online": "0-4,6-7\n"}, r"core 5 is offline: echo 1 > /sys/devices/system/cpu/cpu5/online"),
        ({f"{CPU}/online": "0-3\n", f"{CPU}/present": "0-3\n"}, r"this host has no core 5, expected cores out of 0-3"),
        ({"/ring.yaml": CONFIG.replace("81:00", "99:00")}, r"no Ethernet card '0000:99:00\.0' on the PCI bus"),
    ],
)
def test_what_the_host_has_not_is_refused(server: Path, files: Files, message: str) -> None:
    write(server, files)
    with pytest.raises(ValueError, match=message):
        plan_of(server)


def test_cores_of_applications_and_spare_ones_are_the_servers_too(server: Path) -> None:
    more = CONFIG.replace("{name: feedback}", "{name: feedback, core: 2}") + 'spare_cores: "3-4"\n'
    write(server, {"/ring.yaml": more})
    assert plan_of(server).setting.cores == (2, 3, 4, 5, 6)


def test_all_cores_for_the_server_are_one_too_many(server: Path) -> None:
    roles = "".join(f"  - {{role: receive, core: {core}, ports: [fast]}}\n" for core in range(8))
    write(server, {"/ring.yaml": re.sub(r"roles:\n(  .*\n)+", f"roles:\n{roles}", CONFIG)})
    assert "the configuration takes all 8 cores" in plan_of(server).refused


def test_without_a_boot_loader_that_it_knows_the_arguments_are_told(server: Path) -> None:
    write(server, {"/etc/default/grub": None})
    steps = steps_of(server)
    assert steps["command-line"].state is State.HAND
    assert (
        "add to the kernel's command line: isolcpus=managed_irq,domain,5-6 nohz_full=5-6"
        in steps["command-line"].by_hand
    )
    assert steps["isolated"].state is State.HAND


def test_kernel_install_gets_its_own_line_changed(server: Path) -> None:
    write(server, {"/etc/default/grub": None, "/etc/kernel/cmdline": "root=LABEL=r quiet\n", "/boot/vmlinuz-6.1.0": ""})
    apply_to(server)
    assert snapshot(server)["/etc/kernel/cmdline"].startswith("root=LABEL=r quiet isolcpus=managed_irq,domain,5-6 ")
    assert steps_of(server)["command-line"].state is State.BOOT


def test_large_pages_are_as_many_as_the_configuration_takes(server: Path) -> None:
    on = tree(server)
    setting = read_setting(server / "ring.yaml", on)
    plan = make_plan(on, "ring.yaml", "ring", setting, None, huge_bytes=11 * GIB + 1)
    steps = {step.name: step for step in plan.steps}
    assert steps["hugepages"].boot[-1] == "hugepages=1:12"
    assert str(steps["hugepages"].changes[0]).startswith("5633 > /sys/devices/system/node/node1/")
    refused = make_plan(on, "ring.yaml", "ring", setting, None, huge_bytes=90 * GIB).refused
    assert refused == ["the configuration takes 90 GiB, this host has 93.8 GiB"]


def test_the_server_says_what_its_configuration_takes(tmp_path: Path) -> None:
    if shutil.which("ringmaster-server", path=os.environ.get("RINGMASTER_LIBEXEC")) is None:
        pytest.skip("no ringmaster-server: make programs")
    loopback = Path(__file__).parents[2] / "configs/loopback.yaml"
    assert 72 << 20 < huge_bytes(loopback, Host(), 0) < 96 << 20
    assert huge_bytes(loopback, Host(), 2) == huge_bytes(loopback, Host(), 0) + 2 * CARD_BYTES
    assert huge_bytes(tmp_path / "nonexistent.yaml", Host(), 2) == 0


def test_a_laptop_is_asked_for_no_reboot(server: Path) -> None:
    udp = 'ports: [{name: door, kind: udp, address: "127.0.0.1:4660"}]\n'
    write(server, {"/ring.yaml": f"{udp}roles: [{{role: receive, core: 1, ports: [door]}}]\n"})
    plan = plan_of(server)
    assert not plan.reboots
    assert {step.name for step in plan.todo} == {"hugepages", "transparent-hugepages", "rmem-max", "user", "limits",
                                                 "sysctl.d", "unit", "at-boot"}  # fmt: skip


def in_folder(server: Path, *words: str, expect: int = 0) -> str:
    """What the command says of the folder."""
    done = ringmaster("setup", "--root", str(server), *words, expect=expect)
    return done.stdout if expect == 0 else done.stderr


def test_the_command_shows_applies_and_undoes(server: Path) -> None:
    config = str(server / "ring.yaml")
    write(server, {"/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n"})  # no kernel is here
    before = snapshot(server)
    shown = in_folder(server, config)
    assert "the server's: cores 5-6; Linux's: cores 0-4,7; cards 0000:81:00.0" in shown
    assert "→ isolated" in shown
    assert snapshot(server) == before
    told = json.loads(in_folder(server, config, "--json"))
    assert (told["cores"], told["linux"], told["reboot"]) == ([5, 6], [0, 1, 2, 3, 4, 7], True)
    assert {step["name"] for step in told["steps"] if step["state"] == "to do"} >= {"driver", "isolated", "hugepages"}
    applied = in_folder(server, config, "--apply")
    assert "not run in a folder: update-grub" in applied
    assert "reboot: the kernel's command line, or a card, waits for it" in applied
    assert "↻ isolated" in in_folder(server, config, "--verbose")
    undone = json.loads(in_folder(server, "--undo", "--json"))
    assert undone["failed"] == 0
    assert snapshot(server) == before
    assert "nothing to do" in in_folder(server, "--undo")


def test_the_command_knows_a_setup_that_was_killed_half_way_and_undoes_it(server: Path) -> None:
    config = str(server / "ring.yaml")
    before = snapshot(server)
    with pytest.raises(Killed):
        apply_to(server, Kernel(server, killed_at=4))
    assert snapshot(server) != before
    shown = in_folder(server, config)
    assert "half applied: it ended after" in shown
    assert "ringmaster setup --undo puts all back" in shown
    assert json.loads(in_folder(server, config, "--json"))["half_applied"]
    in_folder(server, "--undo")
    assert snapshot(server) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no CONFIG, expected the server's configuration"),
        (["--apply", "--undo"], "--apply and --undo were given"),
        (["/nonexistent.yaml"], "/nonexistent.yaml"),
    ],
)
def test_wrong_usage_is_reported(server: Path, words: list[str], message: str) -> None:
    assert message in in_folder(server, *words, expect=2)


def test_a_refused_setup_and_one_of_another_configuration_fail_with_what_to_do(server: Path) -> None:
    config, kernel = str(server / "ring.yaml"), "/boot/config-6.1.0"
    write(server, {kernel: "CONFIG_HZ=250\n"})
    assert "nothing was changed: this kernel has no vfio-pci" in in_folder(server, config, "--apply", expect=1)
    write(server, {kernel: bare()[kernel], "/proc/net/route": ROUTES + LAN})
    assert "nothing was changed: 0000:81:00.0 (eth0) has an address" in in_folder(server, config, "--apply", expect=1)
    write(server, {"/proc/net/route": ROUTES, "/other.yaml": CONFIG})
    in_folder(server, config, "--apply")
    other = str(server / "other.yaml")
    assert "ringmaster setup --undo" in in_folder(server, other, "--apply", expect=1)
    assert "not for" in in_folder(server, other, "--undo", expect=1)
    assert f"this host is set up for {config}" in in_folder(server, other)


def test_a_host_is_changed_by_root_alone(server: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    done = ringmaster("setup", str(server / "ring.yaml"), "--undo", expect=1)
    assert "changing a host needs root: sudo ringmaster setup" in done.stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here to verify units")
def test_our_units_are_units(tmp_path: Path) -> None:
    for unit in (HOST_FILES / "systemd").iterdir():
        text = re.sub(r"^(Exec\w+)=/usr/bin/\S+", r"\1=/bin/true", unit.read_text(), flags=re.MULTILINE)
        (tmp_path / unit.name).write_text(text)
    units = [str(path) for path in sorted(tmp_path.glob("*.service"))]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_server_runs_with_capabilities_that_are_named_and_no_more() -> None:
    text = (HOST_FILES / "systemd/ringmaster@.service").read_text()
    settings = dict(line.split("=", 1) for line in text.split("\n") if "=" in line and not line.startswith("#"))
    assert settings["AmbientCapabilities"] == settings["CapabilityBoundingSet"]
    assert set(settings["CapabilityBoundingSet"].split()) == {
        "CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_IPC_LOCK", "CAP_BPF", "CAP_PERFMON"}  # fmt: skip
    assert (settings["User"], settings["Type"], settings["NoNewPrivileges"]) == ("ringmaster", "notify", "yes")

# SPDX-License-Identifier: Apache-2.0
"""Hosts for `ringmaster setup`: folders in which a kernel of this test's binds cards, refuses, and is killed."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from fake_host import CPU, DPDK, NODE, PCI, Files, host, perfect, write

from ringmaster.doctor.host import Host
from ringmaster.doctor.setting import read_setting
from ringmaster.setup.journal import FOLDER, read
from ringmaster.setup.plan import Plan, make_plan
from ringmaster.setup.run import Outcome, apply
from ringmaster.setup.step import Step
from ringmaster.setup.writer import Writer

CONFIG = """
ports:
  - {name: fast, kind: pci, device: "0000:81:00.0"}
roles:
  - {role: receive, core: 5, ports: [fast]}
  - {role: transmit, core: 6}
  - {role: housekeeping, core: 0}
applications: [{name: feedback}]
"""
WANTS = "/etc/systemd/system/multi-user.target.wants"
ROUTES = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"


def bare() -> Files:
    """The doctor's perfect server before anything was done to it: eth0 is the card that the configuration names."""
    files = perfect() | {
        "/boot/config-6.1.0": "CONFIG_HZ=250\nCONFIG_NO_HZ_FULL=y\nCONFIG_VFIO_PCI=m\n",
        "/etc/default/grub": 'GRUB_CMDLINE_LINUX=""\n',
        "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\n",
        "/proc/cmdline": "quiet",
        "/proc/irq/30/effective_affinity_list": "6\n",
        "/proc/meminfo": "MemTotal: 98304000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\nHugepagesize:    2048 kB\n",
        "/proc/mounts": "hugetlbfs /dev/hugepages hugetlbfs rw,relatime,pagesize=2M 0 0\n",
        "/proc/net/route": ROUTES,
        "/proc/sys/kernel/sched_rt_runtime_us": "950000\n",
        "/proc/sys/net/core/rmem_max": "212992\n",
        "/sys/bus/pci/drivers/ice/unbind": "",
        "/sys/bus/pci/drivers/vfio-pci/unbind": "",
        "/sys/bus/pci/drivers_probe": "",
        "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "0\n",
        "/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
        "/usr/lib/systemd/system/ringmaster-host.service": "",
        "/usr/sbin/update-grub": "",
        "/ring.yaml": CONFIG,
        f"{CPU}/isolated": "\n",
        f"{CPU}/nohz_full": "\n",
        f"{CPU}/present": "0-7\n",
        f"{PCI}/{DPDK}/driver": "-> /sys/bus/pci/drivers/ice",
        f"{PCI}/{DPDK}/driver_override": "(null)\n",
        f"{PCI}/{DPDK}/net/eth0/address": "00:11:22:33:44:55\n",
        f"{PCI}/{DPDK}/vendor": "0x8086\n",
        f"{PCI}/{DPDK}/device": "0x1592\n",
        f"{PCI}/{DPDK}/iommu_group": "-> ../../../kernel/iommu_groups/12",
        f"/sys/kernel/iommu_groups/12/devices/{DPDK}": "",
    }
    for node in range(2):
        for size in (1048576, 2048):
            files[f"{NODE}/node{node}/hugepages/hugepages-{size}kB/nr_hugepages"] = "0\n"
    for cpu in range(8):
        files[f"{CPU}/cpu{cpu}/cpufreq/scaling_governor"] = "powersave\n"
        files[f"{CPU}/cpu{cpu}/cpuidle/state2/disable"] = "0\n"
    return files


class Killed(BaseException):
    """The setup was killed."""


class Kernel(Writer):
    """Writes into a folder as into a host: cards move, values are refused; killed before or after its nth write."""

    def __init__(self, root: Path, killed_at: float = float("inf"), refuses: Sequence[str] = (), pages: int = 1 << 30):
        super().__init__(is_tree=False)
        self.root, self.killed_at, self.refuses, self.pages = root, killed_at, refuses, pages
        self.commands: list[str] = []
        self.writes = 0.0

    def _step(self) -> None:
        self.writes += 0.5
        if self.writes >= self.killed_at:
            raise Killed

    def put(self, path: Path, text: str | None) -> None:
        """As on a host."""
        self._step()
        super().put(path, text)
        self._step()

    def set(self, path: Path, value: str) -> None:
        """As a kernel takes it, or not."""
        self._step()
        if any(name in str(path) for name in self.refuses):
            raise OSError(f"{path}: {value} was refused: Input/output error")
        if path.name == "nr_hugepages":
            value = str(min(int(value), self.pages))
        if path.name == "enabled":
            value = f"always [{value}] never" if value != "always" else "[always] madvise never"
        if path.name == "driver_override" and not value.strip():
            value = "(null)"
        if path.name not in ("unbind", "drivers_probe"):
            path.write_text(f"{value}\n")
        self._move(path.name, value)
        self._step()

    def _move(self, file: str, address: str) -> None:
        card = self.root / PCI.lstrip("/") / address
        if file == "unbind":
            (card / "driver").unlink()
            shutil.rmtree(card / "net", ignore_errors=True)
        elif file == "drivers_probe":
            override = (card / "driver_override").read_text().strip()
            name = "ice" if override == "(null)" else override
            (card / "driver").symlink_to(f"/sys/bus/pci/drivers/{name}")
            if name == "ice":
                write(self.root, {f"{PCI}/{address}/net/eth0/address": "00:11:22:33:44:55\n"})

    def run(self, command: Sequence[str]) -> None:
        """What the command does to a host."""
        if not command:
            return
        self._step()
        self.commands.append(" ".join(command))
        wants = self.root / WANTS.lstrip("/") / "ringmaster-host.service"
        if command[:2] == ("systemctl", "enable"):
            wants.parent.mkdir(parents=True, exist_ok=True)
            wants.unlink(missing_ok=True)
            wants.symlink_to("/usr/lib/systemd/system/ringmaster-host.service")
        elif command[:2] == ("systemctl", "disable"):
            wants.unlink(missing_ok=True)
        elif command[0] == "systemd-sysusers":
            write(self.root, {"/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nringmaster:x:999:999::/:/bin/false\n"})
        elif command[0] == "update-grub":
            drop_in = self.root / "etc/default/grub.d/90-ringmaster.cfg"
            write(self.root, {"/boot/grub/grub.cfg": drop_in.read_text() if drop_in.exists() else None})
        self._step()


def snapshot(root: Path) -> dict[str, str]:
    """All files and links but the setup's own, the user that stays, and counters."""
    own = (FOLDER, "/etc/passwd", "/proc/interrupts", "/proc/stat")
    files = {}
    for path in sorted(root.rglob("*")):
        name = f"/{path.relative_to(root)}"
        if not name.startswith(own) and (path.is_symlink() or path.is_file()):
            files[name] = str(path.readlink()) if path.is_symlink() else path.read_bytes().decode()
    return {name: text.strip() for name, text in files.items()}


def tree(root: Path) -> Host:
    """The host in that folder."""
    return host(root)


def plan_of(root: Path, config: str = "/ring.yaml", ssh: str | None = None) -> Plan:
    """For the configuration in that folder."""
    on = tree(root)
    path = on.path(config)
    return make_plan(on, str(path), path.stem, read_setting(path, on), read(on), ssh)


def apply_to(root: Path, kernel: Kernel | None = None, config: str = "/ring.yaml") -> list[Outcome]:
    """Applies it."""
    return apply(tree(root), kernel or Kernel(root), plan_of(root, config), lambda _: None)


def steps_of(root: Path) -> dict[str, Step]:
    """By name."""
    return {step.name: step for step in plan_of(root).steps}

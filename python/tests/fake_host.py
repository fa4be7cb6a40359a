# SPDX-License-Identifier: Apache-2.0
"""Hosts for the doctor: folders with files as /proc and /sys have them."""

import shutil
import struct
from collections.abc import Mapping
from pathlib import Path

from ringmaster.doctor.ethtool import Coalescing, Driver, Rings
from ringmaster.doctor.host import Host

CPU = "/sys/devices/system/cpu"
NODE = "/sys/devices/system/node"
PCI = "/sys/bus/pci/devices"
DPDK, KERNEL = "0000:81:00.0", "0000:82:00.0"
"""Addresses of the two cards: one is DPDK's, the other, eth1, the kernel's. On node 1 and on node 0."""
FLAGS = "fpu hypervisor constant_tsc nonstop_tsc pdpe1gb avx2 fma avx512f waitpkg"
Files = dict[str, str | bytes | None]


class Drivers:
    """What the drivers say."""

    def __init__(self, receive_us: int = 0, ring: int = 4096) -> None:
        self.receive_us, self.ring = receive_us, ring

    def driver(self, _interface: str) -> Driver | None:
        """Of the card of Intel that the paper has."""
        return Driver("ice", "6.1", "4.40")

    def coalescing(self, _interface: str) -> Coalescing | None:
        """As made."""
        return Coalescing(self.receive_us, adaptive=False)

    def rings(self, _interface: str) -> Rings | None:
        """As made."""
        return Rings(self.ring, 8160)

    def pause(self, _interface: str) -> tuple[bool, bool] | None:
        """None."""
        return (False, False)


def interrupts(ticks: int, packets: int = 5) -> str:
    """/proc/interrupts of eight CPUs whose timers have all fired so often, and the kernel's card."""
    head = "".join(f"{f'CPU{cpu}':>11}" for cpu in range(8))
    counts = "".join(f"{ticks:11}" for _ in range(8))
    card = f" 30: {f'{packets} ' * 8} PCI-MSIX-0000:82:00.0 0-edge eth1-TxRx-0"
    return f"     {head}\n{card}\nLOC: {counts}   Local timer interrupts\n"


def times(steal: int) -> str:
    """/proc/stat of eight CPUs: so many ticks taken by the hypervisor, of a hundred more than in the beginning."""
    return "cpu  0 0 0 0 0 0 0 0 0 0\n" + "".join(f"cpu{i} 100 0 0 {100 - steal} 0 0 0 {steal} 0 0\n" for i in range(8))


def perfect() -> Files:
    """Two sockets of four cores; 0–3 are Linux's, 4–7 isolated; nothing is to be mended for feedback."""
    files: Files = {
        "/proc/cmdline": "quiet isolcpus=managed_irq,domain,4-7 nohz_full=4-7 rcu_nocbs=4-7 iommu=pt audit=0",
        "/proc/cpuinfo": f"vendor_id : GenuineIntel\nflags\t\t: {FLAGS.replace('hypervisor ', '')}\n",
        "/proc/interrupts": interrupts(1000),
        "/proc/stat": times(0),
        "/proc/meminfo": "MemTotal: 98304000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\nHugepagesize:    1048576 kB\n",
        "/proc/mounts": "hugetlbfs /dev/hugepages hugetlbfs rw,relatime,pagesize=1024M 0 0\n",
        "/proc/self/limits": "Max locked memory         unlimited            unlimited            bytes\n",
        "/proc/self/status": "CapEff:\t000001ffffffffff\n",
        "/proc/1/comm": "systemd\n",
        "/proc/irq/30/smp_affinity_list": "0-7\n",
        "/proc/irq/30/effective_affinity_list": "3\n",
        "/boot/config-6.1.0": "CONFIG_HZ=250\nCONFIG_NO_HZ_FULL=y\n",
        "/proc/sys/kernel/osrelease": "6.1.0\n",
        "/proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC\n",
        "/proc/sys/kernel/sched_rt_runtime_us": "-1\n",
        "/proc/sys/kernel/watchdog": "1\n",
        "/proc/sys/kernel/watchdog_cpumask": "0-3\n",
        "/proc/sys/kernel/nmi_watchdog": "0\n",
        "/proc/sys/kernel/numa_balancing": "0\n",
        "/proc/sys/vm/swappiness": "1\n",
        "/proc/sys/net/core/rmem_max": "16777216\n",
        "/proc/sys/net/core/wmem_max": "16777216\n",
        "/proc/sys/net/core/netdev_max_backlog": "250000\n",
        "/dev/cpu_dma_latency": struct.pack("i", 0),
        "/sys/kernel/iommu_groups/0/type": "DMA\n",
        "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "8\n",
        "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "0\n",
        "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
        "/sys/kernel/mm/ksm/run": "0\n",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
        "/sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet\n",
        f"{CPU}/online": "0-7\n",
        f"{CPU}/isolated": "4-7\n",
        f"{CPU}/nohz_full": "4-7\n",
        f"{CPU}/vulnerabilities/spectre_v1": "Mitigation: usercopy\n",
        f"{CPU}/vulnerabilities/meltdown": "Not affected\n",
        "/sys/class/net/eth1/speed": "100000\n",
        "/sys/class/net/eth1/duplex": "full\n",
        "/sys/class/net/eth1/carrier": "1\n",
        f"{PCI}/{KERNEL}/net/eth1/mtu": "1500\n",
        f"{PCI}/{KERNEL}/msi_irqs/30": "msix\n",
    }
    for cpu in range(8):
        folder = f"{CPU}/cpu{cpu}"
        files |= {
            f"{folder}/cpufreq/scaling_governor": "performance\n",
            f"{folder}/cpuidle/state0/latency": "0\n",
            f"{folder}/cpuidle/state1/latency": "2\n",
            f"{folder}/cpuidle/state2/latency": "170\n",
            f"{folder}/cpuidle/state2/disable": "1\n",
            f"{folder}/topology/thread_siblings_list": f"{cpu}\n",
            f"{folder}/topology/physical_package_id": f"{cpu // 4}\n",
        }
    for node in range(2):
        files |= {
            f"{NODE}/node{node}/cpulist": f"{4 * node}-{4 * node + 3}\n",
            f"{NODE}/node{node}/hugepages/hugepages-1048576kB/nr_hugepages": "4\n",
        }
    for node, (address, driver) in enumerate(((KERNEL, "ice"), (DPDK, "vfio-pci"))):
        files |= {
            f"{PCI}/{address}/class": "0x020000\n",
            f"{PCI}/{address}/numa_node": f"{node}\n",
            f"{PCI}/{address}/driver": f"-> /sys/bus/pci/drivers/{driver}",
            f"{PCI}/{address}/current_link_width": "16\n",
            f"{PCI}/{address}/current_link_speed": "16.0 GT/s PCIe\n",
            f"{PCI}/{address}/max_link_width": "16\n",
            f"{PCI}/{address}/max_link_speed": "16.0 GT/s PCIe\n",
        }
    return files


def write(root: Path, files: Mapping[str, str | bytes | None]) -> None:
    """Text, bytes; "-> …" is a link; None takes the file or the folder away."""
    for name, content in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif content is not None and content.startswith("-> "):
            path.symlink_to(content.removeprefix("-> "))
        elif content is not None:
            path.write_text(content)


def host(root: Path, drivers: Drivers | None = None, ticks_hz: int = 1, steal: int = 0, packets: int = 0) -> Host:
    """The host in that folder, on which a second passes at once, with so many ticks and packets, and so much steal."""

    def pass_a_second(_seconds: float) -> float:
        if (root / "proc/interrupts").exists():
            write(root, {"/proc/interrupts": interrupts(1000 + ticks_hz, 5 + packets), "/proc/stat": later(steal)})
        return 1.0

    return Host(root, drivers or Drivers(), pass_a_second)


def later(steal: int) -> str:
    """/proc/stat a second after times(0)."""
    return "".join(f"cpu{cpu} 100 0 0 {200 - steal} 0 0 0 {steal} 0 0\n" for cpu in range(8))

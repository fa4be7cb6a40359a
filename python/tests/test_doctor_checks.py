# SPDX-License-Identifier: Apache-2.0
"""The doctor's checks, on hosts that are folders."""

import struct
from pathlib import Path

import pytest
from fake_host import CPU, DPDK, FLAGS, KERNEL, NODE, PCI, Drivers, Files, host, interrupts, perfect, write

from ringmaster.doctor.ethtool import Ethtool
from ringmaster.doctor.examine import AREAS, NAMES, examine, look_at
from ringmaster.doctor.findings import Finding, Verdict, summary
from ringmaster.doctor.host import Host
from ringmaster.doctor.memory import wanted_bytes
from ringmaster.doctor.stalls import Watched
from ringmaster.doctor.uses import Use


def look(
    root: Path, use: Use = Use.FEEDBACK, on: Host | None = None, cores: tuple[int, ...] = (4, 5, 6, 7), card: str = DPDK
) -> dict[str, Finding]:
    """Findings by name."""
    return {finding.name: finding for finding in examine(on or host(root), use, cores, (card,))}


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """The folder of a host with nothing to mend."""
    write(tmp_path, perfect())
    return tmp_path


def test_names_are_unique_and_every_check_says_why() -> None:
    assert len({*NAMES, *AREAS}) == len(NAMES) + len(AREAS)
    assert all(check.why for checks in AREAS.values() for check in checks)


@pytest.mark.parametrize("use", Use)
def test_a_perfect_server_is_good_for_every_use(server: Path, use: Use) -> None:
    found = look(server, use)
    assert set(found) == set(NAMES)
    not_good = {name: finding.verdict for name, finding in found.items() if finding.verdict is not Verdict.GOOD}
    needs_the_kernels_cards = ("card-irqs", "coalescing", "rings", "pause")
    assert not_good == {
        **dict.fromkeys((*needs_the_kernels_cards, "swappiness", "idle-latency", "watchdog-cycles"), Verdict.ABSENT),
        **dict.fromkeys(("firmware", "link"), Verdict.UNKNOWN),
    }
    assert summary(found.values()) == f"2 cannot be told, {len(NAMES) - 9} good, 7 not here"


@pytest.mark.parametrize(
    ("stalled_s", "verdict", "is_now", "should_be"),
    [
        (None, Verdict.UNKNOWN, "no server of this configuration works", ""),
        (0.0009, Verdict.GOOD, "longest stall 0.9 ms; all watchdogs wait for longer", ""),
        (0.0161, Verdict.BETTER, "longest stall 16.1 ms; ramp: 10 cycles are 1 ms", "ramp: watchdog_cycles 322"),
    ],
)
def test_a_watchdog_is_proposed_from_measured_stalls(
    server: Path, stalled_s: float | None, verdict: Verdict, is_now: str, should_be: str
) -> None:
    slow = Watched("slow", 1000, 1e-4, stalled_s)
    watched = (Watched("ramp", 10, 1e-4, stalled_s), slow)
    found = examine(host(server), Use.TRY, (4,), (DPDK,), watched=watched)
    (finding,) = (finding for finding in found if finding.name == "watchdog-cycles")
    assert finding.verdict is verdict
    assert finding.is_now.startswith(is_now)
    assert should_be in finding.should_be
    assert "slow" not in finding.should_be


def test_a_card_of_the_kernels_is_good_too(server: Path) -> None:
    found = look(server, cores=(1, 2), card="eth1")
    assert found["firmware"].is_now == "eth1: ice 6.1, firmware 4.40"
    assert found["link"].is_now == "eth1: 100 Gb/s"
    assert found["coalescing"].is_now == "eth1: 0 µs"
    assert found["rings"].is_now == "eth1: 4096 of 8160"
    assert found["pause"].is_now == "eth1: off"
    assert found["pcie"].is_now == "eth1 x16 at 16 GT/s (252 Gb/s) for 100 Gb/s"
    for name in ("firmware", "link", "coalescing", "rings", "pause", "pcie", "card-irqs", "card-node", "driver"):
        assert found[name].verdict is Verdict.GOOD


ALL_CPUS = range(8)
NO_HUGE: Files = {f"/sys/kernel/mm/hugepages/hugepages-{size}kB/nr_hugepages": "0\n" for size in (2048, 1048576)}
DEEP: Files = {f"{CPU}/cpu4/cpuidle/state2/disable": "0\n"}
WRONG, BETTER = Verdict.WRONG, Verdict.BETTER
VIRTUAL: Files = {"/proc/cpuinfo": f"flags : {FLAGS}\n"}

ILL: list[tuple[str, Files, Verdict, str, str]] = [
    ("cpus", {f"{CPU}/online": "4-5\n"}, WRONG, "2 online", "4 or more"),
    ("isolated", {f"{CPU}/isolated": "5\n"}, WRONG, "core 5", "isolcpus=managed_irq,domain,4-7"),
    ("nohz-full", {f"{CPU}/nohz_full": "(null)\n"}, WRONG, "none", "nohz_full=4-7"),
    ("nohz-full", {"/boot/config-6.1.0": "CONFIG_HZ=100\n"}, WRONG,
     "this kernel cannot stop the tick", "nohz_full=4-7"),
    ("rcu-nocbs", {"/proc/cmdline": "rcu_nocbs=4"}, WRONG, "core 4", "rcu_nocbs=4-7"),
    ("smt", {f"{CPU}/cpu{i}/topology/thread_siblings_list": f"{i % 4},{i % 4 + 4}" for i in ALL_CPUS}, WRONG,
     "4 shares with 0; 5 shares with 1; 6 shares with 2; 7 shares with 3", "nothing of Linux on the other thread"),
    ("linux-socket", {f"{CPU}/cpu0/topology/physical_package_id": "1\n"}, BETTER,
     "cores 4-7 on a socket where Linux runs", "a socket of their own"),
    ("irq-affinity", {"/proc/irq/30/effective_affinity_list": "6\n"}, BETTER,
     "1 may come to cores 4-7, none did: 30 (eth1-TxRx-0)", "all on cores 0-3"),
    ("irqbalance", {"/proc/77/comm": "irqbalance\n"}, WRONG, "running", "not running, or kept off the chosen cores"),
    ("governor", {f"{CPU}/cpu6/cpufreq/scaling_governor": "powersave\n"}, WRONG, "powersave on core 6", "performance"),
    ("c-states", DEEP, WRONG, "awake after up to 170 µs", "within 2 µs"),
    ("idle-latency", DEEP | {"/dev/cpu_dma_latency": struct.pack("i", 2_000_000_000)}, BETTER,
     "no program asks for less sleep", "at most 2 µs, or short idle states"),
    ("hugepages", NO_HUGE, WRONG, "none", "4 GiB in all"),
    ("hugepages-1g", {"/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "0\n"}, BETTER,
     "none", "pages of 1 GiB"),
    ("hugepages-nodes", {f"{NODE}/node1/hugepages/hugepages-1048576kB/nr_hugepages": "0\n"}, WRONG,
     "node1: none", "some on node1"),
    ("hugetlbfs", {"/proc/mounts": "h /h hugetlbfs rw,pagesize=2M 0 0\n"}, BETTER,
     "mounted for other page sizes", "one of the default page size"),
    ("hugetlbfs", {"/proc/mounts": "proc /proc proc rw 0 0\n"}, BETTER,
     "not mounted", "one of the default page size"),
    ("transparent-hugepages", {"/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never"}, BETTER,
     "always", "madvise"),
    ("ksm", {"/sys/kernel/mm/ksm/run": "1\n"}, BETTER, "merges equal pages", "off"),
    ("numa-balancing", {"/proc/sys/kernel/numa_balancing": "1\n"}, BETTER, "on", "off"),
    ("swap", {"/proc/meminfo": "SwapTotal: 4194304 kB\nSwapFree: 1048576 kB\n"}, BETTER, "3 GiB in use", "none in use"),
    ("swappiness", {"/proc/meminfo": "SwapTotal: 9 kB\nSwapFree: 9 kB\n", "/proc/sys/vm/swappiness": "60\n"}, BETTER,
     "60", "10 or less"),
    ("memlock", {"/proc/self/limits": "Max locked memory 8388608 8388608 bytes", "/proc/self/status": "CapEff: 0\n"},
     BETTER, "8 MiB", "unlimited, or 4 GiB"),
    ("nodes-per-socket", {f"{NODE}/node0/cpulist": "0-1\n", f"{NODE}/node2/cpulist": "2-3\n"}, BETTER,
     "3 nodes on 2 sockets", "one node a socket (NPS1)"),
    ("card-node", {f"{PCI}/{DPDK}/numa_node": "0\n"}, WRONG,
     "0000:81:00.0 on node 0; cores 4-7 on node 1", "cores out of 0-3"),
    ("iommu", {"/sys/kernel/iommu_groups/0": None}, WRONG, "off", "on"),
    ("iommu-passthrough", {"/proc/cmdline": "quiet"}, BETTER, "translates for the kernel's devices too", "iommu=pt"),
    ("driver", {f"{PCI}/{DPDK}/driver": "-> ../drivers/ice"}, WRONG, "0000:81:00.0: ice", "vfio-pci for DPDK's"),
    ("driver", {f"{PCI}/{DPDK}/driver": None}, WRONG, "0000:81:00.0: no driver", "vfio-pci for DPDK's"),
    ("pcie", {f"{PCI}/{DPDK}/current_link_width": "4\n"}, BETTER,
     "0000:81:00.0 x4 at 16 GT/s (63 Gb/s) of x16 at 16 GT/s (252 Gb/s)", "all lanes, and 15 % above the ports"),
    ("rmem-max", {"/proc/sys/net/core/rmem_max": "212992\n"}, BETTER, "212992", "16777216 or more"),
    ("wmem-max", {"/proc/sys/net/core/wmem_max": "212992\n"}, BETTER, "212992", "16777216 or more"),
    ("backlog", {"/proc/sys/net/core/netdev_max_backlog": "1000\n"}, BETTER, "1000", "250000 or more"),
    ("clock-source", {"/sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n"}, WRONG,
     "hpet", "tsc"),
    ("clock-source", {"/sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
                      "/sys/devices/system/clocksource/clocksource0/available_clocksource": "hpet\n"}, WRONG,
     "hpet, tsc is not offered", "tsc"),
    ("tsc", {"/proc/cpuinfo": "flags : tsc constant_tsc\n"}, WRONG, "without nonstop_tsc", "constant and nonstop"),
    ("kernel-version", {"/proc/sys/kernel/osrelease": "4.15.0\n"}, BETTER, "4.15.0", "5.10 or newer"),
    ("rt-throttling", {"/proc/sys/kernel/sched_rt_runtime_us": "950000\n"}, BETTER,
     "950000 µs of each second", "off (-1), for SCHED_FIFO"),
    ("watchdog", {"/proc/sys/kernel/watchdog_cpumask": "0-7\n"}, BETTER, "on", "on cores 0-3 only"),
    ("nmi-watchdog", {"/proc/sys/kernel/nmi_watchdog": "1\n"}, BETTER, "on", "off"),
    ("audit", {"/proc/cmdline": "quiet", "/proc/9/comm": "auditd\n"}, BETTER, "auditd runs", "off"),
    ("hypervisor", VIRTUAL | {"/sys/class/dmi/id/product_name": "KVM\n"}, BETTER,
     "virtual machine (KVM)", "a machine of its own"),
    ("vectors", {"/proc/cpuinfo": "flags : avx2 fma\n"}, BETTER, "AVX2", "AVX-512"),
    ("vectors", {"/proc/cpuinfo": "flags : sse2\n"}, BETTER, "neither AVX2 nor AVX-512", "AVX-512"),
    ("capabilities", {"/proc/self/status": "CapEff:\t0000000000003000\n"}, BETTER,
     "without CAP_IPC_LOCK, CAP_SYS_ADMIN", "those for ports and large pages"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "files", "verdict", "is_now", "should_be"), ILL, ids=[f"{i}-{row[0]}" for i, row in enumerate(ILL)]
)
def test_what_is_ill_is_reported_with_what_mends_it(
    server: Path, name: str, files: Files, verdict: Verdict, is_now: str, should_be: str
) -> None:
    write(server, files)
    cores = (4, 5) if name == "cpus" else (4, 5, 6, 7)
    found = look(server, cores=cores)[name]
    assert (found.verdict, found.is_now, found.should_be) == (verdict, is_now, should_be)
    assert found.mend or found.boot or found.by_hand


KERNELS: list[tuple[str, Files, Drivers, str]] = [
    ("link", {"/sys/class/net/eth1/carrier": "0\n"}, Drivers(), "eth1: no link"),
    ("link", {"/sys/class/net/eth1/duplex": "half\n"}, Drivers(), "eth1: half duplex"),
    ("coalescing", {}, Drivers(receive_us=50), "eth1: 50 µs"),
    ("rings", {}, Drivers(ring=512), "eth1: 512 of 8160"),
    ("pcie", {f"{PCI}/{KERNEL}/current_link_width": "4\n"}, Drivers(),
     "eth1 x4 at 16 GT/s (63 Gb/s) for ports of 100 Gb/s"),
    ("card-irqs", {"/proc/irq/30/effective_affinity_list": "6\n"}, Drivers(),
     "eth1 on core 6, its node has cores 0-3"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "files", "drivers", "is_now"), KERNELS, ids=[f"{row[0]}" for row in KERNELS])
def test_what_is_ill_with_a_card_of_the_kernels_is_reported(
    server: Path, name: str, files: Files, drivers: Drivers, is_now: str
) -> None:
    write(server, files)
    found = look(server, cores=(1, 2), card="eth1", on=host(server, drivers))[name]
    assert (found.verdict in (WRONG, BETTER), found.is_now) == (True, is_now)
    assert found.mend or found.by_hand


def test_who_asks_for_no_interface_is_reported_nothing() -> None:
    for name in ("nonexistent0", "", "a-name-that-is-longer-than-interfaces-have"):
        assert Ethtool().driver(name) is None
        assert Ethtool().coalescing(name) is None
        assert Ethtool().rings(name) is None
        assert Ethtool().pause(name) is None


def test_ticks_and_steal_are_counted_over_a_second(server: Path) -> None:
    found = look(server, on=host(server, ticks_hz=250, steal=3))
    assert (found["ticks"].verdict, found["ticks"].is_now) == (WRONG, "250 a second on core 4 (HZ 250)")
    write(
        server,
        {"/proc/interrupts": interrupts(1000), "/proc/stat": "".join(f"cpu{i} 0 0 0 0 0 0 0 0\n" for i in ALL_CPUS)},
    )
    found = look(server, on=host(server, steal=3))
    assert (found["steal"].verdict, found["steal"].is_now) == (WRONG, "1.0% of a core")


def test_an_interrupt_that_came_is_wrong_and_one_that_might_could_be_better(server: Path) -> None:
    write(server, {"/proc/irq/30/effective_affinity_list": "6\n"})
    found = look(server, on=host(server, packets=1))["irq-affinity"]
    assert (found.verdict, found.is_now) == (WRONG, "1 may come to cores 4-7, 1 did: 30 (eth1-TxRx-0)")
    assert found.mend[0].startswith("for irq in 30; do\n    echo 0-3 > /proc/irq/$irq/smp_affinity_list ||")


def test_cards_that_nobody_named_are_never_wrong_for_their_cable(server: Path) -> None:
    write(server, {"/sys/class/net/eth1/carrier": "0\n"})
    found = {finding.name: finding for finding in examine(host(server), Use.FEEDBACK)}
    assert (found["link"].verdict, found["link"].is_now) == (BETTER, "eth1: no link")
    assert found["driver"].verdict is Verdict.GOOD  # one of the two is DPDK's


def test_of_a_small_memory_a_quarter_is_asked_for(server: Path) -> None:
    write(server, NO_HUGE | {"/proc/meminfo": "MemTotal: 2097152 kB\n"})
    found = look(server, Use.TRY)["hugepages"]
    assert (found.should_be, found.mend) == (
        "512 MiB in all",
        ("echo 256 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",),
    )


@pytest.mark.parametrize(
    ("use", "takes_mib", "wanted_mib"),
    [(Use.TRY, 100, 100), (Use.TRY, 800, 800), (Use.INGEST, 0, 512), (Use.INGEST, 100, 512), (Use.INGEST, 800, 800)],
)
def test_a_small_memory_keeps_the_most_of_itself(server: Path, use: Use, takes_mib: int, wanted_mib: int) -> None:
    write(server, NO_HUGE | {"/proc/meminfo": "MemTotal: 2097152 kB\n"})
    assert wanted_bytes(look_at(host(server), use, huge_bytes=takes_mib << 20)) == wanted_mib << 20


def test_what_a_use_does_not_need_is_not_asked_of_it(server: Path) -> None:
    write(server, {f"{CPU}/isolated": "\n"})
    found = look(server, Use.TRY)["isolated"]
    assert (found.verdict, found.mend, found.boot, found.should_be) == (Verdict.ABSENT, (), (), "")
    assert look(server, Use.INGEST)["isolated"].verdict is BETTER


def test_of_a_host_that_says_nothing_nothing_can_be_told(tmp_path: Path) -> None:
    for use in Use:
        found = examine(host(tmp_path), use)
        assert {finding.name for finding in found if finding.verdict is not Verdict.UNKNOWN} == {"watchdog-cycles"}
        assert len(found) == len(NAMES)


def test_nobody_is_reported_to_take_all_cores_from_linux(server: Path) -> None:
    write(server, {f"{CPU}/isolated": "\n", f"{CPU}/nohz_full": "\n", "/proc/cmdline": "quiet"})
    found = look(server, cores=tuple(ALL_CPUS))
    for name in ("isolated", "nohz-full", "rcu-nocbs", "irq-affinity"):
        assert (found[name].verdict in (WRONG, BETTER), found[name].mend, found[name].boot) == (True, (), ())
        assert found[name].by_hand.startswith("Leave a core to Linux")


def test_a_core_or_card_that_the_host_has_not_is_refused(server: Path) -> None:
    with pytest.raises(ValueError, match="core 9 is not online on this host, expected cores out of 0-7"):
        examine(host(server), Use.TRY, cores=(9,))
    with pytest.raises(ValueError, match="no Ethernet card 'eth9' on the PCI bus, expected one of: 0000:81:00.0"):
        examine(host(server), Use.TRY, cards=("eth9",))


def test_the_worst_stands_first_in_each_area(server: Path) -> None:
    write(server, NO_HUGE | {"/sys/kernel/mm/ksm/run": "1\n"})
    memory = [finding.verdict for finding in look(server).values() if finding.area == "memory"]
    assert memory[:2] == [WRONG, BETTER]
    assert memory == sorted(memory, key=lambda verdict: verdict.rank)

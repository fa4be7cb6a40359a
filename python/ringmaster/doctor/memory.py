# SPDX-License-Identifier: Apache-2.0
"""Large pages, and memory that stays where it is."""

import re

from ringmaster.doctor.check import (
    FEEDBACK_HINT,
    HINT,
    SERVER_HINT,
    SERVER_NEEDS,
    SERVER_NEEDS_ALL_LIKE,
    Answer,
    Check,
    Look,
    absent,
    absent_if,
    bad,
    bad_sysctl,
    file_at_boot,
    good,
    unknown,
)
from ringmaster.doctor.host import Host
from ringmaster.doctor.rights import held

POOLS = "/sys/kernel/mm/hugepages"
MIB, GIB = 1 << 20, 1 << 30


def bytes_words(count: float) -> str:
    """For people."""
    return f"{count / GIB:.3g} GiB" if count >= GIB else f"{count / MIB:.0f} MiB"


def meminfo(host: Host, name: str) -> int | None:
    """A line of /proc/meminfo: bytes where it says kB."""
    found = re.search(rf"^{name}: *([0-9]{{1,15}})( kB)?$", host.text("/proc/meminfo") or "", re.MULTILINE)
    return None if found is None else int(found[1]) * (1024 if found[2] else 1)


def pools(host: Host, folder: str = POOLS) -> dict[int, int] | None:
    """Pages by their size in bytes; None where the kernel has none at all."""
    found: dict[int, int] = {}
    for name in host.names(folder):
        size = re.fullmatch("hugepages-([0-9]{1,12})kB", name)
        pages = host.number(f"{folder}/{name}/nr_hugepages")
        if size is not None and pages is not None:
            found[int(size[1]) * 1024] = pages
    return found or None


def wanted_bytes(look: Look) -> int:
    """What the configuration takes; where it is more, what the use wants, but of a small memory a quarter."""
    if look.use is look.use.TRY and look.huge_bytes > 0:
        return look.huge_bytes
    memory = meminfo(look.host, "MemTotal")
    quarter = None if memory is None else memory // 4 // GIB * GIB or memory // 4
    return max(look.huge_bytes, look.use.huge_bytes if quarter is None else min(look.use.huge_bytes, quarter))


def _shown(found: dict[int, int]) -> str:
    return ", ".join(f"{pages} × {bytes_words(size)}" for size, pages in sorted(found.items()) if pages) or "none"


def _boot(look: Look) -> tuple[str, ...]:
    if wanted_bytes(look) >= GIB and "pdpe1gb" in (look.host.flags or ()):
        return ("default_hugepagesz=1G", "hugepagesz=1G", f"hugepages={-(-wanted_bytes(look) // GIB)}")
    return (f"hugepages={-(-wanted_bytes(look) // (2 * MIB))}",)


def hugepages(look: Look) -> Answer:
    """Enough of them?"""
    found = pools(look.host)
    if found is None:
        return unknown()
    wanted = wanted_bytes(look)
    if sum(size * pages for size, pages in found.items()) >= wanted:
        return good(_shown(found))
    pages, size = (-(-wanted // (2 * MIB)), 2 * MIB) if 2 * MIB in found else (-(-wanted // min(found)), min(found))
    file = f"{POOLS}/hugepages-{size // 1024}kB/nr_hugepages"
    by_boot = look.use is not look.use.TRY
    return bad(
        _shown(found),
        f"{bytes_words(wanted)} in all",
        mend=(f"echo {pages} > {file}",),
        keep=() if by_boot else (file_at_boot("hugepages", file, pages),),
        boot=_boot(look) if by_boot else (),
    )


def gigantic(look: Look) -> Answer:
    """Pages of 1 GiB."""
    found = pools(look.host)
    if found is None or look.host.flags is None:
        return unknown()
    if "pdpe1gb" not in look.host.flags:
        return absent("this processor has none")
    if found.get(GIB):
        return good(f"{found[GIB]} × 1 GiB")
    return bad("none", "pages of 1 GiB", boot=_boot(look))


def by_node(look: Look) -> Answer:
    """Has each node with chosen cores its own?"""
    nodes = [name for name in look.host.names("/sys/devices/system/node") if re.fullmatch("node[0-9]{1,4}", name)]
    cpus = {node: look.host.cpus(f"/sys/devices/system/node/{node}/cpulist") or () for node in nodes}
    ours = [node for node in nodes if set(cpus[node]) & set(look.cores)]
    if not ours:
        return unknown()
    if len(nodes) == 1:
        return absent("one node")
    found = {node: pools(look.host, f"/sys/devices/system/node/{node}/hugepages") for node in ours}
    if None in found.values():
        return unknown()
    shown = "; ".join(f"{node}: {_shown(pages or {})}" for node, pages in found.items())
    empty = [node for node, pages in found.items() if not sum((pages or {}).values())]
    if not empty:
        return good(shown)
    file = "/sys/devices/system/node/{}/hugepages/hugepages-2048kB/nr_hugepages"
    pages = wanted_bytes(look) // (2 * MIB)
    return bad(
        shown,
        f"some on {' and '.join(ours)}",
        mend=tuple(f"echo {pages} > {file.format(node)}" for node in empty),
        keep=tuple(file_at_boot(f"hugepages-{node}", file.format(node), pages) for node in empty),
    )


def hugetlbfs(look: Look) -> Answer:
    """Mounted, with the default page size?"""
    mounts = look.host.text("/proc/mounts")
    if mounts is None:
        return unknown()
    found = [words for line in mounts.split("\n") if len(words := line.split()) >= 4 and words[2] == "hugetlbfs"]
    default = meminfo(look.host, "Hugepagesize")
    for _, where, _, options, *_ in found:
        size = re.search(r"(?:^|,)pagesize=([0-9]{1,6})M", options)
        if size is None or default is None or int(size[1]) * MIB == default:
            return good(f"{where}")
    line = "hugetlbfs /dev/hugepages hugetlbfs defaults 0 0"
    return bad(
        "not mounted" if not found else "mounted for other page sizes",
        "one of the default page size",
        mend=("mkdir -p /dev/hugepages", "mountpoint -q /dev/hugepages || mount -t hugetlbfs hugetlbfs /dev/hugepages"),
        keep=(f"grep -qxF '{line}' /etc/fstab || echo '{line}' >> /etc/fstab",),
    )


def transparent(look: Look) -> Answer:
    """Only for programs that ask."""
    file = "/sys/kernel/mm/transparent_hugepage/enabled"
    found = re.search(r"\[(\w+)\]", look.host.text(file) or "")
    if found is None:
        return unknown()
    if found[1] == "madvise":
        return good("madvise")
    return bad(
        found[1],
        "madvise",
        mend=(f"echo madvise > {file}",),
        keep=(file_at_boot("transparent-hugepages", file, "madvise"),),
    )


def ksm(look: Look) -> Answer:
    """Merging of equal pages."""
    file = "/sys/kernel/mm/ksm/run"
    now = look.host.number(file)
    if now is None:
        return unknown()
    if now != 1:
        return good("off")
    return bad("merges equal pages", "off", mend=(f"echo 0 > {file}",), keep=(file_at_boot("ksm", file, 0),))


def numa_balancing(look: Look) -> Answer:
    """Pages that move to the node that uses them."""
    now = look.host.number("/proc/sys/kernel/numa_balancing")
    if now is None:
        return absent_if(look, "/proc/sys/kernel", "this kernel has none")
    if now == 0:
        return good("off")
    return bad_sysctl("on", "off", "kernel.numa_balancing", 0)


def swap(look: Look) -> Answer:
    """In use?"""
    total, free = meminfo(look.host, "SwapTotal"), meminfo(look.host, "SwapFree")
    if total is None or free is None:
        return unknown()
    used = total - free
    if used <= 0:
        return good("none" if total == 0 else "none in use")
    hand = "swapoff -a, when there is memory for all; take the swap out of /etc/fstab."
    return bad(f"{bytes_words(used)} in use", "none in use", by_hand=hand)


def swappiness(look: Look) -> Answer:
    """How soon the kernel swaps."""
    now, total = look.host.number("/proc/sys/vm/swappiness"), meminfo(look.host, "SwapTotal")
    if now is None or total is None:
        return unknown()
    if total == 0:
        return absent("no swap")
    return good(str(now)) if now <= 10 else bad_sysctl(str(now), "10 or less", "vm.swappiness", 1)


def locked(look: Look) -> Answer:
    """Memory that a process may lock."""
    found = re.search(
        r"^Max locked memory +(unlimited|[0-9]{1,19})", look.host.text("/proc/self/limits") or "", re.MULTILINE
    )
    if found is None:
        return unknown()
    wanted = wanted_bytes(look)
    if "CAP_IPC_LOCK" in (held(look.host) or ()):
        return good("no limit, by CAP_IPC_LOCK")
    if found[1] == "unlimited" or int(found[1]) >= wanted:
        return good(found[1] if found[1] == "unlimited" else bytes_words(int(found[1])))
    return bad(
        bytes_words(int(found[1])),
        f"unlimited, or {bytes_words(wanted)}",
        keep=("echo '* - memlock unlimited' > /etc/security/limits.d/90-ringmaster.conf",),
        by_hand="In a unit of systemd: LimitMEMLOCK=infinity. Root has no limit.",
    )


WHY_LARGE = (
    "With pages of 4 KiB the processor looks addresses up all the time: large pages have few entries. DPDK lays its "
    "packet buffers and the server its streams on them, and both do without where there are none."
)
CHECKS = (
    Check("hugepages", hugepages, SERVER_NEEDS_ALL_LIKE, WHY_LARGE, "camera paper, IV.A: four pages of 1 GiB"),
    Check(
        "hugepages-1g",
        gigantic,
        SERVER_HINT,
        "One entry for 1 GiB: all streams and buffers fit the processor's table of pages.",
        "camera paper, IV.A: four pages of 1 GiB",
    ),
    Check(
        "hugepages-nodes",
        by_node,
        SERVER_NEEDS,
        "A card should write into memory of the socket whose cores read it.",
        "Elettra 2.0 paper, Test Facility: 22 GB/s between sockets, 60 within a die",
    ),
    Check(
        "hugetlbfs",
        hugetlbfs,
        HINT,
        "Processes share streams by files in a hugetlbfs; without one these lie in /dev/shm, on small pages.",
        "camera paper, IV.A",
    ),
    Check(
        "transparent-hugepages",
        transparent,
        HINT,
        "With `always` the kernel moves memory about to join pages, and a core waits; with `never` the server's tables "
        "stay on small pages, for which it asks by madvise.",
    ),
    Check("ksm", ksm, SERVER_HINT, "It write-protects pages behind a program's back: the next write waits."),
    Check(
        "numa-balancing",
        numa_balancing,
        SERVER_HINT,
        "It unmaps pages now and then to see who uses them: each look costs the polling core a page fault.",
    ),
    Check("swap", swap, HINT, "A page that must come back from a disk takes milliseconds."),
    Check("swappiness", swappiness, FEEDBACK_HINT, "A low value keeps programs' pages in memory."),
    Check("memlock", locked, HINT, "Cards write by DMA into memory that must stay: vfio counts it as locked."),
)

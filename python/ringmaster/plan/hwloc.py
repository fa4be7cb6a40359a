# SPDX-License-Identifier: Apache-2.0
"""A machine as hwloc describes it: this host now, or the XML of another (`lstopo --of xml machine.xml` there)."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from ringmaster.plan.topology import Core, Device, Machine

ETHERNET = "0200"
BYTES_PER_S = 1e9
"""Of hwloc's pci_link_speed, which counts GB/s."""
PROGRAMS = ("lstopo-no-graphics", "lstopo")
TIMEOUT_S = 30.0
CACHES = ("L3Cache", "L2Cache", "L1Cache")


def this_host() -> Machine:
    """By hwloc's lstopo. Raises ValueError where that is not installed, or says nothing."""
    program = next((found for name in PROGRAMS if (found := which(name))), None)
    if program is None:
        raise ValueError(
            "the topology of this host is not known: hwloc's lstopo is not installed, expected the Debian package "
            "hwloc-nox; or give --machine FILE, of this machine or another"
        )
    command = [program, "--of", "xml", "--whole-io", "--disallowed", "-"]
    try:
        said = subprocess.run(command, capture_output=True, check=True, timeout=TIMEOUT_S).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise ValueError(f"{' '.join(command)}: {error}") from error
    return parse(said.decode(errors="replace"), "this host")


def read(path: Path) -> Machine:
    """An XML file. Raises OSError, or ValueError with what is wrong."""
    return parse(path.read_text(errors="replace"), str(path))


def parse(text: str, name: str) -> Machine:
    """From the XML's text; ``name`` is what errors call it. Raises ValueError."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"{name}: {error}; expected hwloc's XML (lstopo --of xml FILE)") from None
    top = root.find("object") if root.tag == "topology" else None
    if top is None or top.get("type") != "Machine":
        raise ValueError(f"{name}: found no topology of a machine, expected hwloc's XML (lstopo --of xml FILE)")
    cores = _cores(top)
    if not cores:
        raise ValueError(f"{name}: found no processing unit, expected objects of type PU in hwloc's XML")
    devices = tuple(_devices(top, cores))
    gaps = []
    if any(core.node is None for core in cores):
        gaps.append("the topology has no NUMA nodes: memory is taken as one for all cores of a socket")
    if not devices:
        gaps.append("the topology has no Ethernet card on PCI: any core may be far from one (give --cards FILE)")
    here = {thread for core in cores for thread in core.threads}
    return Machine(
        name=_info(top, "DMIProductName") or _info(top, "HostName") or name,
        cores=cores,
        devices=devices,
        offline=frozenset(_cpuset(top.get("complete_cpuset")) - here),
        cache_bytes=_cache_bytes(top),
        processor=next((model for one, _ in _walk(top) if (model := _info(one, "CPUModel"))), ""),
        gaps=tuple(gaps),
    )


def _info(element: Element, name: str) -> str:
    return next((info.get("value", "") for info in element.findall("info") if info.get("name") == name), "")


def _cpuset(text: str | None) -> set[int]:
    """A bit mask as hwloc writes it: words of 32 bits, the highest first, an empty one being 0."""
    value = 0
    for word in (text or "").split(","):
        value = value << 32 | (int(word, 16) if word.startswith("0x") else 0)
    return {i for i in range(value.bit_length()) if value >> i & 1}


def _walk(element: Element, above: tuple[Element, ...] = ()) -> Iterator[tuple[Element, tuple[Element, ...]]]:
    """Each object with those that it is in, the outermost first."""
    yield element, above
    for child in element.findall("object"):
        yield from _walk(child, (*above, element))


def _nodes(top: Element) -> dict[int, int]:
    """NUMA node of each CPU."""
    found = [one for one, _ in _walk(top) if one.get("type") == "NUMANode"]
    return {cpu: int(one.get("os_index", "0")) for one in found for cpu in _cpuset(one.get("cpuset"))}


def _cores(top: Element) -> tuple[Core, ...]:
    nodes, allowed = _nodes(top), _cpuset(top.get("cpuset"))
    chiplets: dict[str, int] = {}
    threads: dict[str, list[int]] = {}
    places: dict[str, tuple[int, int]] = {}
    for pu, above in _walk(top):
        if pu.get("type") != "PU":
            continue
        cpu = int(pu.get("os_index", "-1"))
        if allowed and cpu not in allowed:
            continue
        by_type = {one.get("type", ""): one for one in above}
        core = _identity(by_type.get("Core", pu))
        package = by_type.get("Package")
        socket = int(package.get("os_index", "0")) if package is not None else 0
        cache = next((by_type[name] for name in CACHES[:1] if name in by_type), package)
        chiplet = chiplets.setdefault(_identity(cache) if cache is not None else "", len(chiplets))
        threads.setdefault(core, []).append(cpu)
        places[core] = (socket, chiplet)
    made = []
    for core, cpus in threads.items():
        first, *others = sorted(cpus)
        made.append(Core(first, *places[core], nodes.get(first), tuple(others)))
    return tuple(sorted(made, key=lambda one: one.number))


def _identity(element: Element) -> str:
    return f"{element.get('type')} {element.get('gp_index') or element.get('cpuset')}"


def _cache_bytes(top: Element) -> int:
    sizes = {one.get("type"): int(one.get("cache_size", "0")) for one, _ in _walk(top)}
    return next((sizes[name] for name in CACHES if sizes.get(name)), 32 << 20)


def _devices(top: Element, cores: tuple[Core, ...]) -> Iterator[Device]:
    for one, above in _walk(top):
        if one.get("type") != "PCIDev" or not one.get("pci_type", "").startswith(ETHERNET):
            continue
        near = next((mask for each in reversed(above) if (mask := _cpuset(each.get("cpuset")))), set())
        sockets = {core.socket for core in cores if core.number in near}
        chiplets = {core.chiplet for core in cores if core.number in near}
        speed = float(one.get("pci_link_speed", "0"))
        interface = next(
            (child.get("name", "") for child in one.findall("object") if child.get("osdev_type") == "2"), ""
        )
        yield Device(
            address=one.get("pci_busid", ""),
            socket=sockets.pop() if len(sockets) == 1 else None,
            chiplet=chiplets.pop() if len(chiplets) == 1 else None,
            interface=interface,
            slot_bytes_per_s=speed * BYTES_PER_S or None,
        )

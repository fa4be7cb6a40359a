# SPDX-License-Identifier: Apache-2.0
"""A virtual machine with an IOMMU: its cards, its console, and what QEMU is told while it runs.

It is emulated in software, so it shows what is right and never how fast. Its root is the host's, read-only: it runs the
programs of this checkout.
"""

import json
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self

import pytest
from initramfs import initramfs, kernel

from ringmaster.bench.gateway_peers import cpu_s

QEMU = "qemu-system-x86_64"
PROCESSOR = "max,-erms,-fsrm"
"""All that QEMU emulates, but not stores of strings that are said to be fast: Linux would clear pages byte by byte."""
TIMEOUT_S = 300.0
"""For any word of the guest: an emulated core on a host that takes its own cores away now and then."""
BOOT_CPU_S = 120.0
"""A boot takes 8 s of CPU: a guest that had so many and has not booted will not, and is no matter of a busy host."""
PAGES = 128
"""How many large pages of 2 MiB a guest keeps of its memory."""
READY = "guest: ready"
END = "--- end of command"


@dataclass(frozen=True)
class Card:
    """A network card of the guest, at a tap of a namespace."""

    name: str
    model: str
    """QEMU's: virtio-net-pci, e1000e, vmxnet3."""
    number: int
    """Its place on the bus, and the end of its MAC address."""
    queues: int = 1
    options: str = ""

    @property
    def mac(self) -> str:
        """Of its own."""
        return f"02:52:4d:00:01:{self.number:02x}"

    @property
    def address(self) -> str:
        """As the guest's kernel counts buses: each root port has one, in the order of their places."""
        return f"0000:{self.number:02x}:00.0"

    def make_tap(self) -> str:
        """The line of shell that makes its cable's end."""
        several = " multi_queue" if self.queues > 1 else ""
        return f"ip tuntap add dev {self.name} mode tap{several} && ip link set {self.name} up txqueuelen 100000"

    def words(self) -> list[str]:
        """What QEMU is told."""
        queues = f",queues={self.queues}" if self.queues > 1 else ""
        port = f"pcie-root-port,id=port-{self.name},chassis={self.number},addr={self.number + 1:#x}"
        device = f"{self.model},id={self.name},bus=port-{self.name},netdev=net-{self.name},mac={self.mac}"
        tap = f"tap,id=net-{self.name},ifname={self.name},script=no,downscript=no{queues}"
        return ["-netdev", tap, "-device", port, "-device", device + self.options]


def virtio(name: str, number: int, queues: int) -> Card:
    """A card of several queues. The tap spreads what comes over them.

    Not QEMU (rss=on): where it moves a datagram to a queue that is full, nothing wakes it when there is room again.
    """
    several = f",mq=on,vectors={2 * queues + 2}" if queues > 1 else ""
    return Card(name, "virtio-net-pci", number, queues, several + ",iommu_platform=on,disable-legacy=on")


def program() -> str:
    """QEMU; skips where it is not."""
    found = shutil.which(QEMU)
    if found is None:
        pytest.skip(f"NO {QEMU} HERE, so no network card is tested; `make test-dependencies` installs it")
    return found


@dataclass
class Machine:
    """What a guest is made of."""

    cards: Sequence[Card] = ()
    enter: Sequence[str] = ()
    """Words that bring QEMU into the namespace of the taps."""
    iommu: bool = True
    memory_mib: int = 1024
    pages: str = f"hugepages={PAGES}"
    """What the kernel is told of large pages."""

    def command(self, folder: Path) -> list[str]:
        """QEMU's command line; its sockets and its log are in that folder."""
        words = [*self.enter, "setpriv", "--pdeathsig", "KILL", program()]
        words += ["-accel", "tcg", "-machine", "q35,kernel-irqchip=split", "-cpu", PROCESSOR, "-smp", "2"]
        words += ["-m", f"{self.memory_mib}M", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
        words += self._debian()
        words += ["-serial", f"file:{folder}/log", "-serial", f"unix:{folder}/console,server=on,wait=off"]
        words += ["-qmp", f"unix:{folder}/qmp,server=on,wait=off"]
        words += ["-device", "intel-iommu,intremap=on,caching-mode=on"] if self.iommu else []
        return words + [word for card in self.cards for word in card.words()]

    def _debian(self) -> list[str]:
        # Linux tests whether its timer ticks, and panics where the host has paused the emulated core meanwhile.
        told = f"console=ttyS0 quiet panic=-1 no_timer_check mitigations=off intel_iommu=on iommu=pt {self.pages}"
        share = "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap"
        return [
            *("-kernel", str(kernel()), "-initrd", str(initramfs()), "-append", told),
            *("-fsdev", share, "-device", "virtio-9p-pci,fsdev=host,mount_tag=host,addr=0x1e"),
        ]


class Guest:
    """A guest that runs; a context manager, which ends it."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.folder = folder
        command = machine.command(folder)  # first: it skips the test where something is absent
        self._left = ExitStack()
        output = self._left.enter_context((folder / "qemu").open("wb"))
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        self._left.callback(self.process.wait)
        self._left.callback(self.process.kill)

    def boot(self) -> None:
        """Returns when the guest's shell waits; skips where this host is too busy to bring it there."""
        self._console = self._left.enter_context(self._connected("console").makefile("rwb", buffering=0))
        if not self._waited(lambda: READY in self.log()):
            used_s = cpu_s(self.process.pid)
            assert used_s < BOOT_CPU_S, f"the guest has had {used_s:.0f} s of CPU and has not booted: {self._words()}"
            pytest.skip(f"THE GUEST HAS NOT BOOTED in {TIMEOUT_S:.0f} s, so no network card is tested: {self._words()}")

    def _connected(self, name: str) -> socket.socket:
        link = self._left.enter_context(socket.socket(socket.AF_UNIX))
        link.settimeout(TIMEOUT_S)
        assert self._waited((self.folder / name).exists), f"QEMU makes no socket {name}: {self._words()}"
        link.connect(str(self.folder / name))
        return link

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        self._left.close()

    def log(self) -> str:
        """What the kernel and the guest's first process have written."""
        with suppress(FileNotFoundError):
            return (self.folder / "log").read_text(errors="replace")
        return ""

    def _waited(self, there: Callable[[], bool]) -> bool:
        """Waits until ``there()`` is true, as long as QEMU runs; False where that takes too long."""
        give_up = monotonic() + TIMEOUT_S
        while not there():
            assert self.process.poll() is None, f"QEMU has ended: {self._words()}"
            if monotonic() > give_up:
                return False
            sleep(0.05)
        return True

    def _words(self) -> str:
        return (self.folder / "qemu").read_text(errors="replace")[-2000:] + self.log()[-4000:]

    def run(self, line: str, expect: int | None = 0) -> str:
        """Runs a line of shell on the console; returns what it printed. ``expect=None``: it may fail."""
        self._console.write(f'{{ {line}\n}} 2>&1 </dev/null; s=$?; echo; echo "{END} $s"\n'.encode())
        lines: list[str] = []
        while not lines or not lines[-1].startswith(END):
            try:
                raw = self._console.readline()
            except TimeoutError:
                raw = None
            assert raw, f"the guest does not answer to: {line}: {lines}: {self._words()}"
            lines.append(raw.decode(errors="replace").rstrip("\r\n"))
        status, output = int(lines[-1].split()[-1]), "\n".join(lines[:-1]).strip("\n")
        assert expect is None or status == expect, f"{line}: exit status {status}: {output}"
        return output

    def bind(self, card: Card, driver: str = "vfio-pci") -> None:
        """Gives a card to a driver for programs."""
        device = f"/sys/bus/pci/devices/{card.address}"
        self.run(
            f"if [ -e {device}/driver ]; then echo {card.address} > {device}/driver/unbind; fi\n"
            f"echo {driver} > {device}/driver_override; echo {card.address} > /sys/bus/pci/drivers_probe\n"
            f"test $(basename $(readlink {device}/driver)) = {driver}"
        )

    def unplug(self, card: Card) -> None:
        """Takes a card out. Returns when the guest has let go of it, as the kernel of a guest does when all have."""
        out = {"execute": "device_del", "arguments": {"id": card.name}}
        said: dict[str, Any] = {}
        with self._connected("qmp") as link, link.makefile("rw") as qemu:
            qemu.write(json.dumps({"execute": "qmp_capabilities"}) + json.dumps(out))
            qemu.flush()
            while said.get("event") != "DEVICE_DELETED":
                try:
                    said = json.loads(qemu.readline())
                except TimeoutError:
                    said = {"error": f"the guest has not let go of {card.name}: {self._words()}"}
                assert "error" not in said, said

    def write(self, file: str, text: str) -> None:
        """A file in the guest's memory."""
        self.run(f"cat > {file} <<'{END}'\n{text}\n{END}")


@contextmanager
def guest(machine: Machine) -> Iterator[Guest]:
    """A guest that has booted; it ends with the block."""
    with tempfile.TemporaryDirectory(prefix="ringmaster-guest-") as folder, Guest(machine, Path(folder)) as running:
        running.boot()
        yield running

# SPDX-License-Identifier: Apache-2.0
"""A host, as its /proc and /sys tell it. Reads and never writes; what cannot be read, or is no sense, is None."""

import gzip
import re
import zlib
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from time import monotonic, sleep
from typing import Protocol

from ringmaster.doctor import cpu_list
from ringmaster.doctor.ethtool import Coalescing, Driver, Ethtool, Rings

LONGEST_FILE = 1 << 24
"""Bytes; /proc/interrupts of 512 CPUs has a few million."""


class AsksDrivers(Protocol):
    """As ethtool.Ethtool does."""

    def driver(self, _interface: str) -> Driver | None:
        """Its names and versions."""

    def coalescing(self, _interface: str) -> Coalescing | None:
        """Its interrupts."""

    def rings(self, _interface: str) -> Rings | None:
        """Its descriptors."""

    def pause(self, _interface: str) -> tuple[bool, bool] | None:
        """Its pause frames, obeyed and sent."""


def wait(seconds: float) -> float:
    """Sleeps; returns the seconds that it took."""
    begin = monotonic()
    sleep(seconds)
    return monotonic() - begin


class Host:
    """Under a root: "/" is this host, a folder with files of the same names is another, as tests make one."""

    def __init__(
        self, root: Path | str = "/", drivers: AsksDrivers | None = None, wait: Callable[[float], float] = wait
    ) -> None:
        self._root = Path(root)
        self.drivers: AsksDrivers = drivers or Ethtool()
        self.wait = wait

    def path(self, name: str) -> Path:
        """Where a file of the host is, of which ``name`` is the absolute path."""
        return self._root / name.lstrip("/")

    def raw(self, name: str) -> bytes | None:
        """All of a file."""
        try:
            with self.path(name).open("rb", buffering=0) as file:
                return b"".join(iter(lambda: file.read(1 << 16), b""))[:LONGEST_FILE]
        except (OSError, ValueError):
            return None

    def text(self, name: str) -> str | None:
        """A file's text, without the white space around it."""
        raw = self.raw(name)
        return None if raw is None else raw.decode(errors="replace").strip()

    def number(self, name: str) -> int | None:
        """A file with one whole number."""
        text = self.text(name)
        return int(text) if text is not None and re.fullmatch(r"-?[0-9]{1,19}", text) else None

    def cpus(self, name: str) -> tuple[int, ...] | None:
        """A file with a list of CPUs."""
        text = self.text(name)
        return None if text is None else cpu_list.parse(text)

    def names(self, folder: str) -> list[str]:
        """What lies in a folder, in the order of the numbers in the names; nothing where it is none."""
        try:
            found = [path.name for path in self.path(folder).iterdir() if path.name.isprintable()]
        except (OSError, ValueError):
            return []
        return sorted(found, key=lambda name: re.sub(r"[0-9]+", lambda digits: digits[0].zfill(12), name))

    def target(self, link: str) -> str | None:
        """The last name of where a link leads to."""
        try:
            return self.path(link).readlink().name
        except (OSError, ValueError):
            return None

    def exists(self, name: str) -> bool:
        """Whether there is such a file or folder."""
        try:
            return self.path(name).exists()
        except (OSError, ValueError):
            return False

    @cached_property
    def arguments(self) -> dict[str, str] | None:
        """The kernel's command line: the last value of each argument, "" where it has none."""
        text = self.text("/proc/cmdline")
        if text is None:
            return None
        return {name: value for name, _, value in (word.partition("=") for word in text.split())}

    @cached_property
    def flags(self) -> frozenset[str] | None:
        """What the processor can, as /proc/cpuinfo names it; None where it has no such line."""
        found = re.search(r"^flags[ \t]*:(.*)$", self.text("/proc/cpuinfo") or "", re.MULTILINE)
        return frozenset(found[1].split()) if found else None

    @cached_property
    def kernel_options(self) -> dict[str, str] | None:
        """How the kernel was built: "HZ" is "250"; None where it does not say."""
        release = re.match(r"[\w.+~-]+", self.text("/proc/sys/kernel/osrelease") or "")
        packed = self.raw("/proc/config.gz")
        try:
            text = gzip.decompress(packed).decode(errors="replace") if packed is not None else None
        except (OSError, EOFError, zlib.error):
            text = None
        if text is None and release is not None:
            text = self.text(f"/boot/config-{release[0]}")
        return None if text is None else dict(re.findall(r"^CONFIG_(\w+)=(.*)$", text, re.MULTILINE))

    @cached_property
    def online(self) -> tuple[int, ...]:
        """CPUs that run; none where the kernel does not say."""
        return self.cpus("/sys/devices/system/cpu/online") or ()

    @cached_property
    def programs(self) -> frozenset[str]:
        """Names of the processes that run."""
        pids = (name for name in self.names("/proc") if name.isdecimal())
        return frozenset(name for pid in pids if (name := self.text(f"/proc/{pid}/comm")))

    @cached_property
    def virtual(self) -> bool | None:
        """Whether a hypervisor is below."""
        return None if self.flags is None else "hypervisor" in self.flags

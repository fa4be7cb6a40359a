# SPDX-License-Identifier: Apache-2.0
"""Changes of a host, each of which can be undone: plain data, as the journal keeps them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ringmaster.doctor import cpu_list
from ringmaster.doctor.cards import DEVICES
from ringmaster.doctor.host import Host
from ringmaster.setup.writer import Writer

DRIVERS = "/sys/bus/pci/drivers"


class Later(Exception):
    """A change that only the next boot can make."""


class Refused(Exception):
    """A change that the kernel need not take, and did not."""


class Kept(Exception):
    """A change that was not undone, for another hand has changed the same thing since."""


@dataclass(frozen=True)
class Put:
    """A file of ours, or a text of ours in one of others."""

    path: str
    after: str
    before: str | None = None
    """None: there was no such file."""
    each_boot: bool = False

    def prepare(self, host: Host) -> "Put":
        """Notes what stands there now."""
        raw = host.raw(self.path)
        return replace(self, before=None if raw is None else raw.decode(errors="surrogateescape"))

    def is_done(self, host: Host) -> bool:
        """Whether it is as it shall be."""
        raw = host.raw(self.path)
        return raw is not None and raw.decode(errors="surrogateescape") == self.after

    def apply(self, host: Host, writer: Writer) -> None:
        """Writes the file whole."""
        writer.put(host.path(self.path), self.after)

    def undo(self, host: Host, writer: Writer) -> None:
        """Puts back what was there. Raises Kept."""
        now = self.prepare(host).before
        if now not in (self.after, self.before):
            raise Kept(f"{self.path} was changed since")
        writer.put(host.path(self.path), self.before)

    def __str__(self) -> str:
        return f"write {self.path}"


@dataclass(frozen=True)
class Set:
    """A value in a file of the kernel's."""

    path: str
    after: str
    before: str | None = None
    each_boot: bool = True
    may_refuse: bool = False
    """An interrupt whose driver decides, for one."""

    def prepare(self, host: Host) -> "Set":
        """Notes the value."""
        return replace(self, before=value_of(host.text(self.path)))

    def is_done(self, host: Host) -> bool:
        """Whether the kernel has the value."""
        return same(value_of(host.text(self.path)), self.after)

    def apply(self, host: Host, writer: Writer) -> None:
        """Writes the value, and reads what the kernel made of it. Raises OSError where that is another, or Refused."""
        try:
            writer.set(host.path(self.path), self.after)
        except OSError as error:
            raise (Refused(str(error)) if self.may_refuse else error) from None
        now = value_of(host.text(self.path))
        if not same(now, self.after):
            hint = "; memory is in pieces, or full: a reboot gives them" if "hugepages" in self.path else ""
            raise OSError(f"asked for {self.after}, the kernel gave {now}{hint}")

    def undo(self, host: Host, writer: Writer) -> None:
        """Writes the value that was there. Raises Kept."""
        now = value_of(host.text(self.path))
        if now is None or self.before is None or same(now, self.before):
            return
        partly = "hugepages" in self.path  # the kernel may have given fewer
        if not same(now, self.after) and not partly:
            raise Kept(f"{self.path} is {now}, was set to {self.after}")
        writer.set(host.path(self.path), self.before)

    def __str__(self) -> str:
        return f"{self.after} > {self.path}"


@dataclass(frozen=True)
class Bind:
    """A card, taken from its kernel driver and given to vfio-pci."""

    address: str
    before: str = ""
    """The kernel's driver; "" where it had none."""
    identity: str = ""
    """Vendor, device and MAC addresses: at each boot the card at this address must be the same one."""
    each_boot: bool = True
    after: str = "vfio-pci"

    def prepare(self, host: Host) -> "Bind":
        """Notes the driver, and which card it is."""
        return replace(self, before=driver(host, self.address) or "", identity=identity(host, self.address))

    def is_done(self, host: Host) -> bool:
        """Whether vfio has it."""
        return driver(host, self.address) == self.after

    def is_possible(self, host: Host) -> bool:
        """Whether the IOMMU is on, without which vfio takes no card."""
        return host.target(f"{DEVICES}/{self.address}/iommu_group") is not None

    def is_same_card(self, host: Host) -> bool:
        """Whether the card at this address is the one that was meant."""
        now, was = identity(host, self.address).split(), self.identity.split()
        return now[:2] == was[:2] and (len(now) < 3 or len(was) < 3 or now == was)

    def apply(self, host: Host, writer: Writer) -> None:
        """Binds it. Raises Later where there is no IOMMU yet, OSError where the kernel does not bind it."""
        if writer.is_tree:
            raise Later(f"{self.address}: a folder has no driver to bind it; the boot of what it becomes does")
        if not self.is_possible(host):
            raise Later(f"{self.address}: the IOMMU is off until the next boot")
        self._move(host, writer, self.after, self.after)
        if not self.is_done(host):
            raise OSError(f"{self.address}: vfio-pci did not take it; `dmesg | grep vfio` says why")

    def undo(self, host: Host, writer: Writer) -> None:
        """Gives it back to the kernel's driver. Raises Kept."""
        now = driver(host, self.address)
        if writer.is_tree or not host.exists(f"{DEVICES}/{self.address}"):
            return
        if now not in (self.after, self.before or None, None):
            raise Kept(f"{self.address} has another driver, {now}")
        self._move(host, writer, "\n", self.before or None)

    def _move(self, host: Host, writer: Writer, override: str, to: str | None) -> None:
        writer.set(host.path(f"{DEVICES}/{self.address}/driver_override"), override)
        now = driver(host, self.address)
        if now is not None and now != to:
            writer.set(host.path(f"{DRIVERS}/{now}/unbind"), self.address)
        if now != to:
            writer.set(host.path("/sys/bus/pci/drivers_probe"), self.address)

    def __str__(self) -> str:
        return f"{self.address} to {self.after}"


@dataclass(frozen=True)
class Run:
    """A command, and the one that undoes it; either may be none."""

    after: tuple[str, ...]
    before: tuple[str, ...] = ()
    each_boot: bool = False

    def prepare(self, _host: Host) -> "Run":
        """Nothing is known before."""
        return self

    def is_done(self, _host: Host) -> bool:
        """It is run with the step that it belongs to."""
        return False

    def apply(self, _host: Host, writer: Writer) -> None:
        """Raises OSError where the command fails."""
        writer.run(self.after)

    def undo(self, _host: Host, writer: Writer) -> None:
        """Raises OSError where the command fails."""
        writer.run(self.before)

    def __str__(self) -> str:
        return " ".join(self.after or self.before)


Change = Put | Set | Bind | Run
KINDS: Mapping[str, Callable[..., Change]] = {"put": Put, "set": Set, "bind": Bind, "run": Run}


def as_json(change: Change) -> dict[str, Any]:
    """Plain data."""
    return {"kind": type(change).__name__.lower(), **asdict(change)}


def from_json(read: Mapping[str, Any]) -> Change:
    """The change again. Raises ValueError for what is none."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in read.items()}
    try:
        return KINDS[str(fields.pop("kind"))](**fields)
    except (KeyError, TypeError) as error:
        raise ValueError(f"no change: {error}") from None


def driver(host: Host, address: str) -> str | None:
    """That a card is bound to."""
    return host.target(f"{DEVICES}/{address}/driver")


def identity(host: Host, address: str) -> str:
    """Vendor, device, and MAC addresses while the kernel has the card."""
    folder = f"{DEVICES}/{address}"
    macs = [host.text(f"{folder}/net/{name}/address") or "" for name in host.names(f"{folder}/net")]
    return " ".join([host.text(f"{folder}/vendor") or "", host.text(f"{folder}/device") or "", *macs]).strip()


def value_of(text: str | None) -> str | None:
    """Of "always [madvise] never" the chosen word."""
    if text is None:
        return None
    chosen = re.search(r"\[(\S+)\]", text)
    return chosen[1] if chosen else text


def same(now: str | None, wanted: str) -> bool:
    """Equal as text, or as lists of CPUs."""
    listed = cpu_list.parse(wanted)
    return now is not None and (now == wanted or (listed is not None and cpu_list.parse(now) == listed))

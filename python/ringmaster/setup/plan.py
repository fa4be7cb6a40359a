# SPDX-License-Identifier: Apache-2.0
"""What a host needs for a configuration, what it has, and the steps between."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ringmaster.doctor import cpu_list
from ringmaster.doctor.check import Look
from ringmaster.doctor.examine import ask, look_at
from ringmaster.doctor.findings import Finding, Verdict
from ringmaster.doctor.host import Host
from ringmaster.doctor.memory import bytes_words, meminfo
from ringmaster.doctor.setting import Setting
from ringmaster.doctor.uses import Use
from ringmaster.setup import boot_loader
from ringmaster.setup.changes import Bind, Change, Put, Run, Set
from ringmaster.setup.journal import Journal
from ringmaster.setup.staying import why_it_stays
from ringmaster.setup.step import State, Step
from ringmaster.setup.values import MAKERS, OF_CARDS, OF_THE_BOOT, SYSCTLS, TOLD, huge_pages_boot, sysctl_path

CPUS = "/sys/devices/system/cpu"
GROUP = "ringmaster"
SYSCTL_FILE = "/etc/sysctl.d/90-ringmaster.conf"
LIMITS_FILE = "/etc/security/limits.d/90-ringmaster.conf"
HOST_UNIT = "ringmaster-host.service"
MOST_OF_MEMORY = 0.9
UNITS = ("/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
WHY_UNPRIVILEGED = "Servers run as this user; members of its group may use the cards."


@dataclass(frozen=True)
class Plan:
    """For one configuration."""

    config: str
    name: str
    """Of the unit: ringmaster@NAME."""
    setting: Setting
    linux: tuple[int, ...]
    """Cores that stay for Linux."""
    steps: tuple[Step, ...]

    @property
    def refused(self) -> list[str]:
        """Why nothing can be applied."""
        return [step.is_now for step in self.steps if step.state is State.REFUSED]

    @property
    def todo(self) -> list[Step]:
        """Steps with changes."""
        return [step for step in self.steps if step.changes]

    @property
    def reboots(self) -> bool:
        """Whether a boot makes some of it true."""
        return any(step.reboots for step in self.steps if step.state in (State.TODO, State.BOOT))


def check_cores(host: Host, cores: Sequence[int]) -> None:
    """Raises ValueError for cores that are not there, or offline."""
    present = host.cpus(f"{CPUS}/present") or host.online
    for core in cores if host.online else ():
        if core in host.online:
            continue
        if core in present:
            raise ValueError(
                f"core {core} is offline: echo 1 > {CPUS}/cpu{core}/online, or choose another in the configuration"
            )
        raise ValueError(
            f"this host has no core {core}, expected cores out of {cpu_list.write(host.online)} in the configuration's "
            "roles; `ringmaster plan` finds places for them"
        )


def make_plan(
    host: Host,
    config: str,
    name: str,
    setting: Setting,
    journal: Journal | None,
    ssh: str | None = None,
    huge_bytes: int = 0,
) -> Plan:
    """All steps. ``huge_bytes``: what the configuration takes on large pages; 0: not known.

    Raises ValueError for cores and cards that the host has not.
    """
    check_cores(host, setting.cores)
    look = look_at(host, setting.use, setting.cores, setting.cards, huge_bytes=huge_bytes)
    found = {finding.name: finding for finding in ask(look)}
    steps = [*_refusals(look, found, ssh), *_host_steps(look, found)]
    steps += _ours(look, name, steps, journal)
    line = _command_line(look, [word for step in steps for word in step.boot])
    if line.state is State.HAND:
        steps = [replace(step, state=State.HAND) if step.boot and not step.changes else step for step in steps]
    tried = journal if journal is not None and journal.complete else None  # else it may have been killed before
    made = tuple(_without_made(step, look, tried) for step in (*steps, line))
    return Plan(config, name, setting, look.housekeeping, made)


def _refusals(look: Look, found: dict[str, Finding], ssh: str | None) -> Iterator[Step]:
    wanted = [card for card in look.cards if card.wanted == "dpdk" and not card.bound]
    for card in wanted:
        if (why := why_it_stays(look.host, card, ssh, [other.address for other in wanted])) is not None:
            yield Step("driver", State.REFUSED, why, "a card that nothing else uses", found["driver"].why)
    options = look.host.kernel_options
    if wanted and options is not None and options.get("VFIO_PCI") not in ("y", "m"):
        is_now = "this kernel has no vfio-pci (CONFIG_VFIO_PCI is not set)"
        yield Step(
            "driver", State.REFUSED, is_now, "a kernel with it, as Debian's linux-image-amd64", found["driver"].why
        )
    memory = meminfo(look.host, "MemTotal")
    if memory is not None and look.huge_bytes > MOST_OF_MEMORY * memory:
        is_now = f"the configuration takes {bytes_words(look.huge_bytes)}, this host has {bytes_words(memory)}"
        yield Step("memory", State.REFUSED, is_now, "more memory, or shorter `buffers`", found["hugepages"].why)
    if look.leaves_none and look.use is not Use.TRY:
        is_now = f"the configuration takes all {len(look.cores)} cores"
        yield Step("cores", State.REFUSED, is_now, "one core or more for Linux", found["isolated"].why)


def _host_steps(look: Look, found: dict[str, Finding]) -> Iterator[Step]:
    named = {*OF_THE_BOOT, *SYSCTLS, *MAKERS, *TOLD} - set(() if any(card.wanted for card in look.cards) else OF_CARDS)
    for finding in found.values():
        if finding.name in named and finding.verdict is not Verdict.ABSENT:
            yield _host_step(look, finding)


def _host_step(look: Look, finding: Finding) -> Step:
    step = Step(finding.name, State.DONE, finding.is_now, finding.should_be, finding.why, by_hand=finding.by_hand)
    if finding.verdict is Verdict.GOOD:
        return replace(step, by_hand="")
    if finding.verdict is Verdict.UNKNOWN:
        return replace(step, state=State.UNKNOWN)
    boot = huge_pages_boot(look, finding.boot)
    made: tuple[Change, ...] = ()
    if finding.name in SYSCTLS:
        parameter, value = SYSCTLS[finding.name]
        made = (Set(sysctl_path(parameter), str(value(look)), each_boot=False),)
    elif finding.name in MAKERS:
        made = MAKERS[finding.name](look)
    if not made and not boot:
        return replace(step, state=State.HAND)
    return replace(step, state=State.TODO, changes=made, boot=boot, by_hand="")


def _ours(look: Look, name: str, steps: Sequence[Step], journal: Journal | None) -> Iterator[Step]:
    """Files and units of ours."""
    yield _user(look.host)
    yield _file(look.host, "limits", LIMITS_FILE, f"@{GROUP} - memlock unlimited\n", "Cards write into locked memory.")
    before = [entry.step for entry in journal.entries] if journal else []
    yield _sysctl_file(look, [*before, *(step.name for step in steps if step.state is State.TODO)])
    both = cpu_list.write({*look.cores, *look.housekeeping})
    unit = f"/etc/systemd/system/ringmaster@{name}.service.d/90-setup.conf"
    why = "A service has no isolated core in its mask unless it asks for it."
    affinity = _file(look.host, "unit", unit, f"[Service]\nCPUAffinity=\nCPUAffinity={both}\n", why)
    reload = ("systemctl", "daemon-reload")
    yield replace(affinity, changes=(Run((), reload), *affinity.changes, Run(reload)) if affinity.changes else ())
    made = [change for step in steps for change in step.changes]
    made += [entry.change for entry in journal.entries] if journal else []
    if any(change.each_boot for change in made):
        yield _at_boot(look.host)


def _user(host: Host) -> Step:
    there = re.search(rf"^{GROUP}:", host.text("/etc/passwd") or "", re.MULTILINE)
    should_be = f"user and group {GROUP}"
    if there:
        return Step("user", State.DONE, should_be, should_be, WHY_UNPRIVILEGED)
    line = f'u {GROUP} - "Ringmaster servers" /var/lib/ringmaster'
    make = Run(("systemd-sysusers", "--inline", line))
    return Step("user", State.TODO, "none", should_be, WHY_UNPRIVILEGED, (make,))


def _file(host: Host, name: str, path: str, text: str, why: str) -> Step:
    put = Put(path, boot_loader.HEAD + text)
    if put.is_done(host):
        return Step(name, State.DONE, path, path, why)
    return Step(name, State.TODO, f"{path} is another" if host.exists(path) else "no file of ours", path, why, (put,))


def _sysctl_file(look: Look, changed: Sequence[str]) -> Step:
    """Kernel parameters that this run changes, and those that an earlier one did, or had begun to."""
    named = [SYSCTLS[name] for name in changed if name in SYSCTLS]
    lines = {parameter: str(value(look)) for parameter, value in named}
    why = "Kernel parameters, at each boot."
    if not lines:
        return Step("sysctl.d", State.DONE, "nothing to keep", "", why)
    return _file(look.host, "sysctl.d", SYSCTL_FILE, "".join(f"{k} = {v}\n" for k, v in sorted(lines.items())), why)


def _at_boot(host: Host) -> Step:
    why = "What the kernel forgets at a boot is put back: cards, governors, idle states, large pages."
    wants = f"/etc/systemd/system/multi-user.target.wants/{HOST_UNIT}"
    if host.path(wants).is_symlink():
        return Step("at-boot", State.DONE, f"{HOST_UNIT} enabled", "enabled", why)
    if not any(host.exists(f"{folder}/{HOST_UNIT}") for folder in UNITS):
        hand = f"Install the package, or put {HOST_UNIT} into /etc/systemd/system and enable it."
        return Step("at-boot", State.HAND, f"no {HOST_UNIT}", "enabled", why, by_hand=hand)
    enable = Run(("systemctl", "enable", HOST_UNIT), ("systemctl", "disable", HOST_UNIT))
    return Step("at-boot", State.TODO, f"{HOST_UNIT} is not enabled", "enabled", why, (enable,))


def _command_line(look: Look, asked: Sequence[str]) -> Step:
    why = "Isolation, large pages and the IOMMU are made while the kernel starts."
    words = boot_loader.merged((), asked)
    made = boot_loader.changes(look.host, words)
    shown = " ".join(words)
    if not words:
        now = boot_loader.ours(look.host)
        return Step("command-line", State.DONE, " ".join(now) or "nothing to add", "", why)
    if made is None:
        hand = f"No boot loader that setup knows (grub, kernel-install): add to the kernel's command line: {shown}"
        return Step("command-line", State.HAND, "not set", shown, why, by_hand=hand)
    if not made:
        return Step("command-line", State.BOOT, "written, and not booted yet", shown, why)
    return Step("command-line", State.TODO, "without", shown, why, made, words)


def _without_made(step: Step, look: Look, journal: Journal | None) -> Step:
    """Leaves out what an earlier run has changed already and what only the next boot makes true."""
    left = tuple(change for change in step.changes if not (journal and journal.has(change) and _waits(change, look)))
    if left != step.changes and all(isinstance(change, Run) for change in left):
        left = ()
    waits = bool(step.boot) or left != step.changes
    written = set(step.boot) <= set(boot_loader.ours(look.host))
    if step.state is not State.TODO or left or not waits or not written:
        return replace(step, changes=left)
    return replace(step, state=State.BOOT, changes=(), boot=())


def _waits(change: Change, look: Look) -> bool:
    if isinstance(change, Bind):
        return not change.is_possible(look.host)
    return isinstance(change, Set) and change.may_refuse

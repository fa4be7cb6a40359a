# SPDX-License-Identifier: Apache-2.0
"""What the kernel does beside: versions, watchdogs, limits, and what a hypervisor takes."""

import re

from ringmaster.doctor import cpu_list
from ringmaster.doctor.check import (
    FEEDBACK_HINT,
    FEEDBACK_NEEDS,
    HINT,
    NEVER,
    Answer,
    Check,
    Look,
    absent_if,
    bad,
    bad_sysctl,
    good,
    unknown,
)

OLDEST = (5, 10)
KERNEL = "/proc/sys/kernel"
VULNERABILITIES = "/sys/devices/system/cpu/vulnerabilities"
STEAL = 0.005
"""Share of the time."""


def version(look: Look) -> Answer:
    """Of the kernel."""
    text = look.host.text(f"{KERNEL}/osrelease") or ""
    found = re.match(r"([0-9]{1,4})\.([0-9]{1,4})", text)
    if found is None:
        return unknown()
    if (int(found[1]), int(found[2])) >= OLDEST:
        return good(text[:60])
    return bad(text[:60], "5.10 or newer", by_hand="A newer kernel from the distribution.")


def preemption(look: Look) -> Answer:
    """PREEMPT_RT or not."""
    text = look.host.text(f"{KERNEL}/version")
    if text is None:
        return unknown()
    found = re.search(r"PREEMPT\w*", text)
    return good(found[0] if found else "not preemptible", "either")


def throttling(look: Look) -> Answer:
    """Of real-time threads."""
    now = look.host.number(f"{KERNEL}/sched_rt_runtime_us")
    if now is None:
        return unknown()
    if now < 0:
        return good("off")
    hand = (
        "Only for threads that you raise to SCHED_FIFO yourself: sysctl -w kernel.sched_rt_runtime_us=-1. One of them "
        "that never sleeps then keeps its core from everything, also from you."
    )
    return bad(f"{now} µs of each second", "off (-1), for SCHED_FIFO", by_hand=hand)


def watchdog(look: Look) -> Answer:
    """Soft lock-ups."""
    now = look.host.number(f"{KERNEL}/watchdog")
    if now is None:
        return absent_if(look, KERNEL, "this kernel has none")
    watched = look.host.cpus(f"{KERNEL}/watchdog_cpumask")
    if now == 0 or (watched is not None and not set(watched) & set(look.cores)):
        return good("off" if now == 0 else f"not on {cpu_list.words(look.cores)}")
    housekeeping = cpu_list.write(look.housekeeping)
    return bad_sysctl("on", f"on {cpu_list.words(look.housekeeping)} only", "kernel.watchdog_cpumask", housekeeping)


def nmi_watchdog(look: Look) -> Answer:
    """Hard lock-ups."""
    now = look.host.number(f"{KERNEL}/nmi_watchdog")
    if now is None:
        return absent_if(look, KERNEL, "this kernel has none")
    return good("off") if now == 0 else bad_sysctl("on", "off", "kernel.nmi_watchdog", 0)


def audit(look: Look) -> Answer:
    """The kernel's book of system calls."""
    if look.host.arguments is None or not look.host.programs:
        return unknown()
    if look.host.arguments.get("audit") == "0" or "auditd" not in look.host.programs:
        return good("off" if look.host.arguments.get("audit") == "0" else "no auditd")
    return bad("auditd runs", "off", mend=("auditctl -e 0",), boot=("audit=0",))


def mitigations(look: Look) -> Answer:
    """Against leaks of the processor."""
    known = look.host.names(VULNERABILITIES)
    if not known:
        return unknown()
    texts = [look.host.text(f"{VULNERABILITIES}/{name}") or "" for name in known]
    active = sum(text.startswith("Mitigation") for text in texts)
    leaks = sum(text.startswith("Vulnerable") for text in texts)
    return good(f"{active} at work, {leaks} left open, of {len(known)}", "your choice")


def steal(look: Look) -> Answer:
    """Time that the hypervisor gave to others."""
    seen = {cpu: look.sample.steal[cpu] for cpu in look.cores or look.host.online if cpu in look.sample.steal}
    if not seen:
        return unknown()
    most = max(seen.values())
    if most <= STEAL:
        return good(f"{most:.1%}")
    return bad(f"{most:.1%} of a core", "none", by_hand="Pin the virtual CPUs to cores of their own, or use a machine.")


def hypervisor(look: Look) -> Answer:
    """A virtual machine?"""
    if look.host.virtual is None:
        return unknown()
    if not look.host.virtual:
        return good("no hypervisor")
    name = look.host.text("/sys/class/dmi/id/product_name") or look.host.text("/sys/hypervisor/type") or ""
    shown = "virtual machine" + (f" ({name[:40]})" if name else "")
    return bad(shown, "a machine of its own", by_hand="Where latency counts: no hypervisor between.")


CHECKS = (
    Check(
        "kernel-version",
        version,
        HINT,
        "The paper measured with 5.10; af_xdp and vfio of older kernels lack what the server uses.",
        "Elettra 2.0 paper, Round Trip Time",
    ),
    Check(
        "preemption",
        preemption,
        NEVER,
        "Polling cores make no system calls, so a real-time kernel is not needed: the sources measured without.",
        "poster, 6: no RT patch",
    ),
    Check(
        "rt-throttling",
        throttling,
        FEEDBACK_HINT,
        "A thread of SCHED_FIFO that polls is stopped for 50 ms of every second unless this is off. The server's "
        "threads are of no such class: it matters to who raises them.",
    ),
    Check("watchdog", watchdog, FEEDBACK_HINT, "A thread looks after each core now and then; polling needs none."),
    Check("nmi-watchdog", nmi_watchdog, FEEDBACK_HINT, "It interrupts each core, and takes a performance counter."),
    Check("audit", audit, FEEDBACK_HINT, "Every system call is looked at: it costs raw and UDP sockets, not DPDK."),
    Check(
        "mitigations",
        mitigations,
        NEVER,
        "They make system calls dearer, which sockets feel and polling does not. On a closed machine "
        "`mitigations=off` is a choice that you have to make.",
    ),
    Check(
        "steal",
        steal,
        FEEDBACK_NEEDS,
        "A virtual CPU that does not run cannot poll. Some hypervisors do not tell: then this reads 0 and the stall "
        "floor of `ringmaster bench` shows it.",
    ),
    Check(
        "hypervisor",
        hypervisor,
        FEEDBACK_HINT,
        "It stops virtual CPUs when it likes, up to tens of milliseconds: no promise about the slowest cycle holds.",
    ),
)

# SPDX-License-Identifier: Apache-2.0
"""Are the chosen cores the server's alone?"""

from collections.abc import Iterable

from ringmaster.doctor import cpu_list
from ringmaster.doctor.check import (
    FEEDBACK_HINT,
    FEEDBACK_NEEDS,
    LEAVE_ONE,
    SERVER_NEEDS_ALL_LIKE,
    Answer,
    Check,
    Look,
    absent,
    bad,
    good,
    unknown,
)

CPUS = "/sys/devices/system/cpu"


def cpus(look: Look) -> Answer:
    """Enough of them?"""
    online, least = look.host.online, look.use.cpus
    if not online:
        return unknown()
    if len(online) < least:
        return bad(f"{len(online)} online", f"{least} or more", by_hand="Another machine, or more virtual CPUs.")
    return good(f"{len(online)} online")


def isolated(look: Look) -> Answer:
    """Isolcpus."""
    now = look.host.cpus(f"{CPUS}/isolated")
    return _covers(look, now, f"isolcpus=managed_irq,domain,{cpu_list.write(look.cores)}")


def nohz_full(look: Look) -> Answer:
    """The tick stopped on them."""
    options = look.host.kernel_options
    if options is not None and options.get("NO_HZ_FULL") != "y":
        wanted = f"nohz_full={cpu_list.write(look.cores)}"
        hand = f"A kernel built with CONFIG_NO_HZ_FULL, then {wanted} on its command line."
        return bad("this kernel cannot stop the tick", wanted, by_hand=hand)
    text = look.host.text(f"{CPUS}/nohz_full")
    now = () if text in ("", "(null)") else look.host.cpus(f"{CPUS}/nohz_full")
    return _covers(look, now, f"nohz_full={cpu_list.write(look.cores)}")


def rcu_nocbs(look: Look) -> Answer:
    """Callbacks of RCU elsewhere; nohz_full implies it."""
    arguments = look.host.arguments
    if arguments is None:
        return unknown()
    lists = [arguments.get(name, "") for name in ("rcu_nocbs", "nohz_full")]
    if "all" in lists:
        return good("all cores")
    known = [cpu_list.parse(text) for text in lists]
    if None in known:
        return unknown(f"rcu_nocbs={lists[0]} is no list that the doctor reads")
    now = {cpu for some in known for cpu in some or ()}
    return _covers(look, tuple(now), f"rcu_nocbs={cpu_list.write(look.cores)}")


def siblings(look: Look) -> Answer:
    """Does Linux run on the other hardware thread of a chosen core?"""
    disturbed: list[str] = []
    quiet = {*look.cores, *(look.host.cpus(f"{CPUS}/isolated") or ())}
    threads = [look.host.cpus(f"{CPUS}/cpu{cpu}/topology/thread_siblings_list") for cpu in look.cores]
    if not look.cores or None in threads:
        return unknown()
    for cpu, same in zip(look.cores, threads, strict=True):
        others = [other for other in same or () if other not in quiet]
        disturbed += [f"{cpu} shares with {cpu_list.write(others)}"] if others else []
    if disturbed:
        hand = (
            "Isolate both threads of a core, and give the second one a role or nothing; or take it offline "
            "(echo 0 > /sys/devices/system/cpu/cpuN/online), or all of them (nosmt on the kernel's command line)."
        )
        return bad("; ".join(disturbed), "nothing of Linux on the other thread", by_hand=hand)
    return good("one thread a core" if all(len(same or ()) == 1 for same in threads) else "both threads isolated")


def linux_socket(look: Look) -> Answer:
    """Are the chosen cores on a socket that Linux runs on?"""
    socket = {cpu: look.host.number(f"{CPUS}/cpu{cpu}/topology/physical_package_id") for cpu in look.host.online}
    if not socket or None in socket.values():
        return unknown()
    if len(set(socket.values())) == 1:
        return absent("one socket")
    linux = {socket[cpu] for cpu in look.housekeeping if cpu in socket}
    shared = [cpu for cpu in look.cores if socket.get(cpu) in linux]
    if shared:
        return bad(
            f"{cpu_list.words(shared)} on a socket where Linux runs",
            "a socket of their own",
            by_hand="Choose cores of the other socket, with the cards plugged into it, and leave none of it to Linux.",
        )
    return good("a socket of their own")


def _covers(look: Look, now: Iterable[int] | None, argument: str) -> Answer:
    if now is None:
        return unknown()
    missing = [cpu for cpu in look.cores if cpu not in set(now)]
    shown = cpu_list.words(now) if now else "none"
    if not look.cores or missing:
        if look.leaves_none:
            return bad(shown, "all but a core for Linux", by_hand=LEAVE_ONE)
        return bad(shown, argument, boot=(argument,))
    return good(shown)


WHY_ISOLATED = (
    "On an isolated core the scheduler places nothing else. Raw sockets took 24 µs there and DPDK 8 µs in the paper's "
    "round trip; on an ordinary core both are at the mercy of housekeeping threads."
)
CHECKS = (
    Check(
        "cpus", cpus, SERVER_NEEDS_ALL_LIKE, "A polling core does nothing else, and Linux needs one, too.", "poster, 6"
    ),
    Check("isolated", isolated, FEEDBACK_NEEDS, WHY_ISOLATED, "Elettra 2.0 paper, Round Trip Time; poster, 6"),
    Check(
        "nohz-full",
        nohz_full,
        FEEDBACK_NEEDS,
        "Otherwise the timer interrupts a polling core HZ times a second, some microseconds each.",
        "poster, abstract: CPU isolation",
    ),
    Check(
        "rcu-nocbs",
        rcu_nocbs,
        FEEDBACK_NEEDS,
        "The kernel frees memory of all cores in callbacks; they should run on Linux's cores.",
        "poster, abstract: CPU isolation",
    ),
    Check(
        "smt",
        siblings,
        FEEDBACK_NEEDS,
        "Two hardware threads share one core's units and its first caches: what runs on the one slows the other.",
        "Elettra 2.0 paper, Test Facility: 4 + 4 HT per port",
    ),
    Check(
        "linux-socket",
        linux_socket,
        FEEDBACK_HINT,
        "Linux on the same memory controller and PCIe root cost the paper's round trip 1 µs of 8.",
        "Elettra 2.0 paper, DPDK on Full Isolated CPU",
    ),
)

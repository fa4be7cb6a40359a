# SPDX-License-Identifier: Apache-2.0
"""Do the chosen cores run at full speed, and wake at once?"""

import re
import struct

from ringmaster.doctor import cpu_list
from ringmaster.doctor.check import (
    FEEDBACK_HINT,
    FEEDBACK_NEEDS,
    Answer,
    Check,
    Look,
    absent,
    absent_if,
    bad,
    file_at_boot,
    good,
    unknown,
)

CPUS = "/sys/devices/system/cpu"
NO_LIMIT_US = 2_000_000_000
"""What the kernel says where nobody asked for less."""


def governor(look: Look) -> Answer:
    """Of the frequency."""
    path = "cpufreq/scaling_governor"
    now = {cpu: text for cpu in look.cores if (text := look.host.text(f"{CPUS}/cpu{cpu}/{path}"))}
    if not now:
        return absent_if(look, CPUS, "no frequency to be set here: hypervisor or firmware decides")
    slow = [cpu for cpu, name in now.items() if name != "performance"]
    if not slow:
        return good("performance")
    shown = ", ".join(sorted({now[cpu] for cpu in slow}))
    each = " ".join(map(str, slow))
    return bad(
        f"{shown} on {cpu_list.words(slow)}",
        "performance",
        mend=(f"for cpu in {each}; do echo performance > {CPUS}/cpu$cpu/{path}; done",),
        keep=(file_at_boot("governor", f"{CPUS}/cpu*/{path}", "performance"),),
    )


def idle_states(look: Look) -> dict[str, int]:
    """Latency of each idle state that a chosen core may enter, in microseconds; the longest of all cores."""
    found: dict[str, int] = {}
    for cpu in look.cores:
        folder = f"{CPUS}/cpu{cpu}/cpuidle"
        for state in look.host.names(folder):
            latency = look.host.number(f"{folder}/{state}/latency")
            allowed = look.host.number(f"{folder}/{state}/disable") != 1
            if latency is not None and allowed and re.fullmatch("state[0-9]{1,2}", state):
                found[state] = max(found.get(state, 0), latency)
    return found


def c_states(look: Look) -> Answer:
    """The deepest sleep that is allowed."""
    states = idle_states(look)
    if not states:
        return absent_if(look, CPUS, "no idle states to be set here: hypervisor or firmware decides")
    longest = max(states.values())
    deep = sorted(state for state, latency in states.items() if latency > look.use.idle_latency_us)
    if not deep:
        return good(f"awake within {longest} µs")
    every = f"for cpu in {' '.join(map(str, look.cores))}; do for state in {' '.join(deep)}; do\n   "
    line = "w %s/cpu%s/cpuidle/%s/disable - - - - 1\\n"
    file = "/etc/tmpfiles.d/90-ringmaster-c-states.conf"
    return bad(
        f"awake after up to {longest} µs",
        f"within {look.use.idle_latency_us} µs",
        mend=(f"{every} echo 1 > {CPUS}/cpu$cpu/cpuidle/$state/disable\ndone; done",),
        keep=(f"{every} printf '{line}' {CPUS} $cpu $state\ndone; done > {file}",),
    )


def latency_limit(look: Look) -> Answer:
    """What programs have asked the kernel for."""
    states = idle_states(look)
    if states and max(states.values()) <= look.use.idle_latency_us:
        return absent("the idle states are short")
    raw = look.host.raw("/dev/cpu_dma_latency")
    if raw is None or len(raw) != 4:
        return unknown("/dev/cpu_dma_latency cannot be read (root can)")
    (now,) = struct.unpack("i", raw)
    shown = "no program asks for less sleep" if now >= NO_LIMIT_US else f"{now} µs are asked for"
    if now <= look.use.idle_latency_us:
        return good(shown)
    hand = (
        "It holds as long as a program keeps the file open: `tuned-adm profile latency-performance` does, or shorter "
        "idle states, as check c-states has them."
    )
    return bad(shown, f"at most {look.use.idle_latency_us} µs, or short idle states", by_hand=hand)


CHECKS = (
    Check(
        "governor",
        governor,
        FEEDBACK_NEEDS,
        "A clock that follows the load is slow when the next packet comes, and stops the core while it changes.",
        "poster, 6: optimized BIOS and Linux for max performance; Elettra 2.0 paper: High Performance mode",
    ),
    Check(
        "c-states",
        c_states,
        FEEDBACK_NEEDS,
        "A core in a deep sleep takes up to hundreds of microseconds to wake, and its caches are empty then.",
        "poster, 6: optimized BIOS and Linux for max performance",
    ),
    Check(
        "idle-latency",
        latency_limit,
        FEEDBACK_HINT,
        "By /dev/cpu_dma_latency a program keeps all cores out of deep sleep while it runs.",
        "poster, 6: optimized BIOS and Linux for max performance",
    ),
)

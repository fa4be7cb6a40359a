# SPDX-License-Identifier: Apache-2.0
"""Is the time stamp counter a clock?"""

from ringmaster.doctor.check import (
    ALL_NEED,
    SERVER_NEEDS_ALL_LIKE,
    Answer,
    Check,
    Look,
    bad,
    good,
    unknown,
)

SOURCE = "/sys/devices/system/clocksource/clocksource0"


def clock_source(look: Look) -> Answer:
    """The kernel's."""
    now = look.host.text(f"{SOURCE}/current_clocksource")
    if not now:
        return unknown()
    if now == "tsc":
        return good("tsc")
    offered = (look.host.text(f"{SOURCE}/available_clocksource") or "").split()
    if "tsc" in offered:
        return bad(
            now, "tsc", mend=(f"echo tsc > {SOURCE}/current_clocksource",), boot=("clocksource=tsc", "tsc=reliable")
        )
    hand = "`dmesg | grep -i tsc` says why the kernel refuses it: the hypervisor's settings, or the firmware's."
    return bad(f"{now[:40]}, tsc is not offered", "tsc", by_hand=hand)


def invariant(look: Look) -> Answer:
    """Steady at all frequencies and in all sleeps."""
    if look.host.flags is None:
        return unknown()
    missing = [flag for flag in ("constant_tsc", "nonstop_tsc") if flag not in look.host.flags]
    if missing:
        hand = "Another processor; in a virtual machine: have the hypervisor pass the invariant TSC through."
        return bad(f"without {' and '.join(missing)}", "constant and nonstop", by_hand=hand)
    return good("constant, nonstop")


CHECKS = (
    Check(
        "clock-source",
        clock_source,
        SERVER_NEEDS_ALL_LIKE,
        "Another source costs a system call or a microsecond for every look at the clock, and does not run with ours.",
        "Elettra 2.0 paper, Test Facility: each packet is tagged with the TSC",
    ),
    Check(
        "tsc",
        invariant,
        ALL_NEED,
        "All times here are counts of the time stamp counter: it must not change with frequency, nor stop in sleep.",
        "Elettra 2.0 paper, Test Facility: each packet is tagged with the TSC",
    ),
)

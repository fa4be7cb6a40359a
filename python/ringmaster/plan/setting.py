# SPDX-License-Identifier: Apache-2.0
"""What several commands read from their options."""

from pathlib import Path

from ringmaster.doctor import cpu_list
from ringmaster.plan import hwloc, machine_file
from ringmaster.plan.topology import Machine


def machine_of(machine: Path | None, cards: Path | None) -> Machine:
    """A file's, or this host; with cards that the topology lacks. Raises OSError and ValueError."""
    found = hwloc.this_host() if machine is None else machine_file.read_machine(machine)
    return found if cards is None else machine_file.add_cards(found, cards)


def cpus(text: str | None) -> tuple[int, ...]:
    """A list of CPUs, such as "0-3,8"; none where there is no text. Raises ValueError."""
    if text is None:
        return ()
    listed = cpu_list.parse(text)
    if not listed:
        raise ValueError(f"--linux: found {text!r}, expected a list of CPUs such as 0-3,8")
    return listed

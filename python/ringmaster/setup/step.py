# SPDX-License-Identifier: Apache-2.0
"""A step of a setup: what stands, what is expected, and the changes that lead there. Plain data."""

from dataclasses import dataclass
from enum import StrEnum

from ringmaster.setup.changes import Change


class State(StrEnum):
    """What a step comes to, the worst first."""

    REFUSED = "refused"
    """It must not be done: then nothing is."""
    TODO = "to do"
    BOOT = "after a reboot"
    """It was done, and the next boot makes it true."""
    HAND = "by hand"
    """No command can do it."""
    UNKNOWN = "cannot be told"
    DONE = "done"


@dataclass(frozen=True)
class Step:
    """One of them."""

    name: str
    """That of the doctor's check where there is one."""
    state: State
    is_now: str
    should_be: str = ""
    why: str = ""
    changes: tuple[Change, ...] = ()
    """That are still to be made, in their order."""
    boot: tuple[str, ...] = ()
    """Arguments of the kernel's command line that it asks for."""
    by_hand: str = ""

    @property
    def reboots(self) -> bool:
        """Whether it holds from the next boot on."""
        return self.state is State.BOOT or bool(self.boot)

    def as_json(self) -> dict[str, object]:
        """The same by name."""
        return {
            "name": self.name,
            "state": str(self.state),
            "is_now": self.is_now,
            "should_be": self.should_be,
            "why": self.why,
            "changes": [str(change) for change in self.changes],
            "boot": list(self.boot),
            "by_hand": self.by_hand,
            "reboots": self.reboots,
        }

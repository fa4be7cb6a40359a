# SPDX-License-Identifier: Apache-2.0
"""How a check is told: what it looks at, what it answers, and what a bad answer means for each use."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ringmaster.doctor.cards import Card
from ringmaster.doctor.findings import Finding, Verdict
from ringmaster.doctor.host import Host
from ringmaster.doctor.sample import Sample
from ringmaster.doctor.uses import Use

if TYPE_CHECKING:
    from ringmaster.doctor.stalls import Watched


@dataclass(frozen=True)
class Look:
    """What a check looks at."""

    host: Host
    use: Use
    cores: tuple[int, ...]
    """Those that the server gets for itself."""
    cards: tuple[Card, ...]
    """Those that are asked about: the named ones, or all."""
    sample: Sample
    watched: "tuple[Watched, ...]" = ()
    """The configuration's applications, and how long a running server saw them stall."""
    huge_bytes: int = 0
    """What the configuration takes on large pages; 0: not known, and the use says."""

    @property
    def leaves_none(self) -> bool:
        """Whether all CPUs are the server's: then nothing can be kept off its cores."""
        return set(self.host.online) <= set(self.cores)

    @property
    def housekeeping(self) -> tuple[int, ...]:
        """CPUs that stay for Linux; the first, where all are the server's."""
        return tuple(cpu for cpu in self.host.online if cpu not in self.cores) or self.host.online[:1]


@dataclass(frozen=True)
class Answer:
    """What a check found. ``verdict`` is GOOD, UNKNOWN or ABSENT; WRONG stands for "not as it should be"."""

    verdict: Verdict
    is_now: str
    should_be: str = ""
    mend: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    boot: tuple[str, ...] = ()
    by_hand: str = ""
    mild: bool = False
    """At worst "could be better", whatever the use."""


def good(is_now: str, should_be: str = "") -> Answer:
    """As it should be."""
    return Answer(Verdict.GOOD, is_now, should_be)


def unknown(is_now: str = "the kernel does not say") -> Answer:
    """Cannot be told."""
    return Answer(Verdict.UNKNOWN, is_now)


def absent(is_now: str) -> Answer:
    """Does not apply here."""
    return Answer(Verdict.ABSENT, is_now)


def absent_if(look: "Look", folder: str, is_now: str) -> Answer:
    """Does not apply here, for there is no such thing in a folder that is there; else it cannot be told."""
    return absent(is_now) if look.host.exists(folder) else unknown()


def bad(
    is_now: str,
    should_be: str,
    mend: tuple[str, ...] = (),
    keep: tuple[str, ...] = (),
    boot: tuple[str, ...] = (),
    by_hand: str = "",
    mild: bool = False,
) -> Answer:
    """Not as it should be."""
    return Answer(Verdict.WRONG, is_now, should_be, mend, keep, boot, by_hand, mild)


@dataclass(frozen=True)
class Check:
    """One question."""

    name: str
    ask: Callable[[Look], Answer]
    fails: tuple[Verdict, Verdict, Verdict]
    """What a bad answer means: for `try`, `ingest`, `feedback`."""
    why: str
    source: str = ""

    def finding(self, area: str, look: Look) -> Finding:
        """Asks."""
        answer = self.ask(look)
        verdict = answer.verdict
        if verdict is Verdict.WRONG:
            verdict = self.fails[list(Use).index(look.use)]
            if verdict is Verdict.WRONG and answer.mild:
                verdict = Verdict.BETTER
        mends = verdict in (Verdict.WRONG, Verdict.BETTER)
        return Finding(
            name=self.name,
            area=area,
            verdict=verdict,
            is_now=answer.is_now,
            should_be=answer.should_be if verdict is not Verdict.ABSENT else "",
            mend=answer.mend if mends else (),
            keep=answer.keep if mends else (),
            boot=answer.boot if mends else (),
            by_hand=answer.by_hand if mends else "",
            why=self.why,
            source=self.source,
        )


LEAVE_ONE = "Leave a core to Linux: choose the server's by --cores, or in its configuration."
NEVER = (Verdict.GOOD, Verdict.GOOD, Verdict.GOOD)
"""For what is only told."""
HINT = (Verdict.BETTER, Verdict.BETTER, Verdict.BETTER)
SERVER_HINT = (Verdict.ABSENT, Verdict.BETTER, Verdict.BETTER)
FEEDBACK_HINT = (Verdict.ABSENT, Verdict.ABSENT, Verdict.BETTER)
FEEDBACK_NEEDS = (Verdict.ABSENT, Verdict.BETTER, Verdict.WRONG)
SERVER_NEEDS = (Verdict.ABSENT, Verdict.WRONG, Verdict.WRONG)
SERVER_NEEDS_ALL_LIKE = (Verdict.BETTER, Verdict.WRONG, Verdict.WRONG)
ALL_NEED = (Verdict.WRONG, Verdict.WRONG, Verdict.WRONG)


def bad_sysctl(is_now: str, should_be: str, name: str, value: object) -> Answer:
    """Not as it should be; a kernel parameter mends it, and a file of its own sets that at each boot."""
    file = f"/etc/sysctl.d/90-ringmaster-{name.replace('.', '-')}.conf"
    return bad(is_now, should_be, mend=(f"sysctl -w {name}={value}",), keep=(f"echo '{name} = {value}' > {file}",))


def file_at_boot(name: str, path: str, value: object) -> str:
    """Has systemd write a value into a file of /sys or /proc at each boot; ``path`` may have patterns."""
    return f"echo 'w {path} - - - - {value}' > /etc/tmpfiles.d/90-ringmaster-{name}.conf"

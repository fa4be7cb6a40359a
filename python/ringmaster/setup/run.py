# SPDX-License-Identifier: Apache-2.0
"""Applies a plan, undoes it, and puts it back at a boot."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from ringmaster.doctor import cpu_list
from ringmaster.doctor.cards import DEVICES, find_cards
from ringmaster.doctor.host import Host
from ringmaster.setup.changes import Bind, Change, Kept, Later, Refused, Run
from ringmaster.setup.journal import Entry, Journal, Pen, alone, read, rewrite
from ringmaster.setup.plan import Plan
from ringmaster.setup.staying import why_it_stays
from ringmaster.setup.writer import Writer


class End(StrEnum):
    """What became of a change."""

    DONE = "done"
    LATER = "after a reboot"
    LEFT = "left as it is"
    """The kernel may refuse it, or another hand has changed it since."""
    FAILED = "failed"


@dataclass(frozen=True)
class Outcome:
    """Of one change."""

    step: str
    change: Change
    end: End
    words: str = ""

    def as_json(self) -> dict[str, str]:
        """The same by name."""
        return {"step": self.step, "change": str(self.change), "end": str(self.end), "words": self.words}


Tell = Callable[[Outcome], None]


def check_alone(plan: Plan, journal: Journal | None) -> None:
    """Raises RuntimeError where this host is set up for something else."""
    if journal is None:
        return
    if journal.config != plan.config:
        raise RuntimeError(
            f"this host is set up for {journal.config} (since {journal.at}), expected one plan for one host: "
            f"`ringmaster setup --undo` first"
        )
    setting = plan.setting
    was = (journal.use, journal.cores, journal.cards)
    if was != (str(setting.use), setting.cores, setting.cards):
        raise RuntimeError(
            f"{plan.config} has changed since this host was set up for {_words(*was)}; it says "
            f"{_words(str(setting.use), setting.cores, setting.cards)} now: `ringmaster setup --undo` first, then "
            "--apply"
        )


def _words(use: str, cores: Iterable[int], cards: Iterable[str]) -> str:
    return f"{use}, {cpu_list.words(cores)}, {', '.join(cards) or 'no cards'}"


def apply(host: Host, writer: Writer, plan: Plan, tell: Tell) -> list[Outcome]:
    """Makes all changes, each written down before. Raises RuntimeError where none may be made; then none is."""
    if plan.refused:
        raise RuntimeError(f"nothing was changed: {'; '.join(plan.refused)}")
    with alone(host):
        journal = read(host)
        check_alone(plan, journal)
        outcomes = _run_again(host, writer, journal, tell)
        with closing(Pen(host)) as pen:
            _begin(plan, pen)
            for step in plan.todo:
                for change in step.changes:
                    prepared = change.prepare(host)
                    if prepared.is_done(host):
                        continue
                    pen.entry(step.name, prepared)
                    if prepared.after:  # else it is only there to be undone
                        outcomes.append(_do(step.name, prepared, prepared.apply, host, writer))
                        tell(outcomes[-1])
            pen.line({"complete": True})
    return outcomes


def _begin(plan: Plan, pen: Pen) -> None:
    if pen.is_new:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        setting = plan.setting
        pen.line(Journal(plan.config, str(setting.use), setting.cores, setting.cards, now, (), complete=False).head())


def _run_again(host: Host, writer: Writer, journal: Journal | None, tell: Tell) -> list[Outcome]:
    """Of a setup that was killed: its commands, for a file may be there and its command may not have run."""
    outcomes = []
    for entry in journal.entries if journal and not journal.complete else ():
        if isinstance(entry.change, Run):
            change = Run(entry.change.after or entry.change.before)
            outcomes.append(_do(entry.step, change, change.apply, host, writer))
            tell(outcomes[-1])
    return outcomes


def undo(host: Host, writer: Writer, tell: Tell) -> list[Outcome]:
    """Puts all back, the newest first. What fails stays in the journal, for another try."""
    with alone(host):
        journal = read(host)
        outcomes: list[Outcome] = []
        left: list[Entry] = []
        for entry in reversed(journal.entries if journal else ()):
            if isinstance(entry.change, Run) and not entry.change.before:
                continue
            outcome = _do(entry.step, entry.change, entry.change.undo, host, writer)
            outcomes.append(outcome)
            if outcome.end is End.FAILED:
                left.insert(0, entry)
            tell(outcome)
        if journal is not None:
            rewrite(host, writer, journal, left)
    return outcomes


def put_back(host: Host, writer: Writer, tell: Tell) -> list[Outcome]:
    """At a boot: makes the changes again that the kernel has forgotten. Cards are looked at as on the first day."""
    with alone(host):
        journal = read(host)
        outcomes = []
        entries = journal.entries if journal else ()
        ours = [entry.change.address for entry in entries if isinstance(entry.change, Bind)]
        for entry in entries:
            change = entry.change
            if not change.each_boot or change.is_done(host):
                continue
            if isinstance(change, Bind) and (why := _not_this_card(host, change, ours)):
                outcomes.append(Outcome(entry.step, change, End.FAILED, why))
            else:
                outcomes.append(_do(entry.step, change, change.apply, host, writer))
            tell(outcomes[-1])
    return outcomes


def _not_this_card(host: Host, change: Bind, ours: Sequence[str]) -> str | None:
    """Slots get other addresses when hardware is added."""
    if not host.exists(f"{DEVICES}/{change.address}") or not change.is_same_card(host):
        return f"the card at {change.address} is another one than the one set up; it stays: `ringmaster setup` again"
    (card,) = find_cards(host, (change.address,))
    return why_it_stays(host, card, beside=ours)


def _do(step: str, change: Change, act: Callable[[Host, Writer], None], host: Host, writer: Writer) -> Outcome:
    try:
        act(host, writer)
    except Later as why:
        return Outcome(step, change, End.LATER, str(why))
    except (Kept, Refused) as why:
        return Outcome(step, change, End.LEFT, str(why))
    except OSError as error:
        return Outcome(
            step, change, End.FAILED, f"{error.filename}: {error.strerror}" if error.filename else str(error)
        )
    return Outcome(step, change, End.DONE)

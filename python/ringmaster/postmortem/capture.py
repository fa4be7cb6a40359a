# SPDX-License-Identifier: Apache-2.0
"""Capturing one event: its entry first, then what its windows hold, until nothing more is to come."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import monotonic

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.naming import counted
from ringmaster.fabric.workspace import Workspace
from ringmaster.postmortem.catalogue import Catalogue
from ringmaster.postmortem.event import CAPTURING, COMPLETE, INCOMPLETE, Event, Kept, Seen, write_file
from ringmaster.postmortem.look import ENDED, KILLED, Look
from ringmaster.postmortem.memory import MemoryWindows, expected_bytes
from ringmaster.postmortem.pinning import Pinning
from ringmaster.postmortem.quota import make_room
from ringmaster.postmortem.settings import Settings
from ringmaster.values import snapshot, time_format

GRACE_NS = 1_000_000_000
"""So long after the windows' end something may still come to memory: filters close late, and a host may be late."""
TURNS_GRACE_NS = 10_000_000_000
"""So long the machine's turns may be late: a ring in simulated time waits for its loop."""
ARCHIVE_GRACE_NS = 5_000_000_000
"""So long a recorder may take to write it."""
ASK_S = 0.2
"""How often the archive is asked how far it is."""
MARGIN_S = 0.01
"""So much more is copied from before the windows: the record of an interlock may put the turn zero back."""
TEXTS, PARAMETERS, COUNTERS, MACHINE = "texts.json", "parameters.json", "counters.json", "machine.yaml"


class Capture:
    """One event until it is done. After a restart another one goes on where this was."""

    def __init__(self, event: Event, catalogue: Catalogue, archive: Pinning, settings: Settings) -> None:
        self.event = event
        self._catalogue, self._archive, self._settings = catalogue, archive, settings
        first = max(0, event.first_turn - round(MARGIN_S * event.turn_rate_hz))
        self._memory = MemoryWindows(event.folder, event.workspace, first, event.zero.turn_epoch)
        self._copied = False
        self._asked_s = float("-inf")
        self._recorded: frozenset[str] = frozenset()
        self._new_epoch: tuple[int, int] | None = None
        """A later turn-counter epoch, and the turn in it at which the windows end by time."""

    def begin(self, look: Look) -> None:
        """Writes the entry, then keeps what there is at once."""
        self.event = replace(self.event, entry_tai_ns=time_format.now_tai_ns())
        self.event.save()
        self.resume(look)
        save_state(look.ws, self.event.folder)
        if self._settings.machine is not None:
            write_file(self.event.folder / MACHINE, self._settings.machine.read_text())

    def resume(self, look: Look) -> None:
        """Goes on with an event whose entry is there."""
        self._archive.look()
        self._recorded = self._archive.recorded
        self._memory.left_out = set(self._recorded)
        self._leave_out_what_is_too_much(look.ws)
        self._pin()
        self._note_restart(look)
        self._memory.take(look.ws, self._last_turn)
        self._memory.flush()

    def pause(self) -> None:
        """Writes what was copied: another one goes on from there."""
        self._memory.flush()

    def add(self, seen: Seen) -> None:
        """Another trigger of the same event. The turn of an interlock record is the turn zero from then on."""
        self.event = joined(self.event, seen)
        self.event.save()
        self._copied = False  # its windows may be longer now

    def step(self, look: Look) -> bool:
        """Copies what has come. True when the event is done; then it is written."""
        self._note_restart(look)
        last_turn = self._last_turn
        if not self._copied:
            self._memory.take(look.ws, last_turn)
        end_tai_ns = self.event.span_tai_ns[1]
        if look.server in (KILLED, ENDED):
            self._finish("" if self.event.after_turns == 0 else self._cut_by(look))
            return True
        if look.tai_ns < end_tai_ns:
            return False
        late_ns = look.tai_ns - end_tai_ns
        grace_ns = GRACE_NS if self._memory.has_reached(last_turn) else TURNS_GRACE_NS
        if late_ns < grace_ns and self._memory.behind(last_turn):
            return False
        self._copied = True
        if not self._durable():
            if late_ns < ARCHIVE_GRACE_NS:
                return False
            self._archive.look()  # on a busy host it is long since the last one: what came meanwhile counts
        self._take_over_from_recorder(look)
        self._finish("")
        return True

    def _durable(self) -> bool:
        """Asked now and then: it looks through the archive."""
        if monotonic() - self._asked_s < ASK_S:
            return False
        durable = self._archive.durable(self.event)
        self._asked_s = monotonic()
        return durable

    def _take_over_from_recorder(self, look: Look) -> None:
        """What a recorder that has gone meanwhile did not write is copied, as far as it is still there."""
        gone = self._recorded - self._archive.recorded
        if gone:
            self._memory.left_out -= gone
            self._memory.take(look.ws, self._last_turn)
            self.event = self.event.noted(
                f"the recorder went within the windows: {counted(len(gone), 'stream')} from memory"
            )

    def _cut_by(self, look: Look) -> str:
        word = "was killed" if look.server == KILLED else "ended"
        return f"the server {word} within the windows"

    def _last_turn(self, turn_epoch: int) -> int | None:
        if turn_epoch == self.event.zero.turn_epoch:
            return self.event.last_turn
        return self._new_epoch[1] if self._new_epoch and self._new_epoch[0] == turn_epoch else None

    def _note_restart(self, look: Look) -> None:
        """Where the machine's turn counter has restarted, the windows go on by time."""
        clock = look.clock
        if clock is None or clock.turn_epoch <= self.event.zero.turn_epoch:
            return
        end = clock.turn_at(clock.tsc_at_tai_ns(self.event.span_tai_ns[1]))
        self._new_epoch = (clock.turn_epoch, end)
        self.event = self.event.noted(
            f"the machine's turn counter restarted within the windows: turns from then on are of turn-counter epoch "
            f"{clock.turn_epoch}, and the windows end by time"
        )

    def _leave_out_what_is_too_much(self, ws: Workspace) -> None:
        turns = self.event.before_turns + self.event.after_turns + round(MARGIN_S * self.event.turn_rate_hz)
        wanted = {name: size for name, size in expected_bytes(ws, turns).items() if name not in self._memory.left_out}
        room = make_room(self._catalogue, sum(wanted.values()), self._settings.quota_bytes)
        excess = sum(wanted.values()) - room
        refused = {}
        for name in sorted(wanted, key=lambda one: ws.streams[one].period):
            if excess <= 0:
                break
            refused[name] = "the quota is full of events that are not reviewed"
            excess -= wanted[name]
        self._memory.left_out |= set(refused)
        self.event = replace(self.event, refused={**self.event.refused, **refused})

    def _pin(self) -> None:
        room = make_room(self._catalogue, self._archive.wanted_bytes(self.event), self._settings.quota_bytes)
        logs, refused = self._archive.pin(self.event, room)
        self.event = replace(self.event, logs=logs, refused={**self.event.refused, **refused})

    def _finish(self, cut: str) -> None:
        self._pin()
        self._memory.flush()
        event, rate = self.event, self.event.turn_rate_hz
        streams = better(
            self._memory.kept(event.first_turn, event.last_turn, rate), better(self._archive.kept(event), event.streams)
        )
        why = [cut] if cut else []
        damaged = sorted(name for name, kept in streams.items() if kept.why and kept.where != "nowhere")
        if damaged and not cut:
            first = streams[damaged[0]].why
            why.append(f"not whole: {len(damaged)} of {counted(len(streams), 'stream')}: {damaged[0]}: {first}")
        if event.refused:
            name, reason = next(iter(event.refused.items()))
            why.append(f"{len(event.refused)} not kept: {name}: {reason}")
        if not event.logs and all(kept.where == "nowhere" for kept in streams.values()):
            why.append("no stream has a record within the windows")
        self.event = replace(
            event,
            streams=dict(sorted(streams.items())),
            state=INCOMPLETE if why else COMPLETE,
            why="; ".join(why),
            done_tai_ns=time_format.now_tai_ns(),
        )
        self.event.save()


def better(one: Mapping[str, Kept], other: Mapping[str, Kept]) -> dict[str, Kept]:
    """Of each stream what has more of it: the first, where both have the same."""
    return {
        name: max(
            (kept for kept in (one.get(name), other.get(name)) if kept is not None), key=lambda kept: kept.records
        )
        for name in {**other, **one}
    }


def joined(event: Event, seen: Seen) -> Event:
    """The event with one more trigger."""
    zero = event.zero
    if seen.zero.from_interlock and not zero.from_interlock and seen.zero.turn_epoch == zero.turn_epoch:
        zero = seen.zero
    return replace(
        event,
        triggers=(*event.triggers, seen),
        zero=zero,
        before_turns=max(event.before_turns, seen.before_turns),
        after_turns=max(event.after_turns, seen.after_turns) if event.state == CAPTURING else event.after_turns,
    )


def save_state(ws: Workspace, folder: Path) -> None:
    """What else stands in memory: texts (the configuration), parameters, counters. As much as can be read."""
    texts = {}
    for name in ws.texts:
        try:
            texts[name] = ws.texts[name]
        except WorkspaceError as error:
            texts[name] = f"cannot be read: {error}"
    write_file(folder / TEXTS, json.dumps(texts, indent=1, ensure_ascii=False) + "\n")
    counters = {name: dict(block) for name, block in ws.counter_blocks.items()}
    write_file(folder / COUNTERS, json.dumps(counters, indent=1) + "\n")
    try:
        snapshot.write(snapshot.take(ws, readings=True, dead=True), folder / PARAMETERS)
    except (WorkspaceError, OSError) as error:
        write_file(folder / PARAMETERS, json.dumps({"cannot be read": " ".join(str(error).split())}) + "\n")

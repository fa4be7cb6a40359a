# SPDX-License-Identifier: Apache-2.0
"""The watch: looks at all triggers, makes events of what they see, and captures them. A process of its own.

It only reads the workspace, beside a small segment of its own, ``postmortem``, that tells of it and takes commands. So
it slows neither the server nor the recorder, and it goes on where it was when it was killed.
"""

from collections.abc import Callable
from contextlib import suppress
from time import monotonic, sleep

from ringmaster.errors import OwnerBusy, WorkspaceError
from ringmaster.fabric.layout import SegmentState
from ringmaster.fabric.segment import owner_lives
from ringmaster.fabric.workspace import SERVER, Workspace, attach
from ringmaster.postmortem.capture import Capture
from ringmaster.postmortem.catalogue import Catalogue
from ringmaster.postmortem.event import CAPTURING, Event, Seen, Zero
from ringmaster.postmortem.look import ENDED, KILLED, LIVES, STOPPED, Look
from ringmaster.postmortem.opening import new_event
from ringmaster.postmortem.pinning import Pinning
from ringmaster.postmortem.segment import OwnSegment
from ringmaster.postmortem.settings import Settings, Span, TriggerSettings
from ringmaster.postmortem.triggers import make

LOOK_S = 0.02
"""From one look to the next: a trigger is seen within it."""
CAPTURING_LOOK_S = 0.005
"""The same while rings are copied: the shortest ones last some milliseconds."""
FOLLOW_S = 0.5
"""How often it is asked what takes system calls: whether the server stands still, whether owners have come."""
DONE_EVENTS = 16
"""That something which is seen late may still belong to."""
COMMAND = TriggerSettings("command", "command", {})

Say = Callable[[str], None]


class Watch:
    """Call ``look`` again and again, or ``run``."""

    def __init__(self, settings: Settings, say: Say = lambda _: None, triggers: bool = True) -> None:
        """Raises ValueError for a rule that cannot be read. ``say`` is told in words what happens.

        Without ``triggers`` it only does what it is asked to, and takes no commands from the workspace.
        """
        self.catalogue = Catalogue(settings.directory)
        self._settings, self._say = settings, say
        self._triggers = [(one, make(one)) for one in settings.triggers] if triggers else []
        self._public = triggers
        self._asked: list[str] = []
        self._archive = Pinning(settings.directory)
        self._ws: Workspace | None = None
        self._own: OwnSegment | None = None
        self._captures: list[Capture] = []
        self._done: list[Event] = []
        """The newest ones: what is seen late may belong to them."""
        self._followed_s = float("-inf")
        self._server = LIVES
        self._said = ""

    def ask(self, reason: str) -> None:
        """Makes an event at the next look."""
        self._asked.append(reason)

    @property
    def trouble(self) -> str:
        """What it said last that it waits for."""
        return self._said

    def run(self, ends: Callable[[], bool] = lambda: False) -> None:
        """Until ``ends`` says so."""
        while not ends():
            self.look()
            pause_s = CAPTURING_LOOK_S if self._captures else LOOK_S if self._ws is not None else FOLLOW_S
            if self._own is not None:
                self._own.serve(pause_s)
            else:
                sleep(pause_s)

    def close(self) -> None:
        """Lets go of the workspace. What is being captured goes on at the next start."""
        for capture in self._captures:
            capture.pause()
        if self._own is not None:
            self._own.close()
        if self._ws is not None:
            self._ws.close()
        self._own = self._ws = None

    @property
    def busy(self) -> bool:
        """Whether an event is being captured."""
        return bool(self._captures)

    def look(self) -> list[Event]:
        """One round; returns the events that it began."""
        self._follow()
        if self._ws is None:
            return []
        look = Look(self._ws, self._server)
        begun = []
        for seen in self._seen(look):
            event, is_new = self._take(look, seen)
            begun += [event] if is_new else []
            if seen.kind == COMMAND.kind and self._own is not None:
                self._own.answer(event.id)
        for capture in list(self._captures):
            if capture.step(look):
                self._captures.remove(capture)
                self._conclude(capture.event)
        return begun

    def _seen(self, look: Look) -> list[Seen]:
        """What triggers see now: records of interlocks first, as they have the turn zero, then by turn."""
        seen = []
        for settings, trigger in self._triggers:
            if look.server != LIVES and settings.kind != "server":
                continue
            with suppress(WorkspaceError):
                found = trigger.look(look)
                if found is not None:
                    seen.append(self._as_seen(look, settings, *found))
        asked, self._asked = self._asked, []
        for reason in asked + (self._own.reasons() if self._own is not None else []):
            zero = look.zero_at(look.tai_ns, "when the command came")
            seen.append(self._as_seen(look, COMMAND, reason, zero))
        return sorted(seen, key=lambda one: (not one.zero.from_interlock, one.zero.turn))

    @staticmethod
    def _as_seen(look: Look, settings: TriggerSettings, reason: str, zero: Zero) -> Seen:
        rate = look.turn_rate_hz
        after = Span() if look.server == KILLED else settings.after
        turns = settings.before.in_turns(rate), after.in_turns(rate)
        return Seen(settings.name, settings.kind, reason, zero, look.tai_ns, *turns)

    def _take(self, look: Look, seen: Seen) -> tuple[Event, bool]:
        """Adds it to an event that is near, or begins one; the event, and whether it is new."""
        for capture in self._captures:
            if self._belongs(capture.event, seen):
                capture.add(seen)
                self._say(f"{capture.event.id}: also {seen.reason}")
                return capture.event, False
        for event in self._done:
            if self._belongs(event, seen):
                self.catalogue.add_trigger(event.id, seen)
                self._say(f"{event.id}: afterwards {seen.reason}")
                return event, False
        event = new_event(self.catalogue, look, seen)
        capture = Capture(event, self.catalogue, self._archive, self._settings)
        capture.begin(look)
        self._captures.append(capture)
        self._tell()
        self._say(f"{event.id}: {seen.reason}; turn zero {event.zero.turn}: {event.zero.how}")
        return capture.event, True

    def _belongs(self, event: Event, seen: Seen) -> bool:
        begin, end = event.span_tai_ns
        return begin <= seen.zero.tai_ns <= max(end, event.zero.tai_ns + self._hold_off_ns(event))

    def _hold_off_ns(self, event: Event) -> int:
        by_name = {one.name: one.hold_off for one in self._settings.triggers}
        spans = [by_name.get(seen.trigger, Span()) for seen in event.triggers]
        return round(1e9 * max(span.in_seconds(event.turn_rate_hz) for span in spans))

    def _conclude(self, event: Event) -> None:
        self._done = [*self._done, event][-DONE_EVENTS:]
        self._say(f"{event.id}: {event.state}{': ' if event.why else ''}{event.why}")
        self._tell()

    def _tell(self) -> None:
        if self._own is not None:
            self._own.tell(self.catalogue)

    def _follow(self) -> None:
        """Sees whether the server lives, and attaches anew where owners have come or gone."""
        if self._ws is not None and self._server == LIVES and not self._ws.alive:
            self._server = _how_it_ended(self._ws)
        if monotonic() - self._followed_s < FOLLOW_S:
            return
        self._followed_s = monotonic()
        if self._ws is None or self._ws.outdated or (self._server in (KILLED, ENDED) and self._ws.alive):
            self._attach()
        if self._ws is not None and self._ws.alive:
            self._server = STOPPED if self._ws.segments[SERVER].stopped else LIVES
        self._wait()

    def _attach(self) -> None:
        try:
            ws = attach(self._settings.workspace, dead=self._ws is not None)
        except (WorkspaceError, OSError) as error:
            self._say_once(f"waits for a workspace: {' '.join(str(error).split())}")
            return
        first, old, self._ws = self._ws is None, self._ws, ws
        if old is not None:
            old.close()
        if first:
            self._say(f"looks at {ws.path} with {len(self._triggers)} triggers; events go to {self.catalogue.folder}")
            self._server = LIVES
            self._resume()
        self._own_segment(ws)

    def _own_segment(self, ws: Workspace) -> None:
        if not self._public or (self._own is not None and self._own.path.exists()):
            return
        try:
            self._own = OwnSegment(str(ws.path), self.catalogue)
        except (OwnerBusy, OSError, RuntimeError) as error:
            self._own = None
            self._say_once(f"takes no commands: {' '.join(str(error).split())}")

    def _resume(self) -> None:
        """Goes on with what another watch began."""
        assert self._ws is not None
        events = self.catalogue.events()
        self._done = [event for event in events if event.state != CAPTURING][-DONE_EVENTS:]
        for event in events:
            if event.state == CAPTURING:
                capture = Capture(event, self.catalogue, self._archive, self._settings)
                capture.resume(Look(self._ws, self._server))
                self._captures.append(capture)
                self._say(f"{event.id}: goes on")

    def _wait(self) -> None:
        """Says, once each time it changes, what triggers do not find."""
        if self._ws is None or self._server != LIVES:
            return
        look = Look(self._ws)
        needs = [(one.name, trigger.waits_for(look)) for one, trigger in self._triggers]
        self._say_once("; ".join(f"{name} waits for {what}" for name, what in needs if what))

    def _say_once(self, words: str) -> None:
        if words != self._said:
            self._said = words
            if words:
                self._say(words)


def _how_it_ended(ws: Workspace) -> str:
    """Just not the owner: it ended in good order, was killed, or another one is adopting what it left."""
    segment = ws.segments[SERVER]
    if segment.state == SegmentState.CLOSED:
        return ENDED
    return LIVES if owner_lives(segment.path.parent, SERVER) else KILLED

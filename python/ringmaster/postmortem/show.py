# SPDX-License-Identifier: Apache-2.0
"""An event in words, for a terminal."""

from collections import Counter

from ringmaster.postmortem.event import CAPTURING, Event

PLACES = {"archive": "in the archive", "memory": "from memory", "nowhere": "without a record in the windows"}
"""Where a stream's windows are kept, in words."""


def review_word(event: Event) -> str:
    """Whether a person has looked at it: "by NAME", "no", …"""
    if event.released:
        return f"by {event.reviewed.by}, released" if event.reviewed else "released"
    return f"by {event.reviewed.by}" if event.reviewed else "no"


def words(event: Event) -> list[str]:
    """All of it but the streams, a fact a line."""
    rate = event.turn_rate_hz
    lines = [
        f"{event.id}: {event.reason}",
        f"  when       {event.utc}; TAI - UTC {event.tai_minus_utc_s} s",
        f"  turn zero  {event.zero.turn}, turn-counter epoch {event.zero.turn_epoch}: {event.zero.how}{_within(event)}",
        f"  windows    {_span(event.before_turns, rate)} before, {_span(event.after_turns, rate)} after",
        f"  state      {event.state}{': ' if event.why else ''}{event.why}",
        f"  reviewed   {review_word(event)}{_note(event)}",
        f"  cause      {event.cause or 'not looked for yet: `ringmaster postmortem open` does'}",
        f"  folder     {event.folder}",
    ]
    if event.state != CAPTURING and event.entry_tai_ns:
        lines.append(
            f"  times      seen {_after_ms(event, event.triggers[0].noticed_tai_ns)} after turn zero, entry "
            f"{_after_ms(event, event.entry_tai_ns)}, done {_after_ms(event, event.done_tai_ns)}"
        )
    for seen in event.triggers:
        lines.append(f"  trigger    {seen.trigger}: {seen.reason}; turn {seen.zero.turn}")
    lines += [f"  note       {note}" for note in event.notes]
    lines += [f"  not kept   {name}: {why}" for name, why in event.refused.items()]
    return [*lines, *_kept(event)]


def _kept(event: Event) -> list[str]:
    where = Counter(PLACES[kept.where] for kept in event.streams.values())
    lines = [f"  streams    {', '.join(f'{count} {place}' for place, count in where.most_common())}"] if where else []
    return lines + [f"  log        {log}, {size / 1e6:.1f} MB" for log, size in event.logs.items()]


def _note(event: Event) -> str:
    return f": {event.reviewed.note}" if event.reviewed and event.reviewed.note else ""


def _within(event: Event) -> str:
    return f" (within {event.zero.within_turns} turns)" if event.zero.within_turns > 1 else ""


def _span(turns: int, turn_rate_hz: float) -> str:
    return f"{turns} turns" + (f" ({1e3 * turns / turn_rate_hz:.4g} ms)" if turn_rate_hz > 0 else "")


def _after_ms(event: Event, tai_ns: int) -> str:
    return f"{1e-6 * (tai_ns - event.zero.tai_ns):.1f} ms"

# SPDX-License-Identifier: Apache-2.0
"""Opening an event: its folder, its ID, and what is known of it at once."""

from ringmaster.postmortem.catalogue import Catalogue
from ringmaster.postmortem.event import Event, Seen
from ringmaster.postmortem.look import Look
from ringmaster.values import time_format


def new_event(catalogue: Catalogue, look: Look, seen: Seen) -> Event:
    """An event of one trigger, not saved yet."""
    offset_s = time_format.tai_minus_utc_s()
    folder = catalogue.new_folder(seen.zero.tai_ns, offset_s)
    return Event(
        id=folder.name,
        folder=folder,
        workspace=str(look.ws.path),
        turn_rate_hz=look.turn_rate_hz,
        tai_minus_utc_s=offset_s,
        zero=seen.zero,
        before_turns=seen.before_turns,
        after_turns=seen.after_turns,
        triggers=(seen,),
    )

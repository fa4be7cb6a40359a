# SPDX-License-Identifier: Apache-2.0
"""Looking at a workspace for as long as the console runs: also through a restart of its server."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from time import monotonic

from ringmaster.beam.orbit import Orbit, read_orbit
from ringmaster.console.detail import Details, read_details
from ringmaster.console.history import History
from ringmaster.console.spectrogram import Spectrogram, newest
from ringmaster.console.spectrum import BeamSpectrum, read_spectrum
from ringmaster.errors import (
    RequestRefused,
    RequestUnanswered,
    WorkspaceAbsent,
    WorkspaceDead,
    WorkspaceError,
    WorkspaceHalfMade,
)
from ringmaster.fabric.workspace import Workspace, attach
from ringmaster.feedback.names import State
from ringmaster.monitor.feedback import FeedbackFigures, Motions, find_feedback, read_motion
from ringmaster.monitor.monitor import Monitor, Snapshot
from ringmaster.monitor.standby import StandbyLook
from ringmaster.monitor.tune_spectrum import TuneSpectrum, read_tune_spectrum

RATE_WINDOW_S = 1.0
"""Rates are over this time, however often the screen changes."""
SECOND_S = 0.98
"""From one second of the history to the next, less half a refresh."""
FOLLOW_S = 0.5
"""How often it is asked whether the server is still the same."""
PLOT_S = 0.5
"""How often orbit and spectrum are read while they are shown."""
BACKGROUND_S = 2.0
"""How often they are read for the overview."""
NEWS_S = 10.0
"""How long the news of a restart stays."""
ASK_S = 0.5
"""How long a server that we ask has time to answer: the screen stands still meanwhile."""
SETTLED_S = 1.5
"""So long a loop must have been as it is before a spectrum is one of it, beside the time that goes into one."""


NOTHING_SEEN = Motions()
NO_ROWS = Spectrogram()


@dataclass(frozen=True)
class Wanted:
    """What the page that is shown needs."""

    page: str = "overview"
    instrument: str | None = None
    """Whose details are shown."""


@dataclass(frozen=True)
class Frame:
    """All that the pages draw from. Stays as it is when more comes."""

    snapshot: Snapshot
    history: History
    now_s: float
    """When it was looked, in seconds of a monotonic clock."""
    spectrum: BeamSpectrum | None = None
    spectrogram: Spectrogram = NO_ROWS
    """Of both planes, newest row last."""
    tune_spectrum: TuneSpectrum | None = None
    """Of the tune itself; only where an application measures it."""
    details: Details | None = None
    motions: Motions = NOTHING_SEEN
    """Of the orbit, as spectra; only where a feedback runs."""
    trouble: str = ""
    """Why there is nothing new: the server has ended, …"""
    news: str = ""
    """What happened lately: the server was restarted."""
    counted_since: str = ""
    """Time of day of the last reset; empty: since the server started."""

    @property
    def orbit(self) -> Orbit | None:
        """The closed orbit, None until a BPM has sent something."""
        return self.snapshot.orbit

    @property
    def feedback(self) -> FeedbackFigures | None:
        """The orbit feedback, None where none runs."""
        return self.snapshot.feedback

    @property
    def standby(self) -> StandbyLook | None:
        """This server as one of two, None where it is alone."""
        return self.snapshot.standby


class Watch:
    """Looks again and again; attaches anew when the server was restarted or other owners have come."""

    def __init__(self, ws: Workspace, dead: bool = False) -> None:
        """``dead``: an ended server's workspace is looked at as it is."""
        self._dead = dead
        self._history = History()
        self._news = ("", 0.0)
        self._trouble = ""
        self._second_s = monotonic()
        self._followed_s = self._orbit_s = self._spectrum_s = self._motion_s = float("-inf")
        self._motions = NOTHING_SEEN
        self._loop = ("", 0.0)
        self._chosen: Callable[[], Path | None] = lambda: None
        self._begin(ws)
        self._frame = Frame(self._monitor.look(beam=False), self._history, monotonic())

    @property
    def ws(self) -> Workspace:
        """The workspace as it is attached just now."""
        return self._ws

    def follow(self, chosen: Callable[[], Path | None]) -> None:
        """From now on the workspace is looked at that is chosen, of several that are alike; None: as it is."""
        self._chosen = chosen

    def say(self, text: str) -> None:
        """Shows that as the news."""
        self._news = (text, monotonic())

    def reset(self) -> None:
        """Counts begin at zero from now on."""
        self._monitor.reset()
        self._counted_since = _time_of_day()

    def ask(self, name: str, value: float | str) -> None:
        """Asks for a parameter to be set, as `ringmaster put` does; what came of it is the news."""
        try:
            self._ws.put(name, value, timeout=ASK_S)
        except (WorkspaceError, RequestRefused, RequestUnanswered, ValueError) as error:
            self._news = (" ".join(str(error).split()), monotonic())
        else:
            self._news = (f"{name} is set to {value if isinstance(value, str) else f'{value:g}'}", monotonic())

    def close(self) -> None:
        """Detaches."""
        self._ws.close()

    def look(self, wanted: Wanted | None = None) -> Frame:
        """What is now, or what was last and why there is no more."""
        wanted = wanted or Wanted()
        now = monotonic()
        with suppress(OSError):
            self._follow(now)
        if not self._trouble:
            try:
                self._frame = self._look(wanted, now)
            except WorkspaceError as error:
                return replace(self._frame, trouble=" ".join(str(error).split()), now_s=now)
        return replace(self._frame, trouble=self._trouble, news=self._fresh_news(now), now_s=now)

    def still(self, frame: Frame) -> Frame:
        """A frame that stays as it is, with all that any page needs."""
        with suppress(WorkspaceError):
            self._read_orbit()
            self._read_spectrum()
        snapshot = replace(frame.snapshot, orbit=self._orbit)
        return replace(
            frame,
            snapshot=snapshot,
            spectrum=self._spectrum,
            spectrogram=self._spectrogram,
            tune_spectrum=self._tune_spectrum,
            history=frame.history.copy(),
        )

    def with_details(self, frame: Frame, wanted: Wanted) -> Frame:
        """The same frame with the details of the instrument that is wanted."""
        if not wanted.instrument or (frame.details and frame.details.name == wanted.instrument):
            return frame
        with suppress(WorkspaceError):
            return replace(frame, details=read_details(self._ws, wanted.instrument))
        return frame

    def _begin(self, ws: Workspace) -> None:
        self._ws = ws
        self._generation = ws.segments["server"].generation
        self._monitor = Monitor(ws, RATE_WINDOW_S)
        self._orbit: Orbit | None = None
        self._spectrum: BeamSpectrum | None = None
        self._spectrogram = Spectrogram()
        self._tune_spectrum: TuneSpectrum | None = None
        self._counted_since = ""

    def _follow(self, now: float) -> None:
        if now - self._followed_s < FOLLOW_S:
            return
        self._followed_s = now
        path = self._chosen() or self._ws.path
        same = self._ws.segments["server"].generation == self._generation and path == self._ws.path
        if (self._ws.alive or self._dead) and same and not self._ws.outdated:
            self._trouble = "" if self._dead else self._stopped()
            return
        try:
            ws = attach(str(path), self._dead)
        except (WorkspaceDead, WorkspaceAbsent, WorkspaceHalfMade):
            self._trouble = self._trouble or f"the server ended before {_time_of_day()}; these are its last figures"
            return
        except WorkspaceError as error:
            self._trouble = " ".join(str(error).split())
            return
        restarted = path == self._ws.path and (bool(self._trouble) or not same or not self._ws.alive)
        old, self._trouble = self._ws, ""
        self._begin(ws)
        old.close()
        if restarted:
            self._news = (f"the server was restarted at {_time_of_day()}", now)

    def _stopped(self) -> str:
        try:
            self._ws.check()
        except WorkspaceError as error:
            return str(error)
        return ""

    def _fresh_news(self, now: float) -> str:
        text, since = self._news
        return text if now - since < NEWS_S else ""

    def _look(self, wanted: Wanted, now: float) -> Frame:
        snapshot = self._monitor.look(beam=False)
        self._read_beam(wanted, now)
        self._note_loop(snapshot, now)
        if now - self._motion_s >= _pace(wanted.page, "feedback"):
            self._motion_s = now
            self._read_motion(now)
        tunes = (self._spectrum.x.tune, self._spectrum.y.tune) if self._spectrum else None
        lines = self._tune_spectrum.lines if self._tune_spectrum else None
        snapshot = replace(snapshot, orbit=self._orbit, tunes=snapshot.tunes or tunes, tune_lines=lines)
        if now - self._second_s >= SECOND_S:
            self._second_s = now
            self._history.keep_snapshot(snapshot, self._monitor.latency())
        details = read_details(self._ws, wanted.instrument) if wanted.instrument else None
        return Frame(
            snapshot=snapshot,
            history=self._history,
            now_s=now,
            spectrum=self._spectrum,
            spectrogram=self._spectrogram,
            tune_spectrum=self._tune_spectrum,
            details=details,
            motions=self._motions,
            counted_since=self._counted_since,
        )

    def _read_beam(self, wanted: Wanted, now: float) -> None:
        """Orbit and spectrum, no more often than they are looked at."""
        if now - self._orbit_s >= _pace(wanted.page, "orbit"):
            self._orbit_s = now
            self._read_orbit()
        if now - self._spectrum_s >= _pace(wanted.page, "tune"):
            self._spectrum_s = now
            self._read_spectrum()

    def _read_orbit(self) -> None:
        with suppress(ValueError):
            self._orbit = read_orbit(self._ws)

    def _note_loop(self, snapshot: Snapshot, now: float) -> None:
        """Since when the feedback is in its state, with its resonators on or off, and the machine disturbed or not."""
        one = snapshot.feedback
        state = "" if one is None else f"{one.mostly == State.ON} {one.switches['resonators']} {one.disturbed}"
        if state != self._loop[0]:
            self._loop = (state, now)

    def _read_motion(self, now: float) -> None:
        """The spectrum of now; it is one of the open or of the closed loop when that has been so for long enough."""
        with suppress(ValueError, WorkspaceError):
            name = find_feedback(self._ws)
            motion = None if name is None else read_motion(self._ws, name)
            if motion is None:
                return
            self._motions = replace(self._motions, now=motion)
            if now - self._loop[1] >= motion.span_s + SETTLED_S:
                kind = "closed" if self._loop[0].startswith("True") else "open"
                self._motions = replace(self._motions, **{kind: motion})

    def _read_spectrum(self) -> None:
        with suppress(ValueError):
            self._spectrum = read_spectrum(self._ws)
            self._spectrogram = newest(self._ws, self._spectrogram, self._spectrum)
            self._tune_spectrum = read_tune_spectrum(self._ws)


def _pace(shown: str, page: str) -> float:
    """Seconds between two readings of what a page shows."""
    if shown == page:
        return PLOT_S
    return BACKGROUND_S if shown == "overview" else float("inf")


def _time_of_day() -> str:
    return datetime.now().strftime("%H:%M:%S")

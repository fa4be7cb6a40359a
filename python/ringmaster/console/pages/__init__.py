# SPDX-License-Identifier: Apache-2.0
"""The pages, in the order of their keys. Each draws a frame as lines of text of a width, and of a height if it has one.

A page draws all that it has; what is longer than the screen is scrolled, unless the page has a cursor and picks the
rows itself.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ringmaster.console.lines import Line
from ringmaster.console.pages import (
    applications,
    cores,
    faults,
    feedback,
    links,
    orbit,
    overview,
    ports,
    standby,
    streams,
    supplies,
    tune,
)
from ringmaster.console.view import View
from ringmaster.console.watch import Frame


class Page(NamedTuple):
    """One page."""

    name: str
    draw: Callable[[Frame, View, int, int | None], list[Line]]
    about: str
    """What stands on it, for the help."""
    sorts: Sequence[str] = ()
    """The columns that it can be sorted by."""
    selects: bool = False
    """Whether it has a cursor; enter then shows the details."""
    keys: Callable[[Frame, View], Sequence[tuple[str, str]]] = lambda _frame, _view: ()
    """Keys of its own that do something just now, and what each does, for the foot of the screen."""
    has_content: Callable[[Frame], bool] = lambda _frame: True
    """A page without content has no tab."""


PAGES: tuple[Page, ...] = (
    Page(overview.NAME, overview.draw, overview.ABOUT),
    Page(ports.NAME, ports.draw, ports.ABOUT, tuple(ports.SORTS), selects=True),
    Page(streams.NAME, streams.draw, streams.ABOUT, tuple(streams.SORTS), selects=True),
    Page(cores.NAME, cores.draw, cores.ABOUT, tuple(cores.SORTS)),
    Page(links.NAME, links.draw, links.ABOUT),
    Page(faults.NAME, faults.draw, faults.ABOUT),
    Page(orbit.NAME, orbit.draw, orbit.ABOUT, keys=orbit.keys, has_content=orbit.has_content),
    Page(tune.NAME, tune.draw, tune.ABOUT, has_content=tune.has_content),
    Page(
        supplies.NAME,
        supplies.draw,
        supplies.ABOUT,
        tuple(supplies.SORTS),
        selects=True,
        has_content=lambda frame: bool(frame.snapshot.supplies),
    ),
    Page(
        applications.NAME,
        applications.draw,
        applications.ABOUT,
        tuple(applications.SORTS),
        selects=True,
        has_content=lambda frame: bool(frame.snapshot.applications),
    ),
    Page(
        feedback.NAME,
        feedback.draw,
        feedback.ABOUT,
        keys=feedback.keys,
        has_content=lambda frame: frame.feedback is not None,
    ),
    Page(
        standby.NAME,
        standby.draw,
        standby.ABOUT,
        keys=standby.keys,
        has_content=lambda frame: frame.standby is not None,
    ),
)

PAGE_NAMES = tuple(page.name for page in PAGES)


def page_named(name: str) -> Page:
    """The page of a name."""
    return next(page for page in PAGES if page.name == name)

# SPDX-License-Identifier: Apache-2.0
"""What keys and menus do: one table."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from ringmaster.viewer.desk import ZOOM_STEP, Desk
from ringmaster.viewer.saving import Kind


@dataclass(frozen=True)
class Action:
    """One thing to do."""

    keys: tuple[str, ...]
    """Characters, or names of keys as Tk has them; the first one is shown."""
    menu: str
    words: str
    do: Callable[[Desk], None]


def _help(desk: Desk) -> None:
    desk.help = not desk.help


def _end(desk: Desk) -> None:
    desk.ends = True


def _back(desk: Desk) -> None:
    if desk.help:
        desk.help = False
    else:
        desk.choose(None)


ACTIONS = (
    Action(("space",), "Frame", "Freeze; again: go on", Desk.freeze),
    Action((".", "Right"), "Frame", "Step to the next frame, frozen", Desk.step),
    Action(("s",), "Frame", "Save the picture as shown (PNG)", lambda desk: desk.save(Kind.PICTURE)),
    Action(("S",), "Frame", "Save all pixels (PNG of 8 or 16 bits)", lambda desk: desk.save(Kind.PIXELS)),
    Action(("n",), "Frame", "Save all pixels (NumPy)", lambda desk: desk.save(Kind.ARRAY)),
    Action(("q",), "Frame", "Quit", _end),
    Action(("l",), "Look", "Levels: auto, min-max, full, fixed", Desk.next_levels),
    Action(("f",), "Look", "Fix the levels of now", Desk.fix_levels),
    Action(("c",), "Look", "False colours: the next map", Desk.next_colours),
    Action(("b",), "Look", "Colours of the sensor, or its pixels", Desk.toggle_bayer),
    Action(("h",), "Look", "Histogram", Desk.toggle_histogram),
    Action(("+", "="), "Zoom", "Closer (wheel)", lambda desk: desk.zoom(ZOOM_STEP)),
    Action(("-",), "Zoom", "Farther (wheel)", lambda desk: desk.zoom(1 / ZOOM_STEP)),
    Action(("w",), "Zoom", "The whole image", lambda desk: desk.zoom_to(inf)),
    Action(("o",), "Zoom", "One pixel on one", lambda desk: desk.zoom_to(1)),
    Action(("Tab",), "Camera", "The next camera alone (double click)", lambda desk: desk.choose_next(1)),
    Action(("Escape", "a"), "Camera", "All cameras", _back),
    Action(("r",), "Camera", "Count from now on", Desk.reset),
    Action(("?",), "Help", "Keys", _help),
)

BY_KEY = {key: action for action in ACTIONS for key in action.keys}


def press(desk: Desk, character: str, name: str = "") -> bool:
    """Does what a key is for; whether it is for anything."""
    action = BY_KEY.get(character) or BY_KEY.get(name)
    if action is not None:
        desk.message = ""
        action.do(desk)
    elif character.isdigit() and character != "0" and int(character) <= len(desk.tiles):
        desk.choose(list(desk.tiles)[int(character) - 1])
    else:
        return False
    return True


def help_lines() -> list[tuple[str, str]]:
    """Each key, and what it does."""
    others = [("1 … 9", "That camera alone"), ("drag", "Move the picture")]
    return [(action.keys[0], action.words) for action in ACTIONS] + others

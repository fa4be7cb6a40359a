# SPDX-License-Identifier: Apache-2.0
"""`ringmaster view`: images of cameras, live."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ringmaster.cli.options import examples, workspace_option
from ringmaster.errors import ObjectNotFound

if TYPE_CHECKING:
    from ringmaster.viewer.desk import Desk
    from ringmaster.viewer.window import ViewerWindow

WINDOW = "1000x800"
FRAMES = 10
"""Of each camera, before a capture is saved."""


class Size(click.ParamType[tuple[int, int]]):
    """Width and height, "1000x800"."""

    name = "WxH"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Pixels."""
        parts = str(value).split("x")
        if len(parts) != 2 or not all(part.isdigit() and 100 <= int(part) <= 10_000 for part in parts):
            self.fail(f"found {value!r}, expected width and height from 100 to 10000 pixels, as {WINDOW}", param, ctx)
        return int(parts[0]), int(parts[1])


@click.command(
    epilog=examples(
        "ringmaster view",
        "ringmaster view --camera cam01 --camera cam02",
        "ringmaster view --camera cam01 --keys ch",
        "ringmaster view --save-window view.png --frames 50",
    )
)
@workspace_option
@click.option("--camera", "cameras", multiple=True, metavar="NAME", help="Show this one; may be repeated. [all]")
@click.option("--size", type=Size(), default=WINDOW, help=f"Of the window, pixels. [default: {WINDOW}]")
@click.option(
    "--keys", default="", metavar="TEXT", help="Keys that are pressed at the start, such as c: false colours."
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path(),
    help="Where files are saved. [here]",
)
@click.option(
    "--save-window",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Save a capture of the window (PNG) and end.",
)
@click.option(
    "--frames",
    type=click.IntRange(1),
    default=FRAMES,
    metavar="N",
    help=f"Before that, show so many of each camera. [default: {FRAMES}]",
)
def view(
    workspace: str | None,
    cameras: tuple[str, ...],
    size: tuple[int, int],
    keys: str,
    folder: Path,
    save_window: Path | None,
    frames: int,
) -> None:
    """Show images of cameras live: frames per second, loss, latency, values of pixels, zoom, false colours, freeze.

    It reads the frames that a receiver puts together (`ringmaster cameras run FILE`), over whatever they come, and
    disturbs nobody. `?` shows the keys. When the receiver ends it waits until one runs again.
    """
    _check_tk()
    from ringmaster.viewer.desk import Desk
    from ringmaster.viewer.images import Images

    with Images(workspace) as source:
        _check_cameras(cameras, source.names)
        desk = Desk(source, cameras, folder)
        window = _window(desk, f"ringmaster view {source.workspace}", size)
        try:
            for key in keys:
                window.press(key)
            window.run((lambda: desk.least_shown >= frames) if save_window else None)
            if save_window and not desk.ends:
                window.capture(save_window)
        finally:
            window.close()


def _check_tk() -> None:
    """Says what to install. Python's Tk is a package of its own with Debian and others."""
    try:
        import tkinter  # noqa: F401 says now whether it is there
    except ImportError:
        raise click.ClickException(
            "the window needs Tk for Python: install `python3-tk` (Debian), or your distribution's package of it"
        ) from None


def _check_cameras(wanted: Sequence[str], there: Sequence[str]) -> None:
    for name in wanted:
        if name not in there:
            raise ObjectNotFound(f"no camera {name!r}; there are {', '.join(there) or 'none'}")


def _window(desk: "Desk", title: str, size: tuple[int, int]) -> "ViewerWindow":
    """A window, or why there is none."""
    import tkinter as tk

    from ringmaster.viewer.window import ViewerWindow

    try:
        return ViewerWindow(desk, title, *size)
    except tk.TclError as error:
        raise click.ClickException(
            f"no window: {error}. Set DISPLAY to a screen, or run under one of its own: `xvfb-run ringmaster view …`"
        ) from None

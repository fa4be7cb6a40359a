# SPDX-License-Identifier: Apache-2.0
"""The live page of `ringmaster top`."""

from collections.abc import Callable
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from ringmaster.cli import panels
from ringmaster.errors import WorkspaceError
from ringmaster.monitor import Monitor, Snapshot
from ringmaster.workspace import Workspace, attach

REFRESH_S = 0.5


class Console(App[None]):
    """Shows a workspace twice a second; follows a restarted server."""

    TITLE = "ringmaster top"
    CSS = "Static { height: auto; margin: 0 1 1 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [("q", "quit", "Quit")]
    ENABLE_COMMAND_PALETTE = False
    PANELS: ClassVar[dict[str, Callable[[Snapshot], Table | Text]]] = {
        "summary": panels.summary,
        "orbit": panels.orbit,
        "streams": panels.streams,
        "ports": panels.ports,
        "cores": panels.cores,
        "senders": panels.senders,
    }

    def __init__(self, ws: Workspace, dead: bool = False) -> None:
        super().__init__()
        self._ws = ws
        self._dead = dead
        self._monitor = Monitor(ws)

    def compose(self) -> ComposeResult:
        """One block of text for each panel."""
        with VerticalScroll():
            for name in self.PANELS:
                yield Static(id=name)
        yield Footer()

    def on_mount(self) -> None:
        """Looks at once, and then regularly."""
        self.look()
        self.set_interval(REFRESH_S, self.look)

    def look(self) -> None:
        """Shows what is now."""
        try:
            self._follow()
            snapshot = self._monitor.look()
        except WorkspaceError as error:
            self.query_one("#summary", Static).update(f"[bold red]{error}[/]")
            return
        for name, panel in self.PANELS.items():
            self.query_one(f"#{name}", Static).update(panel(snapshot))

    def _follow(self) -> None:
        """Attaches anew when the server was restarted or other owners have come."""
        if self._ws.alive and not self._ws.outdated:
            return
        if self._dead and not self._ws.outdated:
            return
        self._ws = attach(str(self._ws.path), self._dead)
        self._monitor = Monitor(self._ws)

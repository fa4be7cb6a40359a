# SPDX-License-Identifier: Apache-2.0
"""The live page, without a terminal."""

import asyncio
import math

import fabric
from conftest import MakeOwner
from rich.console import Console as RichConsole
from textual.widgets import Static

import ringmaster
from ringmaster.cli.console import Console
from ringmaster.cli.panels import bars


def shown(app: Console, name: str) -> str:
    """What a panel shows, as plain text."""
    console = RichConsole(width=120, color_system=None)
    with console.capture() as capture:
        console.print(app.query_one(f"#{name}", Static).content)
    return capture.get()


def test_the_page_shows_a_restarted_server_and_ends_with_q(make_owner: MakeOwner) -> None:
    objects = [fabric.clock(tsc_hz_bits=1e9), fabric.counters("stream/bpm01", "stream", accepted=5, passed_over=3)]
    owner = make_owner(objects)

    async def watch() -> None:
        app = Console(ringmaster.attach("demo"))
        async with app.run_test() as pilot:
            assert "bpm01" in shown(app, "streams")
            assert "lost 3" in shown(app, "summary")
            assert "no beam positions yet" in shown(app, "orbit")
            owner.die()
            app.look()
            assert "has ended" in shown(app, "summary")
            make_owner([*objects, fabric.counters("stream/bpm02", "stream")])
            app.look()
            assert "bpm02" in shown(app, "streams")
            await pilot.press("q")
        assert app.return_code == 0

    asyncio.run(watch())


def test_bars_go_up_and_down_from_the_middle() -> None:
    assert bars([1.0, -1.0, 0.5, math.nan], rows=4, columns=4) == ["█", "█ █", " █", " █"]


def test_many_bars_are_put_together_by_their_extremes() -> None:
    assert bars([0.0, 1.0, -1.0, 0.0], rows=2, columns=2) == ["█", " █"]
    assert bars([], rows=2, columns=10) == ["", ""]
    assert bars([0.0], rows=1, columns=1) == [""]

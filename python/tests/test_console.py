# SPDX-License-Identifier: Apache-2.0
"""The live pages, without a terminal."""

import asyncio
import os
from collections.abc import Sequence

import fabric
import numpy as np
import pytest
from conftest import MakeOwner
from textual.pilot import Pilot

import ringmaster
from ringmaster.cli.console import Canvas, Console
from ringmaster.console import affinity
from ringmaster.console.pages import PAGE_NAMES
from ringmaster.console.view import PAGE_KEYS
from ringmaster.fabric.layout import ElementType

SIZES = ((80, 24), (200, 60))


def shown(app: Console) -> str:
    """What the terminal shows, as plain text."""
    canvas = app.query_one(Canvas)
    return "\n".join(canvas.render_line(y).text.rstrip() for y in range(canvas.size.height))


def objects(**counters: int) -> list[fabric.Spec]:
    """A server with one instrument."""
    return [
        fabric.clock(anchored=1, ticks_per_turn_bits=1000.0, tsc_hz_bits=1e9),
        fabric.stream("bpm01/turn", capacity=2048),
        fabric.counters("stream/bpm01", "stream", **counters),
        fabric.counters("port/ring", "port", received=1000, decoded=990, bad_length=10),
        fabric.counters("core/1", "core", core=0),
    ]


async def until(app: Console, pilot: Pilot[None], words: str) -> None:
    """Waits until the terminal shows them."""
    for _ in range(500):
        if words in shown(app):
            return
        await pilot.pause(0.02)
    raise AssertionError(f"{words!r} is not there:\n{shown(app)}")


async def press(pilot: Pilot[None], keys: Sequence[str]) -> None:
    """Presses keys, one after the other."""
    for key in keys:
        await pilot.press(key)


@pytest.mark.parametrize("size", SIZES)
def test_simulated_time_is_reported_above_every_page(make_owner: MakeOwner, size: tuple[int, int]) -> None:
    flag = fabric.parameter("server/simulated_time", np.array([1], np.uint32), "", ElementType.U32)
    nominal = fabric.parameter("server/turn_rate_hz", np.array([4e6]), "Hz", ElementType.F64)
    make_owner([*objects(), flag, nominal])

    async def watch() -> None:
        app = Console(ringmaster.attach("demo"))
        async with app.run_test(size=size) as pilot:
            for number in range(1, len(PAGE_NAMES)):
                await pilot.press(str(number % 10))
                assert "SIMULATED TIME, 0.25 of real" in shown(app).splitlines()[0]
                assert "kHz" not in shown(app).splitlines()[0]
            await pilot.press("q")

    asyncio.run(watch())


def test_it_follows_a_restarted_server_and_ends_with_q(make_owner: MakeOwner) -> None:
    owner = make_owner(objects(accepted=5, skipped=3))

    async def watch() -> None:
        app = Console(ringmaster.attach("demo"), rate_hz=20)
        async with app.run_test() as pilot:
            assert "lost 3" in shown(app)
            assert "bad_length" in shown(app)
            owner.die()
            await until(app, pilot, "these are its last figures")
            assert "lost 3" in shown(app)
            make_owner([*objects(), fabric.counters("stream/bpm02", "stream")])
            await until(app, pilot, "the server was restarted at")
            assert "lost 0" in shown(app)
            await pilot.press("3")
            assert "bpm02" in shown(app)
            await pilot.press("q")
        assert app.return_code == 0

    asyncio.run(watch())


def test_it_shows_the_one_of_two_that_is_chosen_and_takes_keys_of_its_caller(make_owner: MakeOwner) -> None:
    """As the demonstration of two servers has it: the one that is shown dies, and the other one is shown."""
    first, _ = make_owner(objects(), workspace="ring-a"), make_owner(objects(skipped=7), workspace="ring-b")
    shown_one = ["ring-a"]

    def kill() -> str:
        first.die()
        shown_one[0] = "ring-b"
        return "ring-a was killed"

    async def watch() -> None:
        app = Console(ringmaster.attach("ring-a"), rate_hz=20)
        app.follow(lambda: ringmaster.fabric.workspace.directory_of(shown_one[0]))
        app.add_key("k", "kill it", kill)
        async with app.run_test() as pilot:
            assert "k kill it" in shown(app).splitlines()[-1]
            await pilot.press("k")
            await until(app, pilot, "ring-a was killed")
            await until(app, pilot, "ringmaster ring-b")
            assert "lost 7" in shown(app)
            await pilot.press("q")

    asyncio.run(watch())


@pytest.mark.parametrize("size", SIZES)
def test_every_page_is_shown_by_its_key(make_owner: MakeOwner, size: tuple[int, int]) -> None:
    owner = make_owner(objects())
    owner.fill("bpm01/turn", 1, 1500)
    marks = (
        "Now",
        "PORT",
        "NAME",
        "CORE",
        "Exception path",
        "Faults",
        "Orbit",
        "spectrum",
        "no supplies",
        "no applications",
        "no orbit feedback",
        "this server is alone",
    )

    async def walk() -> None:
        app = Console(ringmaster.attach("demo"))
        async with app.run_test(size=size) as pilot:
            for key, (name, mark) in enumerate(zip(PAGE_NAMES, marks, strict=True), start=1):
                await pilot.press(PAGE_KEYS[key - 1] if key <= 10 else ("minus", "equals_sign")[key - 11])
                assert f"{PAGE_KEYS[key - 1]} {name}" in shown(app)
                assert mark in shown(app), shown(app)
            await press(pilot, ["tab"])
            assert "Clock and beam" in shown(app)
            assert "supplies" not in shown(app), "a page without content has no tab"
            await press(pilot, ["left", "question_mark"])
            assert "The page of tune" in shown(app)

    asyncio.run(walk())


def test_bpms_that_do_not_send_every_turn_show_an_orbit_and_no_spectrum(make_owner: MakeOwner) -> None:
    owner = make_owner([fabric.stream("bpm01/raw", period=116), fabric.counters("stream/bpm01", "stream")])
    owner.fill("bpm01/raw", 0, 5800, period=116)

    async def look() -> None:
        app = Console(ringmaster.attach("demo"))
        async with app.run_test() as pilot:
            await pilot.press("7")
            await until(app, pilot, "1 BPM, 1024 turns up to 5800")
            await pilot.press("8")
            await until(app, pilot, "no turn-by-turn BPMs")

    asyncio.run(look())


def test_frozen_figures_stay_while_counting_goes_on(make_owner: MakeOwner) -> None:
    owner = make_owner(objects(accepted=100))
    owner.fill("bpm01/turn", 1, 1500)

    async def freeze() -> None:
        app = Console(ringmaster.attach("demo"), rate_hz=20)
        async with app.run_test() as pilot:
            await press(pilot, ["3", "space"])
            owner.set_counter("stream/bpm01", "accepted", 777)
            await pilot.pause(0.2)
            assert "777" not in shown(app)
            assert "FROZEN" in shown(app)
            await press(pilot, ["7"])
            assert "1 BPM," in shown(app)
            await press(pilot, ["3", "enter"])
            assert "Newest record" in shown(app)
            await press(pilot, ["escape", "space"])
            await until(app, pilot, "777")

    asyncio.run(freeze())


def test_reset_counts_from_now_on(make_owner: MakeOwner) -> None:
    owner = make_owner(objects(accepted=100, skipped=9))

    async def reset() -> None:
        app = Console(ringmaster.attach("demo"), rate_hz=20)
        async with app.run_test() as pilot:
            await press(pilot, ["6"])
            assert "bad_length" in shown(app)
            await press(pilot, ["r"])
            assert "bad_length" not in shown(app)
            assert "lost 0" in shown(app)
            owner.set_counter("port/ring", "bad_length", 12)
            await until(app, pilot, "bad_length  2 packets")

    asyncio.run(reset())


def test_it_keeps_off_the_servers_cores(make_owner: MakeOwner) -> None:
    before = os.sched_getaffinity(0)
    make_owner([fabric.counters("core/2", "core", core=7), fabric.counters("core/1", "core", core=max(before))])
    with ringmaster.attach("demo") as ws:
        assert affinity.server_cores(ws) == {7, max(before)}
    try:
        free = affinity.keep_off({max(before)}, before)
        assert free == (before - {max(before)} or before)
        assert os.sched_getaffinity(0) == free
        assert affinity.keep_off(before, before) == before
    finally:
        os.sched_setaffinity(0, before)

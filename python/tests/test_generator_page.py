# SPDX-License-Identifier: Apache-2.0
"""The generator's page and what is typed there, without a terminal and without a server."""

import asyncio
from pathlib import Path

import pytest
from generator import FLOW, FRAME, StillWatch, session_of, told
from textual import events
from textual.pilot import Pilot

from ringmaster.cli.console import Canvas
from ringmaster.cli.generator_console import GeneratorConsole
from ringmaster.console.lines import plain, width_of
from ringmaster.traffic import screen
from ringmaster.traffic.pages import PAGES
from ringmaster.traffic.prompt import Prompt
from ringmaster.traffic.session import ScriptFailed, Session

SIZES = ((80, 24), (200, 60))
RANGE = {
    "field": "source address",
    "changes": "range",
    "start": "10.0.0.1",
    "min": "10.0.0.1",
    "max": "10.0.0.9",
    "inc": 1,
}


def eight() -> StillWatch:
    """Ports of all sorts."""
    tagged = {**FRAME, "tagged": True, "vlan": 7, "type": "ipv6", "src_ip": "fd00::c0a8:1", "proto": "tcp"}
    ports = [
        told("p0", ranges=[RANGE], range=True),
        told("p1", sequence=[FRAME, tagged]),
        told("p2", flows=[FLOW, FLOW]),
    ]
    return StillWatch(*ports, *(told(f"p{i}", link_up=i != 5, sending=False) for i in range(3, 8)))


def drawn(session: Session, size: tuple[int, int], prompt: Prompt | None = None) -> str:
    """The screen as text, which fits the size."""
    lines = screen.draw(session, prompt or Prompt(session.complete), *size)
    assert len(lines) == size[1]
    assert all(width_of(spans) <= size[0] for spans in lines)
    return "\n".join(map(plain, lines))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_every_page_fits_and_says_what_it_is_for(size: tuple[int, int], page: str) -> None:
    marks = {
        "main": ("14.00M/14.70M", "99%", "64/64", "1234/5678", "192.168.0.1", "02:00:00:00:01:01", "123.0M/123.5M"),
        "range": ("source address", "10.0.0.9", "10.0.0.1 +1"),
        "seq": ("2 frames in turn", "fd00::c0a8:1", "IPv6/TCP:0007"),
        "latency": ("P99.9", "1.40 µs", "123 µs"),
        "stats": ("LOST", "REORDERED", "1.0 %"),
    }
    session = session_of(eight())
    session.page = page
    text = drawn(session, size)
    for mark in marks[page]:
        assert mark in text, text


def test_three_ports_stand_beside_each_other_on_a_small_screen_and_eight_on_a_large_one() -> None:
    session = session_of(eight())
    text = drawn(session, (80, 24))
    assert "ports 0-2 of 8" in text
    assert "2: p2" in text
    assert "3: p3" not in text
    session.say("page next", 78)
    assert "3: p3" in drawn(session, (80, 24))
    session.say("page next", 78)
    session.say("page next", 78)
    text = drawn(session, (80, 24))
    assert "ports 6-7 of 8" in text
    assert "all ports" in text, "there is room for the sums"
    session.say("page 0", 78)
    wide = drawn(session, (200, 60))
    assert "7: p7" in wide
    assert "984.0M/987.7M" in wide, "the sum of all ports"
    assert "stopped DOWN" in wide


def test_pages_without_content_say_what_to_type() -> None:
    session = session_of(StillWatch(told("p0")))
    for page, words in (
        ("range", "range 0 src ip max"),
        ("latency", "enable 0 latency"),
        ("stats", "enable 0 latency"),
    ):
        session.say(f"page {page}")
        assert words in drawn(session, (80, 24))


def test_lines_go_to_the_server_and_its_words_to_the_screen() -> None:
    watch = eight()
    session = session_of(watch)
    session.say("set 0 rate 10")
    assert watch.commands.said == ["set 0 rate 10"]
    session.say("wrong words")
    assert '"wrong" begins no command' in drawn(session, (80, 24))
    watch.commands.answer = [f"line {i}" for i in range(40)]
    session.say("help")
    assert "page NAME" in drawn(session, (80, 24)), "its own words are in the help"
    session.scroll = 30
    assert "line 20" in drawn(session, (80, 24))
    watch.commands.answer = []
    session.say("clr")
    assert watch.cleared == 1
    session.say("page nowhere")
    assert "expected one of main, range, seq, latency, stats" in session.refused
    session.say("quit")
    assert session.ended


def test_files_are_those_of_the_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    watch = eight()
    session = session_of(watch)
    session.say("capture 0 all.pcap")
    session.say("capture 0 off")
    session.say("pcap 0 /data/in.pcap 2 1")
    session.say('capture 0 "two words.pcap" # of 0')
    assert watch.commands.said == [
        f"capture 0 {tmp_path}/all.pcap",
        "capture 0 off",
        "pcap 0 /data/in.pcap 2 1",
        f'capture 0 "{tmp_path}/two words.pcap"',
    ]
    (tmp_path / "two words.pkt").write_text('set 0 user pattern "a#b"\n')
    session.say('load "two words.pkt"')
    assert watch.commands.said[-1] == 'set 0 user pattern "a#b"'
    (tmp_path / "traffic.pkt").write_text("")
    assert session.complete("load tr") == ["traffic.pkt"]
    assert session.complete("capture 0 tr") == ["traffic.pkt"]


def test_a_script_waits_and_goes_on(tmp_path: Path) -> None:
    script = tmp_path / "traffic.pkt"
    script.write_text("# two steps\nset 0 rate 1\nstart 0\ndelay 500\nstop 0   # the end\npage stats\nsleep 1\nquit\n")
    watch, now = eight(), [0.0]
    session = session_of(watch, clock=lambda: now[0])
    session.say(f"load {script}")
    assert watch.commands.said == ["set 0 rate 1", "start 0"]
    now[0] = 0.4
    session.go_on()
    assert watch.commands.said[-1] == "start 0"
    now[0] = 0.5
    session.go_on()
    assert watch.commands.said[-1].startswith("stop 0")
    assert session.page == "stats"
    assert not session.ended
    now[0] = 1.5
    session.go_on()
    assert session.ended


def test_a_script_waits_until_no_port_sends() -> None:
    sending, stopped = StillWatch(told("p0")), StillWatch(told("p0", sending=False))
    session = session_of(sending)
    session.queue(["start 0", "wait", "show 0"])
    session.go_on()
    assert sending.commands.said == ["start 0"]
    assert not session.idle
    sending.ports = stopped.ports
    session.go_on()
    assert sending.commands.said == ["start 0", "show 0"]


def test_a_script_stops_at_the_line_that_is_refused(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner.pkt", tmp_path / "outer.pkt"
    inner.write_text("set 0 rate 1\nwrong line\nset 0 rate 2\n")
    outer.write_text(f"load {inner}\nset 0 rate 3\n")
    watch = eight()
    session = session_of(watch)
    session.queue([f"load {outer}"])
    with pytest.raises(ScriptFailed, match=f'{inner}:2: "wrong" begins no command'):
        session.go_on()
    assert watch.commands.said == ["set 0 rate 1"]
    assert session.idle
    outer.write_text(f"load {outer}\n")
    session.queue([f"load {outer}"])
    with pytest.raises(ScriptFailed, match="within each other"):
        session.go_on()
    session.queue(["load /nowhere"])
    with pytest.raises(ScriptFailed, match="load: /nowhere: No such file"):
        session.go_on()
    for delay in ("soon", "9" * 400):
        session.queue([f"delay {delay}"])
        with pytest.raises(ScriptFailed, match="expected a whole number of milliseconds"):
            session.go_on()


def typed(prompt: Prompt, text: str) -> None:
    """Types it."""
    for letter in text:
        prompt.press("space" if letter == " " else letter, letter)


def test_tab_completes_as_far_as_it_goes() -> None:
    session = session_of(eight())
    prompt = Prompt(session.complete)
    typed(prompt, "s")
    prompt.press("tab", None)
    assert list(prompt.choices) == ["set", "start", "stop"]
    assert "set  start  stop" in drawn(session, (80, 24), prompt)
    typed(prompt, "et ")
    prompt.press("tab", None)
    assert list(prompt.choices[:3]) == ["all", "p0", "p1"], "for PORTS there are their names"
    typed(prompt, "0 ra")
    prompt.press("tab", None)
    assert prompt.text == "set 0 rate "
    prompt.press("tab", None)
    assert list(prompt.choices) == ["<PERCENT>"]
    assert prompt.text == "set 0 rate "


def test_the_line_is_edited_and_remembered() -> None:
    prompt = Prompt(lambda _: [])
    typed(prompt, "stop 0")
    assert prompt.press("enter", None) == "stop 0"
    assert prompt.press("enter", None) is None
    typed(prompt, "start 1")
    for key in ("left", "backspace", "home", "delete"):
        prompt.press(key, None)
    assert prompt.text == "tart1"
    prompt.press("up", None)
    assert prompt.text == "stop 0"
    prompt.press("down", None)
    assert prompt.text == "tart1"
    for key, text in (("ctrl+u", ""), ("up", "stop 0"), ("ctrl+w", "stop "), ("ctrl+a", "stop "), ("ctrl+k", "")):
        prompt.press(key, None)
        assert prompt.text == text
    typed(prompt, "x" * 300)
    assert width_of(prompt.draw(80)) <= 80


def test_the_console_types_pages_and_ends() -> None:
    watch = eight()

    async def use() -> None:
        app = GeneratorConsole(session_of(watch))
        async with app.run_test(size=(80, 24)) as pilot:
            await _keys(pilot, "set 0 rate 5")
            await pilot.press("enter")
            assert watch.commands.said[-1] == "set 0 rate 5"
            app.post_message(events.Paste("set 0 rate 6\nset 0 rate 7"))
            await pilot.press("enter")
            assert watch.commands.said[-1] == "set 0 rate 6"
            await pilot.press("f4")
            assert "P99.9" in _shown(app)
            await pilot.press("f1", "pagedown")
            assert "3: p3" in _shown(app)
            await _keys(pilot, "wrong")
            await pilot.press("enter")
            assert "begins no command" in _shown(app)
            await pilot.press("escape")
            assert "begins no command" not in _shown(app)
            await pilot.press("ctrl+c")
        assert app.return_code == 0

    asyncio.run(use())


def test_the_console_ends_after_the_last_line_of_a_script() -> None:
    watch = eight()
    session = session_of(watch)
    session.queue(["set 0 rate 1"])

    async def wait() -> None:
        app = GeneratorConsole(session, seconds=0)
        async with app.run_test(size=(80, 24)) as pilot:
            for _ in range(500):
                if app.return_code is not None or not app.is_running:
                    break
                await pilot.pause(0.02)
        assert watch.commands.said == ["set 0 rate 1"]

    asyncio.run(wait())


async def _keys(pilot: Pilot[None], text: str) -> None:
    for letter in text:
        await pilot.press("space" if letter == " " else letter)


def _shown(app: GeneratorConsole) -> str:
    canvas = app.query_one(Canvas)
    return "\n".join(canvas.render_line(y).text.rstrip() for y in range(canvas.size.height))

# SPDX-License-Identifier: Apache-2.0
"""The router's page and the configuration that its command writes, without a terminal and without a server."""

import asyncio
from typing import Any, cast

import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from ringmaster.cli.console import Canvas
from ringmaster.cli.forward import forward
from ringmaster.cli.router_console import RouterConsole
from ringmaster.console.lines import plain, width_of
from ringmaster.fabric._counters import COUNTERS
from ringmaster.router import page
from ringmaster.router.configuration import Wanted, configuration, parse_pair, parse_route
from ringmaster.router.watch import DROPS, Look, PortFigures, RouterWatch
from ringmaster.traffic.configuration import parse_port

SIZES = ((80, 24), (200, 60))


def port(name: str, **counts: int) -> PortFigures:
    """A port of those counts, whose rates are a tenth of them."""
    all_counts = {counter.name: counts.get(counter.name, 0) for counter in COUNTERS["forward"]}
    return PortFigures(name, all_counts, {counter: value / 10 for counter, value in all_counts.items()})


def busy(neighbours: int = 3) -> Look:
    """A router with something of everything."""
    return Look(
        "demo",
        (port("p0", received=123456, forwarded=123000, no_route=400, ttl_expired=56), port("p1", sent=123000)),
        {"unclaimed": 7, "kernel_full": 0},
        [{"name": "p0", "up": True, "mtu": 1500, "kernel_interface": "rm0", "addresses": ["10.0.0.1/24"]}],
        [
            {
                "address": f"10.0.0.{i + 2}",
                "interface": "p0",
                "mac": None if i == 1 else "02:00:00:00:00:02",
                "state": "failed" if i == 1 else "reachable",
                "answered_ms_ago": None if i == 1 else 4200,
            }
            for i in range(neighbours)
        ],
        [
            route("10.0.0.0/24", None),
            route("10.1.0.0/16", "10.0.0.2", "10.0.0.3"),
            route("10.2.0.0/16", "10.7.0.2", used=False),
            {"prefix": "10.3.0.0/16", "action": "blackhole", "source": "kernel", "used": True, "paths": []},
        ],
    )


def route(prefix: str, *via: str | None, used: bool = True) -> dict[str, Any]:
    paths = [{"via": one, "interface": "p0", "weight": 1} for one in via]
    return {"prefix": prefix, "action": "forward", "source": "configured", "used": used, "paths": paths}


class StillWatch:
    """Looks at nothing, and always sees the same."""

    def __init__(self, look: Look) -> None:
        self._look = look

    def look(self) -> Look:
        """What there always is."""
        return self._look


@pytest.mark.parametrize("size", SIZES)
def test_the_page_fits_and_says_what_there_is(size: tuple[int, int]) -> None:
    lines, _ = page.draw(busy(), 0, *size)
    assert len(lines) == size[1]
    assert all(width_of(spans) <= size[0] for spans in lines)
    text = "\n".join(map(plain, lines))
    for said in ("forward demo", "12.30 k", "no_route", "400", "unclaimed", "rm0", "10.0.0.3", "failed", "4 s ago"):
        assert said in text, said
    assert "kernel_full" not in text


def test_a_page_longer_than_the_screen_is_scrolled() -> None:
    look = busy(neighbours=100)
    first, most = page.draw(look, 0, 80, 24)
    last, _ = page.draw(look, most, 80, 24)
    assert "more lines below" in plain(first[-1])
    assert "more lines below" not in plain(last[-1])
    assert "10.3.0.0/16" in "\n".join(map(plain, last))
    assert page.draw(look, 10**6, 80, 24)[0] == last


def test_routes_say_where_they_go() -> None:
    text = page.text(busy(), 120)
    assert "via 10.0.0.2 by p0, via 10.0.0.3 by p0" in text
    assert "10.2.0.0/16  via 10.7.0.2 by p0" in text
    assert "unused" in text
    assert "blackhole" in text


def test_every_counter_of_packets_is_a_drop_or_is_not() -> None:
    """A new counter is thought of here: most are drops, which the page names."""
    assert {"received", "forwarded", "sent", "cut", "errors_sent"}.isdisjoint(DROPS)
    assert {"no_route", "no_neighbour", "ttl_expired", "bad_header", "out_full", "handoff_full"} <= set(DROPS)


def test_keys_move_the_page_and_end_it() -> None:
    async def press() -> None:
        watch = cast(RouterWatch, StillWatch(busy(neighbours=100)))
        app = RouterConsole(watch, lambda: None)
        async with app.run_test(size=(80, 24)) as pilot:
            canvas = app.query_one(Canvas)

            def shown() -> str:
                return "\n".join(canvas.render_line(y).text for y in range(24))

            await pilot.press("r")
            assert "10.3.0.0/16" in shown()
            await pilot.press("p")
            assert "Ports" in shown()
            await pilot.press("pagedown", "up", "end", "home")
            assert "Ports" in shown()
            await pilot.press("q")
        assert app.return_code == 0

    asyncio.run(press())


def read(text: str) -> dict[str, Any]:
    told: dict[str, Any] = YAML(typ="safe", pure=True).load(text)
    return told


def test_a_configuration_is_what_the_command_line_says() -> None:
    ports = [parse_port("p0=af_packet:veth0"), parse_port("p1=memif:/run/p1.sock")]
    wanted = Wanted(
        ports,
        addresses=[("p0", "10.0.0.1/24"), ("p0", "2001:db8::1/64"), ("p1.7", "10.0.7.1/24")],
        routes=[parse_route("10.1.0.0/16 via 10.0.0.2")],
        kernel_interfaces={"p0": "rm0"},
        cores=[0, 1],
    )
    told = read(configuration("demo", wanted))
    assert told["ports"][0]["kernel_interface"] == "rm0"
    assert told["ports"][0]["queues"] == 2  # each role sends by its own
    assert [role["ports"] for role in told["roles"]] == [["p0"], ["p1"]]
    assert told["router"]["interfaces"] == [
        {"port": "p0", "addresses": ["10.0.0.1/24", "2001:db8::1/64"]},
        {"port": "p1", "vlan": 7, "addresses": ["10.0.7.1/24"]},
    ]
    assert told["router"]["routes"] == [{"prefix": "10.1.0.0/16", "paths": [{"via": "10.0.0.2"}]}]


def test_a_plain_mode_has_nothing_to_route() -> None:
    told = read(configuration("demo", Wanted([parse_port("p0=ring")], mode="io", cores=[0])))
    assert told["router"] == {"mode": "io"}


@pytest.mark.parametrize("text", ["10.1.0.0/16", "10.1.0.0/16 by 10.0.0.2", "via 10.0.0.2", ""])
def test_a_route_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected PREFIX via ADDRESS"):
        parse_route(text)


def test_a_pair_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="expected p0=rm0"):
        parse_pair("p0", "kernel interface", "p0=rm0")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "expected one of --config, --port and --attach"),
        (["--port", "p0"], "is no port"),
        (["--port", "p0=ring", "--attach", "demo"], "expected one of --config, --port and --attach"),
        (["--port", "p0=ring", "--address", "10.0.0.1/24"], "expected PORT=ADDRESS/LENGTH"),
        (["--port", "p0=ring", "--route", "x"], "expected PREFIX via ADDRESS"),
        (["--port", "p0=ring", "--mode", "bridge"], "Invalid value for '--mode'"),
    ],
)
def test_wrong_usage_is_told(words: list[str], said: str) -> None:
    done = CliRunner().invoke(forward, words)
    assert done.exit_code == 2
    assert said in done.output

# SPDX-License-Identifier: Apache-2.0
"""What Prometheus gets: names by its conventions, values as they are in memory, and a dashboard that finds them."""

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Event, Thread
from time import monotonic, sleep
from urllib.error import URLError
from urllib.request import urlopen

import fabric
import pytest
from command import ringmaster
from conftest import MakeOwner
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from ringmaster.fabric._counters import COUNTERS
from ringmaster.fabric.histogram import bucket_floor
from ringmaster.metrics import names
from ringmaster.metrics.serve import registry_of, serve, text_of
from ringmaster.places import CONFIGS

TSC_HZ = 2e9
BLOCKS = {
    "port": "port/ring",
    "stream": "stream/bpm01",
    "path": "path/bpm01/east",
    "core": "core/3",
    "clock": "clock/0",
    "sender": "sender/bpm01",
    "guard": "guard/ramp",
    "chain": "chain/ch01",
    "transmit": "transmit",
    "application": "application/ramp",
    "supply": "supply/ch01",
    "recorder": "recorder/fast",
    "camera": "camera/cam01",
    "generator": "generator/p0",
    "forward": "forward/p0/1",
    "router": "router",
    "standby": "standby",
    "link": "link",
    "follow": "follow/ramp",
}
TIMEOUT_S = 60.0
Found = dict[str, dict[tuple[tuple[str, str], ...], float]]


def whole(make_owner: MakeOwner) -> fabric.Owner:
    """A workspace with a block of every set, whose counters have values of their own, and a histogram."""
    clock = fabric.clock(anchored=1, turn=1000, turn_tsc=10**9, ticks_per_turn_bits=2000.0, tsc_hz_bits=TSC_HZ)
    blocks = [
        fabric.counters(name, set_name, **{one.name: i + 1 for i, one in enumerate(COUNTERS[set_name])})
        for set_name, name in BLOCKS.items()
    ]
    buckets = {100: 10, 400: 5}
    return make_owner([clock, *blocks, fabric.histogram("latency/receive/0", buckets, 10**6)])


def parsed(text: str) -> Found:
    """Samples by name, then by labels."""
    found: Found = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation, family.name
        assert family.type != "unknown", family.name
        for sample in family.samples:
            labels = tuple(sorted(sample.labels.items()))
            assert labels not in found.setdefault(sample.name, {}), sample
            found[sample.name][labels] = sample.value
    return found


def test_every_name_keeps_the_conventions() -> None:
    every = [metric for _, _, metric in names.counters()] + list(names.others())
    bases = [metric.name.removesuffix("_total") for metric in every]
    assert len(set(bases)) == len(bases)
    for metric in every:
        assert re.fullmatch(r"ringmaster(_[a-z0-9]+)+", metric.name)
        assert metric.name.endswith("_total") == (metric.kind == "counter")
        assert not re.search(r"_(ns|ticks|ms|us)(_|$)", metric.name)
        assert metric.text.endswith(".")
        assert metric.labels[0] == "workspace"


def test_every_counter_is_told_with_its_labels(make_owner: MakeOwner) -> None:
    whole(make_owner)
    found = parsed(text_of("demo"))
    for set_name, counter, metric in names.counters():
        values = dict(zip(names.LABELS[set_name], BLOCKS[set_name].split("/")[1:], strict=True))
        labels = tuple(sorted({"workspace": "demo", **values}.items()))
        number = 1 + [one.name for one in COUNTERS[set_name]].index(counter.name)
        scale = {"ticks": 1 / TSC_HZ, "ns": 1e-9}.get(counter.unit, 1.0)
        assert found[metric.name] == {labels: pytest.approx(number * scale)}
    assert found[names.UP] == {(("workspace", "demo"),): 1.0}
    assert found[names.TURN_RATE] == {(("workspace", "demo"),): 1e6}


def test_a_histogram_has_its_values_below_each_edge(make_owner: MakeOwner) -> None:
    whole(make_owner)
    found = parsed(text_of("demo"))
    buckets = found[f"{names.DURATION}_bucket"]
    by_edge = {dict(labels)["le"]: value for labels, value in buckets.items()}
    assert all(dict(labels)["of"] == "latency/receive/0" for labels in buckets)
    ends_s = [bucket_floor(index + 1) / TSC_HZ for index in (100, 400)]
    for edge, value in by_edge.items():
        assert value == sum(count for end, count in zip(ends_s, (10, 5), strict=True) if end <= float(edge))
    assert by_edge["+Inf"] == 15
    (total,) = found[f"{names.DURATION}_count"].values()
    (seconds,) = found[f"{names.DURATION}_sum"].values()
    assert total == 15
    assert seconds == pytest.approx(sum(end * n for end, n in zip(ends_s, (10, 5), strict=True)), rel=0.05)


def test_the_busy_share_is_that_since_the_look_before(make_owner: MakeOwner) -> None:
    owner = whole(make_owner)
    registry = registry_of("demo")
    labels = (("core", "3"), ("workspace", "demo"))
    first = parsed(generate_latest(registry).decode())[names.BUSY]
    assert first == {labels: pytest.approx(4 / 9)}  # busy_ticks is 4 here, idle_ticks 5
    owner.set_counter("core/3", "busy_ticks", 4 + 30)
    owner.set_counter("core/3", "idle_ticks", 5 + 70)
    assert parsed(generate_latest(registry).decode())[names.BUSY] == {labels: pytest.approx(0.3)}
    assert names.BUSY not in parsed(generate_latest(registry).decode())  # nothing has gone by
    owner.set_counter("core/3", "busy_ticks", 1)
    owner.set_counter("core/3", "idle_ticks", 3)
    assert parsed(generate_latest(registry).decode())[names.BUSY] == {labels: pytest.approx(0.25)}


def test_a_server_that_is_not_there_is_down(make_owner: MakeOwner) -> None:
    owner = whole(make_owner)
    owner.die()
    assert parsed(text_of("demo")) == {names.UP: {(("workspace", "demo"),): 0.0}}


def test_promtool_has_nothing_to_say(make_owner: MakeOwner) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("NO PROMTOOL HERE (apt-get install prometheus), so only prometheus_client's parser judges")
    whole(make_owner)
    said = subprocess.run(
        [promtool, "check", "metrics"], input=text_of("demo"), text=True, capture_output=True, check=False
    )
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")


def test_the_command_prints_it(make_owner: MakeOwner) -> None:
    whole(make_owner)
    assert parsed(ringmaster("gateway", "metrics", "--once").stdout)[names.UP]


def test_prometheus_scrapes_it(make_owner: MakeOwner, free_tcp_port: int) -> None:
    whole(make_owner)
    with served(free_tcp_port):
        scrape(free_tcp_port)


@contextmanager
def served(port: int) -> Iterator[None]:
    """The endpoint meanwhile."""
    over = Event()
    serving = Thread(target=serve, args=("demo", "127.0.0.1", port, over))
    serving.start()
    try:
        yield
    finally:
        over.set()
        serving.join(TIMEOUT_S)
        assert not serving.is_alive()


def scrape(port: int) -> None:
    """As Prometheus does, from when it is there."""
    give_up = monotonic() + TIMEOUT_S
    while True:
        try:
            with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=TIMEOUT_S) as answer:
                assert answer.headers["Content-Type"].startswith("text/plain")
                assert parsed(answer.read().decode())[names.UP]
                return
        except URLError:
            assert monotonic() < give_up
            sleep(0.01)


def test_clients_that_say_nothing_half_a_line_or_do_not_read_harm_nothing(
    make_owner: MakeOwner, free_tcp_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ringmaster.metrics.serve.CLIENT_S", 0.5)
    whole(make_owner)
    bad = (b"", b"GET /met", b"GET /metrics HTTP/1.1\r\n\r\n", bytes(100), b"GET /" + b"x" * 70000)
    with served(free_tcp_port), ExitStack() as stack:
        scrape(free_tcp_port)
        clients = [
            stack.enter_context(socket.create_connection(("127.0.0.1", free_tcp_port), TIMEOUT_S)) for _ in range(400)
        ]
        for i, client in enumerate(clients):
            client.sendall(bad[i % len(bad)])
        scrape(free_tcp_port)
        assert clients[0].recv(1) == b"", "who says nothing is closed"
    with served(free_tcp_port):
        scrape(free_tcp_port)


@pytest.fixture
def free_tcp_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_dashboard_asks_for_what_there_is() -> None:
    dashboard = json.loads((CONFIGS / "grafana-dashboard.json").read_text())
    told = {metric.name for _, _, metric in names.counters()} | {metric.name for metric in names.others()}
    told |= {f"{names.DURATION}_{part}" for part in ("bucket", "sum", "count")}
    labels = {metric.name: set(metric.labels) for _, _, metric in names.counters()}
    labels |= {metric.name: set(metric.labels) for metric in names.others()}
    queries = [target for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(queries) >= 14
    for query in queries:
        asked = re.findall(r"ringmaster_\w+", query["expr"])
        assert asked, query
        assert set(asked) <= told, set(asked) - told
        known = {"le", *labels.get(asked[0].removesuffix("_bucket"), set())}
        assert set(re.findall(r"{{(\w+)}}", query["legendFormat"])) <= known, query
    (workspaces,) = (one for one in dashboard["templating"]["list"] if one["name"] == "workspace")
    assert names.UP in workspaces["query"]["query"]

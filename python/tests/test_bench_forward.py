# SPDX-License-Identifier: Apache-2.0
"""What is made of windows of forwarding that nobody measured, of trials of rates, and of the programs' words."""

import json
from dataclasses import replace
from pathlib import Path

import click
import pytest

from ringmaster.bench.forward import Forward, Forwarded, Loaded, Options, Sizes, added_ns, loaded_of, unresolved
from ringmaster.bench.forward_kernel import BesideKernel, server_between
from ringmaster.bench.forward_loss import PARTIAL, STEPS, Carried, Delay, Trial, bisect, delay_of, offer_of, trial_of
from ringmaster.bench.forward_peers import NEIGHBOURS, Offer, Through, gateway, route_words, server, through_of
from ringmaster.bench.links import Pair
from ringmaster.bench.log import NotMeasured
from ringmaster.report.headlines import of_values
from ringmaster.report.plain import as_json


def window(peer: str, mpps: float, destinations: int = 1, share: float = 1.0) -> Forwarded:
    """One that counts, near, unless its share is small."""
    return Forwarded(
        peer=peer,
        load=Offer(destinations=destinations).load,
        rate_pps=mpps * 1e6,
        core_to_core_ns=60.0,
        distance="near",
        sender_share=1.0,
        receiver_share=share,
        load_s=0.0,
    )


def measured(*rows: Forwarded) -> Forward:
    made = Forward(Options())
    made.parts = {"rate": list(rows)}
    return made


def figures_of(made: Forward) -> dict[str, float | None]:
    return {row.name: row.figure.median if row.figure else None for row in made.headlines()}


def test_ratios_are_of_the_same_destinations() -> None:
    made = measured(
        window("route", 30), window("testpmd", 20), window("route", 12, 100_000), window("testpmd", 15, 100_000)
    )
    assert figures_of(made)["ratio_to_testpmd"] == pytest.approx(1.5)
    assert figures_of(made)["ratio_100k_routes"] == pytest.approx(0.8)
    assert figures_of(made)["ratio_macswap"] is None


def test_routing_adds_what_io_does_not_take() -> None:
    rows = [window("route", 50), window("io", 100), window("testpmd", 20)]
    assert added_ns(rows, Offer().load) == pytest.approx([10.0])
    assert added_ns([window("route", 50), window("io", 100, share=0.5)], Offer().load) == []


def test_a_spread_of_both_signs_resolves_nothing() -> None:
    assert unresolved(of_values([-2.0, 3.0, 11.0], "pairs"))
    assert not unresolved(of_values([9.0, 11.0, 12.0], "pairs"))
    assert not unresolved(None)


def test_a_window_without_its_core_is_left_out() -> None:
    assert figures_of(measured(window("route", 30, share=0.3), window("testpmd", 20)))["ratio_to_testpmd"] is None


def through(offered: int, received: int, pause_us: float = 1.0) -> Through:
    return Through(offered, received, 1.0, 1.0, 1.0, pause_us, 0.0, ())


def test_a_trial_tells_its_loss_and_whether_it_was_stalled() -> None:
    assert trial_of(1e6, through(1000, 990)).loss == pytest.approx(0.01)
    assert trial_of(1e6, through(1000, 1003)).loss == 0.0
    assert trial_of(1e6, through(0, 0)).loss == 1.0
    assert trial_of(1e6, through(1000, 1000, 500.0)).stalled


def test_rates_are_bisected() -> None:
    def limited(rate: float) -> Trial:
        return Trial(rate, max(0.0, 1 - 7e6 / rate), stalled=False)

    found, trials = bisect(16e6, 0.0, limited)
    assert 7e6 - 16e6 / 2 ** (STEPS - 1) <= found <= 7e6
    assert len(trials) == STEPS
    assert bisect(6e6, 0.0, limited) == (6e6, [Trial(6e6, 0.0, stalled=False)])
    assert bisect(16e6, PARTIAL, lambda rate: Trial(rate, 1.0, stalled=False))[0] == 0.0


def test_rates_without_loss_are_told() -> None:
    made = Forward(Options())
    made.parts = {
        "loss": [
            Carried("route", "64", 5e6, 6e6, (Trial(5e6, 0.0, stalled=False),), Delay(2.5e6, 4e3, 9e3, 20.0, 30.0))
        ]
    }
    assert figures_of(made)["ndr_mpps.route.64"] == pytest.approx(5.0)
    assert figures_of(made)["pdr_mpps.route.64"] == pytest.approx(6.0)
    assert figures_of(made)["latency_p99_us.route.64"] == pytest.approx(9.0)
    assert "NDR" in str(made.tables())


def test_the_latency_is_of_the_window_that_stood_still_least() -> None:
    stalled = replace(through(10, 10, 900.0), latency_p50_ns=5e3, latency_p99_ns=8e5)
    better = replace(through(10, 10, 60.0), latency_p50_ns=4e3, latency_p99_ns=9e3)
    assert delay_of(1e6, [stalled, better], 70.0) == Delay(1e6, 4e3, 9e3, 60.0, 70.0)
    with pytest.raises(NotMeasured, match="without stamps"):
        delay_of(1e6, [through(10, 10)], 70.0)


def test_the_kernel_is_beside() -> None:
    made = Forward(Options())
    made.parts = {"kernel": [BesideKernel(0.6e6, 0.3e6), BesideKernel(0.5e6, 0.5e6)]}
    assert figures_of(made)["ratio_to_kernel"] == pytest.approx(1.5)
    assert "0.300" in str(made.tables())
    pair = Pair("af_xdp", "af_xdp", ("af_xdp:veth0", "af_xdp:veth2"), ("af_xdp:veth1", "af_xdp:veth3"))
    config = json.loads(server_between("w", 1, pair))
    assert [port["interface"] for port in config["ports"]] == ["veth1", "veth3"]


def test_sizes_are_bytes_or_the_mix() -> None:
    assert Sizes().convert("64, 1518,imix,64", None, None) == ("64", "1518", "imix")
    for wrong in ("", "63", "9601", "mix", "64,,65", "-64", "6e2"):
        with pytest.raises(click.BadParameter):
            Sizes().convert(wrong, None, None)
    assert offer_of("imix") == Offer(bytes=1518, imix=True)
    assert offer_of("594") == Offer(bytes=594)


def test_the_load_is_of_one_core() -> None:
    made = Forward(Options())
    words = '{"routes": 1000000, "seconds": 21.0, "cpu_seconds": 6.0, "memory_mib": 844}'
    made.parts = {"load": [loaded_of(words)]}
    assert loaded_of(words) == Loaded(1_000_000, 21.0, 6.0, 844)
    assert figures_of(made)["million_routes_s"] == pytest.approx(6.0)
    with pytest.raises(NotMeasured):
        loaded_of("{}")


def test_all_of_it_becomes_json() -> None:
    made = measured(window("route", 30), window("testpmd", 20), window("io", 60))
    assert "ratio_to_testpmd" in json.dumps(as_json(made.section()))


def test_the_ends_words_are_read_or_refused() -> None:
    words = {"offered": 5, "received": 4, "seconds": 0.5, "share": 0.9, "longest_pause_us": 3.0, "sub_rates_pps": [8.0]}
    assert through_of(json.dumps(words), 0.8, 1.0) == Through(5, 4, 0.5, 0.9, 0.8, 3.0, 1.0, (8.0,))
    for wrong in ("", "{}", "begin"):
        with pytest.raises(NotMeasured):
            through_of(wrong, 0.8, 1.0)


def test_a_router_is_told_its_neighbours_and_routes() -> None:
    config = json.loads(server("w", Path("/run/x"), 1, "route", Offer(destinations=1000)))
    assert len(config["router"]["neighbours"]) == NEIGHBOURS
    assert config["router"]["ipv4_routes"] == 2000
    assert route_words(0) == f"route add 16.0.0.0/24 via {gateway(0)}"
    assert route_words(65537) == f"route add 17.0.1.0/24 via {gateway(1)}"
    assert json.loads(server("w", Path("/run/x"), 1, "io", Offer(bytes=9000)))["ports"][0]["longest_frame"] == 9000

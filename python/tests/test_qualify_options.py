# SPDX-License-Identifier: Apache-2.0
"""What the command line of the benches refuses."""

import pytest
from click.testing import CliRunner

from ringmaster.bench import interval
from ringmaster.bench.links import JUMBO_MTU, about, linked
from ringmaster.bench.options import command
from ringmaster.cli.bench import bench
from ringmaster.programs.cores import cores

OWN = ("--left", "raw:eth1", "--right", "raw:eth2", "--left", "raw:eth3", "--right", "raw:eth4")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("jitter", "--instruments", "0"), "0 is not in the range"),
        (("jitter", "--instruments", "97"), "found 97, expected a multiple of the 4 links"),
        (("jitter", "--rate", "0"), "0.0 is not in the range"),
        (("jitter", "--rate", "1e9"), "not in the range"),
        (("jitter", "--rate", "1e6", "--seconds", "60"), "more --rounds make more"),
        (("jitter", "--rate", "fast"), "not a valid float"),
        (("jitter", "--links", "5"), "5 is not in the range 1<=x<=4"),
        (("jitter", "--links", "0"), "0 is not in the range 1<=x<=4"),
        (("jitter", "--size", "9000"), "18<=x<=8972"),
        (("jitter", "--size", "17"), "18<=x<=8972"),
        (("jitter", "--kinds", "pigeon"), "found 'pigeon', expected some of memif"),
        (("jitter", "--kinds", ""), "expected some of memif"),
        (("jitter", "--cores", "0"), "expected 2 or more whole numbers from 0"),
        (("jitter", "--cores", "a,b"), "expected 2 or more whole numbers"),
        (("jitter", "--rounds", "0"), "0 is not in the range"),
        (("jitter", "--seconds", "0"), "0.0 is not in the range"),
        (("interval", "--instruments", "7", "--links", "2"), "expected a multiple of the 2 links"),
        (("interval", "--rate", "-1"), "not in the range"),
        (("interval", "--links", "9"), "9 is not in the range 1<=x<=4"),
        (("interval", "--left", "raw:eth1"), "found 1 --left and 0 --right"),
        (("jitter", *OWN, "--left", "udp:a", "--right", "udp:b"), "found 2 of raw, 1 of udp, expected as many"),
        (("jitter", *OWN, *OWN, *OWN), "found 6, expected up to 4 of each kind"),
        (("jitter", *OWN, "--instruments", "3"), "found 3, expected a multiple of the 2 links"),
        (("throughput", "--left", "raw:eth1", "--right", "raw:eth2"), "found 2, expected up to 1"),
        (("interval", "--workspace", "demo", "--rounds", "2"), "--rounds: found beside --workspace"),
        (("interval", "--rate", "nan"), "found nan, expected a number"),
        (("rtt", "--rate", "nan"), "found nan, expected a number"),
        (("rtt", "--rate", "0.5"), "0.5 is not in the range"),
        (("rtt", "--seconds", "inf"), "found inf, expected a number"),
        (("rtt", "--rate", "1e6", "--seconds", "60"), "more --rounds make more"),
        (("rtt", "--size", "8973"), "8973 is not in the range"),
        (("rtt", "--kinds", "memif,pigeon"), "found 'memif,pigeon', expected some of memif"),
        (("rtt", "--loads", "busy"), "expected some of idle,loaded"),
        (("rtt", "--left", "raw:a"), "found 1 --left and 0 --right"),
        (("power", "--seconds", "inf"), "found inf, expected a number"),
        (("power", "--load", "0"), "not in the range"),
        (("suite", "--minutes", "nan"), "found nan, expected a number"),
        (("suite", "--benches", "rtt,poker"), "expected some of rtt,jitter"),
    ],
)
def test_bad_options_are_reported(words: tuple[str, ...], says: str) -> None:
    done = CliRunner().invoke(bench, words, terminal_width=200)
    assert done.exit_code == 2
    assert says in " ".join(done.output.split())


@pytest.mark.skipif(cores()[0] == cores()[1], reason="needs a core to send and one to receive")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--sizes", "64,1473", "--mtu", "1500"), "expected 18 to 1472"),
        (("--sizes", "9000"), "expected 18 to 8972"),
        (("--sizes", "17"), "expected 18"),
        (("--sizes", "big"), "expected whole numbers"),
        (("--kinds", "memif,carrier-pigeon"), "expected some of memif,af_xdp"),
        (("--senders", "0"), "expected whole numbers from 1"),
        (("--mtu", "1280"), "1280"),
        (("--receiver-core", "4095"), "expected some of"),
        (("--sender-cores", str(cores()[1]), "--receiver-core", str(cores()[1])), "to send and to receive"),
        (("--resolution", "0"), "resolution"),
    ],
)
def test_what_throughput_cannot_do_is_refused_before_anything_starts(words: tuple[str, ...], told: str) -> None:
    done = CliRunner().invoke(bench, ("throughput", *words), terminal_width=200)
    assert done.exit_code in (1, 2)
    assert told in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_links_of_one_s_own_are_taken_by_kind() -> None:
    endpoints = (("raw:a0", "raw:b0"), ("raw:a0,wait=spin", "raw:b0,wait=spin"), ("raw:a1,mtu=9000", "raw:b1"))
    with linked("raw", 2, JUMBO_MTU, endpoints) as pair:
        assert (pair.left, pair.right) == (
            ("raw:a0,mtu=9000", "raw:a1,mtu=9000"),
            ("raw:b0,mtu=9000", "raw:b1,mtu=9000"),
        )
        assert pair.enter_left == ()
    with linked("raw", 1, endpoints=endpoints) as pair:
        assert (pair.left, pair.right) == (("raw:a0",), ("raw:b0",))
    with linked("raw-spin", 1, endpoints=endpoints) as pair:
        assert pair.left == ("raw:a0,wait=spin",)
    assert about("raw", endpoints) == "raw:a0 to raw:b0, raw:a1,mtu=9000 to raw:b1"
    own = command("interval", interval.Options(left=("udp:1;2",), right=("x",)))
    assert own.startswith("ringmaster bench interval --left 'udp:1;2' --right x --instruments 7")
    assert "--kinds" not in own
    assert "--links" not in own

# SPDX-License-Identifier: Apache-2.0
"""What is made of rounds of the tune's bench that nobody measured."""

import importlib.util
import json

import pytest

from ringmaster.bench import tune
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.printed import figures
from ringmaster.bench.tune import Call, Options, Ours, Tune, call_of, ours_of
from ringmaster.report.verdicts import Headline

FIGURE = {"median": 10_000.0, "low": 1.0, "high": 3.0, "p99": 4.0, "max": 4.0, "count": 31}
COSTS = ("transform_ns", "pair_ns", "naff_rectangular_ns", "naff_hann_ns", "turn_ns", "four_turns_ns")
ERRORS = ("error_naff_rectangular", "error_naff_hann", "error_peak_rectangular", "error_peak_hann")


def said(**more: object) -> dict[str, object]:
    """What the program prints."""
    return {**dict.fromkeys(COSTS, FIGURE), **dict.fromkeys(ERRORS, 1.01), "windows": 500, **more}


def ours(**more: float) -> Ours:
    return ours_of(said(**{name: FIGURE | {"median": value} for name, value in more.items()}))


def made_of(*rows: Ours | Call) -> Tune:
    made = Tune(Options())
    made.rows += rows
    return made


def headline(made: Tune, name: str) -> Headline:
    return next(one for one in made.headlines() if one.name == name)


def test_rates_are_of_one_core() -> None:
    made = made_of(ours(pair_ns=25e3, turn_ns=864.3, naff_hann_ns=40e3, transform_ns=5e3))
    for name, value in {
        "pairs_at_2_khz": 20.0,
        "planes_band_every_turn": 8.0,
        "naff_per_s": 25e3,
        "fft_updates_per_s": 200e3,
    }.items():
        figure = headline(made, name).figure
        assert figure is not None
        assert figure.median == pytest.approx(value, rel=1e-3)
    assert headline(made, "pairs_at_2_khz").verdict == "held"
    assert headline(made_of(ours(pair_ns=40e3)), "pairs_at_2_khz").verdict == "missed"


def test_ratios_are_of_turns_side_by_side() -> None:
    made = made_of(
        ours(naff_hann_ns=20e3), Call("nafflib", 1e-3, 0.0), ours(naff_hann_ns=40e3), Call("nafflib", 1e-3, 0.0)
    )
    figure = headline(made, "ratio_to_nafflib").figure
    assert figure is not None
    assert figure.median == pytest.approx(37.5)
    assert headline(made, "ratio_to_numpy").verdict == "not measured"
    assert len(made.tables()) == 1


def test_nothing_is_nothing() -> None:
    made = Tune(Options())
    assert made.is_empty()
    assert made.tables() == []


def test_what_the_program_says() -> None:
    read = figures("it", json.dumps(said()), ours_of)
    assert (read.pair_ns, read.error_naff_hann) == (10_000.0, 1.01)
    assert "NAFF 10.0 µs" in read.words
    with pytest.raises(NotMeasured, match="printed no figures"):
        figures("it", json.dumps({"pair_ns": 1}), ours_of)


def test_a_peer_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tune, "find_spec", lambda _: None)
    with pytest.raises(NotMeasured, match="no nafflib here"):
        call_of("nafflib")


@pytest.mark.parametrize("peer", tune.MODULES)
def test_a_peer_is_called(peer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec(tune.MODULES[peer].partition(".")[0]) is None:
        pytest.skip(f"no {peer} here")
    monkeypatch.setattr(tune, "OF_ONE_S", 0.0)
    call = call_of(peer)
    assert call.peer == peer
    assert call.error is None or call.error < 1e-6

# SPDX-License-Identifier: Apache-2.0
"""Thresholds of premortem: noise of a known tail crosses them as often as was promised, within what is said of that."""

import json
import math
import struct
from collections.abc import Callable
from pathlib import Path

import fabric
import h5py
import numpy as np
import numpy.typing as npt
import pytest
from command import ringmaster
from conftest import MakeOwner

from ringmaster.fabric.layout import ElementType, InstrumentKind, LaneType
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.workspace import attach
from ringmaster.premortem import tail
from ringmaster.premortem.blocks import Blocks, from_workspace

Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]

BLOCKS, BLOCK_S, PER_DAY = 20000, 1.0, 1.0
"""A recording of 5.6 hours, for one alarm in four times as long."""
ERLANG = 4
DRAWS: dict[str, tuple[Draw, Callable[[float], float]]] = {
    "exponential": (lambda random, count: random.exponential(size=count), lambda level: math.exp(-level)),
    "counts": (
        lambda random, count: random.gamma(ERLANG, size=count),
        lambda level: math.exp(-level) * sum(level**k / math.factorial(k) for k in range(ERLANG)),
    ),
    "normal": (
        lambda random, count: random.normal(size=(count, 8)).max(axis=1),
        lambda level: -math.expm1(8 * math.log1p(-0.5 * math.erfc(level / math.sqrt(2)))),
    ),
}
"""Noise, and the share of it that is above a level."""


@pytest.mark.parametrize("noise", DRAWS)
def test_false_alarms_come_as_often_as_promised(noise: str) -> None:
    """Of 40 recordings, the true rate is within the stated 90 % in at least 28: that chance alone makes it fewer is one
    in ten thousand. The median of them is within a factor of 2.5 of the promise.
    """
    draw, share_above = DRAWS[noise]
    inside, stationary, rates = 0, 0, []
    for seed in range(40):
        found = tail.threshold(draw(np.random.default_rng(seed), BLOCKS), BLOCK_S, PER_DAY)
        rate = share_above(found.threshold) * tail.DAY_S / BLOCK_S
        inside += found.rate_low_per_day <= rate <= found.rate_high_per_day
        assert found.low <= found.threshold <= found.high
        stationary += found.stationary
        rates.append(rate)
    assert inside >= 28
    assert stationary >= 37
    assert PER_DAY / 2.5 < np.median(rates) < PER_DAY * 2.5


def test_alarms_of_new_noise_are_counted() -> None:
    """The same with levels as the detectors have them, correlated ones, counted in time that the fit has not seen."""
    random = np.random.default_rng(4)
    rate_hz, steps = 100.0, 2_000_000

    def levels() -> Floats:
        white = random.normal(size=steps + 15)
        return np.asarray(np.convolve(white, np.full(16, 0.25), "valid"))

    per_day = 100.0
    recorded = Blocks.of({"d00": levels()}, rate_hz, 1.0, 0.0)
    found = tail.threshold(recorded.largest["d00"], recorded.block_s, per_day)
    fresh = levels() >= found.threshold
    alarms = int((fresh[1:] & ~fresh[:-1]).sum())
    days = steps / rate_hz / tail.DAY_S
    low, high = found.rate_low_per_day * days, found.rate_high_per_day * days
    assert low - 3 * math.sqrt(low) - 1 <= alarms <= high + 3 * math.sqrt(high) + 1


def test_too_few_data_are_refused() -> None:
    random = np.random.default_rng(1)
    with pytest.raises(tail.TooFewError, match="499 blocks are too few, expected 500"):
        tail.threshold(random.normal(size=499), 1.0, 1000.0)
    with pytest.raises(tail.TooFewError, match=r"0.278 h do not say what happens 0.1 times a day, expected 24 h"):
        tail.threshold(random.normal(size=1000), 1.0, 0.1)
    with pytest.raises(tail.TooFewError, match="there is no tail to fit"):
        tail.threshold(np.zeros(10000), 1.0, 10.0)


def test_a_recording_that_was_not_quiet_is_told_of() -> None:
    random = np.random.default_rng(2)
    levels = random.normal(size=10000)
    levels[4000:5000] *= 3
    assert not tail.threshold(levels, 1.0, 10.0).stationary


def test_blocks_are_of_what_was_there() -> None:
    levels = np.array([np.nan, np.nan, 1, 5, 2, np.nan, 3, 4, 9], np.float32)
    blocks = Blocks.of({"d00": levels, "d01": np.full(9, np.nan, np.float32)}, 10.0, 0.2, 0.0)
    assert list(blocks.largest) == ["d00"]
    assert np.array_equal(blocks.largest["d00"], [np.nan, 5, 2, 4], equal_nan=True)


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """An export of a stream of levels, of two detectors."""
    random = np.random.default_rng(3)
    path = tmp_path / "quiet.h5"
    with h5py.File(path, "w") as file:
        file.attrs.update(format="ringmaster window", version=1, workspace="test")
        group = file.create_group("premortem/levels")
        group.attrs.update(kind="application", period_turns=100)
        group["ok"] = random.uniform(size=100_000) > 0.001
        group["turn"] = 100 * np.arange(100_000, dtype=np.uint64)
        group["lanes/d00"] = random.exponential(size=100_000).astype(np.float32)
        group["lanes/d01"] = np.zeros(100_000, np.float32)
        group["lanes/d02"] = np.full(100_000, np.nan, np.float32)
    return path


def test_levels_are_taken_while_they_come(make_owner: MakeOwner, monkeypatch: pytest.MonkeyPatch) -> None:
    """In whole blocks, each once; what was there before does not count, and detectors that are not are left out."""
    name, period = "premortem/levels", 12
    lanes = (("d00", "", LaneType.F32), ("d01", "", LaneType.F32))
    rate = fabric.parameter("server/turn_rate_hz", np.array([120.0]), "Hz", ElementType.F64)
    owner = make_owner([rate, fabric.stream(name, period=period, kind=InstrumentKind.APPLICATION, lanes=lanes)])
    step = 0

    def come(stream: Stream, turn: int, timeout: float) -> bool:
        nonlocal step
        step += 1
        owner.store(name, step * period, struct.pack("<ff", step % 5, math.nan))
        owner.publish(name, step * period, period)
        return True

    monkeypatch.setattr(Stream, "wait", come)
    with attach("demo") as ws:
        come(ws.streams[name], 0, 0.0)
        blocks = from_workspace(ws, 0.2, 0.5)
    assert (blocks.block_s, blocks.missing, list(blocks.largest)) == (0.5, 0.0, ["d00"])
    assert len(blocks.largest["d00"]) == (step - 1) // 5 > 0
    assert (blocks.largest["d00"] == 4).all()


def test_the_command_reads_an_export(export: Path, tmp_path: Path) -> None:
    names = tmp_path / "detectors.yaml"
    names.write_text("detectors: [{name: losses}, {name: orbit}]\n")
    options = ("--per-day", "5000", "--turn-rate", "1e5", "--detectors", str(names))
    said = ringmaster("premortem", "thresholds", str(export), *options, "--json", expect=1)
    losses, orbit = json.loads(said.stdout)["detectors"]
    assert (losses["name"], orbit["name"]) == ("losses", "orbit")
    assert losses["low"] < losses["threshold"] < losses["high"]
    assert losses["blocks"] == 1000
    assert "there is no tail to fit" in orbit["refused"]
    table = ringmaster("premortem", "thresholds", str(export), *options, expect=1).stdout
    assert "losses " in table
    assert "orbit: none: " in table


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "say the machine's --turn-rate"),
        (("--turn-rate", "1e5", "--detectors", "{export}"), "not a file of premortem"),
    ],
)
def test_what_is_missing_is_told(export: Path, options: tuple[str, ...], words: str) -> None:
    if "{export}" in options:
        other = export.with_suffix(".yaml")
        other.write_text("[1, 2]\n")
        options = (*options[:-1], str(other))
    said = ringmaster("premortem", "thresholds", str(export), "--per-day", "5000", *options, expect=1)
    assert words in said.stderr


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.h5"
    with h5py.File(path, "w") as file:
        file["x"] = [1]
    said = ringmaster("premortem", "thresholds", str(path), "--per-day", "1", "--turn-rate", "1e6", expect=1)
    assert "not a file of ours" in said.stderr

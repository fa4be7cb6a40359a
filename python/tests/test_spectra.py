# SPDX-License-Identifier: Apache-2.0
"""Spectra: the density of what is known, with and without gaps; lines; what streams and archives give to them."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from archive_writer import ArchiveWriter
from archives import BEGIN_NS, STREAM, add, simple
from command import ringmaster
from hypothesis import given, settings
from hypothesis import strategies as st

from ringmaster.archive.archive import Archive
from ringmaster.errors import ObjectNotFound
from ringmaster.fabric.workspace import Workspace
from ringmaster.spectra.density import lines, piece_density, spectrogram, welch, window_weights
from ringmaster.spectra.series import Series, archived, joined, live

RATE_HZ = 1000.0


def noise(seed: int, count: int = 8192) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.random.default_rng(seed).standard_normal(count)


@pytest.mark.parametrize("window", ["hann", "rectangular"])
def test_without_gaps_it_is_the_windowed_transform(window: str) -> None:
    values = noise(1, 256)
    made = piece_density(values, RATE_HZ, window)
    assert made is not None
    weights = window_weights(window, 256)
    plain = np.abs(np.fft.rfft(weights * (values - weights @ values)))[1:-1] ** 2 * 2
    enbw = RATE_HZ * np.sum(weights**2)
    first = 2 if window == "hann" else 0  # Hann's first bin shares its place with the mean
    np.testing.assert_allclose(made[0][first:], (plain / enbw)[first:], rtol=1e-9)
    assert made[1] == pytest.approx(enbw)


@pytest.mark.parametrize("window", ["hann", "rectangular"])
def test_noise_has_its_variance_and_its_scatter(window: str) -> None:
    found = welch(3.0 * noise(2, 65536), RATE_HZ, 2048, window)
    assert found.rms() == pytest.approx(3.0, rel=0.02)
    assert np.std(found.density) / np.mean(found.density) == pytest.approx(found.relative_sigma, rel=0.1)
    assert found.cumulated_rms[-1] == pytest.approx(found.rms())
    assert found.rms(0, 250) == pytest.approx(3.0 / np.sqrt(2), rel=0.05)


@settings(max_examples=25, deadline=None)
@given(bin_=st.integers(3, 120), lost=st.integers(0, 100), seed=st.integers(0, 1000), phase=st.floats(0, 6.28))
def test_a_line_is_fitted_from_the_records_that_are_there(bin_: int, lost: int, seed: int, phase: float) -> None:
    """Any pattern of losses: least squares find the sine exactly, where a transform of filled gaps does not."""
    values = 5.0 + 2.0 * np.cos(2 * np.pi * bin_ * np.arange(256) / 256 + phase)
    values[np.random.default_rng(seed).permutation(256)[:lost]] = np.nan
    made = piece_density(values, RATE_HZ, "hann")
    assert made is not None
    assert made[0][bin_ - 1] * made[1] * 2 == pytest.approx(4.0, rel=1e-6)


def test_lost_records_leave_noise_where_it_was() -> None:
    values = noise(3, 65536)
    values[np.random.default_rng(4).random(65536) < 0.2] = np.nan
    found = welch(values, RATE_HZ, 2048)
    assert found.missing == pytest.approx(0.2, abs=0.01)
    assert found.rms() == pytest.approx(1.0, rel=0.03)


def test_a_long_gap_costs_its_pieces_and_too_much_of_it_everything() -> None:
    values = noise(5)
    values[2000:4000] = np.nan
    found = welch(values, RATE_HZ, 1024)
    assert (found.pieces + found.left_out, found.left_out > 1) == (15, True)
    values[:5000] = np.nan
    values[5000::3] = np.nan
    values[5001::3] = np.nan
    with pytest.raises(ValueError, match=r"of the records came; a piece of a spectrum takes 50%"):
        welch(values, RATE_HZ)


def test_lines_are_found_and_noise_has_none() -> None:
    time = np.arange(16384) / RATE_HZ
    values = noise(6, 16384) + 0.5 * np.sin(2 * np.pi * 50.3 * time) + 0.25 * np.cos(2 * np.pi * 230.1 * time)
    first, second = lines(welch(values, RATE_HZ))
    assert [first.hz, second.hz] == pytest.approx([50.3, 230.1], abs=0.1)
    assert [first.amplitude, second.amplitude] == pytest.approx([0.5, 0.25], rel=0.2)
    assert [seed for seed in range(100, 140) if lines(welch(noise(seed, 4096), RATE_HZ))] == []


def test_a_spectrogram_has_a_row_for_each_time() -> None:
    time = np.arange(8192) / RATE_HZ
    values = np.sin(2 * np.pi * np.where(time < 4, 100.0, 300.0) * time)
    values[1000:1200] = np.nan
    at_s, made = spectrogram(values, RATE_HZ, 128, rows=64)
    hz = np.arange(1, 64) * RATE_HZ / 128
    highest = hz[np.argmax(np.nan_to_num(made), axis=1)]
    assert abs(highest[at_s < 0.9] - 100).max() < 5
    assert abs(highest[at_s > 4.1] - 300).max() < 5
    assert np.isnan(made).all(axis=1).any()


def test_an_archive_gives_what_it_has_with_gaps(tmp_path: Path) -> None:
    with Archive(simple(tmp_path / "archive")) as archive:
        one, two = archived(archive, ("bpm01/turn",), None, None)
        assert (one.name, one.unit, two.name) == ("bpm01/turn/x1", "nm", "bpm01/turn/sum")
        assert len(one) == 1000
        assert one.rate_hz == pytest.approx(archive.turn_rate_hz, rel=0.1)
        assert np.flatnonzero(~one.present).tolist() == [3, *range(500, 600)]
        assert one.values[7] == 7 * 1007
        with pytest.raises(ObjectNotFound, match="bpm01/turn has no lane 'z'; it has: x1, sum"):
            archived(archive, ("bpm01/turn/z",), None, None)
        with pytest.raises(ValueError, match="nothing was recorded in this span"):
            archived(archive, ("bpm01/turn/x1",), 5000, 6000)


def test_where_turns_began_anew_the_newest_count(tmp_path: Path) -> None:
    archive = ArchiveWriter(tmp_path / "archive")
    file = archive.file("turns", tai_ns=BEGIN_NS)
    number = file.describe(STREAM)
    add(file, number, 100_000, 200)
    add(file, number, 1000, 300, begin_ns=BEGIN_NS + 200_000_000, epoch=1)
    file.seal()
    with Archive(archive.path) as read:
        (one,) = archived(read, ("bpm01/turn/x1",), "2020-01-01", "2100-01-01")
    assert (one.first_turn, len(one)) == (1000, 300)


def test_series_are_joined_over_common_turns() -> None:
    def series(first: int, count: int, period: int = 2) -> Series:
        return Series(
            "s", "nm", RATE_HZ, np.arange(first, first + count * period, period).astype(np.float64), first, period
        )

    a, b = joined([series(100, 50), series(110, 60)])
    np.testing.assert_array_equal(a.values, b.values)
    assert (a.first_turn, len(a)) == (110, 45)
    with pytest.raises(ValueError, match="several rates"):
        joined([series(100, 50), series(100, 50, 4)])
    with pytest.raises(ValueError, match="no turns in common"):
        joined([series(100, 50), series(1000, 50)])


def test_what_a_ring_does_not_hold_is_refused() -> None:
    stream = SimpleNamespace(
        name="bpm01/turn", capacity=1024, margin=8, period=1, lanes=[SimpleNamespace(name="x1", type=1)]
    )
    clock = SimpleNamespace(read=lambda: SimpleNamespace(measured_turn_rate_hz=RATE_HZ))
    ws = cast(Workspace, SimpleNamespace(streams={"bpm01/turn": stream}, clock=clock, parameters={}))
    with pytest.raises(ValueError, match=r"bpm01/turn holds 1\.01 s, not 5 s"):
        live(ws, ("bpm01/turn/x1",), 5.0)
    with pytest.raises(ObjectNotFound, match="no stream or lane fits 'bpm09'"):
        live(ws, ("bpm09",), 0.5)


def test_the_command_shows_an_archive(tmp_path: Path) -> None:
    path = str(simple(tmp_path / "archive"))
    said = ringmaster("spectrum", "bpm01/turn", "--archive", path, "--plot", str(tmp_path / "s.png"), "--spectrogram")
    assert "bpm01/turn/x1  RMS" in said.stdout
    assert "10 % missing" in said.stdout
    assert (tmp_path / "s.png").stat().st_size > 10000
    (whole,) = json.loads(ringmaster("spectrum", "bpm01/turn/sum", "--archive", path, "--json").stdout)["spectra"]
    assert len(whole["hz"]) == len(whole["density"]) == 110
    for words, code, arguments in (
        ("resolves 1.16 kHz, and no less", 1, ["--archive", path, "--resolution", "1"]),
        ("--spectrogram is drawn", 2, ["--archive", path, "--spectrogram"]),
        ("are of an --archive", 2, ["--from", "5"]),
        ("has its own span", 2, ["--archive", path, "--seconds", "5"]),
    ):
        assert words in ringmaster("spectrum", "bpm01/turn/x1", *arguments, expect=code).stderr

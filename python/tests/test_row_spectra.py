# SPDX-License-Identifier: Apache-2.0
"""`ringmaster spectrum` of rows: the newest that is to be trusted, its peaks, and the spectrogram."""

import json
from collections.abc import Iterator
from pathlib import Path

import fabric
import numpy as np
import numpy.typing as npt
import pytest
from command import ringmaster as command
from conftest import MakeOwner

import ringmaster
from ringmaster.fabric.owned import Axis, OwnedRows
from ringmaster.fabric.owner import Owner
from ringmaster.spectra.rows import read_rows, row_peaks

WIDTH, PERIOD, TURN_RATE_HZ = 400, 1000, 1e6
AXIS = Axis(WIDTH, 0.2, 0.0005, "tune", "1/turn")
PEAK = 123


@pytest.fixture
def rows(make_owner: MakeOwner) -> Iterator[OwnedRows]:
    """The ring "tune/spectrum_x", a thousand rows a second."""
    make_owner([fabric.clock(anchored=1, tsc_hz_bits=1e9, ticks_per_turn_bits=1e9 / TURN_RATE_HZ)])
    owner = Owner("tune", "demo")
    made = owner.rows("tune/spectrum_x", "nm", AXIS, PERIOD, depth=100)
    with owner:
        yield made


def spectrum(seed: int) -> npt.NDArray[np.float64]:
    """Noise of about 1 nm, and a line of 500 nm."""
    made = np.random.default_rng(seed).rayleigh(1.0, WIDTH)
    made[PEAK] = 500.0
    return made


def fill(rows: OwnedRows) -> None:
    """Fifty rows, of which one is missing, and the newest is not to be trusted."""
    for i in range(50):
        if i != 30:
            rows.put(i * PERIOD, spectrum(i), quality=128 * (i == 49))


def test_the_newest_good_row_and_its_peak(rows: OwnedRows) -> None:
    fill(rows)
    with ringmaster.attach("demo") as ws:
        (one,) = read_rows(ws, ["tune/spectrum_*"], seconds=0.025)
        assert len(one.window) == 25
        assert one.newest == 23
        assert one.period_s == pytest.approx(1e-3)
        (peak,) = row_peaks(one.rows.axis, one.row)
        assert peak.at == pytest.approx(0.2 + PEAK * 0.0005)
        assert peak.value == 500
        assert len(read_rows(ws, ["tune/spectrum_x"])[0].window) == 50
    shown = command("spectrum", "-w", "demo", "tune/spectrum_x").stdout
    assert "0.2615 1/turn  500 nm" in shown
    assert "of the newest 50 rows 1 are missing" in shown
    told = json.loads(command("spectrum", "-w", "demo", "tune/spectrum_x", "--json").stdout)["rows"][0]
    assert (told["turn"], told["quality"], told["missing"], told["values"][PEAK]) == (48 * PERIOD, 0, 1, 500)


def test_it_is_drawn_with_all_rows(rows: OwnedRows, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    fill(rows)
    path = tmp_path / "tune.png"
    command("spectrum", "-w", "demo", "tune/spectrum_x", "--plot", str(path), "--spectrogram")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_rows_without_a_number_or_without_any_row(rows: OwnedRows) -> None:
    assert "no rows yet" in command("spectrum", "-w", "demo", "tune/spectrum_x").stdout
    rows.put(0, np.full(WIDTH, np.nan), quality=128)
    shown = command("spectrum", "-w", "demo", "tune/spectrum_x").stdout
    assert "not to be trusted: quality 128" in shown
    assert "no numbers in it" in shown


def test_rows_are_named_alone(rows: OwnedRows) -> None:
    fill(rows)
    for more in (["bpm01/turn/x1"], ["--resolution", "3"]):
        refused = command("spectrum", "-w", "demo", "tune/spectrum_x", *more, expect=2)
        assert "these rows are spectra already" in refused.stderr

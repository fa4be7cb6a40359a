# SPDX-License-Identifier: Apache-2.0
"""The parts of an explanation, on numbers that are made here: backgrounds, onsets, causes without a machine."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ringmaster.fabric.layout import InstrumentKind
from ringmaster.postmortem.background import Background, TooShort
from ringmaster.postmortem.causes import rank_causes
from ringmaster.postmortem.evidence import Actuation, Evidence, Series
from ringmaster.postmortem.explain import explain
from ringmaster.postmortem.lines import Lines
from ringmaster.postmortem.machine import Actor, Machine, Place
from ringmaster.postmortem.onset import find_onsets
from ringmaster.postmortem.report import write_report
from ringmaster.twin import Twin, load_lattice

RATE = 1157000.0
PERIOD = 116
RECORDS, BEFORE = 2200, 2000
Floats = npt.NDArray[np.float64]


def background(seed: int, rows: int) -> Floats:
    """Mains lines that are common to all rows, a drift, and white noise."""
    random = np.random.default_rng(seed)
    t = np.arange(RECORDS) * PERIOD / RATE
    lines = sum(
        np.outer(np.sin(2 * np.pi * hz * 1.0005 * t + hz), random.normal(0, 20e3, rows)) for hz in (50, 100, 300)
    )
    drift = np.cumsum(random.normal(0, 5.0, (RECORDS, rows)), axis=0)
    return np.asarray(lines + drift + random.normal(0, 200.0, (RECORDS, rows)))


def series(values: Floats, filter_name: str = "none") -> list[Series]:
    """BPMs with x and y, every 116 turns."""
    turn = (1_000_000 + np.arange(RECORDS) * PERIOD).astype(np.uint64)
    made = []
    for i in range(values.shape[1] // 2):
        both = values[:, 2 * i : 2 * i + 2]
        made.append(
            Series(f"b{i:02d}/raw", InstrumentKind.BPM, PERIOD, turn, ("x", "y"), ("nm", "nm"), both, filter_name)
        )
    return made


def evidence(values: Floats, filter_name: str = "none") -> Evidence:
    """Turn zero a millisecond after record BEFORE."""
    return Evidence(1_000_000 + BEFORE * PERIOD + 1157, RATE, tuple(series(values, filter_name)))


def test_background_is_predicted_to_its_noise() -> None:
    values = background(1, 40)
    cleaned = values - Lines.fit(values[:1900], RATE / PERIOD).at(np.arange(RECORDS))
    left = Background.learn(cleaned[:1900], 16).left(cleaned)[1900:]
    assert 0.9 < np.std(left) < 1.25


def test_background_needs_records() -> None:
    with pytest.raises(TooShort, match="40 records before the event are too few; expected 64"):
        Background.learn(np.zeros((40, 2)), 8)


def test_onsets_without_an_event_are_as_rare_as_stated() -> None:
    false = sum(
        one.turn is not None for seed in range(10) for one in find_onsets(evidence(background(seed, 60)), 11570, 500)
    )
    assert false <= 5  # of 600 lanes


def test_onset_is_where_it_is() -> None:
    values = background(3, 12)
    values[BEFORE:, 5] += 3000.0
    found = [one for one in find_onsets(evidence(values), 11570, 500) if one.turn is not None]
    assert [one.name for one in found] == ["b02/raw y"]
    assert found[0].turn is not None
    assert found[0].sigma_turns > PERIOD / 4
    assert abs(found[0].turn - (1_000_000 + BEFORE * PERIOD)) < 3 * PERIOD


def test_sharp_filter_is_not_judged() -> None:
    values = background(3, 4)
    values[BEFORE:] += 1e6
    assert all("rings" in one.why_not for one in find_onsets(evidence(values, "sharp"), 11570, 500))


def test_lying_bpm_is_found_without_a_machine() -> None:
    values = background(4, 60)
    values[BEFORE:, 10] += 4000.0
    verdict = rank_causes(evidence(values)).verdict
    assert (verdict.kind, verdict.names) == ("bpm", ("b05",))


def test_change_of_all_bpms_is_unknown_without_a_machine(tmp_path: Path) -> None:
    values = background(5, 60)
    values[BEFORE:] += np.random.default_rng(6).normal(0, 4000.0, 60)
    found = explain(evidence(values))
    assert found.ranking.verdict.kind == "unknown"
    assert "no single cause" in write_report(tmp_path / "event.html", found).read_text(encoding="utf-8")


def test_setpoints_that_were_sent_are_no_cause() -> None:
    ring = load_lattice("elettra2_like")
    bpms, steerer = ring.find("BPM_S0[1-3]_*"), int(ring.find("CS_S05_03")[0])
    places = {f"b{i:02d}/{'xy'[p]}": Place(int(bpm), p) for i, bpm in enumerate(bpms) for p in (0, 1)}
    machine = Machine(Twin(ring), places, [Actor("c", (steerer,), (0,), 1e-5)])
    values = background(8, 2 * len(bpms))
    at = 1_000_000 + BEFORE * PERIOD
    moved = machine.columns(places)[0][:, 0] * 1e-5
    since = np.maximum(np.arange(RECORDS) - BEFORE + 1, 0)
    values += np.outer(1 - np.exp(-2 * np.pi * 1000 * PERIOD / RATE * since), moved)
    sent = Actuation(("c",), ("A",), np.array([1_000_000, at], np.uint64), np.array([[0.0], [1.0]]))
    given = replace(evidence(values), machine=machine)
    assert rank_causes(given).verdict.names == ("c",)
    assert rank_causes(replace(given, sent=sent)).causes[0].names != ("c",)


def test_evidence_without_records_before_says_so() -> None:
    short = tuple(one.between(1_000_000 + 1800 * PERIOD, 2**62) for one in series(background(7, 8)))
    with pytest.raises(TooShort, match="no BPM stream has enough records before"):
        rank_causes(Evidence(1_000_000 + BEFORE * PERIOD, RATE, short))

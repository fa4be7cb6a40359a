# SPDX-License-Identifier: Apache-2.0
"""One culprit of each kind in the real virtual ring, strong enough to be seen; and a ring in which nothing happens."""

from pathlib import Path

import pytest
from blind_ring import EVENT_TURN, Happening, evidence_of, machine, record

from ringmaster.postmortem.explain import explain
from ringmaster.postmortem.machine import Machine
from ringmaster.postmortem.report import write_report
from ringmaster.postmortem.words import what_happened

BEFORE = {"supplies": [{"supplies": "sr/ps/ch_01_05", "initial": 0.3}]}
STRONG = (
    Happening("supply", "sr/ps/ch_01_05", 11, "", ({"event": "trip", "supply": "sr/ps/ch_01_05"},), (), BEFORE),
    Happening("rf", "", 12, "", ({"event": "rf_trip"},)),
    Happening("bpm", "bpm17", 14, "", ({"event": "offset", "instrument": "bpm17", "x_um": 5, "y_um": 3},)),
    Happening("kick", "injection", 15, "", ({"event": "kick", "x_um": 100, "y_um": 40},)),
    Happening("loss", "", 16, "", ({"event": "injection", "misfires": True, "ma": 30},), lost_share=0.1),
)


@pytest.fixture(scope="module")
def described() -> Machine:
    """As an operator writes it down."""
    return machine()


@pytest.mark.parametrize("truth", STRONG, ids=lambda truth: truth.kind)
def test_strong_culprit_is_first(truth: Happening, described: Machine, tmp_path: Path) -> None:
    found = explain(evidence_of(record(tmp_path / "run", truth), described, 1500))
    verdict = found.ranking.verdict
    assert verdict.kind == truth.kind, found.ranking.causes[:3]
    assert not truth.name or truth.name in verdict.names
    if truth.kind in ("supply", "kick", "bpm"):
        onset = found.onset_turn
        assert onset is not None
        assert abs(onset - EVENT_TURN) < 250
    page = write_report(tmp_path / "event.html", found).read_text(encoding="utf-8")
    assert what_happened(found)[0].startswith("Most likely")
    assert "<svg" in page
    assert "http://" not in page


def test_ring_without_an_event_is_unknown(described: Machine, tmp_path: Path) -> None:
    found = explain(evidence_of(record(tmp_path / "run", Happening("", "", 17)), described, 1500))
    assert found.ranking.verdict.kind == "unknown"
    assert sum(onset.turn is not None for onset in found.onsets) <= 3

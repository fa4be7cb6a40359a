# SPDX-License-Identifier: Apache-2.0
"""A ripple on a supply of the virtual ring in simulated time is found, with its readback and without; or nothing is."""

import pytest
from source_cases import true_source
from source_ring import Recorded, Ring, design, record

from ringmaster.spectra.sources import NONE, NOTHING, Ranking, rank_at

CULPRIT, HZ = "sr/ps/cv_01_07", 180.0
QUIET_HZ, MAINS_HZ = 222.0, 100.0


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """One ring: a ripple of 2 mA, and the mains in the magnets and, less, in all supplies."""
    ring = Ring(3, CULPRIT, HZ, 2e-3, 0.1, dict.fromkeys(design().columns, 1e-5))
    return record(tmp_path_factory.mktemp("ring"), ring)


def ranked(recorded: Recorded, hz: float, hidden: frozenset[str]) -> tuple[Ranking, str]:
    """By the matrix of the design; and what is true."""
    found = rank_at(hz, recorded.rippling.series(set(hidden)), design().rows, design().columns, design().values)
    return found, true_source(recorded.rippling, recorded.response, hz, hidden)[0]


@pytest.mark.parametrize("hidden", [frozenset[str](), frozenset({CULPRIT}), frozenset(design().columns)])
def test_the_culprit_is_in_the_answer(recorded: Recorded, hidden: frozenset[str]) -> None:
    found, truth = ranked(recorded, HZ, hidden)
    assert truth == CULPRIT
    assert found.ranked[0].name == CULPRIT or CULPRIT in found.answer
    assert len(found.answer) <= 5
    assert found.none < 0.05


@pytest.mark.parametrize(("hz", "expected"), [(QUIET_HZ, NOTHING), (MAINS_HZ, NONE)])
@pytest.mark.parametrize("hidden", [frozenset[str](), frozenset(design().columns)])
def test_without_a_culprit_there_is_none(recorded: Recorded, hz: float, expected: str, hidden: frozenset[str]) -> None:
    found, truth = ranked(recorded, hz, hidden)
    assert truth == expected
    if expected == NONE:
        assert found.answer == [NONE]
    else:  # noise that alone speaks for a line leaves it open
        assert found.answer[0] == NOTHING
        assert set(found.answer) <= {NONE, NOTHING}
    assert sum(one.probability for one in found.ranked) < 0.1

# SPDX-License-Identifier: Apache-2.0
"""Dealing work out to cores, beside all ways to do so."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from ringmaster.plan.assign import Assigned, Unit, assign, bound

CORES = 4
ABOVE_THE_BEST = 1.1
"""Asked for; the search comes to the best itself in cases that are so small."""


def every_way(units: list[Unit]) -> float | None:
    """The lowest peak of all assignments; None where there is none."""
    best = None
    for cores in product(*(sorted(unit.cores) for unit in units)):
        load: dict[int, float] = {}
        count: dict[int, int] = {}
        for unit, core in zip(units, cores, strict=True):
            load[core] = load.get(core, 0.0) + unit.load
            count[core] = count.get(core, 0) + 1
        if any(unit.alone and count[core] > 1 for unit, core in zip(units, cores, strict=True)):
            continue
        peak = max(load.values(), default=0.0)
        best = peak if best is None else min(best, peak)
    return best


@st.composite
def works(draw: st.DrawFn) -> list[Unit]:
    """Up to five units on up to four cores, some bound to some of them, some alone."""
    cores = st.frozensets(st.integers(0, draw(st.integers(0, CORES - 1))), max_size=CORES)
    loads = st.one_of(st.floats(0.01, 1.2), st.sampled_from([0.25, 0.3, 0.5]))
    count = draw(st.integers(0, 5))
    return [Unit(f"u{i}", draw(loads), draw(cores), draw(st.sampled_from([False, False, True]))) for i in range(count)]


def checked(units: list[Unit], found: Assigned) -> None:
    """What it says of itself is so."""
    assert set(found.core) == {unit.name for unit in units}
    load: dict[int, float] = {}
    for unit in units:
        core = found.core[unit.name]
        assert core in unit.cores
        load[core] = load.get(core, 0.0) + unit.load
        shares = [other for other in units if other is not unit and found.core[other.name] == core]
        assert not (unit.alone and shares)
    assert abs(max(load.values(), default=0.0) - found.peak) < 1e-6


@settings(deadline=None, max_examples=60)
@given(works())
def test_it_finds_a_way_where_there_is_one_and_none_is_much_better(units: list[Unit]) -> None:
    """As feasible as brute force, and at most a tenth above the best."""
    best, found = every_way(units), assign(units)
    assert (found is None) == (best is None)
    if found is not None and best is not None:
        checked(units, found)
        assert bound(units) <= best + 1e-9
        assert found.peak <= ABOVE_THE_BEST * best + 1e-9
        if found.proven:
            assert found.peak <= best + 1e-6


def test_many_units_that_cannot_be_searched_are_dealt_out_well() -> None:
    """Two hundred on thirty cores: a search to the end would outlast the machine."""
    units = [Unit(f"u{i:03d}", 0.05 + 0.1 * (i * 7919 % 101) / 101, frozenset(range(30))) for i in range(200)]
    found = assign(units)
    assert found is not None
    checked(units, found)
    assert found.peak <= ABOVE_THE_BEST * bound(units)

# SPDX-License-Identifier: Apache-2.0
"""A peer is measured with the fastest of its kernels."""

from collections.abc import Mapping

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.openblas import ITS_CHOICE, VARIABLE, fastest


def test_the_fastest_kernel_is_used_and_all_are_reported() -> None:
    def time_ns(environment: Mapping[str, str]) -> float:
        times = {None: 12000.0, "SKYLAKEX": 2700.0, "HASWELL": 3100.0}
        kernel = environment.get(VARIABLE)
        if kernel not in times:
            raise NotMeasured("illegal instruction")
        return times[kernel]

    found = fastest(time_ns)
    assert list(found.times_ns) == ["SKYLAKEX", "HASWELL", ITS_CHOICE]
    assert found.environment == {VARIABLE: "SKYLAKEX"}
    assert str(found) == (
        "OpenBLAS kernels: SKYLAKEX 2700 ns, HASWELL 3100 ns, its own choice 12000 ns; used: SKYLAKEX"
    )


def test_its_own_choice_stays_where_it_is_best_or_nothing_ran() -> None:
    assert fastest(lambda environment: 2.0 if environment else 1.0).environment == {}

    def fails(_: Mapping[str, str]) -> float:
        raise NotMeasured("it failed")

    assert fastest(fails).environment == {}
    assert str(fastest(fails)) == "OpenBLAS: no kernel ran"

# SPDX-License-Identifier: Apache-2.0
"""Two responses beside each other: a supply that answers as one that is dead."""

import numpy as np

from ringmaster.response.compare import compare, of_lattice


def test_a_supply_that_answers_as_a_dead_one_is_not_swapped_with_it() -> None:
    rows, columns = ("b1/x1", "b2/x1", "b3/x1"), ("one", "two", "three")
    first = np.eye(3)
    first[:, 1], first[:, 0] = 0.0, [0.0, 1.0, 0.0]
    found = compare(of_lattice(rows, columns, first, np.zeros(3)), of_lattice(rows, columns, np.eye(3), np.zeros(3)))
    of_supplies = {finding.name: finding.words for finding in found.findings if finding.what == "supply"}
    assert of_supplies == {"one": "is as two", "two": "answers 0 of what it should"}

# SPDX-License-Identifier: Apache-2.0
"""The response matrix of a lattice, as the twin has it."""

import numpy as np

from ringmaster.feedback.matrix import Matrix
from ringmaster.machine.mapping import Mapping
from ringmaster.twin import Twin
from ringmaster.twin.response import orbit_response

NM_PER_M = 1e9


def twin_matrix(twin: Twin, mapping: Mapping) -> Matrix:
    """Of the twin as it stands, 4D or 6D. The RF frequency's column needs 6D.

    With a cavity on, a corrector's kick also changes the path, and with it the energy: that is in the matrix.
    """
    steerers = [(element, group.plane) for group in mapping.groups for element in group.elements]
    response = orbit_response(twin, np.array(mapping.bpms, np.uint32), steerers)
    by_bpm = response.transpose(1, 0, 2).reshape(2 * len(mapping.bpms), -1)
    units = [group.rad_per_unit for group in mapping.groups for _ in group.elements]
    if mapping.rf is not None and not twin.is_6d:
        raise ValueError("the column of the RF frequency needs a ring with a cavity that is on: leave out --4d")
    columns = np.append(units, mapping.rf[1] if mapping.rf is not None else 0.0)
    values = by_bpm * columns * NM_PER_M
    return Matrix(mapping.rows, mapping.actuators, values[:, : len(mapping.actuators)], mapping.rf and mapping.rf[0])
